"""What is written later than it stands: iterators, methods that are looked up, and what they are made of.

Enters: a function's IR.  Leaves: where versions are bound and read last, and whether what stands in between matters::

    t = reversed(y)
    t2 = y[::2]                        t2 = y[::2]
    for v, w in zip(t, t2): ...   ->   for v, w in zip(reversed(y), t2): ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, Function, If, Loop, Statement, blocks_of, operands_of, walk
from srcgrad.specialise.changing import changes_nothing
from srcgrad.specialise.reduced import Reduced


def reading(statement: Statement) -> Iterator[Any]:
    match statement:
        case Assign(operation=operation):
            yield operation
        case If(test=test):
            yield Fall((test,))
        case Loop(initial=initial):
            yield Fall(initial)


def every_block(function: Function) -> Iterator[Block]:
    yield function.body
    for _, statement in walk(function.body):
        yield from blocks_of(statement)


@dataclass(eq=False)
class Order:
    """Where versions are bound, read last, and variables bound again, in the order of the text."""

    statements: list[Statement]
    places: dict[Operand, int] = field(default_factory=dict)
    last: dict[Operand, int] = field(default_factory=dict)
    bound: dict[ir.Cell, list[int]] = field(default_factory=dict)

    def waits(self, version: Version, apart: Set[Version]) -> bool:
        """Whether a statement stands between that which makes a version and that which reads it last."""
        between = self.statements[self.places[version] + 1 : self.last.get(version, 0)]
        return any(not apart.isdisjoint(getattr(statement, "targets", ())) for statement in between)

    def keeps(self, iterator: Version, reduced: Reduced) -> bool:
        """Whether nothing is done between an iterator and its loop that what it goes over could see."""
        for statement in self.statements[self.places[iterator] + 1 : self.last.get(iterator, 0)]:
            if isinstance(statement, Loop):
                return any(iterator in operands_of(part) for _, s in walk(statement.body) for part in reading(s))
            match statement:
                case Assign(operation=ir.Make(kind="list" | "tuple") | ir.Copy() | ir.ReadCell() | ir.Iterate()):
                    continue
                case Assign(operation=ir.Make(kind="set" | "dict", elements=())):
                    continue
                case Assign(operation=ir.WriteCell(cell=cell)) if cell not in self._cells(iterator):
                    continue
                case Assign() if changes_nothing(reduced, statement):
                    continue
            return False
        return True

    def _cells(self, version: Version) -> set[ir.Cell]:
        """The variables that a value is computed from."""
        found, pending, met = set[ir.Cell](), [version], set[Operand]()
        while pending:
            if (one := pending.pop()) in met or one not in self.places:
                continue
            met.add(one)
            statement = self.statements[self.places[one]]
            inner = [statement, *(s for block in blocks_of(statement) for _, s in walk(block))]
            operations = [getattr(s, "operation", None) for s in inner]
            found |= {operation.cell for operation in operations if isinstance(operation, ir.ReadCell)}
            pending += [v for s in inner for part in reading(s) for v in operands_of(part) if isinstance(v, Version)]
        return found


def order_of(function: Function) -> Order:
    made = Order([statement for _, statement in walk(function.body)])
    for place, statement in enumerate(made.statements):
        for part in reading(statement):
            made.last.update(dict.fromkeys(operands_of(part), place))
        operation = getattr(statement, "operation", None)
        if isinstance(operation, ir.WriteCell | ir.DeleteCell):
            made.bound.setdefault(operation.cell, []).append(place)
        made.places.update(dict.fromkeys(getattr(statement, "targets", ()), place))
    for block in every_block(function):
        made.last.update(dict.fromkeys(operands_of(block.exit), len(made.statements)))
    return made


def rebound(order: Order, movable: set[Version], reads: Mapping[Operand, ir.ReadCell]) -> set[Version]:
    """Reads of variables for what is written later than it stands, where a variable is bound again in between."""
    found: set[Version] = set()
    for statement in reversed(order.statements):
        if not isinstance(statement, Assign) or not statement.targets or not movable.issuperset(statement.targets):
            continue
        written = max(order.last.get(target, 0) for target in statement.targets)
        for operand in operands_of(statement.operation):
            order.last[operand] = max(order.last.get(operand, 0), written)
            if isinstance(operand, Version) and operand in reads and any(
                order.places[operand] < place < written for place in order.bound.get(reads[operand].cell, ())
            ):
                found.add(operand)
    return found
