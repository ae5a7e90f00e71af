"""Sums, means, products, variances, norms: what takes many elements to few."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.constants import Number
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.graph import Node
from srcgrad.eager.lifted_arrays import as_array
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.shaping import wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_SAVED = {"a": "self", "y": "result", "x": "self"}
_sum_all = Operation(np.sum, "SumBackward0")
_sum_dim = Operation(np.sum, "SumBackward1")
_mean_all = Operation(np.mean, "MeanBackward0")
_mean_dim = Operation(np.mean, "MeanBackward1")
_prod_all = Operation(np.prod, "ProdBackward0", _SAVED)
_prod_dim = Operation(np.prod, "ProdBackward1", _SAVED)
_var = Operation(np.var, "VarBackward0", _SAVED)
_std = Operation(np.std, "StdBackward0", _SAVED)
_norm = Operation(np.linalg.vector_norm, "LinalgVectorNormBackward0", _SAVED)
_norm_of_zero = Operation(np.linalg.vector_norm, "LinalgVectorNormBackward0", _SAVED)
_cumsum = Operation(np.cumsum, "CumsumBackward0")
_cumprod = Operation(np.cumprod, "CumprodBackward0", _SAVED)
_nansum = Operation(np.nansum, "NansumBackward0", _SAVED)
_trace = Operation(np.trace, "TraceBackward0")


class _Nothing(Node):
    """The node of a count, which has no gradient at all."""

    def apply(self, g: Any) -> Any:
        return (None,)

    apply_to_tensors = apply


_norm_of_zero.node = type("LinalgVectorNormBackward0", (_Nothing, _norm_of_zero.node), {"__module__": "srcgrad.eager"})


def axes_of(input: Tensor, dim: Any) -> tuple[int, ...] | None:
    """Dimensions counted from the front, None for all of them; each at most once."""
    if dim is None or (isinstance(dim, tuple | list) and not dim):
        return None
    ndim = input.array.ndim
    axes = tuple(wrapped(int(d), ndim) for d in (dim if isinstance(dim, tuple | list) else (dim,)))
    for axis in axes:
        if axes.count(axis) > 1:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    return axes if ndim else None


_HALF = np.dtype(np.float16)
_QUICK: dict[Any, Callable[..., Any]] = {np.sum: np.add.reduce, np.prod: np.multiply.reduce}  # without NumPy's door


def _computed(f: Callable[..., Any], array: Any, d: np.dtype[Any], **how: Any) -> Any:
    """A NumPy reduction in ``d``; short floats are added up in longer ones."""
    if type(array) is np.ndarray and array.dtype is d and d is not _HALF and f in _QUICK:
        return _QUICK[f](array, how.get("axis"), None, None, how.get("keepdims", False))
    wide = np.dtype(np.float32) if d == np.float16 else d
    return f(array, dtype=wide, **how).astype(d)


def _whole(input: Tensor) -> np.dtype[Any]:
    """The dtype of a sum: integers and truth values are added up as int64."""
    d: np.dtype[Any] = input.array.dtype
    return np.dtype(np.int64) if d.kind in "biu" else d


def _reduced(
    all_of: Operation, some: Operation, input: Tensor, dim: Any, keepdim: bool, d: np.dtype[Any], sizes: dict[str, Any]
) -> Tensor:
    """A reduction of all elements, or over dimensions, in a dtype."""
    array = input.array
    cast: dict[str, Any] = {} if d == array.dtype else {"dtype": d}
    f = all_of.function
    if dim is None and not keepdim:
        made: Tensor = call(all_of, {"a": input, **cast}, saved=sizes, array=_computed(f, array, d))
        return made
    axes = axes_of(input, dim)
    given = tuple(dim) if isinstance(dim, tuple | list) else () if dim is None else (dim,)
    how = {"axis": axes, "keepdims": keepdim}
    saved = {**sizes, "dim": given if f is not np.prod else dim, "keepdim": keepdim}
    result: Tensor = call(some, {"a": input, **how, **cast}, saved=saved, array=_computed(f, array, d, **how))
    return result


def _dimensions(dim: Any, axis: Any) -> Any:
    return dim if axis is None else axis


@function("sum", method=True)
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None) -> Tensor:
    """The sum of all elements, or over dimensions."""
    d = dtype.numpy if dtype is not None else _whole(input)
    sizes = {"self_sym_sizes": tuple(input.array.shape)}
    return _reduced(_sum_all, _sum_dim, input, _dimensions(dim, axis), keepdim, d, sizes)


@function("mean", method=True)
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None) -> Tensor:
    """The mean of all elements, or over dimensions."""
    given = input.dtype
    if dtype is None and given.category < 2:
        raise NotImplementedError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + given.long_name
        )
    shape = tuple(input.array.shape)
    dim = _dimensions(dim, axis)
    over = axes_of(input, dim)
    count = math.prod(shape if over is None else [shape[i] for i in over])
    sizes = {"self_sym_sizes": shape, "self_sym_numel": count}
    with np.errstate(invalid="ignore"):
        if not count:
            node = "MeanBackward0" if over is None else "MeanBackward1"

            def compute(x: Tensor) -> Tensor:
                total = _reduced(_sum_all, _sum_dim, x, dim, keepdim, (dtype or given).numpy, sizes)
                made: Tensor = total * math.nan
                return made

            empty: Tensor = composed(node, compute, input, saved=sizes, keeps=True)
            return empty
        return _reduced(_mean_all, _mean_dim, input, dim, keepdim, (dtype or given).numpy, sizes)


@function("prod", method=True)
def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product of all elements, or over one dimension."""
    d = dtype.numpy if dtype is not None else _whole(input)
    return _reduced(_prod_all, _prod_dim, input, dim, keepdim, d, {})


def _corrected(name: str, operation: Operation) -> Callable[..., Tensor]:
    def f(
        input: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        axis: Any = None,
    ) -> Tensor:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if input.dtype.category < 2:
            raise RuntimeError("std and var only support floating point and complex dtypes")
        ddof = correction if correction is not None else 1 if unbiased is None else int(unbiased)
        axes = axes_of(input, _dimensions(dim, axis))
        values = {"a": input, "axis": axes, "ddof": ddof, "keepdims": keepdim}
        saved = {"dim": dim, "correction": ddof, "keepdim": keepdim}
        count = math.prod(input.array.shape if axes is None else [input.array.shape[i] for i in axes])
        array = None
        if input.array.dtype.itemsize < 8:  # in double precision, as PyTorch adds up
            wide = np.result_type(input.array.dtype, np.float64 if input.array.dtype.kind == "f" else np.complex128)
            array = operation.function(input.array.astype(wide), axis=axes, ddof=ddof, keepdims=keepdim)
            array = array.astype(input.array.real.dtype)
        if count <= ddof:
            array = np.full_like(np.sum(input.array.real, axis=axes, keepdims=keepdim), math.nan)
        made: Tensor = call(operation, values, saved=saved, array=array)
        return made

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of all elements, or over dimensions."
    return f


var = function("var", method=True)(_corrected("var", _var))
std = function("std", method=True)(_corrected("std", _std))


def _and_mean(name: str, node: str, spread: Callable[..., Tensor]) -> None:
    def f(
        input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Number = None
    ) -> tuple[Tensor, Tensor]:
        def compute(x: Tensor) -> tuple[Tensor, Tensor]:
            return spread(x, dim, unbiased, keepdim, correction=correction), mean(
                x, None if isinstance(dim, bool) else dim, keepdim
            )

        made: tuple[Tensor, Tensor] = composed(node, compute, input, slots=("self",), saved={"dim": dim})
        return made

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The spread and the mean ({name})."
    function(name)(f)


_and_mean("var_mean", "VarMeanBackward0", var)
_and_mean("std_mean", "StdMeanBackward0", std)


@function("norm", method=True)
def norm(input: Tensor, p: Number = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The norm of all elements as one vector, or of the vectors along dimensions."""
    if dtype is not None:
        input = input.to(dtype)
    if p == "nuc":
        from srcgrad.eager.operations.norms import matrix_norm

        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)
    return vector_norm(input, 2.0 if p in ("fro", None) else p, dim, keepdim)


def vector_norm(input: Tensor, p: Any, dim: Any, keepdim: bool) -> Tensor:
    """The norm of all elements as one vector, or of the vectors along dimensions."""
    if input.dtype.category < 2:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got " + input.dtype.long_name
        )
    order = float(p)
    axes = axes_of(input, dim)
    values = {"x": input, "axis": axes, "keepdims": keepdim, "ord": order}
    if not input.array.ndim:
        values.pop("axis")
    saved = {"ord": order, "dim": dim, "keepdim": keepdim}
    with np.errstate(divide="ignore"):
        made: Tensor = call(_norm if order else _norm_of_zero, values, saved=saved)
    return made


def _scan(operation: Operation, input: Tensor, dim: int, dtype: Any) -> Tensor:
    d = dtype.numpy if dtype is not None else _whole(input)
    if not input.array.ndim:
        wrapped(dim, 0)
        made: Tensor = call(operation, {"a": input}, array=input.array.astype(d)[()])
        return made
    axis = wrapped(dim, input.array.ndim)
    values: dict[str, Any] = {"a": input, "axis": axis}
    if d != input.array.dtype:
        values["dtype"] = d
    result: Tensor = call(operation, values, saved={"dim": dim}, array=operation.function(input.array, axis, dtype=d))
    return result


@function("cumsum", method=True)
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Sums of all elements up to each one."""
    return _scan(_cumsum, input, dim, dtype)


@function("cumprod", method=True)
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Products of all elements up to each one."""
    return _scan(_cumprod, input, dim, dtype)


@function("nansum", method=True)
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of what is a number."""
    d = dtype.numpy if dtype is not None else _whole(input)
    values: dict[str, Any] = {"a": input, "axis": axes_of(input, dim), "keepdims": keepdim}
    if d != input.array.dtype:
        values["dtype"] = d
    made: Tensor = call(_nansum, values)
    return made


@function("nanmean", method=True)
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of what is a number."""
    axes = axes_of(input, dim)
    count = np.sum(~np.isnan(input.array), axis=axes, keepdims=keepdim)
    made: Tensor = nansum(input, dim, keepdim, dtype=dtype) / leaf(count)
    return made


@function("trace", method=True)
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal."""
    if input.array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.array.ndim}")
    made: Tensor = call(_trace, {"a": input})
    return made


# --- what has no derivative ------------------------------------------------------------------------------------------
def _judging(name: str, f: Callable[..., Any]) -> Callable[..., Tensor]:
    def judged(input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None) -> Tensor:
        axes = axes_of(input, _dimensions(dim, axis))
        d = np.uint8 if input.dtype is dtypes.uint8 else np.bool_
        return leaf(f(input.array, axis=axes, keepdims=keepdim).astype(d))

    judged.__name__ = judged.__qualname__ = name
    judged.__doc__ = f"Whether {name} elements are true."
    return judged


function("all", method=True)(_judging("all", np.all))
function("any", method=True)(_judging("any", np.any))


@function("count_nonzero", method=True)
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not zero."""
    return leaf(as_array(np.count_nonzero(input.array, axis=axes_of(input, dim)), np.int64))


def _arg(name: str, f: Callable[..., Any]) -> Callable[..., Tensor]:
    def found(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: Any = None) -> Tensor:
        dim = _dimensions(dim, axis)
        array = as_array(input.array)
        if dim is None:
            if not array.size:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            place = as_array(f(array), np.int64)
            return leaf(place.reshape((1,) * array.ndim) if keepdim else place)
        at = wrapped(dim, array.ndim)
        if not array.ndim:
            return leaf(np.zeros((), np.int64))
        if not array.shape[at]:
            raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")
        return leaf(as_array(f(array, axis=at, keepdims=keepdim), np.int64))

    found.__name__ = found.__qualname__ = name
    found.__doc__ = "Where the first extreme element is, in all or along a dimension."
    return found


argmax = function("argmax", method=True)(_arg("argmax", np.argmax))
argmin = function("argmin", method=True)(_arg("argmin", np.argmin))
