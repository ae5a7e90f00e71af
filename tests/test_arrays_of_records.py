"""Arrays whose elements are no numbers: records, small arrays, objects.  An element of one is a view, or an object that
may change, so that a store into it is a store into the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp
from srcgrad.errors import SrcgradError
from srcgrad.runtime.refusals import RefusedType

X = np.array([0.4, 0.7, 1.1])
RECORD = np.dtype([("a", float), ("b", float, 3)])


def a_field(x):
    r = np.zeros(2, dtype=[("a", float), ("b", float)])
    r["a"][0] = x[0]
    return r["a"].sum() * 2.0


def a_record(x):
    r = np.zeros(2, dtype=[("a", float), ("b", float)])
    r[0]["a"] = x[0]
    return r["a"].sum() * 2.0


def a_record_of_a_matrix(x):
    r = np.zeros((2, 2), RECORD)
    r[0, 1]["a"] = x[0]
    return np.sum(r["a"] ** 2)


def an_array_in_a_record(x):
    r = np.zeros(2, dtype=RECORD)
    r[0]["b"][1] = x[0]
    return np.sum(r["b"] ** 2)


def each_record(x):
    r = np.zeros(2, dtype=RECORD)
    for row in r:
        row["a"] = x[0]
    return np.sum(r["a"] ** 2)


def each_place(x):
    r = np.empty_like(np.zeros(2, dtype=RECORD))
    for i in range(2):
        r[i]["a"] = x[i]
    return np.sum(r["a"] ** 2)


def one_record(x):
    r = np.zeros((), dtype=RECORD)[()]
    r["a"] = x[0]
    return r["a"] ** 2


def a_list_in_an_array(x):
    r = np.empty(2, dtype=object)
    r[0] = [0.0, 1.0]
    r[0][0] = x[0]
    return r[0][0] ** 2


def a_list_that_is_read_first(x):
    r = np.arange(2).astype(object)
    r[1] = [0.0]
    held = r[1]
    held[0] = x[0]
    return r[1][0] ** 2


WITHIN = [
    a_field, a_record, a_record_of_a_matrix, an_array_in_a_record, each_record, each_place, one_record,
]  # fmt: skip


@pytest.mark.parametrize("f", WITHIN)
def test_what_varies_is_refused_in_records(f: Callable[..., Any]) -> None:
    """Once zero in silence, or an error of Python's in forward mode."""
    for made in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(RefusedType, match="has no derivative") as refusal:
            made()
        assert refusal.value.code == "E0507"


@pytest.mark.parametrize("f", [a_list_in_an_array, a_list_that_is_read_first])
def test_what_varies_is_not_lost_in_arrays_of_objects(f: Callable[..., Any]) -> None:
    """Once zero in silence."""
    for made in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises((SrcgradError, RefusedType, ValueError)):
            made()


def in_small_arrays(x):
    r = np.zeros(2, dtype="(3,)f8")
    r[0][1] = x[0]
    row = r[1]
    row[0] = x[1] * x[2]
    return np.sum(r**2)


def beside_small_arrays(x):
    return np.sum(np.ones(3, dtype=(float, 3)) * x**2)


@pytest.mark.parametrize("f", [in_small_arrays, beside_small_arrays])
def test_small_arrays_as_elements_are_further_axes(f: Callable[..., Any]) -> None:
    """Once zero in silence."""
    steps = np.eye(3) * 1e-6
    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], X @ expected, rtol=1e-6)
