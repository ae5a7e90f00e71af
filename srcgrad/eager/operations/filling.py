"""Tensors of a shape and a pattern: zeros, ones, ranges, the identity, and those shaped like another tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.constants import Number, plain_number, varies
from srcgrad.eager.lifted_arrays import repeated
from srcgrad.eager.operations.creation import leaf, on_cpu
from srcgrad.eager.registry import function, method
from srcgrad.eager.tensor import Tensor


def checked_shape(name: str, size: Any) -> tuple[int, ...]:
    """A shape given as several ints or as one sequence, none of them negative."""
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = size[0]
    shape = []
    for n in size:
        if isinstance(n, float | str | complex) or n is None:
            raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}")
        shape.append(int(n))
    for n in shape:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {shape}")
    return tuple(shape)


def _sized(name: str, args: tuple[Any, ...], size: Any) -> tuple[int, ...]:
    if size is not None:
        args = (tuple(size),)
    elif not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return checked_shape(name, args)


def _filled(name: str, fill: Callable[..., Any]) -> Callable[..., Tensor]:
    def made(
        *args: Any,
        size: Any = None,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        on_cpu(device)
        return leaf(fill(_sized(name, args, size), (dtype or dtypes.get_default_dtype()).numpy), requires_grad)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A tensor of {name if name != 'empty' else 'anything'}."
    return made


def _filled_like(name: str, fill: Callable[..., Any]) -> Callable[..., Tensor]:
    def made(
        input: Any,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        on_cpu(device)
        check_tensor(name, input)
        array = fill(input.array.shape, (dtype or input.dtype).numpy)
        return leaf(repeated(array, input.array), requires_grad)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A tensor of the input's shape and dtype ({name})."
    return made


def check_tensor(name: str, input: Any) -> None:
    """Refuse what is no tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")


def _new_filled(name: str, fill: Callable[..., Any]) -> Callable[..., Tensor]:
    def made(
        self: Tensor, *args: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        on_cpu(device)
        array = fill(_sized(name, args, size), (dtype or self.dtype).numpy)
        return leaf(repeated(array, self.array), requires_grad)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A tensor of another shape and this dtype ({name})."
    return made


for _name, _fill in (("zeros", np.zeros), ("ones", np.ones), ("empty", np.zeros)):
    function(_name)(_filled(_name, _fill))
    function(f"{_name}_like")(_filled_like(f"{_name}_like", _fill))
    method(f"new_{_name}")(_new_filled(f"new_{_name}", _fill))


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, Tensor) and (value.requires_grad or varies(value) or value.array.ndim):
        raise TypeError(f"{name}(): argument 'fill_value' (position 2) must be Number, not Tensor")


@function("full")
def full(
    size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of one number everywhere."""
    on_cpu(device)
    shape = checked_shape("full", (size,) if isinstance(size, int) else (tuple(size),))
    _check_number("full", fill_value)
    number = plain_number("full", "fill_value", fill_value)
    return leaf(np.full(shape, number, (dtype or dtypes.of_number(number)).numpy), requires_grad)


@function("full_like")
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of the input's shape and dtype, one number everywhere."""
    on_cpu(device)
    check_tensor("full_like", input)
    _check_number("full_like", fill_value)
    number = plain_number("full_like", "fill_value", fill_value)
    array = np.full(input.array.shape, number, (dtype or input.dtype).numpy)
    return leaf(repeated(array, input.array), requires_grad)


@method()
def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of another shape and this dtype, one number everywhere."""
    on_cpu(device)
    _check_number("new_full", fill_value)
    made = full(size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad)
    made.array = repeated(made.array, self.array)
    return made


@function("eye")
def eye(
    n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A matrix with ones on its diagonal."""
    on_cpu(device)
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return leaf(np.eye(n, m, dtype=(dtype or dtypes.get_default_dtype()).numpy), requires_grad)


@function("arange")
def arange(
    *args: Any, start: Any = None, end: Any = None, step: Any = 1, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers from ``start`` on, ``step`` apart, below ``end``."""
    on_cpu(device)
    given = list(args)
    if start is not None:
        given.insert(0, start)
    if end is not None:
        given.append(end)
    values = [plain_number("arange", "end", v) for v in given]
    low, high = (0, values[0]) if len(values) == 1 else values[:2]
    step = values[2] if len(values) > 2 else plain_number("arange", "step", step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (high - low) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    d = dtype or (
        dtypes.int64 if all(isinstance(v, int | np.integer) for v in (low, high, step)) else dtypes.get_default_dtype()
    )
    count = math.ceil((high - low) / step)
    return leaf((low + step * np.arange(count)).astype(d.numpy), requires_grad)


@function("range")
def range_(
    start: Number = 0, end: Number = None, step: Number = 1, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """The numbers from ``start`` on, ``step`` apart, up to ``end``."""
    if end is None:
        start, end = 0, start
    count = math.floor((end - start) / step) + 1
    return leaf((start + step * np.arange(count)).astype((dtype or dtypes.get_default_dtype()).numpy), requires_grad)


def _spaced(start: Any, end: Any, steps: int, dtype: Any) -> Any:
    """Numbers evenly apart, computed from both ends so that the middle is exact."""
    start, end = (v.item() if isinstance(v, Tensor) else v for v in (start, end))
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    kind = dtype.type
    if np.dtype(dtype).kind not in "fc":
        kind = np.float64
    if steps < 2:
        return np.full(steps, start, dtype)
    first, last = kind(start), kind(end)
    step = (last - first) / kind(steps - 1)
    index = np.arange(steps)
    low = first + step * index.astype(kind)
    high = last - step * (steps - 1 - index).astype(kind)
    return np.where(index < steps // 2, low, high).astype(dtype)


@function("linspace")
def linspace(
    start: Any, end: Any, steps: int, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """``steps`` numbers evenly apart, both ends among them."""
    on_cpu(device)
    return leaf(_spaced(start, end, steps, (dtype or dtypes.get_default_dtype()).numpy), requires_grad)


@function("logspace")
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """``base`` to the power of ``steps`` numbers evenly apart."""
    on_cpu(device)
    d = (dtype or dtypes.get_default_dtype()).numpy
    return leaf(np.power(base, _spaced(start, end, steps, np.dtype(np.float64))).astype(d), requires_grad)


def _indices(make: Callable[..., Any]) -> Callable[..., Tensor]:
    def f(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
        on_cpu(device)
        return leaf(np.stack(make(row, offset, col)).astype((dtype or dtypes.int64).numpy))

    f.__doc__ = "Where the elements of a triangle of a matrix are."
    return f


function("tril_indices")(_indices(np.tril_indices))
function("triu_indices")(_indices(np.triu_indices))
