"""``np.nditer`` over one array: right against numbers, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest import MonkeyPatch

from srcgrad import grad, options
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import RefusedMode
from tests.specialise.serving import check_right

X = np.array([[0.7, 0.4, 1.3], [-0.2, 0.9, 0.5]])


def weighted(x):
    return sum(v * v * k for k, v in enumerate(np.nditer(x)))


def in_the_order_of_the_memory(x):
    total = 0.0
    for k, v in enumerate(np.nditer(x.T)):
        total += np.sin(v) * k
    for k, v in enumerate(np.nditer(x[:, ::2])):
        total += v * k
    return total


def of_three_axes(x):
    rows = np.stack([x, x * 2.0, x * x])
    total = 0.0
    for k, v in enumerate(np.nditer(rows.transpose(1, 0, 2))):
        total += v * k
    return total


def without_axes(x):
    return sum(v * v for v in np.nditer(np.array(np.sum(x))))


def views_see_what_is_stored(x):
    y = x * 1.0
    kept = [v for v in np.nditer(y)]
    y[0, 1] = x[1, 1] * 3.0
    return kept[1] * kept[2]


def stored_on_the_way(x):
    y, total = x * 1.0, 0.0
    for v in np.nditer(y):
        y[1] = y[1] * v
        total += v
    return total


def squared(x):
    y = x * 2.0
    with np.nditer(y, op_flags=["readwrite"]) as elements:
        for v in elements:
            v[...] = v * v
    return np.sum(y * x)


def by_places(x):
    made = np.zeros(x.shape)
    elements = np.nditer(x, flags=["multi_index"], op_flags=[["readwrite"]])
    while not elements.finished:
        row, column = elements.multi_index
        made[row, column] = elements[0] ** 2 * (1 + row + 2 * column) + x[elements.multi_index]
        elements.iternext()
    return np.sum(np.sin(made))


def left_early(x):
    elements, total = np.nditer(x, ["multi_index"]), 0.0
    for v in elements:
        total += v * elements.multi_index[1]
        if elements.multi_index == (1, 0):
            break
    return total


def gone_on_with(x):
    """The element at which a loop was left was given a second time."""
    elements, total = np.nditer(x, ["multi_index"]), 0.0
    for v in elements:
        total += v * v
        if elements.multi_index == (0, 1):
            break
    for v in elements:
        total += v * v * v
    for v in elements:
        total += 100.0 * v
    return total


def moved_on_in_the_loop(x):
    elements, total = np.nditer(x, ["multi_index"]), 0.0
    elements.iternext()
    for v in elements:
        total += v * v * (1 + elements.multi_index[1])
        elements.iternext()
    return total


def of_its_class(x):
    elements = np.nditer(x, ["multi_index"])
    return np.sum(x * x) * (2.0 if isinstance(elements, np.nditer) else 3.0)


def gone_on_with_after_it_was_closed(x):
    total = 0.0
    with np.nditer(x, ["multi_index"]) as elements:
        for v in elements:
            total = total + v
            break
    for v in elements:
        total = total + v * v
    try:
        return total + elements[0]
    except ValueError:
        return total * total


@pytest.mark.parametrize(
    "f", [weighted, in_the_order_of_the_memory, of_three_axes, without_axes, views_see_what_is_stored,
          stored_on_the_way, squared, by_places, left_early, gone_on_with, gone_on_with_after_it_was_closed,
          moved_on_in_the_loop,
          of_its_class],
)  # fmt: skip
def test_right(f: Callable[..., Any], monkeypatch: MonkeyPatch) -> None:
    check_right(f, monkeypatch, X)


def reversed_rows(x):
    return sum(v * k for k, v in enumerate(np.nditer(x[::-1])))


def broadcast(x):
    return sum(v * k for k, v in enumerate(np.nditer(np.broadcast_to(x[0], (2, 3)))))


@pytest.mark.parametrize("f", [reversed_rows, broadcast])
def test_arrays_that_do_not_lie_in_order_are_refused_when_it_runs(f: Callable[..., Any]) -> None:
    with pytest.raises(RefusedMode, match="reversed or broadcast"):
        grad(f)(X)


def of_two(x):
    return sum(a * b for a, b in np.nditer([x, x * 2.0]))


def buffered(x):
    return sum(np.sum(v * v) for v in np.nditer(x, flags=["external_loop"]))


def in_another_order(x):
    return sum(v * k for k, v in enumerate(np.nditer(x, order="F")))


def asked_without_places(x):
    elements, total = np.nditer(x), 0.0
    while not elements.finished:
        total += elements[0] ** 2
        elements.iternext()
    return total


def by_its_type(x):
    elements = np.nditer(x, ["multi_index"])
    return np.sum(x * x) * (2.0 if type(elements) is np.nditer else 3.0)


def of_its_fields(x):
    return np.sum(x) * len(vars(np.nditer(x, ["multi_index"])))


@pytest.mark.parametrize(
    "f", [of_two, buffered, in_another_order, asked_without_places, by_its_type, of_its_fields]
)
@pytest.mark.parametrize("specialise", [True, False])
def test_other_forms_are_refused(f: Callable[..., Any], specialise: bool) -> None:
    with options(specialise=specialise), pytest.raises(UnsupportedSyntax) as refusal:
        grad(f)(X)
    assert refusal.value.span is not None


def stores_where_it_only_reads(x):
    y = x * 2.0
    for v in np.nditer(y):
        v[...] = v * v
    return np.sum(y)


def test_a_store_that_numpy_refuses_raises() -> None:
    with pytest.raises(ValueError, match="read-only"):
        stores_where_it_only_reads(X)
    with pytest.raises(ValueError, match="read-only"):
        grad(stores_where_it_only_reads)(X)
