"""What a function or method of a library that the table of effects lists does to the heap, and returns at most.

Enters: its effect and its arguments.  Leaves: the result, and the heap after it::

    np.put(y, k, e)          y may hold what e holds, if it holds objects
    np.add(x, y, out=w)      w
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer.data import besides_data, is_data
from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.objects import are_plain, data
from srcgrad.infer.parameters import Given
from srcgrad.infer.values import ANY, NEVER, Array, At, Atom, Bound, Exact, Value, at, of, union
from srcgrad.ir.evaluating import BINARY, IN_PLACE
from srcgrad.language.effects import ALL, Effect
from srcgrad.rules.table import lookup, method

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


#: Functions that apply an operator to two operands, and whether it is the one in place.
OPERATORS: dict[Any, tuple[str, bool]] = {
    **{function: (symbol, False) for symbol, function in BINARY.items()},
    **{function: (symbol, True) for symbol, function in IN_PLACE.items()},
    pow: ("**", False),
}


def is_operator(function: Any, count: int) -> bool:
    """Whether a call of a function with so many operands is an operator."""
    return count == 2 and isinstance(function, BuiltinFunctionType) and function in OPERATORS


def applied(
    analysis: Analysis, frame: Frame, statement: Statement, effect: Effect, given: Given, heap: Heap,
    *, holds: Callable[[Value], Value] | None = None,
) -> tuple[Value, Heap]:  # fmt: skip
    """What a function that the table knows does to the heap, and what it returns at most; ``holds``: what of a value
    its result may hold, and what it changes."""
    values = given.values()
    names = [name for name, _ in given.keywords] + ["out"] * (given.more is not None)
    sources = _sources(effect, given)
    items = [_items(value, heap) for value in sources]
    handed = [*sources, *items] if holds is None else [holds(value) for value in (*sources, *items)]
    for place in effect.updated(len(given.positional), names):
        everywhere = place == ALL or place >= len(given.positional) or given.more is not None
        for value in values if everywhere else given.positional[place : place + 1]:
            for atom in value.atoms:
                if isinstance(atom, At) or isinstance(atom, Array) and atom.number is None:
                    contents = heap[atom.site]
                    kept = handed
                    if atom.site == frame.facts.data:
                        kept = [besides_data(frame, each, heap) for each in kept]
                    rest = union(contents.items, *kept, of(str) if names and effect.keeps else NEVER)
                    made = replace(contents, single=False, parts=None, entries=None, rest=rest, apart=None)
                    heap = analysis.store(heap, atom.site, made)
    to_output = effect.updated(len(given.positional), names) != effect.updates
    if effect.returns == "fresh" and not to_output:
        return data(frame, statement, heap)
    if to_output and (output := _output(effect, given, heap)) is not None:
        return output, heap
    held = [besides_data(frame, each, heap) for each in handed]
    value, heap = data(frame, statement, heap, *held)
    seen = [Value(frozenset((Array(atom.site),))) for v in handed[: len(sources)]
            for atom in v.atoms if isinstance(atom, Array | At)]  # fmt: skip
    return union(value, *held, *seen), heap


def _sources(effect: Effect, given: Given) -> Sequence[Value]:
    """The operands of which the result of a call is, and what it keeps."""
    if not effect.sources or given.more is not None:
        return given.values()
    return [value for places in effect.sources for value in given.positional[places]]


#: Of which NumPy makes arrays of what they hold; and names of what says how.
_SEQUENCES = (np.ndarray, list, tuple, deque, slice, range)
_OPTIONS = ("axis", "dtype", "mode", "order", "casting", "kind", "side", "method", "indexing", "where", "out")
#: What is made of a shape, and holds nothing of what is given.
_OF_SHAPES = (np.empty, np.zeros, np.ones, np.eye, np.identity, np.tri)


def with_objects(effect: Effect, function: Any, given: Given, heap: Heap) -> tuple[Effect, Given]:
    """What a function of NumPy does that may be given objects, and what its result may be or hold of what it is given:
    of objects it makes an array, so that a sum is one of them; of a list another array."""
    is_of_numpy = (getattr(function, "__module__", None) or "numpy").startswith("numpy")
    if effect.returns not in ("fresh", "view") or not is_of_numpy or function in _OF_SHAPES:
        return effect, given
    values = [*given.positional, *(value for name, value in given.keywords if name not in _OPTIONS)]
    values += [] if given.more is None else [given.more]
    sites, held = heap.reachable(values)
    if all(site.kind in _SEQUENCES for site in sites) and effect.returns == "fresh":
        return effect, given
    returns = replace(effect, returns="alias")
    if not is_fresh(effect, replace(given, more=None)):
        return returns, given
    objects = [atom for value in held for atom in value.atoms if not (
        atom == Exact(None) or isinstance(atom, At) and atom.site.kind in _SEQUENCES)]  # fmt: skip
    return returns, Given((Value(frozenset(objects), any(value.is_any for value in held)),))


def is_fresh(effect: Effect, given: Given) -> bool:
    """Whether a call changes none of its operands, an output that it is given included."""
    names = [name for name, _ in given.keywords]
    return given.more is None and effect.is_known and not effect.updated(len(given.positional), names)


#: Functions and methods whose first operand is the only one that their result may hold.
_OF_FIRST = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, "astype", "view")


def without_dtype(function: Any, given: Given) -> Given:
    """The arguments of a function of NumPy, or of a method by its name, that its result may hold."""
    is_of_numpy = isinstance(function, str) or (getattr(function, "__module__", None) or "numpy").startswith("numpy")
    if not is_of_numpy or given.more is not None:
        return given
    if any(function is each for each in _OF_FIRST) and given.positional:
        return Given(given.positional[:1])
    keywords = tuple((name, value) for name, value in given.keywords if name != "dtype")
    if isinstance(function, str) and lookup(method(function)) is None:  # of a list, say
        return Given(given.positional, keywords)
    positional = (NEVER if value.consists_of(_is_class_of_numbers) else value for value in given.positional)
    return Given(tuple(positional), keywords)


def _is_class_of_numbers(atom: Atom) -> bool:
    """Whether an atom is a class in the place of a dtype."""
    if not isinstance(atom, Exact) or not isinstance(atom.value, type):
        return False
    return atom.value in (bool, int, float, complex) or issubclass(atom.value, np.generic)


def called_data(
    analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap
) -> tuple[Value, Heap]:
    """What an object of a library gives that is called, the first operand: it runs no code of the user's where none
    can be reached, and may change and keep all that can be."""
    values = tuple(value for value in given.values() if not value.consists_of(_is_class_of_numbers))  # dtypes
    sites, held = heap.reachable(values)
    reached = union(*held)
    if not are_plain(analysis, heap, sites, held) or any(isinstance(atom, Bound) for atom in reached.atoms):
        return ANY, analysis.unknown(values, heap)
    changed: dict[Site, Contents] = {}
    for site in sites:
        before = heap[site]
        rest, others = union(before.items, reached), union(before.others, *before.fields.values(), reached)
        changed[site] = Contents(single=False, rest=rest, others=others)
    analysis.note_store([at(*sites)])
    heap = heap.all_updated(changed)  # unknown code has seen none of them
    value, heap = data(frame, statement, heap, reached)
    return union(value, reached, *(Value(frozenset((Array(site),))) for site in sites)), heap


def _output(effect: Effect, given: Given, heap: Heap) -> Value | None:
    """The array that a call puts its only result into, and returns."""
    place, found = effect.output, dict(given.keywords).get("out")
    if found is None and place is not None and place < len(given.positional):
        found = given.positional[place]
    parts = None if found is None else parts_of(found, heap)
    found = parts[0] if parts is not None and len(parts) == 1 else found
    if found is None or given.more is not None or found.is_any or not found.atoms:
        return None
    return found if all(isinstance(a, Array) and a.number is not None or is_data(a) for a in found.atoms) else None


def _items(value: Value, heap: Heap) -> Value:
    """What can be reached from a value."""
    _, held = heap.reachable([value])
    return union(*held)


def parts_of(value: Value, heap: Heap) -> tuple[Value, ...] | None:
    """The items of a list or tuple one by one, where they are known."""
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    return heap[atom.site].parts if isinstance(atom, At) and atom.site.kind in (list, tuple) else None
