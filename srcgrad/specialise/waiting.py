"""What is written later than it stands: iterators, methods that are looked up, and what they are made of.

Enters: a function's IR.  Leaves: where versions are bound and read last, and whether what stands in between matters::

    t = reversed(y)
    t2 = y[::2]                        t2 = y[::2]
    for v, w in zip(t, t2): ...   ->   for v, w in zip(reversed(y), t2): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
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

    def asked(self, version: Version, makes: Callable[[ir.Operation], bool]) -> Version:
        """The iterator that is asked in the end: an iterator, or what is made of one by what ``makes`` iterators."""
        reader = self.statements[self.last[version]] if version in self.last else None
        if isinstance(reader, Assign) and len(reader.targets) == 1 and version in operands_of(reader.operation) and (
            makes(reader.operation) or isinstance(reader.operation, ir.Iterate)
        ):
            return self.asked(reader.targets[0], makes)
        return version

    def waits(self, version: Version, asked: Version, apart: Set[Version]) -> bool:
        """Whether a statement stands between that which makes a version and the loop in which it is asked."""
        between = self.statements[self.places[version] + 1 : self.last.get(asked, 0)]
        return any(isinstance(statement, Assign) and (
            isinstance(statement.operation, ir.WriteCell) or not apart.isdisjoint(statement.targets)
        ) for statement in between)  # fmt: skip

    def keeps(
        self, iterator: Version, reduced: Reduced, asked: Version | None = None, *, is_named: bool = False
    ) -> bool:
        """Whether nothing is done between an iterator and its loop that what it goes over could see; ``is_named``: what
        it is made of has a name of its own, whatever variables are bound to."""
        asked = asked or iterator
        for statement in self.statements[self.places[iterator] + 1 : self.last.get(asked, 0)]:
            if isinstance(statement, Loop):
                return any(asked in operands_of(part) for _, s in walk(statement.body) for part in reading(s))
            match statement:
                case Assign(operation=ir.Make(kind="list" | "tuple") | ir.Copy() | ir.ReadCell() | ir.Iterate()):
                    continue
                case Assign(operation=ir.Make(kind="set" | "dict", elements=())):
                    continue
                case Assign(operation=ir.WriteCell(cell=cell)) if is_named or cell not in self._cells(iterator):
                    continue
                case Assign(operation=operation) if is_named and iterator in operands_of(operation):
                    continue  # which makes the iterator that is asked
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
