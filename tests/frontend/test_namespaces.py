"""Names for modules and for None: followed where they are known, bound where the ways meet."""

from __future__ import annotations

import importlib
import importlib.util

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedSyntax

pytest.importorskip("scipy")

from scipy import signal, special
from scipy._lib._array_api import (
    _asarray,
    array_namespace,
    is_numpy,
    is_torch,
    xp_promote,
)

HOLDER = "scipy._external" if importlib.util.find_spec("scipy._external") else "scipy._lib"
xpx = importlib.import_module(f"{HOLDER}.array_api_extra")

X = np.array([0.3, 0.7, 1.1])


def energy(x, xp=None):
    xp = array_namespace(x) if xp is None else xp
    return xp.sum(x * x)


def handed_on(x, xp=None):
    return energy(x, xp=xp) + energy(x, xp=np)


def asked(x):
    xp = array_namespace(x)
    if is_torch(xp):
        return xp.torch_only(x)
    y = xp.exp(x) if is_numpy(xp) else x
    return xp.sum(y)


def in_a_handler(x):
    try:
        xp = array_namespace(x)
    except TypeError:
        xp = None
    return xp.sum(xp.sin(x))


def converted(x, y):
    xp = array_namespace(x, y)
    x, y = xp_promote(x, y, force_floating=True, xp=xp)
    x = _asarray(x, dtype=x.dtype, xp=xp)
    return xp.vecdot(x, y)


def in_a_function_inside(x):
    xp = array_namespace(x)

    def inner(t):
        return xp.tanh(t)

    return xp.sum(inner(x))


def in_a_comprehension(x):
    xp = array_namespace(x)
    return sum([xp.sin(v) for v in x])


def rebound(x, scale=None, shift=None):
    if scale is None:
        scale = x[0]
    for i in range(2):
        if shift is None:
            shift = 0.5 * x[i]
        else:
            shift = shift + x[i]
    return np.sum(scale * x + shift)


def chosen_on_one_way(x, k=None):
    if x[0] > 0.0:
        k = x[1]
    return x[2] if k is None else k * x[2]


PROGRAMS = [
    energy, handed_on, asked, in_a_handler, in_a_function_inside, in_a_comprehension, rebound, chosen_on_one_way,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_is_called_through_a_module_found_at_run_time_is_differentiated(program):
    expected = [np.imag(program(X + 1e-25j * unit)) / 1e-25 for unit in np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(program)(X), expected, rtol=1e-12)


def test_arrays_are_promoted_as_the_library_promotes_them():
    gradient = srcgrad.grad(converted, (0, 1))(X, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(gradient[0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(gradient[1], X)


def test_a_module_may_be_an_argument():
    np.testing.assert_allclose(srcgrad.grad(energy)(X, np), 2.0 * X)


def test_an_object_that_is_no_module_is_not_taken_for_one():
    def f(x, xp):
        if x[0] > 1e6:
            xp = array_namespace(x)
        return xp.total(x)

    class Arrays:
        @staticmethod
        def total(x):
            return np.sum(x)

    with pytest.raises(UnsupportedSyntax):
        srcgrad.grad(f)(X, Arrays)


# --- functions of libraries that have no rule are read ---------------------------------------------------------------
def test_a_function_of_scipy_without_a_rule_is_read():
    def f(width, t):
        return np.sum(signal.windows.gaussian(7, width) * t)

    t = np.arange(7.0)
    numeric = (f(1.3 + 1e-6, t) - f(1.3 - 1e-6, t)) / 2e-6
    assert srcgrad.grad(f)(1.3, t) == pytest.approx(numeric, rel=1e-8)


def test_a_function_that_cannot_be_read_is_called_where_nothing_varies():
    def f(x, n):
        return np.sum(x * signal.get_window(("kaiser", 2.0), n))

    np.testing.assert_allclose(srcgrad.grad(f)(X, 3), signal.get_window(("kaiser", 2.0), 3))


def test_the_refusal_is_that_of_the_function_where_something_varies():
    with pytest.raises(srcgrad.errors.SrcgradError) as caught:
        srcgrad.grad(lambda x: np.sum(special.mathieu_a(1, x)))(0.3)
    assert caught.value.span is not None and caught.value.span.known


def test_what_numpy_tells_of_a_dtype_carries_no_derivative():
    def f(x):
        if x.dtype.char in "?bBhHiIlLqQpP":
            x = x.astype(float)
        limits = np.finfo(x.dtype)
        return np.sum(np.maximum(x, limits.eps) ** 2) + limits.eps

    np.testing.assert_allclose(srcgrad.grad(f)(X), 2.0 * X)


class Scaled:
    """Not an array, but it has a method of that name."""

    def sum(self, x):
        return 3.0 * x


def test_a_method_of_an_unknown_object_is_not_taken_for_that_of_an_array():
    """``a.sum(x)`` was the sum of ``a`` along the axis ``x``, and had no derivative."""
    value = Scaled()
    try:
        gradient = srcgrad.grad(lambda x, a: a.sum(x * x))(2.0, value)
    except srcgrad.errors.SrcgradError as error:
        assert error.span is not None and error.span.known
    else:
        assert gradient == pytest.approx(12.0)


# --- shapes and indices, and what is unpacked at once ----------------------------------------------------------------
def with_shapes(x):
    xp = array_namespace(x)
    index = (slice(None),) * x.ndim + (None,)
    shape = (len(x),) + x.shape[1:] + (1,)
    return xp.sum(x[index] * xp.reshape(x, shape))


def mapped(x):
    a, b = map(np.sin, (x, 2.0 * x))
    a, b = (v / 2.0 for v in [a, b])
    return np.sum(a * b)


def stored_at(x):
    xp = array_namespace(x)
    y = xp.sin(x)
    y = xpx.at(y, 0).set(x[1] * x[2])
    y = xpx.at(y)[1:].set(2.0 * x[1:])
    return xp.sum(y * y)


@pytest.mark.parametrize("program", [with_shapes, mapped, stored_at], ids=lambda program: program.__name__)
def test_what_libraries_write_is_differentiated(program):
    expected = [np.imag(program(X + 1e-25j * unit)) / 1e-25 for unit in np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(program)(X), expected, rtol=1e-12)


def test_values_that_vary_are_not_lost_where_lists_are_joined():
    """Joined lists either keep the derivative or are refused."""
    def f(x):
        return np.sum(np.array([x[0]] + [x[1] * x[2]]) * np.array([x[1]] * 2))

    try:
        gradient = srcgrad.grad(f)(X)
    except UnsupportedSyntax as error:
        assert error.span is not None
    else:
        expected = [np.imag(f(X + 1e-25j * unit)) / 1e-25 for unit in np.eye(3)]
        np.testing.assert_allclose(gradient, expected, rtol=1e-12)
