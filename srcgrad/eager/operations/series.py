"""Differences, integrals, quantiles, covariances: functions of a whole dimension at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.constants import Number, plain_number, varies
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import as_array, is_lifted
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.joining import cat
from srcgrad.eager.operations.matrix import fresh_squeeze, mm
from srcgrad.eager.operations.picking import gather, where
from srcgrad.eager.operations.shaping import reshape, squeeze, unsqueeze, wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_logsumexp = Operation(np.logaddexp.reduce, "LogsumexpBackward0", {"array": "self", "y": "result"})
_logcumsumexp = Operation(np.logaddexp.accumulate, "LogcumsumexpBackward0", {"array": "self", "y": "result"})


@function("logsumexp", method=True)
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials over dimensions."""
    if input.dtype.category < 2:
        input = input.to(dtypes.get_default_dtype())
    array = as_array(input.array)
    axes: tuple[int, ...] = (0,)
    shape: tuple[int, ...] = ()
    if not array.ndim:
        input = reshape(input, 1)
    else:
        axes = tuple(wrapped(d, array.ndim) for d in (dim if isinstance(dim, tuple | list) else (dim,)))
        shape = tuple(1 if i in axes else n for i, n in enumerate(array.shape))
        shape = shape if keepdim else tuple(n for i, n in enumerate(array.shape) if i not in axes)
    axis = axes[0] if len(axes) == 1 else axes
    whole = as_array(input.array)
    kept = _log_of_sum(whole, axes)
    result = kept.reshape(shape)[()]
    how = {"axis": axis, "keepdims": keepdim and bool(array.ndim)}
    saved = {"dim": dim, "keepdim": keepdim}
    if is_lifted(kept) or not np.isinf(kept).any():
        made: Tensor = call(_logsumexp, {"array": input, **how}, array=result, saved=saved)
        return made
    poison = leaf(np.where(np.isinf(whole) & (whole == kept), np.nan, 0.0).astype(whole.dtype))

    def compute(x: Tensor) -> Tensor:
        inner: Tensor = call(_logsumexp, {"array": x + poison, **how}, array=result)
        return inner

    infinite: Tensor = composed("LogsumexpBackward0", compute, input, slots=("self",), saved=saved)
    return infinite


def _log_of_sum(array: Any, axes: tuple[int, ...]) -> Any:
    with np.errstate(divide="ignore"):
        top = np.max(array, axis=axes, keepdims=True)
        top = np.where(np.isfinite(top), top, 0).astype(array.dtype)
        return np.log(np.sum(np.exp(array - top), axis=axes, keepdims=True)) + top


@function("logcumsumexp", method=True)
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """The logarithms of the sums of exponentials up to each element."""
    if not input.array.ndim:
        same: Tensor = input.clone()
        return same
    values = {"array": input, "axis": wrapped(dim, input.array.ndim)}
    made: Tensor = call(_logcumsumexp, values, saved={"dim": dim})
    return made


# --- differences and integrals ---------------------------------------------------------------------------------------
def _ends(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """All but the first along a dimension, and all but the last."""
    size = input.array.shape[axis]
    return input.narrow(axis, 1, size - 1), input.narrow(axis, 0, size - 1)


@function("diff", method=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours, ``n`` times over."""
    if not input.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    axis = wrapped(dim, input.array.ndim)
    parts = [part for part in (prepend, input, append) if part is not None]
    made = cat(parts, axis) if len(parts) > 1 else input
    for _ in range(min(n, made.array.shape[axis])):
        later, earlier = _ends(made, axis)
        made = (later.logical_xor(earlier)) if made.array.dtype.kind == "b" else later - earlier
    return made


def _times(number: Any, made: Tensor) -> Tensor:
    result: Tensor = composed("MulBackward1", lambda x: x * number, made, keeps=True)
    return result


def _over(made: Tensor, number: Any) -> Tensor:
    result: Tensor = composed("DivBackward1", lambda x: x / number, made, keeps=True)
    return result


def _steps(y: Tensor, x: Tensor, axis: int) -> Tensor:
    """The distances of the points, in the shape of ``y``'s gaps."""
    if x.array.ndim == 1:
        later, earlier = _ends(x, 0)
        return reshape(later - earlier, -1, *(1,) * (y.array.ndim - 1 - axis))
    later, earlier = _ends(x, axis)
    made: Tensor = later - earlier
    return made


@function("trapezoid", "trapz")
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """The area under straight lines between points."""
    axis = wrapped(dim, y.array.ndim)
    if x is None:
        inner = y.sum(axis) - _times(0.5, y.select(axis, 0) + y.select(axis, -1))
        return _times(dx, inner)
    later, earlier = _ends(y, axis)
    return _over((_steps(y, x, axis) * (later + earlier)).sum(axis), 2.0)


@function("cumulative_trapezoid")
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """The areas under straight lines between points up to each of them."""
    axis = wrapped(dim, y.array.ndim)
    later, earlier = _ends(y, axis)
    if x is None:
        made: Tensor = _times(dx / 2, later + earlier).cumsum(axis)
        return made
    return _over((_steps(y, x, axis) * (later + earlier)).cumsum(axis), 2.0)


@function("gradient")
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Slopes along dimensions, by differences of both neighbours.

    ``spacing``: one distance for all dimensions, or one for each: a number, or a vector of coordinates, by which there
    is a derivative too.
    """
    ndim = input.array.ndim
    axes = range(ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    axes = [wrapped(d, ndim) for d in axes]
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if isinstance(spacing, tuple | list):
        spacings = list(spacing)
    else:
        spacings = [plain_number("gradient", "spacing", spacing)] * len(axes)
    for step in spacings:
        if isinstance(step, Tensor) and step.array.ndim != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an element with "
                f"{step.array.ndim} dimensions!"
            )
    return tuple(_slopes(input, axis, step, edge_order) for axis, step in zip(axes, spacings, strict=True))


def _narrowed(input: Tensor, axis: int) -> Callable[..., Any]:
    """Slices along a dimension, counted from either end."""
    size = input.array.shape[axis]

    def at(start: int, length: int = 1) -> Any:
        return input.narrow(axis, start % size, length)

    return at


def _slopes(input: Tensor, axis: int, step: Any, edge_order: int) -> Tensor:
    size = input.array.shape[axis]
    if size <= edge_order:
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    at = _narrowed(input, axis)
    if isinstance(step, Tensor):
        return _uneven_slopes(input, axis, step, edge_order)
    middle = _over(at(2, size - 2) - at(0, size - 2), 2.0 * step)
    if edge_order == 1:
        first, last = _over(at(1) - at(0), step), _over(at(-1) - at(-2), step)
    else:
        first = _over(at(1) * 4 - at(0) * 3 - at(2), 2.0 * step)
        last = _over(at(-1) * 3 - at(-2) * 4 + at(-3), 2.0 * step)
    return cat([first, middle, last], axis)


def _uneven_slopes(input: Tensor, axis: int, points: Tensor, edge_order: int) -> Tensor:
    size = input.array.shape[axis]
    at = _narrowed(input, axis)
    if points.array.shape[0] != size:
        raise RuntimeError(
            "torch.gradient expected the elements of spacing to have as many coordinates as the dimension has elements"
        )
    later, earlier = _ends(points, 0)
    gaps = reshape(later - earlier, -1, *(1,) * (input.array.ndim - 1 - axis))
    h0, h1 = gaps[:-1], gaps[1:]
    a, b, c = -h1 / (h0 * (h0 + h1)), (h1 - h0) / (h0 * h1), h0 / (h1 * (h0 + h1))
    middle = a * at(0, size - 2) + b * at(1, size - 2) + c * at(2, size - 2)
    g0, g1 = gaps[:1], gaps[-1:]
    if edge_order == 1:
        return cat([(at(1) - at(0)) / g0, middle, (at(-1) - at(-2)) / g1], axis)
    p, q = gaps[1:2], gaps[-2:-1]
    first = -(g0 * 2 + p) / (g0 * (g0 + p)) * at(0) + (g0 + p) / (g0 * p) * at(1) - g0 / (p * (g0 + p)) * at(2)
    last = g1 / (q * (q + g1)) * at(-3) - (g1 + q) / (q * g1) * at(-2) + (g1 * 2 + q) / (g1 * (q + g1)) * at(-1)
    return cat([first, middle, last], axis)


# --- statistics ------------------------------------------------------------------------------------------------------
_TAKING: dict[str, Callable[[Any], Any]] = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}


def _quantile(name: str, ignoring: bool) -> Callable[..., Tensor]:
    def f(
        input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Tensor:
        d = input.array.dtype
        if d.kind != "f" or d.itemsize < 4:
            raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
        shares = q.array if isinstance(q, Tensor) else np.asarray(q, d)
        if np.any((shares < 0) | (shares > 1)):
            if not isinstance(q, Tensor):
                raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
            raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
        if isinstance(q, Tensor) and q.dtype is not input.dtype:
            raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
        ndim = input.array.ndim
        axis = 0 if dim is None else wrapped(dim, ndim)
        ordered = (reshape(input, -1) if dim is None else input.transpose(axis, -1)).sort(-1)[0]
        array = as_array(ordered.array)
        counts = np.sum(~np.isnan(array), -1, keepdims=True)
        last = np.maximum(counts - 1, 0) if ignoring else np.where(counts == array.shape[-1], array.shape[-1] - 1, -1)
        ranks = np.atleast_1d(shares) * last
        if not ignoring:
            ranks = np.where(last < 0, array.shape[-1] - 1, ranks)
        if interpolation in _TAKING:
            ranks = _TAKING[interpolation](ranks)
        low, high = np.floor(ranks).astype(np.int64), np.ceil(ranks).astype(np.int64)
        below = gather(ordered, -1, leaf(np.broadcast_to(low, (*array.shape[:-1], low.shape[-1])).copy()))
        if interpolation in ("linear", "midpoint"):
            weight = np.full(ranks.shape, 0.5) if interpolation == "midpoint" else ranks - low
            above = gather(ordered, -1, leaf(np.broadcast_to(high, below.array.shape).copy()))
            if interpolation == "linear" and varies(q):
                share = reshape(q, -1) * leaf(np.where(last < 0, 0, last).astype(d)) - leaf(low.astype(d))
                share = share.masked_fill(leaf(np.broadcast_to(last < 0, low.shape)), 0.0).expand(below.array.shape)
            else:
                share = leaf(np.broadcast_to(weight, below.array.shape).astype(d))
            below = below.lerp(above, share)
        return _shaped(below, np.ndim(shares), None if dim is None else axis, ndim, keepdim)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The elements below which shares of all elements are ({name})."
    return function(name, method=True)(f)


def _shaped(found: Tensor, shares: int, axis: int | None, ndim: int, keepdim: bool) -> Tensor:
    """Quantiles, which are along the last dimension, with that in front, or without it for a single one."""
    if keepdim and axis is None:
        found = reshape(found, *(1,) * ndim, -1)
    elif keepdim and ndim:
        found = unsqueeze(found, -2).transpose(axis, -2) if axis != ndim - 1 else unsqueeze(found, -2)
    elif axis is not None and ndim > 1 and axis != ndim - 1:
        # the last dimension took this one's place before; now it goes back to the end of the others
        order = [d for d in range(ndim - 1) if d != axis]
        found = found.permute(*order, axis, ndim - 1)
    if not shares:
        return fresh_squeeze(found, -1)
    made: Tensor = found.movedim(-1, 0)
    return made


quantile = _quantile("quantile", False)
nanquantile = _quantile("nanquantile", True)


@function("cov", method=True)
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """How rows vary together, the columns being observations."""
    if input.array.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input.array.ndim} dimensions")  # fmt: skip
    if input.dtype.category < 2:
        input = input.to(dtypes.get_default_dtype())
    rows = input if input.array.ndim == 2 else reshape(input, 1, -1)
    count = rows.array.shape[1]
    weights = [w for w in (fweights, aweights) if w is not None]
    if not weights:
        centred = rows - rows.mean(1, keepdim=True)
        divisor: Any = max(count - correction, 0)
        product = mm(centred, centred.t().conj())
        return squeeze(product / divisor)
    weight = weights[0] if len(weights) == 1 else weights[0] * weights[1]
    total = weight.sum()
    centred = rows - unsqueeze((rows * weight).sum(1) / total, 1)
    divisor = total - correction
    if aweights is not None and correction:
        divisor = total - correction * (weight * aweights).sum() / total
    return squeeze(mm(centred, (centred * weight).t().conj()) / divisor)


@function("corrcoef", method=True)
def corrcoef(input: Tensor) -> Tensor:
    """How rows vary together, as numbers between -1 and 1."""
    made = cov(input)
    if not made.array.ndim:
        one: Tensor = made / made
        return one
    spread = made.diag().sqrt()
    scaled = made / reshape(spread, -1, 1) / reshape(spread, 1, -1)
    result: Tensor = scaled if scaled.dtype.is_complex else scaled.clamp(-1, 1)
    return result


@function("renorm", method=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Slices along a dimension shrunk to a norm that they may not exceed."""
    axis = wrapped(dim, input.array.ndim)
    others = tuple(i for i in range(input.array.ndim) if i != axis)

    def compute(x: Tensor) -> Tensor:
        size = x.norm(p, dim=others, keepdim=True)
        made: Tensor = x * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)
        return made

    made: Tensor = composed(
        "RenormBackward0", compute, input, slots=("self",), saved={"p": p, "dim": dim, "maxnorm": maxnorm}
    )
    return made
