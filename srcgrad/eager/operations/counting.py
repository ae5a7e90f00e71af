"""Counts, places in sorted sequences, divisors: functions without a derivative; and windows of signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.elementwise import settled
from srcgrad.eager.lifted_arrays import as_array
from srcgrad.eager.operations.creation import leaf, on_cpu
from srcgrad.eager.operations.rounding import underivable
from srcgrad.eager.registry import function
from srcgrad.eager.return_types import Results, results
from srcgrad.eager.tensor import Tensor

_frexp = Operation(np.frexp, "FrexpBackward0")


@function("bincount", method=True)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number occurs, or the sum of its weights."""
    if input.array.ndim != 1 or (input.array.size and input.array.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return leaf(np.bincount(input.array, None, minlength))
    counts = np.bincount(input.array, weights.detach().array, minlength)
    # PyTorch adds up in float64, unless the weights are float32.
    made = leaf(counts.astype(np.float32) if weights.dtype is dtypes.float32 else counts)
    return underivable(made, (weights,), "bincount")


@function("histc", method=True)
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements are in each of so many bins of one width."""
    array = np.asarray(input.array)
    low, high = (array.min(), array.max()) if min == max == 0 and array.size else (min, max)
    if low == high:
        low, high = low - 1, high + 1
    return leaf(np.histogram(array, bins, (float(low), float(high)))[0].astype(array.dtype))


@function("searchsorted")
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None
) -> Tensor:
    """Where elements would go in sorted sequences."""
    where: Any = "right" if right or side == "right" else "left"
    values = np.asarray(input.array if isinstance(input, Tensor) else input)
    d = np.int32 if out_int32 else np.int64
    if sorted_sequence.array.ndim == 1:
        return leaf(np.asarray(np.searchsorted(sorted_sequence.array, values, where)).astype(d))
    rows = sorted_sequence.array.reshape(-1, sorted_sequence.array.shape[-1])
    wanted = values.reshape(-1, values.shape[-1])
    found = [np.searchsorted(row, v, where) for row, v in zip(rows, wanted, strict=True)]
    return leaf(np.stack(found).reshape(values.shape).astype(d))


@function("bucketize")
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """Which bucket between boundaries each element is in."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def _of_pairs(name: str, f: Callable[[Any, Any], Any]) -> None:
    def pairwise(input: Tensor, other: Tensor) -> Tensor:
        a, b, _ = settled(input.array, other.array, False)
        return leaf(np.asarray(f(a, b)))

    pairwise.__name__ = pairwise.__qualname__ = name
    pairwise.__doc__ = f"``{name}`` of each pair of elements."
    function(name, method=True)(pairwise)


_of_pairs("gcd", np.gcd)
_of_pairs("lcm", np.lcm)


@function("frexp", method=True)
def frexp(input: Tensor) -> Results:
    """The significand, which has a derivative, and the exponent of each element."""
    if input.array.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    significand, exponent = call(_frexp, {"x": input})
    if significand.node is not None:
        significand.node.statics = {"exponent": exponent}
    return results("frexp", ("mantissa", "exponent"), significand, exponent)


@function("unique_consecutive", method=True)
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The elements without those that equal the one before."""
    flat = as_array(input.array).reshape(-1)
    first = np.ones(flat.size, bool)
    first[1:] = flat[1:] != flat[:-1]
    places = np.cumsum(first) - 1
    text = messages.NO_DERIVATIVE.format(name="unique_consecutive")
    made = [underivable(leaf(flat[first]), (input,), "unique_consecutive", "UniqueConsecutiveBackward0", text)]
    if return_inverse:
        made.append(leaf(places.reshape(input.array.shape)))
    if return_counts:
        made.append(leaf(np.bincount(places)))
    return made[0] if len(made) == 1 else tuple(made)


@function("unravel_index")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Indices of the whole as one index for each dimension."""
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    return tuple(leaf(np.asarray(i)) for i in np.unravel_index(indices.array, size))


# --- windows ---------------------------------------------------------------------------------------------------------
def _window(name: str, f: Callable[[int], Any]) -> None:
    def window(
        window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        on_cpu(device)
        d = (dtype or dtypes.get_default_dtype()).numpy
        values = f(window_length + 1)[:-1] if periodic and window_length > 1 else f(window_length)
        return leaf(values.astype(d), requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"The window ``{name}``."
    function(name)(window)


for _name, _f in (
    ("hann_window", np.hanning),
    ("hamming_window", np.hamming),
    ("blackman_window", np.blackman),
    ("bartlett_window", np.bartlett),
):
    _window(_name, _f)
