"""Stores that raise what the program catches, casts that NumPy refuses, and what is added to integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.programs import options
from srcgrad.runtime.refusals import RefusedType

X = np.array([0.7, 1.1, 2.05])
DOT = np.array([0.3, -1.0, 0.4])


def check(f: Callable[..., Any], *given: Any, step: float = 1e-6, refused: str | None = None) -> None:
    """Value, gradient, tangent and second derivative, with what is known and without, where the latter may be
    ``refused`` with these words."""

    def gradient(x: Any) -> Any:
        return np.array([(f(x + e, *given) - f(x - e, *given)) / (2 * step) for e in step * np.eye(len(x))])

    second = (gradient(X + 1e-3 * DOT) - gradient(X - 1e-3 * DOT)) / 2e-3
    for specialised in (True, False):
        with options(specialise=specialised):
            value, found = srcgrad.value_and_grad(f)(X, *given)
            moved = srcgrad.jvp(f, (X, *given), (DOT, *(None for _ in given)))
            if refused is None or specialised:
                np.testing.assert_allclose(srcgrad.hvp(f)(X, *given, DOT), second, rtol=1e-4, atol=1e-4)
            else:
                with pytest.raises(srcgrad.SrcgradError, match=refused):
                    srcgrad.hvp(f)(X, *given, DOT)
        np.testing.assert_allclose((value, moved[0]), (f(X, *given),) * 2, rtol=1e-12)
        np.testing.assert_allclose(found, gradient(X), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(moved[1], gradient(X) @ DOT, rtol=1e-6, atol=1e-6)


# --- what is added to integers ---------------------------------------------------------------------------------------
def maybe_integers(x):
    y = np.arange(3) if x[0] > 0 else x * 1
    np.add.at(y, [0], x[:1] * 3)
    np.subtract.at(y, [1, 1], x[1:] * 3)
    return (y * x).sum()


def elements_of_integers(x):
    y = np.arange(3) if x[0] > 0 else x * 1
    y[0] += x[0] * 3
    y[1] -= x[1] * x[2]
    return (y * x).sum()


def added(x, n):
    n = n.copy()
    np.add.at(n, [0, 0], x[:2] * 3)
    np.add.at(n, slice(1, 3), x[:2] * x[1])
    np.add.at(n, ..., x[2])
    return (n * n * x).sum()


@pytest.mark.parametrize("f", [maybe_integers, elements_of_integers], ids=lambda f: f.__name__)
@pytest.mark.costly(1)
def test_what_is_added_to_integers_has_no_derivative(f) -> None:
    """Of an array that is not known to be of integers ``np.add.at`` let the derivative through, in both modes; reverse
    mode of ``y[0] += e`` too."""
    check(f)


@pytest.mark.parametrize("n", [np.arange(3), np.arange(3, dtype=np.int8), np.arange(3.0)], ids=lambda n: n.dtype.name)
@pytest.mark.costly(1, first=2)
def test_what_is_added_to_an_argument(n) -> None:
    """The generic program took any argument for one of floats."""
    check(added, n, refused=r"(?s)a call that stores into what may be no array.*np\.add\.at.*\^")


# --- stores that raise -----------------------------------------------------------------------------------------------
def too_many(x):
    y = x * 1
    try:
        y[[0, 1]] = np.ones(4)
    except ValueError:
        pass
    try:
        y[:2] = np.ones(4)
    except ValueError:
        y = y * x
    try:
        y[y > 0.5] = np.ones(4)
    except ValueError:
        y[1] = y[0]
    return y @ y


def no_number(x):
    y = x * 1
    try:
        y[0] = "a"
    except ValueError:
        y[1] *= 2
    try:
        y[0] = 1j
    except TypeError:
        y[1] *= x[0]
    try:
        y.fill("a")
    except ValueError:
        y[2] *= x[1]
    return y @ y


def no_real_number(x):
    y = x * 1
    try:
        y[...] += 1j
    except TypeError:
        y[2] *= x[1]
    return y @ y


def copied(x):
    y = x * 1
    try:
        np.copyto(y, np.ones(4))
    except ValueError:
        y[1] *= x[0]
    return y @ y


def read_only(x):
    y = x * 1
    y.flags.writeable = False
    try:
        y[0] = 1.0
    except ValueError:
        pass
    try:
        y[1:] += x[1:] * x[0]
    except ValueError:
        return y @ y * x[0]
    return y @ y


def store(y, i, e):
    y[i] = e


def in_a_callee(x):
    y = x * 1
    store(y, 2, x[0] * x[0])
    try:
        store(y, 1, x[2] * 2.0)
        store(y, slice(2), np.ones(4))
    except ValueError:
        store(y, 0, y[1])
    return y @ y


def by_places_that_change(x):
    """The index is the array that is stored into: the tangent goes where the value went."""
    k = np.array([2, 0, 1])
    y = x * 1
    both = [k, y]
    try:
        k[k] = np.array([0, 1, 2])
        both[1][k[1:]] = x[:2] * x[0]
        np.add.at(both[1], both[0], x * x)
    except IndexError:
        pass
    return (y * x).sum()


def by_a_mask_of_what_changes(x):
    y = x * 1
    w = y.reshape(3, 1)[:, 0]
    try:
        w[y > 1] = np.arange(2)
    except ValueError:
        pass
    return y @ y + y[0] * x[2]


def whole_items(x):
    items = [x[0], x[1], x[2]]
    try:
        items[0:1] = items
        items[::2] = [1.0]
    except ValueError:
        items[4] = items[0] * 2.0
    return items[0] * items[1] + items[4] * items[2]


PROGRAMS = [
    too_many, no_number, no_real_number, copied, in_a_callee, by_places_that_change, by_a_mask_of_what_changes,
    whole_items,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.costly(2, first=1)
def test_a_store_that_raises_leaves_the_tangent_as_it_was(f) -> None:
    """Forward mode, and second derivatives, stored the tangent before the value, which then raised."""
    check(f)


# --- casts -----------------------------------------------------------------------------------------------------------
def copied_into_integers(x):
    y = np.arange(3)
    try:
        np.copyto(y, x * 3)
    except TypeError:
        y = y + x
    return (y * x).sum()


def copied_unsafely(x):
    y = np.arange(3)
    np.copyto(y, x * 3, casting="unsafe")
    np.copyto(y, 2, where=x > 2)
    return (y * x).sum()


def placed_into_integers(x):
    y = np.arange(3)
    try:
        np.place(y, y > 0, x)
    except TypeError:
        y = y + x
    z = np.arange(3)
    try:
        np.putmask(z, z > 0, x)
    except TypeError:
        z = z + x
    return (y * z).sum()


@pytest.mark.parametrize("f", [copied_into_integers, copied_unsafely, placed_into_integers], ids=lambda f: f.__name__)
@pytest.mark.costly(1, first=1)
def test_casts_that_numpy_refuses_raise(f) -> None:
    """``np.copyto``, ``np.place`` and ``np.putmask`` cast floats to integers where NumPy raises a TypeError."""
    check(f)


def test_unsigned_integers_are_not_taken_away() -> None:
    """``np.subtract.at`` added the value with its sign changed, which wraps: 255 for 1."""

    def f(x, n):
        y = x * 1
        np.subtract.at(y, [0, 1, 1], n)
        return (y * x).sum()

    check(f, np.array([1, 2, 3]))
    with pytest.raises(RefusedType, match="unsigned"):
        srcgrad.grad(f)(X, np.array([1, 2, 3], np.uint8))
