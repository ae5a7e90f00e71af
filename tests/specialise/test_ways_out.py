"""Last blocks that leave a loop, returns out of loops, and what no way leads to: right in both directions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import jvp, value_and_grad
from srcgrad.errors import UnsupportedSyntax
from tests.specialise.serving import check_right
from tests.specialise.test_specialise import text


# --- last blocks ------------------------------------------------------------------------------------------------------
def return_from_a_loop_inside(a, b, p, q):
    """The ``continue`` was of the inner loop, which ran without end."""
    s = a
    for _ in range(2):
        try:
            while p > 0.5:
                return s * b
        finally:
            if q > 0.5:
                s = s * s
                continue
        s = s + b
    return s


def return_from_two_loops_inside(a, b, p, q):
    s = a
    for _ in range(3):
        try:
            for i in range(2):
                for j in range(2):
                    s = s + a * j
                    if p > i:
                        return s * b
                    if q > i:
                        return 3.0
        finally:
            s = s * b
            if p > 1.5:
                break
    return s


def return_that_another_last_block_takes_back(a, b, p, q):
    s = a
    for _ in range(2):
        try:
            for i in range(3):
                try:
                    s = s + a
                    if p > float(i):
                        return s * b
                finally:
                    s = s * b
                    if q > 1.5:
                        break
                    if q > 0.5:
                        continue
                s = s * a
        finally:
            s = s * b
            if q > 0.5:
                continue
        s = s * s
    return s


def _ends_inside(a, b, s, p, q):
    for k in range(2):
        try:
            for j in range(2):
                if (p if j > 0 else q) > k:
                    return a * s, s
        finally:
            if p > k:
                s = s * b
                continue
        s = s + b
    return b, s * s


def return_of_a_callee(a, b, p, q):
    s = 1.0
    for _ in range(2):
        e, s = _ends_inside(a, b, s, p, q)
        s = s + e
    return s


def chain_behind_which_a_loop_goes_on(a, b, p, q):
    """What asks for its truth is an expression, of which an exit can be no part."""
    s = a
    k = 0
    for _ in range(3):
        k = k + 1
        try:
            try:
                s = s * b if k < 3 else s / (p - q)
            except ZeroDivisionError:
                s = s + a
            finally:
                if p < s * b < 9.0:
                    continue
        except ValueError:
            s = s * 5.0
        s = s + b * k
    return s


@pytest.mark.parametrize("function", [
    return_from_a_loop_inside, return_from_two_loops_inside, return_that_another_last_block_takes_back,
    return_of_a_callee, chain_behind_which_a_loop_goes_on,
])  # fmt: skip
@pytest.mark.costly(2)
def test_last_blocks_that_leave_a_loop(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for p, q in itertools.product((0.0, 1.0, 2.0), repeat=2):
        check_right(function, monkeypatch, 0.7, 1.1, p, q)


def return_in_a_last_block(a, b):
    for _ in range(2):
        try:
            a = a * b
        finally:
            if a > b:
                return a
    return b


def test_a_return_in_a_last_block(monkeypatch: pytest.MonkeyPatch) -> None:
    check_right(return_in_a_last_block, monkeypatch, 0.7, 1.1)


def nothing_but_a_return(a, b, p):
    try:
        s = b / p
    finally:
        return a * 2.0 + b


def nothing_but_a_return_of_a_variable(a, b, p):
    s = a
    try:
        s = s * b
        s = s / p
    except ZeroDivisionError:
        s = s * 3.0
        s = s / p
    finally:
        return s


def nothing_but_a_break(a, b, p):
    s = a
    for i in range(3):
        try:
            s = s * b
            s = s / (p - i)
        except ZeroDivisionError:
            s = s * 3.0
            s = s / (p - i)
        finally:
            break
    return s * b


def nothing_but_a_continue(a, b, p):
    s = a
    for i in range(3):
        try:
            s = s + b / (p - i)
        finally:
            continue
    return s * b


def nothing_but_a_raise(a, b, p):
    s = a
    try:
        try:
            s = s * b / p
        finally:
            raise ValueError
    except ValueError:
        s = s * 2.0
    return s


STEPS = (1e-6, 0.0), (0.0, 1e-6)


@pytest.mark.parametrize("function", [
    nothing_but_a_return, nothing_but_a_return_of_a_variable, nothing_but_a_break, nothing_but_a_continue,
    nothing_but_a_raise,
])  # fmt: skip
@pytest.mark.costly(2)
def test_last_blocks_of_nothing_but_an_exit(function: Callable[..., Any]) -> None:
    """They were passed over: the function returned None, or what the body returned, and the exception left it."""
    for p in (0.0, 1.0, 2.0):
        slopes = [(function(0.7 + u, 1.1 + v, p) - function(0.7 - u, 1.1 - v, p)) / 2e-6 for u, v in STEPS]
        value, gradient = value_and_grad(function, (0, 1))(0.7, 1.1, p)
        assert value == function(0.7, 1.1, p)
        np.testing.assert_allclose(gradient, slopes, atol=1e-8)
        assert jvp(function, (0.7, 1.1, p), (1.0, 1.0, None))[1] == pytest.approx(sum(slopes))


def return_in_a_last_block_of_a_loop_inside(a, b):
    for _ in range(2):
        try:
            for _ in range(2):
                try:
                    a = a * b
                finally:
                    return a
        finally:
            continue
    return a


def raise_in_a_last_block_of_a_handler(a, b):
    try:
        try:
            a / 0.0
        except ZeroDivisionError:
            try:
                [][1]
            finally:
                raise
    except IndexError:
        return a * b
    except ZeroDivisionError:
        return b


@pytest.mark.parametrize("function", [return_in_a_last_block_of_a_loop_inside, raise_in_a_last_block_of_a_handler])
def test_exits_of_last_blocks_that_are_not_followed_are_refused(function: Callable[..., Any]) -> None:
    """The ``continue`` was of the inner loop; what was handled was raised, and not what the body had raised."""
    with pytest.raises(UnsupportedSyntax):
        value_and_grad(function, (0, 1))(0.7, 1.1)


# --- what is not reached ----------------------------------------------------------------------------------------------
def loop_that_returns_in_its_first_round(a, b):
    s = a * b
    i = 0
    while i < 2:
        s = s * s
        return s
    return s * a


def test_what_no_way_leads_to_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It read what the loop would have given."""
    check_right(loop_that_returns_in_its_first_round, monkeypatch, 0.7, 1.1)
    assert "* a" not in text(loop_that_returns_in_its_first_round, 0.7, 1.1)


# --- methods ----------------------------------------------------------------------------------------------------------
class Log:
    def __init__(self):
        self.kept = [1.0]

    def put(self, v):
        self.last = v


def method_of_what_is_attempted(a, b):
    """It is called behind the attempt that computes what it is a method of."""
    try:
        log = Log()
        log.put(a * b)
        log.kept.append(log.last * a)
    except ValueError:
        pass
    return sum(log.kept) * b


def test_methods_of_what_is_attempted(monkeypatch: pytest.MonkeyPatch) -> None:
    check_right(method_of_what_is_attempted, monkeypatch, 0.7, 1.1)
