"""What the methods of ufuncs transpose to: sums over segments, the first operand of ``outer``.

>>> unreduceat(np.array([1.0, 2.0]), np.zeros(4), [0, 3])
array([1., 1., 1., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for
from srcgrad.runtime.containers import unarray
from srcgrad.runtime.refusals import RefusedMode


def _ends(indices: Any, n: int) -> tuple[Any, Any]:
    """Where each segment begins and ends: at the next index, or after one element where that is not greater."""
    starts = np.asarray(indices, np.intp)
    starts = np.where(starts < 0, starts + n, starts)
    following = np.append(starts[1:], n)
    return starts, np.where(following > starts, following, starts + 1)


def unreduceat(g: Any, a: Any, indices: Any, axis: int = 0) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.add.reduceat(a, indices, axis)``."""
    shape = np.shape(a)
    axis = int(axis) % len(shape)
    result = np.zeros(shape, floating(a, g))
    starts, ends = _ends(indices, shape[axis])
    lengths = ends - starts
    before = (slice(None),) * axis
    spread = np.repeat(real_for(g, result.dtype), lengths, axis)
    if np.array_equal(starts[1:], ends[:-1]):  # one after the other: no element is met twice
        result[(*before, slice(starts[0] if len(starts) else 0, ends[-1] if len(ends) else 0))] = spread
        return result
    places = np.arange(len(starts) and lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    np.add.at(result, (*before, places), spread)
    return result


def segment_ties(a: Any, y: Any, indices: Any, axis: int = 0) -> Any:
    """The share of each element of ``a`` in the extremum ``y`` of its segment; segments that overlap raise."""
    shape = np.shape(a)
    axis = int(axis) % len(shape)
    starts, ends = _ends(indices, shape[axis])
    if not np.array_equal(starts[1:], ends[:-1]):
        raise RefusedMode("E0707", "reduceat of overlapping segments: the derivative of an extremum is not known")
    inside = slice(starts[0] if len(starts) else 0, ends[-1] if len(ends) else 0)
    part = (slice(None),) * axis + (inside,)
    given = np.asarray(a, np.asarray(y).dtype)[part]  # as they were compared
    equal = (given == np.repeat(y, ends - starts, axis)) | (given != given)  # nan, where there is one, is the extremum
    n = np.maximum(np.add.reduceat(equal.astype(np.intp), starts - inside.start, axis), 1) if len(starts) else 1
    result = np.zeros(shape, floating(a, a))
    result[part] = equal / np.repeat(n, ends - starts, axis)
    return result


# --- operands --------------------------------------------------------------------------------------------------------
def lifted(a: Any, b: Any) -> Any:
    """``a`` with an axis of length 1 for every axis of ``b``: the first operand of ``ufunc.outer``."""
    return np.reshape(a, np.shape(a) + (1,) * np.ndim(b)) if np.ndim(b) else a


def unlifted(g: Any, a: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``lifted(a, b)``."""
    return unarray(np.reshape(g, np.shape(a)), a)
