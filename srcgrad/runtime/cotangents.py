"""Cotangents of numbers, arrays and containers: zeros, sums, accumulation in place.

The cotangent of a list or a tuple is a list, of a dict a dict; of what carries no derivative, None, which adds as zero.

>>> add([1.0, None], [2.0, 3.0])
[3.0, 3.0]
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from srcgrad.runtime.descending import Step, descending, is_nested
from srcgrad.runtime.objects import fields_of
from srcgrad.runtime.refusals import RefusedType


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether what is put into an array of this dtype keeps its derivative, or moves by jumps as integers do; one of
    objects or text is refused, as numbers that are read back from it would have none."""
    if dtype.kind not in "fcbiu":
        raise RefusedType(
            "E0507", f"an array of dtype {dtype} takes what varies and has no derivative; make it of numbers"
        )
    return dtype.kind in "fc"


REAL = {int, float}  # Python's numbers, whose cotangents are floats


def zeros_like(x: Any) -> Any:
    """The zero cotangent of ``x``, a buffer that is nobody else's; integers have a float64 one."""
    kind = type(x)
    if kind is float:
        return 0.0
    if kind is np.ndarray:
        dtype = x.dtype
        if dtype.kind in "fc":
            plain = x.ndim == 1 or x.flags.c_contiguous or not any(x.strides)
            return np.zeros(x.shape, dtype) if plain else np.zeros_like(x)
    if kind is list and set(map(type, x)) <= REAL:
        return [0.0] * len(x)
    if isinstance(x, np.ndarray):
        if x.dtype.kind in "fc":
            return np.zeros_like(x, subok=False)
        return np.zeros_like(x, dtype=np.float64, subok=False) if x.dtype.kind in "biu" else None
    if isinstance(x, np.generic):
        return x.dtype.type(0) if x.dtype.kind in "fc" else 0.0 if x.dtype.kind in "biu" else None
    if isinstance(x, complex):
        return 0j
    if isinstance(x, int | float):
        return 0.0
    if isinstance(x, range):  # a loop over one that was saved reads the parts of its zero
        return [0.0] * len(x)
    return _zeros_inside(x, set()) if is_nested(x) else None


def or_zeros(seed: Any, x: Any) -> Any:
    """A seed of ``x``, in memory of its own; None stands for the zero one."""
    return zeros_like(x) if seed is None else unshared(seed)


@descending
def _zeros_inside(x: Any, around: set[int]) -> Step[Any]:
    """``around``: the containers that hold this one; where one holds itself, the inner one has None, which is zero."""
    if id(x) in around:
        return None
    around.add(id(x))
    keys: Any = None if isinstance(x, tuple | list | deque) else x if isinstance(x, dict) else fields_of(x)
    zeros: list[Any] = []
    for item in x if keys is None else keys.values():
        zeros.append((yield item, around) if is_nested(item) else zeros_like(item))
    around.discard(id(x))
    if keys is not None:
        return dict(zip(keys, zeros, strict=True))
    return deque(zeros, x.maxlen) if isinstance(x, deque) else zeros


def own(x: Any) -> Any:
    """A copy of a cotangent whose places may be added to; the items of a container are replaced, never changed."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, tuple | list):
        return list(x)
    return x.copy() if isinstance(x, dict | deque) else x


@descending
def unshared(x: Any) -> Step[Any]:
    """A copy of a cotangent or tangent in which no two parts share memory, whatever was shared in ``x``."""
    if not isinstance(x, _CONTAINERS):
        return x.copy() if isinstance(x, np.ndarray) else x
    parts: list[Any] = []
    for part in x.values() if isinstance(x, dict) else x:
        parts.append((yield (part,)) if is_nested(part) else part.copy() if isinstance(part, np.ndarray) else part)
    if isinstance(x, dict):
        return dict(zip(x, parts, strict=True))
    if isinstance(x, tuple):
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return deque(parts, x.maxlen) if isinstance(x, deque) else parts


def kept(x: Any) -> Any:
    """A value as it is now, whatever is changed in place later: a tuple stays one, it may be an index."""
    return tuple(map(kept, x)) if isinstance(x, tuple) else own(x)


def snapshot(x: Any) -> Any:
    """A value as it is now, with the arrays that lists and tuples in it hold: ``kept`` goes into no list."""
    return type(x)(map(snapshot, x)) if type(x) in (list, tuple) else own(x)


def as_list(x: Any) -> list[Any]:
    """The cotangent of a sequence as a list that is nobody else's."""
    return [] if x is None else list(x)


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one value; None is zero, tuples and lists are one kind, the result is fresh."""
    kind = type(a)
    if kind is float and type(b) is float:
        return a + b
    if kind is np.ndarray and type(b) is np.ndarray:
        if a.shape != b.shape:
            raise ValueError(f"cotangents of one value have shapes {a.shape} and {b.shape}")
        return a + b
    if a is None:
        return _copied(b)
    if b is None:
        return _copied(a)
    if isinstance(a, _CONTAINERS) or isinstance(b, _CONTAINERS):
        return _added(a, b)
    if np.ndim(a) and np.ndim(b) and np.shape(a) != np.shape(b):
        raise ValueError(f"cotangents of one value have shapes {np.shape(a)} and {np.shape(b)}")
    return a + b


_CONTAINERS = (tuple, list, deque, dict)


@descending
def _added(a: Any, b: Any) -> Step[Any]:
    if isinstance(a, dict) and isinstance(b, dict):
        sums: Any = {key: part if key in b else _copied(part) for key, part in a.items()}
        sums.update((key, _copied(part)) for key, part in b.items() if key not in a)
        pairs = [(key, part, b[key]) for key, part in a.items() if key in b]
    else:
        left, right = _items(a), _items(b)
        if left is None or right is None or len(left) != len(right):
            raise _unlike(a, b)
        sums = list(left)
        pairs = list(zip(range(len(left)), left, right, strict=True))
    for key, x, y in pairs:
        sums[key] = (yield x, y) if is_nested(x) and is_nested(y) else add(x, y)
    return sums


def _items(x: Any) -> Any:
    """The items of a container's cotangent, which NumPy may have taken for an array; None of anything else."""
    return x if isinstance(x, tuple | list | deque) else x if isinstance(x, np.ndarray) and x.ndim else None


@descending
def _copied(x: Any) -> Step[Any]:
    if not isinstance(x, _CONTAINERS):
        return x.copy() if isinstance(x, np.ndarray) else x
    parts: list[Any] = []
    for part in x.values() if isinstance(x, dict) else x:
        parts.append((yield (part,)))
    return dict(zip(x, parts, strict=True)) if isinstance(x, dict) else parts


def _unlike(a: Any, b: Any) -> TypeError:
    return TypeError(
        f"cotangents of one value are unlike: {type(a).__name__} of {_size(a)}, {type(b).__name__} of {_size(b)}"
    )


def _size(x: Any) -> str:
    return f"length {len(x)}" if isinstance(x, tuple | list | dict) else "no length"


def add_at(buffer: Any, index: Any, g: Any) -> None:
    """``buffer[index] += g`` where a place that is met twice receives both, for arrays and containers; in place."""
    if g is None:
        return
    if type(buffer) is list and type(index) is int:
        buffer[index] = add(buffer[index], g)
    elif isinstance(buffer, np.ndarray):
        if type(g) is list and not g:  # of a star that took no rows: NumPy knows no shape of it
            return
        if np.size(g) > _MANY and _add_many(buffer, index, g):
            return
        if is_basic(index):
            buffer[index] += g
        else:
            np.add.at(buffer, index, g)
    elif isinstance(buffer, dict):
        buffer[index] = add(buffer.get(index), g)
    elif isinstance(index, slice):
        places = range(*index.indices(len(buffer)))
        if len(places) != len(g):
            raise ValueError(f"a cotangent of length {len(g)} does not fit a slice of length {len(places)}")
        for place, part in zip(places, g, strict=True):
            buffer[place] = add(buffer[place], part)
    elif isinstance(buffer, np.generic):
        raise RefusedType(
            "E0605", "a number of NumPy's is indexed here by a mask, which only the run shows; use np.where"
        )
    else:
        buffer[index] = add(buffer[index], g)


_MANY = 1000


def _add_many(buffer: Any, index: Any, g: Any) -> bool:
    """``add_at`` for many elements at places given by arrays, as places in one row: whether it was done.

    NumPy adds along one axis many times faster than along several.  That takes as many integers as there are elements,
    so that it is not done where few of many elements are met.
    """
    if not buffer.flags.c_contiguous or buffer.size > 8 * np.size(g):
        return False
    if isinstance(index, np.ndarray) and index.dtype == bool and index.shape == buffer.shape:
        np.add.at(buffer.reshape(-1), np.flatnonzero(index), np.broadcast_to(g, (int(np.count_nonzero(index)),)))
        return True
    if buffer.ndim == 1:
        return False
    parts = index if isinstance(index, tuple) else (index,)
    whole = all(type(part) is np.ndarray and part.dtype.kind == "i" for part in parts)
    flat = buffer.reshape(-1)
    if whole and len(parts) == buffer.ndim:
        places = _numbers(parts, buffer.shape)
    elif whole and len(parts) == 1 and parts[0].ndim == 1 and len(buffer):
        rows, size = parts[0].astype(np.intp, copy=False) % len(buffer), buffer.size // len(buffer)
        shape = (len(rows), *buffer.shape[1:])
        g = (g if np.shape(g) == shape else np.broadcast_to(g, shape)).reshape(-1)
        pair = _PAIRS.get(buffer.dtype)
        if pair is not None and g.dtype == buffer.dtype and not size % 2 and g.flags.c_contiguous:
            flat, g, size = flat.view(pair), g.view(pair), size // 2  # half as many additions
        places = np.add.outer(rows * size, np.arange(size)).reshape(-1)
    elif is_basic(index):
        return False
    else:
        places = np.arange(buffer.size).reshape(buffer.shape)[index]
    given = g if np.shape(g) == places.shape else np.broadcast_to(g, places.shape)
    np.add.at(flat, places.reshape(-1), given.reshape(-1))
    return True


#: Complex numbers are added part by part, so that two neighbours that always go to neighbouring places are as good.
_PAIRS = {np.dtype(np.float32): np.dtype(np.complex64), np.dtype(np.float64): np.dtype(np.complex128)}


def _numbers(parts: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """The number of each element that an index of an array for each axis picks, in an array of ``shape``.

    The reading has refused what is outside.
    """
    if any(part.dtype != np.intp or part.min() < 0 for part in parts):
        return np.ravel_multi_index(parts, shape, "wrap")
    made = parts[0]
    for part, n in zip(parts[1:], shape[1:], strict=True):
        made = made * n + part
    return made


def is_basic(index: Any) -> bool:
    """Whether no element of an array is met twice by ``index``: integers, slices, masks; nothing that is not known."""
    return all(map(_meets_once, index)) if isinstance(index, tuple) else _meets_once(index)


def _meets_once(part: Any) -> bool:
    """Whether one part of an index selects nothing twice; a sequence in it is a list of places, a tuple as well."""
    if part is None or part is ... or isinstance(part, int | np.integer | np.bool_ | slice):
        return True
    return isinstance(part, np.ndarray | list) and np.asarray(part).dtype.kind == "b"


def retake(g: Any, index: Any) -> Any:
    """``g[index]``, also of a number, which NumPy's can be indexed by ``()`` and None, but Python's cannot."""
    return np.asarray(g)[index] if isinstance(g, int | float | complex) else g[index]


def untake(g: Any, like: Any, index: Any) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``x[index]``: zeros like ``x``, with ``g`` added there."""
    result = zeros_like(like)
    if type(result) is np.ndarray and type(g) is np.ndarray and result.dtype == g.dtype and is_basic(index):
        result[index] = g  # into zeros: nothing is added to
        return result
    if isinstance(result, float | complex | np.generic):  # a number of NumPy's, which can be indexed: x[()], x[None]
        return result + np.sum(g)
    add_at(result, index, g)
    return result
