"""``raise`` alone: what is handled where it stands is raised, or the program is refused."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np
import pytest

from tests.roads import EVERY_ROAD, is_refused, run


class Small(Exception):
    pass


class Large(Small):
    pass


class Other(Exception):
    pass


def fail(v, p):
    if p > 1.5:
        raise Large
    if p > 0.5:
        raise Small
    return v * 2.0


# --- followed --------------------------------------------------------------------------------------------------------
def in_a_match(a, b, p):
    try:
        return fail(a, p)
    except Small:
        match p:
            case 1.0:
                raise
            case _:
                return a


def in_the_else_of_a_try(a, b, p):
    try:
        return fail(a, p)
    except Small:
        try:
            a = fail(a, p - 1.0)
        except Other:
            pass
        else:
            raise
        return a


def in_the_body_of_a_try(a, b, p):
    try:
        return fail(a, p)
    except Small:
        try:
            raise
        except Large:
            return a * 3.0
        except Small:
            a = a * 2.0
            raise


def behind_another_handler(a, b, p):
    try:
        return fail(a, p)
    except Small:
        try:
            raise Other("x")
        except Other:
            pass
        match p:
            case 1.0:
                return a * 2.0
            case _:
                raise


def deep_inside(a, b, p):
    try:
        return fail(a, p)
    except Small:
        try:
            if p > 1.5:
                fail(a, 1.0)
        except Small:
            raise
        else:
            match p:
                case 1.0:
                    for i in range(2):
                        with np.errstate(all="ignore"):
                            if i:
                                raise


FOLLOWED = [in_a_match, in_the_else_of_a_try, in_the_body_of_a_try, behind_another_handler, deep_inside]


@EVERY_ROAD
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("inner", FOLLOWED)
@pytest.mark.costly(3, first=1)
def test_what_is_handled_is_raised_again(inner: Callable[..., float], p: float, road: str) -> None:
    def outer(a, b, p):
        try:
            return inner(a, b, p)
        except Large:
            return a * b
        except Small:
            return b
        except Exception:
            return a * 9.0

    run(outer, road, p)
    run(inner, road, p)


# --- refused ---------------------------------------------------------------------------------------------------------
def again():
    raise


class Asked:
    def __bool__(self):
        raise


class Entered:
    def __enter__(self):
        raise

    def __exit__(self, *what):
        pass


@contextmanager
def manager():
    raise
    yield


def in_a_last_block(a, b, p):
    try:
        return fail(a, p)
    except Small:
        try:
            a = a * 2.0
        finally:
            if p < 1.5:
                raise
        return a


def in_a_function(a, b, p):
    try:
        return fail(a, p)
    except Small:
        again()


def in_a_function_inside(a, b, p):
    def inside():
        raise

    try:
        return fail(a, p)
    except Small:
        inside()


def in_a_method_that_python_calls(a, b, p):
    try:
        return fail(a, p)
    except Small:
        return a if Asked() else b


def in_a_manager_of_a_class(a, b, p):
    try:
        return fail(a, p)
    except Small:
        with Entered():
            return a


def in_a_manager_of_a_generator(a, b, p):
    try:
        return fail(a, p)
    except Small:
        with manager():
            return a


REFUSED = [
    in_a_last_block, in_a_function, in_a_function_inside, in_a_method_that_python_calls, in_a_manager_of_a_class,
    in_a_manager_of_a_generator,
]  # fmt: skip


@EVERY_ROAD
@pytest.mark.parametrize("inner", REFUSED)
def test_what_a_caller_handles_is_refused(inner: Callable[..., float], road: str) -> None:
    """It was a RuntimeError, since no exception is handled in a derivative, and the caller took that."""

    def outer(a, b, p):
        try:
            return inner(a, b, p)
        except Small:
            return b
        except RuntimeError:
            return a * 7.0

    assert is_refused(outer, road, 1.0)


def asked_of_sys(a, b, p):
    try:
        return fail(a, p)
    except Small:
        return a if sys.exc_info()[0] is Large else b


def asked_of_its_text(a, b, p):
    try:
        return fail(a, p)
    except Small:
        return a if "Large" in traceback.format_exc() else b


@EVERY_ROAD
@pytest.mark.parametrize("function", [asked_of_sys, asked_of_its_text])
def test_questions_what_is_handled_are_refused(function: Callable[..., float], road: str) -> None:
    assert is_refused(function, road, 2.0)
