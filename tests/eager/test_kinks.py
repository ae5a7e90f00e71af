"""The policy at kinks and singular points holds for plain programs run eagerly, row by row."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from srcgrad.eager import plain
from tests.kinks.rows import name_of, program, rows, value
from tests.kinks.table import Row


@pytest.mark.parametrize("row", list(rows()), ids=name_of)
def test_the_gradient_is_that_of_the_table(row: Row) -> None:
    if "special." in row.expression:
        pytest.importorskip("scipy")
    arguments: tuple[Any, ...] = tuple(map(value, row.arguments.values()))
    function = program(row.expression, tuple(row.arguments))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result, pullback = plain.vjp(function, *arguments, argnums=range(len(arguments)))
        gradient = dict(zip(row.arguments, pullback(np.ones_like(result)[()]), strict=True))
    for name, expected in row.gradient.items():
        assert np.shape(gradient[name]) == np.shape(value(expected))
        np.testing.assert_allclose(gradient[name], value(expected), rtol=1e-12, atol=1e-300)
