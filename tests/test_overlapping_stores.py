"""Stores of what lies in the same array: as NumPy has them, or refused where its result depends on the order."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime.refusals import RefusedValue

POINT = np.array([1.3, 0.7, 1.1])
DIRECTION = np.array([0.3, -0.2, 0.5])
#: Statements on ``a``, a matrix, that NumPy carries out as if what is stored had been copied.
RIGHT = (
    "a[:, 0] = a[1]", "a[1:] = a[:-1]", "a[:-1] = a[1:]", "a[::-1] = a", "a[:] = a.T", "a.T[:] = a", "a[0] = a[:, 0]",
    "a[1] += a[:, 2]", "a[1:] += a[:-1]", "a += a.T", "a *= a[::-1]", "b = a.T; b += a",
    "a[0], a[:, 0] = a[:, 0], a[0]", "b = a.reshape(-1); b[1:] = b[:-1]",
    "b = a.reshape(-1); b[::2] = b[4:]", "b = a.reshape(-1); b[:3] = b[::4]",
    "a[0][1:] = a[0][:-1]", "a[1] = np.diagonal(a)", "np.add(a[1], a[:, 2], out=a[1])", "a[1] = a[:, 2].copy()",
    "a.flat[3:] = x * 2.0", "b = a[1:]; b[:] = a[:-1]",
)  # fmt: skip
#: Those of which it reads elements that it has written before.
REFUSED = (
    "a[1] = a[:, 2]", "b = a.reshape(-1); b[3:6] = a[:, 2]", "np.copyto(a[1], a[:, 2])",
    "L = [a[1], a[:, 2]]; L[0][:] = L[1]",
    "put(a[1], a[:, 2])", "a.flat[1:] = a.ravel()[:-1]", "a[np.newaxis][0, 1] = a[:, 2]",
)  # fmt: skip


def put(u, v):
    u[:] = v


def program(statement: str) -> Callable[[Any], Any]:
    """A function of a vector that holds the statement."""
    lines = ["a = np.outer(x, np.arange(1.0, 4.0))", statement]
    text = "".join(["def f(x):\n", *(f"    {line}\n" for line in lines), "    return np.sum(a * a * np.arange(3.0))\n"])
    name = f"<overlap: {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"np": np, "put": put, "__name__": __name__}
    exec(compile(text, name, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("statement", RIGHT)
@pytest.mark.costly(2)
def test_what_overlaps_is_stored_as_numpy_does(statement: str) -> None:
    """Value to the last bit, derivative as numbers have it; second order too."""
    function = program(statement)
    value, gradient = srcgrad.value_and_grad(function)(POINT)
    assert value == function(POINT)
    numeric = [(function(POINT + e) - function(POINT - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6)
    moved, change = srcgrad.jvp(function, (POINT,), (DIRECTION,))
    assert moved == value
    np.testing.assert_allclose(change, gradient @ DIRECTION, rtol=1e-10)
    at = srcgrad.grad(function)
    curved = (at(POINT + 1e-5 * DIRECTION) - at(POINT - 1e-5 * DIRECTION)) / 2e-5
    np.testing.assert_allclose(srcgrad.hvp(function)(POINT, DIRECTION), curved, rtol=1e-5)


@pytest.mark.parametrize("statement", REFUSED)
def test_what_depends_on_the_order_of_elements_is_refused(statement: str) -> None:
    """In both directions, with the line of the store."""
    function = program(statement)
    for run in (lambda: srcgrad.grad(function)(POINT), lambda: srcgrad.jvp(function, (POINT,), (DIRECTION,))):
        with pytest.raises(RefusedValue, match=r"what is stored overlaps.*\n  .*:\d+, in "):
            run()
