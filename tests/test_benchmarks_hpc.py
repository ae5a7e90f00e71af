"""The kernels of ``benchmarks.hpc``: adjoints written by hand, compiled gradients and numeric differences agree."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from benchmarks.hpc import hpc_cases

CASES = hpc_cases(small=True)


def parts(gradient):
    return gradient if isinstance(gradient, tuple) else (gradient,)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_compiled_gradients_and_adjoints_by_hand_are_those_of_numeric_differences(case):
    before = [np.copy(argument) for argument in case.arguments]
    argnums = parts(case.argnums)
    expected = parts(case.handwritten(*case.arguments))
    compiled = parts(srcgrad.grad(case.program, case.argnums)(*case.arguments))
    rng = np.random.default_rng(7)
    for number, by_hand, found in zip(argnums, expected, compiled, strict=True):
        np.testing.assert_allclose(found, by_hand, rtol=1e-9, atol=1e-11)
        part = rng.normal(size=np.shape(case.arguments[number]))

        def along(step, number=number, part=part):
            arguments = list(case.arguments)
            arguments[number] = arguments[number] + step * part
            return case.program(*arguments)

        # Richardson's extrapolation leaves an error of the fourth order
        coarse, fine = ((along(step) - along(-step)) / (2.0 * step) for step in (2e-4, 1e-4))
        assert np.sum(by_hand * part) == pytest.approx((4.0 * fine - coarse) / 3.0, rel=1e-7, abs=1e-8)
    assert all(np.array_equal(argument, was) for argument, was in zip(case.arguments, before, strict=True))


def test_there_are_twenty_kernels():
    assert len({case.name for case in CASES}) == 20
