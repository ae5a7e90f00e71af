"""What every function of the IR keeps to; the tests verify each one that they lower.

A version is bound once, and read only where the binding stands before it in the same block or in one around it.  Every
exit gives as many values as the region that it leaves takes.  A cell is a function's own or captured.  A block ends in
``Unreachable`` only behind a region that no block falls out of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from srcgrad.errors import InternalError, Span
from srcgrad.ir.operations import (
    Cell,
    DeleteCell,
    FreshCell,
    MakeClass,
    MakeFunction,
    Operand,
    ReadCell,
    Unpack,
    Version,
    WriteCell,
    Yield,
    YieldFrom,
)
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    Function,
    If,
    Loop,
    Raise,
    Return,
    Statement,
    Try,
    Unreachable,
    With,
    operands_of,
)


def verify(function: Function) -> None:
    """Raise ``InternalError`` unless a function, and those inside of it, are well formed."""
    _Check(function, {*function.cells, *function.free}).whole()


@dataclass
class _Check:
    function: Function
    cells: set[Cell]
    bound: set[Version] = field(default_factory=set)

    def fault(self, reason: str) -> InternalError:
        return InternalError(f"the IR of {self.function.name}: {reason}", Span.unknown(), door=str(self.function))

    def whole(self) -> None:
        visible: set[Version] = set()
        for parameter in self.function.parameters:
            self.bind(parameter, visible)
        self.block(self.function.body, visible, falls=None, breaks=None, continues=None)

    def bind(self, version: Version, visible: set[Version]) -> None:
        if version in self.bound:
            raise self.fault(f"{version} is bound twice")
        self.bound.add(version)
        visible.add(version)

    def read(self, operands: Sequence[Operand], visible: set[Version]) -> None:
        for operand in operands:
            if isinstance(operand, Version) and operand not in visible:
                raise self.fault(f"{operand} is read where it is not bound")

    def block(
        self, block: Block, visible: set[Version], *, falls: int | None, breaks: int | None, continues: int | None
    ) -> None:
        """``falls``, ``breaks``, ``continues``: how many values these exits give; None where there is no such exit."""
        inside = set(visible)
        for statement in block.statements:
            self.statement(statement, inside, breaks, continues)
        self.read(list(operands_of(block.exit)), inside)
        match block.exit:
            case Fall(values=values):
                given, taken = len(values), falls
            case Break(values=values):
                given, taken = len(values), breaks
            case Continue(values=values):
                given, taken = len(values), continues
            case Unreachable():
                if not block.statements or not ends(block.statements[-1]):
                    raise self.fault("the end of a block is reached")
                return
            case Return() | Raise():
                return
        if given != taken:
            raise self.fault(f"{type(block.exit).__name__} gives {given} values, not {taken}")

    def statement(
        self, statement: Statement, visible: set[Version], breaks: int | None, continues: int | None
    ) -> None:
        match statement:
            case Assign(targets=targets, operation=operation):
                self.read(list(operands_of(operation)), visible)
                self.operation(operation)
                if isinstance(operation, Unpack) and len(targets) != operation.count:
                    raise self.fault(f"{operation.count} items are unpacked into {len(targets)}")
                for target in targets:
                    self.bind(target, visible)
            case If(targets=targets, test=test, body=body, orelse=orelse):
                self.read([test], visible)
                for part in (body, orelse):
                    self.block(part, visible, falls=len(targets), breaks=breaks, continues=continues)
                for target in targets:
                    self.bind(target, visible)
            case Loop(targets=targets, heads=heads, initial=initial, body=body):
                self.read(initial, visible)
                if len(heads) != len(initial):
                    raise self.fault(f"{len(heads)} heads of a loop begin with {len(initial)} values")
                inside = set(visible)
                for head in heads:
                    self.bind(head, inside)
                self.block(body, inside, falls=None, breaks=len(targets), continues=len(heads))
                for target in targets:
                    self.bind(target, visible)
            case With(manager=manager, entered=entered, body=body):
                self.read([manager], visible)
                inside = set(visible)
                self.bind(entered, inside)
                self.block(body, inside, falls=0, breaks=breaks, continues=continues)
            case Try():
                self.attempt(statement, visible, breaks, continues)

    def attempt(self, statement: Try, visible: set[Version], breaks: int | None, continues: int | None) -> None:
        for handler in statement.handlers:
            if handler.kinds is not None:
                self.block(handler.kinds, visible, falls=1, breaks=None, continues=None)
            inside = set(visible)
            self.bind(handler.caught, inside)
            self.block(handler.body, inside, falls=0, breaks=breaks, continues=continues)
        for part in (statement.body, statement.orelse, statement.final):
            self.block(part, visible, falls=0, breaks=breaks, continues=continues)

    def operation(self, operation: object) -> None:
        match operation:
            case ReadCell(cell=cell) | WriteCell(cell=cell) | DeleteCell(cell=cell):
                if cell not in self.cells:
                    raise self.fault(f"the cell {cell.name} is neither its own nor captured")
            case FreshCell(cell=cell):
                self.cells.add(cell)
            case MakeFunction(function=inner) | MakeClass(body=inner):
                for cell in inner.free:
                    if cell not in self.cells:
                        raise self.fault(f"{inner.name} captures the cell {cell.name}, which is not there")
                verify(inner)
            case Yield() | YieldFrom() if not self.function.is_generator:
                raise self.fault("a function that is no generator is suspended")


def ends(statement: Statement) -> bool:
    """Whether no block falls out of a region."""

    def falls(block: Block) -> bool:
        return isinstance(block.exit, Fall)

    match statement:
        case If(body=body, orelse=orelse):
            return not falls(body) and not falls(orelse)
        case Loop(body=body):
            return not _breaks(body)
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            inside = falls(body) and falls(orelse) or any(falls(handler.body) for handler in handlers)
            return not falls(final) or not inside
    return False


def _breaks(block: Block) -> bool:
    """Whether a block leaves the loop that it is the body of."""
    if isinstance(block.exit, Break):
        return True
    for statement in block.statements:
        match statement:
            case If(body=body, orelse=orelse):
                inner: Sequence[Block] = (body, orelse)
            case With(body=body):
                inner = (body,)
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                inner = (body, *(handler.body for handler in handlers), orelse, final)
            case _:
                continue
        if any(map(_breaks, inner)):
            return True
    return False
