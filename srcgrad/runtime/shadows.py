"""Shadows: the adjoint buffers of memory that is stored into, each laid out as the memory that it belongs to.

A shadow mirrors references.  Where ``v`` is a view of ``w``, ``v_bar`` is the same view of ``w_bar``; where ``v`` is a
list of arrays, ``v_bar`` is a list of their shadows; a number in a container has a 0-d array.

>>> w = np.arange(6.0)
>>> w_bar = shadow(w)
>>> v_bar = view_like(w[1::2], w, w_bar)
>>> accumulate(v_bar, 1.0)
>>> w_bar
array([0., 1., 0., 1., 0., 1.])
"""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Iterable, Set
from types import MethodType
from typing import Any

import numpy as np

from srcgrad.runtime.cotangents import is_basic, is_floating
from srcgrad.runtime.defaults import dict_like
from srcgrad.runtime.descending import Step, descending, is_nested
from srcgrad.runtime.objects import fields_of, is_object, made
from srcgrad.runtime.owners import Part, Table, byte_bounds, owner_of
from srcgrad.runtime.refusals import RefusedType, RefusedValue


# --- making -----------------------------------------------------------------------------------------------------------
def shadow(v: Any) -> Any:
    """A zero shadow of ``v``; what ``v`` contains twice, or shares memory with, does so in the shadow."""
    if _is_block(v):
        return np.zeros(v.shape, v.dtype)
    if type(v) is tuple and all(map(_is_block, v)):
        owners = set(map(_owner, v))
        if len(owners) == len(v) and None not in owners:
            return tuple([np.zeros(item.shape, item.dtype) for item in v])
    seen: dict[int, Any] = {}
    arrays = Table()
    if not isinstance(v, np.ndarray | float | int):
        for array in arrays_inside(v):
            _shadow_of_leaf(array, seen, arrays)
    return _shadow(v, seen, arrays) if is_nested(v) else _shadow_of_leaf(v, seen, arrays)


def _is_block(v: Any) -> bool:
    """Whether a value is an array of floating-point numbers without gaps, whose shadow is laid out as any new array."""
    return type(v) is np.ndarray and v.flags.c_contiguous and v.dtype.kind in "fc"


def arrays_inside(v: Any) -> list[Any]:
    """The arrays in a container, a whole before its parts."""
    found: dict[int, Any] = {}
    _collect(v, found, set())
    return sorted(found.values(), key=extent, reverse=True)


def extent(array: Any) -> int:
    """The bytes from an array's first to its last: a part has no more than the whole."""
    low, high = byte_bounds(array)
    return int(high - low)


def _shadow_of_leaf(v: Any, seen: dict[int, Any], arrays: Table) -> Any:
    if isinstance(v, np.ndarray):
        if id(v) not in seen:
            seen[id(v)] = _shadow_of_array(v, arrays)
            arrays.add(v, seen[id(v)])
        return seen[id(v)]
    if isinstance(v, np.generic):
        return np.zeros((), v.dtype if v.dtype.kind in "fc" else np.float64) if v.dtype.kind in "fcbiu" else None
    if isinstance(v, complex):
        return np.zeros((), np.complex128)
    return np.zeros(()) if isinstance(v, int | float) else None


@descending
def _shadow(v: Any, seen: dict[int, Any], arrays: Table) -> Step[Any]:
    if id(v) in seen:
        return seen[id(v)]
    shadows: Any = deque(maxlen=v.maxlen) if isinstance(v, deque) else []
    if isinstance(v, dict) or is_object(v):
        shadows = dict_like(v, {})
    if not isinstance(v, tuple):
        seen[id(v)] = shadows
    if isinstance(v, tuple | list | deque):
        for item in v:
            shadows.append((yield item, seen, arrays) if is_nested(item) else _shadow_of_leaf(item, seen, arrays))
        return tuple(shadows) if isinstance(v, tuple) else shadows
    for key, item in (v if isinstance(v, dict) else fields_of(v)).items():
        shadows[key] = (yield item, seen, arrays) if is_nested(item) else _shadow_of_leaf(item, seen, arrays)
    return shadows


def _shadow_of_array(v: Any, arrays: Table) -> Any:
    made, shares = _view_within(v, arrays.near(v))
    if made is None and shares:
        raise RefusedValue("E0702", "two arrays of one container overlap: give one of them as a view of the other")
    return _zeros(v) if made is None else made


def _zeros(v: Any) -> Any:
    """Zeros in the layout of an array; integers have a shadow of float64, and so has what holds no number."""
    if v.dtype.kind not in "fcbiuSUmM" and not all(item is None or isinstance(item, int | str) for item in v.flat):
        raise RefusedType("E0507", f"an array of dtype {v.dtype} has no derivative")
    dtype = v.dtype if v.dtype.kind in "fc" else np.dtype(np.float64)
    if v.flags.c_contiguous:
        return np.zeros(v.shape, dtype)
    _refuse_overlap(v)
    made = np.zeros_like(v, dtype=dtype, subok=False)
    if _scaled(v.strides, v.itemsize, dtype.itemsize) == made.strides or v.size == 0:
        return made
    # A view of memory that nobody else knows, with gaps: the shadow has the same gaps.
    strides = _scaled(v.strides, v.itemsize, dtype.itemsize)
    low = sum(min(0, (n - 1) * s) for n, s in zip(v.shape, strides, strict=True))
    high = sum(max(0, (n - 1) * s) for n, s in zip(v.shape, strides, strict=True))
    buffer = np.zeros(high - low + dtype.itemsize, np.uint8)
    return np.ndarray(v.shape, dtype, buffer.data, -low, strides)


def _scaled(strides: tuple[int, ...], old: int, new: int) -> tuple[int, ...]:
    return tuple(stride // old * new for stride in strides)


def _refuse_overlap(v: Any) -> None:
    """Refuse an array whose elements share memory with one another: its shadow would be added to once for many."""
    reach = v.itemsize
    if v.size == 0:  # whatever its strides are
        return
    for stride, count in sorted((abs(s), n) for s, n in zip(v.strides, v.shape, strict=True) if n > 1):
        if stride < reach:
            raise RefusedValue(
                "E0702", "a view that shows an element more than once (broadcast_to, as_strided) is stored into"
            )
        reach += (count - 1) * stride


def _holds(w: Any, v: Any) -> bool:
    """Whether the memory of ``v`` lies in that of ``w``."""
    (low, high), (first, last) = byte_bounds(w), byte_bounds(v)
    return bool(low <= first and last <= high)


def _same_view(v: Any, w: Any, w_bar: Any) -> Any:
    """The view of ``w_bar`` that ``v`` is of ``w``."""
    _refuse_overlap(v)
    # The adjoint of a real part is the real part of the adjoint; that of an imaginary part is its negative.
    between = v.__array_interface__["data"][0] - w.__array_interface__["data"][0]
    is_real_part = w.dtype.kind == "c" and v.dtype == w.real.dtype and between % w.itemsize == 0
    if v.dtype != w.dtype and not is_real_part:
        if w.dtype.kind == "c" and v.dtype == w.real.dtype:
            raise RefusedType(
                "E0717",
                "the imaginary part of an array that is stored into is kept as a view of it; write y.imag where it is"
                " read, or keep y.imag.copy()",
            )
        raise RefusedType("E0717", f"an array of {w.dtype} that is stored into is seen as {v.dtype}")
    old, new = w.itemsize, w_bar.itemsize
    counts = [(s, t) for n, s, t in zip(w.shape, w.strides, w_bar.strides, strict=True) if n > 1]
    if any(s // old * new != t for s, t in counts):
        raise RefusedValue("E0717", "the shadow of an array has another layout than the array; copy the array first")
    address = w_bar.__array_interface__["data"][0]
    offset = between // old * new
    dtype = v.dtype if is_real_part else w_bar.dtype
    return np.asarray(Part(w_bar, address + offset, v.shape, _scaled(v.strides, old, new), dtype))


def view_like(v: Any, *known: Any) -> Any:
    """The shadow of ``v``, which may be a view of one of ``w1, w1_bar, w2, w2_bar, ...``: that view, or fresh zeros."""
    if isinstance(v, tuple | list | deque):
        return type(v)([view_like(item, *known) for item in v])
    if isinstance(v, np.flatiter):
        raise RefusedType("E0301", "a store into .flat of what was not known to be an array; store by indices")
    if isinstance(v, np.ndarray):
        pairs = list(zip(known[::2], known[1::2], strict=True))
        for w, w_bar in pairs:
            if v is w:
                return w_bar
        return _view_among(v, pairs)
    if isinstance(v, memoryview):
        raise RefusedValue(
            "E0717", "an array is stored into through a memoryview, which has no shadow; store into the array"
        )
    return shadow(v)


def view_in(v: Any, table: Table) -> Any:
    """``view_like`` of an array, of arrays that stand in a table, each beside its shadow."""
    return table.beside(v) if v in table else _view_among(v, table.near(v))


def _view_among(v: Any, pairs: Iterable[tuple[Any, Any]]) -> Any:
    made, shares = _view_within(v, pairs)
    if made is None and shares:
        raise RefusedValue("E0717", "an array is stored into of which only a part has a shadow; copy that part first")
    return shadow(v) if made is None else made


def _view_within(v: Any, pairs: Iterable[tuple[Any, Any]]) -> tuple[Any, bool]:
    """The part of a shadow that belongs to ``v``, where ``v`` lies within an array of the pairs, else None; and whether
    ``v`` shares memory with any of those seen."""
    shares = False
    for w, w_bar in pairs:
        if isinstance(w, np.ndarray) and meet(v, w):
            if _holds(w, v):
                return _same_view(v, w, w_bar), True
            shares = True
    return None, shares


def meet(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common; views that interleave have none."""
    return bool(np.may_share_memory(a, b)) and bool(np.shares_memory(a, b))


def separate(v_bar: Any, *known: Any) -> bool:
    """Whether the shadow of a result has memory of its own, so that the result's maker has an adjoint."""
    if isinstance(v_bar, tuple | list | deque):
        answers = {separate(item, *known) for item in v_bar}
        if len(answers) > 1:
            raise RefusedValue(
                "E0717", "some items of a result are views of arrays that are stored into, and others are not"
            )
        return answers != {False}
    if not isinstance(v_bar, np.ndarray):
        return True
    return not any(isinstance(w_bar, np.ndarray) and np.may_share_memory(v_bar, w_bar) for w_bar in known)


# --- adding and taking ----------------------------------------------------------------------------------------------
def accumulate(v_bar: Any, g: Any) -> None:
    """``v_bar += g`` in place, for arrays, cells of numbers and containers of them; None is zero."""
    if g is None or v_bar is None:
        return
    if isinstance(v_bar, np.ndarray):
        v_bar += np.real(g) if v_bar.dtype.kind == "f" and np.iscomplexobj(g) else g
    elif isinstance(v_bar, dict):
        for key, part in g.items():
            accumulate(v_bar[key], part)
    else:
        for part_bar, part in zip(v_bar, g, strict=True):
            accumulate(part_bar, part)


def claim(v_bar: Any, v: Any, index: Any) -> Any:
    """``taken``, and zero is left in its place."""
    result = taken(v_bar, v, index)
    v_bar[index] = 0
    return result


def taken(held: Any, v: Any, index: Any) -> Any:
    """The adjoint in ``held`` of what ``v[index] = e`` stored: of the value as stored, zero where a later value of the
    same store took the place, or where the store into integers lost the derivative."""
    result = np.array(held[index])
    result[_lost(held, v, index, result.shape)] = 0
    return result if result.ndim else result[()]


def untaken(g: Any, held: Any, v: Any, index: Any) -> Any:
    """The transpose of ``taken``: zeros like ``held`` with ``g`` where a value lasted."""
    result = np.zeros(held.shape, np.asarray(g).dtype)
    part = np.array(np.broadcast_to(g, np.shape(result[index])))
    part[_lost(held, v, index, part.shape)] = 0
    result[index] = part
    return result


def _lost(held: Any, v: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Which of the values that a store gives are not in the array afterwards."""
    if not is_floating(v.dtype):
        return np.ones(shape, bool)
    if is_basic(index):
        return np.zeros(shape, bool)
    order = np.arange(int(np.prod(shape))).reshape(shape)
    last = np.zeros(held.shape, np.intp)
    last[index] = order
    return last[index] != order


# --- a pullback that runs again --------------------------------------------------------------------------------------
def cloned(saved: Any, *, keys: bool = False) -> Any:
    """A copy of what a forward sweep saved in which all sharing of memory is as it was, layouts included.
    ``keys``: objects that are keys of dicts stay what they are, as nothing else than themselves finds what is there."""
    owners: set[int | None] = set()
    copied = _plain_copy(saved, {}, owners, 0)
    if not owners & _OTHERWISE:
        return copied
    arrays: dict[int, Any] = {}
    _collect(saved, arrays, set())
    copies = _copies(list(arrays.values()))
    if None not in owners:
        owners.clear()
        copied = _plain_copy(saved, dict(copies), owners, 0)
        if None not in owners:
            return copied
    return _rebuilt(saved, copies, _keys_of(saved) if keys else frozenset())


#: Classes of what holds nothing, known at once.
_LEAVES = frozenset({float, int, complex, bool, type(None), str, bytes, slice, range, np.float64, np.bool_})
_LEVELS = 100  # levels that are gone down by Python's own recursion
_SHARED = -1  # in place of an owner: arrays share memory, or that is not known
_OTHERWISE = {None, _SHARED}


def _plain_copy(node: Any, made: dict[int, Any], owners: set[int | None], depth: int) -> Any:
    """A copy of Python's own containers, not deep, of arrays that share no memory with each other, but for those that
    are ``made`` already: old identity -> copy.

    ``owners`` gets the arrays that own the memory of those that are copied, ``_SHARED`` where arrays share memory, None
    where there are other containers: then there is no copy.
    """
    kind: Any = type(node)
    if kind in _LEAVES:
        return node
    if (known := made.get(id(node))) is not None:
        return known
    if owners & _OTHERWISE:
        return node
    new: Any
    if kind is np.ndarray:
        owner = _owner(node)
        is_alone = owner is not None and owner not in owners and node.flags.forc and not node.dtype.hasobject
        owners.add(owner if is_alone else _SHARED)
        new = made[id(node)] = node.copy("K")
    elif depth > _LEVELS:
        owners.add(None)
        new = node
    elif kind is tuple:
        new = made[id(node)] = tuple([_plain_copy(part, made, owners, depth + 1) for part in node])
    elif kind is list:
        new = made[id(node)] = []
        new += [_plain_copy(part, made, owners, depth + 1) for part in node]
    elif kind is dict:
        new = made[id(node)] = {}
        new.update({key: _plain_copy(part, made, owners, depth + 1) for key, part in node.items()})
    else:
        if is_nested(node) or isinstance(node, np.ndarray | MethodType):
            owners.add(None)
        new = node
    return new


def _keys_of(saved: Any) -> Set[int]:
    """The objects that are keys of dicts, or lie in such."""
    found: set[int] = set()
    seen: set[int] = set()
    pending: list[tuple[Any, bool]] = [(saved, False)]
    while pending:
        node, is_key = pending.pop()
        if not is_nested(node) or id(node) in seen and not is_key:
            continue
        seen.add(id(node))
        if isinstance(node, tuple | list | deque):
            pending += ((part, is_key) for part in node)
        elif isinstance(node, dict):
            pending += ((key, True) for key in node)
            pending += ((part, False) for part in node.values())
        else:
            found.update([id(node)] if is_key else [])
            pending += ((part, False) for part in fields_of(node).values())
    return found


def _collect(tree: Any, arrays: dict[int, Any], seen: set[int]) -> None:
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, np.ndarray):
            arrays[id(node)] = node
        elif (isinstance(node, tuple | list | dict | deque) or is_object(node)) and id(node) not in seen:
            seen.add(id(node))
            parts = node if isinstance(node, dict) else fields_of(node) if is_object(node) else None
            pending.extend(node if parts is None else parts.values())


def _copies(arrays: list[Any]) -> dict[int, Any]:
    """Old array -> new array; those that overlap lie in one new buffer."""
    made: dict[int, Any] = {}
    bounds: list[tuple[int, int, int, Any]] = []
    owners = [_owner(array) for array in arrays]
    alone = Counter(owners)
    for array, owner in zip(arrays, owners, strict=True):
        if array.dtype.hasobject or not array.size:
            made[id(array)] = array.copy()
        elif None not in alone and alone[owner] == 1 and array.flags.forc:
            made[id(array)] = array.copy("K")
        else:
            bounds.append((*byte_bounds(array), len(bounds), array))
    bounds.sort(key=lambda item: item[:3])
    group: list[Any] = []
    start = end = 0
    for low, high, _, array in bounds:
        if group and low >= end:
            _copy_group(group, start, end, made)
            group = []
        if not group:
            start, end = low, high
        group.append(array)
        end = max(end, high)
    if group:
        _copy_group(group, start, end, made)
    return made


def _owner(array: Any) -> int | None:
    """Which array owns the memory that an array lies in; None where that is not known."""
    owner = owner_of(array)
    return None if owner is None else id(owner)


def _copy_group(group: list[Any], start: int, end: int, made: dict[int, Any]) -> None:
    if len(group) == 1 and group[0].flags.forc:
        made[id(group[0])] = group[0].copy(order="K")
        return
    buffer = np.zeros(end - start + 64, np.uint8)
    # The new buffer is aligned as the old one is.
    shift = (start - buffer.__array_interface__["data"][0]) % 64
    for array in group:
        offset = array.__array_interface__["data"][0] - start + shift
        new = np.ndarray(array.shape, array.dtype, buffer.data, offset, array.strides)
        new[...] = array
        made[id(array)] = new


def _rebuilt(tree: Any, copies: dict[int, Any], keys: Set[int]) -> Any:
    seen: dict[int, Any] = {}

    def leaf(node: Any) -> Any:
        if isinstance(node, MethodType) and id(node.__self__) in seen:
            return MethodType(node.__func__, seen[id(node.__self__)][1])
        return copies[id(node)] if isinstance(node, np.ndarray) else node

    @descending
    def rebuilt(node: Any) -> Step[Any]:
        if id(node) in seen:
            return seen[id(node)][1]
        if isinstance(node, tuple):
            parts: list[Any] = []
            for item in node:
                parts.append((yield (item,)) if is_nested(item) else leaf(item))
            new: Any = type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
            seen[id(node)] = (node, new)
            return new
        if is_object(node):
            if id(node) in keys:
                if arrays_inside(node):
                    raise RefusedType(
                        "E0603", f"a {type(node).__name__} that holds arrays is a key of a dict, beside stores"
                    )
                seen[id(node)] = (node, node)
                return node
            new = made(type(node), {})
            seen[id(node)] = (node, new)
            for name, item in fields_of(node).items():
                object.__setattr__(new, name, (yield (item,)) if is_nested(item) else leaf(item))
            return new
        new = [] if isinstance(node, list) else {} if type(node) is dict else copy.copy(node)
        seen[id(node)] = (node, new)
        new.clear()
        if isinstance(node, list | deque):
            for item in node:
                new.append((yield (item,)) if is_nested(item) else leaf(item))
        else:
            for key, item in node.items():
                new[key] = (yield (item,)) if is_nested(item) else leaf(item)
        return new

    return rebuilt(tree) if is_nested(tree) else leaf(tree)
