"""Managers that are put on an ``ExitStack`` in the text of its ``with``, as those of ``with`` statements.

Enters: the IR of a function.  Leaves: the same, where all that is done with the stack stands in the body itself or in
its branches::

    with ExitStack() as stack:                    with held(o) as p:
        p = stack.enter_context(held(o))              try:
        stack.callback(o.close)             ->            s = p.k
        s = p.k                                       finally:
                                                          o.close()
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any

from srcgrad.infer.unrolling import statements_of
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import Renaming, continued
from srcgrad.ir.operations import Cell, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, Function, If, Statement, Try, With, blocks_of, operands_of, walk
from srcgrad.ir.restoring.pending import uses_of

_LARGEST = 300  # statements of a body, with those that are written once for each way to them
_NOTHING = Block((), Fall())


class _Other(Exception):
    """Something else is done with a stack."""


def nested(function: Function, namespace: Mapping[str, Any]) -> Function:
    """A function without ``ExitStack``, as far as its text says what is on it."""
    if not any(value is contextlib.ExitStack or value is contextlib for value in namespace.values()):
        return function
    try:
        return _Stacks(function, namespace).function()
    except _Other:
        return function


@dataclass(eq=False)
class _Stacks:
    source: Function
    namespace: Mapping[str, Any]
    made: dict[Version, ir.Operation] = field(default_factory=dict)
    cells: set[Cell] = field(default_factory=set)  # the variables of stacks
    handled: set[Version] = field(default_factory=set)  # the reads of these
    pending: set[Version] = field(default_factory=set)  # reads and methods of stacks that nothing has used yet
    count: int = 0

    @cached_property
    def uses(self) -> Counter[Operand]:
        return uses_of(self.source)

    def function(self) -> Function:
        for _, statement in walk(self.source.body):
            if isinstance(statement, Assign):
                self.made.update((target, statement.operation) for target in statement.targets)
        body = self.block(self.source.body)
        if self.pending or any(self.uses[version] > 1 for version in self.handled):
            raise _Other
        for statement in statements_of(self.source):
            operation = getattr(statement, "operation", None)
            if isinstance(operation, ir.ReadCell) and operation.cell in self.cells:
                if self.handled.isdisjoint(getattr(statement, "targets", ())):
                    raise _Other
        return replace(self.source, body=body)

    def static(self, operand: Operand) -> object:
        """What an operand is, of a global or of an attribute of a module."""
        match self.made.get(operand) if isinstance(operand, Version) else None:
            case ir.ReadGlobal(name=name):
                return self.namespace.get(name)
            case ir.GetAttribute(base=base, name=name):
                owner = self.static(base)
                return vars(owner).get(name) if isinstance(owner, ModuleType) else None
        return None

    def is_stack(self, manager: Operand) -> bool:
        call = self.made.get(manager) if isinstance(manager, Version) else None
        is_made = isinstance(call, ir.Call) and self.static(call.function) is contextlib.ExitStack
        return is_made and self.uses[manager] == 1 and not operands_of(call)[1:]

    def block(self, block: Block) -> Block:
        """A block in which stacks are entered."""
        statements: list[Statement] = []
        for statement in block.statements:
            match statement:
                case With(manager=Version() as manager, body=body) if self.is_stack(manager):
                    statements = [s for s in statements if not isinstance(s, Assign) or s.targets != (manager,)]
                    whole = self.block(self.within(statement, body))
                    is_end = isinstance(whole.exit, Fall)
                    statements += whole.statements if is_end else [Try(whole, (), _NOTHING, _NOTHING, statement.node)]
                case Assign(operation=ir.MakeFunction(function=inner) as making):
                    written = nested(inner, self.namespace)
                    is_same = written is inner
                    operation = making if is_same else replace(making, function=written)
                    statements.append(statement if is_same else replace(statement, operation=operation))
                case Assign():
                    statements.append(statement)
                case Try():
                    handlers = tuple(replace(each, body=self.block(each.body)) for each in statement.handlers)
                    sides = [self.block(side) for side in (statement.body, statement.orelse, statement.final)]
                    statements.append(Try(sides[0], handlers, sides[1], sides[2], statement.node))
                case If(body=body, orelse=orelse):
                    statements.append(replace(statement, body=self.block(body), orelse=self.block(orelse)))
                case _:
                    statements.append(replace(statement, body=self.block(statement.body)))
        return Block(tuple(statements), block.exit)

    def within(self, statement: With, body: Block) -> Block:
        """The body of a stack, with what is put on it around what follows that."""
        statements, stack = list(body.statements), None
        match statements[:1]:
            case [Assign(targets=(), operation=ir.WriteCell(cell=cell, value=value))] if value is statement.entered:
                stack, statements = cell, statements[1:]
                self.cells.add(cell)
        if self.uses[statement.entered] > (stack is not None):
            raise _Other
        return body if stack is None else self.put(Block(tuple(statements), body.exit), stack)

    def put(self, block: Block, stack: Cell) -> Block:
        statements: list[Statement] = []
        for place, statement in enumerate(block.statements):
            rest = Block(block.statements[place + 1 :], block.exit)
            match statement:
                case Assign(targets=(target,), operation=ir.ReadCell(cell=cell)) if cell is stack:
                    self.handled.add(target)
                    self.pending.add(target)
                    continue
                case Assign(targets=(target,), operation=ir.GetAttribute(base=base)) if base in self.handled:
                    assert isinstance(base, Version)
                    self.pending.discard(base)
                    self.pending.add(target)
                    continue
                case Assign(targets=(target,), operation=ir.Call(star=None, rest=None) as call) if (
                    name := self.method(call, stack)
                ) is not None:
                    inner = self.put(rest, stack)
                    if name == "enter_context" and len(call.positional) == 1 and not call.keywords:
                        around: Statement = With(call.positional[0], target, inner, statement.node)
                    elif name == "callback" and call.positional:
                        function, *given = call.positional
                        called = Assign((self.version(),), replace(call, function=function, positional=tuple(given)),
                                        statement.node)  # fmt: skip
                        statements.append(Assign((target,), ir.Copy(function), statement.node))
                        around = Try(inner, (), _NOTHING, Block((called,), Fall()), statement.node)
                    else:
                        raise _Other
                    return Block((*statements, around), Fall())
                case If(body=one, orelse=other) if self.reads(statement, stack):
                    sides = [continued(side, statement, block, place + 1) for side in (one, other)]
                    if sum(1 for side in sides for _ in walk(side)) > _LARGEST:
                        raise _Other
                    sides[1] = Renaming({}, {}, lambda version: self.version().name, self.note).block(sides[1])
                    first, second = (self.put(side, stack) for side in sides)
                    return Block((*statements, If((), statement.test, first, second, statement.node)), Fall())
                case _ if self.reads(statement, stack):
                    raise _Other
            statements.append(statement)
        return Block(tuple(statements), block.exit)

    def method(self, call: ir.Call, stack: Cell) -> str | None:
        """The method of a stack that is called."""
        lookup = self.made.get(call.function) if isinstance(call.function, Version) else None
        read = self.made.get(lookup.base) if isinstance(lookup, ir.GetAttribute) and isinstance(
            lookup.base, Version) else None  # fmt: skip
        if not isinstance(lookup, ir.GetAttribute) or not isinstance(read, ir.ReadCell) or read.cell is not stack:
            return None
        assert isinstance(call.function, Version)
        self.pending.discard(call.function)
        return lookup.name

    def reads(self, statement: Statement, stack: Cell) -> bool:
        inside = [s for block in blocks_of(statement) for _, s in walk(block)]
        return any(isinstance(s, Assign) and getattr(s.operation, "cell", None) is stack for s in inside)

    def note(self, new: Statement, old: Statement) -> None:
        if isinstance(new, Assign):
            self.made.update((target, new.operation) for target in new.targets)

    def version(self) -> Version:
        self.count += 1
        return Version(f"t_stack{self.count}")
