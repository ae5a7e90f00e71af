"""Complex tensors: their parts, directions and conjugates, and tensors made of two real ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.registry import function, method
from srcgrad.eager.slices import apart, joined, together, unpaired
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import attach

_real = Operation(np.real, "SelectBackward0")
_imag = Operation(np.imag, "SelectBackward0")
_conj = Operation(np.conj, "ConjBackward0")
_conj_physical = Operation(np.conj, "ConjPhysicalBackward0")
_angle = Operation(np.angle, "AngleBackward0")


def _pairs(array: Any) -> Any:
    """The parts of complex numbers along a last dimension, in the same memory; of places, each one twice."""
    if array.dtype.kind != "c":
        return np.stack([array, array], -1)
    if is_lifted(array):
        return np.stack([array.real, array.imag], -1)
    parts = array.real
    strides = (*array.strides, array.itemsize // 2)
    return np.lib.stride_tricks.as_strided(parts, (*array.shape, 2), strides, writeable=array.flags.writeable)


@function("view_as_real")
def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts along a last dimension, a view."""
    if not input.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if input.conjugated:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    made = apart(input)
    made.array = _pairs(input.storage_array())
    made.counter = None
    return attach(made, input, _pairs, "ViewAsRealBackward0")


def _get_real(self: Tensor) -> Tensor:
    if not self.dtype.is_complex:
        return self
    if self.conjugated:
        made: Tensor = call(_real, {"val": self})
        return made
    return view_as_real(self).select(-1, 0)  # type: ignore[no-any-return]


def _get_imag(self: Tensor) -> Tensor:
    if not self.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    if self.conjugated:
        made: Tensor = call(_imag, {"val": self})
        return made
    return view_as_real(self).select(-1, 1)  # type: ignore[no-any-return]


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
    made.conjugated = True
    if input.counter is None:
        input.counter = [0]
    made.counter = input.counter  # as of a view: backward refuses to read it when what it is the conjugate of changed
    return made




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
    if not input.dtype.is_complex:
        return input
    made: Tensor = call(_conj_physical, {"x": input}, array=np.conj(input.array))
    return made


@function("angle", method=True)
def angle(input: Tensor) -> Tensor:
    """The direction of complex numbers; of real ones, 0 or pi."""
    if input.dtype.category < 2:
        input = input.to(dtypes.get_default_dtype())
    made: Tensor = call(_angle, {"z": input}, array=np.angle(input.array))
    return made


@function("complex")
def complex_(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """Complex numbers of real and imaginary parts."""
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {real.dtype.long_name} but got scalar type {imag.dtype.long_name} for "
            "second argument"
        )
    made: Tensor = composed("ComplexBackward0", joined, real, imag, slots=("real", "imag"))
    return made


@function("polar")
def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """Complex numbers of sizes and directions."""


    def compute(size: Tensor, direction: Tensor) -> Tensor:
        return joined(size * direction.cos(), size * direction.sin())

    made: Tensor = composed("PolarBackward0", compute, abs, angle, copied=(0, 1))
    return made


@function("view_as_complex")
def view_as_complex(input: Tensor) -> Tensor:
    """Complex numbers of the parts along the last dimension."""
    if state.recording:
        input.grad_node()
    if not input.array.ndim or input.array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if input.storage_array().strides[-1] != input.array.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if input.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    if any(stride % 2 for stride in input.stride()[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    made = together(input)
    made.array = unpaired(input.storage_array())
    made.counter = None
    return attach(made, input, unpaired, "ViewAsComplexBackward0")


@method("type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another one."""
    made: Tensor = self.to(other.dtype)
    return made
