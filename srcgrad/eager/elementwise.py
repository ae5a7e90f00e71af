"""Elementwise functions of one and two tensors, with as few steps as Python allows: the hot path.

What may differ between two calls is decided once for each case: the formula for the operands that require grad, with or
without broadcasting, with a number in place of a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.dispatch import Operation, record
from srcgrad.eager.dtypes import DIMENSIONED, NUMBER, OF_NUMPY, ZERO_DIM
from srcgrad.eager.formulas import Formula
from srcgrad.eager.graph import accumulator, sequence
from srcgrad.eager.lifted_arrays import Escape, by_rule, on_arrays
from srcgrad.eager.modes import anomaly, state
from srcgrad.eager.recorders import REAL, Recorder, recorder
from srcgrad.eager.tensor import Tensor, new
from srcgrad.rules.facts import fact_of

_FLOATING = REAL | frozenset(map(np.dtype, (np.complex64, np.complex128)))
_NOWHERE = (None, 0)
_EXACT = 2**11  # whole numbers below are the same in every floating dtype


def elementwise_unary(
    function: Callable[[Any], Any],
    operation: Operation,
    name: str,
    *,
    floats: bool = True,
    parameter: str = "x",
) -> Callable[[Tensor], Tensor]:
    """``f(input)`` of a function of one argument; ``floats``: integers become the default floating dtype."""
    recorders: list[Recorder] = []
    kind = operation.node
    function = by_rule(function)

    def first() -> Recorder:
        made = recorder(operation.formula((parameter,), (parameter,), {}), kind, (parameter,))
        recorders.append(made)
        return made

    def f(input: Tensor) -> Tensor:
        try:
            a = input.array
        except AttributeError:
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
            ) from None
        if a.dtype not in _FLOATING and floats:
            a = a.astype(dtypes.get_default_dtype().numpy)
        result: Tensor = new(Tensor)
        try:
            array = result.array = function(a)
        except Escape:
            array = result.array = on_arrays(function)(a)
        made = input.node
        if state.recording and (
            made is not None or input.leaf_grad or (input.alias is not None and input.requires_grad)
        ):
            if input.alias is not None:
                edge = input.edge()
            else:
                edge = (made, input.number) if made is not None else (accumulator(input), 0)
            dtype = array.dtype
            if (
                dtype is not a.dtype
                or dtype not in REAL
                or anomaly.enabled
                or state.saved_hooks
                or not (recorders[0] if recorders else first())(result, (edge,), input)
            ):
                formula = operation.formula((parameter,), (parameter,), {})
                record(result, kind, formula, (edge,), {parameter: input})
        elif state.inference:
            result.inference, result.counter = True, [0]
        elif state.transform_level:
            result.born = next(sequence)
        return result

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each element."
    return f


def elementwise_binary(
    function: Callable[[Any, Any], Any],
    operation: Operation,
    name: str,
    *,
    floats: bool = False,
    parameters: tuple[str, str] = ("x1", "x2"),
    alone: bool = False,
) -> Callable[[Any, Any], Tensor]:
    """``f(input, other)`` of a function of two arguments, one of which may be a number.

    ``alone``: beside a number, the tensor's edge is the node's only one.
    """
    formulas: list[Formula | None] = [None] * 32  # by case: who requires grad, what is a number, whether alike
    recorders: list[Recorder | None] = [None] * 32
    kind = operation.node
    x1, x2 = parameters

    def formula_of(case: int) -> Formula:
        mask, numbers, alike = case & 3, case >> 2 & 3, case >= 16
        tensors = tuple(p for p, is_number in zip(parameters, (numbers & 1, numbers & 2), strict=True) if not is_number)
        wanted = tuple(p for p, bit in zip(parameters, (1, 2), strict=True) if mask & bit)
        facts = {parameters[numbers - 1]: fact_of(1.0, "")} if numbers else None
        made = Formula(
            operation.rule, parameters, tensors, wanted, facts=facts, alike=alike, slots=operation.slots,
            outputs=tensors if alone else parameters, again=operation.function if operation.recomputes() else None,
            kept=operation.saves(tensors, wanted),
        )  # fmt: skip
        formulas[case] = made
        return made

    def first(case: int) -> Recorder:
        made = recorders[case] = recorder(formulas[case] or formula_of(case), kind, parameters)
        return made

    def f(input: Any, other: Any) -> Tensor:
        result: Tensor = new(Tensor)
        numbers = 0
        if isinstance(other, Tensor):
            if not isinstance(input, Tensor):
                numbers = 1
                a, b = input, other.array
                a, b, alike = settled(a, b, floats)
            else:
                a, b = input.array, other.array
                if a.dtype is b.dtype and a.dtype in _FLOATING:
                    alike = a.shape == b.shape
                else:
                    a, b, alike = settled(a, b, floats)
        else:
            numbers = 2
            a, b = input.array, other
            if type(b) is int and -_EXACT < b < _EXACT and a.dtype in _FLOATING:
                b = float(b)
            if type(b) is not float or a.dtype not in _FLOATING:
                a, b, alike = settled(a, b, floats, name)
            else:
                alike = True
        try:
            array = result.array = function(a, b)
        except Escape:
            array = result.array = on_arrays(function)(a, b)
        except ValueError:
            raise shape_error(a, b) from None
        except TypeError:
            if name in ("sub", "rsub"):
                raise NotImplementedError(messages.SUBTRACTED_MASKS) from None
            raise
        if state.recording:
            mask = 0
            left = right = _NOWHERE
            if not numbers & 1:
                made = input.node
                if made is not None or input.leaf_grad or (input.alias is not None and input.requires_grad):
                    mask = 1
                    left = (made, input.number) if made is not None and input.alias is None else input.edge()
            if not numbers & 2:
                made = other.node
                if made is not None or other.leaf_grad or (other.alias is not None and other.requires_grad):
                    mask |= 2
                    right = (made, other.number) if made is not None and other.alias is None else other.edge()
            if mask:
                # Formulas compute with what the function computed with: integers would be squared as integers.
                if mask == 2 and not numbers and a is not input.array:
                    input = _of(a)
                elif mask == 1 and not numbers and b is not other.array:
                    other = _of(b)
                case = mask | numbers << 2 | alike << 4
                edges: Any = (left, right)
                if alone and numbers:
                    edges = (left,) if numbers == 2 else (right,)
                dtype = array.dtype
                if (
                    dtype is a.dtype
                    and dtype in REAL
                    and not anomaly.enabled
                    and not state.saved_hooks
                    and (recorders[case] or first(case))(result, edges, input, other)
                ):
                    return result
                if OF_NUMPY[dtype].category >= 2:
                    record(result, kind, formulas[case] or formula_of(case), edges, {x1: input, x2: other})
                    return result
        if state.inference:
            result.inference, result.counter = True, [0]
        elif state.transform_level:
            result.born = next(sequence)
        return result

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each pair of elements, broadcast."
    return f


def _of(array: Any) -> Tensor:
    made: Tensor = new(Tensor)
    made.array = array
    return made


def settled(a: Any, b: Any, floats: bool, name: str = "") -> tuple[Any, Any, bool]:
    """Operands in the dtype that PyTorch computes in; whether they have one shape and dtype, as they were given."""
    common = dtypes.result_type([_standing(a), _standing(b)])
    if floats and common.category < 2:
        common = dtypes.get_default_dtype()
    given = [value for value in (a, b) if hasattr(value, "dtype")]
    alike = all(value.dtype == common.numpy for value in given) and len({value.shape for value in given}) == 1
    return _as(a, common), _as(b, common), alike


def _standing(value: Any) -> tuple[dtypes.dtype, int]:
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return dtypes.of_number(value), NUMBER
    return dtypes.of(value), DIMENSIONED if value.ndim else ZERO_DIM


def _as(value: Any, common: dtypes.dtype) -> Any:
    if hasattr(value, "dtype"):
        return value if value.dtype == common.numpy else value.astype(common.numpy)
    if common.category == 1 and not _fits(value, common.numpy):
        return np.uint64(value % 2**64).astype(common.numpy)  # as PyTorch wraps a number that the elements cannot hold
    return common.numpy.type(value)


def check_fits(value: Any, array: Any) -> None:
    """Refuse a whole number that the elements of an array cannot hold, where PyTorch does not wrap it."""
    if not isinstance(value, int) or array.dtype.kind not in "iu":
        return
    limits = np.iinfo(array.dtype)
    if not limits.min <= value <= limits.max:
        raise RuntimeError(f"value cannot be converted to type {array.dtype} without overflow")


def _fits(value: int, d: Any) -> bool:
    limits = np.iinfo(d)
    return limits.min <= value <= limits.max or not -(2**63) <= value < 2**64


def shape_error(a: Any, b: Any) -> RuntimeError:
    """The error about shapes that do not broadcast."""
    left, right = np.shape(a), np.shape(b)
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(s)) + s for s in (left, right)]
    for dimension in reversed(range(rank)):
        m, n = padded[0][dimension], padded[1][dimension]
        if m != n and 1 not in (m, n):
            return RuntimeError(messages.BROADCAST.format(a=m, b=n, dimension=dimension))
    return RuntimeError(f"shapes {left} and {right} do not broadcast")
