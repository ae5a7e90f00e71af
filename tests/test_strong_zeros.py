"""The option ``strong_zeros``: what is zero stays zero through a partial that is infinite or undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules.placing import callable_of
from tests.rules.test_rules import ELEMENTWISE, case_id

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")


def masked_root(x):
    r = np.sqrt(x)
    return r[1]


def masked_by_where(x):
    return np.sum(np.where(x > 0.0, np.log(x) * x**-1.5 / x, 0.0))


def masked_by_product(x):
    w = 1.0 / x
    return np.sum(np.where(x > 0.0, x * w * np.arctan2(w, x), 0.0))


def masked_by_a_store(x):
    r = np.sqrt(x)
    r[r > 0.0] = 1.0 / r[r > 0.0]
    return np.sum(r[1:] ** 3)


def masked_in_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        root = x[i] ** 0.5
        s += root * np.arcsin(x[i] / 4.0) if x[i] > 0.0 else 0.0
    return s


def masked_norms(x):
    lengths = np.linalg.norm(np.stack([x, x / x]), axis=0)
    return np.sum(lengths[1:])


PROGRAMS = [
    masked_root, masked_by_where, masked_by_product, masked_by_a_store, masked_in_a_loop, masked_norms,
]  # fmt: skip
POINT = np.array([0.0, 1.3, 2.1])


def differences(function, x, h=1e-6):
    """The gradient by the elements behind the first, which no program lets through; of the first it is zero."""
    slopes = [0.0]
    for k in (1, 2):
        step = np.eye(3)[k] * h
        slopes.append((function(x + step) - function(x - step)) / (2.0 * h))
    return np.array(slopes)


@pytest.mark.parametrize("specialise", [True, False], ids=["specialised", "generic"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.costly(2)
def test_what_is_masked_has_no_part_in_any_mode(program: Any, specialise: bool) -> None:
    expected = differences(program, POINT)
    direction = np.array([0.0, 0.7, -0.4])
    with srcgrad.options(strong_zeros=True), srcgrad.programs.options(specialise=specialise):
        gradient = srcgrad.grad(program)
        np.testing.assert_allclose(gradient(POINT), expected, rtol=1e-7)
        _, pullback = srcgrad.vjp(program, POINT)
        np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-7)
        _, tangent = srcgrad.jvp(program, (POINT,), (direction,))
        np.testing.assert_allclose(tangent, expected @ direction, rtol=1e-7)
        second = (gradient(POINT + 1e-6 * direction) - gradient(POINT - 1e-6 * direction)) / 2e-6
        np.testing.assert_allclose(srcgrad.hvp(program)(POINT, direction), second, rtol=1e-6, atol=1e-8)


def test_it_is_off_unless_asked_for() -> None:
    assert np.isnan(srcgrad.grad(masked_root)(POINT)[0])
    with srcgrad.options(strong_zeros=True):
        assert srcgrad.grad(masked_root)(POINT)[0] == 0.0
    assert np.isnan(srcgrad.grad(masked_root)(POINT)[0])
    assert "where_nonzero" not in srcgrad.grad(masked_root).source


def test_a_factor_that_is_zero_by_value_is_answered_with_zero() -> None:
    """What docs/kinks.md warns of: the slope of the square of a root is 1 at 0."""
    with srcgrad.options(strong_zeros=True):
        np.testing.assert_array_equal(srcgrad.grad(lambda x: np.sum(np.sqrt(x) ** 2))(np.array([0.0, 4.0])), [0.0, 1.0])


def test_an_infinite_slope_stays_infinite_where_it_is_used() -> None:
    with srcgrad.options(strong_zeros=True):
        np.testing.assert_array_equal(srcgrad.grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 4.0])), [np.inf, 0.25])


SECOND_ORDER = {
    "product": lambda x: x[0] * (x[1] * x[2]),
    "square of a sum": lambda x: x[0] * np.sum(x) ** 2,
    "matrix product": lambda x: x[0] * (x @ np.outer(x, x) @ x + np.prod(x[1:])),
    "norm": lambda x: x[0] * np.linalg.norm(x) + np.sum(x * x[0] / x[1]),
}


@pytest.mark.parametrize("name", SECOND_ORDER)
@pytest.mark.costly(2, first=1)
def test_what_is_zero_by_value_keeps_its_second_derivatives(name: str) -> None:
    """A cotangent that is zero at one point changes with the point, which only a defined partial lets through."""
    function = SECOND_ORDER[name]

    def weighted(x):
        return np.sum(srcgrad.grad(function)(x) * np.arange(1.0, 4.0))

    for program in (srcgrad.hessian(function), srcgrad.grad(weighted)):
        with srcgrad.options(strong_zeros=True):
            found = program(POINT)
        np.testing.assert_allclose(found, program(POINT), rtol=1e-12)


def energy(position, mass):
    """Gravitational energy of bodies, whose distances to themselves are masked, as n-body programs do."""
    apart = position[:, None, :] - position[None, :, :]
    distance = np.sqrt(np.sum(apart**2, axis=2))
    inverse = distance
    inverse[inverse > 0.0] = 1.0 / inverse[inverse > 0.0]
    return -np.sum(np.triu(mass[:, None] * mass[None, :] * inverse, 1))


def test_the_energy_of_bodies_has_a_finite_gradient() -> None:
    rng = np.random.default_rng(3)
    position, mass = rng.standard_normal((4, 3)), rng.uniform(0.5, 1.5, 4)
    expected = np.zeros_like(position)
    for i in range(4):
        for j in range(4):
            if i != j:
                apart = position[i] - position[j]
                expected[i] += mass[i] * mass[j] * apart / np.linalg.norm(apart) ** 3
    assert np.isnan(srcgrad.grad(energy)(position, mass)).any()
    with srcgrad.options(strong_zeros=True):
        np.testing.assert_allclose(srcgrad.grad(energy)(position, mass), expected, rtol=1e-12)


SPECIAL = np.array([0.0, np.inf, -np.inf, np.nan, -1.0, 1.0])


def test_every_elementwise_rule_keeps_zeros() -> None:
    """At singular points nothing comes back, nothing goes forward, and another element is as without the option."""
    seed = np.append(np.zeros(SPECIAL.size), 0.3)
    for rule, function in ELEMENTWISE:
        if getattr(np, function.__name__, None) is not function:
            continue  # of SciPy's, some do not return for infinite orders
        given = rule.parameters[: function.nin]
        wanted = [p for p in given if p in rule.differentiable]
        names, dots, moved = [*given, rule.result], [f"{p}_dot" for p in wanted], f"{rule.result}_dot"
        plain = 1.2 if function is np.arccosh else 0.7
        for position in range(function.nin):
            arguments = [np.full(SPECIAL.size + 1, plain) for _ in given]
            arguments[position][:-1] = SPECIAL
            z = function(*arguments)
            last = []
            for strong in (True, False):
                backward = rule.adjoint_slice(wanted, given, strong=strong)
                forward = rule.tangent_slice(wanted, given, strong=strong)
                bars = callable_of(backward, [*names, rule.adjoint], wanted, "f")(*arguments, z, seed)
                dot = callable_of(forward, [*names, *dots], [moved], "f")(*arguments, z, *(seed for _ in dots))
                last.append([part[-1] for part in (*bars, dot)])
                if strong:
                    assert not np.any([part[:-1] for part in (*bars, dot)]), case_id((rule, function))
            np.testing.assert_array_equal(*last, err_msg=case_id((rule, function)))
