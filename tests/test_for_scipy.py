"""Derivatives in the form and order in which SciPy's optimizers take them."""

from __future__ import annotations

import doctest
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.optimize

import srcgrad
import srcgrad.scipy
from srcgrad import ArgumentError, hessp, hvp

X0 = np.array([0.5, 0.8, 1.2, 1.5])


def rosenbrock(x, a, b=100.0):  # type: ignore[no-untyped-def]
    return np.sum(b * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)


def residuals(x, t, y):  # type: ignore[no-untyped-def]
    return x[0] * np.exp(-x[1] * t) - y


@pytest.mark.parametrize(
    "method, second",
    [("BFGS", None), ("L-BFGS-B", None), ("Newton-CG", "hessp"), ("trust-ncg", "hessp"), ("trust-exact", "hess")],
)
def test_minimize(method: str, second: str | None) -> None:
    asked = srcgrad.scipy.minimize_args(rosenbrock, second)  # type: ignore[arg-type]
    found = scipy.optimize.minimize(x0=X0, args=(1.0,), method=method, **asked)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


def test_least_squares_and_root() -> None:
    t = np.linspace(0.0, 2.0, 20)
    y = 3.0 * np.exp(-0.7 * t)
    found = scipy.optimize.least_squares(x0=np.ones(2), args=(t, y), **srcgrad.scipy.least_squares_args(residuals))
    np.testing.assert_allclose(found.x, [3.0, 0.7], rtol=1e-6)


def test_hessp_takes_the_vector_second() -> None:
    p = np.array([1.0, -1.0, 0.0, 2.0])
    product = hessp(rosenbrock)
    np.testing.assert_array_equal(product(X0, p, 1.0), hvp(rosenbrock)(X0, 1.0, p))
    np.testing.assert_array_equal(product(X0, p, 1.0, 10.0), hvp(rosenbrock)(X0, 1.0, 10.0, p))
    np.testing.assert_array_equal(product(X0, p, a=1.0, b=10.0), hvp(rosenbrock)(X0, p, a=1.0, b=10.0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(product))(X0, p, 1.0), product(X0, p, 1.0))
    assert str(inspect.signature(product)) == "(x, p, a, b=100.0)"
    assert repr(product) == "<srcgrad hessp of tests.test_for_scipy.rosenbrock>"


def test_what_hessp_refuses() -> None:
    with pytest.raises(ArgumentError, match=r"hessp\(rosenbrock\) needs x and the vector p"):
        hessp(rosenbrock)(X0)
    with pytest.raises(ArgumentError, match="hessp.f. is not differentiated itself"):
        srcgrad.jacobian(hessp(rosenbrock))
    with pytest.raises(ArgumentError, match="second is"):
        srcgrad.scipy.minimize_args(rosenbrock, "hessian")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="a function is expected"):
        hessp(3.0)  # type: ignore[arg-type]


def inside(x):  # type: ignore[no-untyped-def]
    return np.sum(srcgrad.hessp(rosenbrock)(x, x, 1.0))


def test_hessp_inside_of_a_differentiated_function_is_refused() -> None:
    with pytest.raises((srcgrad.LanguageError, srcgrad.ArgumentError, srcgrad.MissingRule)):
        srcgrad.grad(inside)(X0)


def test_the_module_imports_nothing_of_scipy() -> None:
    program = "import sys, srcgrad; srcgrad.scipy.minimize_args; print('scipy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout == "False\n"


def test_the_example_of_the_module() -> None:
    assert doctest.testmod(srcgrad.scipy).failed == 0
