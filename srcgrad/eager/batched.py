"""A batch of arrays as one array: the examples lie along the first axis of ``values``, which functions do not see.

``shape`` is that of one example.  Functions whose axes can be told are called once with the axes moved on; all others
are called for each example, and their results stacked: always right, and fast for what matters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.eager.lifted_arrays import Lifted, by_rule, is_lifted, on_arrays, repeated, replaced
from srcgrad.rules.table import lookup

ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
DATA_DEPENDENT = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to batch over indexing with a "
    "boolean mask."
)
FAST: dict[Any, Callable[..., Any]] = {}


@cache
def is_elementwise(function: Any) -> bool:
    """Whether a function that is written in Python acts on each element by itself, as its rule says."""
    if not callable(function) or by_rule(function) is function:
        return False
    rule = lookup(function)
    return rule is not None and rule.pointwise


class Batched(Lifted):
    """The examples of one level, ``values[i]`` each."""

    def __init__(self, level: int, values: Any, dim: int = 0) -> None:
        self.level = level
        self.values = values
        self.dim = dim  # where the batch was when it came in, for printing

    @property
    def shape(self) -> Any:
        return self.values.shape[1:]

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def count(self) -> int:
        """How many examples there are."""
        return len(self.values)

    def applied(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if isinstance(function, np.ufunc) and function.signature is None:
            if "where" not in kwargs:
                return rewrapped(self.level, function(*aligned(self.level, args), **kwargs))
        elif is_elementwise(function):
            if not any(map(is_lifted, kwargs.values())):
                run = on_arrays(by_rule(function))  # what is inside may be lifted too
                args = aligned(self.level, args)
                return rewrapped(self.level, _whole(run(*args, **kwargs), args))
        elif function in FAST:
            made = FAST[function](self.level, *args, **kwargs)
            if made is not NotImplemented:
                return made
        return each(self, function, args, kwargs)

    def has_tangent(self) -> bool:
        return is_lifted(self.values) and self.values.has_tangent()

    def repeated(self, array: Any) -> Any:
        return Batched(self.level, repeated(np.repeat(array[None], self.count, 0), self.values))

    def detached(self) -> Any:
        return Batched(self.level, self.values.detached(), self.dim) if is_lifted(self.values) else self

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        arrays = [k for k in keys if not isinstance(k, int | slice | None) and k is not Ellipsis]
        if any(map(is_lifted, arrays)) or (arrays and (len(arrays) > 1 or any(type(k) is int for k in keys))):
            return each(self, _indexed, (self, key), {})
        return Batched(self.level, self.values[(slice(None), *keys)])

    def assign(self, key: Any, value: Any) -> None:
        keys = key if isinstance(key, tuple) else (key,)
        if any(map(is_lifted, keys)):
            for i in range(self.count):
                self.values[(i, *(one(k, self.level, i) for k in keys))] = one(value, self.level, i)
            return
        if is_lifted(value) and value.level == self.level:
            target = self.values[(slice(None), *keys)]
            value = aligned(self.level, (value,), target.ndim - 1)[0]
        self.values[(slice(None), *keys)] = value

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Batched:
        """The examples in another dtype."""
        return Batched(self.level, self.values.astype(dtype, *args, **kwargs))

    def view(self, *args: Any) -> Batched:
        """The examples seen as another dtype."""
        return Batched(self.level, self.values.view(*args))

    @property
    def flags(self) -> Any:
        return self.values.flags

    @property
    def strides(self) -> Any:
        return self.values.strides[1:]

    def misfit(self, target: Any) -> Exception:
        given, whole = list(target.shape), [self.count, *self.shape]
        return RuntimeError(f"output with shape {given} doesn't match the broadcast shape {whole}")

    def number(self) -> Any:
        raise RuntimeError(ITEM)

    def truth(self) -> bool:
        raise RuntimeError(DATA_DEPENDENT)


def _indexed(array: Any, key: Any) -> Any:
    if not is_lifted(array):
        for k in key if isinstance(key, tuple) else (key,):
            if getattr(k, "dtype", None) == np.bool_:
                raise RuntimeError(DYNAMIC)
    return array[key]


def one(value: Any, level: int, i: int) -> Any:
    """The arguments of one example."""
    return replaced(value, lambda array: array.values[i] if array.level == level else array)


def each(top: Batched, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A function called for each example, the results stacked."""
    level, count = top.level, top.count
    function = on_arrays(by_rule(function))  # of what is inside, an example may be lifted too
    if not count:
        args, kwargs = replaced((args, kwargs), lambda a: np.zeros(a.shape, a.dtype) if a.level == level else a)
        return _stacked(level, [function(*args, **kwargs)], empty=True)
    made = [function(*one(args, level, i), **one(kwargs, level, i)) for i in range(count)]
    return _stacked(level, made)


def _stacked(level: int, results: list[Any], empty: bool = False) -> Any:
    first = results[0]
    if isinstance(first, tuple | list):
        columns = [_stacked(level, list(column), empty) for column in zip(*results, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else type(first)(columns)
    if hasattr(first, "dtype"):
        return Batched(level, np.stack(results)[: 0 if empty else None])
    if all(result == first for result in results):
        return first
    return Batched(level, np.array(results))


def aligned(level: int, args: Any, rank: int | None = None) -> list[Any]:
    """Arguments such that the batch comes first and the axes of examples broadcast from the end."""
    if rank is None:
        rank = max((np.ndim(a) for a in args), default=0)
    made: list[Any] = []
    for a in args:
        if is_lifted(a) and a.level == level:
            missing = rank - a.ndim
            values = a.values
            made.append(values.reshape(values.shape[:1] + (1,) * missing + values.shape[1:]) if missing > 0 else values)
        else:
            made.append(a)
    return made


def rewrapped(level: int, made: Any) -> Any:
    """Results with the batch in front as batched arrays."""
    if isinstance(made, tuple):
        columns = [rewrapped(level, item) for item in made]
        return type(made)(*columns) if hasattr(made, "_fields") else tuple(columns)
    return Batched(level, made)


def _whole(made: Any, args: Any) -> Any:
    """What a pointwise function made, in the shape of its operands together, of which it may have read one alone."""
    if isinstance(made, tuple):
        return tuple(_whole(item, args) for item in made)
    shape = np.broadcast_shapes(*(a.shape for a in args if hasattr(a, "dtype")))
    return made if np.shape(made) == shape else np.copy(np.broadcast_to(made, shape))


def spread(value: Any, level: int, count: int) -> Any:
    """The values of an array with the batch in front, repeated where the array is not batched."""
    if is_lifted(value) and value.level == level:
        return value.values
    return np.broadcast_to(value, (count, *np.shape(value)))


# --- functions with axes ---------------------------------------------------------------------------------------------
def _of(a: Any, level: int) -> bool:
    return is_lifted(a) and a.level == level


def _moved(axis: Any, ndim: int) -> Any:
    """Axes of an example as axes of the batch."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    if isinstance(axis, tuple | list):
        return tuple(_moved(one, ndim) for one in axis)
    if not ndim and axis in (0, -1):
        return ()
    return _checked(axis, ndim) + 1


def _checked(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


_function: Any


def fast(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: how functions treat a whole batch; ``NotImplemented`` for each example."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FAST[function] = f
        return f

    return add


def _reducing(function: Any) -> None:
    def reduce(level: int, a: Any, axis: Any = None, *rest: Any, **how: Any) -> Any:
        if not _of(a, level) or rest or "where" in how or "initial" in how:
            return NotImplemented
        return Batched(level, function(a.values, axis=_moved(axis, a.ndim), **how))

    FAST[function] = reduce


for _function in (
    np.sum,
    np.prod,
    np.mean,
    np.amax,
    np.max,
    np.amin,
    np.min,
    np.any,
    np.all,
    np.var,
    np.std,
    np.nansum,
):
    _reducing(_function)


def _along(function: Any) -> None:
    def along(level: int, a: Any, axis: Any = None, *rest: Any, **how: Any) -> Any:
        if not _of(a, level) or not isinstance(axis, int) or not a.ndim or rest:
            return NotImplemented
        return Batched(level, function(a.values, axis=_moved(axis, a.ndim), **how))

    FAST[function] = along


for _function in (np.cumsum, np.cumprod, np.argmax, np.argmin, np.flip):
    _along(_function)


def _plainly(function: Any) -> None:
    """Functions of each element, or of the last two axes, where only the first argument is batched."""

    def plain(level: int, a: Any, *rest: Any, **how: Any) -> Any:
        if not _of(a, level) or any(_of(other, level) for other in (*rest, *how.values())):
            return NotImplemented
        if function not in _ELEMENTS and a.ndim < 2:
            return NotImplemented
        return rewrapped(level, function(a.values, *rest, **how))

    FAST[function] = plain


_ELEMENTS = (np.real, np.imag, np.copy, np.around, np.round, np.nan_to_num, np.zeros_like, np.ones_like, np.isnan)
for _function in (
    *_ELEMENTS, np.tril, np.triu, np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky,
    np.linalg.eigh, np.linalg.eigvalsh, np.linalg.svd, np.linalg.qr, np.linalg.pinv, np.linalg.matrix_transpose,
):  # fmt: skip
    _plainly(_function)


@fast(np.reshape)
def _reshape(level: int, a: Any, shape: Any = None, *rest: Any, **how: Any) -> Any:
    if not _of(a, level) or rest or how.get("order", "C") != "C":
        return NotImplemented
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    if -1 in wanted:
        known = 1
        for n in wanted:
            known *= 1 if n == -1 else n
        wanted = tuple(a.size // known if n == -1 else n for n in wanted)
    return Batched(level, np.reshape(a.values, (a.count, *wanted), **how))


@fast(np.ravel)
def _ravel(level: int, a: Any, order: str = "C") -> Any:
    return _reshape(level, a, (a.size,), order=order) if _of(a, level) else NotImplemented


@fast(np.transpose, np.permute_dims)
def _transpose(level: int, a: Any, axes: Any = None) -> Any:
    axes = tuple(reversed(range(a.ndim))) if axes is None else axes
    return Batched(level, np.transpose(a.values, (0, *(_checked(axis, a.ndim) + 1 for axis in axes))))


@fast(np.swapaxes)
def _swapaxes(level: int, a: Any, axis1: int, axis2: int) -> Any:
    return Batched(level, np.swapaxes(a.values, _moved(axis1, a.ndim), _moved(axis2, a.ndim)))


@fast(np.moveaxis)
def _moveaxis(level: int, a: Any, source: Any, destination: Any) -> Any:
    return Batched(level, np.moveaxis(a.values, _moved(source, a.ndim), _moved(destination, a.ndim)))


@fast(np.expand_dims)
def _expand_dims(level: int, a: Any, axis: Any) -> Any:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    return Batched(level, np.expand_dims(a.values, _moved(axes, a.ndim + len(axes))))


@fast(np.squeeze)
def _squeeze(level: int, a: Any, axis: Any = None) -> Any:
    axes = tuple(i for i, n in enumerate(a.shape) if n == 1) if axis is None else axis
    return Batched(level, np.squeeze(a.values, _moved(axes, a.ndim)))


@fast(np.broadcast_to)
def _broadcast_to(level: int, a: Any, shape: Any, subok: bool = False) -> Any:
    if not _of(a, level):
        return NotImplemented
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    (values,) = aligned(level, (a,), len(wanted))
    return Batched(level, np.broadcast_to(values, (a.count, *wanted)))


@fast(np.where)
def _where(level: int, *args: Any) -> Any:
    return Batched(level, np.where(*aligned(level, args))) if len(args) == 3 else NotImplemented


@fast(np.clip)
def _clip(level: int, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    bounds = a_min if min is None else min, a_max if max is None else max
    return rewrapped(level, np.clip(*aligned(level, (a, *bounds))))


def _count(level: int, values: Any) -> int:
    return next(int(a.count) for a in values if _of(a, level))


@fast(np.concatenate)
def _concatenate(level: int, arrays: Any, axis: Any = 0, **how: Any) -> Any:
    if axis is None:
        return NotImplemented
    count = _count(level, arrays)
    return Batched(
        level, np.concatenate([spread(a, level, count) for a in arrays], _moved(axis, np.ndim(arrays[0])), **how)
    )


@fast(np.stack)
def _stack(level: int, arrays: Any, axis: int = 0, **how: Any) -> Any:
    count = _count(level, arrays)
    return Batched(
        level, np.stack([spread(a, level, count) for a in arrays], _moved(axis, np.ndim(arrays[0]) + 1), **how)
    )


@fast(np.take)
def _take(level: int, a: Any, indices: Any, axis: Any = None, **how: Any) -> Any:
    if not _of(a, level) or is_lifted(indices) or axis is None:
        return NotImplemented
    return Batched(level, np.take(a.values, indices, _moved(axis, a.ndim), **how))


@fast(np.diagonal)
def _diagonal(level: int, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return Batched(level, np.diagonal(a.values, offset, _moved(axis1, a.ndim), _moved(axis2, a.ndim)))


@fast(np.matmul)
def _matmul(level: int, a: Any, b: Any, **how: Any) -> Any:
    left, right = np.ndim(a), np.ndim(b)
    if not left or not right:
        return NotImplemented
    a = a[None, :] if left == 1 else a
    b = b[:, None] if right == 1 else b
    made = np.matmul(*aligned(level, (a, b)), **how)
    if right == 1:
        made = made[..., 0]
    if left == 1:
        made = made[..., 0] if right == 1 else made[..., 0, :]
    return Batched(level, made)


@fast(np.dot)
def _dot(level: int, a: Any, b: Any) -> Any:
    if not np.ndim(a) or not np.ndim(b):
        return np.multiply(a, b)
    return _matmul(level, a, b) if np.ndim(b) <= 2 and np.ndim(a) <= 2 else NotImplemented


# --- functions of the rules' own -------------------------------------------------------------------------------------
@fast(runtime.unreduce)
def _unreduce(level: int, g: Any, a: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    shape = np.shape(a)
    if where is not True or not _of(g, level) or g.dtype != getattr(a, "dtype", None):
        return NotImplemented
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    over = {_checked(i, len(shape)) for i in axes}
    kept = tuple(1 if i in over else n for i, n in enumerate(shape))
    return np.copy(np.broadcast_to(np.reshape(g, kept), shape))
