"""Layers of neural networks: convolution, places, padding, weighted sums, normalization."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.table import constant, linear, rule
from srcgrad.runtime import neural_layers, rebroadcast, unbroadcast
from srcgrad.runtime.neural_layers import (
    columns,
    convolve,
    negated,
    pad_constant,
    take_places,
    transposed,
    uncolumns,
    unconvolve_input,
    unconvolve_weight,
    untake_places,
    unwindowed_mean,
    weighted_sums,
    windowed_mean,
)

constant(neural_layers.largest_places, neural_layers.largest_in_order, negated, transposed)


# --- convolution, linear in either factor: each transpose is one of the other two -------------------------------------
@linear(convolve, "x", "weight")
def convolve_(x, weight, stride, padding, dilation, groups, *, y, y_bar):
    """The sum over what a kernel meets."""
    return (
        unconvolve_input(y_bar, weight, np.shape(x), stride, padding, dilation, groups),
        unconvolve_weight(y_bar, x, np.shape(weight), stride, padding, dilation, groups),
    )


@rule(neural_layers.convolve_biased)
def convolve_biased(x, weight, bias, stride, padding, dilation, groups, shape, *, y, y_bar):
    """A convolution and a bias for each channel."""
    return (
        unconvolve_input(y_bar, weight, np.shape(x), stride, padding, dilation, groups),
        unconvolve_weight(y_bar, x, np.shape(weight), stride, padding, dilation, groups),
        np.reshape(unbroadcast(y_bar, np.reshape(bias, shape)), np.shape(bias)),
    )


@convolve_biased.tangent
def convolve_biased(x, weight, bias, stride, padding, dilation, groups, shape, *, y, x_dot, weight_dot, bias_dot):
    return (
        convolve(x_dot, weight, stride, padding, dilation, groups),
        convolve(x, weight_dot, stride, padding, dilation, groups),
        rebroadcast(np.reshape(bias_dot, shape), y),
    )


@linear(unconvolve_input, "g", "weight")
def unconvolve_input_(g, weight, shape, stride, padding, dilation, groups, *, y, y_bar):
    """A transpose; convolved again."""
    return (
        convolve(y_bar, weight, stride, padding, dilation, groups),
        unconvolve_weight(g, y_bar, np.shape(weight), stride, padding, dilation, groups),
    )


@linear(unconvolve_weight, "g", "x")
def unconvolve_weight_(g, x, shape, stride, padding, dilation, groups, *, y, y_bar):
    """A transpose; convolved again."""
    return (
        convolve(x, y_bar, stride, padding, dilation, groups),
        unconvolve_input(g, y_bar, np.shape(x), stride, padding, dilation, groups),
    )


@linear(columns, "x")
def columns_(x, kernel, stride, padding, dilation, *, y, y_bar):
    """What a kernel meets; added up."""
    return uncolumns(y_bar, np.shape(x)[2:], kernel, stride, padding, dilation)


@linear(uncolumns, "g")
def uncolumns_(g, size, kernel, stride, padding, dilation, *, y, y_bar):
    """Added up; met again."""
    return columns(y_bar, kernel, stride, padding, dilation)


# --- places ----------------------------------------------------------------------------------------------------------
@linear(take_places, "x")
def take_places_(x, places, depth, *, y, y_bar):
    """Taken; put back."""
    return untake_places(y_bar, places, np.shape(x), depth)


@linear(untake_places, "g")
def untake_places_(g, places, shape, depth, *, y, y_bar):
    """Put back; taken again."""
    return take_places(y_bar, places, depth)


@linear(weighted_sums, "x")
def weighted_sums_(x, matrices, *, y, y_bar):
    """The last dimensions multiplied by a matrix each; by the transposes."""
    return weighted_sums(y_bar, transposed(matrices))


@linear(windowed_mean, "x")
def windowed_mean_(x, divisor, kernel, stride, padding, *, y, y_bar):
    """Means; spread again."""
    return unwindowed_mean(y_bar, divisor, np.shape(x)[-len(kernel) :], kernel, stride, padding)


@linear(unwindowed_mean, "g")
def unwindowed_mean_(g, divisor, size, kernel, stride, padding, *, y, y_bar):
    """Spread; taken together again."""
    return windowed_mean(y_bar, divisor, kernel, stride, padding)


windowed_mean_.refuse("divide by hand", divisor="the divisor of a window has no derivative here")
unwindowed_mean_.refuse("divide by hand", divisor="the divisor of a window has no derivative here")


@rule(pad_constant)
def pad_constant_(x, widths, value=0.0, *, y, y_bar):
    """A margin put on; cut off."""
    return pad_constant(y_bar, negated(widths))


@pad_constant_.tangent
def pad_constant_(x, widths, value=0.0, *, y, x_dot):
    return pad_constant(x_dot, widths)


# --- normalization ---------------------------------------------------------------------------------------------------
@rule(neural_layers.normalize)
def normalize(x, weight, bias, view, axes, shape, eps, *, y, y_bar):
    """Mean 0 and variance 1 over axes: what x and its mean share does not move the result."""
    wide = np.reshape(x, view)
    centred = wide - np.mean(wide, axis=axes, keepdims=True)
    scale = 1.0 / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)
    unit = centred * scale
    g = np.reshape(y_bar if weight is None else y_bar * np.reshape(weight, shape), view)
    lost = np.mean(g, axis=axes, keepdims=True) + unit * np.mean(g * unit, axis=axes, keepdims=True)
    return (
        np.reshape(scale * (g - lost), np.shape(x)),
        np.reshape(unbroadcast(y_bar * np.reshape(unit, np.shape(x)), np.reshape(weight, shape)), np.shape(weight)),
        np.reshape(unbroadcast(y_bar, np.reshape(bias, shape)), np.shape(bias)),
    )


@normalize.tangent
def normalize(x, weight, bias, view, axes, shape, eps, *, y, x_dot, weight_dot, bias_dot):
    wide = np.reshape(x, view)
    centred = wide - np.mean(wide, axis=axes, keepdims=True)
    scale = 1.0 / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)
    unit = centred * scale
    dot = np.reshape(x_dot, view)
    lost = np.mean(dot, axis=axes, keepdims=True) + unit * np.mean(dot * unit, axis=axes, keepdims=True)
    moved = np.reshape(scale * (dot - lost), np.shape(x))
    return (
        moved if weight is None else moved * np.reshape(weight, shape),
        np.reshape(unit, np.shape(x)) * np.reshape(weight_dot, shape),
        rebroadcast(np.reshape(bias_dot, shape), y),
    )


@rule(neural_layers.rescale)
def rescale(x, weight, bias, mean, variance, shape, eps, *, y, y_bar):
    """A line for each channel."""
    scale = np.reshape(1.0 / np.sqrt(variance + eps), shape)
    unit = np.multiply(np.subtract(x, np.reshape(mean, shape)), scale)
    return (
        np.multiply(y_bar if weight is None else y_bar * np.reshape(weight, shape), scale),
        np.reshape(unbroadcast(y_bar * unit, np.reshape(weight, shape)), np.shape(weight)),
        np.reshape(unbroadcast(y_bar, np.reshape(bias, shape)), np.shape(bias)),
    )


@rescale.tangent
def rescale(x, weight, bias, mean, variance, shape, eps, *, y, x_dot, weight_dot, bias_dot):
    scale = np.reshape(1.0 / np.sqrt(variance + eps), shape)
    unit = np.multiply(np.subtract(x, np.reshape(mean, shape)), scale)
    return (
        x_dot * scale if weight is None else x_dot * scale * np.reshape(weight, shape),
        unit * np.reshape(weight_dot, shape),
        rebroadcast(np.reshape(bias_dot, shape), y),
    )


rescale.refuse(
    "use the moments of the batch", mean="the moments of batches that were have no derivative here",
    variance="the moments of batches that were have no derivative here",
)  # fmt: skip
