"""Activations of functions, and what comes of running a block: by which exits it is left, with what.

Enters: nothing; this module declares what ``infer.control`` and ``infer.operations`` share.  An exit that is not taken
has no entries; the heaps in which an exception may leave a block are kept only where something catches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import UNKNOWN, Contents, Heap, Site, joined
from srcgrad.infer.values import ANY, At, Value, exact, union
from srcgrad.ir.operations import Cell, Literal, Operand, Operation, Version
from srcgrad.ir.regions import Function, Statement

Way: TypeAlias = tuple[tuple[Value, ...], Heap]  # one way to leave a block: the values that it gives, and the heap then


@dataclass
class Ways:
    """How a block or region may be left."""

    fell: Way | None = None
    broke: list[Way] = field(default_factory=list)
    continued: list[Way] = field(default_factory=list)
    returned: list[Way] = field(default_factory=list)
    narrowed: dict[Version, Value] = field(default_factory=dict)  # what versions are known to be behind it

    def take(self, inner: Ways, *, loop: bool = False) -> None:
        """Add how a region inside is left, but for falling through; a ``loop`` keeps its own exits."""
        self.returned += inner.returned
        if not loop:
            self.broke += inner.broke
            self.continued += inner.continued


def merged(ways: Iterable[Way | None]) -> Way | None:
    """One of several ways; None where there is none."""
    found = [way for way in ways if way is not None]
    if not found:
        return None
    values, heap = found[0]
    for others, other in found[1:]:
        values = tuple(map(union, values, others))
        heap = heap.join(other)
    return values, heap


@dataclass(eq=False)
class Frame:
    """One activation: ``context`` is the call that it is of; ``raised`` gathers heaps where something catches."""

    function: Function
    namespace: Mapping[str, Any]
    cells: dict[Cell, Site]
    context: object
    facts: Facts
    is_unknown: bool = False  # it is run with anything, by unknown code
    values: dict[Version, Value] = field(default_factory=dict)
    made: dict[Version, Operation] = field(default_factory=dict)  # the operation that bound a version
    raised: list[Heap] | None = None
    noted: dict[Version, Value] = field(default_factory=dict)  # what each version was at any time
    reached: set[Statement] = field(default_factory=set)
    calls: dict[Statement, list[Any]] = field(default_factory=dict)  # the summaries of what a statement calls
    stars: dict[tuple[Statement, str], Contents] = field(default_factory=dict)  # what stars hold where they are read

    def __getitem__(self, operand: Operand) -> Value:
        return exact(operand.value) if isinstance(operand, Literal) else self.values.get(operand, ANY)

    def all(self, operands: Sequence[Operand]) -> tuple[Value, ...]:
        return tuple([self[operand] for operand in operands])

    def bind(self, version: Version, value: Value) -> None:
        self.values[version] = value = self.facts.note(version, value)
        before = self.noted.get(version)
        self.noted[version] = value if before is None or before is value else union(before, value)

    def bind_all(self, versions: Sequence[Version], values: Sequence[Value]) -> None:
        for version, value in zip(versions, values, strict=True):
            self.bind(version, value)

    def site(self, kind: type | None, statement: Statement, part: object = None) -> Site:
        """The site of what a statement makes."""
        return Site(kind, (statement, part), "unknown" if self.is_unknown else self.context)

    def note_star(self, statement: Statement, side: str, value: Value, heap: Heap) -> None:
        """Note what a star holds when it is read: its ``parts`` are taken, or its ``entries``."""
        for atom in value.atoms if not value.is_any else (None,):
            contents = heap[atom.site] if isinstance(atom, At) else UNKNOWN
            before = self.stars.get((statement, side))
            self.stars[statement, side] = contents if before is None else joined(before, contents)

    def may_raise(self, heap: Heap) -> None:
        """Note that an exception may leave from here."""
        if self.raised is not None and (not self.raised or self.raised[-1] is not heap):
            self.raised.append(heap)


class Top(Heap):
    """The heap of unknown code, in which everything may hold anything."""

    def __init__(self) -> None:
        super().__init__({})

    def __getitem__(self, site: Site) -> Any:
        return UNKNOWN

    def is_seen(self, site: Site) -> bool:
        return True

    def allocated(self, site: Site, contents: Any) -> Heap:
        return self

    def all_updated(self, contents: Mapping[Site, Any]) -> Heap:
        return self

    def exposed(self, roots: Iterable[Value]) -> Heap:
        return self

    def join(self, other: Heap) -> Heap:
        return self

    def __le__(self, other: Heap) -> bool:
        return True
