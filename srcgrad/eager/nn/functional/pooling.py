"""Pooling: the largest element or the mean of each window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.eager.constants import Number
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.nn.functional.activations import F
from srcgrad.eager.nn.functional.convolution import each
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import neural_layers

_max = {
    n: Operation(neural_layers.take_places, f"MaxPool{n}DWithIndicesBackward0", {"x": "self"}) for n in (2, 3)
}  # fmt: skip
_adaptive_max = {
    n: Operation(neural_layers.take_places, f"AdaptiveMaxPool{n}DBackward0", {"x": "self"}) for n in (2, 3)
}  # fmt: skip
_mean = {n: Operation(neural_layers.windowed_mean, f"AvgPool{n}DBackward0", {"x": "self"}) for n in (2, 3)}
_adaptive_mean = {
    n: Operation(neural_layers.weighted_sums, f"AdaptiveAvgPool{n}DBackward0", {"x": "self"}) for n in (2, 3)
}  # fmt: skip


def _settings(dimensions: int, kernel_size: Any, stride: Any, padding: Any, name: str) -> tuple[Any, Any, Any]:
    kernel = each(kernel_size, dimensions)
    strides = kernel if stride is None or stride == [] else each(stride, dimensions)
    paddings = each(padding, dimensions)
    for k, p in zip(kernel, paddings, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if 2 * p > k:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation=1"
            )
    return kernel, strides, paddings


def _counts(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[int, ...]:
    """How many windows there are; a last one that sticks out counts with ``ceil_mode`` if it begins inside."""
    counts = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        reach = n + 2 * p - d * (k - 1) - 1
        m = reach // s + 1
        if ceil_mode:
            m = -(-reach // s) + 1
            if (m - 1) * s >= n + p:
                m -= 1
        counts.append(m)
    return tuple(counts)


def _batched(input: Tensor, dimensions: int, name: str) -> Any:
    ndim = input.array.ndim
    if ndim not in (dimensions + 1, dimensions + 2):
        raise RuntimeError(
            f"{name}() Expected {dimensions + 1}D or {dimensions + 2}D input tensor, but got {list(input.array.shape)}"
        )
    return input.array if ndim == dimensions + 2 else input.array[None]


def _flat(input: Tensor, dim: int) -> Tensor:
    """A sequence as an image of one row."""
    made: Tensor = input.unsqueeze(dim)
    return made


def _maximal(
    dimensions: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Tensor, Any]:
    name = f"max_pool{dimensions}d"
    kernel, strides, paddings = _settings(dimensions, kernel_size, stride, padding, name)
    dilations = each(dilation, dimensions)
    stack = _batched(input, dimensions, name)
    size = stack.shape[2:]
    counts = _counts(size, kernel, strides, paddings, dilations, ceil_mode)
    if min(counts) < 1:
        whole, made = ("x".join(map(str, (stack.shape[1], *s))) for s in (size, counts))
        raise RuntimeError(f"Given input size: ({whole}). Calculated output size: ({made}). Output size is too small")
    settings = (kernel, strides, paddings, dilations, counts)
    found = None if is_lifted(stack) else neural_layers.largest_in_order(stack, *settings)
    array, places = found or (None, neural_layers.largest_places(stack, *settings))
    saved = {
        "kernel_size": kernel, "stride": strides, "padding": paddings, "dilation": dilations, "ceil_mode": ceil_mode,
        "self": input,
    }  # fmt: skip
    if input.array.ndim == dimensions + 1:
        places, array = places[0], None if array is None else array[0]
    saved["result1"] = indices = Tensor.of(places)
    values = {"x": input, "places": places, "depth": dimensions}
    return call(_max[dimensions], values, saved=saved, array=array), indices


def _max_pool(dimensions: int) -> None:
    name = f"max_pool{dimensions}d"

    def max_pool(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        if dimensions > 1:
            made, indices = _maximal(dimensions, input, kernel_size, stride, padding, dilation, ceil_mode)
            return (made, indices) if return_indices else made
        kernel, strides, paddings = _settings(1, kernel_size, stride, padding, name)
        made, indices = _maximal(
            2, _flat(input, -2), (1, *kernel), (1, *strides), (0, *paddings), (1, *each(dilation, 1)), ceil_mode
        )
        made = made.squeeze(-2)
        return (made, indices.squeeze(-2)) if return_indices else made

    max_pool.__name__ = max_pool.__qualname__ = name
    max_pool.__doc__ = "The largest element of each window."
    function(name, module=F)(max_pool)
    function(name)(max_pool)

    def with_indices(*args: Any, **kwargs: Any) -> Any:
        return max_pool(*args, **{**kwargs, "return_indices": True})

    function(f"{name}_with_indices", module=F)(with_indices)


def _averaged(
    dimensions: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Tensor:  # fmt: skip
    name = f"avg_pool{dimensions}d"
    kernel, strides, paddings = _settings(dimensions, kernel_size, stride, padding, name)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    size = _batched(input, dimensions, name).shape[2:]
    counts = _counts(size, kernel, strides, paddings, (1,) * dimensions, ceil_mode)
    divisor = _divisor(size, kernel, strides, paddings, counts, count_include_pad)
    if divisor_override is not None:
        divisor = np.full(counts, float(divisor_override))
    saved = {
        "kernel_size": kernel, "stride": strides, "padding": paddings, "ceil_mode": ceil_mode, "self": input,
        "count_include_pad": count_include_pad, "divisor_override": divisor_override,
    }  # fmt: skip
    values = {
        "x": input, "divisor": divisor.astype(input.array.dtype), "kernel": kernel, "stride": strides,
        "padding": paddings,
    }  # fmt: skip
    result: Tensor = call(_mean[dimensions], values, saved=saved)
    return result


def _divisor(size: Any, kernel: Any, stride: Any, padding: Any, counts: Any, include: bool) -> Any:
    """How many elements each window counts; none of those that only ``ceil_mode`` lets it reach."""
    made: Any = np.ones(())
    for n, k, s, p, m in zip(size, kernel, stride, padding, counts, strict=True):
        start = np.arange(m) * s - p
        end = np.minimum(start + k, n + p)
        if not include:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        made = np.multiply.outer(made, (end - start).astype(float))
    return made


def _avg_pool(dimensions: int) -> None:
    name = f"avg_pool{dimensions}d"

    def avg_pool(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: Number = None,
    ) -> Tensor:  # fmt: skip
        if dimensions > 1:
            return _averaged(
                dimensions, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            )
        kernel, strides, paddings = _settings(1, kernel_size, stride, padding, name)
        made: Tensor = _averaged(
            2, _flat(input, -2), (1, *kernel), (1, *strides), (0, *paddings), ceil_mode, count_include_pad, None
        ).squeeze(-2)
        return made

    avg_pool.__name__ = avg_pool.__qualname__ = name
    avg_pool.__doc__ = "The mean of each window."
    function(name, module=F)(avg_pool)
    if dimensions == 1:
        function(name)(avg_pool)


for _n in (1, 2, 3):
    _max_pool(_n)
    _avg_pool(_n)


# --- to a given size -------------------------------------------------------------------------------------------------
def _bounds(n: int, m: int) -> list[tuple[int, int]]:
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def _target(input: Tensor, output_size: Any, dimensions: int) -> tuple[int, ...]:
    given = (output_size,) * dimensions if output_size is None or isinstance(output_size, int) else tuple(output_size)
    size = input.array.shape[-dimensions:]
    return tuple(n if m is None else int(m) for n, m in zip(size, given, strict=True))


def _adaptive(dimensions: int) -> None:
    def avg(input: Tensor, output_size: Any) -> Tensor:
        new = _target(input, output_size, dimensions)
        if dimensions == 1:
            made: Tensor = avg_of(2)(input.unsqueeze(-2), (1, *new)).squeeze(-2)
            return made
        if all(m == 1 for m in new):
            made = input.mean(tuple(range(-1, -dimensions - 1, -1)), keepdim=True)
            return made
        matrices = []
        for n, m in zip(input.array.shape[-dimensions:], new, strict=True):
            matrix = np.zeros((m, n), input.array.dtype)
            for i, (low, high) in enumerate(_bounds(n, m)):
                matrix[i, low:high] = 1 / (high - low)
            matrices.append(matrix)
        values = {"x": input, "matrices": tuple(matrices)}
        made = call(_adaptive_mean[dimensions], values, saved={"self": input})
        if made.node is not None:
            made.node.keeps = False
        return made

    def largest(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        new = _target(input, output_size, dimensions)
        if dimensions == 1:
            made, indices = max_of(2)(input.unsqueeze(-2), (1, *new), True)
            made, indices = made.squeeze(-2), indices.squeeze(-2)
            return (made, indices) if return_indices else made
        stack = _batched(input, dimensions, f"adaptive_max_pool{dimensions}d")
        size = stack.shape[2:]
        numbers = np.arange(math.prod(size)).reshape(size)
        places = np.empty((*stack.shape[:2], *new), np.int64)
        for at in np.ndindex(*new):
            window = tuple(
                slice(*_bounds(n, m)[i]) for n, m, i in zip(size, new, at, strict=True)
            )  # fmt: skip
            met = stack[(..., *window)].reshape(*stack.shape[:2], -1)
            places[(..., *at)] = numbers[window].ravel()[np.argmax(met, -1)]
        if input.array.ndim == dimensions + 1:
            places = places[0]
        saved = {"self": input, "result1": Tensor.of(places)}
        values = {"x": input, "places": places, "depth": dimensions}
        made = call(_adaptive_max[dimensions], values, saved=saved)
        return (made, Tensor.of(places)) if return_indices else made

    avg.__name__ = avg.__qualname__ = f"adaptive_avg_pool{dimensions}d"
    avg.__doc__ = "Means of as many windows as are wanted."
    largest.__name__ = largest.__qualname__ = f"adaptive_max_pool{dimensions}d"
    largest.__doc__ = "The largest elements of as many windows as are wanted."
    _MADE["avg", dimensions] = function(avg.__name__, module=F)(avg)
    _MADE["max", dimensions] = function(largest.__name__, module=F)(largest)


_MADE: dict[tuple[str, int], Any] = {}


def avg_of(dimensions: int) -> Any:
    """Adaptive means in so many dimensions."""
    return _MADE["avg", dimensions]


def max_of(dimensions: int) -> Any:
    """Adaptive maxima in so many dimensions."""
    return _MADE["max", dimensions]


for _n in (1, 2, 3):
    _adaptive(_n)


def _lp_pool(dimensions: int) -> None:
    from srcgrad.eager.registry import FUNCTIONS

    def lp_pool(
        input: Tensor, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Tensor:
        powers = FUNCTIONS[F][f"avg_pool{dimensions}d"](input**norm_type, kernel_size, stride, 0, ceil_mode)
        count = math.prod(each(kernel_size, dimensions))
        made: Tensor = ((powers.sign() * FUNCTIONS[""]["relu"](powers.abs())) * count) ** (1.0 / norm_type)
        return made

    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{dimensions}d"
    lp_pool.__doc__ = "The norm of each window."
    function(lp_pool.__name__, module=F)(lp_pool)


for _n in (1, 2):
    _lp_pool(_n)
