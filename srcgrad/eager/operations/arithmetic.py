"""Sums, differences, products, quotients and powers, and the operators that mean them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation
from srcgrad.eager.elementwise import check_fits, elementwise_binary, elementwise_unary
from srcgrad.eager.outputs import stored
from srcgrad.eager.registry import function, offer
from srcgrad.eager.tensor import Tensor

SELF_OTHER = {"x1": "self", "x2": "other"}
_OPERANDS = (Tensor, int, float, complex, np.generic)

_add = elementwise_binary(operator.add, Operation(np.add, "AddBackward0", SELF_OTHER), "add")
_sub = elementwise_binary(operator.sub, Operation(np.subtract, "SubBackward0", SELF_OTHER), "sub")
_rsub_number = elementwise_binary(operator.sub, Operation(np.subtract, "RsubBackward1"), "rsub", alone=True)
_rsub_tensor = elementwise_binary(operator.sub, Operation(np.subtract, "RsubBackward0"), "rsub")
_mul = elementwise_binary(operator.mul, Operation(np.multiply, "MulBackward0", SELF_OTHER), "mul")
_quotient = Operation(np.divide, "DivBackward0", SELF_OTHER, again=True)
_div = elementwise_binary(operator.truediv, _quotient, "div", floats=True)


def _negative(a: Any) -> Any:
    try:
        return -a
    except TypeError:
        raise NotImplementedError(messages.NEGATED_MASK) from None


neg = offer(
    elementwise_unary(_negative, Operation(np.negative, "NegBackward0"), "neg", floats=False), "neg", "negative"
)


def binary_operator(f: Callable[[Any, Any], Any], symbol: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """An operator's method: operands that are neither tensors nor numbers are left to the other side."""

    def apply(self: Any, other: Any) -> Any:
        if type(other) is not Tensor and not isinstance(other, _OPERANDS):
            return NotImplemented  # an array computes the operator by itself, and hands back a tensor
        return f(self, other)

    def swapped_apply(self: Any, other: Any) -> Any:
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        return f(other, self)

    if swapped:
        apply = swapped_apply
    apply.__name__ = f"__{'r' if swapped else ''}{symbol}__"
    return apply


@function("add", method=True)
def add(input: Tensor, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """``input + alpha * other``."""
    if out is not None:
        return stored("add", lambda: add(input, other, alpha=alpha), out, input, other)
    if alpha == 1 or not isinstance(other, Tensor):
        return _add(input, other if alpha == 1 else other * alpha)
    check_fits(alpha, other.array)
    made: Tensor = composed(
        "AddBackward0", lambda a, b: _add(a, _mul(b, alpha)), input, other, saved={"alpha": alpha}, keeps=True
    )
    return made


@function("sub", "subtract", method=True)
def sub(input: Tensor, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """``input - alpha * other``."""
    if out is not None:
        return stored("sub", lambda: sub(input, other, alpha=alpha), out, input, other)
    if alpha == 1 or not isinstance(other, Tensor):
        return _sub(input, other if alpha == 1 else other * alpha)
    check_fits(alpha, other.array)
    made: Tensor = composed(
        "SubBackward0", lambda a, b: _sub(a, _mul(b, alpha)), input, other, saved={"alpha": alpha}, keeps=True
    )
    return made


@function("rsub", method=True)
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``other - alpha * input``."""
    if alpha != 1:
        input = _mul(input, alpha)
    return _rsub_tensor(other, input) if isinstance(other, Tensor) else _rsub_number(other, input)


@function("mul", "multiply", method=True)
def mul(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """``input * other``."""
    if out is not None:
        return stored("mul", lambda: mul(input, other), out, input, other)
    return _mul(input, other)


@function("div", "divide", "true_divide", method=True)
def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``, rounded to a whole number by ``rounding_mode``."""
    if rounding_mode is not None:
        from srcgrad.eager.operations.rounding import rounded_quotient

        return rounded_quotient(input, other, rounding_mode)
    return _div(input, other)


def _reflected_div(number: Any, tensor: Tensor) -> Tensor:
    from srcgrad.eager.operations.pointwise import reciprocal

    return _mul(reciprocal(tensor), number)


for _name, _f in (("add", _add), ("sub", _sub), ("mul", _mul), ("truediv", _div)):
    setattr(Tensor, f"__{_name}__", binary_operator(_f, _name))
Tensor.__radd__ = binary_operator(_add, "add")
Tensor.__rmul__ = binary_operator(_mul, "mul")
Tensor.__rsub__ = binary_operator(_rsub_number, "sub", swapped=True)
Tensor.__rtruediv__ = binary_operator(_reflected_div, "truediv", swapped=True)
Tensor.__neg__ = neg


# --- powers ----------------------------------------------------------------------------------------------------------
_pow_number = elementwise_binary(
    operator.pow, Operation(np.power, "PowBackward0", {"x1": "self", "x2": "exponent"}), "pow", alone=True
)
_pow_tensor = elementwise_binary(
    operator.pow, Operation(np.power, "PowBackward1", {"x1": "self", "x2": "exponent", "z": "result"}), "pow"
)
_pow_base = elementwise_binary(
    operator.pow,
    Operation(np.power, "PowBackward2", {"x1": "self", "x2": "exponent", "z": "result"}),
    "pow",
    alone=True,
)


@function("pow", method=True)
def pow(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent``."""
    if not isinstance(input, Tensor):
        return _pow_base(input, exponent)
    if not isinstance(exponent, Tensor):
        if isinstance(exponent, int) and exponent < 0 and dtypes.of(input.array).category < 2:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        check_fits(exponent, input.array)
        return _pow_number(input, exponent)
    return _pow_tensor(input, exponent)


Tensor.__pow__ = binary_operator(pow, "pow")
Tensor.__rpow__ = binary_operator(pow, "pow", swapped=True)


@function("float_power", method=True)
def float_power(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent`` in double precision."""
    given = [value for value in (input, exponent) if isinstance(value, Tensor | complex)]
    wide = (
        dtypes.complex128
        if any(getattr(v, "dtype", dtypes.complex128).category == 3 for v in given)
        else dtypes.float64
    )
    cast = [v.to(wide) if isinstance(v, Tensor) else v for v in (input, exponent)]
    return pow(*cast)


@function("positive", method=True)
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    return input


setattr(Tensor, "__pos__", positive)  # noqa: B010
