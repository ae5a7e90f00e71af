"""Copies of statements with versions of their own.

Enters: a block, what its operands are, and its cells.  Leaves: the same block, bound to other versions::

    t = x * k        (x: y)        t2 = y * k
    s = t + 1.0        ->          s2 = t2 + 1.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from srcgrad.ir.operations import Cell, Copy, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, Handler, If, Loop, Statement, Try, With
from srcgrad.ir.rewriting import with_operands


@dataclass(eq=False)
class Renaming:
    """Versions and cells of a function under names of their own, each time that it is written out."""

    versions: dict[Operand, Operand]  # the parameters, and what they are given
    cells: Mapping[Cell, Cell]
    name: Callable[[Version], str]
    note: Callable[[Statement, Statement], None]  # gets each statement with the one that it was made from
    node: Callable[[Any], Any] | None = None  # the node at which a statement stands, in place of its own

    def target(self, version: Version) -> Version:
        if version not in self.versions:
            self.versions[version] = Version(self.name(version), version.variable)
        made = self.versions[version]
        assert isinstance(made, Version)
        return made

    def operand(self, operand: Operand, default: Any = None) -> Operand:
        return self.versions.get(operand, operand)

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            made: Statement
            match statement:
                case Assign(targets=targets, operation=operation):
                    changed = with_operands(self._of_cells(operation), self.operand)
                    made = replace(statement, targets=tuple(map(self.target, targets)), operation=changed)
                case If(targets=targets, test=test, body=body, orelse=orelse):
                    tested, sides = self.operand(test), (self.block(body), self.block(orelse))
                    bound = tuple(map(self.target, targets))
                    made = replace(statement, targets=bound, test=tested, body=sides[0], orelse=sides[1])
                case Loop(targets=targets, heads=heads, initial=initial, body=body):
                    first = tuple(map(self.operand, initial))
                    begun = tuple(map(self.target, heads))
                    inner = self.block(body)
                    made = replace(statement, targets=tuple(map(self.target, targets)), heads=begun, initial=first,
                                   body=inner)  # fmt: skip
                case With(manager=manager, entered=entered, body=body):
                    opened, held = self.operand(manager), self.target(entered)
                    made = replace(statement, manager=opened, entered=held, body=self.block(body))
                case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                    inner, caught = self.block(body), tuple(map(self._handler, handlers))
                    last = self.block(orelse), self.block(final)
                    made = replace(statement, body=inner, handlers=caught, orelse=last[0], final=last[1])
            if self.node is not None:
                made = replace(made, node=self.node(made.node))
            self.note(made, statement)
            statements.append(made)
        return Block(tuple(statements), with_operands(block.exit, self.operand))

    def _handler(self, handler: Handler) -> Handler:
        kinds = None if handler.kinds is None else self.block(handler.kinds)
        return replace(handler, kinds=kinds, caught=self.target(handler.caught), body=self.block(handler.body))

    def _of_cells(self, operation: Any) -> Any:
        cell: Any = getattr(operation, "cell", None)
        return replace(operation, cell=self.cells[cell]) if cell in self.cells else operation


def bound_by(statement: Statement) -> tuple[Version, ...]:
    """What a statement binds itself, and not in its blocks."""
    match statement:
        case Loop(targets=targets, heads=heads):
            return (*targets, *heads)
        case With(entered=entered):
            return (entered,)
        case Try(handlers=handlers):
            return tuple(handler.caught for handler in handlers)
    return statement.targets


def continued(side: Block, statement: If, around: Block, place: int) -> Block:
    """A side that goes on behind its region, with what follows there."""
    if not isinstance(side.exit, Fall):
        return side
    pairs = zip(statement.targets, side.exit.values, strict=True)
    bound = [Assign((target,), Copy(value), statement.node) for target, value in pairs]
    return Block((*side.statements, *bound, *around.statements[place:]), around.exit)
