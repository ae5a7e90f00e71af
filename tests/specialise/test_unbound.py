"""Variables that functions capture, which may be called before they have values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.specialise.test_attempts import check, check_data, is_refused


# --- variables that functions bind ------------------------------------------------------------------------------------
def bound_by_a_loop_before_it_is_changed(x):

    def add(v):
        nonlocal total
        total += v
    for i in range(2):
        total = x[i]
    for v in x:
        add(v * v)
    return total * total


def bound_in_the_first_round(x):

    def change():
        nonlocal a
        a = a * x[1]
    for i in range(3):
        if i == 0:
            a = x[i]
        change()
    return a * a


def not_read_on_this_way(x):

    def use(k):
        if k:
            return a * x[1]
        return x[0] * x[0]
    if x[0] > 100:
        a = x[2]
    return use(0)


def functions_in_a_list(x):
    fs = [lambda v: v * a, lambda v: v + a]
    if x[0] > 0:
        a = x[2]
    return fs[0](x[1]) * fs[1](x[0])


def a_function_of_what_is_bound_again(x):
    f = None
    for k in range(3):
        if k == 1:
            f = lambda v: v * (k + x[1])
    return f(x[0]) * k


SERVED = [
    a_function_of_what_is_bound_again,
    bound_by_a_loop_before_it_is_changed, bound_in_the_first_round, not_read_on_this_way, functions_in_a_list,
]


@pytest.mark.parametrize("function", SERVED)
def test_served(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


@pytest.mark.parametrize("function", SERVED)
def test_of_data(function: Callable[..., Any]) -> None:
    """Where nothing is said of the arguments."""
    check_data(function)


# --- what is refused -------------------------------------------------------------------------------------------------
def a_recursion_that_captures(x):

    def rec(n):
        if n == 0:
            return x[0]
        return rec(n - 1) * a
    if x[0] > 0:
        a = x[2]
    return rec(2)


def caught_where_it_has_no_value(x):

    def use():
        return a * x[1]
    if x[0] > 100:
        a = x[2]
    try:
        t = use()
    except NameError:
        t = x[0] * x[2]
    return t


@pytest.mark.parametrize("function", [
    a_recursion_that_captures, caught_where_it_has_no_value,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
