"""``match``: what a guard that fails has bound, and what a pattern took before its guard changed anything."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.roads import EVERY_ROAD, run


def name_that_a_later_case_reads(a, b, p):
    k = b
    match p:
        case 1.0 if (k := a * 2.0) > 100.0:
            s = a
        case 2.0:
            s = k * 3.0
        case _:
            s = k * a
    return s + k


def names_of_several_guards(a, b, p):
    k = b
    match p:
        case 1.0 if (k := a * 2.0) > 100.0:
            k = 5.0
            s = a
        case 1.0 if (k := k * b) > 100.0:
            s = k
        case _:
            s = k * k
            k = s * b
    return s + k


def guards_in_a_loop(a, b, p):
    k = b
    for i in range(3):
        match i:
            case 1 if (k := k * a) > 100.0:
                k = a
            case 2 if p > 0.5 and (k := k + a * b) > 100.0:
                k = b
            case _:
                k = k * 1.5
        k = k + a
    return k


def guards_of_alternatives(a, b, p):
    k = b
    match p:
        case 1.0 | 2.0 as q if (k := k * a) > 100.0:
            s = a
        case 1.0 | 3.0 as t if (k := k * a) > 100.0:
            s = a
        case 1.0:
            s = k * t * q
        case 2.0:
            s = k * q
        case 3.0:
            s = k * t
        case _:
            s = k
    return s


def match_behind_a_match(a, b, p):
    k = b
    s = a
    match p:
        case 1.0 if (k := a * 2.0) > 100.0:
            s = k
    match p:
        case 2.0 if (s := k * 2.0) > 100.0:
            s = k
    k = k * s
    return k


def subject_bound_again(a, b, p):
    x = a * b
    match x:
        case y if (x := y * 2.0) > 100.0:
            r = a
        case y if (y := y * 3.0) > 100.0:
            r = b
        case z:
            r = z * y
    return r + x * y


def list_bound_again(a, b, p):
    x = [a, b]
    match x:
        case [u, v] if (x := [v, u * 2.0]) is None:
            r = u
        case [u, v] if u > 100.0:
            r = u
        case [t, w]:
            r = t * w * w
    return r + x[0] + u * v


def put_in_front(items, v):
    items.insert(0, v)
    return True


def list_that_a_guard_changes(a, b, p):
    x = [a, b]
    match x:
        case [u, v] if put_in_front(x, 3.0):
            return u * u * v * x[0]
    return a


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def object_bound_again(a, b, p):
    o = Point(a, b)
    k = a
    match o:
        case Point(x=u, y=v) if (k := u * v) > 100.0:
            r = u
        case Point(x=v, y=w) if (o := Point(b, a * a)) is None:
            r = u
        case Point(x=t):
            r = t * t
    return r + k * o.y + v * w


@EVERY_ROAD
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize(
    "function",
    [
        name_that_a_later_case_reads, names_of_several_guards, guards_in_a_loop, guards_of_alternatives,
        match_behind_a_match, subject_bound_again, list_bound_again, list_that_a_guard_changes, object_bound_again,
    ],
)  # fmt: skip
@pytest.mark.costly(11)
def test_guards(function: Callable[..., float], p: float, road: str) -> None:
    run(function, road, p)
