"""What tensors say of themselves: sizes, strides, kinds, the array behind them; and what of that may not be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.levels import check_one_derivative
from srcgrad.eager.lifted_arrays import elements, is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.operations.creation import on_cpu
from srcgrad.eager.operations.shaping import wrapped
from srcgrad.eager.registry import function, method
from srcgrad.eager.size import Size
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import age


class ReadOnly(property):
    """A property; writing to it is refused in PyTorch's words."""

    name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(messages.NOT_WRITABLE.format(name=self.name))


def read_only(name: str, get: Callable[[Any], Any]) -> None:
    """Give tensors a property that may not be written."""
    made = ReadOnly(get)
    made.name = name
    setattr(Tensor, name, made)


for _name in ("is_leaf", "grad_fn", "output_nr", "_version", "_base", "dtype", "shape", "ndim", "device", "layout"):
    read_only(_name, vars(Tensor)[_name].fget)
read_only("retains_grad", vars(Tensor)["retains_grad"].fget)
read_only("itemsize", lambda self: self.array.dtype.itemsize)
read_only("nbytes", lambda self: self.array.nbytes)
for _name in ("is_cuda", "is_sparse", "is_quantized", "is_meta", "is_mkldnn", "is_mps", "is_nested", "is_xpu"):
    read_only(_name, lambda self: False)
read_only("is_cpu", lambda self: True)


@method("size")
def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or one of its numbers."""
    shape = self.array.shape
    return Size(shape) if dim is None else shape[_dimension(dim, len(shape))]


def _dimension(dim: int, ndim: int) -> int:
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrapped(dim, ndim)


@method("stride")
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements apart neighbours are in memory."""
    array = self.storage_array()
    strides = tuple(s // array.dtype.itemsize for s in array.strides)
    return strides if dim is None else strides[_dimension(dim, array.ndim)]


def _address(array: Any) -> int:
    return int(elements(array).__array_interface__["data"][0])


@method("data_ptr")
def data_ptr(self: Tensor) -> int:
    """Where the first element is in memory."""
    return _address(self.storage_array())


@method("storage_offset")
def storage_offset(self: Tensor) -> int:
    """How many elements of the base come before the first one."""
    if self.base is None:
        return 0
    apart = _address(self.storage_array()) - _address(self.base.storage_array())
    return apart // int(self.array.dtype.itemsize)


@method("is_contiguous")
def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements follow one another in memory."""
    return bool(self.storage_array().flags.c_contiguous)


@method("is_set_to")
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same memory in the same shape."""
    return data_ptr(self) == data_ptr(tensor) and self.array.shape == tensor.array.shape


@function("numel", method=True)
def numel(input: Tensor) -> int:
    """The number of elements."""
    return int(input.array.size)


setattr(Tensor, "nelement", numel)  # noqa: B010


@method("dim", "ndimension")
def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return int(self.array.ndim)


@method("element_size")
def element_size(self: Tensor) -> int:
    """How many bytes an element takes."""
    return int(self.array.dtype.itemsize)


@function("is_floating_point", method=True)
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    return input.dtype.is_floating_point


@function("is_complex", method=True)
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers."""
    return input.dtype.is_complex


@method("is_signed")
def is_signed(self: Tensor) -> bool:
    """Whether elements can be negative."""
    return bool(self.dtype.is_signed)


@function("is_inference", method=True)
def is_inference(input: Tensor) -> bool:
    """Whether a tensor was made in inference mode."""
    return input.inference


@function("is_nonzero", method=True)
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero."""
    return bool(input)


@method("get_device")
def get_device(self: Tensor) -> int:
    """The number of the device: none, on the CPU."""
    return -1


@method("cpu")
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself, which is on the CPU."""
    return self


@method("type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's kind; the tensor in another dtype, given by that or by such a name."""
    if dtype is None:
        return f"torch.{self.dtype.type_name}"
    if isinstance(dtype, str):
        known = {f"torch.{d.type_name}": d for d in dtypes.ALL}
        if dtype not in known:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = known[dtype]
    if isinstance(dtype, type):  # torch.FloatTensor
        if getattr(dtype, "is_cuda", False):
            on_cpu("cuda")
        dtype = dtype.dtype  # type: ignore[attr-defined]
    return self.to(dtype)


def _data(self: Tensor) -> Tensor:
    check_one_derivative(self, "data")
    array = self.storage_array()
    made = Tensor.of(array.detached() if is_lifted(array) else array)
    made.inference, made.born = self.inference, age(self) if state.transform_level else -1
    return made


def _set_data(self: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if self.requires_grad and value.dtype.category < 2:
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    array = value.storage_array()
    self.array = array.detached() if is_lifted(array) else array


setattr(Tensor, "data", property(_data, _set_data))  # noqa: B010


@function("result_type")
def result_type(tensor: Any, other: Any) -> dtypes.dtype:
    """The dtype of an operation on two tensors or numbers."""
    given = [
        (value.dtype, dtypes.DIMENSIONED if value.array.ndim else dtypes.ZERO_DIM)
        if isinstance(value, Tensor)
        else (dtypes.of_number(value), dtypes.NUMBER)
        for value in (tensor, other)
    ]
    return dtypes.result_type(given)


@function("promote_types")
def promote_types(type1: dtypes.dtype, type2: dtypes.dtype) -> dtypes.dtype:
    """The smallest dtype for elements of both."""
    return dtypes.promote(type1, type2)


@function("can_cast")
def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Whether results of one dtype may be stored in another."""
    return from_.category <= to.category and not (from_.is_signed and not to.is_signed and to.category == 1)


class finfo:
    """What a floating dtype can hold."""

    def __init__(self, type: dtypes.dtype | None = None) -> None:
        self._type = type or dtypes.get_default_dtype()
        if self._type.category < 2:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        known = np.finfo(self._type.numpy)
        self.bits = known.bits
        self.dtype = self._type.to_real().name
        self.eps, self.max, self.min = float(known.eps), float(known.max), float(known.min)
        self.tiny = self.smallest_normal = float(known.tiny)
        self.resolution = float(known.resolution)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """What an integer dtype can hold."""

    def __init__(self, type: dtypes.dtype) -> None:
        if type.category != 1:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        known = np.iinfo(type.numpy)
        self.bits, self.max, self.min, self.dtype = known.bits, int(known.max), int(known.min), type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


function("finfo")(finfo)
function("iinfo")(iinfo)
