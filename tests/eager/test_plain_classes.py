"""Plain programs run eagerly: classes made inside or registered by their bases, and functions that SciPy calls back."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

from srcgrad.eager import plain

X = np.array([2.0, 3.0])


class Scaled:
    kinds: list[type] = []

    def __init_subclass__(cls, scale: float) -> None:
        cls.scale = scale
        Scaled.kinds.append(cls)

    def times(self, x: Any) -> Any:
        return x[0] * self.scale


class Thrice(Scaled, scale=3.0):
    pass


def registered(x: Any) -> Any:
    return Thrice().times(x) * x[1] * len(Scaled.kinds)


def named(x: Any) -> Any:
    pair = namedtuple("pair", "a b")
    p = pair(x[0], x[1] * 2.0)
    return p.a * p.b + p._replace(a=3.0 * x[1]).a


def with_fields(x: Any) -> Any:
    pair = dataclasses.make_dataclass("pair", ["a", "b"])
    return pair(x[0], x[1]).a * x[1]


def matched(x: Any) -> Any:
    total = 0.0
    for item in (1, x[0], 2.0, "a", x, True, {"a": x[1], "b": [x[0], 2]}):
        match item:
            case bool():
                total = total + 0.25
            case int(i):
                total = total + i
            case float(v):
                total = total + v * x[1]
            case str():
                total = total * 2.0
            case np.ndarray():
                total = total + np.sum(item**2)
            case {"a": np.floating() as a, "b": [b, int(n)]}:
                total = total + a * b * n
    return total


def asked_of_types(x: Any) -> Any:
    table = {int: 2.0, float: 3.0}
    total = x[0] * table[type(3)] + x[1] * float.fromhex("0x1p1") + x[1] * np.finfo(float).eps
    return total + x[0] * sum(map(float, [1, 2])) * issubclass(bool, int) + np.zeros(2, dtype=float)[0]


def quadrature_of_constants(x: Any) -> Any:
    return integrate.quad(lambda t: t * 2.0, 0.0, 1.0)[0] * x[1]


def flow_of_constants(x: Any) -> Any:
    return integrate.solve_ivp(lambda t, y: -2.0 * y, (0.0, 1.0), np.array([1.0]))["y"][0, -1] * x[1]


def root_in_python(x: Any) -> Any:
    return optimize.newton(lambda t: t**2 - x[0], 1.0) * x[1]


@pytest.mark.parametrize(
    "f",
    [registered, named, with_fields, matched, asked_of_types]
    + [quadrature_of_constants, flow_of_constants, root_in_python],
)
def test_the_gradient_is_that_of_numbers(f: Any) -> None:
    value, pull = plain.vjp(f, X, argnums=(0,))
    assert np.isclose(value, f(X)) and Scaled.kinds == [Thrice]
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(pull(1.0)[0], slopes, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", [
    lambda x: optimize.brentq(lambda t: t**3 - x[0], 0.0, 5.0),
    lambda x: integrate.quad(lambda t: t * x[0], 0.0, 1.0)[0],
    lambda x: integrate.odeint(lambda y, t: -x[0] * y, 1.0, np.linspace(0, 1, 5))[-1, 0],
    lambda x: integrate.solve_ivp(lambda t, y: -x[0] * y, (0.0, 1.0), np.array([1.0]))["y"][0, -1],
    lambda x: optimize.minimize(lambda t: (t[0] - x[0]) ** 2, np.array([0.0])).x[0] * x[1],
    lambda x: optimize.minimize_scalar(lambda t: (t - x[0]) ** 2).x,
    lambda x: optimize.least_squares(lambda t: t - x[0], np.array([0.0])).x[0],
    lambda x: float.fromhex(x[0].hex()) * x[1],
    lambda x: np.divide(*x[0].as_integer_ratio()) * x[1],
])  # fmt: skip
def test_what_would_lose_a_derivative_on_the_way_is_refused(f: Any) -> None:
    with pytest.raises(NotImplementedError, match="would lose its derivative"):
        plain.vjp(f, X, argnums=(0,))
