"""Arrays without axes beside numbers: NumPy computes numbers of them, ``k += e`` stores into the one and binds the
other again, and which of the two a function returns depends on which it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, options

X, V = np.array([0.7137, 1.3271, -0.4193]), np.array([0.3, -0.5, 0.9])


def a_copy_is_an_array(x):
    z = np.array(x[0])
    k = z.copy()
    k[...] = x[1] * x[2]
    return k * z


def an_array_is_no_scalar(x):
    z = np.array(np.sum(x))
    return z**2 * 7 if np.isscalar(z) else z**3


def a_number_keeps_its_class_when_it_is_reshaped(x):
    z = x[0] * x[1]
    k = np.reshape(z, ())
    return k * z if isinstance(k, np.ndarray) else k * z * 3


def a_rolled_number_is_an_array(x):
    z = x[0] * x[1]
    k = np.roll(z, 1)
    k[...] = x[1] * x[2]
    return k * z


def a_sum_with_a_constant(x):
    z = np.array(x[0])
    k = z + 1.0
    z += x[1]
    return k * z


def a_sum_of_a_broadcast(x):
    z = np.array(x[0])
    k = np.broadcast_to(z, ()) + 0
    z *= x[1]
    return k * z


def an_accumulator(x):
    z, seen = np.zeros(()), []
    for v in x:
        z += v
        seen.append(z + 1)
    return seen[0] * seen[1] * seen[2]


def filled_like(x):
    z = np.array(x[0])
    k = np.full_like(z, z)
    z += x[1]
    return k * z


def filled_like_an_array(x):
    z = x * 1
    k = np.full_like(z, z)
    z += x[1]
    return np.sum(k * z)


def chosen(x):
    z = np.array(x[0])
    k = np.where(True, z, z)
    k += x[1]
    return k * z


def multiplied(x):
    k = np.tensordot(x, x, 1)
    k *= x[1]
    return k * x[0]


def the_greatest_is_the_array(x):
    z = np.array(x[0])
    k = max(z, -9.0)
    k += x[1]
    return k * z


def the_conjugate_is_the_array(x):
    z = np.array(x[0])
    k = z.conj()
    z += x[1]
    return k * z


def one_of_several_results(x):
    z = x * 1
    k, _ = np.modf(z)
    z += x[1]
    return np.sum(k * z)


def with_axes_kept(x):
    k = np.median(x[0] * x[1], keepdims=True)
    k[...] *= x[1]
    return k * x[0]


def as_many_axes(x):
    ones, axes = np.ones(2), (1,) * x.ndim
    return np.sum(ones.reshape(ones.shape + axes) * x**2) if isinstance(axes, tuple) else 0.0


def cleared_in_place(x):
    z = np.array(x[0])
    k = np.nan_to_num(z, copy=False)
    k += x[1]
    return k * z


PROGRAMS = [
    a_copy_is_an_array, an_array_is_no_scalar, a_number_keeps_its_class_when_it_is_reshaped,
    a_rolled_number_is_an_array, a_sum_with_a_constant, a_sum_of_a_broadcast, an_accumulator, filled_like,
    filled_like_an_array, chosen, multiplied, the_greatest_is_the_array,
    the_conjugate_is_the_array, one_of_several_results, with_axes_kept, as_many_axes, cleared_in_place,
]  # fmt: skip


def by_differences(f: Callable[..., Any], h: float = 1e-6) -> Any:
    return lambda x: np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)])


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.costly(2)
def test_arrays_without_axes_are_told_from_numbers(f: Callable[..., Any], specialise: bool) -> None:
    """Once another value, a store that was lost, or a tangent that changed with that of another array."""
    slope = by_differences(f)(X)
    with options(specialise=specialise):
        np.testing.assert_allclose(grad(f)(X.copy()), slope, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(jvp(f, (X.copy(),), (V,)), (f(X.copy()), slope @ V), rtol=1e-5, atol=1e-7)
        curvature = by_differences(lambda x: grad(f)(x) @ V)(X)
        np.testing.assert_allclose(hvp(f)(X.copy(), V), curvature, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("f", [multiplied, the_greatest_is_the_array])
def test_tangents_of_single_precision_are_stored_into(f: Callable[..., Any], specialise: bool) -> None:
    """Once TypeError: 'numpy.float32' object does not support item assignment."""
    x, v = X.astype(np.float32), V.astype(np.float32)
    with options(specialise=specialise):
        np.testing.assert_allclose(jvp(f, (x,), (v,))[1], by_differences(f)(X) @ V, rtol=1e-4)
