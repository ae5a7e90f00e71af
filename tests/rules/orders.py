"""Derivatives of the orders 1 to 3 of a program of one vector, by the compiler and by differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.parameters import at_night


def slope(f: Callable[..., Any], x: Any, v: Any, h: float = 1e-3) -> Any:
    """The derivative of f at x along v: central differences, extrapolated (Richardson)."""
    d1, d2, d3 = ((f(x + k * h * v) - f(x - k * h * v)) / (2 * k * h) for k in (1, 2, 3))
    return 1.5 * d1 - 0.6 * d2 + 0.1 * d3


def to_the_third(functions: Iterable[Any], by_day: Iterable[Any] = (), third: Iterable[Any] | None = None) -> list[Any]:
    """Parameters ``(f, order)``: all to the second order, and those of ``third`` (all) to the third at night.

    ``by_day``: the representatives of a family that go to the third order at every run.
    """
    functions, by_day = list(functions), list(by_day)
    further = functions if third is None else list(third)
    made = []
    for f in functions:
        name = f if isinstance(f, str) else f.__name__
        made.append(pytest.param(f, 3 if f in by_day else 2, id=name))
        if f in further and f not in by_day:
            made.append(at_night(f, 3, id=f"{name}-third"))
    return made


def twice_at_night(names: Iterable[str], every: int) -> list[Any]:
    """Parameters ``(name, order)``: all at the first order, the second of one in so many by day and of all at night."""
    return [
        parameter
        for k, name in enumerate(names)
        for parameter in (
            [pytest.param(name, 1, id=name), at_night(name, 2, id=f"{name}-second")]
            if k % every
            else [pytest.param(name, 2, id=name)]
        )
    ]


def check_orders(f: Callable[..., Any], x: Any, order: int = 3) -> None:
    """Reverse and forward at order 1, forward over reverse at order 2, reverse alone up to order 3."""
    v = np.random.default_rng(8).standard_normal(np.shape(x))
    gradient = srcgrad.grad(f)
    first = slope(f, x, v)
    np.testing.assert_allclose(np.sum(gradient(x) * v), first, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(srcgrad.jvp(f, (x,), (v,))[1], first, rtol=1e-6, atol=1e-8)
    if order == 1:
        return
    curvature = srcgrad.hvp(f)
    np.testing.assert_allclose(curvature(x, v), slope(gradient, x, v), rtol=1e-6, atol=1e-7)

    def path(t):
        return f(x + t * v)

    if order == 3:
        second = srcgrad.grad(srcgrad.grad(path))
        np.testing.assert_allclose(second(0.1), np.sum(v * curvature(x + 0.1 * v, v)), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(srcgrad.grad(second)(0.1), slope(second, 0.1, 1.0), rtol=1e-6, atol=1e-7)
