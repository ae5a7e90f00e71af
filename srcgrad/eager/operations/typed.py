"""``torch.FloatTensor`` and its kin: constructors of a fixed dtype, and what scripts set before they begin."""

from __future__ import annotations

import warnings
from typing import Any

from srcgrad.eager import dtypes
from srcgrad.eager.operations.creation import construct_of, on_cpu
from srcgrad.eager.registry import function, method
from srcgrad.eager.size import device, layout
from srcgrad.eager.tensor import Tensor


class TensorType(type):
    """The class of ``FloatTensor``: a call makes a tensor; those of its dtype are its instances."""

    dtype: dtypes.dtype
    is_cuda = False
    is_sparse = False
    layout = layout("strided")

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        on_cpu(device)
        given = args[0] if len(args) == 1 else None
        if isinstance(given, Tensor) and given.dtype is not cls.dtype:
            raise TypeError(
                f"expected a tensor of {cls.dtype} on the CPU, but got one of {given.dtype}; convert it with .to()"
            )
        return construct_of(cls.dtype, args)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.array.dtype == cls.dtype.numpy

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


TYPES = {
    d.type_name: TensorType(d.type_name, (), {"dtype": d, "__module__": "torch", "__doc__": f"Tensors of {d}."})
    for d in dtypes.ALL
    if d.category < 3 and not d.type_name.startswith("UInt")
}
for _name, _type in TYPES.items():
    function(_name)(_type)


class _Set:
    """What was asked for, so that it can be asked back; nothing depends on it."""

    precision = "highest"
    deterministic = False


@function("set_default_tensor_type")
def set_default_tensor_type(t: Any) -> None:
    """Choose the dtype that Python's floats get, by the name or the class of a kind of tensor."""
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated: use set_default_dtype()", UserWarning, stacklevel=2
    )
    name = t if isinstance(t, str) else f"torch.{getattr(t, '__name__', t)}"
    chosen = TYPES.get(name.removeprefix("torch."))
    if chosen is None or (not isinstance(t, str) and not isinstance(t, TensorType)):
        raise TypeError(f"type {name if isinstance(t, str) else t!r} not available.")
    dtypes.set_default_dtype(chosen.dtype)


@function("set_default_device")
def set_default_device(device: Any) -> None:
    """Accept the CPU, refuse another."""
    on_cpu(device)


@function("get_default_device")
def get_default_device() -> device:
    """The CPU."""
    return device("cpu")


@function("set_float32_matmul_precision")
def set_float32_matmul_precision(precision: str) -> None:
    """Note the precision; products are computed in that of their factors."""
    if precision not in ("highest", "high", "medium"):
        warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the call has no effect")
        return
    _Set.precision = precision


@function("get_float32_matmul_precision")
def get_float32_matmul_precision() -> str:
    """The precision that was asked for."""
    return _Set.precision


@function("use_deterministic_algorithms")
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Note the wish; everything here is deterministic."""
    _Set.deterministic = bool(mode)


@function("are_deterministic_algorithms_enabled")
def are_deterministic_algorithms_enabled() -> bool:
    """Whether that was asked for."""
    return _Set.deterministic


@function("set_flush_denormal")
def set_flush_denormal(mode: bool) -> bool:
    """False: the processor's mode is NumPy's."""
    return False


@function("typename")
def typename(obj: Any) -> str:
    """The name of a value's kind, of a tensor with its dtype."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.type_name}"
    kind = obj if isinstance(obj, type) else type(obj)
    return kind.__qualname__ if kind.__module__ in ("builtins", None) else f"{kind.__module__}.{kind.__qualname__}"


@function("is_autocast_enabled", "is_autocast_cpu_enabled")
def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether dtypes are chosen by themselves: never."""
    return False


@method("pin_memory", "share_memory_")
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """The tensor itself: all memory is the processor's."""
    return self


@method("is_pinned", "is_shared")
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether memory is reserved for a device, or shared with another process: no."""
    return False


@method()
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """Refused: there is no such device."""
    on_cpu("cuda")
    return self


@method()
def bfloat16(self: Tensor, memory_format: Any = None) -> Tensor:
    """Refused: there are no such tensors."""
    made: Tensor = self.to(dtypes.bfloat16)
    return made
