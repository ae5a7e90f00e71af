"""Special functions of SciPy where formulas usually fail: at singular points, in tails, in other forms of call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import MissingRule, UnsupportedSyntax
from tests.rules.quotients import check

special = pytest.importorskip("scipy.special")

inf = np.inf


def slopes(f: Any, *args: Any) -> tuple[Any, ...]:
    """The gradient by every argument in reverse; in forward mode too, where no slope is infinite."""
    with np.errstate(all="ignore"):
        gradient = srcgrad.grad(f, tuple(range(len(args))))(*args)
        for k, value in enumerate(gradient if np.all(np.isfinite(gradient)) else ()):
            tangents = tuple(1.0 if j == k else 0.0 for j in range(len(args)))
            np.testing.assert_allclose(srcgrad.jvp(f, args, tangents)[1], value, rtol=1e-14)
    return gradient


# --- singular points: slopes as PyTorch 2.13 has them, where it has the function -------------------------------------
@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (lambda x: special.entr(x), (0.0,), (inf,)),
        (lambda x, y: special.xlogy(x, y), (0.0, 0.0), (0.0, 0.0)),
        (lambda x, y: special.xlogy(x, y), (0.0, -1.0), (0.0, 0.0)),
        (lambda x, y: special.xlogy(x, y), (0.0, 2.0), (math.log(2.0), 0.0)),
        (lambda x, y: special.xlogy(x, y), (1.0, 0.0), (-inf, inf)),
        (lambda x, y: special.xlog1py(x, y), (0.0, -1.0), (0.0, 0.0)),
        (lambda x, y: special.xlog1py(x, y), (0.0, -2.0), (0.0, 0.0)),
        (lambda x, y: special.xlog1py(x, y), (0.0, 1.0), (math.log(2.0), 0.0)),
        (lambda x, y: special.rel_entr(x, y), (0.0, 0.0), (1.0, 0.0)),
        (lambda x, y: special.rel_entr(x, y), (0.0, 0.5), (-inf, 0.0)),
        (lambda x, y: special.kl_div(x, y), (0.0, 0.0), (0.0, 1.0)),
        (lambda x, y: special.kl_div(x, y), (0.0, 0.5), (-inf, 1.0)),
        (lambda x: special.expit(x), (inf,), (0.0,)),
        (lambda x: special.expit(x), (-inf,), (0.0,)),
        (lambda x: special.log_expit(x), (inf,), (0.0,)),
        (lambda x: special.log_expit(x), (-inf,), (1.0,)),
        (lambda x: special.logit(x), (0.0,), (inf,)),
        (lambda x: special.ndtr(x), (inf,), (0.0,)),
        (lambda x: special.log_ndtr(x), (inf,), (0.0,)),
        (lambda x: special.ndtri(x), (0.0,), (inf,)),
        (lambda x: special.erfinv(x), (1.0,), (inf,)),
        (lambda x: special.i0e(x), (0.0,), (0.0,)),
        (lambda x: special.i1e(x), (0.0,), (0.5,)),
        (lambda x: special.j1(x), (0.0,), (0.5,)),
        (lambda x: special.exprel(x), (0.0,), (0.5,)),
        (lambda x: special.spence(x), (1.0,), (-1.0,)),
        (lambda x: special.sinc(x), (0.0,), (0.0,)),
        (lambda x: special.ellipk(x), (0.0,), (math.pi / 8,)),
        (lambda x: special.ellipe(x), (0.0,), (-math.pi / 8,)),
        (lambda x: special.rgamma(x), (-3.0,), (-6.0,)),
        (lambda x: special.sici(x)[0], (0.0,), (1.0,)),
        (lambda x, y: special.boxcox(x, y), (2.0, 0.0), (0.5, math.log(2.0) ** 2 / 2)),
        (lambda x, y: special.inv_boxcox(x, y), (2.0, 0.0), (math.exp(2.0), -2 * math.exp(2.0))),
    ],
)
def test_singular_points(f: Any, args: tuple[float, ...], expected: tuple[float, ...]) -> None:
    np.testing.assert_allclose(slopes(f, *args), expected, rtol=1e-14)


def test_tails_keep_their_relative_accuracy() -> None:
    """The slope of log_ndtr is -x - 1/x + 2/x**3 - ... far to the left, that of expit exp(x)."""
    x = np.array([-1e5, -300.0, -40.0])
    mills = -x - 1 / x + 2 / x**3 - 10 / x**5
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(special.log_ndtr(x)))(x), mills, rtol=1e-10)
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(special.expit(x)))(x), np.exp(x), rtol=1e-14)
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(special.log_expit(-x)))(x), -np.exp(x), rtol=1e-14)
    np.testing.assert_allclose(srcgrad.grad(lambda x: special.ndtri_exp(x))(-5000.0), 1 / 100.0, rtol=1e-3)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([-inf, -inf], [0.0, 0.0]),
        ([-inf, 0.0], [0.0, 1.0]),
        ([inf, 0.0], [1.0, 0.0]),
        ([inf, inf], [0.5, 0.5]),
    ],
)
def test_logsumexp_at_infinity(x: list[float], expected: list[float]) -> None:
    np.testing.assert_array_equal(srcgrad.grad(lambda x: special.logsumexp(x))(np.array(x)), expected)
    for k in range(2):
        assert srcgrad.jvp(lambda x: special.logsumexp(x), (np.array(x),), (np.eye(2)[k],))[1] == expected[k]


def test_logsumexp_of_some_rows_without_terms() -> None:
    x = np.array([[-inf, -inf], [0.0, 0.0], [inf, 0.0]])
    expected = [[0.0, 0.0], [0.5, 0.5], [1.0, 0.0]]
    np.testing.assert_array_equal(srcgrad.grad(lambda x: np.sum(special.logsumexp(x, axis=1)))(x), expected)


def test_softmax_of_minus_infinity() -> None:
    x = np.array([-inf, 0.0, 1.0])
    weights = np.array([3.0, 1.0, 2.0])
    for f in (special.softmax, special.log_softmax):
        gradient = srcgrad.grad(lambda x, w, f=f: np.dot(f(x)[1:], w[1:]))(x, weights)
        assert gradient[0] == 0.0 and np.all(np.isfinite(gradient))


# --- orders ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("f", "third"),
    [
        (lambda x: special.j0(x), lambda x: special.jvp(0, x, 3)),
        (lambda x: special.i1(x), lambda x: special.ivp(1, x, 3)),
        (lambda x: special.yv(1.5, x), lambda x: special.yvp(1.5, x, 3)),
        (lambda x: special.kn(2, x), lambda x: special.kvp(2, x, 3)),
        (lambda x: special.gammaln(x), lambda x: special.polygamma(2, x)),
        (lambda x: special.digamma(x), lambda x: special.polygamma(3, x)),
        (lambda x: special.zeta(2.0, x), lambda x: -24 * special.zeta(5.0, x)),
        (lambda x: special.expn(1, x), lambda x: -np.exp(-x) * (x * x + 2 * x + 2) / x**3),
        (lambda x: special.erf(x), lambda x: (8 * x * x - 4) * np.exp(-x * x) / np.sqrt(np.pi)),
        (lambda x: special.spherical_jn(1, x), lambda x: _thrice(lambda t: special.spherical_jn(1, t, True), x)),
        (lambda x: special.ellipk(x), lambda x: _thrice(lambda t: srcgrad.grad(lambda s: special.ellipk(s))(t), x)),
        (lambda x: special.gammainc(2.5, x), lambda x: _thrice(lambda t: np.exp(-t) * t**1.5 / special.gamma(2.5), x)),
    ],
)  # fmt: skip
@pytest.mark.costly(2)
def test_third_derivatives(f: Any, third: Any) -> None:
    x = 0.7
    slope = srcgrad.grad(f)
    np.testing.assert_allclose(srcgrad.grad(srcgrad.grad(slope))(x), third(x), rtol=1e-6)


def _thrice(slope: Any, x: float) -> float:
    """The third derivative from a first one, by second differences."""
    h = 1e-3
    values = [slope(x + k * h) for k in (-2, -1, 0, 1, 2)]
    return float((-values[0] + 16 * values[1] - 30 * values[2] + 16 * values[3] - values[4]) / (12 * h * h))


# --- forms of call ---------------------------------------------------------------------------------------------------
def test_logsumexp_with_weights_and_signs() -> None:
    a, b = np.array([[0.3, -0.5, 1.0], [2.0, 0.1, -1.0]]), np.array([0.5, -2.0, 0.7])

    def f(a, b):
        value, sign = special.logsumexp(a, axis=1, b=b, return_sign=True)
        return np.sum(value * np.array([1.0, 3.0]))

    def plain(a, b):
        return np.sum(np.log(np.abs(np.sum(b * np.exp(a), axis=1))) * np.array([1.0, 3.0]))

    for made, expected in zip(srcgrad.grad(f, (0, 1))(a, b), srcgrad.grad(plain, (0, 1))(a, b), strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-12)
    np.testing.assert_allclose(srcgrad.hessian(f)(a, b), srcgrad.hessian(plain)(a, b), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("complex_a", [False, True])
@pytest.mark.costly(1)
def test_logsumexp_of_complex_terms(complex_a: bool) -> None:
    """The weights of real numbers may be complex, and the sign of a complex sum turns: both had been left out."""
    a, b = np.array([[0.3, -0.5, 1.0], [0.2, 0.1, -1.0]]), np.array([0.5 + 0.3j, -0.2 + 1j, 0.7 - 0.4j])
    if complex_a:
        a, b = a + 0.6j * a[:, ::-1], b.real

    def logarithm(a, b):
        y = special.logsumexp(a, axis=1, b=b)
        return np.sum(np.sin(y.real) + y.imag**2)

    def signs(a, b):
        value, sign = special.logsumexp(a, axis=1, b=b, return_sign=True)
        other, turned = special.logsumexp(a, return_sign=True)
        return np.sum(value * sign.imag + sign.real) + other * np.real(turned)

    check(logarithm, a, b)
    check(signs, a, b)


def test_orders_of_polygamma_in_a_list() -> None:
    def f(x):
        return np.sum(special.polygamma([0, 1, 2], x))

    check(f, np.array([0.7, 1.3, 2.1]))


def test_a_sign_that_is_not_known_when_compiled_is_refused() -> None:
    def f(x, sign):
        return special.logsumexp(x, return_sign=sign)

    with pytest.raises(UnsupportedSyntax, match="'return_sign' must be the literal False or True"):
        srcgrad.grad(f)(np.ones(3), False)


def test_a_ufunc_in_other_forms_of_call() -> None:
    with pytest.raises(UnsupportedSyntax, match="'where' is not supported"):
        srcgrad.grad(lambda x: np.sum(special.erf(x, where=np.array([True, False]))))(np.ones(2))
    np.testing.assert_allclose(srcgrad.grad(lambda x: special.zeta(x=2.0, q=x))(0.5), -2 * special.zeta(3.0, 0.5))
    np.testing.assert_allclose(srcgrad.grad(lambda x: special.jvp(0, x, n=2))(0.5), special.jvp(0, 0.5, 3))


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda v: special.jv(v, 1.0), "'v'"),
        (lambda v: special.hyp2f1(1.0, v, 2.0, 0.3), "'b'"),
        (lambda v: special.zeta(v, 2.0), "'x'"),
        (lambda v: special.ellipkinc(0.3, v), "'m'"),
        (lambda v: special.bdtr(2, v, 0.3), "'n'"),
        (lambda v: special.tklmbda(0.3, v), "'lmbda'"),
    ],
)
def test_an_argument_without_a_derivative_is_refused_by_name(f: Any, name: str) -> None:
    """In both modes, at the line of the call, and only where it is active."""
    for derivative in (lambda: srcgrad.grad(f)(1.5), lambda: srcgrad.jvp(f, (1.5,), (1.0,))):
        with pytest.raises(MissingRule, match=f"has no derivative by its argument {name}") as caught:
            derivative()
        assert caught.value.span is not None and "special." in caught.value.span.text


def test_an_order_that_does_not_vary_is_no_obstacle() -> None:
    def f(x, v):
        return special.jv(v, x) + special.iv(len(np.shape(x)), x)

    np.testing.assert_allclose(srcgrad.grad(f)(0.7, 1.5), special.jvp(1.5, 0.7) + special.ivp(0, 0.7))


def test_a_name_of_scipy_is_imported_from_where_it_is_public() -> None:
    from scipy.special import expit, softmax

    def f(x):
        return np.sum(expit(x) * softmax(x))

    derivative = srcgrad.grad(f)
    derivative(np.ones(2))
    assert "from scipy.special import expit, softmax\n" in derivative.source


def test_real_numbers_into_complex_results_and_back_at_the_second_order() -> None:
    def f(x: Any) -> Any:
        return special.lambertw(x).real

    w = float(special.lambertw(0.3).real)
    for x in (0.3, np.float64(0.3), np.array(0.3)):
        assert srcgrad.grad(f)(x) == pytest.approx(math.exp(-w) / (1 + w), rel=1e-14)
        assert srcgrad.grad(srcgrad.grad(f))(x) == pytest.approx(-math.exp(-2 * w) * (w + 2) / (1 + w) ** 3, rel=1e-14)
