"""Complex tensors: their parts, directions and conjugates, and tensors made of two real ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.operations.arithmetic import mul
from srcgrad.eager.registry import function, method
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import view_of

_real = Operation(np.real, "SelectBackward0")
_imag = Operation(np.imag, "SelectBackward0")
_conj = Operation(np.conj, "ConjBackward0")
_angle = Operation(np.angle, "AngleBackward0")


def _get_real(self: Tensor) -> Tensor:
    if not self.dtype.is_complex:
        return self
    return view_of(self, _real, {"val": self}, lambda a: a.real)


def _get_imag(self: Tensor) -> Tensor:
    if not self.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return view_of(self, _imag, {"val": self}, lambda a: a.imag)


def _set_part(get: Any) -> Any:
    def store(self: Tensor, value: Any) -> None:
        part = get(self)
        part.copy_(value) if isinstance(value, Tensor) else part.fill_(value)

    return store


setattr(Tensor, "real", property(_get_real, _set_part(_get_real)))  # noqa: B010
setattr(Tensor, "imag", property(_get_imag, _set_part(_get_imag)))  # noqa: B010
function("real")(_get_real)
function("imag")(_get_imag)


@function("conj", method=True)
def conj(input: Tensor) -> Tensor:
    """The conjugate; of real tensors, themselves."""
    if not input.dtype.is_complex:
        return input
    made: Tensor = call(_conj, {"x": input}, array=np.conj(input.array))
    made.base = input if input.base is None else input.base
    setattr(made, "conjugated", True)  # noqa: B010
    return made


setattr(Tensor, "conjugated", False)  # noqa: B010


@function("is_conj", method=True)
def is_conj(input: Tensor) -> bool:
    """Whether a tensor is the conjugate of another one's memory."""
    return bool(input.conjugated)


@function("resolve_conj", method=True)
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor with memory of its own if it is a conjugate."""
    made: Tensor = input.clone() if input.conjugated else input
    return made


@function("conj_physical", method=True)
def conj_physical(input: Tensor) -> Tensor:
    """The conjugate, in memory of its own."""
    return resolve_conj(conj(input))


@function("angle", method=True)
def angle(input: Tensor) -> Tensor:
    """The direction of complex numbers; of real ones, 0 or pi."""
    made: Tensor = call(_angle, {"z": input}, array=np.angle(input.array))
    return made


def _joined(node: str, real: Tensor, imag: Tensor, other: Tensor) -> Tensor:
    """``real + 1j * imag``, in a node of this name."""
    unit = Tensor.of(np.asarray(1j, other.dtype.to_complex().numpy))
    made: Tensor = call(Operation(np.add, node), {"x1": real, "x2": mul(imag, unit)})
    return made


@function("complex")
def complex_(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """Complex numbers of real and imaginary parts."""
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {real.dtype.long_name} but got scalar type {imag.dtype.long_name} for "
            "second argument"
        )
    return _joined("ComplexBackward0", real, imag, real)


@function("polar")
def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """Complex numbers of sizes and directions."""
    return _joined("PolarBackward0", abs * angle.cos(), abs * angle.sin(), abs)


_view_as_real = Operation(np.stack, "ViewAsRealBackward0")


@function("view_as_real")
def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts along a last dimension."""
    if not input.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    parts = [_get_real(input), _get_imag(input)]
    made: Tensor = call(_view_as_real, {"arrays": parts, "axis": -1})
    return made


@function("view_as_complex")
def view_as_complex(input: Tensor) -> Tensor:
    """Complex numbers of the parts along the last dimension."""
    if not input.array.ndim or input.array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return _joined("ViewAsComplexBackward0", input.select(-1, 0), input.select(-1, 1), input)


@method("type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another one."""
    made: Tensor = self.to(other.dtype)
    return made
