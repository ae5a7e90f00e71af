"""The first infinity or NaN is found, with the line, the variable, the sweep, the pass and the operands."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import srcgrad
from tests.observe import programs

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def line(function, offset):
    return f"programs.py:{function.__code__.co_firstlineno + offset}"


def found(function, *args):
    with srcgrad.debug_nans(), pytest.raises(srcgrad.NonFiniteError) as caught:
        srcgrad.grad(function)(*args)
    assert not getattr(caught.value, "__notes__", [])  # it says all by itself
    return caught.value


def test_an_infinity_in_the_reverse_sweep():
    text = str(found(programs.roots, np.array([2.0, 0.0])))
    assert text.startswith("an infinity appears in the reverse sweep, in y_bar, the adjoint of y\n")
    assert line(programs.roots, 2) in text and "z = np.sqrt(y)" in text
    assert "gives:     [0.25  inf]" in text
    assert "z_bar = [1. 1.]" in text and "z = [2. 0.]" in text


def test_a_nan_in_the_forward_sweep_with_the_pass_of_its_loop():
    error = found(programs.logarithms, 1.2, 5)
    text = str(error)
    assert text.startswith("a NaN appears in the forward sweep, in s\n")
    assert f"i = 1, pass 2 of the loop in {error.span.file}:" in text
    assert error.span.line == programs.logarithms.__code__.co_firstlineno + 5


def test_a_store_into_an_array():
    text = str(found(programs.stored, np.array([1.0, 2.0, 0.0, 3.0])))
    assert "an infinity appears in the forward sweep" in text and "i = 2" in text


def test_inside_of_a_callee_called_from_a_loop():
    error = found(programs.calls, np.array([2.0]))  # the square root of 0 in the last pass
    assert error.span.function == "helper"
    assert "the reverse sweep" in str(error)
    assert f"pass 1 from the end of the loop in {error.span.file}:" in str(error)


def test_an_argument_that_holds_a_nan():
    text = str(found(programs.roots, np.array([1.0, np.nan])))
    assert text.startswith("x holds a NaN when grad_roots is called")


def test_what_is_finite_passes_and_gives_the_same():
    x = np.array([0.3, 0.5])
    with srcgrad.debug_nans():
        assert np.array_equal(srcgrad.grad(programs.roots)(x), srcgrad.grad(programs.roots)(x))
        watched = srcgrad.grad(programs.heat)(np.linspace(0.0, 1.0, 6), 3, 0.1)
    assert np.array_equal(watched, srcgrad.grad(programs.heat)(np.linspace(0.0, 1.0, 6), 3, 0.1))


def test_an_infinity_that_is_spelled_is_meant():
    with srcgrad.debug_nans():
        assert np.isfinite(srcgrad.grad(programs.logarithms)(3.0, 1))


def test_a_pullback_made_inside_looks_outside_too():
    with srcgrad.debug_nans():
        value, pullback = srcgrad.vjp(programs.roots, np.zeros(2))
    assert value == 0.0
    with pytest.raises(FloatingPointError, match="reverse sweep"):
        pullback(1.0)


def test_tangents_and_second_derivatives():
    with srcgrad.debug_nans():
        with pytest.raises(srcgrad.NonFiniteError, match="tangent sweep"):
            srcgrad.jvp(programs.roots, (np.zeros(2),), (np.ones(2),))
        with pytest.raises(srcgrad.NonFiniteError):
            srcgrad.hessian(programs.roots)(np.zeros(2))


def test_the_environment_variable():
    code = (
        "import numpy as np, srcgrad\nfrom tests.observe import programs\n"
        "try: srcgrad.grad(programs.roots)(np.zeros(2))\nexcept FloatingPointError: print('found')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "SRCGRAD_DEBUG_NANS": "1"}, capture_output=True, text=True
    )
    assert done.stdout == "found\n"


LIMIT = np.inf


class Bounded:
    least = -np.inf

    def __init__(self, inner=None):
        self.most, self.inner = np.array([np.inf, 2.0]), inner

    def energy(self, x):
        y = np.maximum(np.minimum(x, self.most), self.least)
        held = 0.0 if self.inner is None else self.inner.energy(x)
        best = LIMIT
        for one in y:
            if one < best:
                best = one
        return np.sum(y**2) + best + held


def test_infinities_that_a_program_is_given_are_not_made_by_it():
    x = np.array([1.0, 3.0])
    for method in (Bounded().energy, Bounded(Bounded()).energy):
        expected = srcgrad.grad(method)(x)
        with srcgrad.debug_nans():
            assert np.array_equal(srcgrad.grad(method)(x), expected)
