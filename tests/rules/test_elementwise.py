"""Elementwise functions through the compiler: call forms of ufuncs, dtypes of partners, singular points, orders."""

from __future__ import annotations

import cmath
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hessian, jvp, vjp
from srcgrad.errors import SrcgradError
from srcgrad.programs import options
from srcgrad.runtime import angle_slope, bessel_i, half_circle, power_partial, prevails, share, sinc_slope, wins
from tests.rules.orders import check_orders, to_the_third
from tests.rules.programs import program

INF, NAN = math.inf, math.nan
ONE_DIGIT = np.array([0.44, 0.72, 0.6])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Infinite slopes, and casts that lose an imaginary part, are what some tests are about."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# --- orders 1, 2, 3 --------------------------------------------------------------------------------------------------
#: One program per family: each term with a weight of its own, so that no two errors cancel.
FAMILIES = {
    "powers": "np.square(x) np.sqrt(x) np.cbrt(x) np.reciprocal(x) x**3 x**0.5 x**-1.5 2.0**x x**x np.float_power(x,x)",
    "exponentials": "np.exp(x) np.exp2(x) np.expm1(x) np.log(x) np.log2(x) np.log10(x) np.log1p(x) np.i0(x) np.sinc(x)",
    "circular": "np.sin(x) np.cos(x) np.tan(x) np.arcsin(x) np.arccos(x) np.arctan(x) np.arctan2(x**2,x) np.deg2rad(x)",
    "hyperbolic": "np.sinh(x) np.cosh(x) np.tanh(x) np.arcsinh(x) np.arccosh(x+1.3) np.arctanh(x)",
    "of two": "np.multiply(x,x**2) np.divide(x,x+1) np.hypot(x,x**2) np.logaddexp(x,x**2) np.logaddexp2(x,x**2)",
    "remainders": "np.remainder(x**2,0.31) np.fmod(x**2,0.31) np.modf(x*3)[0]**3 np.frexp(x)[0]**3 np.ldexp(x,2)**3",
    "choices": "np.maximum(x**2,x**3) np.fmin(x**2,x**3) np.where(x>0.5,x**3,x**2) np.clip(x,0.5,None)**3",
    "signs": "np.abs(x-0.5)**3 np.fabs(x)**3 np.sign(x-0.5)*x**3 np.copysign(x**3,-x) np.heaviside(x,x)*x**3",
    "parts": "np.abs(np.exp(1j*x)*x) np.real((x+1j)**3) np.angle(x+1j*x**2) np.imag(np.sign(x+1j*x**2))",
    "complex": "np.real(np.arcsin(x+2+0j)) np.imag(np.arccosh(x-3+0.5j)) np.real(np.power(x+1j,x))",
}


@pytest.mark.parametrize(("family", "order"), to_the_third(FAMILIES, by_day=["hyperbolic"]))
@pytest.mark.costly(2)
def test_orders_of_families(family: str, order: int) -> None:
    terms = FAMILIES[family].split()
    check_orders(program(" + ".join(f"{k + 1}.0*np.sum({term})" for k, term in enumerate(terms))), ONE_DIGIT, order)


NUMBERS = {
    "roots": "math.sqrt(x) math.cbrt(x) math.hypot(x,x*x) math.pow(x,x) x**2.5 math.exp2(x) math.log(x,3.0)",
    "special": "math.erf(x) math.erfc(x) math.gamma(x) math.lgamma(x)",
    "inverses": "math.asin(x) math.atan2(x,x+1) math.acosh(x+1.2) math.atanh(x)",
    "parts": "math.remainder(x**2,0.31) math.fmod(x**2,0.31) math.frexp(x)[0]**3 math.modf(x*3)[0]**3",
    "signs": "abs(x)**3 math.copysign(x**2,-1.0) math.ldexp(x,3)**2",
    "complex": "abs(complex(x,x*x)) abs(cmath.exp(complex(x,x*x))) cmath.phase(complex(x,x*x)) cmath.rect(x,x*x).real",
    "cuts": "abs(cmath.sqrt(-x)) cmath.log(complex(x,x*x)).imag**2 abs(cmath.asin(x+2.0))",
    "pairs": "divmod(x*5,0.7)[1]**3 cmath.polar(complex(x,x*x))[1]**2",
}


@pytest.mark.parametrize(("family", "order"), to_the_third(NUMBERS, by_day=["inverses"]))
@pytest.mark.costly(2)
def test_orders_of_functions_of_numbers(family: str, order: int) -> None:
    terms = NUMBERS[family].split()
    f: Callable[[float], float] = program(" + ".join(f"{k + 1}.0*{term}" for k, term in enumerate(terms)))
    for _ in range(order):
        slope = grad(f)
        h = 1e-3
        d1, d2, d3 = ((f(0.37 + k * h) - f(0.37 - k * h)) / (2 * k * h) for k in (1, 2, 3))
        assert type(slope(0.37)) is float
        np.testing.assert_allclose(slope(0.37), 1.5 * d1 - 0.6 * d2 + 0.1 * d3, rtol=1e-6, atol=1e-7)
        f = slope


# --- call forms of ufuncs --------------------------------------------------------------------------------------------
def test_dtype_narrows_the_result_and_the_cotangent_comes_back_wide() -> None:
    def f(x):
        return np.sum(np.sin(x, dtype=np.float32))

    x = np.array([0.3, -0.7])
    gradient = grad(f)(x)
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, np.cos(x.astype(np.float32)), rtol=1e-7)
    np.testing.assert_array_equal(gradient, gradient.astype(np.float32))
    y, y_dot = jvp(lambda x: np.sin(x, dtype=np.float32), (x,), (np.ones(2),))
    assert y.dtype == y_dot.dtype == np.float32


def test_dtype_widens_the_result_and_the_cotangent_comes_back_narrow() -> None:
    def f(x, y):
        return np.multiply(x, y, dtype=np.float64)

    x, y = np.array([0.3, -0.7], np.float32), np.array([[2.0], [3.0]])
    z, pullback = vjp(f, x, y)
    x_bar, y_bar = pullback(np.ones_like(z))
    assert (z.dtype, x_bar.dtype, y_bar.dtype) == (np.float64, np.float32, np.float64)
    np.testing.assert_array_equal(x_bar, np.array([5.0, 5.0], np.float32))
    np.testing.assert_allclose(y_bar, np.sum(x.astype(float)) * np.ones((2, 1)))
    assert jvp(f, (x, y), (np.ones_like(x), None))[1].dtype == np.float64


@pytest.mark.parametrize("specialise", [True, False])
def test_dtype_may_be_computed_and_may_be_one_that_nothing_passes_through(specialise: bool) -> None:
    def f(x, y):
        return np.sum(np.add(x, 1.5, dtype=y.dtype, casting="unsafe") * 2.0)

    x = np.array([0.3, 0.7])
    with options(specialise=specialise):
        np.testing.assert_array_equal(grad(f)(x, np.array([1.0])), [2.0, 2.0])
        np.testing.assert_array_equal(grad(f)(x, np.array([1])), [0.0, 0.0])


def test_a_real_number_computed_as_a_complex_one() -> None:
    """Where the real function is not defined the complex one is: arcsin(2), (-8) ** (1/3)."""
    x = np.array([2.0, 0.3])
    slopes = 1 / np.cos(np.arcsin(x + 0j))
    np.testing.assert_allclose(
        grad(lambda x: np.sum(np.imag(np.arcsin(x, dtype=complex))))(x), np.imag(slopes), rtol=1e-12
    )
    root = np.power(-8.0, 1 / 3, dtype=complex)
    np.testing.assert_allclose(
        grad(lambda x: np.imag(np.power(x, 1 / 3, dtype=complex)))(-8.0), np.imag(root / (3 * -8.0)), rtol=1e-12
    )


def test_arguments_that_change_no_value_are_taken() -> None:
    x = np.array([[0.3, 0.7], [0.1, 0.2]])
    f = program("np.sum(np.multiply(x, x, casting='no', order='F', subok=False, dtype=None, where=True))")
    np.testing.assert_allclose(grad(f)(x), 2 * x)
    np.testing.assert_allclose(grad(program("np.sum(np.clip(x, 0.2, None, casting='safe'))"))(x), x >= 0.2)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("np.sin(x, where=x > 0)", "where it is false the result is memory that nobody has"),
        ("np.sin(x, signature='d->d')", "np.sin: the argument 'signature' is not supported"),
        ("np.sin(x, sig='d->d')", "np.sin: the argument 'sig' is not supported"),
        ("np.emath.sqrt(x)", "whether the result is complex depends on the values"),
    ],
)
def test_a_call_form_without_a_derivative_is_refused_by_name(expression: str, message: str) -> None:
    with pytest.raises(SrcgradError) as refusal:
        grad(program(f"np.sum({expression})"))(np.array([0.3, 0.7]))
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("np.add(x, x, x) ** 2", [2.4, 5.6]),
        ("np.nan_to_num(x, copy=False) ** 2", [0.6, 1.4]),
        ("np.multiply(x, x, out=np.empty(2)) * x", [0.27, 1.47]),
    ],
)
def test_what_stores_its_result_gives_its_gradient(expression: str, expected: list[float]) -> None:
    x = np.array([0.3, 0.7])
    np.testing.assert_allclose(grad(program(f"np.sum({expression})"))(x), expected)
    np.testing.assert_array_equal(x, [0.3, 0.7])


def test_where_of_one_argument_finds_positions() -> None:
    def f(x):
        return np.sum(x[np.where(x > 0)[0]] ** 2)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, -2.0, 3.0])), [2.0, 0.0, 6.0])


def test_aliases_are_the_same_objects() -> None:
    names = {
        "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
        "atan2": "arctan2", "atanh": "arctanh", "conj": "conjugate", "pow": "power", "mod": "remainder",
        "true_divide": "divide", "bitwise_invert": "invert",
    }  # fmt: skip
    for alias, name in names.items():
        assert getattr(np, alias) is getattr(np, name)


# --- singular points -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("expression", "x", "slope"),
    [
        ("math.sqrt(x)", 0.0, INF),
        ("math.cbrt(x)", 0.0, INF),
        ("math.asin(x)", 1.0, INF),
        ("math.acos(x)", -1.0, -INF),
        ("math.acosh(x)", 1.0, INF),
        ("math.pow(x, 0.5)", 0.0, INF),
        ("x**0.5", 0.0, INF),
        ("x**0.25", 1e-300, 0.25 * 1e-300**-0.75),
        ("x**0", 0.0, 0.0),
        ("x**0", NAN, 0.0),
        ("np.sqrt(x)", 0.0, INF),
        ("np.log(x)", 0.0, INF),
        ("np.log2(x)", 0.0, INF),
        ("np.log10(x)", 0.0, INF),
        ("np.log1p(x)", -1.0, INF),
        ("np.arctanh(x)", 1.0, INF),
        ("np.divide(1.0, x)", 0.0, -INF),
        ("np.reciprocal(x)", 0.0, -INF),
        ("np.power(x, -1.0)", 0.0, -INF),
        ("np.float_power(x, 0.5)", 0.0, INF),
        ("math.hypot(x, 0.0)", 0.0, 0.0),
        ("math.atan2(x, 0.0)", 0.0, 0.0),
        ("np.sinc(x)", 0.0, 0.0),
        ("np.i0(x)", 0.0, 0.0),
    ],
)
def test_a_python_float_gets_what_numpy_would_give(expression: str, x: float, slope: float) -> None:
    """Where the function itself does not raise, its slope does not either."""
    np.testing.assert_allclose(grad(program(expression))(x), slope, rtol=1e-12)
    np.testing.assert_allclose(jvp(program(expression), (x,), (1.0,))[1], slope, rtol=1e-12)


@pytest.mark.parametrize(
    ("expression", "x", "slope"),
    [("math.sqrt(x)", 0.0, INF), ("math.acos(x)", -1.0, -INF), ("x**0.5", 0.0, INF), ("np.power(x, -1)", 0.0, -INF)],
)
def test_so_does_one_of_unknown_kind(expression: str, x: float, slope: float) -> None:
    with options(specialise=False):
        assert grad(program(expression))(x) == slope


def test_powers_of_zero_at_orders_two_and_three() -> None:
    """x ** n is a polynomial whatever machine computes it."""
    x = np.zeros(6)
    p = np.arange(6.0)
    np.testing.assert_array_equal(grad(lambda x, p: np.sum(x**p))(x, p), [0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(np.diag(hessian(lambda x, p: np.sum(x**p))(x, p)), [0, 0, 2, 0, 0, 0])
    np.testing.assert_array_equal(power_partial(x, p, 3, 0), [0, 0, 0, 6, 0, 0])
    np.testing.assert_array_equal(power_partial(-2.0, p, 2, 0), [0, 0, 2, -12, 48, -160])
    np.testing.assert_array_equal(power_partial(x, p, 0, 2), np.zeros(6))
    np.testing.assert_array_equal(power_partial(np.array([1.0, 1.0]), np.array([INF, NAN]), 0, 1), [0.0, 0.0])


@pytest.mark.parametrize("p", [2, 3, 4.0, -2, -3.0])
@pytest.mark.costly(2)
def test_powers_of_negative_numbers(p: float) -> None:
    x = np.array([-2.0, -0.5])
    for function in (np.power, np.float_power):
        with options(specialise=False):
            np.testing.assert_allclose(grad(lambda x, p: np.sum(function(x, p)))(x, p), p * x ** (p - 1.0))
        curvature = hessian(lambda x, p: np.sum(function(x, p)))(x, p)
        np.testing.assert_allclose(np.diag(curvature), p * (p - 1) * x ** (p - 2.0))


def test_a_fraction_of_a_negative_python_float_is_complex() -> None:
    np.testing.assert_allclose(grad(lambda x: abs(x**0.5))(-4.0), -0.25)
    np.testing.assert_allclose(grad(lambda x, y: abs(x**0.5 * y), argnums=(0, 1))(-4.0, 1 + 0j), (-0.25, 2.0))


@pytest.mark.parametrize("rate", ["", "2"])
def test_logaddexp_at_infinities(rate: str) -> None:
    a = np.array([-INF, INF, INF, -INF, 800.0, -800.0, 0.0])
    b = np.array([-INF, INF, 0.0, INF, 0.0, 0.0, -INF])
    f = program(f"np.sum(np.logaddexp{rate}(x, y))", "x", "y")
    first, second = grad(f, argnums=(0, 1))(a, b)
    np.testing.assert_allclose(first, [0.5, 0.5, 1.0, 0.0, 1.0, 0.0, 1.0], atol=1e-100)
    np.testing.assert_allclose(second, [0.5, 0.5, 0.0, 1.0, 0.0, 1.0, 0.0], atol=1e-100)
    np.testing.assert_array_equal(np.isfinite(np.diag(hessian(f)(a, b))), True)


def test_extrema_of_two_with_nan_and_ties() -> None:
    """maximum as PyTorch: nan reaches both; fmax: nan takes no part, equals share."""
    a, b = np.array([1.0, NAN, 1.0, NAN, 2.0]), np.array([NAN, 1.0, 1.0, NAN, 3.0])
    np.testing.assert_array_equal(wins(a, b), [1.0, 1.0, 0.5, 1.0, 0.0])
    np.testing.assert_array_equal(prevails(a, b), [1.0, 0.0, 0.5, 0.5, 0.0])
    np.testing.assert_array_equal(grad(lambda x: np.sum(np.minimum(x, b)))(a), [1.0, 1.0, 0.5, 1.0, 1.0])
    np.testing.assert_array_equal(grad(lambda x: np.sum(np.fmin(x, b)))(a), [1.0, 0.0, 0.5, 0.5, 1.0])
    assert (wins(1.0, 1.0), wins(2.0, 1.0), wins(NAN, 1.0)) == (0.5, 1.0, 1.0)


def test_angles_and_lengths_out_of_the_range_of_squares() -> None:
    y, x = np.array([1e-200, 0.0, 3e200]), np.array([1e-200, 0.0, 4e200])
    np.testing.assert_allclose(angle_slope(y, x), [5e199, 0.0, 1.6e-201])
    small = np.array([1e-4], np.float16)
    np.testing.assert_allclose(grad(lambda y: np.sum(np.arctan2(y, small)))(small), [5e3], rtol=1e-2)
    assert angle_slope(0.0, 0.0) == 0.0 and angle_slope(1e-300, 1e-300) == 5e299
    np.testing.assert_array_equal(hessian(lambda x: np.sum(np.hypot(x, 0.0)))(np.zeros(1)), [[0.0]])


def test_sinc_near_zero() -> None:
    x = np.array([0.0, 1e-12, -1e-6, 1e-3])
    t = np.pi * x
    np.testing.assert_allclose(sinc_slope(x), np.pi * (-t / 3 + t**3 / 30 - t**5 / 840), rtol=1e-14)
    np.testing.assert_allclose(sinc_slope(x, 2), np.pi**2 * (-1 / 3 + t**2 / 10 - t**4 / 168), rtol=1e-14)
    np.testing.assert_allclose(sinc_slope(x, 3), np.pi**3 * (t / 5 - t**3 / 42), rtol=1e-10)
    assert sinc_slope(np.float32(0.3)).dtype == np.float32


def test_remainders_are_those_of_numpy_where_the_quotient_is_rounded() -> None:
    """1.0 % 0.1 is 0.0999..., the tenth less nine times: 1.0 / 0.1 is 10 after rounding."""
    for function in (np.remainder, np.fmod):
        assert grad(lambda y: function(1.0, y))(0.1) == -9.0
    assert grad(lambda y: 1.0 % y)(0.1) == -9.0
    assert grad(lambda y: math.remainder(1.0, y))(0.4) == -2.0
    assert grad(lambda x, y: divmod(x, y)[1], argnums=(0, 1))(-5.0, 3.0) == (1.0, 2.0)


def test_what_stands_in_for_nan_and_infinity_gets_what_comes_to_its_places() -> None:
    def f(x, a, b, c):
        return np.sum(np.nan_to_num(x, nan=a, posinf=b, neginf=c) * np.array([1.0, 2.0, 3.0, 4.0, 5.0]))

    x = np.array([NAN, 0.5, INF, -INF, NAN])
    x_bar, a_bar, b_bar, c_bar = grad(f, argnums=(0, 1, 2, 3))(x, 0.1, np.full(5, 0.2), 0.3)
    np.testing.assert_array_equal(x_bar, [0.0, 2.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(b_bar, [0.0, 0.0, 3.0, 0.0, 0.0])
    assert (a_bar, c_bar) == (6.0, 4.0)


def test_a_nan_in_the_cotangent_stays_on_the_side_that_is_taken() -> None:
    f = program("np.where(x > 0, x, y)", "x", "y")
    _, pullback = vjp(f, np.array([1.0, -1.0]), np.array([2.0, 2.0]))
    x_bar, y_bar = pullback(np.array([3.0, NAN]))
    np.testing.assert_array_equal(x_bar, [3.0, 0.0])
    np.testing.assert_array_equal(y_bar, [0.0, NAN])
    _, pullback = vjp(program("np.heaviside(x, y)", "x", "y"), np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(pullback(np.array([2.0, NAN]))[1], [2.0, 0.0])


def test_half_circle_precisely() -> None:
    x = 1.0 - 1e-12
    np.testing.assert_allclose(half_circle(x), math.sqrt((1.0 - x) * (1.0 + x)), rtol=1e-15)
    np.testing.assert_allclose(grad(lambda x: math.asin(x))(x), 1 / half_circle(x))


def test_bessel_functions_by_their_integral() -> None:
    """I_n(x) is the mean of exp(x cos t) cos(n t), DLMF 10.32.3, which equidistant points sum exactly."""
    t = 2 * np.pi * np.arange(400) / 400
    x = np.array([0.0, 0.3, -2.0, 12.0, 29.9, 30.1, 90.0, -200.0])
    for n in range(5):
        expected = np.mean(np.exp(x[:, None] * np.cos(t) - np.abs(x)[:, None]) * np.cos(n * t), axis=1)
        np.testing.assert_allclose(bessel_i(n, x) * np.exp(-np.abs(x)), expected, rtol=1e-12, atol=1e-15)
    assert bessel_i(1, np.float32(0.5)).dtype == np.float32
    np.testing.assert_allclose(grad(lambda x: np.sum(np.i0(x)))(np.array([INF, 0.5]))[1], bessel_i(1, 0.5))


def test_shares_add_up() -> None:
    a, b = np.array([0.3, 700.0, -1e5]), np.array([0.9, -700.0, 1e5])
    np.testing.assert_allclose(share(a, b) + share(b, a), 1.0)
    assert share(np.float32(1.0), np.float32(2.0)).dtype == np.float32


# --- dtypes ----------------------------------------------------------------------------------------------------------
KINDS: tuple[Any, ...] = (
    np.array([0.3, 0.6], np.float16),
    np.array([0.3, 0.6], np.float32),
    np.array([0.3, 0.6]),
    np.array([0.3, 0.6], np.longdouble),
    np.array([0.3 + 0.1j, 0.6], np.complex64),
    np.array([0.3 + 0.1j, 0.6]),
    np.array([1, 2]),
    np.array([True, True]),
    np.float32(0.3),
    np.array(0.3),
    0.3,
    2,
    0.3 + 0.2j,
)
PAIRS = list(itertools.product(range(6), range(len(KINDS))))
PARTNERS = """x+y x*y x/y x**y x-y np.maximum(x,y) np.logaddexp(x,y) np.hypot(x,y) np.arctan2(x,y) np.where(x>0.4,x,y)
    np.clip(x,y,None) np.float_power(x,y) np.heaviside(y,x) np.remainder(x,y) np.fmin(y,x)""".split()


def keeps_dtypes(expression: str, x: Any, y: Any) -> None:
    """The cotangent of x has its dtype, the tangent that of the result."""
    f = program(expression, "x", "y")
    try:
        z = f(x, y)
    except TypeError:
        return  # NumPy has no such function of these
    (x_bar,) = vjp(f, x, y, argnums=(0,))[1](np.ones_like(z)[()])
    assert (x_bar.dtype, x_bar.shape) == (x.dtype, x.shape)
    z_dot = jvp(f, (x, y), (np.ones_like(x), None))[1]
    assert (np.asarray(z_dot).dtype, np.shape(z_dot)) == (np.asarray(z).dtype, np.shape(z))


@pytest.mark.parametrize("expression", PARTNERS)
def test_each_partner_has_a_cotangent_of_its_own_dtype(expression: str) -> None:
    with options(specialise=False):
        for i, j in PAIRS:
            keeps_dtypes(expression, KINDS[i], KINDS[j])


@pytest.mark.parametrize(("i", "j"), [(0, 2), (1, 6), (2, 5), (4, 3), (1, 10)])
@pytest.mark.costly(2, first=1)
def test_each_partner_has_a_cotangent_of_its_own_dtype_when_all_is_known(i: int, j: int) -> None:
    for expression in PARTNERS:
        keeps_dtypes(expression, KINDS[i], KINDS[j])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
@pytest.mark.costly(1, first=2)
def test_constants_of_formulas_widen_nothing(dtype: Any) -> None:
    x = np.array([0.3, 0.6], dtype)
    for expression in "x**2 x**3 x**0.5 2**x 2.5**x np.exp2(x) np.log2(x) np.log10(x) x*2j np.sinc(x)".split():
        z, pullback = vjp(program(expression), x)
        assert pullback(np.ones_like(z))[0].dtype == dtype
        assert jvp(program(expression), (x,), (np.ones_like(x),))[1].dtype == z.dtype


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0)])
def test_empty_arrays_and_single_numbers(shape: tuple[int, ...]) -> None:
    x, y = np.full(shape, 0.4), np.full(shape, 0.7)
    for expression in "x**y np.arctan2(x,y) np.logaddexp(x,y) np.fmax(x,y) np.sinc(x)*y np.i0(x)*y".split():
        for gradient in grad(program(f"np.sum({expression})", "x", "y"), argnums=(0, 1))(x, y):
            assert gradient.shape == shape and gradient.dtype == np.float64


def test_a_sign_of_real_numbers_costs_nothing() -> None:
    def f(x):
        return np.sum(np.sign(x) * x)

    gradient = grad(f)
    np.testing.assert_array_equal(gradient(np.array([2.0, -3.0, 0.0])), [1.0, -1.0, 0.0])
    text = gradient.program((np.array([2.0]),)).emission.text
    assert "np.sign(x)" in text and "np.imag" not in text
    assert cmath.isclose(grad(lambda z: np.real(np.sign(z)))(3 + 4j), 0.128 + 0.096j)


def test_many_half_precision_elements_are_chosen_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = grad(program("np.sum(np.clip(x, 0.0, 200.0) ** 2, dtype=np.float32)", "x"))(
            np.full(5000, 100.0, np.float16)
        )
    assert gradient.dtype == np.float16
    np.testing.assert_array_equal(gradient, 200.0)
