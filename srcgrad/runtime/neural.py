"""Activations of neural networks, element by element or along an axis, and the slopes that their rules are written in.

>>> softmax(np.array([0.0, 0.0]), axis=0)
array([0.5, 0.5])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# --- switches --------------------------------------------------------------------------------------------------------
_BITS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}


def gate(g: Any, passes: Any) -> Any:
    """``g`` where ``passes`` holds, else an exact zero."""
    if type(g) is np.ndarray and type(passes) is np.ndarray and g.shape == passes.shape and passes.dtype == bool:
        bits = _BITS.get(g.dtype)
        if bits is not None:  # all bits or none, without a branch for every element
            mask = np.negative(passes.view(np.int8)).astype(bits)
            return np.bitwise_and(g.view(bits), mask, mask).view(g.dtype)
    return np.where(passes, g, 0.0)[()]


def relu(x: Any) -> Any:
    """The positive part."""
    return np.maximum(x, 0)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """``x`` where it is positive, else a share of it."""
    return np.where(np.greater(x, 0), x, np.multiply(x, negative_slope))[()]


def prelu(x: Any, weight: Any) -> Any:
    """``x`` where it is positive, else ``weight * x``."""
    return np.where(np.greater(x, 0), x, np.multiply(x, weight))[()]


def threshold(x: Any, bound: float, value: float) -> Any:
    """``x`` where it is above a bound, else a value."""
    return np.where(np.less_equal(x, bound), value, x)[()]


def hardtanh(x: Any, low: float = -1.0, high: float = 1.0) -> Any:
    """``x`` between two bounds."""
    return np.minimum(np.maximum(x, low), high)


def hardsigmoid(x: Any) -> Any:
    """A line from 0 at -3 to 1 at 3."""
    return hardtanh(np.add(x, 3.0), 0.0, 6.0) / 6.0


def hardswish(x: Any) -> Any:
    """``x`` times its ``hardsigmoid``."""
    return np.multiply(x, hardtanh(np.add(x, 3.0), 0.0, 6.0)) / 6.0


def hardshrink(x: Any, width: float = 0.5) -> Any:
    """``x``, and zero where it is within ``width`` of zero."""
    return np.where(np.less_equal(np.abs(x), width), 0.0, x)[()]


def softshrink(x: Any, width: float = 0.5) -> Any:
    """``x`` moved towards zero by ``width``, as far as it goes."""
    return np.where(np.less_equal(np.abs(x), width), 0.0, np.subtract(x, np.copysign(width, x)))[()]


# --- exponentials ----------------------------------------------------------------------------------------------------
def sigmoid(x: Any) -> Any:
    """The logistic function, ``1 / (1 + exp(-x))``."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(np.negative(x)))


def log_sigmoid(x: Any) -> Any:
    """The logarithm of ``sigmoid``."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def softplus(x: Any, beta: float = 1.0, bound: float = 20.0) -> Any:
    """``log(1 + exp(beta * x)) / beta``, and ``x`` where ``beta * x`` is above a bound."""
    scaled = np.multiply(x, beta)
    return np.where(np.greater(scaled, bound), x, np.log1p(np.exp(np.minimum(scaled, bound))) / beta)[()]


def silu(x: Any) -> Any:
    """``x`` times its ``sigmoid``."""
    with np.errstate(over="ignore"):
        return x / (1.0 + np.exp(np.negative(x)))


def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``."""
    return x * np.tanh(softplus(x))


def elu(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    """``scale * x`` where x is positive, else ``scale * alpha * (exp(input_scale * x) - 1)``."""
    below = np.expm1(np.minimum(x, 0.0) * input_scale) * (alpha * scale)
    return np.where(np.greater(x, 0), np.multiply(x, scale), below)[()]


def elu_slope(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0, n: int = 1) -> Any:
    """The n-th derivative of ``elu``; at zero the first is that from below, the others are zero, as PyTorch has it."""
    below = np.exp(np.minimum(x, 0.0) * input_scale) * (alpha * scale * input_scale**n)
    if n == 1:
        return np.where(np.less_equal(x, 0), below, scale)[()]
    return np.where(np.less(x, 0), below, 0.0)[()]


_erf = np.frompyfunc(math.erf, 1, 1)


def normal_cdf(x: Any) -> Any:
    """How likely a standard normal number is below ``x``."""
    dtype = np.asarray(x).dtype
    made = np.asarray(_erf(np.multiply(x, math.sqrt(0.5)))).astype(dtype if dtype.kind == "f" else np.float64)
    return (0.5 * (1.0 + made))[()]


def gelu(x: Any, approximate: str = "none") -> Any:
    """``x`` times ``normal_cdf(x)``, or that approximated by a hyperbolic tangent."""
    if approximate == "tanh":
        return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))))
    return x * normal_cdf(x)


# --- along an axis ---------------------------------------------------------------------------------------------------
def softmax(x: Any, axis: int) -> Any:
    """``exp(x)`` divided by its sum along an axis."""
    made = np.exp(x - np.max(x, axis=axis, keepdims=True)) if np.size(x) else np.exp(x)
    return made / np.sum(made, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int) -> Any:
    """The logarithm of ``softmax``."""
    if not np.size(x):
        return np.exp(x)
    shifted = x - np.maximum.reduce(x, axis, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis, keepdims=True))


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along an axis times the ``sigmoid`` of the second."""
    first, second = np.split(x, 2, axis=axis)
    return first * sigmoid(second)
