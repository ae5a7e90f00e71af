"""What is written for one kind of call: branches that are not reached are left out, functions that are known called."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pytest

from srcgrad.infer.interpreter import analysed
from srcgrad.spec import check_normal_form
from srcgrad.specialise.ending import specialised
from srcgrad.specialise.instances import instance_of

X = np.array([1.0, 2.0, 3.0])


def text(function: FunctionType, *arguments: Any) -> str:
    facts = analysed(function, arguments, by_kind=True)
    assert facts is not None
    made = specialised(instance_of(function, facts.entry[0], facts))
    check_normal_form(made)
    return str(made).partition("\n")[2]


def branches(x, how=None):
    if how is None:
        return np.sum(x)
    if isinstance(x, str):
        return len(x)
    return how(x) * np.sin(x[0])


def test_branches_that_are_not_reached_are_left_out():
    assert text(branches, X).split() == "t = np.sum(x) return t".split()
    assert "len" not in text(branches, X, np.tanh)


def local_functions(x, a):
    k = a * 2.0

    def inner(v, w=3.0):
        if v > 1.0:
            return v * k
        return w * v

    return inner(x[0]) + inner(x[1], w=x[2])


def test_local_functions_are_written_out():
    assert text(local_functions, X, 3.0) == """\
    k = a * 2.0
    t = x[0]
    if t > 1.0:
        t2 = t * k
    else:
        t2 = 3.0 * t
    t3 = x[1]
    t4 = x[2]
    if t3 > 1.0:
        t5 = t3 * k
    else:
        t5 = t4 * t3
    t6 = t2 + t5
    return t6"""


def counting(x):
    n = 0

    def count():
        nonlocal n
        n = n + 1
        return n

    for v in x:
        if v > 1.5:
            count()
    return x[0] * n


def test_what_a_local_function_changes_is_a_variable():
    assert "n = n + 1" in text(counting, X)


class Point:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Point(self.a + other.a, self.b + other.b)

    @property
    def size(self):
        return self.a * self.b


def objects(x):
    p = Point(x[0], 2.0) + Point(x[1], x[2])
    p.a = p.a * 2.0
    return p.size


def test_objects():
    made = text(objects, X)
    assert "p = t.__add__(t2)" in made and "p.a = t4" in made and "t5 = p.size" in made


def swapped(a, b):
    for _ in range(3):
        a, b = b, a * b
    return a - b


def test_what_is_assigned_at_once():
    assert "(" not in text(swapped, 1.0, 2.0).replace("range(3)", "")


def of_values(x, n):
    if x[n + 1] * 2.0 > np.sin(x[0]) and n > 0:
        return x[n]
    return x[0]


def test_what_has_no_derivative_stays_nested():
    assert "if x[n + 1] * 2.0 > np.sin(x[0]) and n > 0:" in text(of_values, X, 1)


@pytest.mark.parametrize("function", [branches, local_functions, counting, objects, swapped])
def test_two_calls_of_one_kind_are_one_instance(function: FunctionType) -> None:
    arguments = (X, 3.0) if function in (local_functions,) else (X,) if function is not swapped else (1.0, 2.0)
    keys = []
    for _ in range(2):
        facts = analysed(function, arguments, by_kind=True)
        assert facts is not None
        keys.append(instance_of(function, facts.entry[0], facts))
    assert keys[0] == keys[1]
