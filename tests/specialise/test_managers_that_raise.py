"""Managers that raise where they are made, entered or left, inside of ``try``: right by each road, or refused."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from tests.roads import EVERY_ROAD, is_refused, run


class Early(Exception):
    pass


class Late(Exception):
    pass


def fail(v, p):
    if p > 0.5:
        raise Early
    return v * 2.0


@contextmanager
def logged(p, log):
    log.append(1.0)
    if p > 1.5:
        raise Early
    yield 3.0
    log.append(len(log) * 2.0)
    if p > 0.5:
        raise Late


class Opening:
    def __enter__(self):
        raise Early

    def __exit__(self, *what):
        pass


class Closing:
    def __enter__(self):
        return 3.0

    def __exit__(self, *what):
        raise Late


class Making:
    def __init__(self):
        raise Early

    def __enter__(self):
        pass

    def __exit__(self, *what):
        pass


class Plain:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        pass


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        return True


class Endless:
    def __enter__(self):
        return self


# --- by what is inferred ---------------------------------------------------------------------------------------------
def generator_that_raises_before_or_behind(a, b, p):
    log = []
    y = a
    try:
        with logged(p, log):
            y = y * b
        y = y * a
    finally:
        log.append(5.0)
    return y * sum(log)


def generator_in_a_try_around(a, b, p):
    log = []
    y = a
    try:
        try:
            with logged(p, log):
                y = y * b
            y = y * a
        finally:
            log.append(5.0)
    except Early:
        y = y * 2.0
    except Late:
        y = y * 3.0
    return y * sum(log)


def generator_around_nothing(a, b, p):
    """It was taken for silent: nothing in its body could raise."""
    log = []
    y = a
    try:
        with logged(p, log):
            pass
    except Early:
        y = y * 2.0
    except Late:
        y = y * b
    return y * sum(log)


def generator_in_a_loop(a, b, p):
    log = []
    y = a
    for i in range(3):
        try:
            with logged(p if i == 1 else 0.0, log):
                y = y * b
            y = y * a
        except Early:
            y = y * 2.0
        except Exception:
            y = y * 3.0
    return y * b * len(log)


def class_that_raises_when_entered(a, b, p):
    y = a
    try:
        with Opening():
            y = y * b
        y = y * a
    except Early:
        y = y * 3.0
    return y * b


def class_that_raises_when_left(a, b, p):
    y = a
    try:
        with Closing() as k:
            y = y * b * k
        y = y * a
    except Late:
        y = y * 3.0
    return y * b


def class_that_raises_when_made(a, b, p):
    y = a
    try:
        with Making():
            y = y * b
        y = y * a
    except Early:
        y = y * 3.0
    return y * b


def second_of_two(a, b, p):
    y = a
    try:
        with Plain(), Opening():
            y = y * b
        y = y * a
    except Early:
        y = y * 3.0
    return y * b


def class_that_is_none(a, b, p):
    y = a
    try:
        with Endless():
            y = y * b
        y = y * a
    except (AttributeError, TypeError) as error:
        y = y * (3.0 if isinstance(error, TypeError) else 4.0)
    return y * b


def swallowing_nothing(a, b, p):
    y = a
    try:
        with Swallowing():
            y = y * b
        y = y * a
    except Early:
        y = y * 3.0
    return y * b


def options_that_vary(a, b, p):
    y = a
    mode = "raise" if p < 0.5 else "warm" if p < 1.5 else "ignore"
    try:
        with np.errstate(divide=mode):
            y = fail(y, p) * b
        y = y * a
    except ValueError:
        y = a * 3.0
    except Early:
        y = y * 5.0
    return y * b


def left_by_continue(a, b, p):
    """The last block ran before the manager was left."""
    log = []
    y = a
    for i in range(3):
        try:
            with logged(0.0, log):
                if i > p:
                    break
                if i == 1:
                    continue
                y = y * b
        finally:
            log.append(10.0 * len(log))
    return y * sum(log)


def left_by_return(a, b, p, log):
    try:
        with logged(0.0, log), logged(0.0, log):
            if p > 0.5:
                return a * b
            a = a * a
    finally:
        log.append(10.0 * len(log))
    return a * 3.0


def left_by_return_of_a_callee(a, b, p):
    log = []
    y = left_by_return(a, b, p, log)
    return y * sum(log)


SERVED = [
    generator_that_raises_before_or_behind, generator_in_a_loop, class_that_raises_when_left, swallowing_nothing,
    options_that_vary, left_by_continue,
]  # fmt: skip
NOT_YET = [
    generator_in_a_try_around, generator_around_nothing, class_that_raises_when_entered, class_that_raises_when_made,
    second_of_two, class_that_is_none, left_by_return_of_a_callee,
]  # fmt: skip


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2)
def test_what_is_inferred_is_right(function: Callable[..., float], p: float) -> None:
    run(function, "inferred", p)
    run(function, "not optimised", p)


@EVERY_ROAD
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("function", NOT_YET)
@pytest.mark.costly(6)
def test_other_managers_are_right_or_refused(function: Callable[..., float], p: float, road: str) -> None:
    is_refused(function, road, p)


# --- those that raise nothing ----------------------------------------------------------------------------------------
LOCK = threading.Lock()


def errors_of_floating_point(a, b, p):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a = fail(a, p) * b
    except Early:
        b = b * 2.0
    finally:
        a = a * b
    return a * b


def errors_of_floating_point_by_name(a, b, p):
    import numpy

    mode = "raise" if p > 1.5 else "ignore"
    try:
        with numpy.errstate(divide=mode):
            a = a * b / np.float64(0.0 if p > 1.5 else 2.0)
    except FloatingPointError:
        a = b
    return b * a


def suppressing(a, b, p):
    with suppress(Early):
        with suppress(Late):
            a = fail(a, p)
            a = a * b
        a = a * a
    return a * b


@EVERY_ROAD
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("function", [errors_of_floating_point, errors_of_floating_point_by_name, suppressing])
@pytest.mark.costly(3, first=1)
def test_silent_managers_are_followed(function: Callable[..., float], p: float, road: str) -> None:
    run(function, road, p)


def lock(a, b, p):
    try:
        with LOCK:
            if p > 1.5:
                return a * b
            a = fail(a, p) * b
    except Early:
        b = b * 2.0
    return a * b


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0])
def test_locks_are_followed(p: float) -> None:
    run(lock, "inferred", p)


# --- refused ---------------------------------------------------------------------------------------------------------
def file_that_is_absent(a, b, p):
    try:
        with open("/absent/file"):
            y = b
    except OSError:
        y = a
    return y * 2.0


def raised_on_the_way_out(a, b, p):
    try:
        with logged(1.0, []):
            return a
    except Late:
        return b


class Named:
    errstate = Swallowing


def of_a_silent_name(a, b, p):
    """What is called ``errstate`` swallowed what its body raised."""
    y = a
    try:
        with Named.errstate():
            y = fail(a, 1.0)
            y = y * b
        y = y * a
    except Early:
        y = b
    return y


def in_a_callee(a, b):
    with Endless():
        return b


def without_an_exit(a, b, p):
    """It was an AttributeError, as ever before Python 3.11."""
    try:
        return in_a_callee(a, b)
    except TypeError:
        return a * 3.0
    except Exception:
        return a * 4.0


@EVERY_ROAD
@pytest.mark.parametrize("function", [file_that_is_absent, raised_on_the_way_out, of_a_silent_name])
def test_what_is_not_followed_is_refused(function: Callable[..., float], road: str) -> None:
    assert is_refused(function, road, 0.0)


@EVERY_ROAD
def test_what_has_no_exit_is_no_manager(road: str) -> None:
    is_refused(without_an_exit, road, 0.0)
