"""Arguments that are stored into and share memory with each other, or with what the program reads from outside by any
way: a derivative stores into copies of them, so that the call is refused."""

from __future__ import annotations

import types

import numpy as np
import pytest

from srcgrad import grad, jvp, value_and_grad
from srcgrad.programs import options
from srcgrad.runtime.refusals import RefusedValue

X = np.array([0.7, -0.4, 1.3])
WEIGHTS = X.copy()
TABLE = {"w": X.copy()}
NESTED = (1, (2, WEIGHTS))
MODULE = types.ModuleType("weights")
MODULE.rows = [WEIGHTS]  # type: ignore[attr-defined]


class Holder:
    shared = WEIGHTS

    def __init__(self, w):
        self.w = w

    def first(self):
        return WEIGHTS[0]

    @property
    def second(self):
        return WEIGHTS[1]


HOLDER, OTHER = Holder(WEIGHTS), Holder(X.copy())


def read():
    return WEIGHTS[0]


READERS = [read]


def in_a_callee(x):
    x[0] = 2.0 * x[1]
    return read() + x.sum()


def in_a_field(x):
    x[0] = 2.0 * x[1]
    return HOLDER.w[0] + x.sum()


def in_a_class(x):
    x[0] = 2.0 * x[1]
    return Holder.shared[0] + x.sum()


def in_a_module(x):
    x[0] = 2.0 * x[1]
    return MODULE.rows[0][0] + x.sum()


def in_tuples(x):
    x[0] = 2.0 * x[1]
    return NESTED[1][1][0] + x.sum()


def in_a_method(x):
    x[0] = 2.0 * x[1]
    return OTHER.first() + x.sum()


def in_a_property(x):
    x[0] = 2.0 * x[1]
    return OTHER.second + x.sum()


def in_a_function_value(x):
    x[0] = 2.0 * x[1]
    return READERS[0]() + x.sum()


def of_the_table():
    return TABLE["w"]


def into_a_dict(x, table):
    table["w"] = x * 2.0
    return np.sum(of_the_table())


def into_an_object(x, holder):
    holder.w = x * 2.0
    return OTHER.w.sum()


def both(a, b):
    a *= 2.0
    b += 1.0
    return b.sum()


def both_grown(a, b):
    a.append(a[0] * b[0])
    b.append(a[1])
    return sum(v.sum() for v in b)


SAME = X.copy()
CALLS = [
    *((f, (WEIGHTS,)) for f in (
        in_a_callee, in_a_field, in_a_class, in_a_module, in_tuples, in_a_method, in_a_property, in_a_function_value,
    )),
    (into_a_dict, (X, TABLE)),
    (into_an_object, (X, OTHER)),
    (both, (SAME, SAME)),
    (both, (SAME[:2], SAME[1:])),
    (both_grown, ([SAME], [SAME])),
]  # fmt: skip


@pytest.mark.parametrize("f, arguments", CALLS, ids=[f.__name__ for f, _ in CALLS])
@pytest.mark.parametrize("specialise", [True, False])
def test_shared_memory_is_refused(f, arguments, specialise):
    with options(specialise=specialise), pytest.raises(RefusedValue, match="share"):
        value_and_grad(f, tuple(range(len(arguments))) if f in (both, both_grown) else 0)(*arguments)


@pytest.mark.parametrize("f, arguments", [call for call in CALLS if call[0] not in (into_a_dict, into_an_object)])
def test_forward(f, arguments):
    with pytest.raises(RefusedValue, match="share"):
        jvp(f, arguments, arguments)


def test_memory_of_its_own():
    for f in (in_a_callee, in_a_class, in_a_method, in_a_function_value):
        np.testing.assert_array_equal(grad(f)(X.copy()), [0.0, 3.0, 1.0])
    np.testing.assert_array_equal(grad(both, (0, 1))(X.copy(), X.copy())[1], np.ones(3))


def test_inside_of_a_function():
    def f(x):
        y = x * 2.0
        return np.sum(grad(both)(y, y) * x)

    with pytest.raises(RefusedValue, match="share memory"):
        grad(f)(X)
