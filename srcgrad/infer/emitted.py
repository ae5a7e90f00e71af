"""What functions of the runtime give that emitted code names: objects and dicts that are made, the rest by its effect.

Enters: a call in code that srcgrad has emitted, which is differentiated again.  Leaves: what it gives, and the heap
after it; ``NotImplemented`` of a function that is entered like one of the user's.  The runtime looks into objects as
they are: none of their methods is run, unless its effect says that it calls them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from srcgrad import runtime
from srcgrad.infer.applying import applied
from srcgrad.infer.data import is_data
from srcgrad.infer.exceptions import are_of_text
from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.items import compares_plainly, get_item
from srcgrad.infer.iteration import elements
from srcgrad.infer.objects import MAPPINGS, container, data, get_attribute, is_plain
from srcgrad.infer.outside import is_of_library, is_of_users
from srcgrad.infer.parameters import Given
from srcgrad.infer.values import (
    NEVER,
    Array,
    At,
    Atom,
    Exact,
    Value,
    are_numbers,
    are_of,
    at,
    exact,
    is_unchanging,
    union,
)
from srcgrad.language.effects import is_listed, is_of_emitted, of_function
from srcgrad.rules.table import is_constant, lookup

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.objects import Made
    from srcgrad.ir.regions import Statement


def of_emitted(
    analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap
) -> Any:
    if not is_of_emitted(function) or given.more is not None or given.keywords:
        return NotImplemented
    if function is runtime.made:
        return _made(analysis, frame, statement, given, heap)
    if function is runtime.attribute and isinstance(name := _constant(given.positional[1]), str):
        return get_attribute(analysis, frame, statement, given.positional[0], name, heap)
    if function is runtime.part_like and is_plain(analysis, heap, given.positional[3]):
        return _part(analysis, frame, statement, given, heap)
    if function is runtime.defaulting:
        return _defaulting(frame, statement, given, heap)
    if function in _COPYING:
        copied = _Copied(heap, _LISTED.get(function), is_deep=function is not runtime.own)
        parts = [copied.value(value) for value in given.positional]
        if len(parts) > 1:  # ``private`` of several
            return container(frame, statement, copied.heap, tuple, Contents(parts=tuple(parts)))
        is_new = function in (runtime.frozen, runtime.private)
        return parts[0] if is_new else union(parts[0], given.positional[0]), copied.heap
    if function is runtime.merged and all(are_of(value, *MAPPINGS) for value in given.positional):
        return _merged(analysis, frame, statement, given, heap)
    if function is runtime.as_list and len(given.positional) == 1:
        return _as_list(analysis, frame, statement, given, heap)
    if function in ATTEMPTS:
        return _attempted(analysis, frame, statement, given, heap)
    if function is runtime.raised_in_place:
        return given.positional[0], heap
    if function in ASKING and is_plain(analysis, heap, *given.positional):
        thrown, heap = _thrown(analysis, frame, statement, given.positional[1], heap)
        return union(given.positional[0], thrown), heap
    if function is runtime.raisable and not given.positional[0].is_any:
        return _raisable(analysis, frame, statement, given.positional[0], heap)
    effect = of_function(function)
    if lookup(function) is None and not is_constant(function) and not is_listed(function):
        return NotImplemented
    if not effect.is_known or effect.calls and not is_plain(analysis, heap, *given.values()):
        return NotImplemented
    objects = _with_objects(frame, heap, given.values())
    if effect.returns != "alias" or not objects:
        is_data = effect.returns != "alias" or lookup(function) is not None and not is_listed(function)
        holds = partial(_of_cotangents, objects) if is_data else None
        return applied(analysis, frame, statement, effect, given, heap, holds=holds)
    rest = union(*heap.reachable(given.values())[1])  # which is not said of all data
    value, heap = container(frame, statement, heap, None, Contents(single=False, rest=rest, others=rest))
    return union(value, rest), heap


_CONTAINERS = (list, tuple, deque, *MAPPINGS)
#: What says which items are meant.
_PLACES = (slice, range)
_COPYING = (runtime.frozen, runtime.kept, runtime.own, runtime.private, runtime.snapshot)
#: What calls a function where something of what it raises may be caught.
ATTEMPTS = (runtime.attempt, runtime.attempt_store, runtime.attempt_whole)
#: What asks what something would raise, after what was raised before and the classes that are caught.
ASKING = (runtime.raised_augmenting, runtime.raised_entering, runtime.raised_iterating)
#: What an attempt raised: None, or an exception, of which nothing is read that varies.
RAISED = union(exact(None), at(Site(BaseException, "raised")))
_LISTED: dict[Any, type] = {runtime.frozen: deque, runtime.own: tuple}


def _with_objects(frame: Frame, heap: Heap, values: Iterable[Value]) -> frozenset[Atom]:
    """What can be reached from values that is no data: objects and functions, and the containers that hold some."""
    held_by: dict[Atom, list[Atom]] = {}
    sites, roots = heap.reachable(values)
    for site in sites:
        for value in heap[site].values():
            for atom in value.atoms:
                held_by.setdefault(atom, []).append(At(site))
    pending = [atom for atom in {*held_by, *(a for v in roots for a in v.atoms)} if not _is_of_data(frame, atom)]
    found: set[Atom] = set()
    while pending:
        if (atom := pending.pop()) not in found and atom != At(frame.facts.data):  # type: ignore[arg-type]
            found.add(atom)
            pending += held_by.get(atom, [])
    return frozenset(found)


def _is_of_data(frame: Frame, atom: Atom) -> bool:
    if isinstance(atom, At):
        return atom.site.kind in (*_CONTAINERS, *_PLACES) or atom.site == frame.facts.data
    return isinstance(atom, Array) or is_unchanging(atom)


def _of_cotangents(objects: frozenset[Atom], value: Value) -> Value:
    """What of a value a cotangent, tangent or shadow may be, or hold: those of objects are dicts.

    What is left out stands for data all the same, of which nothing is said."""
    kept = frozenset(a for a in value.atoms - objects if not (isinstance(a, At) and a.site.kind in _PLACES))
    return replace(value, atoms=frozenset(a for a in kept if not is_unchanging(a) or _is_number(a)))


def _is_number(atom: Atom) -> bool:
    return atom == Exact(None) or are_numbers(Value(frozenset((atom,))))


def _as_list(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Made:
    """A list of the items of another one, or of what else holds some; an empty one of None."""
    items, heap = elements(analysis, frame, statement, given.positional[0], heap)
    return container(frame, statement, heap, list, Contents(rest=items))


def _part(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Made:
    """``part_like(v, w, held, index)``: ``held[index]``, a view of an array, or zeros."""
    *_, held, index = given.positional
    arrays = Value(frozenset(atom for atom in held.atoms if isinstance(atom, Array)))
    made = get_item(analysis, frame, statement, replace(held, atoms=held.atoms - arrays.atoms), index, heap)
    found, heap = (NEVER, heap) if made is None else made
    zeros, heap = data(frame, statement, heap)
    return union(arrays, found, zeros), heap


def _attempted(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Made:
    """``attempt(f, (ValueError,), x)``: what ``f(x)`` returns, and None, or None and what it raised."""
    function, kinds, *arguments = given.positional
    outer, frame.raised = frame.raised, [heap]
    made = analysis.call(frame, statement, function, tuple(arguments), heap)
    raised, frame.raised = frame.raised, outer
    value, after = (NEVER, heap) if made is None else made
    for each in raised:
        frame.may_raise(each)
        after = after.join(each)
    thrown, after = _thrown(analysis, frame, statement, kinds, after)
    return container(frame, statement, after, tuple, Contents(parts=(union(value, exact(None)), thrown)))


def _merged(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Any:
    """``merged(a, b)``: a dict of the entries of others, of which the values are not asked."""
    held = [heap[atom.site] for value in given.positional for atom in value.atoms if isinstance(atom, At)]
    if not compares_plainly(analysis, heap, union(*(each.keys for each in held))):
        return NotImplemented
    made = Contents(entries=held[0].entries) if len(held) == 1 else Contents()
    if made.entries is None:
        for each in held:
            made = made.with_sides(each.keys, each.held)
    return container(frame, statement, heap, dict, made)


def _thrown(analysis: Analysis, frame: Frame, statement: Statement, kinds: Value, heap: Heap) -> tuple[Value, Heap]:
    """What is caught of these classes, or None."""
    if not are_of_text(analysis, kinds, heap):
        return RAISED, heap
    thrown, heap = data(frame, statement, heap, part="raised")
    return union(thrown, exact(None)), heap


def _raisable(analysis: Analysis, frame: Frame, statement: Statement, made: Value, heap: Heap) -> Any:
    """``raisable(Stop)``: what the class gives that is called; ``raisable(Stop())``: the exception itself."""
    kinds = Value(frozenset(a for a in made.atoms if is_of_users(a) and isinstance(a, Exact)))
    called = analysis.call(frame, statement, kinds, (), heap) if kinds else (kinds, heap)
    of_libraries = Value(frozenset(filter(is_data, made.atoms)))  # which hold what they were made of
    others = NEVER if made == of_libraries else Value(RAISED.atoms - {Exact(None)})
    return None if called is None else (union(of_libraries, others), called[1])


@dataclass(frozen=True)
class _Part:
    """Which object a copy is of."""

    of: Site


class _Copied:
    """A copy of containers and objects, ``is_deep`` of those in them too; what else they hold is not copied.

    ``listed``: a class of containers of which lists are made."""

    def __init__(self, heap: Heap, listed: type | None, *, is_deep: bool) -> None:
        self.before, self.heap, self.listed, self.is_deep = heap, heap, listed, is_deep
        self.made: dict[Site, Value] = {}

    def value(self, value: Value) -> Value:
        return replace(union(NEVER, *map(self._atom, value.atoms)), is_any=value.is_any)

    def _atom(self, atom: Atom) -> Value:
        itself = Value(frozenset((atom,)))
        if not isinstance(atom, At) or self.before.is_seen(atom.site) or not self._is_copied(atom.site.kind):
            return itself
        if atom.site not in self.made:
            part = atom.site.origin[1] if isinstance(atom.site.origin, tuple) else None
            # All copies of an object are alike, and so are copies of copies, as loops make them.
            root = part if isinstance(part, _Part) else _Part(atom.site)
            kind = list if atom.site.kind is self.listed else atom.site.kind
            made = Site(kind, ("copy", root), root.of.context)
            self.made[atom.site] = at(made)
            contents, inside = self.before[atom.site], self.value if self.is_deep else lambda held: held
            copy_ = contents.mapped(inside)
            self.heap = self.heap.allocated(made, copy_)
        return self.made[atom.site]

    def _is_copied(self, kind: Any) -> bool:
        return kind in _CONTAINERS or self.is_deep and isinstance(kind, type) and not is_of_library(kind)


def _constant(value: Value) -> object:
    atom = next(iter(value.atoms)) if len(value.atoms) == 1 and not value.is_any else None
    return atom.value if isinstance(atom, Exact) else None


def _made(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Any:
    """``made(Layer, {"w": w})``: an object with these fields, which no method has made."""
    kind, fields = (next(iter(v.atoms), None) if len(v.atoms) == 1 and not v.is_any else None for v in given.positional)
    if not isinstance(kind, Exact) or not isinstance(kind.value, type) or not isinstance(fields, At):
        return NotImplemented
    entries = heap[fields.site].entries
    if entries is None or analysis.assigned.is_open(kind.value):
        return NotImplemented
    held = {str(name): value for name, value in entries}
    return container(frame, statement, heap, kind.value, Contents(fields=held))


def _defaulting(frame: Frame, statement: Statement, given: Given, heap: Heap) -> Any:
    """``defaulting({}, list)``: a ``defaultdict`` of these items."""
    items, factory = given.positional[0], given.positional[1] if len(given.positional) > 1 else exact(None)
    (atom,) = items.atoms if len(items.atoms) == 1 and not items.is_any else (None,)
    if not isinstance(atom, At):
        return NotImplemented
    made = replace(heap[atom.site], fields={"default_factory": factory})
    return container(frame, statement, heap, defaultdict, made)
