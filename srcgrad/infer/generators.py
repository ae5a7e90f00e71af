"""Generators: bodies that run in parts, each when the next item is asked for.

Enters: a generator function and its arguments.  Leaves: an object, and for each time that it is asked what it may give,
and the heap then::

    def pairs(x):                      t: generator
        for v in x:                    v: float64
            yield v, 2.0 * v           every item: tuple
    t = pairs(x)

Whoever asks for an item runs the whole body: what its versions were in earlier runs stays among their values, and after
each ``yield`` the heap is also the one in which the item was asked for, which holds what happened outside meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CellType, GeneratorType
from typing import TYPE_CHECKING, Any, TypeAlias

import gast

from srcgrad.infer.frames import Frame, Way, Ways, merged
from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.values import ANY, NEVER, At, Value, at, union
from srcgrad.ir.operations import Yield, YieldFrom
from srcgrad.ir.regions import Assign, Function, Try, With, blocks_of, walk
from srcgrad.language.models import HOME, KINDS

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.operations import Cell, Version
    from srcgrad.ir.regions import Statement


@dataclass(eq=False)
class Generator:
    """The generators of a site: what they run, and what the versions of their bodies were so far."""

    function: Function
    namespace: Mapping[str, Any]
    cells: dict[Cell, Site]
    context: object
    values: dict[Version, Value] = field(default_factory=dict)
    calls: dict[Statement, list[Any]] = field(default_factory=dict)  # the summaries of what its statements call
    stars: dict[tuple[Statement, str], Contents] = field(default_factory=dict)  # what those hold where they are read
    stored: set[Site] = field(default_factory=set)  # into what they store

    @property
    def changes(self) -> bool:
        """Whether it stores into what others may hold."""
        return any(site.context != self.context for site in self.stored)


#: Gets what runs, an item and the heap, and gives the heap behind what it does with that.
Around: TypeAlias = Callable[["Body", Value, Heap], Heap | None]


@dataclass(eq=False)
class Body(Frame):
    """One run of the body of a generator, from an item that is asked for."""

    asked: Heap = field(default_factory=lambda: Heap({}))
    given: list[Value] = field(default_factory=list)
    suspended: list[Heap] = field(default_factory=list)
    around: Around | None = None  # what is done with an item, where that is known

    def bind(self, version: Version, value: Value) -> None:
        super().bind(version, union(self.values.get(version, NEVER), value))

    def give(self, value: Value, heap: Heap) -> Heap | None:
        """Suspend with an item; the heap when it goes on, None if it does not."""
        if self.around is not None:
            return self.around(self, value, heap)
        self.given.append(value)
        self.suspended.append(heap)
        return heap.join(self.asked)


def is_followed(function: Function) -> bool:
    """Whether the parts of a body run one after the other whoever asks for items: closing a generator runs what a
    ``try`` in which it waits holds at its end."""
    return not any(isinstance(statement, Try | With) and gives(statement) for _, statement in walk(function.body))


def gives(statement: Statement) -> bool:
    """Whether a ``yield`` stands in the blocks of a statement."""
    inside = [inner for block in blocks_of(statement) for _, inner in walk(block)]
    return any(isinstance(s, Assign) and isinstance(s.operation, Yield | YieldFrom) for s in inside)


def is_left_by_exceptions(analysis: Analysis, site: Site, heap: Heap) -> bool:
    """Whether an exception that is thrown into generators of a site leaves them, and nothing of them runs before."""
    if site not in analysis.generators or heap.is_seen(site):
        return False
    body = analysis.generators[site].function.body
    return not any(isinstance(s, Assign) and isinstance(s.operation, YieldFrom) for _, s in walk(body))


def made(
    analysis: Analysis, frame: Frame, statement: Statement, generator: Generator, arguments: Mapping[Version, Value],
    heap: Heap,
) -> tuple[Value, Heap]:  # fmt: skip
    """The object that calling a generator function gives; nothing of its body has run."""
    kind = KINDS.get(generator.function.name) if str(generator.namespace.get("__name__")).startswith(HOME) else None
    site = frame.site(kind or GeneratorType, statement, generator.function)
    known = analysis.generators.setdefault(site, generator)
    held = {f"cell {cell.name}": at(inside) for cell, inside in generator.cells.items()}
    for version in generator.function.parameters:
        value = arguments.get(version, ANY)
        held[f"parameter {version.name}"] = value
        known.values[version] = union(known.values.get(version, NEVER), analysis.facts.note(version, value))
    return at(site), heap.allocated(site, Contents(fields=held))


def resumed(analysis: Analysis, frame: Frame, site: Site, heap: Heap) -> tuple[Value, Value, Heap]:
    """The items that a generator may give when it is asked, what it returns at its end, and the heap then."""
    generator = analysis.generators[site]
    again = any(function is generator.function for function, _ in analysis.running)
    if again and not frame.is_unknown and isinstance(node := generator.function.node, gast.GeneratorExp):
        analysis.assigned.list_generator(generator.namespace, (node.lineno, node.col_offset))
    if not is_followed(generator.function) or not may_resume(analysis, frame, site, heap):
        return ANY, ANY, analysis.unknown([at(site)], heap)
    body, ended = _run(analysis, frame, generator, heap)
    after = body.suspended + ([] if ended is None else [ended[1]])
    left = after[0] if after else heap
    for other in after[1:]:
        left = left.join(other)
    frame.may_raise(left)  # it may be at its end
    return union(NEVER, *body.given), NEVER if ended is None else ended[0][0], left


def may_resume(analysis: Analysis, frame: Frame, site: Site, heap: Heap) -> bool:
    """Whether what a generator runs is known here, and nothing else asks it for items."""
    again = any(function is analysis.generators[site].function for function, _ in analysis.running)
    return not (again or analysis.is_deep or frame.is_unknown or heap.is_seen(site))


def _run(
    analysis: Analysis, frame: Frame, generator: Generator, heap: Heap, around: Around | None = None
) -> tuple[Body, Way | None]:
    """One run of what a generator does, and how it ends."""
    body = Body(
        generator.function, generator.namespace, dict(generator.cells), generator.context, analysis.facts,
        values=generator.values, calls=generator.calls, stars=generator.stars, raised=frame.raised, asked=heap,
        around=around,
    )  # fmt: skip
    for cell in generator.function.cells:
        body.cells[cell] = Site(CellType, cell, generator.context)
        heap = heap.allocated(body.cells[cell], Contents(fields={"cell": NEVER}))
    analysis.entered += 1
    with analysis.summaries.storing(generator.stored):
        return body, merged(analysis.run(body, generator.function, None, heap).returned)


def ran_around(
    analysis: Analysis, frame: Frame, site: Site, heap: Heap, run: Callable[[Value, Heap], Ways]
) -> Ways:
    """How a block is left around which a generator runs, as that of a ``contextmanager``: ``run`` runs the block with
    what the generator gives.  Whichever way it is left but by an exception, the generator goes on to its end."""
    generator, ways, thrown, outside = analysis.generators[site], Ways(), list[Heap](), [*analysis.running]
    falls = False

    def around(body: Body, value: Value, heap: Heap) -> Heap | None:
        nonlocal falls
        running, place, caught = analysis.running, analysis.at, frame.raised
        analysis.running, analysis.at, frame.raised = [*outside], None, body.raised  # it raises at the ``yield``
        before = len(body.raised or ())
        inner = run(value, heap)
        thrown.extend((body.raised or [])[before:])
        analysis.running, analysis.at, frame.raised = running, place, caught
        ways.take(inner)
        falls = falls or inner.fell is not None
        left = merged(((), way[1]) for way in (inner.fell, *inner.returned, *inner.broke, *inner.continued) if way)
        return None if left is None else left[1]

    def raising(body: Body, value: Value, heap: Heap) -> None:
        for each in thrown:
            body.may_raise(each)

    _, ended = _run(analysis, frame, generator, heap, around)
    if not falls and not is_followed(generator.function):  # it may end what the block raises
        _, ended_so = _run(analysis, frame, generator, heap, raising)
        falls = ended_so is not None
    if ended is None:
        return Ways()
    frame.may_raise(ended[1])
    left, behind = ended[1], Ways(fell=((), ended[1]) if falls else None)
    behind.returned = [(values, left) for values, _ in ways.returned]
    behind.broke = [(values, left) for values, _ in ways.broke]
    behind.continued = [(values, left) for values, _ in ways.continued]
    return behind


def lists_of(
    analysis: Analysis, frame: Frame, sources: tuple[Value, ...], heap: Heap
) -> tuple[tuple[Value, ...], Heap]:
    """Values as a library takes them that asks for all items at once: of generators, lists of what they give."""
    made: list[Value] = []
    for source in sources:
        followed = [a for a in source.atoms if isinstance(a, At) and a.site in analysis.generators]
        held = NEVER
        for atom in followed:
            given, _, heap = resumed(analysis, frame, atom.site, heap)
            held = union(held, given)
        if followed:
            site = Site(list, ("given", source), frame.context)
            heap = heap.allocated(site, Contents(single=False, rest=held))
            source = union(Value(source.atoms.difference(followed), source.is_any), at(site))
        made.append(source)
    return tuple(made), heap
