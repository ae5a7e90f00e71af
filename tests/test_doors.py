"""What the public calls are given: functions, methods, derivatives, containers that contain themselves; pickling."""

from __future__ import annotations

import copy
import inspect
import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import ArgumentError, grad, hessian, hvp, jacfwd, jacobian, jvp, value_and_grad, vjp


def cubed(x: Any) -> Any:
    return np.sum(x**3)


def with_aux(x: Any) -> Any:
    return x**3, x


@hvp
def decorated(x: Any, k: float = 2.0) -> Any:
    """A function under its decorator."""
    return k * x**3


class Model:
    """Methods under decorators, and one without."""

    def __init__(self, k: float) -> None:
        self.k = k

    @jacobian(argnums=1)
    def by_rows(self, x: Any) -> Any:
        return self.k * x

    @jacfwd(argnums="x")
    def by_columns(self, x: Any) -> Any:
        return self.k * x

    @hessian(argnums=1)
    def curved(self, x: Any) -> Any:
        return self.k * np.sum(x**2)

    @hvp(argnums=1)
    def along(self, x: Any) -> Any:
        return self.k * np.sum(x**2)

    @jacobian
    def by_itself(self, x: Any) -> Any:
        return self.k * x

    def scaled(self, x: Any, y: Any = 1.0) -> Any:
        return self.k * x * y


# --- decorators -------------------------------------------------------------------------------------------------------
def test_dense_derivatives_are_decorators_of_methods() -> None:
    model, x = Model(3.0), np.ones(2)
    np.testing.assert_array_equal(model.by_rows(x), 3.0 * np.eye(2))
    np.testing.assert_array_equal(model.by_columns(x), 3.0 * np.eye(2))
    np.testing.assert_array_equal(model.curved(x), 6.0 * np.eye(2))
    np.testing.assert_array_equal(model.along(x, np.array([1.0, 2.0])), [6.0, 12.0])
    assert model.by_itself(2.0).k == 2.0
    np.testing.assert_array_equal(Model.by_rows(model, x), 3.0 * np.eye(2))


def test_a_function_under_a_dense_decorator_keeps_its_text_and_pickles() -> None:
    assert decorated.__doc__.endswith("\nA function under its decorator.") and decorated.__module__ == __name__
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert decorated(2.0, 1.0) == 24.0


def test_hvp_tells_its_vector() -> None:
    assert str(inspect.signature(hvp(cubed))) == "(x, v)"
    assert list(inspect.signature(hvp(lambda x, v: x * v)).parameters) == ["x", "v", "v_"]
    inspect.signature(decorated).bind(1.0, 2.0)
    assert list(inspect.signature(hvp(Model(1.0).scaled)).parameters) == ["x", "v", "y"]
    assert list(inspect.signature(jacobian(Model(1.0).scaled)).parameters) == ["x", "y"]


# --- derivatives of derivatives that have none ------------------------------------------------------------------------
#: Since Python 3.13 these tell their arguments.
GETTERS = [] if sys.version_info >= (3, 13) else [operator.itemgetter(1), operator.attrgetter("a")]
TRANSFORMS = (grad, value_and_grad, jacobian, jacfwd, hessian, hvp)


@pytest.mark.parametrize("make", TRANSFORMS)
@pytest.mark.costly(2)
def test_a_derivative_with_has_aux_is_not_differentiated(make: Callable[..., Any]) -> None:
    for inner in (grad(with_aux, has_aux=True), value_and_grad(with_aux, has_aux=True)):
        with pytest.raises(ArgumentError, match=r"of with_aux with has_aux=True is not differentiated[\s\S]*\[0\]"):
            make(inner)
    with pytest.raises(ArgumentError, match="has_aux=True is not differentiated"):
        grad(grad(with_aux, has_aux=True), has_aux=True)
    assert grad(grad(lambda x: with_aux(x)[0]))(2.0) == 12.0


@pytest.mark.parametrize("make", TRANSFORMS)
@pytest.mark.parametrize("inner", [jacobian, jacfwd, hessian, hvp])
def test_what_is_dense_is_differentiated_inside_of_a_function(make: Callable[..., Any], inner: Any) -> None:
    make(inner(cubed))
    with pytest.raises(ArgumentError, match="holomorphic=True"):
        make(jacobian(cubed, holomorphic=True))


def test_the_jacobian_of_a_product_with_the_hessian() -> None:
    x, v = np.ones(2), np.array([1.0, 2.0])
    np.testing.assert_array_equal(jacobian(hvp(cubed))(x, v), np.diag([6.0, 12.0]))
    np.testing.assert_array_equal(jvp(hvp(cubed), (x, v), (x, v))[1], 2.0 * 6.0 * v)


def weighted(x: Any, y: Any, k: float = 2.0, *, n: float = 1.0) -> Any:
    return n * np.sum(y * np.sin(k * x) ** 3)


SLOPE = hvp(weighted)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("inner", [hvp, hessian, jacobian, jacfwd, grad])
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((2.0,), {}), ((2.0, 1.5), {}), ((2.0, 1.5), {"n": 3.0}), ((2.0,), {"n": 3.0, "k": 1.5}), ((), {"y": 2.0})],
)
@pytest.mark.costly(4, first=1)
def test_derivatives_of_derivatives_bind_their_arguments_as_these(
    args: Any, kwargs: Any, inner: Any, specialise: bool
) -> None:
    x, made = np.array([0.3, 0.7]), inner(weighted)
    if inner is hvp:
        args = (*args, np.array([1.0, -0.5]))
    sides = [[made(x + side * unit, *args, **kwargs) for side in (1e-6, -1e-6)] for unit in np.eye(2)]
    with srcgrad.options(specialise=specialise):
        for outer in (jacobian, jacfwd):
            columns = [(above - below) / 2e-6 for above, below in sides]
            np.testing.assert_allclose(outer(made)(x, *args, **kwargs), np.stack(columns, -1), atol=1e-7)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(1)
def test_a_product_with_the_hessian_binds_its_arguments_inside_of_a_function(specialise: bool) -> None:
    x, v = np.array([0.3, 0.7]), np.array([1.0, -0.5])

    def f(x: Any) -> Any:
        return np.sum(SLOPE(x, 2.0, 1.5, v, n=3.0) + SLOPE(x, 2.0, v, k=1.2))

    numeric = [(f(x + side) - f(x - side)) / 2e-6 for side in 1e-6 * np.eye(2)]
    with srcgrad.options(specialise=specialise):
        np.testing.assert_allclose(grad(f)(x), numeric, atol=1e-7)


def test_an_argument_of_a_product_with_the_hessian_is_chosen_as_its_signature_counts() -> None:
    x, v = np.array([0.3, 0.7]), np.array([1.0, -0.5])
    made = jacobian(SLOPE, 2)
    np.testing.assert_allclose(made(x, 2.0, v), hessian(weighted)(x, 2.0), rtol=1e-12)
    np.testing.assert_allclose(jacobian(SLOPE, "v")(x, 2.0, 2.0, v), made(x, 2.0, v))
    np.testing.assert_allclose(jacobian(jacobian(SLOPE, 2), "y")(x, 2.0, v), hessian(weighted)(x, 1.0))
    with pytest.raises(ArgumentError, match="counts the arguments"):
        made(x, 2.0, 2.0, v)
    with pytest.raises(ArgumentError, match="passed by its name"):
        jacobian(jacobian(weighted, "n"))


def test_a_derivative_of_a_derivative_follows_defaults_that_are_changed() -> None:
    def f(x: Any, k: float = 2.0) -> Any:
        return k * x**3

    made = jacobian(hvp(f))
    assert made(1.0, 1.0) == 12.0
    f.__defaults__ = (3.0,)
    assert made(1.0, 1.0) == 18.0


@pytest.mark.parametrize("made", [*GETTERS, max, dict])
@pytest.mark.parametrize("make", TRANSFORMS)
def test_a_function_that_does_not_tell_its_arguments_is_refused(make: Callable[..., Any], made: Any) -> None:
    with pytest.raises(ArgumentError, match=r"nothing tells which arguments .* takes[\s\S]*write a function"):
        make(made)


# --- what is passed ---------------------------------------------------------------------------------------------------
def test_a_negative_position_is_no_object_of_a_bound_method() -> None:
    scaled = Model(3.0).scaled
    assert grad(scaled, -2)(2.0) == 3.0 and grad(scaled, -1)(2.0) == 6.0
    for argnums in (-3, (0, -3)):
        with pytest.raises(ArgumentError, match=r"there is no argument -3[\s\S]*the arguments are x, y"):
            grad(scaled, argnums)
    with pytest.raises(ArgumentError, match=r"there is no argument 2[\s\S]*the arguments are x, y"):
        grad(scaled, 2)


def nested() -> Any:
    whole: Any = [1.0]
    for _ in range(5000):
        whole = [whole]
    return whole


def in_itself() -> Any:
    whole: Any = [1.0]
    whole.append(whole)
    return whole


@pytest.mark.parametrize("made", [nested, in_itself])
def test_an_argument_that_contains_itself_beside_the_eager_machine(made: Callable[[], Any]) -> None:
    from srcgrad import eager as torch

    value = made()
    for call in (
        lambda: grad(lambda x: x[0])(value),
        lambda: value_and_grad(lambda y, x: y)(2.0, value),
        lambda: jacobian(lambda x: x[0])(value),
        lambda: srcgrad.compile(lambda y, x: y)(torch.tensor(1.0), value),
    ):
        with pytest.raises(ArgumentError, match="contains itself, or is nested too deep"):
            call()
    assert srcgrad.compile(lambda x: x[0])(value) is value[0]


def test_a_pullback_is_copied() -> None:
    pullback = vjp(cubed, np.ones(2))[1]
    np.testing.assert_array_equal(copy.deepcopy(copy.copy(pullback))(1.0)[0], [3.0, 3.0])
