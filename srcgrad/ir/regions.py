"""The untyped IR: what a Python function does, one operation per statement, with versions instead of variables.

Enters: nothing; this module declares what ``frontend.lowering`` makes and what ``ir.interpreter`` runs.
Control flow is structured: a region is left by an exit, which gives the values that the versions behind
the region are bound to (block arguments: Lattner et al., *MLIR*, 2021)::

    def f(x, n):              def f(x, n):
        s = 0.0                   s = 0.0                   Copy
        while n > 0:              s2, n2 = s, n             Loop: heads and initial values
            s += x[n]             while True:
            n -= 1                    t = n2 > 0            Compare
        return s                      if t: ...             If

``str(function)`` is Python text (``ir.printing``).  Statements compare by identity, so that tables can be keyed by
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import gast

from srcgrad.ir.operations import Cell, Literal, Operand, Operation, Version


# --- statements and regions ------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Assign:
    """``targets = operation``: no target of what only has an effect, several of what is unpacked."""

    targets: tuple[Version, ...]
    operation: Operation
    node: gast.AST


@dataclass(frozen=True, eq=False)
class If:
    """Two blocks; ``targets`` are bound to what the block that ran falls through with."""

    targets: tuple[Version, ...]
    test: Operand
    body: Block
    orelse: Block
    node: gast.AST


@dataclass(frozen=True, eq=False)
class Loop:
    """A block that runs until it breaks.

    ``heads`` are bound to ``initial``, then to what each ``Continue`` gives; ``targets`` to what the ``Break`` gives.
    """

    targets: tuple[Version, ...]
    heads: tuple[Version, ...]
    initial: tuple[Operand, ...]
    body: Block
    node: gast.AST


@dataclass(frozen=True, eq=False)
class With:
    """A context manager around a block; ``entered`` is what its ``__enter__`` gives."""

    manager: Operand
    entered: Version
    body: Block
    node: gast.AST


@dataclass(frozen=True, eq=False)
class Handler:
    """``except``: ``kinds`` falls through with what is caught, and is None where everything is."""

    kinds: Block | None
    caught: Version
    body: Block
    node: gast.AST


@dataclass(frozen=True, eq=False)
class Try:
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block
    node: gast.AST


Statement: TypeAlias = Assign | If | Loop | With | Try


# --- exits -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Fall:
    """The end of a block, behind which its region goes on."""

    values: tuple[Operand, ...] = ()


@dataclass(frozen=True, eq=False)
class Break:
    values: tuple[Operand, ...] = ()


@dataclass(frozen=True, eq=False)
class Continue:
    values: tuple[Operand, ...] = ()


@dataclass(frozen=True, eq=False)
class Return:
    value: Operand
    node: gast.AST | None = None


@dataclass(frozen=True, eq=False)
class Raise:
    """``raise exception from cause``; without an exception the one that is being handled."""

    exception: Operand | None
    cause: Operand | None
    node: gast.AST


@dataclass(frozen=True, eq=False)
class Unreachable:
    """The end of a block that is left before, behind a region that does not go on."""


Exit: TypeAlias = Fall | Break | Continue | Return | Raise | Unreachable


@dataclass(frozen=True, eq=False)
class Block:
    statements: tuple[Statement, ...]
    exit: Exit


# --- functions -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Parameters:
    positional_only: tuple[Version, ...] = ()
    positional: tuple[Version, ...] = ()
    variadic: Version | None = None
    keyword_only: tuple[Version, ...] = ()
    rest: Version | None = None

    def __iter__(self) -> Iterator[Version]:
        yield from self.positional_only
        yield from self.positional
        if self.variadic is not None:
            yield self.variadic
        yield from self.keyword_only
        if self.rest is not None:
            yield self.rest


@dataclass(frozen=True, eq=False)
class Function:
    """A function, the body of a class, or a generator expression.

    ``cells`` are its own, empty when it is entered; ``free`` those of enclosing functions that it, or a function inside
    of it, reads or writes.
    """

    name: str
    qualname: str
    parameters: Parameters
    cells: tuple[Cell, ...]
    free: tuple[Cell, ...]
    body: Block
    node: gast.AST
    is_generator: bool = False
    documentation: str | None = None

    def __str__(self) -> str:
        from srcgrad.ir.printing import text_of

        return text_of(self)


# --- what holds for all of them --------------------------------------------------------------------------------------
def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks of a region, in the order of the text."""
    match statement:
        case If(body=body, orelse=orelse):
            return body, orelse
        case Loop(body=body) | With(body=body):
            return (body,)
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            caught = [part for h in handlers for part in (h.kinds, h.body) if part is not None]
            return (body, *caught, orelse, final)
    return ()


def exits_of(block: Block) -> Iterator[Exit]:
    """How a block may be left, as seen from the region that it belongs to: not how rounds of loops in it end."""
    yield block.exit
    for statement in block.statements:
        for side in blocks_of(statement):
            for found in exits_of(side):
                if not isinstance(statement, Loop) or isinstance(found, Return):
                    yield found


def walk(block: Block) -> list[tuple[Block, Statement]]:
    """Every statement in a block and in the regions below, with the block that it stands in.

    Blocks do not change, and every pass asks for the statements of the same ones: they are kept with the block."""
    kept = vars(block)
    if "walked" not in kept:
        found: list[tuple[Block, Statement]] = []
        pending = [(block, statement) for statement in reversed(block.statements)]
        while pending:
            found.append(pending.pop())
            for below in reversed(blocks_of(found[-1][1])):
                pending += [(below, inner) for inner in reversed(below.statements)]
        kept["walked"] = found
    walked: list[tuple[Block, Statement]] = kept["walked"]
    return walked


def parts_of(body: Block) -> list[Any]:
    """The operations and exits of a block and of those in it: what reads operands."""
    return [part for part, _ in placed_parts(body)]


def placed_parts(body: Block) -> list[tuple[Any, gast.AST | None]]:
    """The same, each with the node that it was made of."""
    found: list[tuple[Any, gast.AST | None]] = [_exit(body, None)]
    for block, statement in walk(body):
        node = statement.node
        found.append(_exit(block, None))
        match statement:
            case Assign(operation=operation):
                found.append((operation, node))
            case If(test=test):
                found.append((Fall((test,)), node))
            case Loop(initial=initial):
                found.append((Fall(initial), node))
            case With(manager=manager):
                found.append((Fall((manager,)), node))
        found += [_exit(inner, node) for inner in blocks_of(statement)]
    return found


def _exit(block: Block, node: gast.AST | None) -> tuple[Any, gast.AST | None]:
    return block.exit, getattr(block.exit, "node", None) or node


def operands_of(part: Any) -> list[Operand]:
    """The operands of an operation or exit, in the order of their evaluation."""
    found: list[Operand] = []
    for value in part.__dict__.values():  # by the class itself: every pass of the middle asks for operands
        kind = value.__class__
        if kind is Version or kind is Literal:
            found.append(value)
        elif kind is tuple:
            _gather(value, found)
    return found


def _gather(values: Iterable[object], found: list[Operand]) -> None:
    for value in values:
        kind = value.__class__
        if kind is Version or kind is Literal:
            found.append(value)  # type: ignore[arg-type]
        elif kind is tuple:
            _gather(value, found)  # type: ignore[arg-type]
