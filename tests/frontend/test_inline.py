"""Local functions written out where they are called: the same program, without the call."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.frontend.inline import inline_local_functions
from srcgrad.ir.normal_form import Callee
from tests import oracle


def inlined(function):
    made = {}

    def normal(callee):
        if callee not in made:
            made[callee] = None
            made[callee] = inline_local_functions(normalize(callee), normal)
        return made[callee]

    return normal(Callee(function))


def swap(x, y):
    def both(u, v):
        return v * x, u * y

    a, b = both(x, y)
    a, b = both(a, b)
    return a * b


def rebinds_its_parameter(x, y):
    def step(u):
        u = u * y
        u = u + x
        return u

    return step(x) * step(y)


def reads_a_name_bound_again(x, y):
    k = x

    def scaled(u):
        return k * u

    s = scaled(y)
    k = x * y
    return s + scaled(y)


def overwrites_its_argument(x, y):
    def h(u):
        return np.sin(u) * y

    for _ in range(3):
        x = h(x)
    return x


def nested(x, y):
    def inner(u):
        return u * x

    def outer(u):
        return inner(u) + inner(y)

    return outer(x) * outer(y)


PROGRAMS = [swap, rebinds_its_parameter, reads_a_name_bound_again, overwrites_its_argument, nested]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_no_call_is_left_and_the_gradient_is_right(program):
    assert "both(" not in (text := str(inlined(program))) and "_fwd" not in srcgrad.grad(program).source, text
    measured = oracle.jacobian(program, (0.7, 0.4), (0, 1), analytic=True)
    got = oracle.ravel(srcgrad.grad(program, argnums=(0, 1))(0.7, 0.4))
    np.testing.assert_allclose(got, np.ravel(measured.value if hasattr(measured, "value") else measured[0]), rtol=1e-9)


def branching(x, y):
    def relu(u):
        if u > 0.0:
            return u
        return 0.1 * u

    return relu(x) * relu(-y)


def test_a_local_function_with_control_flow_keeps_its_pair():
    with srcgrad.options(infer=False):
        assert "relu_fwd" in srcgrad.grad(branching).source
    assert srcgrad.grad(branching)(0.5, 0.3) == pytest.approx(-0.03)
