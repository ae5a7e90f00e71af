"""Zeros to which a whole adjoint is added at once are that adjoint, and all others stay."""

from __future__ import annotations

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad.optimize import optimize
from srcgrad.syntax.marks import whole
from tests.optimize.running import body, program

HEAD = """
def f(s, u, x, y):
    y_bar = zeros_like(y)
"""
FILLED = {
    "by a product": ("y_bar += s * x\nreturn y_bar", "y_bar = s * x\nreturn y_bar"),
    "by what somebody else may hold": ("y_bar += x\nreturn y_bar", "y_bar = own(x)\nreturn y_bar"),
    "behind other things": (
        "noise(u)\ny_bar += s * x\ny_bar += u\nreturn y_bar", "noise(u)\ny_bar = s * x\ny_bar += u\nreturn y_bar"
    ),
}  # fmt: skip
NOT_FILLED = {
    "seen through a view": "v = y_bar[1:]\ny_bar += s * x\nv[0] = u\nreturn y_bar",
    "read before": "noise(y_bar)\ny_bar += s * x\nreturn y_bar",
    "filled from itself": "y_bar += y_bar[0] * x\nreturn y_bar",
    "filled on one path": "if s > 0.0:\n    y_bar += x\nreturn y_bar",
    "filled in a loop": "for i in range(2):\n    y_bar += x\nreturn y_bar",
    "taken from": "y_bar -= s * x\nreturn y_bar",
}


def optimised(text: str, *, is_whole: bool = True) -> str:
    made = program(HEAD + "".join(f"    {line}\n" for line in text.splitlines()))
    for node in gast.walk(made):
        if isinstance(node, gast.AugAssign) and is_whole:
            whole(node)
    return body(optimize(made, frozenset()))


@pytest.mark.parametrize("before, after", FILLED.values(), ids=FILLED)
def test_filled(before, after):
    assert optimised(before) == after


@pytest.mark.parametrize("text", NOT_FILLED.values(), ids=NOT_FILLED)
def test_not_filled(text):
    assert "y_bar = zeros_like(y)" in optimised(text)


def test_what_may_be_smaller_is_added():
    assert "zeros_like" in optimised("y_bar += s * x\nreturn y_bar", is_whole=False)


def returned(x, y):
    z = x.copy()
    z[1:] *= y[:-1]
    return z


def summed(x, y):
    z, w = returned(x, y), returned(y, x)
    z[0] = w[1] * x[2]
    return np.sum(z * w) + np.sum(z)


X, Y = np.arange(1.0, 5.0), np.arange(2.0, 6.0)


@pytest.mark.parametrize("seed", [np.ones(4), np.ones(4, np.int64), np.ones(4)[::-1], np.ones(8)[::2]])
def test_a_seed_stays_as_it_is(seed):
    _, pullback = srcgrad.vjp(returned, X, Y)
    for _ in range(2):
        by_x, by_y = pullback(seed)
        np.testing.assert_array_equal(by_x, [1.0, 2.0, 3.0, 4.0])
        np.testing.assert_array_equal(by_y, [2.0, 3.0, 4.0, 0.0])
    np.testing.assert_array_equal(seed, 1)


def test_sizes_of_one_and_second_derivatives():
    for size in (2, 3, 4):
        srcgrad.check_grads(lambda x, y: returned(x, y)[1] * x[0], X[:size], Y[:size])
    srcgrad.check_grads(lambda x, y: np.sum(returned(x, y)), X[:1], Y[:1])
    found = srcgrad.hessian(summed)(X, Y)
    for j in range(4):
        step = 1e-5 * np.eye(4)[j]
        ahead, behind = (srcgrad.grad(summed)(X + sign * step, Y) for sign in (1, -1))
        np.testing.assert_allclose(found[j], (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-6)
