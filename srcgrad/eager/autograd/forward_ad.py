"""``torch.autograd.forward_ad``: tensors with a tangent, inside a level."""

from __future__ import annotations

from typing import Any, NamedTuple

from srcgrad.eager.func.forward import check_tangent
from srcgrad.eager.levels import Level, pair, part
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import _Mode, state
from srcgrad.eager.tensor import Tensor


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor; the tangent is None where there is none."""

    primal: Tensor
    tangent: Tensor | None


def _levels() -> list[Level]:
    return [level for level in state.transforms if level.kind == "dual"]


def _current(level: int | None) -> Level | None:
    levels = _levels()
    place = len(levels) - 1 if level is None else level
    return levels[place] if 0 <= place < len(levels) else None


def enter_dual_level() -> int:
    """Begin a level in which tensors have tangents."""
    if _levels():
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    Level("dual").__enter__()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level that was begun last."""
    last = len(_levels()) - 1
    if level is not None and level != last:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    ending = _current(None)
    if ending is None:
        raise RuntimeError("Dual level must be a positive number.")
    ending.__exit__()


class dual_level(_Mode):
    """A context manager and decorator around computations with tangents."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, kind: Any, error: Any, at: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a tangent."""
    current = _current(level)
    if current is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for what, one in (("primal", tensor), ("tangent", tangent)):
        if one.dtype.category < 2:
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {one.dtype}")
    check_tangent(tensor, tangent)
    if tangent.array.dtype != tensor.array.dtype:
        raise RuntimeError("Forward AD: the tangent must have the dtype of the primal")
    if is_lifted(tensor.array) and tensor.array.level == current.id:
        tensor = part(tensor, current, "primal")
    return pair(tensor, tangent, current)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of a tensor."""
    current = _current(level)
    if current is not None and is_lifted(tensor.array) and tensor.array.level == current.id:
        return UnpackedDualTensor(part(tensor, current, "primal"), part(tensor, current, "tangent"))
    return UnpackedDualTensor(tensor, None)
