"""Comparisons and logic: results are truth values, nothing is recorded."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.elementwise import settled, shape_error
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor


def comparison(compare: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Tensor]:
    """A comparison of each pair of elements."""

    def f(input: Any, other: Any) -> Tensor:
        a = input.array if isinstance(input, Tensor) else input
        b = other.array if isinstance(other, Tensor) else other
        a, b, _ = settled(a, b, False)
        try:
            return Tensor.of(np.asarray(compare(a, b)) if np.ndim(a) or np.ndim(b) else np.bool_(compare(a, b)))
        except ValueError:
            raise shape_error(a, b) from None

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each pair of elements."
    return f


def _operator(f: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Any]:
    def apply(self: Tensor, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = Tensor.of(other)
        if not isinstance(other, Tensor | int | float | complex | np.generic):
            return NotImplemented
        return f(self, other)

    return apply


for _name, _names in (
    ("eq", ("eq",)),
    ("ne", ("ne", "not_equal")),
    ("lt", ("lt", "less")),
    ("le", ("le", "less_equal")),
    ("gt", ("gt", "greater")),
    ("ge", ("ge", "greater_equal")),
):
    _f = comparison(getattr(operator, _name), _name)
    function(*_names, method=True)(_f)
    setattr(Tensor, f"__{_name}__", _operator(_f))
setattr(Tensor, "__hash__", object.__hash__)  # noqa: B010


@function("equal", method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape and the same elements."""
    return input.array.shape == other.array.shape and bool(np.all(input.array == other.array))


@function("allclose", method=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements agree within a tolerance."""
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))
