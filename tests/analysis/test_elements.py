"""Items of short lists and tuples under names of their own: which are, and that derivatives are those of the lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.parameters import share_by_day


def path(w):
    x, v = [0.0, 8.0], [0.75, 0.0]
    for _ in range(20):
        a = [-(x[0] - w), -x[1]]
        v = [v[0] + 0.1 * a[0], v[1] + 0.1 * a[1]]
        x = [x[0] + 0.1 * v[0], x[1] + 0.1 * v[1]]
    return x[0] * x[0] + x[1] * v[0]


def exchanged(w):
    a, b = [w, 2.0], [w * w, 3.0]
    for _ in range(3):
        a, b = b, a
        a = [a[1], a[0] + b[0]]
    return a[0] * b[1] + a[-1]


def stored_into(w):
    v = [w, 1.0, 2.0]
    for _ in range(4):
        v[0] = v[0] + v[1] * w
        v[1] += v[0] * 0.1
        v[2], v[0] = v[0], v[2]
    return v[0] * v[1] * v[2]


def of_two_branches(w):
    if w > 0.0:
        v = [w, 2.0 * w]
    else:
        v = [w * w, 1.0]
    while v[0] < 5.0:
        v = [v[0] * 2.0, v[1] + v[0]]
        if v[1] > 100.0:
            break
    return v[0] * v[1]


def unpacked(w):
    v = (w, w * 2.0, 3.0)
    a, b, c = v
    v = (b, a, c * a)
    return v[0] * v[1] + v[2]


def first_two(t):
    return t[0] * t[1]


def tuple_handed_on(w):
    t = (w, w * w)
    return first_two(t) + t[0]


def made(w):
    v = [w * 2.0, w * w]
    v[1] = v[1] + 1.0
    return v


def list_returned(w):
    r = made(w)
    return r[0] * r[1]


def names_that_are_taken(x_0):
    x = [x_0, x_0 * 2.0]
    x_1 = 5.0
    x = [x[1], x[0] * x_1]
    return x[0] * x[1] * x_0


def left_early(w):
    v = [w, 1.0]
    for i in range(10):
        if v[0] > 3.0:
            return v[0] * v[1]
        v = [v[0] * 1.5, v[1] + w]
        if i == 7:
            continue
        v[1] = v[1] * 0.9
    return v[1]


def in_a_checkpointed_loop(w):
    v = [w, 1.0]
    for _ in srcgrad.checkpointed(range(20), snapshots=3):
        v = [v[0] * 1.01 + 0.1 * v[1], v[1] * w]
    return v[0] * v[1]


def under_two_names(w):
    v = [w, 1.0]
    u = v
    u[0] = u[0] * 2.0
    return v[0] * v[1]


def tripled(v):
    v[0] = v[0] * 3.0


def changed_by_a_callee(w):
    v = [w, w * w]
    tripled(v)
    return v[0] * v[1]


def of_two_lengths(w):
    v = [w, 1.0, 2.0] if w > 100.0 else [w, w]
    return v[0] * v[1]


def walked(w):
    v = [w, w * w, 2.0]
    s = 0.0
    for i, e in enumerate(v):
        s = s + e * e + v[i] * i
    return s * v[0]


def of_lists(w):
    m = [[w, 1.0], [2.0, w * w]]
    return m[0][0] * m[1][1] - m[0][1] * m[1][0]


def of_arrays(w):
    v = [np.array([w, 1.0]), np.array([2.0, w])]
    v[0][1] = w * 3.0
    return np.sum(v[0] * v[1])


def captured(w):
    v = [w, w * w]

    def f(y):
        return y * v[0]

    v = [v[1], v[0]]
    return f(2.0) * v[1]


def grown(w):
    v = [w, 2.0]
    v.append(w * w)
    del v[1]
    return v[0] * v[1]


APART = [path, exchanged, stored_into, of_two_branches, unpacked, names_that_are_taken, left_early]
BESIDE = [tuple_handed_on, list_returned, in_a_checkpointed_loop]  # and yet a container is made or returned
WHOLE = [
    under_two_names, changed_by_a_callee, of_two_lengths, walked, of_lists, of_arrays, captured, grown,
]  # fmt: skip


@pytest.mark.parametrize("f", [*APART, *BESIDE, *WHOLE])
def test_gradients(f: Callable[..., Any]) -> None:
    for w in (0.7, 1.3):
        wanted = pytest.approx((f(w + 1e-6) - f(w - 1e-6)) / 2e-6, rel=1e-6)
        assert srcgrad.grad(f)(w) == wanted
        with srcgrad.options(specialise=False):  # where no item is known to be a number
            assert srcgrad.grad(f)(w) == wanted


@pytest.mark.parametrize("f", share_by_day([*APART, *BESIDE, *WHOLE], 3))
def test_second_derivatives_and_batches(f: Callable[..., Any]) -> None:
    gradient, points = srcgrad.grad(f), np.array([0.7, 0.71])
    numeric = (gradient(0.7 + 1e-6) - gradient(0.7 - 1e-6)) / 2e-6
    assert srcgrad.hessian(f)(0.7) == pytest.approx(numeric, rel=1e-5)
    np.testing.assert_allclose(srcgrad.vmap(gradient)(points), [gradient(w) for w in points], rtol=1e-12)


@pytest.mark.parametrize("f", APART)
def test_items_are_variables(f: Callable[..., Any]) -> None:
    text = srcgrad.grad(f).source_for(0.7)
    assert not any(found in text for found in ("add_at", "zeros_like", "shadow"))


def test_how_it_reads() -> None:
    text = srcgrad.grad(path).source_for(0.7)
    assert "        v_0 = v_0 + 0.1 * a_0\n" in text
    assert "# test_elements.py:" in text and "v = [v[0] + 0.1 * a[0], v[1] + 0.1 * a[1]]" in text
