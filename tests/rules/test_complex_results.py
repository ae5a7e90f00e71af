"""Functions that are complex of real numbers: the cotangent of a real operand is real."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.programs import options
from srcgrad.rules.table import rules
from tests.rules.programs import program
from tests.rules.samples import SAMPLES

special = pytest.importorskip("scipy.special")

ROADS = ({}, {"specialise": False}, {"optimise": False})
X = np.array([0.5, 1.2])


def numerical(f: Callable[..., Any], x: Any) -> Any:
    return np.array([(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(len(x))])


@pytest.mark.parametrize("road", ROADS, ids=lambda road: "-".join(road) or "plain")
@pytest.mark.parametrize("part", ["z.real", "np.real(z)", "z.imag", "np.abs(z)", "np.angle(1 + 1j * x * z)"])
@pytest.mark.parametrize(
    "call",
    [
        "sp.wofz({})", "sp.hankel1(0, {})", "sp.hankel2(0.4, {})", "sp.hankel1e(1, {})", "sp.hankel2e(0, {})",
        "sp.h1vp(0, {})", "sp.h2vp(1, {}, 2)", "np.exp({}, dtype=complex) * 1j",
    ],
)  # fmt: skip
@pytest.mark.costly(12, first=1)
def test_parts_of_complex_numbers_in_functions_that_are_complex(call: str, part: str, road: dict[str, bool]) -> None:
    f = program(f"(lambda z: np.sum(np.imag({call.format(part)})))(x * (1 + 1j))")
    f.__globals__["sp"] = special
    expected = numerical(f, X)
    with options(**road):
        np.testing.assert_allclose(srcgrad.grad(f)(X), expected, rtol=1e-6)
        np.testing.assert_allclose(srcgrad.jvp(f, (X,), (np.ones(2),))[1], expected.sum(), rtol=1e-6)


@pytest.mark.parametrize("road", ROADS, ids=lambda road: "-".join(road) or "plain")
def test_parts_of_an_array_of_unknown_dtype(road: dict[str, bool]) -> None:
    f = program("np.sum(np.imag(sp.hankel2(0, np.array([x[0] + 1j * x[1], x[1] - 0.5j * x[0]]).real)))")
    f.__globals__["sp"] = special
    with options(**road):
        np.testing.assert_allclose(srcgrad.grad(f)(X), numerical(f, X), rtol=1e-6)


def test_every_elementwise_function_that_is_complex_of_real_numbers_says_so() -> None:
    """``cmath`` casts what it is given; what others say of their dtype is ``own_dtype``."""
    silent = []
    for rule in rules():
        for function in rule.functions if rule.kind == "elementwise" and not rule.own_dtype else ():
            for sample in SAMPLES.get(function, ()):
                given = [*sample.args, *sample.kwargs.values()]
                if any(np.iscomplexobj(value) or isinstance(value, type | str | np.dtype) for value in given):
                    continue
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if np.iscomplexobj(function(*sample.args, **sample.kwargs)):
                        silent.append(function)
    assert {getattr(function, "__module__", "") for function in silent} <= {"cmath"}, silent
