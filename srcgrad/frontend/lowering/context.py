"""What lowering writes with: the block under construction, and what every variable holds at this point of it.

Statements are appended to ``Context.statements``; ``Context.values`` maps each variable to the operand that it holds.
``branch`` and ``loop`` build regions: they write the blocks one by one, each from the values that hold where it begins,
and bind a new version where the blocks leave a variable with different operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.lowering.names import Scope
from srcgrad.frontend.source import Source
from srcgrad.ir.operations import UNBOUND, Cell, Literal, Operand, Operation, Version
from srcgrad.ir.regions import Assign, Block, Break, Continue, Exit, Fall, If, Loop, Statement, Unreachable
from srcgrad.syntax.namer import Namer

Variable: TypeAlias = tuple[Scope, str]
Values: TypeAlias = dict[Variable, Operand]
NOTHING = Literal(UNBOUND)


@dataclass
class LoopFrame:
    """The loop that a ``break`` or ``continue`` belongs to."""

    carried: tuple[Variable, ...]
    breaks: list[tuple[Operand, ...]] = field(default_factory=list)
    continues: list[tuple[Operand, ...]] = field(default_factory=list)


@dataclass
class Context:
    """One function under construction; the ``scope`` is that of a comprehension while one is lowered."""

    source: Source
    scope: Scope
    namer: Namer
    cells: dict[Variable, Cell]  # of this function and of those around it
    outside: dict[str, Cell]  # what the outermost function captured
    is_generator: bool = False
    values: Values = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    exit: Exit | None = None  # how the block under construction has been left
    around: LoopFrame | None = None
    doubtful: set[Version] = field(default_factory=set)  # versions that may hold no value
    named: set[str] = field(default_factory=set)
    used: dict[Cell, None] = field(default_factory=dict)  # the cells of enclosing functions

    # --- names -------------------------------------------------------------------------------------------------------
    def version(self, variable: str | None = None) -> Version:
        """A new version of a variable, or a temporary."""
        if variable is not None and variable not in self.named and variable.isidentifier():
            self.named.add(variable)
            return Version(variable, variable)
        return Version(self.namer.fresh(variable or "t"), variable)

    def refuse(self, code: str, node: gast.AST, reason: str, hint: str | None = None) -> UnsupportedSyntax:
        return UnsupportedSyntax(reason, self.source.span(node), code=code, hint=hint)

    # --- statements --------------------------------------------------------------------------------------------------
    def run(self, operation: Operation, node: gast.AST) -> None:
        """An operation for its effect."""
        self.statements.append(Assign((), operation, node))

    def bind(self, operation: Operation, node: gast.AST, variable: str | None = None) -> Version:
        """A version of what an operation gives."""
        target = self.version(variable)
        self.statements.append(Assign((target,), operation, node))
        return target

    def assign(self, targets: tuple[Version, ...], operation: Operation, node: gast.AST) -> None:
        """An operation that gives several values."""
        self.statements.append(Assign(targets, operation, node))

    def unreachable(self) -> None:
        """End the block behind a region that does not go on."""
        if self.exit is None:
            self.exit = Unreachable()

    def leave(self, exit: Exit) -> None:
        """End the block under construction; nothing is written behind an exit."""
        assert self.exit is None
        self.exit = exit

    @property
    def is_left(self) -> bool:
        return self.exit is not None

    # --- regions -----------------------------------------------------------------------------------------------------
    def part(self, write: Callable[[], Iterable[Operand]], values: Values) -> Part:
        """A block that begins with these values, written on its own."""
        before = self.statements, self.values, self.exit
        self.statements, self.values, self.exit = [], dict(values), None
        try:
            results = tuple(write())
            return Part(self.statements, self.values, self.exit, results)
        finally:
            self.statements, self.values, self.exit = before

    def block(self, write: Callable[[], Iterable[Operand]]) -> Block:
        """A block that changes no variable: of what handles exceptions, where variables are cells."""
        return self.part(write, self.values).block()

    def branch(
        self,
        test: Operand,
        body: Callable[[], Iterable[Operand]],
        orelse: Callable[[], Iterable[Operand]],
        node: gast.AST,
        count: int = 0,
    ) -> tuple[Operand, ...]:
        """``If``: the ``count`` operands that the block which runs gives; of a constant test one block, in place."""
        if isinstance(test, Literal):
            return tuple((body if test.value else orelse)())
        parts = [self.part(write, self.values) for write in (body, orelse)]
        falling = [part for part in parts if part.exit is None]
        changed = self._changed(falling)
        targets = [self.version() for _ in range(count)] if falling else []
        for variable in changed:
            targets.append(self._joined(variable, [part.values.get(variable, NOTHING) for part in falling]))
        blocks = [part.block(tuple(part.values.get(v, NOTHING) for v in changed)) for part in parts]
        self.statements.append(If(tuple(targets), test, blocks[0], blocks[1], node))
        if not falling:
            self.unreachable()
        return tuple(targets[:count]) if falling else (NOTHING,) * count

    def loop(self, body: Callable[[], None], assigned: Iterable[Variable], node: gast.AST, deletes: bool) -> None:
        """``Loop``, whose body leaves every round by ``again`` or ``stop``; ``assigned`` is what it may bind."""
        carried = tuple(v for v in assigned if v[1] not in v[0].cells and not v[0].is_class)
        initial = tuple(self.values.get(v, NOTHING) for v in carried)
        heads = tuple(self.version(name) for _, name in carried)
        doubtful = [deletes or self.is_doubtful(operand) for operand in initial]
        self.doubtful.update(head for head, doubt in zip(heads, doubtful, strict=True) if doubt)
        around, self.around = self.around, LoopFrame(carried)

        def written() -> tuple[Operand, ...]:
            body()
            return ()

        try:
            part = self.part(written, {**self.values, **dict(zip(carried, heads, strict=True))})
            here = self.around
        finally:
            self.around = around
        assert part.exit is not None
        targets = tuple(
            self._joined(variable, [each[j] for each in here.breaks]) for j, variable in enumerate(carried)
        ) if here.breaks else ()
        self.statements.append(Loop(targets, heads, initial, part.block(), node))
        if not here.breaks:
            self.unreachable()

    def stop(self) -> None:
        """Leave the loop."""
        assert self.around is not None
        values = self._carried(self.around)
        self.around.breaks.append(values)
        self.leave(Break(values))

    def again(self) -> None:
        """Go on with the next round of the loop."""
        assert self.around is not None
        values = self._carried(self.around)
        self.around.continues.append(values)
        self.leave(Continue(values))

    def is_doubtful(self, operand: Operand) -> bool:
        """Whether this may be no value."""
        return operand is NOTHING or operand in self.doubtful

    def _carried(self, loop: LoopFrame) -> tuple[Operand, ...]:
        return tuple(self.values.get(variable, NOTHING) for variable in loop.carried)

    def _changed(self, parts: list[Part]) -> list[Variable]:
        """The variables that one of the blocks leaves with another operand."""
        found: dict[Variable, None] = {}
        for part in parts:
            for variable, operand in part.values.items():
                if operand is not self.values.get(variable):
                    found[variable] = None
        return list(found)

    def _joined(self, variable: Variable, operands: list[Operand]) -> Version:
        target = self.version(variable[1])
        self.values[variable] = target
        if any(map(self.is_doubtful, operands)):
            self.doubtful.add(target)
        return target


@dataclass(frozen=True)
class Part:
    """A block that has been written: its statements, what the variables hold at its end, and how it is left."""

    statements: list[Statement]
    values: Values
    exit: Exit | None
    results: tuple[Operand, ...]

    def block(self, more: tuple[Operand, ...] = ()) -> Block:
        """The block, which falls through with its results and ``more``."""
        return Block(tuple(self.statements), self.exit or Fall((*self.results, *more)))
