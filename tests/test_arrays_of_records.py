"""Arrays whose elements are no numbers: records, small arrays, objects.  An element of one is a view, or an object that
may change, so that a store into it is a store into the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, options
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


def an_array_that_is_stored_through(x):
    r, y = np.empty(2, dtype=object), np.ones(2)
    r[0] = y
    r[0][1] = x[0]
    return np.sum(y**2)


def an_array_that_is_stored_into(x):
    r, y = np.empty(2, dtype=object), np.ones(2)
    r[0] = y
    y[1] = x[0]
    return np.sum(r[0] ** 2)


def by_elements(x):
    r, y = np.empty(2, dtype=object), np.ones(2)
    r[0] = r[1] = y
    for each in r:
        each[1] = x[0]
    return np.sum(y**2)


def by_a_slice(x):
    r, y = np.empty(2, dtype=object), [1.0, 1.0]
    r[:] = [y, y]
    r[::-1][0][0] = x[0]
    return y[0] ** 2


def by_a_dict(x):
    r, y = np.full(1, None), {"a": 1.0}
    r[0] = y
    r.tolist()[0]["a"] = x[0]
    return y["a"] ** 2


def of_lists(x):
    y = [1.0, 2.0]
    r = np.array([y, [1.0]], dtype=object)
    r[0][0] = x[0]
    return y[0] ** 2


def of_an_iterator(x):
    y, d = [1.0, 2.0], np.dtype(object)
    r = np.fromiter([y, y], d)
    r[1][0] = x[0]
    return y[0] ** 2


def of_a_callee(x):
    def put(r, y):
        r[0] = y

    r, y = np.empty(1, "O"), np.ones(2)
    put(r, y)
    r[0][0] = x[0]
    return np.sum(y)


def of_a_dtype_that_is_given(x, d=object):
    y = [1.0, 2.0]
    r = np.array([y, [1.0]], dtype=d)
    r[0][0] = x[0]
    return y[0] ** 2


def by_copyto(x):
    r, y = np.empty(2, object), {"a": 1.0}
    np.copyto(r, y)
    r[0]["a"] = x[0]
    return y["a"] ** 2


def by_fill(x):
    held, y = [np.full(2, None)], [1.0]
    held[0].fill(y)
    held[0][0][0] = x[0]
    return y[0] ** 2


def by_flat(x):
    r, y = np.empty(1, object), [1.0]
    r.flat[0] = y
    r[0][0] = x[0]
    return y[0] ** 2


def by_put(x):
    r, y = np.empty(1, object), [1.0]
    r.put(0, [y, y])
    r[0][0] = x[0]
    return y[0] ** 2


def by_an_augmented_store(x):
    r = np.zeros(1, object)
    r[0] += np.ones(3)
    q = r[0]
    q[1] = x[0]
    return np.sum(r[0] ** 2)


def labels_and_numbers(x):
    names, kinds = np.array(["a", "b"], dtype=object), np.empty(2, dtype=object)
    kinds[0], kinds[1] = "square", 2.0
    rows = [np.ones(3), x]
    rows[0][1] = x[0]
    table = np.zeros((2, 3))
    table[0] = rows[0]
    table[1] = rows[1]
    return np.sum(table**2) * len(names[0]) * kinds[1]


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


REFERENCES = [
    a_list_in_an_array, a_list_that_is_read_first, an_array_that_is_stored_through, an_array_that_is_stored_into,
    by_elements, by_a_slice, by_a_dict, by_copyto, by_fill, by_flat, by_put, by_an_augmented_store, of_lists,
    of_an_iterator, of_a_callee, of_a_dtype_that_is_given,
]  # fmt: skip


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("f", REFERENCES)
@pytest.mark.costly(3, first=2)
def test_what_arrays_of_objects_refer_to_is_not_taken_for_a_copy(f: Callable[..., Any], specialise: bool) -> None:
    """Once zero in silence."""
    with options(specialise=specialise):
        for made in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,)), lambda: hvp(f)(X, X)):
            with pytest.raises((SrcgradError, RefusedType, ValueError)):
                made()


@pytest.mark.parametrize("specialise", [True, False])
def test_arrays_of_text_and_lists_of_arrays_are_served(specialise: bool) -> None:
    with options(specialise=specialise):
        np.testing.assert_allclose(grad(labels_and_numbers)(X), [8 * X[0], 4 * X[1], 4 * X[2]])


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
