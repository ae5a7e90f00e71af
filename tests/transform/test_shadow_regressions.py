"""Programs that store which once failed, by name: first and second order against differences, arguments unchanged."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime.refusals import RefusedMode
from tests import oracle
from tests.parameters import share_by_day
from tests.transform.storing import ARGUMENTS
from tests.transform.test_shadows import arguments, expected

WANTED = tuple(range(len(ARGUMENTS)))
DIRECTION = np.random.default_rng(3).standard_normal(oracle.ravel(ARGUMENTS).size)


def an_addition_at_a_place_from_an_array_that_changes(a, b, x, y, m):
    k = np.array([3, 1, 2, 0])
    z = x * a
    for i in range(3):
        z[k[i]] += b * y[i]
        z[k[i] :] -= z[0]
        k[0] = k[1]
    return np.sum(z * z)


def _three(p, q, r):
    p[0] = q[1] * r[0]
    q[0] += p[0] * r[1]
    r[1] = 2.0 * p[1]


def views_that_overlap_are_given_to_a_callee(a, b, x, y, m):
    z = np.sin(x) * a
    _three(z[:3], z[1:], z[::-1])
    return np.sum(z * z * y)


def a_method_that_hands_on_a_real_array(a, b, x, y, m):
    v = np.sin(x)
    c = v.conj()
    c[0] = a
    v.conjugate()[1] = b * c[0]
    np.conj(v)[2] = 7.0
    return np.sum(v * y)


def parts_of_flat_are_copies(a, b, x, y, m):
    z = m * a
    p, q = z.flat[1:3], z.flat[...]
    p[0] *= b
    z[...] = np.sin(z)
    return np.sum(z * z) + np.sum(p * p) + np.sum(q**3)


PROGRAMS = [
    parts_of_flat_are_copies,
    an_addition_at_a_place_from_an_array_that_changes,
    views_that_overlap_are_given_to_a_callee,
    a_method_that_hands_on_a_real_array,
]


def slope(program: Callable[..., Any]) -> Any:
    """The change of the gradient along ``DIRECTION``, by extrapolated central differences."""
    gradient = srcgrad.grad(program, WANTED)
    point = oracle.ravel(ARGUMENTS)

    def along(h: float) -> Any:
        ends = [oracle.ravel(gradient(*oracle.unravel(ARGUMENTS, point + s * h * DIRECTION))) for s in (1, -1)]
        return (ends[0] - ends[1]) / (2.0 * h)

    return (4.0 * along(5e-4) - along(1e-3)) / 3.0


@pytest.mark.parametrize("sink", [True, False], ids=["sunk", "early"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda function: function.__name__)
def test_first_order(program: Callable[..., Any], sink: bool) -> None:
    value, seed, gradient = expected(program)
    given = arguments()
    with srcgrad.programs.options(sink=sink):
        got, pullback = srcgrad.vjp(program, *given)
        for _ in range(2):
            np.testing.assert_allclose(oracle.ravel(pullback(seed)), gradient, rtol=1e-6, atol=1e-8)
        tangent = srcgrad.jvp(program, given, oracle.unravel(ARGUMENTS, DIRECTION))[1]
    np.testing.assert_allclose(got, value, rtol=1e-13)
    np.testing.assert_allclose(tangent * seed, gradient @ DIRECTION, rtol=1e-6)
    np.testing.assert_array_equal(oracle.ravel(given), oracle.ravel(ARGUMENTS))


@pytest.mark.parametrize("program", share_by_day(PROGRAMS, 2), ids=lambda function: function.__name__)
@pytest.mark.costly(1)
def test_second_order(program: Callable[..., Any]) -> None:
    given = arguments()
    gradient = srcgrad.grad(program, WANTED)
    direction = oracle.unravel(ARGUMENTS, DIRECTION)

    def product(a, b, x, y, m):
        parts = gradient(a, b, x, y, m)
        total = parts[0] * direction[0] + parts[1] * direction[1]
        for part, along in zip(parts[2:], direction[2:], strict=True):
            total = total + np.sum(part * along)
        return total

    wanted = slope(program)
    forward = srcgrad.hvp(program, WANTED)(*given, direction)
    np.testing.assert_allclose(oracle.ravel(forward), wanted, rtol=1e-5, atol=1e-6)
    reverse = srcgrad.grad(product, WANTED)(*given)
    np.testing.assert_allclose(oracle.ravel(reverse), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(oracle.ravel(given), oracle.ravel(ARGUMENTS))


@functools.lru_cache
def _ones(n):
    return np.ones(n)


def _stores_into_what_is_remembered(x, a):
    w = _ones(4)
    w[0] = a
    return np.sum(_ones(4) * x)


def _reads_what_is_remembered(x, a):
    w = _ones(4) * a
    w[0] = a * x[1]
    return np.sum(w * x)


def test_what_a_cache_holds_is_not_stored_into() -> None:
    x = np.arange(4.0)
    for function in (_stores_into_what_is_remembered, _reads_what_is_remembered):
        with pytest.raises(srcgrad.UnsupportedSyntax, match="is not known|an array that a cached function returns"):
            srcgrad.grad(function, (0, 1))(x, 0.5)
        with pytest.raises(srcgrad.UnsupportedSyntax, match="is not known|an array that a cached function returns"):
            srcgrad.jvp(function, (x, 0.5), (x, 1.0))


def _keeps_a_view_of_values(a, b):
    d = {"p": a, "q": b}
    values = d.values()
    d["q"] = a * b
    return sum(values)


def _lists_values_in_time(a, b):
    d = {"p": a, "q": b}
    values = list(d.values())
    for key, value in d.items():
        d[key] = value * b
    return sum(values) + sum(d.values())


def _values_of(d):
    return d.values()


def _keeps_a_view_of_a_callee(a, b):
    d = {"p": a, "q": b}
    values = _values_of(d)
    d["q"] = a * b
    return sum(values)


def _keeps_a_view_in_a_list(a, b):
    d = {"p": a, "q": b}
    kept = [d.values()]
    d["q"] = a * b
    return sum(kept[0])


def _keeps_one_of_two_views(a, b):
    d = {"p": a, "q": b}
    values = d.values() if a > b else d.values()
    d["q"] = a * b
    return sum(values)


def test_a_view_of_a_dict_shows_what_the_dict_holds_or_is_refused() -> None:
    """Once a view that lay in a list, or came from a callee, went on showing what the dict had held."""
    assert srcgrad.grad(_keeps_a_view_of_values, (0, 1))(2.0, 3.0) == (4.0, 2.0)
    for keeps in (_keeps_a_view_of_a_callee, _keeps_a_view_in_a_list, _keeps_one_of_two_views):
        with pytest.raises((srcgrad.UnsupportedSyntax, RefusedMode), match=r"\^"):
            srcgrad.grad(keeps)(2.0, 3.0)
    assert srcgrad.grad(_lists_values_in_time, (0, 1))(2.0, 3.0) == (4.0, 9.0)


def _scaled_in_place(v, k):
    v *= k
    return v


def _part_times_one(x):
    y = x[:2] * 1.0
    z = x.reshape(3, 2) / 1
    _scaled_in_place(y, x[3])
    _scaled_in_place(z, x[4])
    return y @ x[:2] + np.sum(z)


def test_a_tangent_times_one_is_new_where_a_callee_stores_into_it() -> None:
    """Once ``1.0 * x_dot[:2]`` became ``x_dot[:2]``, and the callee stored into the caller's tangent."""
    x, direction = np.linspace(0.3, 1.4, 6), np.linspace(-1.0, 2.0, 6)
    given = direction.copy()
    _, tangent = srcgrad.jvp(_part_times_one, (x,), (given,))
    assert np.allclose(tangent, srcgrad.grad(_part_times_one)(x) @ direction)
    assert np.array_equal(given, direction)


def _doubles_first(t):
    t[0] = t[0] * 2.0
    return np.ones(2) * t[0]


def _method_of_a_call(x):
    return _doubles_first(x).sum() + np.sum(x)


def _method_of_a_call_in_a_test(x):
    if _doubles_first(x).copy()[0] > _doubles_first(x).max():
        return x[0]
    return x[1] * x[0]


def _methods_one_after_the_other(x):
    return np.sum(_doubles_first(x).reshape(1, 2).copy()) * x[0]


@pytest.mark.parametrize("f", [_method_of_a_call, _method_of_a_call_in_a_test, _methods_one_after_the_other])
def test_what_a_method_is_called_on_is_made_once(f) -> None:
    """``g(x).sum()`` called g twice, which nobody saw unless g stores into x."""
    x = np.array([0.7, 0.3])
    expected = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    value, found = srcgrad.value_and_grad(f)(x.copy())
    assert value == f(x.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    np.testing.assert_allclose([srcgrad.jvp(f, (x.copy(),), (e,))[1] for e in np.eye(2)], expected, rtol=1e-7)


class _Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, t):
        return self.factor * t * t


def _calls_an_object_in_an_attempt(m, scale):
    try:
        m[[0, 1]] += scale(m[1])
    except ValueError:
        m /= 2.0
    return np.sum(m)


def test_an_object_is_called_in_an_attempt() -> None:
    with pytest.raises(srcgrad.UnsupportedSyntax, match="an assignment in place that may raise what is caught"):
        srcgrad.grad(_calls_an_object_in_an_attempt, (0, 1))(np.array([0.5, 0.7]), _Scale(2.0))


def test_an_output_that_cannot_hold_the_result_raises_as_in_numpy() -> None:
    """Imaginary parts had been left out, under a mask and by the transforms."""

    def masked(x, z):
        y = np.zeros(2)
        np.add(x, z, where=x > 0, out=y)
        return np.sum(y)

    def transformed(x, z):
        y = np.zeros(2)
        np.fft.fft(x, out=y)
        return np.sum(y * z.real)

    for f in (masked, transformed):
        for run in (f, srcgrad.grad(f)):
            with pytest.raises(TypeError, match="same_kind"):
                run(np.array([1.0, -1.0]), np.array([1j, 2.0]))
