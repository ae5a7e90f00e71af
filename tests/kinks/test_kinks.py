"""The policy at kinks and singular points, row by row, in reverse and in forward mode, beside PyTorch's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import srcgrad
import srcgrad.programs
from tests.kinks.rows import PAGE, name_of, page, program, rows, value
from tests.kinks.table import Row

ROWS = list(rows())


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Infinite slopes are what some rows are about."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def of(row: Row) -> tuple[Any, tuple[Any, ...]]:
    if "special." in row.expression:
        pytest.importorskip("scipy")
    return program(row.expression, tuple(row.arguments)), tuple(map(value, row.arguments.values()))


@pytest.mark.parametrize("specialise", [True, False], ids=["specialised", "generic"])
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_reverse(row: Row, specialise: bool) -> None:
    function, arguments = of(row)
    with srcgrad.programs.options(specialise=specialise):
        result, pullback = srcgrad.vjp(function, *arguments)
        gradient = dict(zip(row.arguments, pullback(np.ones_like(result)[()]), strict=True))
    for name, expected in row.gradient.items():
        assert np.shape(gradient[name]) == np.shape(value(expected))
        np.testing.assert_allclose(gradient[name], value(expected), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_forward(row: Row) -> None:
    """The tangent along each unit direction is the gradient's entry: both modes choose the same subgradient."""
    function, arguments = of(row)
    for position, (name, expected) in enumerate((row.forward or row.gradient).items()):
        slopes = np.asarray(value(expected))
        for place in np.ndindex(slopes.shape):
            for direction in (1.0, 1j) if np.iscomplexobj(slopes) else (1.0,):
                tangents: list[Any] = [None for _ in arguments]
                tangents[position] = unit(arguments[position], place, direction)
                _, tangent = srcgrad.jvp(function, arguments, tuple(tangents))
                total = np.sum(tangent)
                np.testing.assert_allclose(np.real(total), np.real(slopes[place] * direction), rtol=1e-12, atol=1e-300)


def unit(argument: Any, place: tuple[int, ...], direction: complex) -> Any:
    if not isinstance(argument, np.ndarray):
        return type(argument)(direction)
    made = np.zeros_like(argument)
    made[place] = direction
    return made


@pytest.mark.parametrize("row", [row for row in ROWS if row.torch], ids=name_of)
def test_what_is_said_of_pytorch(row: Row) -> None:
    torch = pytest.importorskip("torch")
    assert row.torch is not None
    arguments = {}
    for name, given in row.arguments.items():
        dtype = torch.complex128 if isinstance(given, complex) else torch.float64
        arguments[name] = torch.tensor(given, dtype=dtype, requires_grad=True)
    eval(row.torch, {"torch": torch}, arguments).sum().backward()
    same = True
    for name, expected in row.gradient.items():
        found = arguments[name].grad
        gradient = np.zeros_like(value(expected)) if found is None else np.conjugate(found.numpy())
        same = same and np.allclose(gradient, value(expected), rtol=1e-9, equal_nan=True)
    assert same == (row.differs is None)


def test_the_page_shows_the_table(expect_text: Any) -> None:
    expect_text(PAGE, page())
