"""Second derivatives of programs in parts: callees are written out, tapes told apart by place, buffers added to."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads
from srcgrad.api.dense import _units
from srcgrad.runtime import cofactor, tangents
from srcgrad.runtime.refusals import RefusedMode

P = np.array([1.0, 0.5, 0.3, 0.7])


def rates(y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def step(y, p, h):
    middle = y + h / 2 * rates(y, p)
    return y + h * rates(middle, p)


def in_place(p, n):
    """States in an array, in two calls of a callee that calls another."""
    y = np.zeros((n + 1, 2))
    y[0] = [1.0, 0.5]
    for i in range(n):
        y[i + 1] = step(y[i], p, 2.0 / n)
    return np.sum(y * y)


def solved(p, n):
    y = np.zeros((n + 1, 2))
    y[0] = p[:2]
    for i in range(n):
        y[i + 1] = step(y[i], p, 2.0 / n)
        if y[i + 1, 0] > 1e6:
            return y[: i + 2]
    return y


def with_tape(p, n):
    """A solver that returns out of its loop, and so keeps a pair of its own, between whose halves its tape goes."""
    y = solved(p, n)
    return np.sum(y * y)


def filled(p, out):
    out[0] = p[0] * p[1]
    out[1:] = out[0] * p[2:4].sum()
    return out[1:]


def through_views(p, n):
    """A callee stores through a view of a view, and hands out a part of it: all of them show one memory."""
    y = np.zeros(3 * n)
    rows = y.reshape(n, 3)
    total = 0.0
    for i in range(n):
        part = filled(p, rows[i])
        total = total + np.sum(part * part) * p[3]
        part *= p[0]
    return total + np.sum(y[1:-1] * y[2:])


def overlapping(p, n):
    """Slices that overlap, of one array that is an argument of the callee twice."""
    y = p * 1.0

    def smooth(left, right):
        left[...] = left * 0.5 + np.sin(right[::-1])
        return right[1:]

    total = 0.0
    for _ in range(n):
        tail = smooth(y[:3], y[1:].copy())
        y[2:] += tail * y[0]
        total = total + np.sum(tail * y[1:3])
    return total + np.sum(y * y)


class Model:
    def __init__(self, p):
        self.p = p

    def rates(self, y, scale=1.0):
        return rates(y, self.p) * scale


def of_object(p, n):
    model = Model(p)
    y = np.array([1.0, 0.5])
    for _ in range(n):
        y += 2.0 / n * model.rates(y)
        y *= 1.0 + 0.01 * model.rates(y, scale=0.5)
    return np.sum(y * y)


def power(x, n):
    """Recursion is not written out."""
    return x if n == 0 else x * power(np.sin(x), n - 1)


def recursive(p, n):
    return np.sum(power(p, n) * p)


def rebound(x, x2=2.0):
    for _ in range(2):
        x = x * x2
        x2 = np.sin(x)
    return x


def names(p, n):
    """The names of a callee are its own, and its parameters are bound again."""
    x, x2 = p[0], p[1]
    for _ in range(n):
        x = rebound(x2, x2=x) + rebound(x)
    return x * x2


def apart(p, n):
    """Accumulators under two names, of which one is added to."""
    first = p * p
    second = first
    first = first + np.sin(p)
    third = np.exp(second)
    first = first * third
    return np.sum(first * second)


def network(p, n):
    w, u = p.reshape(2, 2), np.outer(p[:2], p[2:])
    h = np.tanh(p[:2])
    loss = 0.0
    for _ in range(n):
        h = np.tanh(w @ h + u.T @ h)
        loss = loss + h @ h
    return loss


PROGRAMS: list[Callable[..., Any]] = [
    in_place, with_tape, through_views, overlapping, of_object, recursive, names, apart, network,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.costly(2)
def test_hessians_agree_with_numbers_and_eager_double_backward(program: Callable[..., Any]) -> None:
    hessian, gradient = srcgrad.hessian(program)(P, 3), srcgrad.grad(program)
    differences = [(gradient(P + 1e-5 * e, 3) - gradient(P - 1e-5 * e, 3)) / 2e-5 for e in np.eye(4)]
    np.testing.assert_allclose(hessian, differences, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-11, atol=1e-12)
    check_grads(program, P, 3, order=2)


def test_calls_are_written_out_and_nothing_is_searched_for_in_memory() -> None:
    """Of values and tangents that lie alike nothing is asked when the program runs."""
    text = srcgrad.hvp(in_place).source_for(P, 3)
    assert text.count("def ") == 1
    assert not any(name in text for name in ("tangent_like", "own(", "accumulate", "add_at"))
    assert "y_bar[...]" not in text
    assert srcgrad.grad(in_place).source_for(P, 3).count("def ") == 5  # what is shown keeps its parts


def test_the_adjoint_of_a_mean_is_known_to_be_floating() -> None:
    """So that the tangent of a buffer that begins with it is stored into as it is."""

    def march(x, n):
        y = np.zeros(n + 1)
        y[0] = x
        for i in range(n):
            y[i + 1] = y[i] + 0.1 * y[i] * (1.0 - y[i])
        return np.mean(y * y)

    product = srcgrad.hvp(march)
    assert not any(name in product.source_for(0.3, 5) for name in ("tangent_like", "stored(", "add_at"))
    gradient = srcgrad.grad(march)
    assert np.isclose(product(0.3, 5, 1.0), (gradient(0.3 + 1e-6, 5) - gradient(0.3 - 1e-6, 5)) / 2e-6, rtol=1e-6)


def test_shapes_are_read_off_values_of_the_branch_taken() -> None:
    def branches(x, n):
        y = x * 0.7
        if n:
            return y[0] ** 2
        total = 0.0
        for i in range(len(y)):
            total += y[i] * y[0]
        return np.sum(y * np.ones(y.size).reshape(y.shape)) * total

    x = np.array([0.5, 2.0, 0.3])
    for n in (1, 0):
        gradient, unit = srcgrad.grad(branches), 1e-6 * np.eye(3)
        numeric = [(gradient(x + e, n) - gradient(x - e, n)) / 2e-6 for e in unit]
        np.testing.assert_allclose(srcgrad.jacobian(gradient)(x, n), numeric, atol=1e-7)


def test_buffers_are_added_to_in_place() -> None:
    """Term by term, so that no memory is taken for the sum of the terms."""
    text = srcgrad.hvp(network).source_for(P, 3)
    assert "w_bar = w_bar" not in text
    assert "w_bar_dot = w_bar_dot" not in text
    added = [line.strip() for line in text.splitlines() if line.strip().startswith("w_bar_dot +=")]
    assert len(added) == 2


def test_what_is_searched_for_in_memory_grows_with_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tape that is handed over holds views of one array: they are found by their owner."""
    counted = 0

    def meet(a: Any, b: Any) -> bool:
        nonlocal counted
        counted += 1
        return bool(np.shares_memory(a, b))

    monkeypatch.setattr(tangents, "meet", meet)
    hvp, found = srcgrad.hvp(with_tape), []
    for n in (10, 40):
        counted = 0
        hvp(P, n, np.ones(4))
        found.append(counted)
    assert 0 < found[1] <= 4.5 * found[0]


def test_the_tangent_of_a_float_is_a_float() -> None:
    """Of a number of an array, too: what is computed from it runs in Python's arithmetic."""

    def growth(x):
        return math.exp(x[0]) * 2.0

    value, tangent = srcgrad.jvp(growth, (P,), (np.ones(4),))
    assert type(value) is type(tangent) is float
    (unit,), (other,) = _units(0.5), _units(np.float32(0.5))
    assert type(unit) is float
    assert type(other) is np.float32


def test_cofactors_of_two_rows_are_linear() -> None:
    a, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, -1.0], [2.0, 1.5]])
    np.testing.assert_array_equal(cofactor(a, x), [[1.5, -2.0], [1.0, 0.5]])
    assert cofactor(a.astype(np.float32), x.astype(np.float32)).dtype == np.float32


def refused_behind_a_test(x, is_printed):
    if is_printed:
        print(sys._getframe())
    return np.sum(x * x)


def test_what_is_refused_in_a_callee_is_raised_where_it_is_reached() -> None:
    def loss(x, is_printed):
        return refused_behind_a_test(x, is_printed) * x[1]

    np.testing.assert_allclose(srcgrad.hessian(loss)(P, False)[0, 1], 2.0 * P[0])
    with pytest.raises(RefusedMode, match="_getframe"):
        srcgrad.hessian(loss)(P, True)


def folded(a):
    b = a
    for _ in range(2):
        b = b * a + np.sin(b)
        b = b - a * 0.1
        b = b * 1.1
        c = b * b
        b = c / (1 + c)
        b = b + a
    return b


def twice_folded(a):
    return folded(folded(a) + a) * folded(a * 0.5) + folded(a[::-1])


def often_folded(a):
    return twice_folded(a) + twice_folded(twice_folded(a)) * twice_folded(a * a)


def written_out_too_long(x):
    return np.sum(often_folded(x) * often_folded(x * 0.3)) * np.sum(often_folded(x * 0.2))


@pytest.mark.nightly
def test_what_is_too_long_to_be_followed_flat_is_differentiated_as_it_stands() -> None:
    gradient, x, v = srcgrad.grad(written_out_too_long), P * 0.3, P[::-1]
    change = (gradient(x + 1e-6 * v) - gradient(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(written_out_too_long)(x, v), change, rtol=1e-6)
