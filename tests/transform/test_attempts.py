"""What is attempted and may have stored something before it raised is refused; refusals are no exceptions to catch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from srcgrad import grad, jvp

X = np.array([0.3, 0.4, 0.5, 0.7])


def puts_until_an_index_is_out_of_range(x):
    y = x * 1.0
    try:
        np.put(y, [0, 9], [x[1] * 2.0, x[2]])
    except IndexError:
        y[1] = x[3]
    return np.sum(y * y)


def divides_in_place(x):
    y = x * 1.0
    with np.errstate(divide="raise"):
        try:
            y /= np.array([1.0, 0.0, 2.0, 4.0])
        except FloatingPointError:
            y[1] = x[0]
    return np.sum(y * y)


def divides_into_an_output(x):
    y, z = x * 1.0, np.zeros(4)
    with np.errstate(divide="raise"):
        try:
            np.divide(y, np.array([1.0, 0.0, 2.0, 4.0]), out=z)
        except FloatingPointError:
            z[1] = x[0]
    return np.sum(z * z)


def divides_a_part_in_place(x):
    y = x * 1.0
    with np.errstate(divide="raise"):
        try:
            y[1:3] /= np.array([0.0, 2.0])
        except FloatingPointError:
            y[1] = x[0]
    return np.sum(y * y)


def adds_to_a_list_in_a_tuple(x):
    pair = (x[0], [x[1]])
    try:
        pair[1] += [x[2] * x[3]]
    except TypeError:
        pass
    return sum(v * v for v in pair[1])


@pytest.mark.parametrize("derivative", [grad, lambda f: lambda x: jvp(f, (x,), (x,))], ids=["grad", "jvp"])
@pytest.mark.parametrize(
    "function",
    [
        puts_until_an_index_is_out_of_range,
        divides_in_place,
        divides_into_an_output,
        divides_a_part_in_place,
        adds_to_a_list_in_a_tuple,
    ],
)
def test_what_stores_before_it_raises_is_refused(derivative: Callable, function: Callable) -> None:
    """Once wrong in silence: what is emitted raises before it stores."""
    with pytest.raises(SyntaxError, match="stored before it raised|before it raises|raise what is caught"):
        derivative(function)(X)


def table(x, n):
    return {1: x[0], 2: x[1]} if n == 0 else table(x, n - 1)


def catches_everything(x):
    d, s = table(x, 1), x[2]
    try:
        s = sum(map(lambda k: k * 2.0, d)) * x[0]
    except Exception:
        s = x[0] * 5.0
    return s * s


def rows(x, n):
    return [x[0], x[1]] if n == 0 else rows(x, n - 1)


def catches_type_errors(x):
    items = rows(x, 1)
    try:
        items = joined(items, [x[3]])
        s = items[2] * items[0]
    except TypeError:
        s = x[0] * 5.0
    return s * s


def joined(a, b):
    a += b
    return a


@pytest.mark.parametrize("function", [catches_everything, catches_type_errors])
@pytest.mark.costly(1, first=1)
def test_what_the_program_does_not_raise_is_not_caught(function: Callable) -> None:
    """Once wrong in silence: the path of the exception was taken."""
    numeric = np.array([(function(X + h) - function(X - h)) / 2e-6 for h in 1e-6 * np.eye(len(X))])
    np.testing.assert_allclose(grad(function)(X), numeric, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(function, (X,), (X,))[1], numeric @ X, rtol=1e-6, atol=1e-9)


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return True


def is_swallowed(x):
    y = x * 1.0
    with Swallows():
        y[1] = y[0]
        missed({})
        y[2] = 9.0
    return np.sum(y * y)


def missed(d):
    d["missing"]
    return 1.0


@pytest.mark.parametrize("derivative", [grad, lambda f: lambda x: jvp(f, (x,), (x,))], ids=["grad", "jvp"])
def test_what_raises_under_a_manager_is_not_left_out(derivative: Callable) -> None:
    """Once wrong in silence: the manager had nothing to swallow, and the body ran to its end."""
    with pytest.raises(RuntimeError, match="swallowed the exception KeyError"):
        derivative(is_swallowed)(X)
