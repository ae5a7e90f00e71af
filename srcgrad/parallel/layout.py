"""One layout in memory for arrays that have come different ways.

BLAS adds in another order for another layout: of a transposed matrix, of one with gaps between its rows, of one whose
elements do not lie at multiples of their size, which is how they lie in a message of Dask's.  So that the way changes
no bit, a worker of any kind, threads included, brings what it computes with into the layout in which arrays arrive when
they are pickled: rows one after the other, or columns where the array has them so.

>>> x = np.ones((4, 6))
>>> [laid_out(a).strides for a in (x, x.T, x[:, ::2], x[1:])]
[(48, 8), (8, 48), (24, 8), (48, 8)]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime.objects import fields_of, is_object, mapped


def laid_out(value: Any) -> Any:
    """The value itself where its arrays are laid out so, else one like it with copies of those that are not."""
    if _is_laid_out(value, set()):
        return value
    return _changed(value, lambda array: array if _is_regular(array) else _copy(array), laid_out)


def copied(value: Any) -> Any:
    """A value whose arrays are copies, laid out so: whoever made it may fill its arrays again.  Of a file that is only
    read an array stays what it is."""
    return _changed(value, lambda array: array if _is_read_only_file(array) else _copy(array), copied)


def _is_read_only_file(array: np.ndarray[Any, Any]) -> bool:
    return isinstance(array, np.memmap) and array.mode == "r"


def _copy(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    return np.array(array, order="F" if by_columns else "C", copy=True, subok=True)


def _is_laid_out(value: Any, around: set[int]) -> bool:
    if isinstance(value, np.ndarray):
        return _is_regular(value)
    if isinstance(value, tuple | list | deque):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    elif is_object(value):
        parts = list(fields_of(value).values())
    else:
        return True
    if id(value) in around:  # it holds itself
        return True
    return all(_is_laid_out(part, around | {id(value)}) for part in parts)


def _is_regular(array: np.ndarray[Any, Any]) -> bool:
    """Whether elements lie as in a new array; of axes of length 1 the strides say nothing, and BLAS reads them."""
    if array.dtype.hasobject:
        return True
    if not array.flags.aligned or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return False
    order = reversed(range(array.ndim)) if array.flags.c_contiguous else range(array.ndim)
    stride = array.itemsize
    for axis in order:
        if array.strides[axis] != stride:
            return array.size == 0
        stride *= array.shape[axis]
    return True


def _changed(value: Any, array: Callable[[Any], Any], part: Callable[[Any], Any]) -> Any:
    """A value like another, with ``array`` of an array, and ``part`` of what a container or object holds."""
    if isinstance(value, np.ndarray):
        return array(value)
    if isinstance(value, tuple | list | deque):
        items = [part(item) for item in value]
        if isinstance(value, deque):
            return deque(items, value.maxlen)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        copy = value.copy()
        copy.update((key, part(item)) for key, item in value.items())
        return copy
    return mapped(value, part) if is_object(value) else value
