"""Tensors to Python and NumPy and back: numbers, lists, arrays, dtypes, copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.graph import sequence
from srcgrad.eager.levels import level_of, tracks
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.operations.creation import clone, leaf, on_cpu
from srcgrad.eager.registry import function, method
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.warned import warn_once
from srcgrad.runtime import astype

_to = Operation(astype, "ToCopyBackward0")


@method("item")
def item(self: Tensor) -> Any:
    """The one element as a Python number."""
    if self.array.size != 1:
        raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
    return self.array.number() if is_lifted(self.array) else self.array.item()


@method("tolist")
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
    return _memory(self, True).tolist()


def is_tracked(tensor: Tensor) -> bool:
    """Whether a tensor depends on what a transform that runs is taking the gradient by."""
    if not state.transform_level:
        return False
    return bool(tracks(tensor))


def _memory(tensor: Tensor, numbers: bool = False) -> Any:
    """The plain memory of a tensor; those inside transforms have none, but ``numbers`` of it may be read in some."""
    array = tensor.storage_array()
    if is_lifted(array):
        level = level_of(array)
        if not numbers and level is not None and level.kind != "dual":
            raise RuntimeError(messages.NO_STORAGE)
        array = array.detached()
    if is_lifted(array) or (not numbers and is_tracked(tensor)):
        raise RuntimeError(messages.NO_STORAGE)
    return array


def _number(kind: Any) -> Any:
    def convert(self: Tensor) -> Any:
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if kind is not int and self.requires_grad and state.recording:
            warn_once(messages.SCALAR_OF_GRAD)
        return kind(self.array.number() if is_lifted(self.array) else self.array.item())

    return convert


def _truth(self: Tensor) -> bool:
    size = self.array.size
    if size == 1:
        return self.array.truth() if is_lifted(self.array) else bool(self.array)
    raise RuntimeError(
        "Boolean value of Tensor with no values is ambiguous"
        if not size
        else "Boolean value of Tensor with more than one value is ambiguous"
    )


def _index(self: Tensor) -> int:
    if self.array.size != 1 or self.array.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.array.number() if is_lifted(self.array) else self.array.item())


@method("numpy")
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The array itself, sharing memory; refused where a gradient would be lost."""
    if self.requires_grad and not force:
        raise RuntimeError(messages.NUMPY_REQUIRES_GRAD)
    return _memory(self)


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    if self.requires_grad:
        raise RuntimeError(messages.NUMPY_REQUIRES_GRAD)
    array = _memory(self)
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def _wrapped(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """What a NumPy function of tensors made, as a tensor."""
    array = np.asarray(array)
    return leaf(array.astype(np.uint8) if array.dtype.kind == "b" else array)


@method()
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor with its elements in order in memory: itself, or a copy."""
    return self if self.storage_array().flags.c_contiguous else clone(self, memory_format="contiguous")


@method("__contains__")
def contains(self: Tensor, element: Any) -> bool:
    """Whether some element is this one."""
    if not isinstance(element, Tensor | int | float | complex):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    other = element.array if isinstance(element, Tensor) else element
    return bool(np.any(self.array == other))


@method("__reduce_ex__")
def reduce(self: Tensor, protocol: Any) -> Any:
    """How to pickle a tensor: as a leaf."""
    kind = None if type(self) is Tensor else type(self)
    return rebuilt, (kind, np.array(_memory(self)), self.requires_grad)


def rebuilt(kind: Any, array: Any, requires_grad: bool) -> Tensor:
    """A tensor out of a pickle."""
    made: Tensor = object.__new__(kind or Tensor)
    made.array, made.born = array, next(sequence)
    made.leaf_grad = requires_grad
    return made


@method("__copy__")
def shallow(self: Tensor) -> Tensor:
    """Another tensor of the same memory, a leaf."""
    return rebuilt(type(self), self.storage_array(), self.requires_grad)


@method("__deepcopy__")
def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with a copy of the memory, and of the gradient."""
    if id(self) in memo:
        known: Tensor = memo[id(self)]
        return known
    if self.node is not None:
        raise RuntimeError(messages.DEEPCOPY)
    if is_lifted(self.array) or is_tracked(self):
        raise NotImplementedError(messages.NO_STORAGE)
    made = memo[id(self)] = rebuilt(type(self), np.array(self.array), self.leaf_grad)
    if self.gradient is not None:
        made.gradient = deepcopy(self.gradient, memo)
    return made


@method()
def apply_(self: Tensor, callable: Any) -> Tensor:
    """Store ``callable`` of each element."""
    if self.requires_grad:
        raise TypeError("apply_ is only supported on CPU tensors that do not require grad")
    storage = _memory(self)
    for place in np.ndindex(storage.shape):
        storage[place] = callable(storage[place].item())
    return self


@method()
def map_(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """Store ``callable`` of each pair of elements."""
    storage, other = _memory(self), np.broadcast_to(_memory(tensor), self.array.shape)
    for place in np.ndindex(storage.shape):
        storage[place] = callable(storage[place].item(), other[place].item())
    return self


@function("_cast", method="to")
def to(
    self: Tensor, *args: Any, dtype: Any = None, copy: bool = False, device: Any = None, non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """The tensor in another dtype; itself where it has that already."""
    on_cpu(device)
    for given in args:
        if isinstance(given, dtypes.dtype):
            dtype = given
        elif isinstance(given, Tensor):
            dtype = given.dtype
        elif isinstance(given, bool):
            continue
        else:
            on_cpu(given)
    if dtype is None or (dtype is self.dtype and not copy):
        return self.clone() if copy else self
    made: Tensor = call(_to, {"a": self, "dtype": dtype.numpy}, array=self.array.astype(dtype.numpy))
    return made


def _cast(d: dtypes.dtype) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return to(self, d)

    return convert


for _name, _d in (*dtypes.ALIASES.items(),):
    setattr(Tensor, _name, _cast(_d))
setattr(Tensor, "byte", _cast(dtypes.uint8))  # noqa: B010
setattr(Tensor, "char", _cast(dtypes.int8))  # noqa: B010
for _name, _f in (
    ("__float__", _number(float)),
    ("__int__", _number(int)),
    ("__complex__", _number(complex)),
    ("__bool__", _truth),
    ("__index__", _index),
    ("__array__", _array),
    ("__array_wrap__", _wrapped),
):
    setattr(Tensor, _name, _f)
setattr(Tensor, "__array_priority__", 1000)  # noqa: B010 (arrays leave operators to tensors)
