"""Order statistics as weighted sums of elements in a stable order; weights of averages, observations of variables.

A quantile is ``(1 - gamma) * x[lower] + gamma * x[upper]`` of the sorted elements, ``gamma`` linear in q between two
of them (Hyndman & Fan 1996, doi 10.1080/00031305.1996.10473566).  ``weighed`` computes that sum of any values in the
order of others, ``unweighed`` is its transpose, and their argument ``slope`` counts derivatives by q.

>>> weighed(np.array([5.0, 7.0, 9.0]), np.array([3.0, 1.0, 2.0]), 0.25)
np.float64(8.0)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for
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


def _place(n: int, q: Any, method: str) -> tuple[int, int, Any, Any]:
    """The positions of the lower and the upper element among ``n`` in order, the share of the upper, its slope in q."""
    last = max(n - 1, 0)
    gamma: Any = 0.0
    slope: Any = 0.0
    if method == "linear":
        place = last * q
        lower = min(math.floor(place), last - 1)  # at q = 1 the slope from the left
        gamma, slope = place - lower, last
    elif method in _SMOOTH:
        alpha, beta = _SMOOTH[method]
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1
        lower = math.floor(place)
        if 0 <= place < last:
            gamma, slope = place - lower, n + (1 - alpha - beta)
    else:
        lower, gamma = _step(n, last, q, method)
    upper = lower + 1 if gamma or slope else lower
    return min(max(lower, 0), last), min(max(upper, 0), last), gamma, slope


def _step(n: int, last: int, q: Any, method: str) -> tuple[int, float]:
    """The methods that jump from element to element: the lower position and the share of the one above."""
    place = last * q
    match method:
        case "median":  # q is 0.5, exactly
            return last // 2, 0.0 if last % 2 == 0 else 0.5
        case "lower":
            return math.floor(place), 0.0
        case "higher":
            return math.ceil(place), 0.0
        case "nearest":
            return round(float(place)), 0.0
        case "midpoint":
            return math.floor(place), 0.0 if place % 1 == 0 else 0.5
        case "inverted_cdf":
            return math.ceil(n * q - 1), 0.0
        case "averaged_inverted_cdf":
            place = n * q - 1
            lower = math.floor(place)
            return lower, 0.0 if not 0 <= place < last else 0.5 if place == lower else 1.0
        case "closest_observation":
            place = n * q - 1.5
            lower = math.floor(place)
            return (lower if place == lower and lower % 2 == 1 else lower + 1), 0.0
    raise ValueError(f"{method!r} is no method of np.quantile")


def _ranked(flat: Any, positions: tuple[int, ...], skips_nan: bool = False) -> list[Any]:
    """Where the elements of a row are that have these positions in stable order; a nan that counts is them all."""
    if not skips_nan and (place := _first_nan(flat)) is not None:
        return [place] * len(positions)
    if flat.size > _LONG:
        parted = np.partition(flat, positions)
        values = [parted[k] for k in positions]
        if not any(value != value for value in values):  # nan has no place among numbers
            equals = {value: np.flatnonzero(flat == value) for value in set(values)}
            below = {value: np.count_nonzero(flat < value) for value in set(values)}
            return [equals[value][k - below[value]] for k, value in zip(positions, values, strict=True)]
    order = flat.argsort(kind="stable")
    return [order[k] for k in positions]


def _first_nan(flat: Any) -> Any:
    """Where the first nan of a row is, if there is one: of nan, argmax and max think as quantiles do."""
    greatest = flat.max()
    return flat.argmax() if greatest != greatest else None


_LONG = 500  # from here on a partition is faster than sorting


class _Order:
    """Slices of an array, the positions in them of the elements that the quantiles are made of, and their weights."""

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
        # NumPy's rounding of n q is that of q's dtype, on which a method that jumps depends.
        flat = np.ravel(q)
        given = flat.tolist() if flat.dtype == np.float64 or flat.dtype.kind != "f" else list(flat)
        counts = np.sum(lines == lines, axis=-1) if skips_nan else np.array([self.length])
        found = {n: [_place(n, p, method) for p in given] for n in set(counts.tolist())}
        table = np.array([found[n] for n in counts.tolist()], np.float64).reshape(len(counts), len(given), 4)
        places = np.broadcast_to(table, (len(lines), len(given), 4))
        self.gamma, self.slope = places[..., 2], places[..., 3]
        self.alive = np.broadcast_to((counts > 0)[:, None], self.gamma.shape)  # nothing moves an empty slice
        low, high = places[..., 0].astype(np.intp), places[..., 1].astype(np.intp)
        if len(lines) == 1 and len(given) <= 4 and self.length:
            ranks = (*low[0].tolist(), *high[0].tolist())
            self.low, self.high = np.array(_ranked(lines[0], ranks, skips_nan), np.intp).reshape(2, 1, len(given))
        elif self.length:
            order = np.argsort(lines, axis=-1, kind="stable")
            self.low, self.high = np.take_along_axis(order, low, -1), np.take_along_axis(order, high, -1)
            if not skips_nan:
                greatest = np.argmax(lines, axis=-1)[:, None]
                tops = np.take_along_axis(lines, greatest, -1)
                self.low, self.high = (np.where(tops != tops, greatest, places) for places in (self.low, self.high))

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
        return np.where(self.alive, lower, 0.0).astype(dtype), np.where(self.alive, upper, 0.0).astype(dtype)


def weighed(
    x: Any, a: Any, q: Any, axis: Axis = None, keepdims: bool = False, method: str = "linear", skips_nan: bool = False,
    slope: int = 0,
) -> Any:  # fmt: skip
    """The quantiles ``q`` of ``x`` as if it were in the order of ``a``: q's axes first, as ``np.quantile`` has them."""
    order = _Order(a, q, axis, method, skips_nan)
    lines = order.lines(x)
    lower, upper = order.weights(slope, np.asarray(x).real.dtype)
    result: Any = np.zeros(lower.shape, lines.dtype)
    for weight, places in ((lower, order.low), (upper, order.high)) if order.length else ():
        part = np.zeros(weight.shape, lines.dtype)  # and stays 0 where the weight is, be the element infinite
        result = result + np.multiply(weight, np.take_along_axis(lines, places, -1), out=part, where=weight != 0)
    shape = kept_shape(order.shape, axis) if keepdims else tuple(order.rest)
    return np.reshape(result.T, np.shape(q) + shape)[()]


def unweighed(
    g: Any, a: Any, q: Any, axis: Axis = None, keepdims: bool = False, method: str = "linear", skips_nan: bool = False,
    slope: int = 0,
) -> Any:  # fmt: skip
    """The cotangent of ``x`` where ``g`` is that of ``weighed(x, a, q, axis, keepdims, method, skips_nan, slope)``."""
    if type(a) is np.ndarray and a.size and isinstance(g, float) and isinstance(q, float) and not (skips_nan or slope):
        low, high, gamma, _ = _place(a.size, q, method)
        i, j = _ranked(a.ravel(), (low, high))
        result = np.zeros(a.size, floating(a, g))
        result[i] = g * (1.0 - gamma)
        result[j] += g * gamma
        return result.reshape(a.shape)
    order = _Order(a, q, axis, method, skips_nan)
    result = np.zeros((math.prod(order.rest), order.length), floating(a, g))
    lower, upper = order.weights(slope, result.real.dtype)
    g = np.reshape(real_for(g, result.dtype), (lower.shape[1], len(result))).T
    rows = np.arange(len(result))[:, None]
    if order.length:
        np.add.at(result, (rows, order.low), g * lower)
        np.add.at(result, (rows, order.high), g * upper)
    turned = result.reshape([order.shape[x] for x in order.axes])
    return unarray(np.transpose(turned, np.argsort(order.axes)), a)


def leading(g: Any, q: Any) -> Any:
    """``g`` summed over the axes after those of ``q``."""
    return unarray(np.sum(g, axis=tuple(range(np.ndim(q), np.ndim(g)))), q)


def unleading(g: Any, y: Any) -> Any:
    """``g`` repeated along the axes of ``y`` after its own: the transpose of ``leading``."""
    return np.broadcast_to(np.reshape(g, np.shape(g) + (1,) * (np.ndim(y) - np.ndim(g))), np.shape(y))


# --- weights of an average -------------------------------------------------------------------------------------------
def aligned(weights: Any, a: Any, axis: Axis = None) -> Any:
    """The weights of ``np.average`` in a shape that broadcasts against ``a``; all are 1 where they are None."""
    if weights is None:
        return np.broadcast_to(1.0, np.shape(a))
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
    if weights is None:
        return 0.0
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
    """The weights of the observations in ``rows`` as floats, or ones where None is given."""
    return np.ones(np.shape(rows)[1]) if weights is None else np.multiply(weights, 1.0)


def _bins(a: Any, edges: Any) -> Any:
    """The bin of ``np.histogram`` that each number is in; one behind the last where it is in none."""
    a, edges = np.asarray(a), np.asarray(edges)
    places = np.where(a == edges[-1], len(edges) - 2, np.searchsorted(edges, a, "right") - 1)
    return np.where((a >= edges[0]) & (a <= edges[-1]), places, len(edges) - 1)


def into_bins(weights: Any, a: Any, edges: Any) -> Any:
    """The sums of the weights of the numbers ``a`` in each bin between edges."""
    weights = np.asarray(weights)
    sums = np.zeros(len(edges), weights.dtype)
    np.add.at(sums, _bins(a, edges), weights)
    return sums[:-1]


def from_bins(g: Any, a: Any, edges: Any) -> Any:
    """For each number of ``a`` what ``g`` holds for its bin between edges; zero where it is in none."""
    g = np.asarray(g)
    return np.append(g, np.zeros(1, g.dtype))[_bins(a, edges)]
