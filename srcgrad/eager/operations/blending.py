"""Functions of several tensors, element by element, that are one node: interpolation, products added, signs copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.elementwise import elementwise_binary
from srcgrad.eager.modes import no_grad
from srcgrad.eager.operations.picking import where
from srcgrad.eager.operations.rounding import underivable
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor


@function("rsqrt", method=True)
def rsqrt(input: Tensor) -> Tensor:
    """One over the square root."""
    if input.dtype.category < 2:
        input = input.to(dtypes.get_default_dtype())
    made: Tensor = composed("RsqrtBackward0", lambda x: x.sqrt().reciprocal(), input)
    return made


def _weighed(a: Tensor, b: Tensor, weight: Any) -> Tensor:
    """``a + weight * (b - a)``, computed from the nearer end."""
    made: Tensor = a + weight * (b - a)
    return made


@function("lerp", method=True)
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """The point between ``input`` and ``end`` at a share of the way."""
    if input.dtype is not end.dtype:
        raise RuntimeError(f"expected dtype {input.dtype.long_name.lower()} for `end` but got dtype "
            f"{end.dtype.long_name.lower()}")  # fmt: skip
    if input.dtype.category < 2:
        kernel = "lerp_kernel_tensor" if isinstance(weight, Tensor) else "lerp_kernel_scalar"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.long_name}'")
    if isinstance(weight, Tensor):
        if weight.dtype is not input.dtype and weight.array.ndim:
            raise RuntimeError(
                f"expected dtype {input.dtype.long_name.lower()} for `weight` but got dtype "
                f"{weight.dtype.long_name.lower()}"
            )
        made: Tensor = composed("LerpBackward1", _weighed, input, end, weight, slots=("self", "end", "weight"))
        return made
    return _lerp_by_number(input, end, weight)


def _lerp_by_number(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    def compute(a: Tensor, b: Tensor) -> Tensor:
        return _weighed(a, b, weight)

    made: Tensor = composed("LerpBackward0", compute, input, end, saved={"weight": weight}, keeps=True)
    return made


def _numbered(value: Any, made: Tensor) -> Tensor:
    return made if value == 1 else made * value


@function("addcmul", method=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``."""
    made: Tensor = composed(
        "AddcmulBackward0",
        lambda x, a, b: x + _numbered(value, a * b),
        input, tensor1, tensor2,
        slots=("", "tensor1", "tensor2"), saved={"value": value},
    )  # fmt: skip
    return made


@function("addcdiv", method=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``."""
    if all(t.dtype.category < 2 for t in (tensor1, tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value "
            "* torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / tensor2), for all dtypes."
        )
    made: Tensor = composed(
        "AddcdivBackward0",
        lambda x, a, b: x + _numbered(value, a / b),
        input, tensor1, tensor2,
        slots=("", "tensor1", "tensor2"), saved={"value": value},
    )  # fmt: skip
    return made


_copysign_tensor = elementwise_binary(np.copysign, Operation(np.copysign, "CopysignBackward0"), "copysign", floats=True)
_copysign_number = elementwise_binary(
    np.copysign, Operation(np.copysign, "CopysignBackward1"), "copysign", floats=True, alone=True
)


@function("copysign", method=True)
def copysign(input: Tensor, other: Any) -> Tensor:
    """The size of ``input`` with the sign of ``other``."""
    if not isinstance(other, Tensor):
        return _copysign_number(input, other)

    def compute(a: Tensor, b: Tensor) -> Tensor:
        signed = _copysign_tensor(a, b.detach())
        made: Tensor = where(Tensor.of(np.ones(signed.array.shape, bool)), signed, b)  # the sign's gradient is zero
        return made

    result: Tensor = composed("CopysignBackward0", compute, input, other, slots=("self", ""))
    return result


@function("ldexp", method=True)
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2 ** other``."""
    made: Tensor = composed(
        "LdexpBackward0", lambda x, n: x * 2.0**n, input, other, slots=("", "other"), copied=(0,)
    )
    return made


@function("nan_to_num", method=True)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Numbers in place of nan and of infinities."""
    values = {"x": input, "nan": 0.0 if nan is None else nan, "posinf": posinf, "neginf": neginf}
    made: Tensor = call(_nan_to_num, values)
    return made


_nan_to_num = Operation(np.nan_to_num, "NanToNumBackward0", {"x": "self"})
_heaviside = elementwise_binary(np.heaviside, Operation(np.heaviside, "HeavisideBackward0"), "heaviside")


@function("heaviside", method=True)
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """A step at 0, where the value is that of ``values``; there is no derivative."""
    with no_grad():
        made = _heaviside(input, values)
    return underivable(made, (input, values), "heaviside")


@function("dist", method=True)
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The norm of the difference."""
    made: Tensor = composed(
        "DistBackward0", lambda a, b: (a - b).norm(p), input, other, slots=("self", "other"), saved={"p": p}
    )
    return made


IN_PLACE = {
    "rsqrt_": rsqrt, "lerp_": lerp, "addcmul_": addcmul, "addcdiv_": addcdiv, "copysign_": copysign,
    "ldexp_": ldexp, "nan_to_num_": nan_to_num,
}  # fmt: skip
