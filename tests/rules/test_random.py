"""Draws: made once, in the order of the program, recorded; their slopes at a fixed seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import MissingRule, UnsupportedSyntax


def seeded(f: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """The value at a fixed seed, and the state of the generator after it."""
    np.random.seed(11)
    value = f(*args)
    return value, np.random.get_state()[1:]  # type: ignore[index]


def same_state(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def reparameterised(mu, sigma):
    z = np.random.normal(mu, sigma)
    return z * z * mu


def in_a_loop(mu, sigma):
    total = 0.0
    for i in range(3):
        z = np.random.normal(mu, sigma, size=2)
        total = total + np.sum(np.sin(z)) * np.random.uniform(0.0, mu)
        if np.random.random() < 0.5:
            total = total * np.random.exponential(sigma)
    return total


def several(mu, sigma):
    first = np.random.laplace(mu, sigma)
    np.random.gumbel(mu, sigma)  # a draw that is not used moves the generator on
    second = np.random.lognormal(mu, sigma, size=(2,))
    third = np.random.weibull(sigma + 1.0) + np.random.pareto(mu + 1.0) + np.random.power(mu)
    return first * np.prod(second) + third * np.random.rayleigh(sigma) + np.random.logistic(mu, sigma)


PROGRAMS = [reparameterised, in_a_loop, several]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.costly(1)
def test_as_many_draws_as_the_program_makes(f: Any) -> None:
    """The compiled derivative leaves the generator where the program leaves it, and finds the same value."""
    value, state = seeded(f, 1.3, 0.7)
    for derivative in (
        srcgrad.value_and_grad(f, (0, 1)),
        lambda *args: srcgrad.jvp(f, args, (1.0, 0.5)),
        lambda *args: srcgrad.vjp(f, *args),
    ):
        (made, _), after = seeded(derivative, 1.3, 0.7)
        assert made == value
        assert same_state(state, after)
    for derivative in (srcgrad.grad(f), srcgrad.grad(f, 1)):
        assert same_state(state, seeded(derivative, 1.3, 0.7)[1])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.costly(1)
def test_slopes_at_a_fixed_seed(f: Any) -> None:
    gradient, _ = seeded(srcgrad.grad(f, (0, 1)), 1.3, 0.7)
    point, h = np.array([1.3, 0.7]), 1e-5
    for k, step in enumerate(h * np.eye(2)):
        difference = (seeded(f, *(point + step))[0] - seeded(f, *(point - step))[0]) / (2 * h)
        np.testing.assert_allclose(gradient[k], difference, rtol=1e-6)
        np.random.seed(11)
        np.testing.assert_allclose(srcgrad.jvp(f, (1.3, 0.7), tuple(np.eye(2)[k]))[1], gradient[k], rtol=1e-12)
        slope = srcgrad.grad(f, k)
        second = (seeded(slope, *(point + step))[0] - seeded(slope, *(point - step))[0]) / (2 * h)
        (_, curved), _ = seeded(lambda *args, k=k: srcgrad.jvp(slope, args, tuple(np.eye(2)[k])), 1.3, 0.7)
        np.testing.assert_allclose(curved, second, rtol=1e-5)


def test_the_adjoint_reads_the_recorded_draw() -> None:
    derivative = srcgrad.value_and_grad(reparameterised, (0, 1))
    derivative(1.3, 0.7)
    lines = [line for line in derivative.source.splitlines() if not line.strip().startswith("#")]
    assert "\n".join(lines).count("np.random.normal(") == 1
    assert "(z - mu)" in derivative.source


def test_a_draw_that_is_not_needed_by_the_gradient_is_made() -> None:
    """The slope by mu is 1 whatever was drawn, but the next draw must be the next one."""

    def f(mu):
        return np.random.normal(mu, 1.0) + 0.0 * np.random.poisson(3.0)

    _, state = seeded(f, 0.4)
    slope, after = seeded(srcgrad.grad(f), 0.4)
    assert slope == 1.0 and same_state(state, after)


def test_shapes_of_draws() -> None:
    def f(loc, scale):
        return np.sum(np.random.normal(loc, scale, size=(4, 2, 3)) * np.arange(3.0))

    by_loc, by_scale = srcgrad.grad(f, (0, 1))(np.zeros(3), np.ones((2, 1)))
    np.testing.assert_array_equal(by_loc, [0.0, 8.0, 16.0])
    assert by_scale.shape == (2, 1)
    assert srcgrad.grad(lambda m: np.sum(np.random.normal(m, size=5)))(np.float32(0.5)).dtype == np.float32


def test_a_scale_of_zero() -> None:
    """What chance gave cannot be read from a draw that does not spread: nan says so."""
    with np.errstate(invalid="ignore"):
        by_loc, by_scale = srcgrad.grad(lambda m, s: np.random.normal(m, s), (0, 1))(1.3, 0.0)
    assert by_loc == 1.0 and np.isnan(by_scale)


def test_draws_of_fixed_distributions_are_data() -> None:
    def f(x):
        index = np.random.permutation(3)
        noise = np.random.standard_normal(3) + np.random.binomial(3, 0.5) + np.random.choice(4)
        return np.sum(x[index] * noise)

    x = np.array([0.3, 0.4, 0.5])
    gradient, _ = seeded(srcgrad.grad(f), x)
    assert gradient @ x == pytest.approx(seeded(f, x)[0])


@pytest.mark.parametrize(
    ("f", "reason", "hint"),
    [
        (lambda x: np.random.permutation(x)[0], "which items are drawn is a matter of chance", "draw indices"),
        (lambda x: np.random.choice(x), "which items are drawn is a matter of chance", "draw indices"),
        (lambda x: np.random.poisson(x[0]) * 1.0, "a count varies with its parameters by jumps", "the score"),
        (lambda x: np.random.gamma(x[0]), "is drawn by rejection", "log-density"),
        (lambda x: np.random.multivariate_normal(x, np.eye(3))[0], "standard numbers", "np.linalg.cholesky"),
    ],
)
def test_refusals(f: Any, reason: str, hint: str) -> None:
    with pytest.raises(MissingRule, match=reason) as caught:
        srcgrad.grad(f)(np.array([0.3, 0.4, 0.5]))
    assert hint in str(caught.value.hint)


def test_generators_that_are_objects_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UnsupportedSyntax, match="the method 'normal'"):
        srcgrad.grad(lambda mu: rng.normal(mu, 1.0))(0.3)
