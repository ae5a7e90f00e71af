"""Tangents of memory that is stored into: each shares memory with the others as the values do.

>>> w, w_dot = np.arange(4.0), np.ones(4)
>>> v = w.reshape(2, 2)
>>> v_dot = tangent_like(w_dot.reshape(2, 2), v, w, w_dot)
>>> v_dot[0] = 7.0
>>> w_dot
array([7., 7., 1., 1.])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.shadows import shadow, view_like


def entering(x: Any, moved: Any = None) -> Any:
    """The tangent of an argument that may be stored into: memory of its own, laid out and shared as that of ``x``.

    Without ``moved`` it is zero.
    """
    return _entering(x, moved, {}, [])


def _entering(x: Any, x_dot: Any, seen: dict[int, tuple[Any, Any]], arrays: list[Any]) -> Any:
    if isinstance(x, np.ndarray):
        if id(x) in seen:
            made = seen[id(x)][0]
            _require_equal(made, x_dot)
            return made
        made = view_like(x, *arrays) if arrays else shadow(x)
        if any(isinstance(other, np.ndarray) and np.may_share_memory(made, other) for other in arrays[1::2]):
            _require_equal(made, x_dot)
        elif x_dot is not None:
            made[...] = _real_for(made, x_dot)
        seen[id(x)] = made, x
        arrays += [x, made]
        return made
    if isinstance(x, tuple):
        return tuple(_entering(part, part_dot, seen, arrays) for part, part_dot in _pairs(x, x_dot))
    if isinstance(x, list | dict):
        if id(x) in seen:
            return seen[id(x)][0]
        made = [] if isinstance(x, list) else {}
        seen[id(x)] = made, x
        if isinstance(x, list):
            made.extend(_entering(part, part_dot, seen, arrays) for part, part_dot in _pairs(x, x_dot))
        else:
            given = {} if x_dot is None else x_dot
            made.update((key, _entering(part, given.get(key), seen, arrays)) for key, part in x.items())
        return made
    return zeros_like(x) if x_dot is None else x_dot


def _pairs(x: Any, x_dot: Any) -> Iterator[tuple[Any, Any]]:
    return zip(x, [None] * len(x) if x_dot is None else x_dot, strict=True)


def _real_for(made: Any, x_dot: Any) -> Any:
    return np.real(x_dot) if made.dtype.kind == "f" and np.iscomplexobj(x_dot) else x_dot


def _require_equal(made: Any, x_dot: Any) -> None:
    if not np.array_equal(made, 0.0 if x_dot is None else np.asarray(x_dot)) and x_dot is not None:
        raise ValueError("an argument holds one array in two places, and its tangent has two different ones for it")


def tangent_like(moved: Any, v: Any, *known: Any) -> Any:
    """``moved``, sharing memory with one of the tangents in ``w1, w1_dot, w2, w2_dot, ...`` exactly where ``v`` shares
    memory with the value beside it."""
    if isinstance(v, tuple | list):
        if moved is None:
            return None
        parts = [tangent_like(part_dot, part, *known) for part_dot, part in zip(moved, v, strict=True)]
        return tuple(parts) if isinstance(moved, tuple) else parts
    if not isinstance(v, np.ndarray) or moved is None:
        return moved
    pairs = list(_arrays_of(known))
    for w, w_dot in pairs:
        if v is w:
            return w_dot
        if np.may_share_memory(v, w) and np.shares_memory(v, w):
            if isinstance(moved, np.ndarray) and np.may_share_memory(moved, w_dot):
                return moved
            return view_like(v, w, w_dot)
    return fresh(moved, v)


def _arrays_of(known: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    pending = list(zip(known[::2], known[1::2], strict=True))
    while pending:
        w, w_dot = pending.pop()
        if isinstance(w, np.ndarray) and isinstance(w_dot, np.ndarray):
            yield w, w_dot
        elif isinstance(w, tuple | list) and isinstance(w_dot, tuple | list):
            pending += zip(w, w_dot, strict=True)
        elif isinstance(w, dict) and isinstance(w_dot, dict):
            pending += [(part, w_dot[key]) for key, part in w.items() if key in w_dot]


def fresh(moved: Any, v: Any) -> Any:
    """``moved`` in memory of its own, in the layout of the new value ``v``."""
    if isinstance(moved, np.ndarray):
        if not isinstance(v, np.ndarray) or v.shape != moved.shape:
            return moved.copy()
        made = np.empty_like(v, dtype=moved.dtype, subok=False)
        made[...] = moved
        return made
    if isinstance(moved, tuple):
        return moved
    if isinstance(moved, list):
        return list(moved)
    return dict(moved) if isinstance(moved, dict) else moved


def stored(moved: Any, v: Any) -> Any:
    """The tangent of what ``v[index] = e`` stores: zero where an array of integers takes it, which moves by jumps."""
    return np.zeros_like(moved) if isinstance(v, np.ndarray) and v.dtype.kind not in "fc" else moved
