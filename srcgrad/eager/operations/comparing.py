"""Comparisons, logic and bits: results are truth values or integers, nothing is recorded."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.elementwise import settled, shape_error
from srcgrad.eager.lifted_arrays import as_array
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor


def _pairwise(compute: Callable[[Any, Any], Any], input: Any, other: Any) -> Tensor:
    a = input.array if isinstance(input, Tensor) else input
    b = other.array if isinstance(other, Tensor) else other
    a, b, _ = settled(a, b, False)
    try:
        return leaf(as_array(compute(a, b)))
    except ValueError:
        raise shape_error(a, b) from None


def comparison(compare: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Tensor]:
    """A comparison of each pair of elements."""
    orders = name not in ("eq", "ne")

    def f(input: Any, other: Any) -> Tensor:
        if orders:
            for given in (input, other):
                if isinstance(given, Tensor) and given.array.dtype.kind == "c":
                    raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{given.dtype.long_name}'")
        return _pairwise(compare, input, other)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each pair of elements."
    return f


def _operator(f: Callable[[Any, Any], Tensor], swapped: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Tensor, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = Tensor.of(other)
        if not isinstance(other, Tensor | int | float | complex | np.generic):
            return NotImplemented
        return f(other, self) if swapped else f(self, other)

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


# --- logic and bits --------------------------------------------------------------------------------------------------
def _logical(name: str, compute: Callable[[Any, Any], Any]) -> None:
    def f(input: Tensor, other: Tensor) -> Tensor:
        return leaf(as_array(compute(input.array, other.array if isinstance(other, Tensor) else other)))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each pair of elements as truth values."
    function(name, method=True)(f)


_logical("logical_and", np.logical_and)
_logical("logical_or", np.logical_or)
_logical("logical_xor", np.logical_xor)


@function("logical_not", method=True)
def logical_not(input: Tensor) -> Tensor:
    """Whether each element is zero."""
    return leaf(as_array(np.logical_not(input.array)))


def _bitwise(name: str, symbol: str, compute: Callable[[Any, Any], Any]) -> None:
    kernel = name if "shift" not in name else {"<<": "lshift", ">>": "rshift"}[symbol]

    def f(input: Any, other: Any) -> Tensor:
        for given in (input, other):
            kind = getattr(getattr(given, "array", None), "dtype", np.dtype(type(given))).kind
            if kind in "fc":
                d = input.dtype if isinstance(input, Tensor) else other.dtype
                raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{d.long_name}'")
        return _pairwise(compute, input, other)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{symbol}`` of each pair of elements."
    function(name, method=True)(f)
    stem = {"&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"}[symbol]
    setattr(Tensor, f"__{stem}__", _operator(f))
    setattr(Tensor, f"__r{stem}__", _operator(f, swapped=True))


_bitwise("bitwise_and", "&", operator.and_)
_bitwise("bitwise_or", "|", operator.or_)
_bitwise("bitwise_xor", "^", operator.xor)
_bitwise("bitwise_left_shift", "<<", operator.lshift)
_bitwise("bitwise_right_shift", ">>", operator.rshift)


@function("bitwise_not", method=True)
def bitwise_not(input: Tensor) -> Tensor:
    """Every bit the other way."""
    if input.array.dtype.kind in "fc":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return leaf(as_array(np.invert(input.array)))


setattr(Tensor, "__invert__", bitwise_not)  # noqa: B010


def _judging(name: str, judge: Callable[[Any], Any]) -> None:
    def f(input: Tensor) -> Tensor:
        return leaf(as_array(judge(input.array)))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each element."
    function(name, method=True)(f)


for _name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit"):
    _judging(_name, getattr(np, _name))


@function("isclose", method=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether elements agree within a tolerance."""
    _alike(input, other)
    return leaf(as_array(np.isclose(input.array, other.array, rtol, atol, equal_nan)))


@function("isin")
def isin(elements: Any, test_elements: Any, *, invert: bool = False) -> Tensor:
    """Whether elements are among others."""
    given = [v.array if isinstance(v, Tensor) else v for v in (elements, test_elements)]
    return leaf(as_array(np.isin(given[0], given[1], invert=invert)))


@function("equal", method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape and the same elements."""
    return input.array.shape == other.array.shape and bool(np.all(input.array == other.array))


def _alike(input: Tensor, other: Tensor) -> None:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.long_name} did not match {other.dtype.long_name}")


@function("allclose", method=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements agree within a tolerance."""
    _alike(input, other)
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))
