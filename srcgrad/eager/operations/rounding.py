"""Rounding, remainders and whole quotients: steps have no slope, but they are part of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.elementwise import elementwise_binary, settled
from srcgrad.eager.graph import Node, mixed, node_class, sequence
from srcgrad.eager.lifted_arrays import as_array, is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.operations.arithmetic import binary_operator
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.drawing import forgetting, unmoved
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor, new

_sgn = Operation(np.sign, "SgnBackward0", {"x": "self"})
_frac = Operation(np.subtract, "FracBackward0")
STEPS: dict[str, Callable[..., Tensor]] = {}


def _step(name: str, f: Callable[[Any], Any], node: str) -> None:
    def stepped(input: Tensor) -> Tensor:
        a = input.array
        made = leaf(as_array(f(a)).astype(a.dtype) if a.dtype.kind in "fc" or name in _OF_INTEGERS else np.array(a))
        return forgetting(made, input, node)

    stepped.__name__ = stepped.__qualname__ = name
    stepped.__doc__ = f"``{name}`` of each element."
    STEPS[name] = function(name, method=True)(stepped)


def _sign(a: Any) -> Any:
    """The sign; of nan it is 0."""
    if a.dtype.kind == "b":
        return a
    return np.where(np.isnan(a), 0, np.sign(a)) if a.dtype.kind == "f" else np.sign(a)


_OF_INTEGERS = ("sign", "sgn")
_step("floor", np.floor, "FloorBackward0")
_step("ceil", np.ceil, "CeilBackward0")
_step("trunc", np.trunc, "TruncBackward0")
_step("fix", np.trunc, "TruncBackward0")
_step("sign", _sign, "SignBackward0")


@function("sgn", method=True)
def sgn(input: Tensor) -> Tensor:
    """The sign; of a complex number, the number of that direction and size one."""
    if input.dtype.is_complex:
        made: Tensor = call(_sgn, {"x": input}, facts=True)
        return made
    made = as_array(_sign(input.array)).astype(input.array.dtype)
    return unmoved("SgnBackward0", leaf(made), input, keeps=False)


@function("round", method=True)
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, the even one of two; or the nearest with so many decimals."""
    a = input.array
    made = leaf(as_array(np.round(a, decimals)).astype(a.dtype))
    return forgetting(made, input, "RoundBackward1" if decimals else "RoundBackward0")


@function("frac", method=True)
def frac(input: Tensor) -> Tensor:
    """What is behind the decimal point."""
    whole = np.trunc(input.array)
    made: Tensor = call(_frac, {"x1": input, "x2": whole})
    return made


STEPS.update(sgn=sgn, round=round, frac=frac)


# --- remainders ------------------------------------------------------------------------------------------------------
def _remainder(name: str, f: Any, node: str) -> Callable[[Any, Any], Tensor]:
    saved = {"x1": "self", "x2": "other"}
    by_number = elementwise_binary(f, Operation(f, f"{node}Backward0", saved), name, alone=True)
    by_tensor = elementwise_binary(f, Operation(f, f"{node}Backward1", saved), name)

    def remainder(input: Any, other: Any) -> Tensor:
        return by_tensor(input, other) if isinstance(other, Tensor) else by_number(input, other)

    remainder.__name__ = remainder.__qualname__ = name
    remainder.__doc__ = f"What a division leaves ({name})."
    return function(name, method=True)(remainder)


remainder = _remainder("remainder", np.remainder, "Remainder")
fmod = _remainder("fmod", np.fmod, "Fmod")
STEPS.update(remainder=remainder, fmod=fmod)
setattr(Tensor, "__mod__", binary_operator(remainder, "mod"))  # noqa: B010
setattr(Tensor, "__rmod__", binary_operator(remainder, "mod", swapped=True))  # noqa: B010


class _Underivable(Node):
    """The node of an operation without a derivative: whoever asks for one is told so."""

    message = ""

    def apply(self, g: Any) -> Any:
        raise NotImplementedError(self.message) if self.message.startswith("the") else RuntimeError(self.message)

    apply_to_tensors = apply


def underivable(
    made: Tensor, inputs: tuple[Any, ...], name: str, node_name: str = "torch::autograd::NotImplemented", text: str = ""
) -> Tensor:
    """A result that requires grad, through an operation that has no derivative."""
    given = [t for t in inputs if isinstance(t, Tensor)]
    if any(is_lifted(t.array) and t.array.has_tangent() for t in given):
        raise NotImplementedError(messages.NO_TANGENT.format(name=name))
    if state.recording and any(t.requires_grad for t in given):
        kind = node_class(node_name)
        node: Any = new(mixed(_Underivable, kind))
        node.message = text or messages.NOT_DIFFERENTIABLE.format(name=name)
        node.edges = tuple(t.edge() for t in given)
        node.sequence = next(sequence)
        node.shape, node.dtype = made.array.shape, made.array.dtype
        node.keeps = True
        made.node = node
    return made


def _quotient(input: Any, other: Any, f: Callable[[Any], Any]) -> Tensor:
    a = input.array if isinstance(input, Tensor) else input
    b = other.array if isinstance(other, Tensor) else other
    a, b, _ = settled(a, b, False)
    if as_array(a).dtype.kind in "biu":
        if not np.all(b):
            raise RuntimeError("ZeroDivisionError")
        floors = np.floor_divide(a, b)
        if f is np.trunc:
            floors = floors + ((np.remainder(a, b) != 0) & (floors < 0))
        return leaf(as_array(floors))
    with np.errstate(divide="ignore", invalid="ignore"):
        made = f(np.divide(a, b)) if f is np.trunc else np.where(b == 0, np.divide(a, b), np.floor_divide(a, b))
    return leaf(as_array(made).astype(as_array(a).dtype))


@function("floor_divide", method=True)
def floor_divide(input: Any, other: Any) -> Tensor:
    """The whole number below a quotient."""
    return underivable(_quotient(input, other, np.floor), (input, other), "floor_divide")


def rounded_quotient(input: Tensor, other: Any, rounding_mode: str) -> Tensor:
    """``div`` with a rounding mode."""
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" + rounding_mode + "'"
        )
    made = _quotient(input, other, getattr(np, rounding_mode))
    given = [value for value in (input, other) if isinstance(value, Tensor)]
    result = unmoved("DivBackward2", made, *given, keeps=False)
    if result.node is not None and len(given) == 1:
        result.node.edges = (*result.node.edges, (None, 0))
    return result


setattr(Tensor, "__floordiv__", binary_operator(floor_divide, "floordiv"))  # noqa: B010
setattr(Tensor, "__rfloordiv__", binary_operator(floor_divide, "floordiv", swapped=True))  # noqa: B010
