"""Second derivatives of programs that store into arrays: emitted programs store too, into values and into shadows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.parameters import share_by_day
from tests.programs_with_stores import PROGRAMS, arguments

pytestmark = pytest.mark.slow

ALL = (0, 1, 2, 3, 4)


def loss_of(name: str) -> Any:
    function = PROGRAMS[name]

    def loss(a, b, x, y, m):
        return np.sum(np.sin(function(a, b, x, y, m)))

    return loss


def directions(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(v.shape) if np.ndim(v) else float(rng.standard_normal()) for v in arguments())


def flat(parts: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])


#: Second order of every ninth program at every run.
SOME = share_by_day(PROGRAMS, 9)


def slope_of_gradient(gradient: Any, dots: tuple[Any, ...], step: float = 1e-5) -> Any:
    ahead, behind = (
        flat(gradient(*(p + s * d for p, d in zip(arguments(), dots, strict=True)))) for s in (step, -step)
    )
    return (ahead - behind) / (2.0 * step)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient(name: str) -> None:
    loss, dots = loss_of(name), directions(2)
    ahead, behind = (loss(*(p + s * d for p, d in zip(arguments(), dots, strict=True))) for s in (1e-6, -1e-6))
    slope = flat(srcgrad.grad(loss, argnums=ALL)(*arguments())) @ flat(dots)
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.costly(2)
def test_forward_over_reverse(name: str) -> None:
    gradient = srcgrad.grad(loss_of(name), argnums=ALL)
    dots = directions(3)
    value, tangent = srcgrad.jvp(gradient, arguments(), dots)
    np.testing.assert_allclose(flat(value), flat(gradient(*arguments())), rtol=1e-12)
    np.testing.assert_allclose(flat(tangent), slope_of_gradient(gradient, dots), rtol=1e-5, atol=1e-7)
    ahead = srcgrad.jvp(gradient, arguments(), directions(4))[1]
    # A Hessian is symmetric.
    left = flat(tangent) @ flat(directions(4))
    right = flat(ahead) @ flat(dots)
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.costly(2)
def test_reverse_over_reverse(name: str) -> None:
    """The pullback of a gradient is the Hessian again, and may be called twice."""
    gradient, dots = srcgrad.grad(loss_of(name), argnums=ALL), directions(3)
    _, tangent = srcgrad.jvp(gradient, arguments(), dots)
    _, pullback = srcgrad.vjp(gradient, *arguments())
    for _ in range(2):
        np.testing.assert_allclose(flat(pullback(dots)), flat(tangent), rtol=1e-8, atol=1e-9)


def scaled(x, a):
    y = np.sin(x)
    y[1:] = a * y[:-1]
    return np.sum(y * y * y)


def test_hvp_and_hessian() -> None:
    x, d = np.array([0.3, -0.5, 0.7]), np.array([1.0, 0.4, -0.6])
    dense = srcgrad.hessian(scaled)(x, 1.3)
    np.testing.assert_allclose(srcgrad.hvp(scaled)(x, 1.3, d), dense @ d, rtol=1e-12)
    np.testing.assert_allclose(dense, dense.T, rtol=1e-12, atol=1e-15)


def test_a_name_augmented_in_place_is_seen_by_its_alias_in_the_second_derivative() -> None:
    """The emitted ``z[...] += e`` looks like an accumulation into a buffer of our own."""

    def f(x):
        z = np.sin(x)
        w = z
        z += x
        return np.sum(w * w * w)

    x, d = np.array([0.3, 0.9]), np.array([1.0, -0.5])
    g = 3.0 * (np.sin(x) + x) ** 2 * (np.cos(x) + 1.0)
    h = 6.0 * (np.sin(x) + x) * (np.cos(x) + 1.0) ** 2 - 3.0 * (np.sin(x) + x) ** 2 * np.sin(x)
    value, tangent = srcgrad.jvp(srcgrad.grad(f), (x,), (d,))
    np.testing.assert_allclose(value, g, rtol=1e-12)
    np.testing.assert_allclose(tangent, h * d, rtol=1e-12)


class Listener:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on(self, v):
        self.heard.append(v)
        return v * len(self.heard)


class Source:
    def __init__(self) -> None:
        self.listeners: list[Listener] = []

    def add(self, listener):
        self.listeners.append(listener)


def heard(x):
    """Once an IndexError: the shadow of the list, which the emitted ``add`` appends to, was taken to be its own."""
    source = Source()
    source.add(Listener())
    source.add(Listener())
    total = 0.0
    for v in x:
        for listener in source.listeners:
            total += listener.on(v * v)
    return total


def test_the_shadow_of_a_list_in_an_object_is_apart_from_the_list() -> None:
    x, d = np.array([0.3, 0.9]), np.array([1.0, -0.5])
    np.testing.assert_allclose(srcgrad.grad(heard)(x), np.array([4.0, 8.0]) * x, rtol=1e-12)
    np.testing.assert_allclose(srcgrad.hvp(heard)(x, d), np.array([4.0, 8.0]) * d, rtol=1e-12)
    np.testing.assert_allclose(srcgrad.jacobian(srcgrad.grad(heard))(x), np.diag([4.0, 8.0]), rtol=1e-12)


def logged(x, a):
    """Once an IndexError: the shadow of the adjoint of the list was read when the list had been popped."""
    history, work = [], np.zeros(4)
    for _ in range(3):
        slope = np.sin(x)
        size = np.linalg.norm(slope)
        work[:] = slope
        try:
            step = np.sin(work)
        except ValueError:
            step = -slope
            history.append(None)
        x = x + step * a
        history.append((a, size))
    return np.sum(x) + sum(h[0] * h[1] for h in history if h is not None)


def test_places_of_a_list_that_is_popped_later_are_read_as_they_were() -> None:
    x, d = np.array([1.1, 0.6, 2.2, 0.4]), np.array([0.5, -1.0, 0.2, 0.7])
    slope = srcgrad.grad(logged, argnums=(0, 1))
    _, pullback = srcgrad.vjp(slope, x, 0.7, argnums=(0, 1))
    above, below = slope(x + 1e-6 * d, 0.7 + 3e-7), slope(x - 1e-6 * d, 0.7 - 3e-7)
    for got, p, q in zip(pullback((d, 0.3)), above, below, strict=True):
        np.testing.assert_allclose(got, (p - q) / 2e-6, rtol=1e-7, atol=1e-7)


class Kept:
    def __init__(self, parts) -> None:
        self.parts = parts

    def scaled(self, k):
        result = [0.0]
        for part in self.parts:
            result[0] = part * k
        return Kept(result)


def squared_in_place(x):
    """Once wrong in silence: what a method saved, the object and its list, holds each number twice, and its adjoint was
    added in both places."""
    kept = Kept([x[0]]).scaled(x[1])
    kept.parts[0] = kept.parts[0] ** 2
    return kept.parts[0]


def test_a_number_that_was_saved_twice_has_one_second_derivative() -> None:
    x, d = np.array([0.7, 2.1]), np.array([0.5, -1.0])
    hessian = np.array([[2 * x[1] ** 2, 4 * x[0] * x[1]], [4 * x[0] * x[1], 2 * x[0] ** 2]])

    def along(x):
        return np.sum(srcgrad.grad(squared_in_place)(x) * d)

    np.testing.assert_allclose(srcgrad.grad(along)(x), hessian @ d, rtol=1e-12)
    np.testing.assert_allclose(srcgrad.hvp(squared_in_place)(x, d), hessian @ d, rtol=1e-12)
