"""Reverse mode of programs that store: against differences, with shadows made early and late, pullbacks twice."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import srcgrad
import srcgrad.programs
from tests import oracle
from tests.directed import memory
from tests.transform import storing

PROGRAMS = [
    function
    for name, function in vars(storing).items()
    if inspect.isfunction(function) and function.__module__ == storing.__name__ and not name.startswith("_")
]
PROGRAMS += memory.FOUND
SETTINGS: dict[str, dict[str, bool]] = {
    "as it is": {},
    "early": {"sink": False},
    "plain": {"optimise": False},
    "plain and early": {"optimise": False, "sink": False},
    "generic": {"specialise": False},
    "generic and plain": {"specialise": False, "optimise": False},
}


def arguments() -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in storing.ARGUMENTS)


@lru_cache(maxsize=None)
def expected(program: Any) -> tuple[Any, Any, Any]:
    """(value, seed, cotangent of all arguments as one vector) by extrapolated central differences."""
    value = program(*arguments())
    seed = oracle.seed_like(value, 1)
    point, weights = oracle.ravel(storing.ARGUMENTS), oracle.ravel(seed)

    def at(p: Any) -> float:
        return float(oracle.ravel(program(*oracle.unravel(storing.ARGUMENTS, p))) @ weights)

    def slope(j: int, h: float) -> float:
        step = np.zeros(point.size)
        step[j] = h
        return (at(point + step) - at(point - step)) / (2.0 * h)

    gradient = [(4.0 * slope(j, 5e-5) - slope(j, 1e-4)) / 3.0 for j in range(point.size)]
    return value, seed, np.array(gradient)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "setting"),
    [
        pytest.param(
            program,
            name,
            id=f"{program.__name__}-{name}",
            marks=() if name == "as it is" or name == "early" and k % 4 == 0 else pytest.mark.nightly,
        )
        for k, program in enumerate(PROGRAMS)
        for name in SETTINGS
    ],
)
@pytest.mark.costly(13, first=2)
def test_reverse(program: Any, setting: str) -> None:
    value, seed, gradient = expected(program)
    given = arguments()
    with srcgrad.programs.options(**SETTINGS[setting]):
        got, pullback = srcgrad.vjp(program, *given)
        first, second = pullback(seed), pullback(seed)
        np.testing.assert_allclose(oracle.ravel(got), oracle.ravel(value), rtol=1e-13)
        np.testing.assert_allclose(oracle.ravel(first), gradient, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(oracle.ravel(second), oracle.ravel(first))
        np.testing.assert_array_equal(oracle.ravel(given), oracle.ravel(storing.ARGUMENTS))
        if isinstance(value, float):
            wanted = tuple(range(len(given)))
            outcome, of_value = srcgrad.value_and_grad(program, wanted)(*given)
            np.testing.assert_allclose(outcome, value, rtol=1e-13)
            np.testing.assert_allclose(oracle.ravel(of_value) * seed, gradient, rtol=1e-6, atol=1e-8)


def view_store(x, a):
    y = np.sin(x)
    v = y[1:3]
    v[0] = a * v[1]
    return np.sum(y * y)


def march(x, a, n):
    y = np.zeros(n + 1)
    y[0] = x
    for i in range(n):
        y[i + 1] = np.sin(y[i]) * a
    return y[n]


def body_of(function: Any, *given: Any) -> list[str]:
    text = srcgrad.grad(function, (0, 1)).source_for(*given)
    lines = text.split('"""\n')[-1].splitlines()
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def test_the_forward_sweep_of_a_store_through_a_view_is_the_users_text() -> None:
    assert body_of(view_store, np.ones(4), 0.8) == [
        "y = np.sin(x)",
        "v = y[1:3]",
        "t = v[1]",
        "v[0] = a * t",
        "y_bar = zeros_like(y)",
        "v_bar = y_bar[1:3]",
        "y_bar += 2.0 * value_bar * y",
        "t5 = v_bar[0]",
        "v_bar[0] = 0.0",
        "a_bar = t5 * t",
        "v_bar[1] += t5 * a",
        "return y_bar * np.cos(x), a_bar",
    ]


def test_a_march_records_what_it_read_and_restores_nothing() -> None:
    body = body_of(march, 0.3, 0.8, 5)
    assert "tape.append((t, t2))" in body
    assert not any("y_0" in line for line in body)
    assert body.index("y_bar = zeros_like(y)") > body.index("tape.append((t, t2))")


def test_a_value_handed_out_is_not_what_the_sweep_restores() -> None:
    x = np.array([0.3, 0.7])
    value, pullback = srcgrad.vjp(stored_over, x, 2.0)
    kept = value.copy()
    pullback(np.ones(2))
    np.testing.assert_array_equal(value, kept)


def stored_over(x, a):
    y = np.sin(x)
    s = np.sum(y * y)
    y[0] = a * s
    return y


def test_overlapping_views_of_what_is_stored_into_are_refused() -> None:
    with pytest.raises(ValueError, match="more than once"):
        srcgrad.grad(store_under_a_broadcast)(np.ones(3))


def store_under_a_broadcast(x):
    y = np.sin(x)
    w = np.broadcast_to(y, (2, 3))
    y[0] = 2.0
    return np.sum(w * w)


def test_a_store_into_integers_has_no_derivative() -> None:
    np.testing.assert_array_equal(srcgrad.grad(counted)(np.array([1.5, 2.5])), [0.0, 2.5])


def counted(x):
    k = np.zeros(2, dtype=int)
    k[0] = x[0]
    return k[0] * 3.0 + x[1] * (k[1] + 2.5)


def test_a_list_joined_where_nothing_is_known_is_not_stored_into_unseen() -> None:
    rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    first, second = srcgrad.grad(joined)(rows)
    np.testing.assert_array_equal(first, [0.0, 4.0])
    np.testing.assert_array_equal(second, [3.0, 2.0])
    with srcgrad.programs.options(specialise=False), pytest.raises(TypeError, match="arrays or containers"):
        srcgrad.grad(joined)(rows)
    np.testing.assert_array_equal(rows[0], [1.0, 2.0])


def joined(rows):
    both = rows + rows
    both[0][0] = 3.0
    return np.sum(rows[0] * rows[1])


def test_views_and_copies_go_by_the_layout_of_the_argument() -> None:
    c_ordered = np.arange(6.0).reshape(2, 3)
    strided = np.arange(12.0).reshape(2, 6)[:, ::2]
    for x in (c_ordered, np.asfortranarray(c_ordered), strided):
        np.testing.assert_allclose(srcgrad.grad(ravelled)(x), ravelled_gradient(x), rtol=1e-6)


def ravelled(x):
    r = x.ravel()
    r[1] = 3.0 * r[2]
    return np.sum(x * x) + r[1]


def ravelled_gradient(x):
    is_view = np.shares_memory(x.ravel(), x)
    gradient = 2.0 * x
    if is_view:
        gradient[0, 1] = 0.0
        gradient[0, 2] += 3.0 * (2.0 * 3.0 * x[0, 2] + 1.0)
    else:
        gradient[0, 2] += 3.0
    return gradient


def turned(x, a):
    y = 1.0 * x
    m = np.outer(y, x)
    for k in range(1, 4):
        w = np.flip(y[:k])
        y[:k] += a * w
        w[0] = a * y[3]
        np.flip(m)[0, k] += y[k]
        np.fliplr(m)[k, 0] *= a
        v = np.transpose(m, (1, 0))
        v[:, k] += a * np.swapaxes(m, 0, 1)[k]
        np.expand_dims(y, 0)[0, 1] *= 0.5
        y = np.flip(y)
    return np.sum(y * y) + np.sum(np.diagonal(m) * x) + np.sum(m * m)


def test_views_of_any_layout_show_the_shadow_alike() -> None:
    x, a = np.array([0.3, -0.4, 0.7, 0.2]), 0.8
    x_bar, a_bar = srcgrad.grad(turned, (0, 1))(x, a)
    step = 1e-6
    for k in range(4):
        e = step * np.eye(4)[k]
        assert x_bar[k] == pytest.approx((turned(x + e, a) - turned(x - e, a)) / (2 * step), rel=1e-6)
    assert a_bar == pytest.approx((turned(x, a + step) - turned(x, a - step)) / (2 * step), rel=1e-6)
    text = srcgrad.grad(turned, (0, 1)).source_for(x, a)
    for shown in ("w_bar = y_bar[:k][::-1]", "np.fliplr(m_bar)", "np.transpose(m_bar, (1, 0))"):
        assert shown in text
