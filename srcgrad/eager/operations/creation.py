"""Tensors from Python's numbers and lists, from arrays and from other tensors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.constants import Number
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.registry import function, method
from srcgrad.eager.size import device as named
from srcgrad.eager.tensor import Tensor

_clone = Operation(np.copy, "CloneBackward0")


def leaf(array: Any, requires_grad: bool = False) -> Tensor:
    """A new tensor without a past."""
    made = Tensor.of(array)
    if state.inference:
        made.inference = True
        made.counter = [0]
    if requires_grad:
        if dtypes.of(array).category < 2:
            raise RuntimeError(messages.REQUIRES_GRAD_KIND)
        made.leaf_grad = True
    return made


def on_cpu(device: Any) -> None:
    """Refuse a place that does not exist here."""
    if device is None or (place := str(device)).startswith(("cpu", "meta")):
        return
    kind = named(place).type
    if kind in ("cuda", "xpu", "mtia"):
        raise AssertionError(f"Torch not compiled with {kind.upper()} enabled")
    raise RuntimeError(f"PyTorch is not linked with support for {kind} devices")


@function("clone", method=True)
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy that is recorded."""
    array = np.copy(input.array, order="K" if memory_format is None else "C")
    made: Tensor = call(_clone, {"a": input}, array=array)
    return made


@function("from_numpy")
def from_numpy(array: Any) -> Tensor:
    """A tensor that shares the memory of an array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    supported(array)
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    return leaf(array)


def supported(array: Any) -> None:
    """Refuse arrays of elements that no tensor has."""
    if array.dtype not in dtypes.OF_NUMPY:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype.type.__module__}.{array.dtype.type.__name__}. The only "
            "supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
            "uint32, uint16, uint8, and bool."
        )


# --- nested lists ----------------------------------------------------------------------------------------------------
def _is_sequence(data: Any) -> bool:
    return isinstance(data, Sequence | np.ndarray) and not isinstance(data, str | bytes)


def _shape(data: Any) -> tuple[int, ...]:
    """The shape that the first elements tell."""
    shape: list[int] = []
    while _is_sequence(data):
        if isinstance(data, np.ndarray) and not data.ndim:
            break
        shape.append(len(data))
        if not len(data):
            break
        data = data[0]
    return tuple(shape)


def _checked(data: Any, shape: tuple[int, ...], dim: int, found: list[Any]) -> None:
    """Collect the numbers of nested sequences that must have this shape."""
    if dim == len(shape):
        if isinstance(data, Tensor):
            if data.array.size != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            data = data.array.dtype.type(data.item())
        elif _is_sequence(data) and not (isinstance(data, np.ndarray) and not data.ndim):
            raise TypeError(f"'{type(data).__name__}' object cannot be interpreted as an integer")
        found.append(data)
        return
    if not _is_sequence(data):
        raise TypeError("not a sequence")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        _checked(item, shape, dim + 1, found)


def _inferred(found: list[Any]) -> dtypes.dtype:
    best: dtypes.dtype | None = None
    for value in found:
        if isinstance(value, str):
            raise ValueError("too many dimensions 'str'")
        if not isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
            raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")
        d = dtypes.of(value) if isinstance(value, np.ndarray) else dtypes.of_number(value)
        best = d if best is None else dtypes.promote(best, d)
    return best or dtypes.get_default_dtype()


def _converted(found: list[Any], shape: tuple[int, ...], d: dtypes.dtype) -> Any:
    kind = d.numpy.kind
    if kind in "iu":
        found = [_whole(value, d) for value in found]
    elif kind == "f" and any(isinstance(value, complex) for value in found):
        raise TypeError("must be real number, not complex")
    with np.errstate(over="ignore"):
        return np.array(found, d.numpy if kind not in "iu" else None).astype(d.numpy).reshape(shape)


def _whole(value: Any, d: dtypes.dtype) -> int:
    """A number as an element of an integer dtype; negative ones wrap, others must fit."""
    if isinstance(value, complex):
        raise TypeError("must be real number, not complex")
    number = int(value)
    if not -(2**63) <= number < 2**63 and d is not dtypes.uint64:
        raise ValueError("Overflow when unpacking long long")
    limits = np.iinfo(d.numpy)
    low = int(limits.min) or -int(limits.max)
    if not low <= number <= limits.max:
        raise RuntimeError(f"value cannot be converted to type {d.name} without overflow")
    return number % (int(limits.max) + 1) if number < 0 and not int(limits.min) else number


def array_of(data: Any, dtype: dtypes.dtype | None) -> Any:
    """Python data as an array that is nobody else's."""
    if isinstance(data, Tensor):
        array = data.array.detached() if is_lifted(data.array) else data.array
        return array.copy() if dtype is None else array.astype(dtype.numpy)
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, np.flexible):
        if isinstance(data, np.ndarray):
            supported(data)
        return np.array(data) if dtype is None else np.array(data).astype(dtype.numpy)
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not _is_sequence(data) and hasattr(data, "__array__"):
        return array_of(np.asarray(data), dtype)
    shape = _shape(data)
    found: list[Any] = []
    _checked(data, shape, 0, found)
    inferred = _inferred(found)
    return _converted(found, shape, dtype or inferred)


@function("tensor")
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A tensor of numbers, nested lists of them or an array, copied."""
    on_cpu(device)
    if isinstance(data, Tensor):
        warnings.warn(messages.COPY_CONSTRUCT, UserWarning, stacklevel=2)
    return leaf(array_of(data, dtype), requires_grad)


@function("as_tensor")
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor that shares the memory of ``data`` where that is possible."""
    on_cpu(device)
    if isinstance(data, Tensor):
        made: Tensor = data.to(dtype) if dtype is not None else data
        return made
    if isinstance(data, np.ndarray) and (dtype is None or data.dtype == dtype.numpy):
        return from_numpy(data)
    return leaf(array_of(data, dtype))


@function("asarray")
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of anything; a copy where ``copy`` asks for one."""
    on_cpu(device)
    made = as_tensor(obj, dtype)
    if copy:
        made = made.clone()
    return made.requires_grad_() if requires_grad else made


@function("scalar_tensor")
def scalar_tensor(s: Number, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor of the default dtype."""
    on_cpu(device)
    return leaf(array_of(s, dtype or dtypes.get_default_dtype()), requires_grad)


@function("is_tensor")
def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor."""
    return isinstance(obj, Tensor)


@method()
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of this tensor's dtype."""
    on_cpu(device)
    return leaf(array_of(data, dtype or self.dtype), requires_grad)


# --- the class itself, called ----------------------------------------------------------------------------------------
def construct(cls: type[Tensor], *args: Any, device: Any = None, **others: Any) -> Tensor:
    """``Tensor(2, 3)`` is a tensor of that shape, ``Tensor([2, 3])`` one of those numbers, of the default dtype."""
    on_cpu(device)
    if cls is Tensor:
        if others:
            raise TypeError(f"new() got an unexpected keyword argument '{next(iter(others))}'")
        return construct_of(dtypes.get_default_dtype(), args)
    made: Tensor = object.__new__(cls)
    if args and isinstance(args[0], Tensor):
        made.array = args[0].array
    else:
        made.array = construct_of(dtypes.get_default_dtype(), args).array
    return made


def construct_of(d: dtypes.dtype, args: tuple[Any, ...]) -> Tensor:
    """What a class of tensors of one dtype makes of its arguments: sizes, numbers, or memory that is shared."""
    if not args:
        array = np.zeros(0, d.numpy)
    elif all(isinstance(n, int) and not isinstance(n, bool) for n in args):
        from srcgrad.eager.operations.filling import checked_shape

        array = np.zeros(checked_shape("new", args), d.numpy)
    elif len(args) == 1 and isinstance(args[0], tuple) and type(args[0]).__name__ == "Size":
        array = np.zeros(args[0], d.numpy)
    elif len(args) == 1 and isinstance(args[0], Tensor):
        array = args[0].storage_array()
    elif len(args) == 1 and not _is_sequence(args[0]):
        if isinstance(args[0], str):
            raise TypeError("new(): invalid data type 'str'")
        raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
    elif len(args) == 1:
        array = array_of(args[0], d)
    else:
        given = ", ".join(type(a).__name__ for a in args)
        raise TypeError(f"new() received an invalid combination of arguments - got ({given})")
    return leaf(array)


setattr(Tensor, "__new__", staticmethod(construct))  # noqa: B010
