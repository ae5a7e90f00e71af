"""Objects of NumPy that are indexed: grids are constants of their bounds; what keeps its index is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import index_exp, s_

import srcgrad

X = np.array([0.5, 1.1, 2.0])
KEEPING = np.s_


def columns(x):
    rows, _ = np.mgrid[0:3, 0:2]
    return np.sum(rows[:, 0] * x)


def counted(x):
    n = 2
    return np.sum(np.mgrid[0:n] * x[:2])


def steps(x):
    return np.sum(np.ogrid[0:1:3j] * x)


def as_long_as_the_argument(x):
    u, v = np.ogrid[0:3, 0 : len(x)]
    return np.sum((u + v) * x)


def stored_into(x):
    grid = np.mgrid[0:3, 0:2] * 1.0
    grid[0] *= x[0]
    return np.sum(grid)


def bounded_by_the_argument(x):
    return np.sum(np.mgrid[0 : x[0] : 3j] * x)


def slices_of_literals(x):
    return np.sum(x[np.s_[1:, None]] ** 2)


def kept_by_name(x):
    c = np.array(0)
    k = s_[c : c + 1]
    s = np.sum(x[k] ** 2)
    c += 1
    return s


def kept_by_a_global(x):
    c = np.array(0)
    k = KEEPING[c : c + 1]
    s = np.sum(x[k] ** 2)
    c += 1
    return s


def kept_in_a_tuple(x):
    c = np.array([0, 1])
    k = index_exp[c]
    s = np.sum(x[k] ** 2)
    c += 1
    return s


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function", [columns, counted, steps, as_long_as_the_argument, stored_into, slices_of_literals]
)
def test_it_is_right(function: Callable[..., Any], specialise: bool) -> None:
    moved = 1e-6 * np.eye(3)
    expected = [(function(X + step) - function(X - step)) / 2e-6 for step in moved]
    with srcgrad.options(specialise=specialise):
        np.testing.assert_allclose(srcgrad.grad(function)(X), expected, atol=1e-8)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [bounded_by_the_argument, kept_by_name, kept_by_a_global, kept_in_a_tuple])
def test_it_is_refused(function: Callable[..., Any], specialise: bool) -> None:
    """The derivative of what was kept was that of the index as it was later: zero."""
    with srcgrad.options(specialise=specialise), pytest.raises(srcgrad.SrcgradError):
        srcgrad.grad(function)(X)
