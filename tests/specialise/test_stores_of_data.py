"""Methods and functions that store into arrays, where it is not said that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.specialise.test_attempts import check, check_data


# --- stores -----------------------------------------------------------------------------------------------------------
def sorted_in_place(x):
    y = np.sin(x)
    s = y[0] * y[1]
    y.sort()
    return np.sum(y * x) + s


def views_sorted(x):
    y = np.sin(x)
    y[::2].sort()
    y[::-1].sort()
    return np.sum(y * x)


def rows_and_columns_sorted(x):
    k = np.outer(np.sin(x), x)
    k.sort(axis=0)
    k[1].sort()
    k.T[0].sort()
    k.sort(0)
    return np.sum(k * np.arange(9.0).reshape(3, 3))


def filled(x):
    y = np.sin(x)
    s = np.sum(y)
    y.fill(x[1] * s)
    y[1:3].fill(x[0])
    m = np.outer(x, x)
    m[0].fill(x[2])
    return np.sum(y * y * x) + np.sum(m * m)


def cleared_under_two_names(x):
    y = x * 2.0
    w = y
    z = np.nan_to_num(y, copy=False, nan=1.0)
    z[0] = 3.0 * x[1]
    return np.sum(w * y * z)


def cleared_in_part(x):
    y = np.array([x[0], np.nan, x[1]])
    np.nan_to_num(y, copy=False, nan=2.0)
    np.nan_to_num(y[1:], copy=False)
    u = np.nan_to_num(y, copy=True)
    return np.sum(y * x) + np.sum(u)


def sorted_by_another_method(x):
    y = x * 1.0
    y.sort(kind='stable')
    v = y[1:]
    y[:2].sort()
    v[0] = v[1] * 2
    return np.sum(y * np.arange(3.0))


SERVED = [
    sorted_in_place, views_sorted, rows_and_columns_sorted, filled, cleared_under_two_names, cleared_in_part,
    sorted_by_another_method,
]


@pytest.mark.parametrize("function", SERVED)
def test_served(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2)
def test_of_data(function: Callable[..., Any]) -> None:
    """Where nothing is said of the arguments."""
    check_data(function)
