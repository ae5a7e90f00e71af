"""Keys of which nothing is known while compiling, and numbers that are stored: refused in every mode, saved or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.programs import options
from srcgrad.runtime.refusals import Refused

X = np.array([1.0, 3.0])


def one_name_for_two_values(x):
    d = {}
    s = 0.0
    for v in x:
        d[v] = v * 2.0
    for k, v in d.items():
        s += k * v
    return s


def two_names_for_two_values(x):
    d = {}
    s = 0.0
    for v in x:
        d[v] = v * 2.0
    for k, w in d.items():
        s += k * w
    return s


def keys_that_were_values(x):
    d, e = {}, {}
    s = 0.0
    for i, v in enumerate(x):
        d[i] = v * 2.0
    for w in d.values():
        e[w] = 1.0
    for k, w in e.items():
        s += k * w
    return s


def of_a_comprehension(x):
    return sum(k * w for k, w in dict.fromkeys(x, 1.0).items())


def by_setdefault(x):
    d = {}
    for v in x:
        d.setdefault(v, 1.0)
    return sum(k * w for k, w in d.items())


def filled(x):
    d = {}
    for v in x:
        d[v] = 1.0
    return d


def of_a_callee_without_a_derivative(x):
    return np.sum(np.array(list(filled(x).keys())))


def of_a_copy_of_what_a_callee_returns(x):
    d = filled(x).copy()
    s = 0.0
    for k in d.keys():
        s += k
    return s


def summed(x):
    return sum(filled(x)) + x[0]


def in_order(x):
    return sorted(dict.fromkeys(x, 1.0))[0] * 2.0


def stored_as_values(x):
    d = {}
    for k, w in filled(x).items():
        d[w] = k
    return d[1.0]


def read_from_text_and_stored(x):
    q = [0.0]
    q[0] = float(str(x[0]))
    return q[0] * 2.0


def put_text(q, v):
    q[0] = float(str(v))
    return 0


def read_from_text_and_stored_by_a_callee(x):
    q = [0.0]
    put_text(q, x[0])
    return q[0] * 2.0


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        one_name_for_two_values, two_names_for_two_values, keys_that_were_values, of_a_comprehension, by_setdefault,
        of_a_callee_without_a_derivative, of_a_copy_of_what_a_callee_returns, summed, in_order, stored_as_values,
        read_from_text_and_stored, read_from_text_and_stored_by_a_callee,
    ],
)  # fmt: skip
@pytest.mark.costly(2, first=2)
def test_a_derivative_that_would_end_is_refused(function: Callable[..., Any], specialise: bool) -> None:
    for derivative in (lambda: srcgrad.grad(function)(X), lambda: srcgrad.jvp(function, (X,), (X,))):
        with options(specialise=specialise), pytest.raises((UnsupportedSyntax, Refused)):
            derivative()


def names_as_keys(x):
    d = {}
    for i, v in enumerate(x):
        d[f"a{i}"] = v * 2.0
    return sum(v * len(name) for name, v in d.items())


def times_as_keys(x):
    d = {}
    for t in (0.5, 1.5):
        d[t] = x[0] * t
    return sum(t * v for t, v in d.items())


def keys_of_an_argument(d):
    made = {}
    for name, v in d.items():
        made[name] = v * 2.0
    return sum(v * d[name] for name, v in made.items())


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(1)
def test_other_keys_are_right(specialise: bool) -> None:
    with options(specialise=specialise):
        np.testing.assert_allclose(srcgrad.grad(names_as_keys)(X), [4.0, 4.0])
        np.testing.assert_allclose(srcgrad.grad(times_as_keys)(X), [2.5, 0.0])
        assert srcgrad.grad(keys_of_an_argument)({"a": 1.5, "b": 2.5}) == {"a": 6.0, "b": 10.0}
