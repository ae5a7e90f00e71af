"""Methods and operators of sets: what they put in, take over from others, and make.

Enters: a method's name or an operator, and what it is given.  Leaves: what it returns, and the heap after it;
``NotImplemented`` of anything else, or of what may run code of the user's to hash and to compare::

    seen.add(i)        seen: set of what it held and i; i may be an object that equals itself alone
    a & b              a set of what either holds: equal items are taken from any of them
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.source import is_generated
from srcgrad.infer.classes import is_hashed_by_identity
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.object_sets import note_objects
from srcgrad.infer.objects import container, is_plain
from srcgrad.infer.values import NEVER, At, Value, exact, of, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement

_SETS = (set, frozenset)
_TAKING_OUT = {"discard": 1, "remove": 1, "clear": 0}  # how many arguments
_ASKING = ("isdisjoint", "issubset", "issuperset")
_MAKING = ("union", "intersection", "difference", "symmetric_difference")
_CHANGING = tuple(f"{name}_update" for name in _MAKING[1:])
_OPERATORS = ("|", "&", "-", "^")


def set_method(
    analysis: Analysis, frame: Frame, statement: Statement, atom: At, name: str, given: Given, heap: Heap
) -> Any:
    from srcgrad.infer.iteration import elements  # whose operators are those of sets

    kind, values = atom.site.kind, given.positional
    if kind not in _SETS or not hasattr(kind, name) or given.keywords or given.more is not None:
        return NotImplemented
    contents = heap[atom.site]
    if name in ("add", "discard") and len(values) == 1 and asks_identity(analysis, heap, atom, values[0]):
        if analysis.root is not None and is_generated(analysis.root):  # more seems to vary there
            note_objects(analysis, atom.site, statement, values[0])
        return exact(None), _put(analysis, heap, atom, values[0]) if name == "add" else heap
    note_objects(analysis, atom.site, statement, contents.items)
    if not is_plain(analysis, heap, Value(frozenset((atom,))), *values):
        return NotImplemented
    if name == "add" and len(values) == 1:
        return exact(None), _put(analysis, heap, atom, values[0])
    if _TAKING_OUT.get(name) == len(values):
        return exact(None), heap
    if name == "pop" and not values:
        return (contents.items, heap) if contents.items else None
    if name == "copy" and not values:
        if kind is frozenset:
            return Value(frozenset((atom,))), heap  # itself
        return container(frame, statement, heap, kind, Contents(rest=contents.items))
    if name not in (*_ASKING, *_MAKING, *_CHANGING):
        return NotImplemented
    held = []
    for value in values:
        one, heap = elements(analysis, frame, statement, value, heap)
        held.append(one)
        note_objects(analysis, atom.site, statement, one)
    if name in _ASKING:
        return of(bool), heap
    if not is_plain(analysis, heap, *held):  # an iterator may give anything
        return NotImplemented
    more = NEVER if name.startswith("difference") else union(*held)
    if name in _CHANGING:
        return exact(None), _put(analysis, heap, atom, more)
    return container(frame, statement, heap, kind, Contents(rest=union(contents.items, more)))


def set_operator(
    analysis: Analysis, frame: Frame, statement: Statement, symbol: str, operands: tuple[Value, ...], in_place: bool,
    heap: Heap,
) -> Any:  # fmt: skip
    """``a | b`` of two sets, whose class is that of the first."""
    atoms = [atom for value in operands for atom in value.atoms]
    if symbol not in _OPERATORS or len(operands) != 2 or not all(
        isinstance(atom, At) and atom.site.kind in _SETS for atom in atoms
    ):  # fmt: skip
        return NotImplemented
    left, right = (union(*(heap[atom.site].items for atom in v.atoms if isinstance(atom, At))) for v in operands)
    more = NEVER if symbol == "-" else right
    made: list[Value] = []
    for atom in sorted(operands[0].atoms, key=str):
        assert isinstance(atom, At)
        if in_place and atom.site.kind is set:
            heap = _put(analysis, heap, atom, more)
            made.append(Value(frozenset((atom,))))
    for kind in _SETS:
        if any(isinstance(a, At) and a.site.kind is kind for a in operands[0].atoms) and not (in_place and kind is set):
            built, heap = container(frame, statement, heap, kind, Contents(rest=union(left, more)), kind)
            made.append(built)
    return union(*made), heap


def _put(analysis: Analysis, heap: Heap, atom: At, more: Value) -> Heap:
    before = heap[atom.site]
    return analysis.store(heap, atom.site, replace(before, rest=union(before.items, more)))


def asks_identity(analysis: Analysis, heap: Heap, atom: Any, asked: Value) -> bool:
    """Whether a set that the program makes is asked for an object, or given one, and neither this nor what it holds
    says itself what it is equal to: so that the set goes by identity, and runs no code of the user's."""
    return (
        isinstance(atom, At) and atom.site.kind is set and atom.site.context != "outside" and atom.site not in heap.seen
        and all(_is_hashed_plainly(analysis, heap, value) for value in (asked, heap[atom.site].items))
    )  # fmt: skip


def _is_hashed_plainly(analysis: Analysis, heap: Heap, value: Value) -> bool:
    def is_hashed(atom: Any) -> bool:
        return is_hashed_by_identity(analysis, atom) or is_plain(analysis, heap, Value(frozenset((atom,))))

    return not value.is_any and all(map(is_hashed, value.atoms))  # of an empty set there are none
