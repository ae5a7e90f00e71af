"""Shadows of containers, and of what may be an array or a container: mirrored in the forward sweep, then only read.

A container's shadow holds the shadows of its items: those of arrays and containers, and a 0-d array, a *cell*, for each
number; that of an object is a dict of its fields'.  Changes of a container are made to its shadow too.

>>> L = [np.ones(2), 3.0]
>>> L_bar = [np.zeros(2), np.zeros(())]
>>> part_like(L[0], L, L_bar, 0) is L_bar[0]
True
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.containers import unarray
from srcgrad.runtime.cotangents import add_at
from srcgrad.runtime.descending import Step, descending, is_nested
from srcgrad.runtime.objects import fields_of, is_object, made, require_same
from srcgrad.runtime.owners import Table
from srcgrad.runtime.refusals import RefusedType
from srcgrad.runtime.shadows import accumulate, arrays_inside, cloned, shadow, view_in, view_like


def part_like(v: Any, w: Any, held: Any, index: Any) -> Any:
    """The shadow of ``v``, which is ``w[index]`` or the field ``w.index``: of a part of an array its view or fresh
    zeros, of an item the item of the shadow."""
    if isinstance(w, np.ndarray):
        return view_like(v, w, held)
    if isinstance(held, dict):
        _refuse_items(w, index)
        if index in held:
            return held[index]
        require_same(index)
        return shadow(v)
    return shadow(v) if held is None or isinstance(w, np.generic) else held[index]


def _unpart(w_bar: Any, index: Any, v_bar: Any) -> None:
    """Add the adjoint of ``v = w[index]`` to that of ``w``, if w is an array and v no view of it."""
    if isinstance(w_bar, np.ndarray) and isinstance(v_bar, np.ndarray) and not np.may_share_memory(v_bar, w_bar):
        add_at(w_bar, index, v_bar)


def rest_like(v: Any, w: Any, held: Any, places: slice) -> list[Any]:
    """The shadows of the items of ``*v``, which are those of ``w[places]``."""
    if isinstance(w, np.ndarray):
        return [part_like(part, w, held, places.start + k) for k, part in enumerate(v)]
    return list(held[places])


def unrest(w_bar: Any, places: slice, bars: list[Any]) -> None:
    """Add the adjoints of the items of ``*v`` to that of ``w``, if w is an array and they are no views of it."""
    for k, bar in enumerate(bars):
        _unpart(w_bar, places.start + k, bar)


def held_before(w: Any, index: Any) -> Any:
    """What a place of an array holds; None of a container, whose changes are not taken back."""
    if isinstance(w, np.ndarray):
        return np.array(w[index])
    _refuse_items(w, index)
    return None


def _refuse_items(w: Any, index: Any) -> None:
    if is_object(w) and not isinstance(index, str):
        raise RefusedType(
            "E0413", f"items of a {type(w).__name__}, an object of a user's class, have no derivative here"
        )


def as_stored(g: Any, e: Any) -> Any:
    """The cotangent of ``e``, a number, an array or nested lists of numbers, from that of the places that it filled.

    What items of a list were given, or added to, is a list too.
    """
    if isinstance(g, list | dict):
        given = as_given(g, e)
        return np.stack(given) if isinstance(e, np.ndarray) else given
    return unarray(unbroadcast(g, np.asarray(e)), e) if isinstance(e, tuple | list | deque) else unbroadcast(g, e)


def held_inside(x: Any) -> Any:
    """What the arrays of a shadow hold, be it an array or a container."""
    return cloned(x)


def put_back(x: Any, held: Any) -> None:
    """Let the arrays of a shadow hold again what they held."""
    for part, part_held in _inside((x, held)):
        if isinstance(part, np.ndarray):
            part[...] = part_held


def as_given(g: Any, e: Any) -> Any:
    """The cotangent of ``e`` in ``accumulate(x, e)`` from that of ``x``; of None, which adds nothing, there is none."""
    if e is None or g is None:
        return None
    if isinstance(g, np.ndarray):
        return as_stored(g.copy() if g.ndim else g[()], e)
    if isinstance(g, dict):
        return {key: as_given(g[key], part) for key, part in e.items()}
    made = [as_given(part_g, part) for part_g, part in zip(g, e, strict=True)]
    return np.array(made) if isinstance(e, np.ndarray) else made  # an array was added to a list of numbers


def given_to(e: Any, g: Any) -> Any:
    """The transpose of ``as_given``: ``e`` in the places of ``g``."""
    found = _zeros_apart(g)
    accumulate(found, e)
    return found


def _zeros_apart(x: Any) -> Any:
    """Zero for each place of a container by itself, whatever memory they share."""
    if isinstance(x, tuple | list | deque):
        return [_zeros_apart(part) for part in x]
    return {key: _zeros_apart(part) for key, part in x.items()} if isinstance(x, dict) else shadow(x)


def frozen(x: Any) -> Any:
    """A container as it is now: its lists and dicts are copied, what lies in them is not."""
    return _frozen(x, {})


@descending
def _frozen(x: Any, copies: dict[int, Any]) -> Step[Any]:
    """What a container holds twice, or what holds itself, is copied once."""
    if not is_nested(x):
        return x
    if id(x) in copies:
        return copies[id(x)]
    if isinstance(x, tuple | list | deque):
        items: list[Any] = []
        if not isinstance(x, tuple):
            copies[id(x)] = items
        for part in x:
            items.append((yield part, copies) if is_nested(part) else part)
        if isinstance(x, tuple):
            return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    elif isinstance(x, dict):
        copies[id(x)] = entries = dict[Any, Any]()
        for key, part in x.items():
            entries[key] = (yield part, copies) if is_nested(part) else part
    else:
        copies[id(x)] = alike = made(type(x), {})
        for name, part in fields_of(x).items():
            object.__setattr__(alike, name, (yield part, copies) if is_nested(part) else part)
    return copies[id(x)]


def items_like(v: Any, *known: Any) -> Any:
    """The shadow of ``v``, whose items or memory may be those of ``w1, w1_bar, w2, w2_bar, ...``; numbers get cells.

    What v contains twice, or in two views, has one shadow too.
    """
    arrays = Table()
    for w, w_bar in _inside(known):
        if isinstance(w, np.ndarray):
            arrays.add(w, w_bar)
    for array in [v] if isinstance(v, np.ndarray) else arrays_inside(v):
        arrays.add(array, view_in(array, arrays))
    return _items_like(v, arrays, {id(w): w_bar for w, w_bar in _containers_of(known)})


@descending
def _items_like(v: Any, arrays: Table, containers: dict[int, Any]) -> Step[Any]:
    if not is_nested(v):
        return arrays.beside(v) if isinstance(v, np.ndarray) else shadow(v)
    if isinstance(v, tuple):
        items: list[Any] = []
        for part in v:
            items.append((yield part, arrays, containers))
        return tuple(items)
    if id(v) not in containers:
        made: Any = [] if isinstance(v, list) else deque(maxlen=v.maxlen) if isinstance(v, deque) else {}
        containers[id(v)] = made
        if isinstance(v, list | deque):
            for part in v:
                made.append((yield part, arrays, containers))
        else:
            for key, part in (v if isinstance(v, dict) else fields_of(v)).items():
                made[key] = yield part, arrays, containers
    return containers[id(v)]


def _containers_of(known: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    return [(w, w_bar) for w, w_bar in _inside(known) if isinstance(w, tuple | list | dict | deque) or is_object(w)]


def _inside(known: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Values and what lies in them, each with its shadow; a container may hold itself."""
    pending = list(zip(known[::2], known[1::2], strict=True))
    seen: set[tuple[int, int]] = set()
    while pending:
        w, w_bar = pending.pop()
        inner = _inner(w, w_bar)
        if inner and (id(w), id(w_bar)) in seen:
            continue
        seen.add((id(w), id(w_bar)))
        yield w, w_bar
        pending += inner


def _inner(w: Any, w_bar: Any) -> list[tuple[Any, Any]]:
    if is_object(w):
        w = fields_of(w)
    if isinstance(w, tuple | list | deque) and isinstance(w_bar, tuple | list | deque):
        return list(zip(w, w_bar, strict=True))
    if isinstance(w, dict) and isinstance(w_bar, dict):
        return [(part, w_bar[key]) for key, part in w.items() if key in w_bar]
    return []


def own_adjoint(held: Any, *known: Any) -> Any:
    """The adjoint of a result as its maker's rule takes it: None for what the result shares with ``w1_bar, ...``, which
    has its adjoint there; zeros where that is an item beside others, since a rule may join the items; what lies in
    several places is in the first of them."""
    if isinstance(held, np.ndarray):
        return None if _is_among(held, _arrays_in(known)) else held
    return own_left(held, cloned(held, keys=True), known)


def own_left(held: Any, left: Any, known: tuple[Any, ...]) -> Any:
    """``left``, which is emptied, without the places where a container ``held`` shares memory with ``known``."""
    return _own_adjoint(held, left, _arrays_in(known), set())


def _arrays_in(known: tuple[Any, ...]) -> Table:
    found = Table()
    for array in arrays_inside(known):
        found.add(array, None)
    return found


def _is_among(array: Any, arrays: Table) -> bool:
    """Whether an array may share memory with one in a table."""
    return any(np.may_share_memory(array, other) for other, _ in arrays.near(array))


@descending
def _own_adjoint(held: Any, left: Any, arrays: Table, around: set[int]) -> Step[Any]:
    """``left``: a copy, from which what was met is taken out; ``around``: the containers that hold this one; of one
    that holds itself, the inner one adds nothing."""
    if isinstance(held, np.ndarray):
        return None if _is_among(held, arrays) else _taken_out(left)
    if not isinstance(held, tuple | list | deque | dict):
        return left
    if id(held) in around or left is None:
        return None
    around.add(id(held))
    parts: list[Any] = []
    pairs = ((held[key], left[key]) for key in held) if isinstance(held, dict) else zip(held, left, strict=True)
    for part, part_left in pairs:
        parts.append((yield part, part_left, arrays, around))
    around.discard(id(held))
    if isinstance(held, dict):
        return dict(zip(held, parts, strict=True)) if any(part is not None for part in parts) else None
    if parts and all(part is None for part in parts):
        return None
    parts = [_zeros(item) if part is None else part for part, item in zip(parts, held, strict=True)]
    return tuple(parts) if isinstance(held, tuple) else parts


def _zeros(item: Any) -> Any:
    """Zeros like an array, or like a list of arrays; None of what may hold itself."""
    if isinstance(item, np.ndarray):
        return np.zeros_like(item)
    if isinstance(item, tuple | list) and all(isinstance(part, np.ndarray) for part in item):
        return [np.zeros_like(part) for part in item]
    return None


def each_once(x: Any) -> Any:
    """The numbers in a shadow as a cotangent of their own: what lies in several places of a container is in the first
    of them, and zero in the others."""
    if isinstance(x, np.ndarray):
        return x.copy()
    return _taken_out(cloned(x))


def _taken_out(x: Any, around: tuple[int, ...] = ()) -> Any:
    """``around``: the containers that hold this one; of one that holds itself, the inner one adds nothing."""
    if isinstance(x, np.ndarray):
        result = x.copy() if x.ndim else x[()]  # what a cell holds is a number: it is no memory that others see
        x[...] = 0
        return result
    if id(x) in around:
        return None
    around = (*around, id(x))
    if isinstance(x, tuple | list | deque):
        parts = [_taken_out(part, around) for part in x]
        return tuple(parts) if isinstance(x, tuple) else parts
    return {key: _taken_out(part, around) for key, part in x.items()} if isinstance(x, dict) else x


def where_first(g: Any, x: Any) -> Any:
    """The transpose of ``each_once``: a cotangent where a place of ``x`` is met first, zero where it was met before."""
    if isinstance(x, np.ndarray):
        return g
    marks = cloned(x)
    _mark(marks, set())
    return _masked(g, _taken_out(marks))


def _mark(x: Any, seen: set[int]) -> None:
    """Ones in the places of containers, which may hold themselves."""
    if isinstance(x, np.ndarray):
        x[...] = 1
    elif isinstance(x, tuple | list | deque | dict) and id(x) not in seen:
        seen.add(id(x))
        for part in x.values() if isinstance(x, dict) else x:
            _mark(part, seen)


def _masked(g: Any, marks: Any) -> Any:
    if g is None or marks is None:
        return None
    if isinstance(marks, tuple | list | deque):
        return [_masked(part, mark) for part, mark in zip(g, marks, strict=True)]
    return {key: _masked(g[key], mark) for key, mark in marks.items()} if isinstance(marks, dict) else g * marks
