"""Element types: PyTorch's names over NumPy's dtypes, and PyTorch's rules of promotion.

A result's dtype is decided here before NumPy is called: tensors with dimensions outrank 0-d tensors, which outrank
Python's numbers, inside a category (bool < integer < floating < complex); a higher category always wins.

>>> promote(float32, int64), result_type([(float32, DIMENSIONED), (float64, ZERO_DIM)])
(torch.float32, torch.float32)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

DIMENSIONED, ZERO_DIM, NUMBER = 2, 1, 0  # what decides first inside a category


class dtype:
    """The type of a tensor's elements; one object per type."""

    __slots__ = ("category", "itemsize", "long_name", "name", "numpy", "type_name")

    def __init__(self, name: str, numpy: Any, category: int, long_name: str, type_name: str) -> None:
        self.name = name
        self.numpy = np.dtype(numpy)
        self.category = category
        self.itemsize = self.numpy.itemsize
        self.long_name = long_name  # of error messages: "Float"
        self.type_name = type_name  # of tensor.type(): "FloatTensor"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return named, (self.name,)

    @property
    def is_floating_point(self) -> bool:
        return self.category == 2

    @property
    def is_complex(self) -> bool:
        return self.category == 3

    @property
    def is_signed(self) -> bool:
        return self.numpy.kind in "ifc"

    def to_real(self) -> dtype:
        """The dtype of the real part."""
        return {complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self) -> dtype:
        """The dtype of complex numbers of this precision."""
        return {float32: complex64, float64: complex128, float16: complex64}.get(self, self)


bool_ = dtype("bool", np.bool_, 0, "Bool", "BoolTensor")
uint8 = dtype("uint8", np.uint8, 1, "Byte", "ByteTensor")
int8 = dtype("int8", np.int8, 1, "Char", "CharTensor")
int16 = dtype("int16", np.int16, 1, "Short", "ShortTensor")
int32 = dtype("int32", np.int32, 1, "Int", "IntTensor")
int64 = dtype("int64", np.int64, 1, "Long", "LongTensor")
uint16 = dtype("uint16", np.uint16, 1, "UInt16", "UInt16Tensor")
uint32 = dtype("uint32", np.uint32, 1, "UInt32", "UInt32Tensor")
uint64 = dtype("uint64", np.uint64, 1, "UInt64", "UInt64Tensor")
float16 = dtype("float16", np.float16, 2, "Half", "HalfTensor")
float32 = dtype("float32", np.float32, 2, "Float", "FloatTensor")
float64 = dtype("float64", np.float64, 2, "Double", "DoubleTensor")
complex64 = dtype("complex64", np.complex64, 3, "ComplexFloat", "ComplexFloatTensor")
complex128 = dtype("complex128", np.complex128, 3, "ComplexDouble", "ComplexDoubleTensor")



class Refused(dtype):
    """A dtype that NumPy has not: it has a name, and no tensor has it."""

    __slots__ = ()

    is_floating_point = is_signed = True
    is_complex = False

    def __init__(self, name: str, itemsize: int) -> None:
        self.name, self.itemsize = name, itemsize

    def __getattribute__(self, attribute: str) -> Any:
        if attribute in ("numpy", "category", "long_name", "type_name"):
            raise TypeError(
                f"there are no tensors of {self}: torch here is srcgrad.eager, whose dtypes are NumPy's. Use "
                "torch.float32, which has the range of bfloat16 and more of its precision, or torch.float16."
            )
        return object.__getattribute__(self, attribute)


bfloat16 = Refused("bfloat16", 2)

ALL = (
    bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, float32, float64, complex64, complex128,
)  # fmt: skip
OF_NUMPY = {d.numpy: d for d in ALL}
_NAMES = {d.name: d for d in (*ALL, bfloat16)}
ALIASES = {
    "float": float32, "double": float64, "half": float16, "int": int32, "long": int64, "short": int16, "bool": bool_,
    "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
_PYTHON = {bool: bool_, int: int64}


def named(name: str) -> dtype:
    """The dtype of a name; KeyError where there is none."""
    return _NAMES[name]


class _Default:
    """The dtype of Python's floats."""

    floating = float32


def get_default_dtype() -> dtype:
    """The dtype that Python's floats get."""
    return _Default.floating


def set_default_dtype(d: dtype) -> None:
    """Choose the dtype that Python's floats get; a floating one."""
    if not (isinstance(d, dtype) and d.is_floating_point):
        raise TypeError("only floating-point types are supported as the default type")
    _Default.floating = OF_NUMPY[d.numpy]


def of(array: Any) -> dtype:
    """The dtype of an array; one that PyTorch does not have raises TypeError."""
    try:
        return OF_NUMPY[array.dtype]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype.type}. The only supported types are: float64, float32, "
            "float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        ) from None


def of_number(value: object) -> dtype:
    """The dtype of a Python number."""
    kind = type(value)
    if kind is float:
        return _Default.floating
    if kind is bool:
        return bool_
    if isinstance(value, complex):
        return _Default.floating.to_complex()
    if isinstance(value, np.generic):
        return of(value)
    return int64 if isinstance(value, int) else _Default.floating


def promote(a: dtype, b: dtype) -> dtype:
    """The dtype of an operation on two tensors of equal standing."""
    if a is b:
        return a
    if a.category != b.category:
        high, low = (a, b) if a.category > b.category else (b, a)
        if high.category == 3 and low is float64:
            return complex128
        return high
    return OF_NUMPY[np.promote_types(a.numpy, b.numpy)]


def result_type(operands: Iterable[tuple[dtype, int]]) -> dtype:
    """The dtype of an operation on operands given as (dtype, standing)."""
    best: list[dtype | None] = [None, None, None]
    for d, standing in operands:
        known = best[standing]
        best[standing] = d if known is None else promote(known, d)
    result: dtype | None = None
    for standing in (DIMENSIONED, ZERO_DIM, NUMBER):
        strongest = best[standing]
        if strongest is None:
            continue
        if result is None:
            result = strongest
        elif strongest.category > result.category:
            result = _raised(strongest, result, standing)
    assert result is not None
    return result


def _raised(d: dtype, result: dtype, standing: int) -> dtype:
    """What a lower standing of a higher category makes of ``result``."""
    if d.category == 3:
        if result.is_floating_point:
            return result.to_complex()
        return _Default.floating.to_complex() if standing == NUMBER else d
    if d.category == 2 and standing == NUMBER:
        return _Default.floating
    return d
