"""Transposes of NumPy's products, each bilinear: ``un..._left`` gives the cotangent of the first factor.

Both halves of a product transpose into each other, which closes the table: with ``y = a @ b``,
``unmatmul_left(g, a, b)`` is ``g @ b.T``, whose derivative by ``b`` is ``unmatmul_right(g, a, b)``, ``a.T @ g``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast

Axes = int | tuple[int, ...] | None


def _swapped(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


# --- matmul: batches broadcast ---------------------------------------------------------------------------------------
def unmatmul_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``a @ b``."""
    if np.ndim(b) == 1:
        return unbroadcast(np.asarray(g)[..., None] * b, a)
    if np.ndim(a) == 1:
        return unbroadcast((b @ np.asarray(g)[..., None])[..., 0], a)
    return unbroadcast(g @ _swapped(b), a)


def unmatmul_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``a @ b``."""
    if np.ndim(a) == 1:
        if np.ndim(b) == 1:
            return unbroadcast(g * a, b)
        return unbroadcast(np.asarray(a)[:, None] * np.asarray(g)[..., None, :], b)
    if np.ndim(b) == 1:
        return unbroadcast((_swapped(a) @ np.asarray(g)[..., None])[..., 0], b)
    return unbroadcast(_swapped(a) @ g, b)


# --- dot: last axis of a with the last but one of b, free axes side by side ------------------------------------------
def undot_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.dot(a, b)``."""
    if not np.ndim(a) or not np.ndim(b):
        return unbroadcast(g * b, a)
    free = [axis for axis in range(np.ndim(b)) if axis != max(np.ndim(b) - 2, 0)]
    axes = list(range(np.ndim(a) - 1, np.ndim(g)))
    return unbroadcast(np.tensordot(g, b, (axes, free)), a)


def undot_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.dot(a, b)``."""
    if not np.ndim(a) or not np.ndim(b):
        return unbroadcast(g * a, b)
    free = list(range(np.ndim(a) - 1))
    result = np.tensordot(a, g, (free, free))
    return unbroadcast(np.moveaxis(result, 0, max(np.ndim(b) - 2, 0)), b)


def one_vector(g: Any, b: Any) -> Any:
    """``g``, the cotangent of ``np.linalg.solve(a, b)``; a vector ``b`` shared by many matrices is refused."""
    if np.ndim(b) == 1 and np.ndim(g) > 1:
        raise NotImplementedError("np.linalg.solve: the derivative of one vector for many matrices is not known")
    return g


# --- inner, outer ----------------------------------------------------------------------------------------------------
def uninner_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.inner(a, b)``."""
    if not np.ndim(a) or not np.ndim(b):
        return unbroadcast(g * b, a)
    return untensordot_left(g, a, b, (-1, -1))


def uninner_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.inner(a, b)``."""
    if not np.ndim(a) or not np.ndim(b):
        return unbroadcast(g * a, b)
    return untensordot_right(g, a, b, (-1, -1))


def unouter_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.outer(a, b)``."""
    return unbroadcast(np.reshape(g @ np.ravel(b), np.shape(a)), a)


def unouter_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.outer(a, b)``."""
    return unbroadcast(np.reshape(np.ravel(a) @ g, np.shape(b)), b)


# --- tensordot -------------------------------------------------------------------------------------------------------
def _contracted(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The contracted axes of each factor, pair by pair."""
    if isinstance(axes, int | np.integer):
        return list(range(np.ndim(a) - int(axes), np.ndim(a))), list(range(int(axes)))
    left, right = axes
    left = [left] if isinstance(left, int | np.integer) else list(left)
    right = [right] if isinstance(right, int | np.integer) else list(right)
    return [axis % np.ndim(a) for axis in left], [axis % np.ndim(b) for axis in right]


def untensordot_left(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.tensordot(a, b, axes)``."""
    left, right = _contracted(a, b, axes)
    free_a = [axis for axis in range(np.ndim(a)) if axis not in left]
    free_b = [axis for axis in range(np.ndim(b)) if axis not in right]
    result = np.tensordot(g, b, (list(range(len(free_a), np.ndim(g))), free_b))
    order = free_a + [left[i] for i in np.argsort(right)]
    return unbroadcast(np.transpose(result, np.argsort(order)), a)


def untensordot_right(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.tensordot(a, b, axes)``."""
    left, right = _contracted(a, b, axes)
    free_a = [axis for axis in range(np.ndim(a)) if axis not in left]
    free_b = [axis for axis in range(np.ndim(b)) if axis not in right]
    result = np.tensordot(a, g, (free_a, list(range(len(free_a)))))
    order = [right[i] for i in np.argsort(left)] + free_b
    return unbroadcast(np.transpose(result, np.argsort(order)), b)


# --- einsum ----------------------------------------------------------------------------------------------------------
def explicit_subscripts(subscripts: str, count: int) -> tuple[list[str], str]:
    """The subscripts of each operand and of the result, spaces dropped and the result written out."""
    left, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise ValueError(f"np.einsum: the subscripts {subscripts!r} do not fit {count} operands")
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        out = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return terms, out


def transposed_subscripts(subscripts: str, position: int, count: int) -> str:
    """Subscripts that take the cotangent of an einsum's result, then the other operands, to operand ``position``.

    >>> transposed_subscripts("ij,jk", 0, 2)
    'ik,jk->ij'
    """
    terms, out = explicit_subscripts(subscripts, count)
    others = terms[:position] + terms[position + 1 :]
    return ",".join([out, *others]) + "->" + terms[position]


def uneinsum(subscripts: str, like: Any, *operands: Any) -> Any:
    """``np.einsum(subscripts, *operands)`` in the shape of ``like``, where the result may have what an operand of
    einsum may have: an index that no operand has (repeated along it), one index twice (put on the diagonal)."""
    terms, out = explicit_subscripts(subscripts, len(operands))
    spare = [c for c in _LETTERS if c not in subscripts]
    shapes = [np.shape(operand) for operand in operands] + [np.shape(like)]
    width = max((len(s) - len(t) + 3 for t, s in zip([*terms, out], shapes, strict=True) if "..." in t), default=0)
    dots = "".join(spare[:width])
    written = [
        t.replace("...", dots[width - (len(s) - len(t) + 3) :]) if "..." in t else t
        for t, s in zip([*terms, out], shapes, strict=True)
    ]
    *terms, out = written
    shape = dict(zip(out, np.shape(like), strict=True))
    unique = "".join(dict.fromkeys(out))
    reached = "".join(c for c in unique if any(c in term for term in terms))
    result = np.einsum(",".join(terms) + "->" + reached, *operands)
    for axis, c in enumerate(unique):
        if c not in reached:
            result = np.expand_dims(result, axis)
        elif shape[c] == 1 and np.shape(result)[axis] != 1:
            result = np.sum(result, axis=axis, keepdims=True)
    result = np.broadcast_to(result, tuple(shape[c] for c in unique))
    if unique != out:
        whole = np.zeros(np.shape(like), result.dtype)
        np.einsum(f"{out}->{unique}", whole)[...] = result  # a view of the diagonal
        result = whole
    return unbroadcast(np.array(result) if not result.flags.writeable else result, like)


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


# --- products of elements, exact where some are zero -----------------------------------------------------------------
def _lines(a: Any, axis: Axes) -> tuple[Any, Any]:
    """``a`` as a matrix whose first index runs along ``axis`` (in C order over several), and the way back."""
    a = np.asarray(a)
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    along = [x % a.ndim for x in axes]
    order = along + [x for x in range(a.ndim) if x not in along]
    turned = np.transpose(a, order)
    length = int(np.prod([a.shape[x] for x in along], dtype=int))
    rest = int(np.prod([a.shape[x] for x in order[len(along) :]], dtype=int))

    def back(lines: Any) -> Any:
        return np.transpose(np.reshape(lines, turned.shape), np.argsort(order))

    return np.reshape(turned, (length, rest)), back


def running_product(a: Any, axis: Axes = None, reverse: bool = False) -> Any:
    """The product of the elements before each one along ``axis`` (after it when ``reverse``), shaped like ``a``."""
    if not np.ndim(a):
        return np.ones_like(a)[()]
    lines, back = _lines(a, axis)
    if reverse:
        lines = lines[::-1]
    result = np.ones_like(lines)
    np.cumprod(lines[:-1], axis=0, out=result[1:])
    return back(result[::-1] if reverse else result)


def recurrence(x: Any, a: Any, axis: Axes = None, reverse: bool = False) -> Any:
    """``r[j] = x[j-1] + a[j-1] * r[j-1]`` from ``r[0] = 0`` along ``axis``; from the end with j+1 when ``reverse``."""
    if not np.ndim(a):
        return np.zeros_like(x)[()]
    lines, back = _lines(a, axis)
    terms, _ = _lines(np.broadcast_to(x, np.shape(a)), axis)
    if reverse:
        lines, terms = lines[::-1], terms[::-1]
    result = np.zeros_like(lines, dtype=np.result_type(lines, terms))
    for j in range(1, len(lines)):
        result[j] = terms[j - 1] + lines[j - 1] * result[j - 1]
    return back(result[::-1] if reverse else result)
