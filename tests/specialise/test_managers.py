"""``with``: right in both directions, or refused."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.specialise.test_attempts import check, fail, is_refused

LOCK = threading.Lock()


class Scale:
    def __init__(self, k):
        self.k = k

    def __enter__(self):
        self.k = self.k * 2.0
        return self

    def __exit__(self, kind, error, place):
        self.k = self.k * 3.0


def manager_of_a_class(x):
    s = Scale(x[0])
    with s as t:
        y = t.k * x[1]
    return y * s.k


def manager_of_a_class_that_is_left_in_a_loop(x):
    s = Scale(x[0])
    for v in x:
        with s as t:
            if v < 0.0:
                break
            t.k = t.k * v
    else:
        s.k = 0.0
    return s.k * x[1]


def attempt_in_a_manager_of_a_class(x):
    s = Scale(x[0])
    with s as t:
        try:
            y = t.k * fail(x[0])
        except ValueError:
            y = x[1] * t.k
    return y * s.k


def suppressed_in_a_loop(x):
    s = x[0]
    for k in range(5):
        with contextlib.suppress(IndexError, KeyError):
            s = s * x[k]
            s = s + 1.0
    return s


def floating_point_errors(x):
    try:
        with np.errstate(all="raise"):
            y = np.log(x - 0.7)
            y = y * 2.0
    except FloatingPointError:
        y = x * x
    return np.sum(y)


def lock_in_try(x):
    s = x[0]
    try:
        with LOCK:
            s = s * x[1]
    finally:
        s = s * 2.0
    return s


@pytest.mark.parametrize("function", [
    manager_of_a_class, suppressed_in_a_loop, manager_of_a_class_that_is_left_in_a_loop,
    attempt_in_a_manager_of_a_class, floating_point_errors, lock_in_try,
])  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_derivatives(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


# --- what is refused -------------------------------------------------------------------------------------------------
class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, place):
        return True


def exception_that_a_manager_swallows(x):
    s = x[0]
    with Swallowing():
        s = s * fail(x[2])
    return s * x[1]


def exception_in_a_manager_that_is_caught_around_it(x):
    s = Scale(x[0])
    try:
        with s as t:
            y = t.k * fail(x[0])
    except ValueError:
        y = x[1]
    return y * s.k


class Switching:
    def __enter__(self):
        switch_to("on")

    def __exit__(self, *error):
        switch_to("off")


def switch_to(mode):
    note_variables(mode)


def note_variables(mode):
    return dict(sys._getframe().f_locals)


def manager_that_comes_to_what_is_not_known(x):
    with Switching():
        y = x[0] * x[1]
    return y


@pytest.mark.parametrize("function", [
    manager_that_comes_to_what_is_not_known, exception_that_a_manager_swallows,
    exception_in_a_manager_that_is_caught_around_it,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
