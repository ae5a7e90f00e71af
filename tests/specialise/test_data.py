"""Programs that are made without arguments, from what is inferred of data: right for whatever data they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import options, value_and_grad
from srcgrad.runtime.refusals import RefusedType

X, EMPTY = np.array([0.7, 1.1]), np.zeros(0)


def asked_for_its_imaginary_part(z):
    if not z.imag:
        return z.real**2
    return z.real * 3.0


def asked_for_its_size(x):
    if not x.size:
        return 0.0
    return np.sum(x * x)


def left_by_size(x):
    if x.size:
        return np.sum(x * x)
    s = np.sum(x)
    return s + 7.0


def merged(d):
    e = {"b": d["a"] * 2.0}
    m = d | e
    return m["a"] * m["b"]


def copied_dict(d):
    q = dict(d)
    return q["a"] * d["b"]


def added_lists(x):
    q = x + [x[0] * x[1]]
    return sum(q)


def early(x, n=2):
    if n == 0:
        return x
    return early(x * x, n - 1)


def of_many(x, *more, **named):
    return x * sum(more) + sum(named.values())


def alternatives(x):
    match (x, 2.0):
        case (y, 1.0) | (_, y):
            return y * x
    return x


def methods_of_arrays(x):
    y = x.reshape(2, -1).T
    z = y.copy()
    z[0, 1] = x.sum()
    z[:, 0] *= x[0]
    return z.ravel().dot(x) + y.real[1, 0]


def stored_into_slices(x, n=2):
    y = np.zeros(x.size)
    y[1:] = x[:-1]
    y[n - 1] += x[0]
    np.multiply(y, x, out=y)
    y -= x
    y.fill(x[1])
    z = np.sin(x)
    z[[0, 1]] = y[[1, 0]]
    return np.sum(z * y)


def appended_to(xs):
    ys = xs.copy()
    ys.append(xs[0] * xs[1])
    ys.reverse()
    return ys[0] * ys[1] + ys[-1]


def entries(d):
    s = 1.0
    for key, value in d.items():
        s = s * value + (0.5 if key == "a" else 2.0) * d.get("c", value)
    return s


def masked(x):
    big = x > 1.0
    return np.sum(big * x) + np.sum(x[big] ** 2)


def kept_iterators(x):
    rest = iter(x)
    pairs = zip(x, x)
    a, b = next(pairs)
    s = a + b * next(rest)
    for u, v in pairs:
        s = s + u * v * v
    return s * sum(rest)


CASES = {
    "a real number": (asked_for_its_imaginary_part, 2.0),
    "an array": (asked_for_its_size, X),
    "an empty array": (asked_for_its_size, EMPTY),
    "an empty array later": (left_by_size, EMPTY),
    "a copy of a dict": (copied_dict, {"a": 0.7, "b": 1.1}),
    "lists": (added_lists, [0.7, 1.1]),
    "a recursion": (early, 0.7),
    "variadic": (of_many, 0.7),
    "alternatives": (alternatives, 0.7),
    "methods of arrays": (methods_of_arrays, np.arange(1.0, 5.0)),
    "slices": (stored_into_slices, X),
    "a list": (appended_to, [0.7, 1.1]),
    "entries": (entries, {"a": 0.7, "b": 1.1}),
    "a mask": (masked, X),
    "kept iterators": (kept_iterators, X),
    "kept iterators of a list": (kept_iterators, [0.7, 1.1, 0.4]),
}


@pytest.mark.parametrize(("function", "x"), CASES.values(), ids=CASES)
@pytest.mark.costly(2)
def test_it_agrees_with_the_program_for_these_arguments(function: Callable[..., Any], x: Any) -> None:
    expected = value_and_grad(function)(x)
    with options(specialise=False):
        found = value_and_grad(function)(x)
    assert found[0] == expected[0]
    np.testing.assert_equal(found[1], expected[1])


def inner_with_a_default(x, k=3.0):
    def inner(y, k):
        return y if k < 1.0 else inner(y * y, k - 1.0)

    return inner(x, k)


def test_defaults_are_those_of_the_function_itself() -> None:
    text = value_and_grad(inner_with_a_default).source
    assert "def value_and_grad_inner_with_a_default(x, k=3.0" in text
    assert text.count("=3.0") == 1


def test_the_keys_of_a_dict_have_no_places() -> None:
    with options(specialise=False), pytest.raises(RefusedType, match="gives its keys here"):
        value_and_grad(kept_iterators)({0.5: 1.0, 0.7: 2.0})
