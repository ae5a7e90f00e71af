"""Tangents of memory that is stored into: each shares memory with the others as the values do.

>>> w, w_dot = np.arange(4.0), np.ones(4)
>>> v = w.reshape(2, 2)
>>> v_dot = tangent_like(w_dot.reshape(2, 2), v, w, w_dot)
>>> v_dot[0] = 7.0
>>> w_dot
array([7., 7., 1., 1.])
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from srcgrad.runtime.cotangents import is_floating, untake, zeros_like
from srcgrad.runtime.defaults import dict_like
from srcgrad.runtime.descending import Step, descending, is_nested
from srcgrad.runtime.mirrors import each_once, items_like, own_left
from srcgrad.runtime.objects import fields_of, is_object, require_same
from srcgrad.runtime.owners import Table
from srcgrad.runtime.refusals import RefusedType, RefusedValue
from srcgrad.runtime.shadows import accumulate, arrays_inside, cloned, extent, meet, shadow, view_in, view_like


def entering(x: Any, moved: Any = None) -> Any:
    """The tangent of an argument that may be stored into: memory of its own, laid out and shared as that of ``x``.

    Without ``moved`` it is zero.
    """
    seen: dict[int, Any] = {}
    known = Table()
    for array in arrays_inside(x):
        seen[id(array)] = view_in(array, known)
        known.add(array, seen[id(array)])
    return _entering(x, moved, seen, Table()) if is_nested(x) else _entering_leaf(x, moved, seen, Table())


def _entering_leaf(x: Any, x_dot: Any, seen: dict[int, Any], filled: Table) -> Any:
    if isinstance(x, np.ndarray):
        _fill(seen[id(x)], x_dot, filled)
        return seen[id(x)]
    if isinstance(x, range):
        return [0.0] * len(x)
    return zeros_like(x) if x_dot is None else x_dot


@descending
def _entering(x: Any, x_dot: Any, seen: dict[int, Any], filled: Table) -> Step[Any]:
    """``seen`` has the tangents of the arrays in ``x``, and of the containers that were met."""
    if not is_nested(x):
        return _entering_leaf(x, x_dot, seen, filled)
    if isinstance(x, tuple):
        parts: list[Any] = []
        for part, part_dot in _pairs(x, x_dot):
            parts.append((yield part, part_dot, seen, filled))
        return tuple(parts)
    if isinstance(x, list | deque):
        if id(x) not in seen:
            made: Any = [] if isinstance(x, list) else deque(maxlen=x.maxlen)
            seen[id(x)] = made
            for part, part_dot in _pairs(x, x_dot):
                deep = is_nested(part)
                made.append(
                    (yield part, part_dot, seen, filled) if deep else _entering_leaf(part, part_dot, seen, filled)
                )
        return seen[id(x)]
    if id(x) not in seen:
        fields = seen[id(x)] = dict_like(x, {})
        given = {} if x_dot is None else x_dot if isinstance(x_dot, dict) else fields_of(x_dot)
        for key, part in (x if isinstance(x, dict) else fields_of(x)).items():
            fields[key] = yield part, given.get(key), seen, filled
    return seen[id(x)]


def _fill(made: Any, x_dot: Any, filled: Table) -> None:
    if x_dot is None:
        return
    before = [(other, other.copy()) for other, _ in filled.near(made) if np.may_share_memory(other, made)]
    made[...] = _real_for(made, x_dot)
    if any(not np.array_equal(other, old) for other, old in before):
        raise RefusedValue(
            "E0701", "an argument holds one array in two places, and its tangent has two different ones for it"
        )
    filled.add(made, None)


def _pairs(x: Any, x_dot: Any) -> Iterator[tuple[Any, Any]]:
    return zip(x, [None] * len(x) if x_dot is None else x_dot, strict=True)


def _real_for(made: Any, x_dot: Any) -> Any:
    return np.real(x_dot) if made.dtype.kind == "f" and np.iscomplexobj(x_dot) else x_dot


def float_tangent(x: Any) -> float:
    """The tangent of a number as a float; text, which a number may be read from, has none."""
    if x is None:
        raise RefusedType("E0601", "a number is read from text beside values that vary; text carries no derivative")
    return float(x)


def tangent_like(moved: Any, v: Any, *known: Any) -> Any:
    """``moved``, sharing memory with one of the tangents in ``w1, w1_dot, w2, w2_dot, ...`` exactly where ``v`` shares
    memory with the value beside it."""
    if isinstance(v, np.flatiter) and not any(np.may_share_memory(moved, dot) for dot in known[1::2]):
        raise RefusedType("E0301", "a store into .flat of what was not known to be an array; store by indices")
    if not known and not is_nested(v):  # new memory, of which only the layout is to be the value's
        if isinstance(moved, str) or not isinstance(v, np.ndarray):
            return moved
        moved = _held(moved, v)
        return _laid_out(moved, v) if isinstance(moved, np.ndarray) else moved
    pairs = _Pairs(_arrays_of(known))
    arrays = [] if isinstance(v, np.ndarray) else list(_arrays_of((v, moved)))
    if len(arrays) > 1:  # a view of a local array that stands before it waits for what the whole is given
        for part, part_dot in sorted(arrays, key=lambda pair: (extent(pair[0]), pair[0].size), reverse=True):
            pairs.add(part, pairs.placed(part_dot, part))
    return _tangent_like(moved, v, pairs, set())


class _Pairs:
    """Arrays with their tangents, found by the memory of either."""

    def __init__(self, known: Iterable[tuple[Any, Any]]) -> None:
        self.tangents, self.values = Table(), Table()
        for w, w_dot in known:
            self.add(w, w_dot)

    def add(self, w: Any, w_dot: Any) -> None:
        self.tangents.add(w, w_dot)
        self.values.add(w_dot, w)

    def placed(self, moved: Any, v: Any) -> Any:
        """``moved``, where it lies as ``v`` does, or else an array that does."""
        if v in self.tangents:
            return self.tangents.beside(v)
        for w, w_dot in self.tangents.near(v):
            if meet(v, w):
                may_be_stored_into = moved.flags.writeable or not v.flags.writeable  # a broadcast view may not
                return moved if meet(moved, w_dot) and may_be_stored_into else view_in(v, self.tangents)
        is_apart = not any(meet(moved, w_dot) for w_dot, _ in self.values.near(moved))
        return _laid_out(moved, v) if is_apart else fresh(moved, v)


@descending
def _tangent_like(moved: Any, v: Any, pairs: _Pairs, seen: set[tuple[int, int]]) -> Step[Any]:
    if moved is None or isinstance(v, str):
        return moved
    if isinstance(v, list | deque | dict) or is_object(v):
        if (id(v), id(moved)) in seen:  # a container may hold itself
            return moved
        seen.add((id(v), id(moved)))
    if isinstance(v, tuple):
        parts: list[Any] = []
        for part_dot, part in zip(moved, v, strict=True):
            parts.append((yield part_dot, part, pairs, seen))
        same = isinstance(moved, tuple) and all(new is old for new, old in zip(parts, moved, strict=True))
        return moved if same else tuple(parts) if isinstance(moved, tuple) else parts
    if isinstance(v, list | deque):
        if isinstance(moved, tuple):  # a formula's display of several
            moved = list(moved)
        for j, part in enumerate(v):
            moved[j] = yield moved[j], part, pairs, seen
        return moved
    if isinstance(v, dict) or is_object(v):
        for key, part in (v if isinstance(v, dict) else fields_of(v)).items():
            if key in moved:
                moved[key] = yield moved[key], part, pairs, seen
        return moved
    moved = _held(moved, v)
    if not isinstance(v, np.ndarray) or not isinstance(moved, np.ndarray):
        return moved
    made = pairs.placed(moved, v)
    pairs.add(v, made)  # what shares memory with v comes to share it with this
    return made


def _laid_out(moved: Any, v: Any) -> Any:
    """A tangent that shares memory with no other one, as it is where it may be stored into and lies as ``v`` does."""
    if moved.base is None and moved.strides == v.strides and moved.dtype == v.dtype and moved.flags.writeable:
        return moved  # the usual case: memory of its own shows no element twice
    repeats = any(stride == 0 and count > 1 for stride, count in zip(moved.strides, moved.shape, strict=True))
    owned = v.base is None and moved.base is None
    is_right = moved.flags.writeable and not repeats and (not owned or _lie_alike(moved, v))
    return moved if is_right else fresh(moved, v)


def _lie_alike(a: Any, b: Any) -> bool:
    """Whether two arrays have their elements in one order, so that views of the one show the places of the other's."""
    old, new = a.itemsize, b.itemsize
    strides = zip(a.shape, a.strides, b.strides, strict=True)
    return a.shape != b.shape or all(s // old == t // new for count, s, t in strides if count > 1)


def _arrays_of(known: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """The arrays in values, each with its tangent."""
    pending = list(zip(known[::2], known[1::2], strict=True))
    seen: set[int] = set()
    while pending:
        w, w_dot = pending.pop()
        if isinstance(w, np.ndarray) and isinstance(w_dot, np.ndarray):
            yield w, w_dot
        elif id(w) in seen:
            continue
        elif isinstance(w, tuple | list | deque) and isinstance(w_dot, tuple | list | deque):
            seen.add(id(w))
            pending += zip(w, w_dot, strict=True)
        elif (isinstance(w, dict) or is_object(w)) and isinstance(w_dot, dict):
            seen.add(id(w))
            parts = w if isinstance(w, dict) else fields_of(w)
            pending += [(part, w_dot[key]) for key, part in parts.items() if key in w_dot]


def _held(moved: Any, v: Any) -> Any:
    """The tangent of an array without axes as an array: NumPy computes numbers of such, and they are stored into."""
    is_number = isinstance(moved, float | complex | np.inexact)
    return np.array(moved) if is_number and isinstance(v, np.ndarray) and not v.ndim else moved


def fresh(moved: Any, v: Any) -> Any:
    """``moved`` in memory of its own, in the layout of the new value ``v``."""
    if (held := _held(moved, v)) is not moved:
        return held
    if isinstance(moved, np.ndarray):
        if not isinstance(v, np.ndarray) or v.shape != moved.shape:
            return moved.copy()
        made = np.empty_like(v, dtype=moved.dtype, subok=False)
        made[...] = moved
        return made
    if isinstance(moved, tuple):  # of several results: (quotient, remainder), (w, V)
        values = v if isinstance(v, tuple) and len(v) == len(moved) else (None,) * len(moved)
        copies = {id(part): fresh(part, value) for part, value in zip(moved, values, strict=True)}
        return tuple(copies[id(part)] for part in moved)
    if isinstance(moved, list):
        return list(moved)
    return dict(moved) if isinstance(moved, dict) else moved


def stored(moved: Any, v: Any) -> Any:
    """The tangent of what ``v[index] = e`` stores: zero where an array of integers takes it, which moves by jumps, and
    of texts, which arrays read as numbers.

    >>> stored([None, 2.0], np.zeros(2))  # of ["1.5", a]
    [0.0, 2.0]
    """
    if not isinstance(v, np.ndarray):
        return moved
    if not v.dtype.hasobject:
        moved = _with_zeros(moved)
    return moved if is_floating(v.dtype) else zeros_like(moved)


def _with_zeros(moved: Any) -> Any:
    """A tangent whose missing parts are zeros."""
    if isinstance(moved, list | tuple | deque):
        return [_with_zeros(part) for part in moved]
    return 0.0 if moved is None else moved


# --- tangents of shadows ---------------------------------------------------------------------------------------------
def view_moved(v: Any, known: tuple[Any, ...], moved: tuple[Any, ...]) -> Any:
    """The tangent of ``view_like(v, *known)``, where ``known`` is ``w1, w1_bar, ...`` and ``moved`` their tangents."""
    return view_like(v, *_beside(known, moved))


def items_moved(v: Any, known: tuple[Any, ...], moved: tuple[Any, ...]) -> Any:
    """The tangent of ``items_like(v, *known)``."""
    return items_like(v, *_beside(known, moved))


def _beside(known: tuple[Any, ...], moved: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_laid(moved[j], known[j]) if j % 2 else known[j] for j in range(len(known)))


def _laid(tangent: Any, bar: Any) -> Any:
    """The tangent of a shadow; of one that does not move it is zeros, which were made in any layout."""
    if isinstance(tangent, np.ndarray) and isinstance(bar, np.ndarray) and tangent.base is None:
        if not _lie_alike(bar, tangent) and not tangent.any():
            return shadow(bar)
    return tangent


def unview(g: Any, v: Any, known: tuple[Any, ...], moved: tuple[Any, ...]) -> list[Any]:
    """The transpose of ``view_moved`` and ``items_moved``: the cotangents of ``moved``."""
    room = _emptied(cloned(moved[1::2]))
    beside = [room[j // 2] if j % 2 else w for j, w in enumerate(known)]
    accumulate(items_like(v, *beside), g)
    found = each_once(room)
    return [found[j // 2] if j % 2 else zeros_like(part) for j, part in enumerate(moved)]


def _emptied(x: Any) -> Any:
    """Shadows as zeros that share memory as they do."""
    if isinstance(x, np.ndarray):
        x[...] = 0
        return x
    if isinstance(x, tuple | list | deque):
        return [_emptied(part) for part in x]
    if isinstance(x, dict):
        return {key: _emptied(part) for key, part in x.items()}
    return shadow(x)


def unpart_like(g: Any, v: Any, w: Any, held: Any, index: Any) -> Any:
    """The transpose of ``part_like``."""
    if isinstance(held, dict) and index not in held:
        require_same(index)
        return {}  # a field that the class holds in place of the object's: nothing here was read
    if not isinstance(w, np.ndarray):
        return untake(g, held, index)
    found = shadow(held)
    accumulate(view_like(v, w, found), g)
    return found


def like_own(moved: Any, y: Any, held: Any, known: tuple[Any, ...]) -> Any:
    """What is left of ``moved``, a tangent or cotangent of ``held``, in ``y``, which is ``own_adjoint(held, *known)``:
    zeros where ``y`` has zeros in place of what is shared."""
    if y is None or not isinstance(moved, tuple | list | deque | dict):
        return None if y is None else moved
    return own_left(held, cloned(moved, keys=True), known)
