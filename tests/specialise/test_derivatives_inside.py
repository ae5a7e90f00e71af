"""Derivatives taken inside of differentiated functions: right in both directions against numbers."""

from __future__ import annotations

import types
from functools import partial
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad, hessian, hvp, jacfwd, jacobian, jvp, options, value_and_grad, vjp
from srcgrad.runtime.refusals import Refused
from tests.specialise.test_functions import check

X = np.array([0.7, 1.3, -0.4])


def captured_that_changes(x):
    a = x[0]

    def f(y):
        return a * y**3

    g = grad(f)
    a = a * x[1]
    return g(x[2]) * g(a)


def of_a_factory(x):
    def make(k):
        return lambda y: k * np.sin(y)

    return grad(make(x[0]))(x[1]) * grad(make(x[2]))(x[0])


def of_arrays(x):
    def f(w, k=x[0]):
        return np.sum(w * w * x) * k

    return np.sum(grad(f)(x * 2.0) * grad(f, 0)(x, 3.0))


def twice_and_mixed(x):
    def f(a, b):
        return a * a * b * b * x[2]

    value, (p, q) = value_and_grad(f, argnums=(0, 1))(x[0], x[1])
    return value * p + grad(grad(f), 1)(x[1], q)


def of_what_is_passed(x):
    def slope(f, at):
        return grad(f)(at)

    return slope(np.tanh, x[0]) if x[0] < 0.0 else slope(lambda v: v * v * x[1], x[2])


def descent(x):
    w = x * 1.0
    for k in range(3):
        def loss(w):
            return np.sum((w - x) ** 2) * (k + 1.0) * w[0]
        w = w - 0.1 * grad(loss)(w)
    return np.sum(w)


def with_stores(x):
    def f(a):
        held = np.zeros(2)
        held[0] = a * x[0]
        held[1] = held[0] * a
        return held[1]

    return grad(f)(x[1])


def in_a_container(x):
    steps = [grad(lambda v: v**3 * x[0]), grad(lambda v: v * x[1])]
    return steps[0](x[2]) + steps[1](x[2])


def with_auxiliary(x):
    g, aux = grad(lambda v: (v * v * x[0], v * x[1]), has_aux=True)(x[2])
    return g * aux


def pullbacks(x):
    y, of_both = vjp(lambda u, w: u * w * x[0], x[1], x[2])
    p, q = of_both(2.0 * x[1])
    _, of_parts = vjp(lambda u: (u * u, u[0]), x)
    _, of_one = vjp(lambda u, w: u * w, x[0], x[1], argnums=1)
    return y * p + q + np.sum(of_parts((x, 1.0))[0]) * of_one(x[2])[0]


def tangents(x):
    y, t = jvp(lambda u, n: u**n, (x[0], 2), (x[1], None))
    z, both = jvp(lambda u, w: u * u + w * x[0], (x[0], x[1]), (x[2], 1.0))
    return y * t + z * both


def jacobians(x):
    j = jacobian(lambda u, w: np.outer(u, w), 1)(x, x * 2.0)
    k = jacobian(grad(lambda u: np.sum(u**3 * x)))(x)
    return np.sum(j * j) + np.sum(jacfwd(lambda u: u * u * x)(x)) + np.sum(k)


def hessians(x):
    def f(u, w):
        return np.sum(u * u * w)

    product = np.sum(hvp(f, 1)(x, x * x, x)) + np.sum(hvp(f)(x, x, x * x))
    return hessian(lambda u: u**3 * x[1])(x[0]) * x[2] + np.sum(hessian(f)(x, x)) + product


def product_of(u, w):
    return np.sum(u * w * w)


MADE, BOTH, TWICE = grad(product_of), value_and_grad(product_of, (0, 1)), grad(grad(lambda v: v**4))


def made_outside(x):
    value, (p, q) = BOTH(x, x * 2.0)
    return np.sum(MADE(x, x) * q) * value + np.sum(p) * TWICE(x[0])


def cubes(u):
    return np.sum(u**3 * np.roll(u, 1))


def pairs(u):
    return np.array([u[0] * u[1] ** 2, u[2] ** 3 * u[0], np.sin(u[1])])


CURVATURE, CURVED, ROWS = hessian(cubes), hvp(cubes), jacobian(pairs)


def newton(x):
    s = x[0]
    for k in range(2):
        def loss(u, k=k):
            return np.sum(u**3) * (k + s)
        x = x - 0.01 * np.linalg.solve(hessian(cubes)(x) + 30.0 * np.eye(3), grad(loss)(x)) * np.trace(hessian(loss)(x))
    return np.sum(x * x)


def of_products_with_hessians(x):
    scaled = lambda u: cubes(u) * x[0]
    along = grad(lambda u: hvp(scaled)(u, X) @ x)(x)
    return np.sum(along**2) + np.sum(jacobian(lambda u: hvp(cubes)(u, X))(x)) + np.sum(jacobian(hvp(cubes))(x, x) ** 2)


def of_jacobians(x):
    return np.sum(jacobian(jacobian(pairs))(x) ** 2) + np.sum(jacfwd(hessian(cubes))(x) ** 2)


def of_tangents(x):
    _, slope = vjp(lambda u: jvp(pairs, (u,), (X,))[1], x)
    return np.sum(slope(x)[0]) + np.sum(grad(lambda u: jvp(cubes, (u,), (x,))[1])(x) ** 2)


def of_what_was_made_outside(x):
    return np.sum(CURVATURE(x) ** 2) + np.sum(CURVED(x, X)) + np.sum(ROWS(x) ** 2)


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, u):
        return np.sum(self.w * u**3)

    def __call__(self, u):
        return np.sum(self.w * u**2)

    def step(self, u):
        return u - 0.1 * grad(self.loss)(u)


HELD = Model(X)


def of_methods(x):
    model, u = Model(x * 2.0), x
    for _ in range(2):
        u = model.step(u)
    value, slope = value_and_grad(model.loss)(x)
    return u @ slope * value + np.sum(grad(model)(x)) + np.sum(hvp(HELD.loss)(x, u)) + np.sum(hessian(model.loss)(u))


def of_objects(x):
    models = [Model(x), Model(x * 2.0)]
    f = lambda u: models[0].loss(u) * models[1](u)
    first = grad(f)(x)
    models[0].w = models[0].w * x
    return first @ grad(f)(x) + np.sum(grad(lambda model, u: model.loss(u), 1)(models[1], x))


def of_partial_applications(x):
    total = np.sum(grad(partial(product_of, x))(x) ** 2) + np.sum(grad(partial(product_of, w=x))(x * 2.0) ** 2)
    for k in range(2):
        scaled = partial(lambda c, u: np.sum(c * u**3), x[k])
        total = total + np.sum(hvp(scaled)(x, X)) + np.sum(hessian(scaled)(x))
    return total


PROGRAMS = [
    (newton, (X,)), (of_products_with_hessians, (X,)), (of_jacobians, (X,)), (of_tangents, (X,)),
    (of_what_was_made_outside, (X,)), (of_methods, (X,)), (of_objects, (X,)), (of_partial_applications, (X,)),
    (captured_that_changes, (X,)), (of_a_factory, (X,)), (of_arrays, (X,)), (twice_and_mixed, (X,)),
    (of_what_is_passed, (X,)), (descent, (X,)), (with_stores, (X,)), (in_a_container, (X,)), (with_auxiliary, (X,)),
    (pullbacks, (X,)), (tangents, (X,)), (jacobians, (X,)), (hessians, (X,)), (made_outside, (X,)),
]  # fmt: skip
REFUSED: frozenset[str] = frozenset({"with_auxiliary"})


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
@pytest.mark.costly(2, first=2)
def test_derivatives(function: Any, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(function, arguments, monkeypatch) == (function.__name__ not in REFUSED)


def _stores(values):
    values[0] = values[0] * values[1]
    return values[0] * values[1]


def test_gradients_by_items_of_a_list_are_numbers():
    """They were arrays without axes, so that ``y *= x[0]`` changed the item that ``y`` was read from."""

    def f(x):
        found = grad(_stores)([x[0], x[1]])
        y = found[0]
        y *= x[0]
        return y * found[0]

    point = np.array([0.7, 1.1])
    value, gradient = value_and_grad(f)(point)
    differences = [(f(point + d) - f(point - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(value, f(point), rtol=1e-15)
    np.testing.assert_allclose(gradient, differences, rtol=1e-7)


@pytest.mark.parametrize(
    "function", [pullbacks, tangents, jacobians, hessians, made_outside, of_arrays, twice_and_mixed]
)
@pytest.mark.costly(2)
def test_derivatives_where_nothing_is_said_of_the_arguments(function: Any) -> None:
    steps = 1e-6 * np.eye(3)
    numeric = [(function(X + step) - function(X - step)) / 2e-6 for step in steps]
    with options(specialise=False):
        np.testing.assert_allclose(grad(function)(X), numeric, rtol=1e-6, atol=1e-6)


def _growing(values):
    values.append(values[0] * 2.0)
    return values[0] * values[1] * values[2]


def test_arguments_that_are_stored_into_are_as_they_were() -> None:
    """What was inferred of them afterwards was that the stores were done, which decided branches."""

    def f(x):
        held = [x[0], x[1]]
        return grad(_growing)(held)[0] * (1.0 if len(held) == 2 else 7.0)

    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, [4.0 * X[1], 4.0 * X[0], 0.0])


def test_a_store_into_the_object_of_a_method_is_refused() -> None:
    class Counting(Model):
        def loss(self, u):
            self.calls = 1
            return np.sum(self.w * u)

    def f(x):
        return np.sum(grad(Counting(x).loss)(x))

    with pytest.raises(UnsupportedSyntax, match="the object of a bound method"):
        grad(f)(X)


def test_a_pullback_is_run_again_and_so_draws_no_random_numbers():
    def f(x):
        _, pullback = vjp(lambda u: u * np.random.rand(), x[0])
        return pullback(1.0)[0] * x[1]

    with pytest.raises(UnsupportedSyntax, match="draws random numbers"):
        grad(f)(X)


def test_the_seed_of_a_pullback_has_the_shape_of_the_value():
    def f(x):
        _, pullback = vjp(lambda u: u * u, x)
        return np.sum(pullback(1.0)[0])

    with pytest.raises(ValueError, match="another shape"):
        grad(f)(X)


def test_a_jacobian_by_a_complex_argument_is_refused():
    def f(x):
        return np.sum(np.abs(jacobian(lambda u: u * u)(x * 1j)))

    with pytest.raises(TypeError, match="complex argument"):
        grad(f)(X)


def test_what_a_module_loads_when_it_is_first_read_is_found() -> None:
    """It was taken for anything, so that the first program to name it was refused."""
    made = types.ModuleType("loaded_late")

    def load(name: str) -> object:
        if name != "twice":
            raise AttributeError(name)
        vars(made)[name] = lambda v: v * v * 2.0
        return vars(made)[name]

    vars(made)["__getattr__"] = load
    assert grad(lambda x: made.twice(x))(0.5) == pytest.approx(2.0)


class Squared:
    def __init__(self, v):
        self.v = v

    def at(self, y):
        return self.v * self.v * y


def a_gradient_of_an_object(x):
    try:
        return grad(lambda o: o.at(x))(Squared(x)).v
    except Exception:
        return x


def a_gradient_of_objects_in_a_list(x):
    try:
        return grad(lambda held: held[0].at(x))([Squared(x)])[0].v
    except Exception:
        return x


def a_pullback_to_an_object(x):
    try:
        return vjp(lambda o: o.at(x), Squared(x))[1](1.0)[0].v
    except Exception:
        return x


@pytest.mark.parametrize(
    "f", [a_gradient_of_an_object, a_gradient_of_objects_in_a_list, a_pullback_to_an_object]
)
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(2)
def test_no_handler_catches_that_a_gradient_of_an_object_is_not_followed(f, specialise):
    """Once what a handler gives, in silence: the call was taken to raise, and what said that it did not was caught."""
    assert f(1.3) == pytest.approx(2 * 1.3**2)
    with options(specialise=specialise):
        for derivative in (lambda: grad(f)(1.3), lambda: jvp(f, (1.3,), (1.0,)), lambda: hvp(f)(1.3, 1.0)):
            with pytest.raises((UnsupportedSyntax, Refused)):
                derivative()


def replaced(held, y):
    held[0] = y * y
    return held[0] * y


@pytest.mark.parametrize("make", [lambda x: [x], lambda x: np.array([x, 2.0])])
@pytest.mark.parametrize("specialise", [True, False])
def test_vjp_of_a_function_that_stores_into_its_arguments_is_refused(make, specialise):
    """Once what it stored was seen in the arguments, which Python's call of vjp leaves as they were."""

    def held_after(x):
        held = make(x)
        value, _ = vjp(replaced, held, x, argnums=1)
        return value * held[0]

    with options(specialise=specialise), pytest.raises(UnsupportedSyntax, match="stores into its arguments"):
        grad(held_after)(1.3)


def product(x, y, z, u):
    return x * y * z * u


@pytest.mark.parametrize(
    "by",
    [
        lambda x: jacobian(product, (0, 0))(x, x, x, x), lambda x: jacobian(product, (-1, 0))(x, x, x, x),
        lambda x: jacobian(product, ())(x, x, x, x), lambda x: jacobian(product, [1, 0])(x, x, x, x),
        lambda x: jacobian(product, ("y", "x"))(x, x, x, x), lambda x: jacobian(product, (0, 1, 2, 3))(x, x, x, x),
    ],
    ids=["twice", "from behind", "none", "a list", "names", "four"],
)  # fmt: skip
def test_a_jacobian_by_arguments_that_are_no_few_places_is_refused(by: Any) -> None:
    def outer(x):
        return np.sum(by(x)[0])

    with pytest.raises((UnsupportedSyntax, Refused), match="jacobian"):
        grad(outer)(X)
