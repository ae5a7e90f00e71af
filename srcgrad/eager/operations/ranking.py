"""Extrema, order statistics and sorting: elements picked by their size, and where they were."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import as_array, is_lifted
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.reductions import argmax, argmin, axes_of
from srcgrad.eager.operations.rounding import underivable
from srcgrad.eager.operations.shaping import wrapped
from srcgrad.eager.registry import FUNCTIONS, function
from srcgrad.eager.return_types import Results, results, values_indices
from srcgrad.eager.tensor import Tensor

_SAVED = {"a": "self", "y": "result"}
_picking = {
    name: Operation(operator.getitem, f"{name}Backward0")
    for name in ("Max", "Min", "Sort", "Topk", "Kthvalue", "Mode", "Cummax", "Cummin")
}
_picking["Median"] = Operation(operator.getitem, "MedianBackward1")
_picking["Nanmedian"] = Operation(operator.getitem, "NanmedianBackward1")
# of several elements that are the median all share its gradient: it is their mean
_median_all = Operation(np.mean, "MedianBackward0", _SAVED)
_nanmedian_all = Operation(np.mean, "NanmedianBackward0", _SAVED)
_extreme = {
    "max": Operation(np.max, "MaxBackward1", _SAVED),
    "min": Operation(np.min, "MinBackward1", _SAVED),
    "amax": Operation(np.max, "AmaxBackward0", _SAVED),
    "amin": Operation(np.min, "AminBackward0", _SAVED),
    "aminmax": Operation(np.max, "AminmaxBackward0", _SAVED),
}


def picked(name: str, input: Tensor, indices: Any, axis: int, keepdim: bool = True) -> Tensor:
    """The elements at ``indices`` along an axis, in a node of this name."""
    array = input.array
    if not array.ndim:
        made: Tensor = call(_picking[name], {"a": input, "b": ()}, array=array[()])
        return made
    places = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    places[axis] = indices
    if not keepdim:
        places = [np.squeeze(place, axis) for place in places]
    index = tuple(places)
    result: Tensor = call(_picking[name], {"a": input, "b": index}, array=as_array(array[index]))
    return result


def _both(name: str, input: Tensor, indices: Any, axis: int, keepdim: bool) -> Results:
    """Values and indices of what was picked along an axis."""
    values = picked(name.title(), input, indices, axis, keepdim)
    if input.array.ndim and not keepdim:
        indices = np.squeeze(indices, axis)
    return values_indices(name, values, leaf(as_array(indices, np.int64).reshape(values.array.shape)))


def _extremum(name: str, where: Callable[..., Tensor], pairwise: str) -> Callable[..., Any]:
    def f(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None, axis: Any = None) -> Any:
        if isinstance(dim, Tensor):
            other = dim
        if other is not None:
            return FUNCTIONS[""][pairwise](input, other)
        dim = dim if axis is None else axis
        if dim is None:
            if not input.array.size:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
                    "dim with the 'dim' argument."
                )
            return call(_extreme[name], {"a": input}, array=_extreme[name].function(input.array))
        at = wrapped(dim, input.array.ndim)
        if input.array.ndim and not input.array.shape[at]:
            raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")
        return _both(name, input, where(input, dim, True).array, at, keepdim)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The {name} of all elements, of each pair of elements, or with its place along a dimension."
    return f


function("max", method=True)(_extremum("max", argmax, "maximum"))
function("min", method=True)(_extremum("min", argmin, "minimum"))


def _alone(name: str) -> Callable[..., Tensor]:
    def f(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        values = {"a": input, "axis": axes_of(input, dim), "keepdims": keepdim}
        made: Tensor = call(_extreme[name], values, saved={"dim": dim, "keepdim": keepdim})
        return made

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The {name[1:]} over dimensions; elements that tie share the gradient."
    return f


function("amax", method=True)(_alone("amax"))
function("amin", method=True)(_alone("amin"))


@function("aminmax", method=True)
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Results:
    """The least and the greatest element."""
    how = {"axis": axes_of(input, dim), "keepdims": keepdim}
    operation = _extreme["aminmax"]
    low = call(operation, {"a": input, **how}, array=np.min(input.array, axis=how["axis"], keepdims=keepdim))
    return results("aminmax", ("min", "max"), low, call(operation, {"a": input, **how}))


# --- order -----------------------------------------------------------------------------------------------------------
def order(array: Any, axis: int, descending: bool) -> Any:
    """The indices that sort; equal elements stay in order, nan is greatest."""
    array = as_array(array)
    if not array.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(array, axis, kind="stable")
    flipped = np.flip(np.argsort(np.flip(array, axis), axis, kind="stable"), axis)
    return array.shape[axis] - 1 - flipped


@function("sort", method=True)
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Results:
    """The elements in order, and where they were."""
    axis = wrapped(dim, input.array.ndim)
    return _both("sort", input, order(input.array, axis, descending), axis, True)


@function("argsort", method=True)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Where the elements are, in order."""
    return leaf(order(input.array, wrapped(dim, input.array.ndim), descending))


@function("msort", method=True)
def msort(input: Tensor) -> Tensor:
    """The elements in order along the first dimension."""
    made: Tensor = sort(input, 0)[0]
    return made


@function("topk", method=True)
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Results:
    """The ``k`` greatest elements, or the least ones, and where they are."""
    axis = wrapped(dim, input.array.ndim)
    if k < 0 or (input.array.ndim and k > input.array.shape[axis]):
        raise RuntimeError("selected index k out of range")
    places = order(input.array, axis, largest)
    if input.array.ndim:
        places = np.take(places, np.arange(k), axis)
    return _both("topk", input, places, axis, True)


@function("kthvalue", method=True)
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Results:
    """The element that ``k - 1`` others come before, and where it is."""
    axis = wrapped(dim, input.array.ndim)
    if not 1 <= k <= (input.array.shape[axis] if input.array.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(axis))
    places = order(input.array, axis, False)
    if input.array.ndim:
        places = np.take(places, [k - 1], axis)
    return _both("kthvalue", input, places, axis, keepdim)


def _middle(array: Any, axis: int, ignoring: bool) -> Any:
    """Where the lower of the middle elements is, kept as a dimension of one; a nan comes first unless it is ignored."""
    places = order(array, axis, False)
    count = np.sum(~np.isnan(array), axis=axis, keepdims=True)
    size = array.shape[axis]
    middle = np.maximum((count - 1) // 2, 0)
    if not ignoring:
        middle = np.where(count < size, count, (size - 1) // 2)
    return np.take_along_axis(places, middle, axis)


def _median(name: str, whole: Operation, ignoring: bool) -> Callable[..., Any]:
    def f(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        array = as_array(input.array)
        if dim is None:
            if not array.size:
                return leaf(np.full((), np.nan, array.dtype))
            flat = array.ravel()
            value = flat[_middle(flat, 0, ignoring)[0]]
            same = np.where(np.isnan(value), np.isnan(array), np.equal(array, value))
            if is_lifted(array):  # all that are the median share its tangent too
                value = np.max(array, initial=-np.inf, where=same)
            return call(whole, {"a": input, "where": same}, array=value)
        axis = wrapped(dim, array.ndim)
        return _both(name, input, _middle(array, axis, ignoring) if array.ndim else np.zeros(()), axis, keepdim)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "The middle element, the lower one of two; along a dimension with its place."
    return f


function("median", method=True)(_median("median", _median_all, False))
function("nanmedian", method=True)(_median("nanmedian", _nanmedian_all, True))


@function("mode", method=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Results:
    """The most frequent element, the least one of several, and where it is last."""
    array = as_array(input.array)
    axis = wrapped(dim, array.ndim)

    def last(row: Any) -> int:
        found, counts = np.unique(row, return_counts=True)
        return int(np.nonzero(row == found[np.argmax(counts)])[0][-1])

    places = np.expand_dims(np.apply_along_axis(last, axis, array), axis) if array.ndim else np.zeros(())
    return _both("mode", input, places, axis, keepdim)


def _running(name: str, better: Callable[[Any, Any], Any]) -> Callable[..., Results]:
    def f(input: Tensor, dim: int) -> Results:
        array = as_array(input.array)
        axis = wrapped(dim, array.ndim)
        if not array.ndim:
            return _both(name, input, np.zeros((), np.int64), 0, True)
        moved = np.moveaxis(array, axis, 0)
        places = np.zeros(moved.shape, np.int64)
        best = moved[:1].copy()
        where = np.zeros(best.shape, np.int64)
        for i in range(len(moved)):
            row = moved[i : i + 1]
            won = better(row, best) | np.isnan(row)
            best, where = np.where(won, row, best), np.where(won, i, where)
            places[i] = where[0]
        return _both(name, input, np.moveaxis(places, 0, axis), axis, True)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "The extreme of all elements up to each one, and where it is last."
    return f


function("cummax", method=True)(_running("cummax", np.greater_equal))
function("cummin", method=True)(_running("cummin", np.less_equal))


@function("nonzero", method=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where elements are not zero."""
    places = np.nonzero(np.atleast_1d(input.array) if input.array.ndim else input.array.reshape(1))
    if as_tuple:
        return tuple(leaf(place) for place in places)
    return leaf(np.stack(places, 1) if input.array.ndim else np.zeros((len(places[0]), 0), np.int64))


@function("unique", method=True)
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Each element once, in order; where each is, and how often."""
    name, node = ("_unique2", "Unique2Backward0") if dim is None else ("unique_dim", "UniqueDimBackward0")
    array, inverse, counts = np.unique(input.array, return_inverse=True, return_counts=True, axis=dim)
    made = [underivable(leaf(as_array(array)), (input,), name, node, messages.NO_DERIVATIVE.format(name=name))]
    made += [leaf(as_array(a)) for a, want in ((inverse, return_inverse), (counts, return_counts)) if want]
    return tuple(made) if len(made) > 1 else made[0]


@function("argwhere", method=True)
def argwhere(input: Tensor) -> Tensor:
    """Where elements are not zero."""
    made: Tensor = nonzero(input)
    return made


__all__ = ["order", "picked"]
