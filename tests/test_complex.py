"""Complex arguments and results: the convention, holomorphic functions, seeds, dense derivatives, what is refused."""

from __future__ import annotations

import cmath
import pickle
import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, grad, hessian, hvp, jacfwd, jacobian, jvp, value_and_grad, vjp
from tests import derivatives
from tests.parameters import share_by_day

RANDOM = np.random.default_rng(5)


def draw(*shape: int, dtype: type = np.complex128) -> np.ndarray:
    return (RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)).astype(dtype)


Z, W, A = draw(3), draw(3), draw(3, 3)
X = RANDOM.standard_normal(3)


@pytest.fixture(autouse=True)
def no_imaginary_part_is_dropped_unnoticed():
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


# --- the convention --------------------------------------------------------------------------------------------------
def loss(z):
    return np.sum(np.abs(z * z + 0.5) ** 2) + np.sum(z.real * z.imag)


def test_the_gradient_is_the_derivative_by_the_real_part_less_1j_times_that_by_the_imaginary_part():
    got = grad(loss)(Z)
    by_parts = grad(lambda a, b: loss(a + 1j * b), argnums=(0, 1))(Z.real.copy(), Z.imag.copy())
    np.testing.assert_allclose(got, by_parts[0] - 1j * by_parts[1])
    direction = draw(3)
    h = 1e-6
    numeric = (loss(Z + h * direction) - loss(Z - h * direction)) / (2 * h)
    assert np.real(np.sum(got * direction)) == pytest.approx(numeric, rel=1e-7)
    assert jvp(loss, (Z,), (direction,))[1] == pytest.approx(numeric, rel=1e-7)


def test_pytorch_has_the_conjugate():
    torch = pytest.importorskip("torch")
    z = torch.tensor(Z, requires_grad=True)
    value = torch.sum(torch.abs(z * z + 0.5) ** 2) + torch.sum(z.real * z.imag)
    value.backward()
    np.testing.assert_allclose(grad(loss)(Z), np.conj(z.grad.numpy()))


def test_autograd_has_the_same():
    autograd = pytest.importorskip("autograd")
    anp = pytest.importorskip("autograd.numpy")

    def theirs(z):
        return anp.sum(anp.abs(z * z + 0.5) ** 2) + anp.sum(anp.real(z) * anp.imag(z))

    np.testing.assert_allclose(grad(loss)(Z), autograd.grad(theirs)(Z))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_gradients_keep_the_dtype(dtype):
    z = Z.astype(dtype)
    assert grad(loss)(z).dtype == dtype
    x = X.astype(np.finfo(dtype).dtype)
    assert grad(lambda x: np.sum(np.abs(x * z)))(x).dtype == x.dtype
    assert type(grad(lambda a: abs(a * a))(0.3 + 0.1j)) is complex
    assert type(grad(lambda a: abs(a * (0.3 + 1j)))(0.3)) is float
    assert type(grad(lambda a: abs(a * a))(dtype(0.3 + 0.1j))) is dtype


def test_a_step_against_the_conjugate_descends():
    z = Z
    slope = grad(lambda z: np.sum(np.abs(A @ z - W) ** 2))
    for _ in range(200):
        z = z - 0.05 * np.conj(slope(z))
    assert np.sum(np.abs(A @ z - W) ** 2) < np.sum(np.abs(A @ Z - W) ** 2)


# --- every mode ------------------------------------------------------------------------------------------------------
def turning(z, n):
    s = 0.0
    for k in range(n):
        s = s * z + k * np.conj(z)
        if abs(s) > 2.0:
            s = s.real
    return abs(s + z)


def layers(p, x):
    h = x
    for w, b in p["layers"]:
        h = w @ h + b
        h = h / (1.0 + np.abs(h))
    return np.sum(np.abs(h) ** 2) * p["scale"]


LAYERS = {"layers": [(draw(2, 3), draw(2)), (draw(2, 2), X[:2])], "scale": 0.5, "depth": 2, "name": "net"}

PROGRAMS = {
    "product": (lambda z, w: np.sum(np.abs(z * w + z)), (Z, W)),
    "mixed": (lambda x, z: np.abs(np.sum(x * z)) ** 2 + np.sum(x * z.real), (X, Z)),
    "numbers": (lambda a, b: abs(a * b + 1j * a) ** 2 / abs(b), (0.3, 0.2 + 0.5j)),
    "numpy numbers": (lambda a, b: abs(a * b + 1j * a) ** 2, (np.float64(0.3), np.complex128(0.2 + 0.5j))),
    "zero dimensions": (lambda a: np.abs(a * a + 1.0), (np.array(0.3 + 0.4j),)),
    "broadcast": (lambda z, w: np.sum(np.abs(z[:, None] * w) ** 2), (Z, W)),
    "loop": (turning, (0.4 + 0.3j, 5)),
    "containers": (layers, (LAYERS, X)),
    "matrices": (lambda a, x: np.sum(np.abs(np.linalg.inv(a) @ x) ** 2) + np.abs(np.linalg.det(a)), (A, X)),
    "solve": (lambda a, b: np.real(np.vdot(b, np.linalg.solve(a, b))), (A, Z)),
    "fourier": (lambda z: np.sum(np.abs(np.fft.fft(z)) ** 4), (Z,)),
    "elementary": (lambda z: np.sum(np.abs(np.exp(z) * np.sin(z) + np.sqrt(z) + np.log(z) + np.tanh(z))), (Z,)),
    "powers": (lambda z, w: np.sum(np.abs(z**w + z**3 + z**0.5)), (Z, W)),
    "indices": (lambda z: np.abs(z[0] * z[1]) + 2.0 * np.sum(z[1:].real) + np.abs(z[-1]), (Z,)),
    "real after index": (lambda z: 2.0 * np.sum(np.real(z)) + np.abs(z[0] * z[1]), (Z,)),
    "real before index": (lambda z: np.abs(z[0] * z[1]) + 2.0 * np.sum(np.real(z)), (Z,)),
    "modulus as a number": (lambda z: sum([abs(v) * v.real for v in z]), (Z,)),
    "angles": (lambda z: np.sum(np.angle(z) ** 2) + np.sum(np.sign(z).imag), (Z,)),
    "cmath": (lambda z: abs(cmath.exp(z) * cmath.sqrt(z)) + cmath.phase(z), (0.3 + 0.2j,)),
    "complex result": (lambda z, x: z * x + np.conj(z), (Z, X)),
    "complex and real results": (lambda z: (z * z, np.abs(z), {"n": 3, "s": z[0]}), (Z,)),
    "norm": (lambda z: np.linalg.norm(z) + np.linalg.norm(z, 3), (Z,)),
    "where": (lambda z: np.sum(np.abs(np.where(z.real > 0, z * z, z.imag))), (Z,)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, "optimised") for name in PROGRAMS),
        *share_by_day(((n, options) for options in ("plain", "generic", "generic-plain") for n in PROGRAMS), 7),
    ],
)
@pytest.mark.costly(3, first=2)
def test_reverse_forward_and_second_order_agree_with_numbers(name, options):
    function, arguments = PROGRAMS[name]
    with derivatives.settings(options):
        found = check_grads(function, *arguments)
    assert {comparison.mode for comparison in found} >= {"reverse", "forward"}


@pytest.mark.parametrize("name", ["product", "mixed", "numbers", "loop", "matrices", "indices", "real before index"])
@pytest.mark.costly(2)
def test_reverse_over_reverse_is_forward_over_reverse(name):
    function, arguments = PROGRAMS[name]
    argnums = tuple(k for k, a in enumerate(arguments) if not isinstance(a, int))
    direction = tuple(
        np.asarray(draw(*np.shape(a)) if np.iscomplexobj(a) else RANDOM.standard_normal(np.shape(a)))[()]
        for a in arguments
        if not isinstance(a, int)
    )
    change = hvp(function, argnums)(*arguments, direction)
    _, pullback = vjp(grad(function, argnums), *arguments, argnums=argnums)
    for one, other in zip(change, pullback(direction), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


# --- holomorphic functions -------------------------------------------------------------------------------------------
def entire(z):
    return np.sum(np.exp(z) * z * z)


def test_the_complex_derivative():
    expected = np.exp(Z) * (Z * Z + 2.0 * Z)
    np.testing.assert_allclose(grad(entire, holomorphic=True)(Z), expected)
    value, gradient = value_and_grad(entire, holomorphic=True)(Z)
    assert value == entire(Z)
    np.testing.assert_allclose(gradient, expected)
    gradient, aux = grad(lambda z: (entire(z), z * 2.0), has_aux=True, holomorphic=True)(Z)
    np.testing.assert_allclose(gradient, expected)
    np.testing.assert_array_equal(aux, Z * 2.0)
    assert grad(lambda z: z * z, holomorphic=True)(1.0 + 2.0j) == 2.0 + 4.0j


def test_the_second_complex_derivative():
    twice = grad(grad(lambda z: z**4, holomorphic=True), holomorphic=True)
    assert twice(1.0 + 2.0j) == pytest.approx(12.0 * (1.0 + 2.0j) ** 2)
    second = jacfwd(grad(entire, holomorphic=True), holomorphic=True)(Z)
    np.testing.assert_allclose(second, np.diag(np.exp(Z) * (Z * Z + 4.0 * Z + 2.0)), atol=1e-14)


@pytest.mark.parametrize("function", [np.conj, lambda z: z * np.conj(z), lambda z: z + 1j * np.abs(z)])
def test_a_function_without_a_complex_derivative_is_refused(function):
    with pytest.raises(srcgrad.SeedError, match="holomorphic"):
        grad(lambda z: np.sum(function(z)) * 1.0, holomorphic=True)(Z)


def test_a_complex_derivative_is_checked_at_the_point():
    """z conj(z) has a complex derivative at 0 and nowhere else."""
    assert grad(lambda z: z * np.conj(z), holomorphic=True)(0j) == 0.0


def test_holomorphic_wants_complex_numbers():
    with pytest.raises(srcgrad.ArgumentError, match="0j"):
        grad(entire, holomorphic=True)(X)
    with pytest.raises(srcgrad.SeedError, match="complex number"):
        grad(lambda z: np.sum(np.abs(z)), holomorphic=True)(Z)


def test_a_complex_result_says_what_to_do():
    with pytest.raises(srcgrad.SeedError, match="holomorphic=True") as caught:
        grad(entire)(Z)
    assert "vjp" in str(caught.value)
    with pytest.raises(srcgrad.SeedError, match="complex"):
        grad(lambda x: np.sum(x) * 1j)(X)
    with pytest.raises(srcgrad.SeedError, match="complex"):
        hessian(lambda x: np.sum(x) * 1j)(X)


@pytest.mark.parametrize("first", [grad, value_and_grad])
def test_a_gradient_of_many_complex_numbers_is_not_differentiated(first):
    gradient = first(lambda z: z * z, holomorphic=True)
    for again in (lambda: jvp(gradient, (Z,), (Z,)), lambda: vjp(gradient, Z), lambda: gradient(Z)):
        with pytest.raises(srcgrad.SeedError, match="one complex number"):
            again()


def test_holomorphic_is_pickled():
    again = pickle.loads(pickle.dumps(grad(entire, holomorphic=True)))
    np.testing.assert_array_equal(again(Z), grad(entire, holomorphic=True)(Z))


# --- seeds and tangents ----------------------------------------------------------------------------------------------
def test_seeds_ask_for_the_parts():
    def f(z):
        return z * np.conj(W) + np.abs(z)

    _, pullback = vjp(f, Z)
    np.testing.assert_allclose(pullback(np.ones(3))[0], grad(lambda z: np.sum(f(z).real))(Z))
    np.testing.assert_allclose(pullback(np.full(3, -1j))[0], grad(lambda z: np.sum(f(z).imag))(Z))


def test_seeds_of_real_values_are_real():
    _, pullback = vjp(lambda z: np.abs(z), Z)
    with pytest.raises(srcgrad.SeedError, match="real"):
        pullback(np.ones(3) * 1j)
    with pytest.raises(srcgrad.SeedError, match="real"):
        jvp(lambda x: x * 1j, (X,), (X * 1j,))
    value, tangent = jvp(lambda z: np.abs(z), (Z,), (X,))
    assert tangent.dtype == np.float64


def test_seeds_take_the_dtype_of_the_value():
    z = Z.astype(np.complex64)
    _, pullback = vjp(lambda z: z * z, z)
    assert pullback(np.ones(3))[0].dtype == np.complex64
    assert jvp(lambda z: z * z, (z,), (Z,))[1].dtype == np.complex64


def test_the_adjoint_and_the_tangent_are_dual():
    def f(x, z):
        return np.exp(1j * x) * z, np.abs(z) * x

    x_dot, z_dot = RANDOM.standard_normal(3), draw(3)
    bars = draw(3), RANDOM.standard_normal(3)
    _, tangent = jvp(f, (X, Z), (x_dot, z_dot))
    _, pullback = vjp(f, X, Z)
    x_bar, z_bar = pullback(bars)
    assert x_bar.dtype == np.float64
    left = sum(np.sum(bar * dot).real for bar, dot in zip(bars, tangent, strict=True))
    assert left == pytest.approx(np.sum(x_bar * x_dot) + np.sum(z_bar * z_dot).real)


# --- dense derivatives -----------------------------------------------------------------------------------------------
def test_a_jacobian_of_a_complex_value_by_a_real_argument():
    def f(x):
        return np.exp(1j * x) * x[0]

    expected = np.diag(1j * np.exp(1j * X) * X[0])
    expected[:, 0] += np.exp(1j * X)
    np.testing.assert_allclose(jacobian(f)(X), expected)
    np.testing.assert_allclose(jacfwd(f)(X), expected)


def test_a_jacobian_of_a_real_value_by_a_complex_argument():
    def f(z):
        return np.abs(z * W)

    expected = np.diag(np.abs(W) * np.conj(Z) / np.abs(Z))
    np.testing.assert_allclose(jacobian(f)(Z), expected, atol=1e-15)
    np.testing.assert_allclose(jacfwd(f)(Z), expected, atol=1e-15)
    np.testing.assert_allclose(jacobian(lambda z: np.sum(f(z)))(Z), grad(lambda z: np.sum(f(z)))(Z))


def test_a_jacobian_of_a_complex_value_by_a_complex_argument():
    for dense in (jacobian, jacfwd):
        with pytest.raises(srcgrad.SeedError, match="holomorphic=True"):
            dense(lambda z: A @ z)(Z)
        np.testing.assert_allclose(dense(lambda z: A @ z, holomorphic=True)(Z), A)
        with pytest.raises(srcgrad.SeedError, match="not holomorphic"):
            dense(lambda z: A @ np.conj(z), holomorphic=True)(Z)


def test_jacobians_of_containers():
    def f(p):
        return {"real": np.abs(p["z"]) * p["x"], "complex": p["x"] * 1j}

    point = {"z": Z, "x": X, "n": 3}
    for dense in (jacobian, jacfwd):
        made = dense(f, holomorphic=True)(point)
        real = made["real"]
        assert real["n"] is None
        np.testing.assert_allclose(real["z"], np.diag(np.conj(Z) / np.abs(Z) * X))
        np.testing.assert_allclose(real["x"], np.diag(np.abs(Z)))
        np.testing.assert_allclose(made["complex"]["x"], 1j * np.eye(3))
        np.testing.assert_array_equal(made["complex"]["z"], np.zeros((3, 3)))


def test_a_hessian_by_complex_numbers_is_refused_and_hvp_is_not():
    with pytest.raises(srcgrad.ArgumentError, match="hvp"):
        hessian(loss)(Z)
    v = draw(3)
    h = 1e-6
    numeric = (grad(loss)(Z + h * v) - grad(loss)(Z - h * v)) / (2 * h)
    np.testing.assert_allclose(hvp(loss)(Z, v), numeric, rtol=1e-7)


def test_a_hessian_of_a_real_function_with_complex_numbers_inside():
    def f(x):
        return np.sum(np.abs(np.exp(1j * x) + x * W) ** 2)

    h = 1e-5
    numeric = np.array([(grad(f)(X + h * e) - grad(f)(X - h * e)) / (2 * h) for e in np.eye(3)])
    np.testing.assert_allclose(hessian(f)(X), numeric, rtol=1e-6, atol=1e-8)


# --- containers with numbers that have no derivative -----------------------------------------------------------------
def test_integers_in_containers_have_none():
    def f(p):
        return np.sum(np.abs(p["w"]) ** p["n"]) * p["list"][0] * p["flags"][0]

    point = {"w": Z, "n": 3, "list": [0.5, 2], "flags": np.array([True]), "name": "x", "count": np.arange(2)}
    got = grad(f)(point)
    assert got["n"] is None and got["list"][1] is None and got["flags"] is None and got["count"] is None
    assert got["list"][0] == pytest.approx(np.sum(np.abs(Z) ** 3))
    value, pullback = vjp(grad(f), point)
    assert value["n"] is None
    assert pullback(got)[0]["n"] is None
    assert hvp(f)(point, got)["n"] is None
    assert jvp(f, (point,), ({**got, "n": 0},))[1] == pytest.approx(jvp(f, (point,), (got,))[1])
    check_grads(f, point)
    dense = hessian(lambda p: np.sum(p["x"] ** p["n"]) * p["list"][0])({"x": X, "n": 3, "list": [0.5, 2]})
    assert dense["n"] is None and dense["x"]["n"] is None and dense["list"][1] is None
    np.testing.assert_allclose(dense["list"][0]["x"], 3.0 * X**2)


def test_numbers_that_are_all_integers_are_refused():
    with pytest.raises(srcgrad.ArgumentError, match="pass 1.0"):
        grad(lambda p: p[0] * 1.0)([1, 2])
    with pytest.raises(srcgrad.ArgumentError, match="n"):
        grad(lambda p: p["n"] * 1.0)({"n": 3})
    assert grad(lambda p: 1.0)([]) == []


# --- imaginary parts of arrays that are stored into ------------------------------------------------------------------
def by_elements(x):
    y = np.zeros(3, dtype=complex)
    for k in range(3):
        y[k] = np.exp(1j * x[k]) * x[0]
    return np.sum(y.imag * x) * np.sum(y.real)


def both_parts(x):
    y = x * (1.0 + 2.0j)
    y[:2] = y[1:] * y[:2]
    y *= 1j
    return np.sum(y[1:].real ** 2 + y.T.imag[1:] ** 3)


def a_copy_is_kept(x):
    y = x * (1.0 + 1.0j)
    old = y.imag.copy()
    y[0] = y[1] * y[0]
    return np.sum(old * y.imag)


def stored(y, x):
    y[0] = 1j * y[1] * x


def by_a_callee(x):
    y = x * (1.0 + 1.0j)
    stored(y, x[2])
    return np.sum(y.imag**2)


@pytest.mark.parametrize("function", [by_elements, both_parts, a_copy_is_kept, by_a_callee])
@pytest.mark.costly(2)
def test_the_imaginary_part_of_an_array_that_is_stored_into(function):
    """Once refused: the adjoint of an imaginary part is the negative of that of the adjoint, which no view shows."""
    check_grads(function, X, order=2)


def test_an_imaginary_part_that_shows_a_later_store_is_refused():
    def f(x):
        y = x * (1.0 + 1.0j)
        part = y.imag
        y[0] = 1j * x[1] ** 2
        return np.sum(part)

    with pytest.raises(srcgrad.runtime.refusals.RefusedType, match=r"kept as a view") as caught:
        grad(f)(X)
    assert "part = y.imag" in str(caught.value)
