"""Activations of neural networks; at kinks as PyTorch decides, which is said where it is."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.facts import Array, as_array, is_floating
from srcgrad.rules.table import elementwise, linear, rule
from srcgrad.runtime import neural
from srcgrad.runtime.neural import elu_slope, gate, normal_cdf, sigmoid, softplus


@linear(gate, "g")
def gate_(g, passes, *, y, y_bar):
    """A projection."""
    return gate(y_bar, passes)


# --- switches --------------------------------------------------------------------------------------------------------
@elementwise(neural.relu)
def relu(x, *, z, z_bar):
    """The positive part; slope 0 at 0."""
    return gate(z_bar, np.logical_not(np.less_equal(z, 0)))


@elementwise(neural.leaky_relu)
def leaky_relu(x, negative_slope=0.01, *, z, z_bar):
    """x where it is positive, else a share of it; that share at 0."""
    return np.where(np.greater(x, 0), z_bar, z_bar * negative_slope), None


@elementwise(neural.prelu)
def prelu(x, weight, *, z, z_bar):
    """x where it is positive, else weight * x; that slope at 0."""
    return np.where(np.greater(x, 0), z_bar, z_bar * weight), gate(z_bar * x, np.less_equal(x, 0))


@elementwise(neural.threshold)
def threshold(x, bound, value, *, z, z_bar):
    """x where it is above a bound; slope 0 at the bound."""
    return gate(z_bar, np.logical_not(np.less_equal(x, bound))), None, None


@elementwise(neural.hardtanh)
def hardtanh(x, low=-1.0, high=1.0, *, z, z_bar):
    """x between two bounds; slope 0 at both."""
    return gate(z_bar, np.logical_not(np.logical_or(np.less_equal(x, low), np.greater_equal(x, high)))), None, None


@elementwise(neural.hardsigmoid)
def hardsigmoid(x, *, z, z_bar):
    """A line from 0 at -3 to 1 at 3; slope 0 at both."""
    return gate(z_bar / 6.0, np.logical_and(np.greater(x, -3.0), np.less(x, 3.0)))


@elementwise(neural.hardswish)
def hardswish(x, *, z, z_bar):
    """x times its hardsigmoid; slope 0 at -3, 1 at 3."""
    inside = np.where(np.less(x, 3.0), z_bar * (x / 3.0 + 0.5), z_bar)
    return gate(inside, np.logical_not(np.less_equal(x, -3.0)))


@elementwise(neural.hardshrink, neural.softshrink)
def hardshrink(x, width=0.5, *, z, z_bar):
    """x, or x moved, and zero within a width of zero; slope 0 at the ends."""
    return gate(z_bar, np.logical_not(np.less_equal(np.abs(x), width))), None


# --- exponentials ----------------------------------------------------------------------------------------------------
@elementwise(neural.sigmoid)
def sigmoid_(x, *, z, z_bar):
    """The logistic function."""
    return z_bar * (1.0 - z) * z


@elementwise(neural.log_sigmoid)
def log_sigmoid(x, *, z, z_bar):
    """The logarithm of sigmoid."""
    return z_bar * sigmoid(-x)


@elementwise(neural.softplus)
def softplus_(x, beta=1.0, bound=20.0, *, z, z_bar):
    """log(1 + exp(beta * x)) / beta, linear above a bound."""
    return np.where(np.greater(x * beta, bound), z_bar, z_bar * sigmoid(x * beta)), None, None


@elementwise(neural.silu)
def silu(x, *, z, z_bar):
    """x * sigmoid(x)."""
    s = sigmoid(x)
    return z_bar * (s * (1.0 + x * (1.0 - s)))


@elementwise(neural.mish)
def mish(x, *, z, z_bar):
    """x * tanh(softplus(x))."""
    t = np.tanh(softplus(x))
    return z_bar * (t + x * sigmoid(x) * (1.0 - t * t))


@elementwise(neural.elu)
def elu(x, alpha=1.0, scale=1.0, input_scale=1.0, *, z, z_bar):
    """A line above zero, an exponential below and at zero."""
    return z_bar * elu_slope(x, alpha, scale, input_scale, 1), None, None, None


@elementwise(elu_slope)
def elu_slope_(x, alpha=1.0, scale=1.0, input_scale=1.0, n=1, *, z, z_bar):
    """The derivatives of elu, one by one."""
    return z_bar * elu_slope(x, alpha, scale, input_scale, n + 1), None, None, None, None


@elementwise(normal_cdf)
def normal_cdf_(x, *, z, z_bar):
    """The slope is the density; 0.3989... is 1 / sqrt(2 pi)."""
    return z_bar * (0.3989422804014327 * np.exp(-0.5 * x * x))


@elementwise(neural.gelu)
def gelu(x, approximate="none", *, z, z_bar):
    """x * normal_cdf(x)."""
    return z_bar * (normal_cdf(x) + x * (0.3989422804014327 * np.exp(-0.5 * x * x))), None


@gelu.when(approximate="tanh")
def gelu(x, approximate="none", *, z, z_bar):
    """x * normal_cdf(x), the latter by a hyperbolic tangent."""
    t = np.tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x)))
    slope = 0.7978845608028654 * (1.0 + 0.134145 * (x * x))
    return z_bar * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope), None


gelu.accept(allowed={"approximate": ("none", "tanh")})


# --- along an axis ---------------------------------------------------------------------------------------------------
@rule(neural.softmax)
def softmax(x, axis, *, y, y_bar):
    """exp(x) divided by its sum along an axis."""
    g = y_bar * y
    return g - y * np.sum(g, axis=axis, keepdims=True)


@softmax.tangent
def softmax(x, axis, *, y, x_dot):
    return y * (x_dot - np.sum(y * x_dot, axis=axis, keepdims=True))


@rule(neural.log_softmax)
def log_softmax(x, axis, *, y, y_bar):
    """The logarithm of softmax."""
    return y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)


@log_softmax.tangent
def log_softmax(x, axis, *, y, x_dot):
    return x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True)


@rule(neural.glu)
def glu(x, axis=-1, *, y, y_bar):
    """The first half along an axis times the sigmoid of the second."""
    halves = np.split(x, 2, axis=axis)
    s = sigmoid(halves[1])
    return np.concatenate((y_bar * s, y_bar * halves[0] * s * (1.0 - s)), axis=axis)


@glu.tangent
def glu(x, axis=-1, *, y, x_dot):
    halves = np.split(x, 2, axis=axis)
    dots = np.split(x_dot, 2, axis=axis)
    s = sigmoid(halves[1])
    return s * (dots[0] + halves[0] * (1.0 - s) * dots[1])


def like_x(arguments, literals):
    """The fact of a softmax."""
    x = as_array(arguments["x"])
    return Array(x.shape, x.dtype if is_floating(x.dtype) else None)


for same in (softmax, log_softmax):
    same.infer(like_x)
