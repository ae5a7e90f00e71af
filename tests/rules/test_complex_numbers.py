"""Elementwise functions of complex numbers: against PyTorch's gradients, on cuts, at zeros, with real partners."""

from __future__ import annotations

import cmath
import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hessian, jvp, vjp
from srcgrad.programs import options
from tests.rules.programs import program

rng = np.random.default_rng(5)
SOME = rng.standard_normal(6) + 1j * rng.standard_normal(6)
#: Points off the cuts of every function, zeros and units among them.
POINTS = np.concatenate([SOME, np.array([0.3 + 0j, -0.4 + 0j, 0.5j, -3 + 1e-9j, 0j, 1j * 1e-3])])
REAL_VALUED = ("absolute", "angle", "real", "imag")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def functional(expression: str, *names: str) -> Any:
    """A real number of a complex expression, which sees both of its parts; of a real one, its sum."""
    return program(f"np.sum(1.3 * np.real({expression}) + 0.7 * np.imag({expression}))", *names)


def pytorch(function: Any, *arguments: Any) -> list[Any]:
    """PyTorch's gradients of the same number, conjugated into our convention."""
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(a, requires_grad=True) for a in arguments]
    y = function(*tensors)
    number = (1.3 * y.real + 0.7 * y.imag).sum() if y.is_complex() else 1.3 * y.sum()
    return [np.conj(g.resolve_conj().numpy()) for g in torch.autograd.grad(number, tensors)]


UNARY = (
    "sqrt square exp exp2 expm1 log log2 log10 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "absolute sign angle real imag conjugate negative reciprocal log1p"
).split()


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("name", UNARY)
def test_gradients_are_the_conjugates_of_pytorch(name: str, specialise: bool) -> None:
    torch = pytest.importorskip("torch")
    other = {"sign": "sgn", "conjugate": "conj"}.get(name, name)
    parts = {"real": lambda z: z.real, "imag": lambda z: z.imag}
    (expected,) = pytorch(parts.get(name) or getattr(torch, other), POINTS)
    with options(specialise=specialise):
        gradient = grad(functional(f"np.{name}(x)"))(POINTS)
    assert gradient.dtype == np.complex128
    finite = np.isfinite(expected)  # an infinite complex number has many spellings
    np.testing.assert_array_equal(np.isfinite(gradient), finite)
    np.testing.assert_allclose(gradient[finite], expected[finite], rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power"])
def test_of_two_each_gets_its_own(name: str) -> None:
    torch = pytest.importorskip("torch")
    other = {"subtract": "sub", "multiply": "mul", "divide": "div", "power": "pow"}.get(name, name)
    f = functional(f"np.{name}(x, y)", "x", "y")
    z, w = (np.array(column) for column in zip(*itertools.product(SOME, SOME)))
    for x, y in ((z, w), (np.real(z) * 1.0, w), (z, np.real(w) * 1.0)):
        x_bar, y_bar = grad(f, argnums=(0, 1))(x, y)
        assert (x_bar.dtype, y_bar.dtype) == (x.dtype, y.dtype)
        first, second = pytorch(getattr(torch, other), x, y)
        np.testing.assert_allclose(x_bar, first, rtol=1e-9)
        np.testing.assert_allclose(y_bar, second, rtol=1e-9)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("arcsin", 2 + 0j),
        ("arcsin", complex(2, -0.0)),
        ("arcsin", -2 + 0j),
        ("arcsin", complex(-2, -0.0)),
        ("arccos", 2 + 0j),
        ("arccos", complex(-2, -0.0)),
        ("arccosh", -2 + 0j),
        ("arccosh", complex(-2, -0.0)),
        ("arccosh", 0.5 + 0j),
        ("arctanh", 2 + 0j),
        ("log", complex(-2, -0.0)),
        ("sqrt", complex(-2, -0.0)),
    ],
)
def test_on_a_cut_the_slope_is_that_of_the_side_of_the_value(name: str, point: complex, specialise: bool) -> None:
    """The difference quotient along the cut stays on the side that the sign of the zero tells."""
    function = getattr(np, name)
    step = 1e-6
    ahead, behind = (complex(point.real + h, point.imag) for h in (step, -step))
    slope = (function(np.complex128(ahead)) - function(np.complex128(behind))) / (2 * step)
    with options(specialise=specialise):
        found = grad(program(f"np.real(np.{name}(x))"))(np.complex128(point))
    np.testing.assert_allclose(found, slope, rtol=1e-8)


def test_the_inverse_hyperbolic_sine_on_its_cut() -> None:
    for point in (complex(0.0, 2.0), complex(-0.0, 2.0), complex(0.0, -3.0)):
        slope = grad(program("np.real(np.arcsinh(x))"))(np.complex128(point))
        np.testing.assert_allclose(slope, 1 / np.cosh(np.arcsinh(np.complex128(point))), rtol=1e-12)


def test_at_zero_there_is_no_direction() -> None:
    z = np.zeros(2, complex)
    for expression in ("np.abs(x)", "np.angle(x)", "np.angle(x, deg=True)", "np.real(np.sign(x))", "abs(x)"):
        np.testing.assert_array_equal(grad(program(f"np.sum({expression})"))(z), z)
        np.testing.assert_array_equal(jvp(program(f"np.sum({expression})"), (z,), (z + 1 + 1j,))[1], 0.0)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(1)
def test_a_real_input_never_gets_a_complex_cotangent(specialise: bool) -> None:
    """Whatever complex numbers come between, and whatever real ones are made of them on the way."""
    x, w = np.array([1.0, 2.0]), np.array([1 + 1j, 2 - 1j])
    cases = {
        "np.sum(np.abs((x * 2.0) * y))": 2.0 * np.abs(w),
        "np.sum(np.abs(np.abs(x * y) * y))": np.abs(w) ** 2,
        "np.sum(np.real(np.imag(x * y) * y))": np.imag(w) * np.real(w),
        "np.sum(np.abs(np.exp(1j * x) * y))": np.zeros(2),
        "np.sum(np.angle((x + 0.5) * y))": np.zeros(2),
    }
    with options(specialise=specialise):
        for expression, expected in cases.items():
            gradient = grad(program(expression, "x", "y"))(x, w)
            assert gradient.dtype == np.float64
            np.testing.assert_allclose(gradient, expected, atol=1e-15)


def test_numbers_that_keep_an_imaginary_part_do_not_reach_a_part_of_a_number() -> None:
    """The second derivative of arg(x + 1j x^2)^2: its cotangents pass 1j, and meet .imag again."""

    def f(x):
        return cmath.log(complex(x, x * x)).imag ** 2

    # arg = arctan(x), so that f = arctan(x)^2
    x = 0.37
    np.testing.assert_allclose(grad(f)(x), 2 * math.atan(x) / (1 + x * x))
    np.testing.assert_allclose(grad(grad(f))(x), (2 - 4 * x * math.atan(x)) / (1 + x * x) ** 2, rtol=1e-12)


def test_the_pairing_of_parts() -> None:
    """x_bar of Re is 1, of Im is -1j; a complex number of two is one of each."""
    z = 0.3 - 0.4j
    assert grad(lambda z: z.real)(z) == 1 and grad(lambda z: z.imag)(z) == -1j
    assert grad(lambda z: np.real(z))(z) == 1 and grad(lambda z: np.imag(z))(z) == -1j
    assert grad(lambda z: np.conj(z).imag)(z) == 1j
    assert grad(lambda z: abs(z) ** 2)(z) == pytest.approx(2 * np.conj(z))
    a_bar, b_bar = grad(lambda a, b: complex(a, b).imag * 2.0 + complex(a, b).real, argnums=(0, 1))(0.3, 0.4)
    assert (a_bar, b_bar) == (1.0, 2.0) and type(a_bar) is float
    assert grad(lambda x: np.imag(x) * x + x.imag)(0.7) == 0.0


@pytest.mark.parametrize("deg", [False, True])
def test_angles_of_real_and_complex_numbers(deg: bool) -> None:
    unit = 180 / np.pi if deg else 1.0
    np.testing.assert_allclose(grad(lambda z: np.angle(z, deg))(3 + 4j), unit * -1j / (3 + 4j))
    gradient = grad(lambda x: np.sum(np.angle(x, deg=deg) * x))(np.array([2.0, -2.0]))
    np.testing.assert_array_equal(gradient, [0.0, unit * np.pi])
    with options(specialise=False):
        np.testing.assert_allclose(grad(lambda z, d: np.angle(z, d))(3 + 4j, deg), unit * -1j / (3 + 4j))


def test_real_if_close_is_real_or_not() -> None:
    near, far = np.array([0.3 + 1e-18j, 0.7]), np.array([0.3 + 1j, 0.7])
    f = functional("np.real_if_close(x)")
    np.testing.assert_allclose(grad(f)(near), [1.3, 1.3])
    np.testing.assert_allclose(grad(f)(far), [1.3 - 0.7j, 1.3 - 0.7j])
    assert jvp(lambda x: np.real_if_close(x), (near,), (near,))[1].dtype == np.float64


def test_nan_to_num_of_each_part_by_itself() -> None:
    z = np.array([complex(np.nan, 0.5), complex(1.0, np.inf)])
    z_bar, a_bar, b_bar = grad(
        program("np.sum(np.real((2.0 + 3.0j) * np.nan_to_num(x, nan=a, posinf=b)))", "x", "a", "b"), argnums=(0, 1, 2)
    )(z, 0.1, 0.2)
    np.testing.assert_array_equal(z_bar, [3j, 2.0])
    assert (a_bar, b_bar) == (2.0, -3.0)


@pytest.mark.parametrize("name", "exp sqrt log log10 sin cos tan asin acos atan sinh cosh tanh asinh atanh".split())
@pytest.mark.costly(2)
def test_cmath_of_a_float_is_complex_and_its_cotangent_real(name: str) -> None:
    f = program(f"cmath.{name}(x).real + 2.0 * cmath.{name}(x).imag")
    for x in (0.4, 1.7, -1.7):
        h = 1e-6
        slope = grad(f)(x)
        assert type(slope) is float
        np.testing.assert_allclose(slope, (f(x + h) - f(x - h)) / (2 * h), rtol=1e-8, atol=1e-8)


def test_polar_and_rectangular_coordinates_undo_each_other() -> None:
    def there_and_back(z):
        r, phi = cmath.polar(z)
        return cmath.rect(r, phi)

    z = 0.3 - 0.4j
    _, pullback = vjp(there_and_back, z)
    assert pullback(0.7 + 0.2j)[0] == pytest.approx(0.7 + 0.2j)
    assert grad(lambda z: cmath.polar(z)[1] * 2.0)(z) == pytest.approx(-2j / z)
    assert grad(lambda z: cmath.polar(z)[0])(0j) == 0
    assert jvp(there_and_back, (z,), (1j,))[1] == pytest.approx(1j)


def test_curvature_of_a_modulus() -> None:
    """|x + 1j|^2 + |exp(1j x)| is x^2 + 2."""

    def f(x):
        return np.sum(np.abs(x + 1j) ** 2 + np.abs(np.exp(1j * x)))

    np.testing.assert_allclose(hessian(f)(np.array([0.3, -0.7])), 2 * np.eye(2), atol=1e-12)


def test_complex64_stays() -> None:
    z = SOME.astype(np.complex64)
    for name in ("abs", "sqrt", "arcsin", "arccosh", "sign", "angle", "tanh", "square"):
        y, pullback = vjp(program(f"np.{name}(x)"), z)
        assert pullback(np.ones_like(y))[0].dtype == np.complex64
        assert jvp(program(f"np.{name}(x)"), (z,), (z,))[1].dtype == y.dtype
