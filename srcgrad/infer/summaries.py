"""Summaries of calls: what a function returns and leaves on the heap, for what it is given and can reach.

Enters: a function, the statement that calls it, its arguments, the heap.  Leaves: what the call returns and the heap
then, worked out once for equal arguments and equal contents of all that can be reached from them::

    def fib(n):                        first round: fib(n - 1) never returns, so that n < 2, and the result is n
        if n < 2:                      second round: it returns an int, as does the sum
            return n                   third round: nothing is new
        return fib(n - 1) + fib(n - 2)

A function runs on the part of the heap that it can reach.  What it made there at a site that the caller has as well,
and has not passed in, is another object of that site, which stands for many from then on.  Recursion is a least fixed
point: a call that is being worked out returns what it was found to return so far, at first never, and what depends on
such a result is not kept (Bourdoncle, *Efficient chaotic iteration strategies*, 1993, on nested fixed points).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CellType
from typing import TYPE_CHECKING, Any, TypeAlias

from srcgrad.infer.frames import Frame, Way, merged
from srcgrad.infer.heap import Contents, Heap, Site, joined
from srcgrad.infer.values import ANY, NEVER, Value, at, union, widened
from srcgrad.ir.operations import Cell, Version
from srcgrad.ir.regions import Function, Statement

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis

Made: TypeAlias = tuple[Value, Heap] | None
#: The context of what a function makes that is called while it runs: one for all such calls.
RECURSIVE = "recursive"
_KEPT = 8  # summaries of one function and statement, after which arguments are joined
_NESTED = 3  # calls of a function inside each other with arguments of their own, after which these are joined
_ROUNDS = 12  # of a recursion, after which it is unknown code


#: A function, and the place of a call of it in the text, which may be read again.
Called: TypeAlias = tuple[str, tuple[object, ...]]


def called_at(function: Function, statement: object) -> Called:
    node = getattr(statement, "node", None)
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return function.qualname, tuple(getattr(node, name, None) for name in names)


@dataclass(eq=False)
class Summary:
    """What a function does for ``arguments`` and a ``heap`` that holds what it can reach."""

    function: Function
    context: object
    namespace: Mapping[str, Any]
    cells: Mapping[Cell, Site]
    arguments: Mapping[Version, Value]
    heap: Heap
    generators: Mapping[Site, Mapping[Version, Value]]  # what the bodies of those were that it can resume
    catches: bool  # whether heaps in which an exception leaves are asked for
    returned: Way | None = None  # None: it does not return
    raised: Heap | None = None
    is_asked: bool = False  # its result was used before it was worked out
    values: Mapping[Version, Value] = field(default_factory=dict)  # what versions are when its result is worked out
    reached: set[Statement] = field(default_factory=set)
    calls: Mapping[Statement, list[Summary]] = field(default_factory=dict)
    stars: Mapping[tuple[Statement, str], Contents] = field(default_factory=dict)  # what they hold where they are read
    stored: set[Site] = field(default_factory=set)  # into what it stores, whether that is seen on the heap or not
    lowest: int = 0  # how deep on the stack the first summary lies whose unfinished result it depends on

    @property
    def changes(self) -> bool:
        """Whether it stores into what was there before."""
        return any(site in self.heap or site.context == "outside" for site in self.stored)

    def is_of(self, other: Summary) -> bool:
        """Whether two are the same call."""
        return (
            self.cells == other.cells and self.arguments == other.arguments and self.catches == other.catches
            and self.heap.is_same(other.heap) and self.generators == other.generators
        )  # fmt: skip


@dataclass
class Summaries:
    """Those of one analysis: what is finished, and what runs now."""

    finished: dict[tuple[Function, object], list[Summary]] = field(default_factory=dict)
    running: list[Summary] = field(default_factory=list)
    joint: Set[Called] = frozenset()  # where all calls of a function are one

    @contextmanager
    def storing(self, stored: set[Site]) -> Iterator[None]:
        """Put into a set, too, into what is stored meanwhile."""
        summary = self.running[-1]
        before, summary.stored = summary.stored, set()
        yield
        stored |= summary.stored
        summary.stored |= before


def entered(
    analysis: Analysis,
    function: Function,
    namespace: Mapping[str, Any],
    cells: Mapping[Cell, Site],
    arguments: Mapping[Version, Value],
    heap: Heap,
    call: Frame,
    statement: Statement,
) -> Made:
    """What a call returns, and the heap then; None where it does not return."""
    summaries = analysis.summaries
    nested = [each for each in summaries.running if each.function is function]
    context = RECURSIVE if nested else statement
    given = {version: arguments.get(version, ANY) for version in function.parameters}
    roots = [*given.values(), *map(at, cells.values())]
    part = reached(analysis, heap, roots)
    analysis.local_classes.begin(function, part, roots)
    bodies = {site: dict(analysis.generators[site].values) for site in part if site in analysis.generators}
    asked = Summary(function, context, namespace, cells, given, part, bodies, call.raised is not None)
    known = summaries.finished.setdefault((function, context), [])
    found = next((each for each in known if each.is_of(asked)), None)
    if found is None:
        same = [each for each in nested if each.context == context]
        found = next((each for each in same if each.is_of(asked)), None)
        alike = [each for each in known if each.cells == asked.cells]  # those of other functions cannot be joined
        is_one = len(alike) > 0 and called_at(function, context) in summaries.joint
        if found is None and (len(same) >= _NESTED or len(alike) >= _KEPT or is_one):
            joint = _joint(_most_alike(same or alike, asked), asked)
            if joint is None:
                return ANY, analysis.unknown(roots, heap)
            asked = joint
            found = next((each for each in [*known, *same] if each.is_of(asked)), None)
        if found is None:
            found = asked
            if not _work_out(analysis, asked, statement):
                analysis.run_unknown(function, namespace, cells)
                return ANY, analysis.unknown(roots, heap)
            if asked.lowest >= len(summaries.running):
                known.append(asked)
        elif found in summaries.running:
            _ask(summaries, found)
    analysis.local_classes.end(found, roots, is_last=not summaries.running)
    if summaries.running:
        summaries.running[-1].stored |= found.stored
    made = call.calls.setdefault(statement, [])
    if found not in made:
        made.append(found)
    return _applied(analysis, found, part, heap, call)


def _ask(summaries: Summaries, found: Summary) -> None:
    """Note that all that runs inside of a summary depends on what it is found to do so far."""
    found.is_asked = True
    place = summaries.running.index(found)
    for inner in summaries.running[place + 1 :]:
        inner.lowest = min(inner.lowest, place)


def _most_alike(known: list[Summary], asked: Summary) -> Summary:
    """The last summary of which as much is known, so that the facts of one path are not lost with another: a manager
    is left with None or with an exception."""
    return next((each for each in reversed(known) if _unknown(each) == _unknown(asked)), known[-1])


def _unknown(summary: Summary) -> set[object]:
    """The parameters and sites that may be, or hold, anything."""
    found: set[object] = {version for version, value in summary.arguments.items() if value.is_any}
    return found | {site for site, contents in summary.heap.items() if any(held.is_any for held in contents.values())}


def _joint(before: Summary, asked: Summary) -> Summary | None:
    """A call of which both are: constants that differ are their class."""
    if before.cells != asked.cells:
        return None
    values = {
        version: value if value == (other := before.arguments[version]) else widened(union(value, other))
        for version, value in asked.arguments.items()
    }
    bodies = {
        site: {
            version: union(*(each.generators.get(site, {}).get(version, NEVER) for each in (before, asked)))
            for version in {**before.generators.get(site, {}), **asked.generators.get(site, {})}
        }
        for site in {**before.generators, **asked.generators}
    }
    heap = before.heap.join(asked.heap)
    return replace(asked, arguments=values, heap=heap, generators=bodies)


def _work_out(analysis: Analysis, summary: Summary, statement: Statement) -> bool:
    """Run a function until what it was found to do is what it does; whether that came to an end."""
    running = analysis.summaries.running
    summary.lowest = len(running)
    running.append(summary)
    try:
        for _ in range(_ROUNDS):
            summary.is_asked = False
            before = summary.returned, summary.raised
            _run(analysis, summary, statement)
            if not summary.is_asked or _is_within((summary.returned, summary.raised), before):
                return True
        return False
    finally:
        running.pop()
        if running:
            running[-1].lowest = min(running[-1].lowest, summary.lowest)


def _run(analysis: Analysis, summary: Summary, statement: Statement) -> None:
    """Run the body once, and add what comes of it."""
    analysis.entered += 1
    frame = Frame(summary.function, summary.namespace, dict(summary.cells), summary.context, analysis.facts)
    frame.raised = [] if summary.catches else None
    heap = summary.heap
    for cell in summary.function.cells:
        frame.cells[cell] = Site(CellType, cell, summary.context)
        heap = heap.allocated(frame.cells[cell], Contents(fields={"cell": NEVER}))
    for version, value in summary.arguments.items():
        frame.bind(version, value)
    left = merged(analysis.run(frame, summary.function, statement, heap).returned)
    summary.values, summary.reached, summary.calls = frame.noted, frame.reached, frame.calls
    summary.stars = frame.stars
    summary.returned = merged([summary.returned, left])
    for thrown in frame.raised or ():
        summary.raised = thrown if summary.raised is None else summary.raised.join(thrown)


def _is_within(after: tuple[Way | None, Heap | None], before: tuple[Way | None, Heap | None]) -> bool:
    (returned, raised), (returned_before, raised_before) = after, before
    if returned is not None:
        if returned_before is None or not returned[0][0] <= returned_before[0][0]:
            return False
        if not returned[1] <= returned_before[1]:
            return False
    return raised is None or raised_before is not None and raised <= raised_before


# --- the part of a heap ----------------------------------------------------------------------------------------------
def reached(analysis: Analysis, heap: Heap, roots: list[Value]) -> Heap:
    """What a function can reach: from its arguments and cells, and from all that lies outside of the program."""
    changed = [at(site) for site in heap if site.context == "outside"]
    sites, _ = analysis.reachable(heap, [*roots, *changed])
    return heap.part(sites, {site for site in heap.seen if site in sites or site.context == "outside"})


def _applied(analysis: Analysis, summary: Summary, part: Heap, heap: Heap, call: Frame) -> Made:
    """The result of a call, in the heap of the caller."""
    if summary.raised is not None:
        call.may_raise(_after(analysis, summary.raised, summary.heap, part, heap))
    if summary.returned is None:
        return None
    (value,), left = summary.returned
    return value, _after(analysis, left, summary.heap, part, heap)


def _after(analysis: Analysis, left: Heap, entered: Heap, part: Heap, heap: Heap) -> Heap:
    """The heap of a caller after a call that was entered with ``part`` of it, or with more, and left with ``left``."""
    contents: dict[Site, Contents] = {}
    newly: list[Value] = [at(site) for site in left.seen if site not in heap.seen]
    for site, after in left.items():
        if site in part or site.context == "outside":
            contents[site] = after
        elif site in heap:  # an object that the caller had is not this one
            contents[site] = replace(joined(heap.own(site), after), single=False)
            if site in heap.seen:
                newly += after.values()
        elif site not in entered:  # of what other calls were given that were joined with this one
            contents[site] = after
    made = heap.with_all(contents)
    return analysis.unknown(newly, made, is_run=False) if newly else made
