"""Arguments are bound as Python binds them: by the code that runs first, whatever a decorator says that it looks like.

Each function is called by Python and differentiated; value, gradient, tangent and Hessian are compared with the call
and its central differences, compiled from the text, from what is inferred, and for any arguments.
"""

from __future__ import annotations

import functools
import inspect
import pickle

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hessian, jacfwd, jacobian, jvp, value_and_grad, vjp
from srcgrad.errors import ArgumentError, SrcgradError
from srcgrad.programs import options

WAYS = ({}, {"specialise": False})


def other_default(function):
    @functools.wraps(function)
    def wrapper(x, k=5.0):
        return function(x, k)

    return wrapper


def starred(function):
    @functools.wraps(function)
    def wrapper(*args, **options):
        return function(*args, **options)

    return wrapper


def positional(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Doubling:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, x, k=5.0):
        return 2.0 * self.function(x, k)


def product(x, k=1.0):
    return x * x * x * k


def said(signature):
    def f(x, k=6.0):
        return x * x * x * k

    f.__signature__ = inspect.signature(signature)
    return f


@functools.wraps(np.sin)
def named_like_sin(x):
    return 2.0 * np.sin(x)


@functools.wraps(np.sum)
def named_like_sum(x):
    return 3.0 * np.sum(x * x)


def keyword_only(x, *, k=6.0):
    return x * x * x * k


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return self.w * np.sum(x**3)

    __call__ = other_default(lambda self, k=1.0: self.w * k * k)

    @starred
    def starred(self, x, k=1.0):
        return self.w * x * x * x * k

    @staticmethod
    @other_default
    def fixed(x, k=1.0):
        return x * x * x * k


MODEL = Model(2.0)
BOUND = {
    "another default": (other_default(product), {}),
    "another default, given": (other_default(product), {"k": 3.0}),
    "stars": (starred(product), {}),
    "stars, with a keyword": (starred(product), {"k": 3.0}),
    "a star": (positional(product), {}),
    "stars around another default": (starred(other_default(product)), {}),
    "another default around stars": (other_default(starred(product)), {}),
    "another default around a cache": (other_default(functools.cache(product)), {}),
    "an object around a function": (Doubling(product), {}),
    "another default in __signature__": (said(lambda x, k=1.0: None), {}),
    "other parameters in __signature__": (said(lambda y: None), {}),
    "the name of a ufunc": (named_like_sin, {}),
    "the name of a function of NumPy": (named_like_sum, {}),
    "a default by name only": (keyword_only, {}),
    "a method with stars": (MODEL.starred, {}),
    "a method with stars, with a keyword": (MODEL.starred, {"k": 3.0}),
    "a static method": (Model.fixed, {}),
    "a static method of an object": (MODEL.fixed, {}),
    "__call__ with another default": (MODEL, {}),
}
X, E = 1.3, 1e-4


#: Where nothing is said of the arguments, neither is what stars hold, or whether a cache is given numbers.
OF_KINDS = (
    "stars", "stars, with a keyword", "a star", "stars around another default", "another default around a cache",
)  # fmt: skip


@pytest.mark.parametrize("kind", OF_KINDS)
def test_what_is_followed_by_the_kinds_of_its_arguments_is_refused_without(kind):
    f, keywords = BOUND[kind]
    with options(specialise=False), pytest.raises(SrcgradError):
        value_and_grad(f)(X, **keywords)


@pytest.mark.parametrize(("kind", "way"), [(k, w) for w in WAYS for k in BOUND if not (w and k in OF_KINDS)], ids=str)
@pytest.mark.costly(3, first=1)
def test_derivatives_bind_as_calls_do(kind, way):
    f, keywords = BOUND[kind]
    value, below, above = (f(x, **keywords) for x in (X, X - E, X + E))
    slope, curvature = (above - below) / (2 * E), (above - 2 * value + below) / E**2
    with options(**way):
        np.testing.assert_allclose(value_and_grad(f)(X, **keywords), (value, slope), rtol=1e-5)
        np.testing.assert_allclose(vjp(f, X, argnums=0, **keywords)[1](1.0), (slope,), rtol=1e-5)
        np.testing.assert_allclose(hessian(f)(X, **keywords), curvature, rtol=1e-4)
        if not keywords:
            np.testing.assert_allclose(jvp(f, (X,), (1.0,)), (value, slope), rtol=1e-5)


def test_parameters_of_the_wrapper_are_meant():
    f = starred(product)
    assert value_and_grad(f, argnums="options")(2.0, k=3.0) == (24.0, {"k": 8.0})
    assert value_and_grad(other_default(product), argnums="k")(2.0) == (40.0, 8.0)
    with pytest.raises(ArgumentError, match=r"there is no argument 'x'"):
        grad(f, argnums="x")
    with pytest.raises(ArgumentError, match=r"args\[0\] is not given"):
        grad(f)(x=2.0)


@pytest.mark.parametrize("change", ["f.__kwdefaults__['k'] = 2.0", "f.__kwdefaults__ = {'k': 2.0}"])
def test_a_default_by_name_that_is_changed(change):
    def f(x, *, k=6.0):
        return x * x * k

    derivative = value_and_grad(f)
    assert derivative(3.0) == (54.0, 36.0)
    exec(change, {"f": f})
    assert derivative(3.0) == (18.0, 12.0)
    assert jvp(f, (3.0,), (1.0,)) == (18.0, 12.0)


def doubled(x):
    return 2.0 * x


@functools.wraps(doubled)
@functools.cache
def cube(x):
    return x * x * x


def of_cached(x):
    return cube(x)


def test_a_cache_that_names_another_function_is_refused():
    for way in WAYS:
        with options(**way), pytest.raises(SrcgradError, match="cube|doubled"):
            grad(of_cached)(2.0)
    outcome = None
    with pytest.raises(SrcgradError):
        outcome = srcgrad.check_grads(of_cached, 2.0, modes=("eager",))
    assert outcome is None


def square(x):
    return x * x


@functools.wraps(srcgrad.grad)
def doubled_gradient(f):
    return lambda x: 2.0 * grad(f)(x)


def test_what_a_decorator_copies_is_not_its_own():
    assert jvp(square, (2.0,), (1.0,)) == (4.0, 4.0)
    assert vjp(square, 2.0)[1](1.0) == (4.0,)

    @functools.wraps(square)
    def tripled(x):
        return 3.0 * square(x)

    assert jvp(tripled, (2.0,), (1.0,)) == (12.0, 12.0)
    assert vjp(tripled, 2.0)[1](1.0) == (12.0,)
    assert value_and_grad(lambda x: doubled_gradient(square)(x))(2.0) == (8.0, 4.0)


def test_a_rule_is_bound_by_the_code_that_runs():
    @other_default
    def f(x, k=1.0):
        return x * x * k

    @srcgrad.rule(f)
    def f_rule(x, k, *, y, y_bar):
        return y_bar * 2.0 * x * k, y_bar * x * x

    assert value_and_grad(lambda x: f(x))(2.0) == (20.0, 20.0)


# --- gradients of bound methods, and of objects -----------------------------------------------------------------------
V = np.array([1.0, 2.0, 3.0])


class Loss:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * np.sum(x**3)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("f", [MODEL.loss, Loss(2.0)], ids=["method", "object"])
@pytest.mark.costly(2)
def test_derivatives_of_the_gradient_of_a_method(f, way):
    first, second = 6.0 * V**2, 12.0 * V
    with options(**way):
        for a, b in zip(jvp(grad(f), (V,), (V,)), (first, second * V), strict=True):
            np.testing.assert_allclose(a, b)
        value, pullback = vjp(grad(f), V)
        np.testing.assert_allclose(value, first)
        np.testing.assert_allclose(pullback(V)[0], second * V)
        for made in (jacfwd(grad(f)), jacobian(grad(f)), hessian(f)):
            np.testing.assert_allclose(made(V), np.diag(second))
        value, tangent = jvp(value_and_grad(f), (V,), (V,))
        np.testing.assert_allclose(value[0], f(V))
        np.testing.assert_allclose(tangent[1], second * V)
    with pytest.raises(SrcgradError, match="one real number"):
        grad(grad(f))(V)


def test_the_gradient_of_the_gradient_of_a_method():
    assert grad(grad(MODEL))(3.0) == 2.0 * 2.0
    assert value_and_grad(grad(MODEL.fixed), argnums="k")(3.0) == (5.0 * 27.0, 27.0)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.costly(1)
def test_the_gradient_of_a_gradient_by_a_position_among_stars(way):
    def f(*args):
        return args[0] ** 2 * args[1] ** 3

    with options(**way):
        assert value_and_grad(grad(f, 1), (0, 1))(2.0, 3.0) == (108.0, (108.0, 72.0))
        assert grad(grad(MODEL.starred))(3.0) == 2.0 * 6.0 * 3.0
    assert grad(grad(starred(product)))(2.0, k=3.0) == 36.0


def test_the_gradient_of_a_method_is_not_called_as_that_of_its_function():
    derivative = grad(MODEL.loss)
    with pytest.raises(SrcgradError):
        grad(lambda x: np.sum(derivative(x)))(V)


def test_the_gradient_of_a_method_pickles_with_its_object():
    for f in (MODEL.loss, Loss(2.0)):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(grad(f)))(V), 6.0 * V**2)


def test_a_derivative_tells_how_it_is_called():
    told = {f: str(inspect.signature(grad(f))) for f in (MODEL.loss, MODEL.starred, other_default(product))}
    assert [*told.values()] == ["(x)", "(*args, **options)", "(x, k=5.0)"]


def chosen_by_text(x, mode="a"):
    return x**3 if mode == "b" else 2.0 * x**3


def chosen_by_count(x, n=2):
    return x**3 if n == 1 else n * x**3


@pytest.mark.parametrize(("f", "other"), [(chosen_by_text, "b"), (chosen_by_count, 1)])
@pytest.mark.costly(1, first=1)
def test_a_derivative_of_a_gradient_follows_arguments_that_leave_their_defaults(f, other):
    """A program kept for the defaults, which are constants in it, served other arguments."""
    for made in (grad(grad(f)), srcgrad.hessian(f), srcgrad.jacobian(grad(f))):
        assert made(1.3) == pytest.approx(2.0 * 7.8)
        assert made(1.3, other) == pytest.approx(7.8)
        assert made(1.3) == pytest.approx(2.0 * 7.8)
    both = srcgrad.value_and_grad(grad(f))
    both(1.3)
    assert both(1.3, other) == pytest.approx((5.07, 7.8))
    inner = grad(f)
    srcgrad.jvp(inner, (1.3,), (1.0,))
    assert srcgrad.jvp(inner, (1.3, other), (1.0, None)) == pytest.approx((5.07, 7.8))
