"""What the analysis found: the value of each version, which statements are reached, what unknown code has seen."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING

from srcgrad.infer.heap import Contents, Heap, Site, joined
from srcgrad.infer.values import NEVER, Array, Bound, Value, union
from srcgrad.ir.operations import Version
from srcgrad.ir.regions import Function, Statement

if TYPE_CHECKING:
    from srcgrad.infer.generators import Generator
    from srcgrad.infer.reasons import Reason
    from srcgrad.infer.summaries import Summary


@dataclass
class Facts:
    """Joined over all calls and all times: what a version holds is among ``values`` of it, whenever it runs."""

    values: dict[Version, Value] = field(default_factory=dict)
    reached: set[Statement] = field(default_factory=set)
    contents: dict[Site, Contents] = field(default_factory=dict)
    seen: set[Site] = field(default_factory=set)
    opaque: set[Statement] = field(default_factory=set)  # during which unknown code may run
    stops: dict[Statement, Reason | None] = field(default_factory=dict)  # where the program ends instead, and why
    exposed: dict[Site, Reason] = field(default_factory=dict)  # why unknown code has seen what a site stands for
    answered: set[Statement] = field(default_factory=set)  # of the user's objects that it asks
    held: dict[Statement, set[bool | None]] = field(default_factory=dict)  # whether ``getattr`` finds what it asks for
    begun: dict[tuple[Statement, type], Value] = field(default_factory=dict)  # iterators over objects of a class
    is_reshaped: bool = False  # some array gets another rank or dtype: those of arrays are not known
    entry: list[Summary] = field(default_factory=list)  # of the call that is analysed
    generators: Mapping[Site, Generator] = field(default_factory=dict)  # those of the program that are followed
    functions: Mapping[FunctionType, Function | None] = field(default_factory=dict)  # the IR of those from outside
    captures: object = None  # what functions carry, as ``specialise`` works it out
    methods: Set[Bound] = frozenset()  # those that were there before
    data: Site | None = None  # what stands for all data, where nothing is said of the arguments
    is_lost: bool = False  # the program reaches its own frames or namespaces: anything may be anything
    _last: dict[Site, Contents] = field(default_factory=dict)
    _latest: Heap | None = None

    def runs_unknown(self, reached: Set[Statement]) -> bool:
        """Whether unknown code would run during one of these statements."""
        return not self.opaque.isdisjoint(reached) or not self.stops.keys().isdisjoint(reached)

    def note(self, version: Version, value: Value) -> Value:
        """Take in what a version may be; as much of it as holds for good."""
        if self.is_reshaped:
            atoms = frozenset(Array(atom.site) if isinstance(atom, Array) else atom for atom in value.atoms)
            value = Value(atoms, value.is_any)
        self.values[version] = union(self.values.get(version, NEVER), value)
        return value

    def note_begun(self, statement: Statement, kind: type, iterator: Value) -> None:
        """Take in what a method of the user's makes, with which a statement goes over objects of a class."""
        self.begun[statement, kind] = union(self.begun.get((statement, kind), NEVER), iterator)

    def note_heap(self, heap: Heap) -> None:
        """Take in what sites hold."""
        if heap is self._latest:  # most statements change nothing
            return
        self._latest = heap
        self.seen |= heap.seen
        for site, contents in heap.items():
            if self._last.get(site) is not contents:
                self._last[site] = contents
                before = self.contents.get(site)
                self.contents[site] = contents if before is None else joined(before, contents)

    def is_seen(self, site: Site) -> bool:
        """Whether unknown code may hold what a site stands for."""
        return site in self.seen or site.context == "unknown"
