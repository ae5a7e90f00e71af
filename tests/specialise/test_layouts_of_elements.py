"""``np.vectorize`` goes over an array as it lies in memory, and so does its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest import MonkeyPatch

from srcgrad import grad, options
from srcgrad.runtime.refusals import RefusedMode
from tests.specialise.serving import check_right

X = np.array([[0.7, 0.4, 1.3], [-0.2, 0.9, 0.5]])


def squared(v):
    return v * v


def of_columns(x):
    return np.sum(np.ravel(np.vectorize(squared)(x.T), order="K") * np.arange(6.0))


def in_the_order_of_calls(x):
    met = []

    def kept(v):
        met.append(v)
        return v * 2.0

    made = np.vectorize(kept, otypes=[float])(x.T)
    return np.sum(made) + sum(k * v for k, v in enumerate(met))


def of_three_axes(x):
    whole = np.stack([x, 2.0 * x]).transpose(2, 0, 1)
    return np.sum(np.ravel(np.vectorize(squared)(whole), order="K") * np.arange(12.0))


@pytest.mark.parametrize("f", [of_columns, in_the_order_of_calls, of_three_axes])
def test_one_array(f: Callable[..., Any], monkeypatch: MonkeyPatch) -> None:
    """Once wrong: the function was called, and the result laid out, row by row."""
    check_right(f, monkeypatch, X)


def of_two_by_columns(x):
    return np.sum(np.vectorize(lambda u, v: u * v)(x.T, 2.0))


def of_two_by_rows(x):
    return np.sum(np.vectorize(lambda u, v: u * v)(x, x[0]))


@pytest.mark.parametrize("specialise", [True, False])
def test_several_arrays_have_to_lie_row_by_row(specialise: bool) -> None:
    with options(specialise=specialise):
        np.testing.assert_allclose(grad(of_two_by_rows)(X), [3.0 * X[0] + X[1] - X[0], X[0]])
        with pytest.raises(RefusedMode, match="row by row"):
            grad(of_two_by_columns)(X)
