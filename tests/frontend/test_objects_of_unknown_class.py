"""Objects whose class is lost on the way, by a container or function that is not followed or from outside: right, or
refused where they are taken for arrays.  Their derivatives were zero, or those of numbers."""

from __future__ import annotations

import argparse
import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest

from srcgrad import SrcgradError, grad, jvp, options
from srcgrad.runtime.refusals import Refused


@dataclass
class Lot:
    size: float
    kind: int = 1


class Table:
    def __init__(self, v):
        self.v = v

    def count(self, k):
        return self.v * k

    def __getitem__(self, i):
        return self.v * i


class Scale:
    def __init__(self, k):
        self.k = k

    def __radd__(self, v):
        return v * self.k


class Unit(Enum):
    OFFSET = 3.0

    def __radd__(self, v):
        return v * self.value


KEYS = {Scale(2.0): 1.0}
ROW = np.array([Scale(2.0), Scale(3.0)], dtype=object)
HELD = argparse.Namespace(shift=Scale(2.0))


def made_by_a_comprehension(x):
    return {k: Lot(x) for k in "ab"}["a"].size ** 2


def given_by_next(x):
    return next(lot for lot in [Lot(x), Lot(2 * x)] if lot.kind > 0).size * 2


def copied(x):
    return copy.deepcopy([Lot(x)])[0].size * 2


def made_of_pairs(x):
    return dict(zip("a", [Lot(x)]))["a"].size * 2


def taken_out(x):
    return {"a": Lot(x)}.pop("a").size * 2


def made_by_its_class(x):
    o = Lot(x)
    return o.__class__(x).size * 2


def asked_for_a_method_of_text(x):
    return {k: Table(x) for k in "ab"}["a"].count(3)


def indexed(x):
    return list(filter(lambda t: t.v > 0.0, [Table(x), Table(2.0 * x)]))[0][3]


def a_key(x):
    return sum(w * (x + s) for s, w in KEYS.items())


def in_an_array(x):
    return x + ROW[0]


def in_an_array_that_is_looped_over(x):
    s = 0.0
    for r in ROW:
        s = s + (x + r)
    return s


def in_an_array_that_is_added(x):
    return np.sum(x + ROW)


def held_by_a_library(x):
    return x + HELD.shift


def an_enumeration(x):
    return x + Unit.OFFSET


HELD_IN_PARTS = functools.partial(max, Scale(2.0))


def held_by_what_is_called(x):
    return x + HELD_IN_PARTS.args[0]


def plus(s, x):
    return x + s


def handed_to_a_callee(x):
    return sum(w * plus(s, x) for s, w in KEYS.items())


def first(d):
    return list(d)[0]


def given_by_a_callee(x):
    return x + first(KEYS)


def size_of(o):
    return o.size * 2


def copied_and_handed_on(x):
    return size_of(copy.deepcopy([Lot(x)])[0])


def from_the_round_before(x):
    p, s = 0.0, 0.0
    for _ in range(3):
        s = s + (x + p)
        for k in KEYS:
            p = k
    return s


class Share(float, Enum):
    HALF = 0.5

    def __radd__(self, v):
        return v * v


def members_of_an_enumeration(x):
    s = x
    for k in Share:
        s = s + k
    return s


FUNCTIONS = [
    members_of_an_enumeration,
    held_by_what_is_called, handed_to_a_callee, given_by_a_callee, copied_and_handed_on, from_the_round_before,
    made_by_a_comprehension, given_by_next, copied, made_of_pairs, taken_out, made_by_its_class,
    asked_for_a_method_of_text, indexed, a_key, in_an_array, in_an_array_that_is_looped_over,
    in_an_array_that_is_added, held_by_a_library, an_enumeration,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("way", [{}, {"specialise": False}], ids=["default", "generic"])
@pytest.mark.costly(4)
def test_it_is_right_or_refused(f: Callable[[float], Any], way: dict[str, bool]) -> None:
    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    for derivative in (lambda: grad(f)(0.7), lambda: jvp(f, (0.7,), (1.0,))[1]):
        with options(**way):
            try:
                found = derivative()
            except (SrcgradError, Refused):
                continue
        assert found == pytest.approx(slope)


class Pair(tuple):
    def mean(self):
        return self[0] * self[1]


class Weighted(float):
    def dot(self, other):
        return self * self * other


@pytest.mark.parametrize("p", [Pair((2.0, 3.0)), Weighted(2.0)])
def test_a_subclass_with_a_method_named_like_one_of_arrays_is_refused(p: Any) -> None:
    with pytest.raises(SrcgradError, match="Pair|Weighted"):
        grad(lambda p: p.mean() * 1.0 if isinstance(p, tuple) else p.dot(1.0))(p)


def ends_in_the_middle(x):
    it = iter([x, 2.0 * x, 3.0 * x, 4.0 * x])
    s = 0.0
    for _, v in zip(range(2), it):
        s = s + v
    return s + 5.0 * sum(it)


def the_second_ends_first(x):
    it, jt = iter([x, 2.0 * x, 3.0 * x]), iter([3.0 * x])
    s = 0.0
    for a, b in zip(it, jt):
        s = s + a * b
    return s + next(jt, 9.0) + 7.0 * sum(it)


@pytest.mark.parametrize("f", [ends_in_the_middle, the_second_ends_first])
def test_a_zip_of_iterators_ends_the_one_that_ended(f: Callable[[float], Any]) -> None:
    """The last one was taken for ended wherever another one had ended."""
    assert grad(f)(0.7) == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6)
