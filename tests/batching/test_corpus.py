"""The corpus over a batch: what a loop over the examples gives, of each program and of its gradient.

``batched.txt`` names the programs that have a program over a batch, and those whose gradient has one; the others run
example by example.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from srcgrad import ArgumentError, SrcgradError, grad, vmap
from srcgrad.api.vmap import Vmapped
from tests import oracle
from tests.batching.test_programs import leaves
from tests.corpus import FIRST, Case
from tests.layouts import fresh
from tests.parameters import some_by_day

GOLDEN = Path(__file__).with_name("batched.txt")
EXAMPLES = 3


def is_plain(value: Any) -> bool:
    """Whether a value is of floats and arrays of such alone."""
    if type(value) in (tuple, list):
        return bool(value) and all(map(is_plain, value))
    if type(value) is dict:
        return bool(value) and all(map(is_plain, value.values()))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def several(value: Any, k: int) -> Any:
    """An argument like this one, near to it."""
    if isinstance(value, tuple | list):
        return type(value)(several(part, k) for part in value)
    if isinstance(value, dict):
        return {key: several(part, k) for key, part in value.items()}
    made = np.asarray(value) * (1.0 + 1e-3 * k)
    return made.astype(np.asarray(value).dtype)[()]


def stacked(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, tuple | list):
        return type(first)(stacked(list(column)) for column in zip(*values, strict=True))
    if isinstance(first, dict):
        return {key: stacked([value[key] for value in values]) for key in first}
    return np.stack(values)


CHOSEN = [case for case in FIRST if not case.keywords and any(map(is_plain, case.arguments))]


def points(case: Case) -> tuple[list[tuple[Any, ...]], tuple[Any, ...], tuple[Any, ...]]:
    """The arguments of each example, those of the batch, and ``in_axes``."""
    given = fresh(case.arguments)
    axes = tuple(0 if is_plain(argument) else None for argument in given)
    every = [
        tuple(several(a, k) if axis == 0 else fresh((a,))[0] for a, axis in zip(given, axes, strict=True))
        for k in range(EXAMPLES)
    ]
    whole = tuple(
        stacked([one[j] for one in every]) if axis == 0 else given[j] for j, axis in enumerate(axes)
    )
    return every, whole, axes


def judged(function: Any, batched: Vmapped, case: Case, tolerance: float) -> bool | None:
    """Whether there is a program over the batch, which agrees with the loop; None where nothing can be stacked."""
    every, whole, _ = points(case)
    try:
        wanted = [function(*fresh(one)) for one in every]
    except ZeroDivisionError:
        return None  # of NumPy's number, where Python's is attempted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            got = batched(*whole)
        except ArgumentError:
            return None  # the results are no arrays, or of several shapes
    columns = list(zip(*map(leaves, wanted), strict=True))
    found = leaves(got)
    assert len(found) == len(columns)
    for one, column in zip(found, columns, strict=True):
        if column[0] is not None:
            np.testing.assert_allclose(one, np.stack(column), rtol=tolerance, atol=tolerance)
    return batched.ran is not None


def known(kind: str) -> frozenset[str]:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    return frozenset(line.partition(" ")[2] for line in lines if line.startswith(f"{kind} "))


@pytest.mark.parametrize("case", some_by_day(CHOSEN, 8))
def test_values(case: Case) -> None:
    _, _, axes = points(case)
    made = judged(case.function, vmap(case.function, axes), case, 1e-10)
    assert bool(made) == (case.name in known("value"))


SCALAR = [case for case in CHOSEN if case.order >= 2 and all(isinstance(n, int) for n in case.argnums)]


@pytest.mark.parametrize("case", some_by_day(SCALAR, 8))
def test_gradients(case: Case) -> None:
    every, _, axes = points(case)
    value = case.function(*fresh(every[0]))
    if not oracle.is_inexact(value) or np.shape(value) != () or np.iscomplexobj(value):
        assert case.name not in known("gradient")
        pytest.skip("it has no gradient")
    gradient = grad(case.function, argnums=tuple(case.argnums))
    try:
        for one in every:
            gradient(*fresh(one))
    except ZeroDivisionError:
        pass  # which ``judged`` meets too
    except SrcgradError:
        assert case.name not in known("gradient")
        pytest.skip("it is refused for some of the examples")
    made = judged(gradient, vmap(gradient, axes), case, 1e-9)
    assert bool(made) == (case.name in known("gradient"))


def test_how_many_run_at_once() -> None:
    assert len(known("value")) >= 0.6 * len(CHOSEN)
