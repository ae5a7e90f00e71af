"""Functions of arrays that are only summed: the cotangent of the sum is not spread over them."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

A = np.array([[0.3, 1.2, 0.7], [1.9, 0.4, 1.1]])


def of_all(x):
    return np.sum(np.exp(x)) * np.mean(np.tanh(x))


def over_an_axis(x):
    return np.sum(np.mean(np.sin(x), axis=0) * x[0] + np.sum(np.log(x), axis=0))


def keeping_the_axis(x):
    return np.sum(np.sum(np.square(x), axis=1, keepdims=True) * x)


def over_several_axes(x):
    return np.sum(np.mean(np.cos(x), axis=(0, 1)) * x)


def in_place_of_the_result(x):
    t = np.exp(x)
    s = np.sum(np.expm1(t))
    t[0] = 1.0
    return s * np.sum(t)


def a_number_times_arrays(x):
    s = x[0, 0] * x[0, 1]
    row = s * np.sin(x[0])
    return np.sum(row * x[0]) + np.sum(np.exp(x * s)) + np.sum((s * x[:, 0])[1:])


def a_copy_of_an_array(x):
    y = x.copy()
    z = np.copy(y[0])
    z[1] = y[-1, 0]
    y[0] = z * z
    return np.sum(y * x)


@pytest.mark.parametrize(
    "function",
    [
        of_all,
        over_an_axis,
        keeping_the_axis,
        over_several_axes,
        in_place_of_the_result,
        a_number_times_arrays,
        a_copy_of_an_array,
    ],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize(
    "x",
    [A, A[:1], A[:, :2].copy(), A.T, A.astype(np.float32)],
    ids=["as it is", "one row", "square", "transposed", "single"],
)
def test_gradients_are_those_of_numbers(function, x):
    found = srcgrad.grad(function)(x)
    assert found.shape == x.shape and found.dtype == x.dtype
    wide = x.astype(np.float64)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(wide)
        step[place] = 1e-6
        expected = (function(wide + step) - function(wide - step)) / 2e-6
        np.testing.assert_allclose(found[place], expected, rtol=1e-6 if x.dtype == np.float64 else 1e-4, atol=1e-6)


def test_the_cotangent_of_a_sum_is_a_number():
    derivative = srcgrad.grad(of_all)
    derivative(A)
    assert "unreduce" not in derivative.source
