"""A callee puts back what it stored where something reads again what was there before, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])


def smooth(p, a):
    for _ in range(3):
        p[1:-1] = (p[:-2] + p[2:]) * a + p[1:-1]


def bend(p):
    p[1:] = p[1:] * p[:-1]


def energy(p):
    return np.sum(p * p * p)


def state_alone(x):
    p = np.zeros_like(x)
    for _ in range(2):
        p += x
        smooth(p, 0.3)
    return np.sum(p * p)


def read_before(x):
    p = np.sin(x)
    s = np.sum(p * p)
    smooth(p, 0.3)
    return s + np.sum(p * p)


def read_through_a_view(x):
    p = np.sin(x)
    v = p[::-1]
    s = v[:2] @ v[1:3]
    smooth(p, 0.3)
    return s + p @ p


def read_by_a_callee(x):
    p = np.sin(x)
    s = energy(p)
    smooth(p, 0.3)
    return s + energy(p[1:])


def read_by_the_callee_itself(x):
    p = np.sin(x)
    for _ in range(3):
        bend(p)
    return p @ p


def one_of_two(x):
    p, q = np.sin(x), np.cos(x)
    s = q @ q
    smooth(p, 0.3)
    smooth(q, 0.2)
    return s + p @ q


def both_to_one(p, q):
    p[1:] = p[1:] + q[:-1]
    q[0] = 2.0 * p[1]


def two_arrays(x):
    p, q = np.sin(x), np.cos(x)
    s = q @ q
    both_to_one(p, q)
    return s + p @ q


def handed_on(p):
    p[0] = p[1] * 2.0
    return p[1:]


def through_a_result(x):
    p = np.sin(x)
    v = handed_on(p)
    s = v @ v
    v[1] = s
    smooth(p, 0.3)
    return np.sum(p)


def down(p, n):
    if n > 0:
        p[n] = p[n - 1] * p[n]
        down(p, n - 1)


def a_recursion(x):
    p = np.sin(x)
    s = p @ p
    down(p, 3)
    return s + p @ p


def with_exits(p):
    for i in range(len(p) - 1):
        if p[i] > 0.9:
            return i
        p[i] = p[i + 1] * 0.5
    return -1


def an_exit(x):
    p = np.sin(x) * x
    s = p @ p
    k = with_exits(p)
    return s + k * 0.0 + np.sum(p)


def no_passes(x):
    p = np.sin(x)
    s = p @ p
    for _ in range(len(x) - 4):
        smooth(p, 0.3)
    return s + p @ p


def raises_at(p, k):
    p[0] = p[1] * 0.5
    if k > 2:
        raise ValueError(k)


def in_an_attempt(x):
    p = np.sin(x)
    s = 0.0
    for k in range(3):
        try:
            s = s + energy(p)
            smooth(p, 0.3)
            s = s + 1.0 / len(p)
        except ValueError:
            s = s + p @ p
    return s + p @ p


class Field:
    def __init__(self, p):
        self.p = p

    def step(self):
        smooth(self.p, 0.3)


def held_by_an_object(x):
    p = np.sin(x)
    f = Field(p)
    s = p @ p
    f.step()
    return s + f.p @ f.p


def in_a_list(x):
    ps = [np.sin(x), np.cos(x)]
    s = ps[1] @ ps[1]
    smooth(ps[1], 0.3)
    smooth(ps[0], 0.3)
    return s + ps[0] @ ps[1]


PROGRAMS = [
    state_alone, read_before, read_through_a_view, read_by_a_callee, read_by_the_callee_itself, one_of_two, two_arrays,
    through_a_result, a_recursion, an_exit, no_passes, in_an_attempt, held_by_an_object, in_a_list,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_read_again_is_as_it_was(program) -> None:
    expected = numeric_gradient(program, X)
    np.testing.assert_allclose(srcgrad.grad(program)(X), expected, rtol=1e-5, atol=1e-8)
    value, pull = srcgrad.vjp(program, X)
    assert value == program(X)
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("program", [state_alone, read_by_a_callee, read_by_the_callee_itself, two_arrays, a_recursion])
def test_second_derivatives(program) -> None:
    direction = np.array([0.3, -0.2, 0.5, 0.7])
    forward = [srcgrad.grad(program)(X + h * direction) for h in (1e-5, -1e-5)]
    expected = (forward[0] - forward[1]) / 2e-5
    np.testing.assert_allclose(srcgrad.hvp(program)(X, direction), expected, rtol=1e-5, atol=1e-8)
    slope = srcgrad.grad(lambda x: srcgrad.grad(program)(x) @ direction)
    np.testing.assert_allclose(slope(X), expected, rtol=1e-5, atol=1e-8)


def test_a_state_that_nobody_reads_again_is_not_put_back() -> None:
    gradient = srcgrad.grad(state_alone)
    gradient(X)
    assert "p_0" not in gradient.source
    gradient = srcgrad.grad(one_of_two)
    gradient(X)
    assert "def smooth_fwd(" in gradient.source and "def smooth_fwd2(" in gradient.source  # one of them puts back
    assert gradient.source.count("p_0 = p[") == 1


def to_its_sine(p):
    p[...] = np.sin(p)


def a_number_in_an_array(x):
    y = np.array(x * x)
    z = y * y
    to_its_sine(y)
    y += z
    return y


def test_a_value_that_a_callee_stored_into_is_no_other_afterwards() -> None:
    value, found = srcgrad.value_and_grad(a_number_in_an_array)(0.7)
    assert value == pytest.approx(np.sin(0.49) + 0.49**2)
    assert found == pytest.approx(2 * 0.7 * np.cos(0.49) + 4 * 0.7**3)
