"""Order statistics as weighted sums of elements in a stable order; weights of averages, observations of variables.

A quantile is ``(1 - gamma) * x[lower] + gamma * x[upper]`` of the sorted elements, ``gamma`` linear in q between two
of them (Hyndman & Fan 1996, doi 10.1080/00031305.1996.10473566).  ``weighed`` computes that sum of any values in the
order of others, ``unweighed`` is its transpose, and their argument ``slope`` counts derivatives by q.

>>> weighed(np.array([5.0, 7.0, 9.0]), np.array([3.0, 1.0, 2.0]), 0.25)
8.0
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for, unbroadcast
from srcgrad.runtime.containers import unarray
from srcgrad.runtime.reducing import Axis, kept_shape

#: Hyndman & Fan's alpha and beta: the place of q among n elements is n q + alpha + q (1 - alpha - beta) - 1.
_SMOOTH = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _places(n: Any, q: Any, method: str) -> tuple[Any, Any, Any, Any]:
    """The positions of the lower and the upper element among ``n`` in order, the share of the upper, its slope in q."""
    last = max(n - 1, 0) if isinstance(n, int) else np.maximum(n - 1, 0)
    if method == "linear":
        place = last * q
        lower = np.minimum(np.floor(place), last - 1)  # at q = 1 the slope from the left
        gamma, slope = place - lower, last + 0.0 * q
    elif method in _SMOOTH:
        alpha, beta = _SMOOTH[method]
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1
        lower = np.floor(place)
        inside = (place >= 0) & (place < last)
        gamma = np.where(inside, place - lower, 0.0)
        slope = np.where(inside, n + (1 - alpha - beta), 0.0)
    else:
        lower, gamma = _step(n, last, q, method)
        slope = np.zeros(np.shape(lower))
    low = np.clip(lower, 0, last).astype(np.intp)
    high = np.clip(np.where(gamma > 0, lower + 1, np.where(slope > 0, lower + 1, lower)), 0, last).astype(np.intp)
    return low, high, gamma, slope


def _step(n: Any, last: Any, q: Any, method: str) -> tuple[Any, Any]:
    """The methods that jump from element to element: the lower position and the share of the one above."""
    place = last * q
    none = np.zeros(np.shape(place))
    match method:
        case "median":  # q is 0.5, exactly
            lower = last // 2 + none
            return lower, np.where(last % 2 == 0, 0.0, 0.5)
        case "lower":
            return np.floor(place), none
        case "higher":
            return np.ceil(place), none
        case "nearest":
            return np.around(place), none
        case "midpoint":
            return np.floor(place), np.where(place % 1 == 0, 0.0, 0.5)
        case "inverted_cdf":
            return np.maximum(np.ceil(n * q - 1), 0), none
        case "averaged_inverted_cdf":
            place = n * q - 1
            lower = np.floor(place)
            gamma = np.where(place == lower, 0.5, 1.0)
            return lower, np.where((place < 0) | (place >= last), 0.0, gamma)
        case "closest_observation":
            place = n * q - 1.5
            lower = np.floor(place)
            stays = (place == lower) & (lower % 2 == 1)
            return np.maximum(np.where(stays, lower, lower + 1), 0), none
    raise ValueError(f"{method!r} is no method of np.quantile")


class _Order:
    """The elements of an array in stable order, slice by slice, and the places of the quantiles among them."""

    def __init__(self, a: Any, q: Any, axis: Axis, method: str, skips_nan: bool) -> None:
        a = np.asarray(a)
        self.shape = a.shape
        axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        along = [x % a.ndim for x in axes]
        self.free = [x for x in range(a.ndim) if x not in along]
        self.axes = [*self.free, *along]
        self.rest = [a.shape[x] for x in self.free]
        self.length = math.prod(a.shape[x] for x in along)
        lines = self.lines(a)
        self.order = np.argsort(lines, axis=-1, kind="stable")
        flat = np.ravel(q)
        flat = flat if flat.dtype.kind == "f" else flat.astype(np.float64)
        # NumPy's rounding of n q is that of q's dtype, on which a method that jumps depends.
        n: Any = np.sum(lines == lines, axis=-1)[:, None].astype(flat.dtype) if skips_nan else self.length
        low, high, gamma, slope = _places(n, flat[None, :], method)
        if skips_nan:  # a slice without numbers has no derivative
            gamma, slope = np.where(n > 0, gamma, np.nan), np.where(n > 0, slope, np.nan)
        count = (math.prod(self.rest), flat.size)
        self.low, self.high = (
            np.take_along_axis(self.order, np.broadcast_to(places, count), -1) for places in (low, high)
        )
        self.gamma, self.slope = (np.broadcast_to(part, count) for part in (gamma, slope))

    def lines(self, x: Any) -> Any:
        """One row for each slice."""
        return np.transpose(x, self.axes).reshape(math.prod(self.rest), self.length)

    def weights(self, slope: int, dtype: Any) -> tuple[Any, Any]:
        """The weights of the lower and the upper element, differentiated ``slope`` times by q."""
        if slope == 0:
            lower, upper = 1.0 - self.gamma, self.gamma
        elif slope == 1:
            lower, upper = -self.slope, self.slope
        else:
            lower = upper = np.zeros(self.gamma.shape)
        return np.nan_to_num(lower).astype(dtype), np.nan_to_num(upper).astype(dtype)


def weighed(
    x: Any, a: Any, q: Any, axis: Axis = None, keepdims: bool = False, method: str = "linear", skips_nan: bool = False,
    slope: int = 0,
) -> Any:  # fmt: skip
    """The quantiles ``q`` of ``x`` as if it were in the order of ``a``: q's axes first, as ``np.quantile`` has them."""
    order = _Order(a, q, axis, method, skips_nan)
    lines = order.lines(x)
    lower, upper = order.weights(slope, np.asarray(x).real.dtype)
    result: Any = 0.0
    for weight, places in ((lower, order.low), (upper, order.high)):
        part = np.zeros(weight.shape, lines.dtype)  # and stays 0 where the weight is, be the element infinite
        result = result + np.multiply(weight, np.take_along_axis(lines, places, -1), out=part, where=weight != 0)
    shape = kept_shape(order.shape, axis) if keepdims else tuple(order.rest)
    return np.reshape(result.T, np.shape(q) + shape)[()]


def unweighed(
    g: Any, a: Any, q: Any, axis: Axis = None, keepdims: bool = False, method: str = "linear", skips_nan: bool = False,
    slope: int = 0,
) -> Any:  # fmt: skip
    """The cotangent of ``x`` where ``g`` is that of ``weighed(x, a, q, axis, keepdims, method, skips_nan, slope)``."""
    order = _Order(a, q, axis, method, skips_nan)
    result = np.zeros((math.prod(order.rest), order.length), floating(a, g))
    lower, upper = order.weights(slope, result.real.dtype)
    g = np.reshape(real_for(g, result.dtype), (-1, len(result))).T
    rows = np.arange(len(result))[:, None]
    np.add.at(result, (rows, order.low), g * lower)
    np.add.at(result, (rows, order.high), g * upper)
    turned = result.reshape([order.shape[x] for x in order.axes])
    return unarray(np.transpose(turned, np.argsort(order.axes)), a)


def leading(g: Any, q: Any) -> Any:
    """``g`` summed over the axes after those of ``q``."""
    return unbroadcast(np.sum(g, axis=tuple(range(np.ndim(q), np.ndim(g)))), q)


def unleading(g: Any, y: Any) -> Any:
    """``g`` repeated along the axes of ``y`` after its own: the transpose of ``leading``."""
    return np.broadcast_to(np.reshape(g, np.shape(g) + (1,) * (np.ndim(y) - np.ndim(g))), np.shape(y))


# --- weights of an average -------------------------------------------------------------------------------------------
def aligned(weights: Any, a: Any, axis: Axis = None) -> Any:
    """The weights of ``np.average`` in a shape that broadcasts against ``a``."""
    if np.shape(weights) == np.shape(a):
        return np.asarray(weights)
    rank = np.ndim(a)
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    along = [x % rank for x in axes]
    turned = np.transpose(weights, np.argsort(along))
    return np.reshape(turned, [n if x in along else 1 for x, n in enumerate(np.shape(a))])


def unaligned(g: Any, weights: Any, a: Any, axis: Axis = None) -> Any:
    """The cotangent of ``weights`` where ``g``, or what broadcasts to its shape, is that of ``aligned(weights, a,
    axis)``."""
    shape = np.shape(weights)
    if shape == np.shape(a):
        return unarray(g, weights)
    rank = np.ndim(a)
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    along = [x % rank for x in axes]
    g = np.sum(g, axis=tuple(x for x in range(rank) if x not in along))
    order = sorted(range(len(along)), key=along.__getitem__)
    return unarray(np.transpose(np.reshape(g, [shape[i] for i in order]), np.argsort(order)), weights)


# --- observations of variables ---------------------------------------------------------------------------------------
def _turned(m: Any, rowvar: bool, second: bool) -> bool:
    """Whether ``np.cov`` reads the transpose of an array: ``m``, or ``y`` when it is the ``second``."""
    shape = np.shape(m)
    return not rowvar and (len(shape) > 1 and shape[0] != 1 if second else len(shape) != 1)


def _rows(m: Any, rowvar: bool, second: bool = False) -> Any:
    made = np.atleast_2d(m)
    return made.T if _turned(m, rowvar, second) else made


def observations(m: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """The variables of ``np.cov(m, y, rowvar, dtype=dtype)``, one in each row: those of ``m``, then those of ``y``."""
    rows = _rows(m, rowvar)
    if y is not None:
        rows = np.concatenate([rows, _rows(y, rowvar, True)])
    return rows if dtype is None else rows.astype(dtype)


def observed(m: Any, like: Any, rowvar: bool = True, second: bool = False) -> Any:
    """``observations`` of the shape of ``like`` in which all but the rows of ``m`` (of ``y``, the ``second``) are 0."""
    rows = np.asarray(real_for(_rows(m, rowvar, second), like.dtype), floating(like, m))
    missing = len(like) - len(rows)
    return np.pad(rows, ((missing, 0) if second else (0, missing), (0, 0))) if missing else rows


def unobservations(g: Any, m: Any, rowvar: bool = True, second: bool = False) -> Any:
    """The cotangent of ``m`` (of ``y``, the ``second``) where ``g`` is that of ``observations(m, y, rowvar)``."""
    turned = _turned(m, rowvar, second)
    shape = np.shape(np.atleast_2d(np.empty(np.shape(m))))
    count = shape[1] if turned else shape[0]
    rows = g[len(g) - count :] if second else g[:count]
    return unarray(np.reshape(rows.T if turned else rows, np.shape(m)), m)


def freedom(ddof: Any = None, bias: bool = False) -> Any:
    """The ``ddof`` of ``np.cov``: the given one, or 0 with ``bias``, else 1."""
    return ddof if ddof is not None else 0 if bias else 1


def or_ones(weights: Any, rows: Any) -> Any:
    """The weights of the observations in ``rows``, or ones where None is given."""
    return np.ones(np.shape(rows)[1]) if weights is None else np.asarray(weights)
