"""What is known about a value before it exists: kinds, ranks, dimensions and dtypes.

Enters: a Python value (``fact_of``) or other facts.  Leaves: a frozen ``Fact``.  A fact is a promise: code is
simplified on the strength of it, so "not known" (``Unknown()``, ``None``) is always right, a guess never::

    broadcast(Array((3, 1), "float64"), Array((4,), "float32")) == Array((3, 4), "float64")
"""

from __future__ import annotations

import operator
from collections.abc import Mapping as Table
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from srcgrad.runtime.objects import fields_of, is_object

#: A number, a symbol that stands for one number during a call, or None.  Of ``#2`` it is known to be more than 1;
#: another symbol, ``x.0``, may be 0 or 1, and that of an integer, ``n.v``, negative too.  ``#2-1`` and ``x.0-1`` are
#: max(0, n - 1).
Dimension = int | str | None


def taken_apart(symbol: str) -> tuple[str, int]:
    """``x.0-2`` as ``x.0`` and 2."""
    whole, _, cut = symbol.rpartition("-")
    return (whole, int(cut)) if cut.isdecimal() and whole else (symbol, 0)


def shortened(dimension: Dimension, cut: int) -> Dimension:
    """``max(0, n - cut)`` of a dimension."""
    if isinstance(dimension, int):
        return max(0, dimension - cut)
    if dimension is None or not cut:
        return dimension
    whole, before = taken_apart(dimension)
    return f"{whole}-{before + cut}"


def is_natural(dimension: Dimension) -> bool:
    """Whether an integer of this ``value`` is surely that number, and not negative: ``x.0-1`` stands for -1 too where
    x is empty."""
    if not isinstance(dimension, str):
        return dimension is not None
    whole, cut = taken_apart(dimension)
    return cut <= 2 if is_size(whole) else not cut and not whole.endswith(".v")


def size(number: int) -> str:
    """The symbol of a size that is more than 1."""
    return f"#{number}"


def is_size(dimension: Dimension) -> bool:
    """Whether a dimension is a symbol that is known to be more than 1."""
    return isinstance(dimension, str) and dimension[0] == "#" and "-" not in dimension


@dataclass(frozen=True)
class Array:
    """An array or a number; ``shape`` is None when the rank is unknown, ``scalar`` excludes 0-d arrays.

    ``real`` says of an unknown dtype that it is one of ``REALS``: an integer on one path and a float on another.
    ``value`` is the dimension that an array has which is made with this integer as its length, if one can be made.
    """

    shape: tuple[Dimension, ...] | None = None
    dtype: str | None = None
    scalar: bool = False
    real: bool = False
    value: Dimension = None

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def is_real(self) -> bool:
        """Whether the dtype is surely one of ``REALS``, among which a float64 adjoint is good for each."""
        return self.real or self.dtype in REALS


@dataclass(frozen=True)
class Sequence:
    """A tuple or list; ``items`` when the length is known, else one ``item`` that stands for all; ``fields`` name
    the items of a named tuple."""

    kind: str
    items: tuple[Fact, ...] | None = None
    item: Fact | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mapping:
    """A dict with known constant keys, or None."""

    items: tuple[tuple[object, Fact], ...] | None = None


@dataclass(frozen=True)
class Object:
    """An object of a user's class and its fields."""

    kind: type
    items: tuple[tuple[str, Fact], ...]

    def field(self, name: str) -> Fact:
        return next((fact for field, fact in self.items if field == name), Unknown())


@dataclass(frozen=True)
class Static:
    """A value known when compiled: a literal, a dtype, a function."""

    value: object


@dataclass(frozen=True)
class Unknown:
    """Nothing is known."""


UNKNOWN = Unknown()

Fact = Array | Sequence | Mapping | Object | Static | Unknown

WEAK = ("bool", "int", "float", "complex")  # Python's own numbers, in order of promotion
REALS = frozenset({"int", "int64", "float", "float64"})
_SAMPLES: dict[str, object] = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}
# "bool" is both Python's and NumPy's: they promote alike, so one name serves.


def number(dtype: str | None = None, *, real: bool = False) -> Array:
    """The fact of a scalar."""
    return Array((), dtype, True, real)


def integer(value: Dimension) -> Array:
    """The fact of an integer of Python's of which it is known what dimension it is."""
    return Array((), "int", True, value=value)


def without_value(fact: Fact) -> Fact:
    """The fact of a number that is of the same kind."""
    return replace(fact, value=None) if isinstance(fact, Array) and fact.value is not None else fact


def promote(a: str | None, b: str | None) -> str | None:
    """The dtype of ``a + b`` under NumPy 2's rules, where Python numbers are weak (NEP 50)."""
    if a is None or b is None:
        return None
    if a == b:
        return a
    if a in WEAK and b in WEAK:
        return max(a, b, key=WEAK.index)
    samples = [_SAMPLES[d] if d in WEAK else np.dtype(d) for d in (a, b)]
    return str(np.result_type(*samples))  # type: ignore[arg-type]


def is_floating(dtype: str | None) -> bool:
    """Whether the dtype is certainly a real or complex floating one."""
    return dtype in ("float", "complex") or (dtype is not None and dtype not in WEAK and np.dtype(dtype).kind in "fc")


def is_discrete(dtype: str | None) -> bool:
    """Whether the dtype is certainly one of integers or truth values, which move by jumps."""
    return dtype is not None and np.dtype(dtype).kind in "biu"


def is_real(dtype: str | None) -> bool:
    """Whether the dtype is known and not complex."""
    return dtype is not None and not dtype.startswith("complex")


def as_array(fact: Fact) -> Array:
    """The fact of ``np.asarray(value)`` as an operand: literals are numbers, containers arrays of unknown shape."""
    if isinstance(fact, Array):
        return fact
    if isinstance(fact, Static) and isinstance(fact.value, (bool, int, float, complex, np.generic, np.ndarray)):
        known = fact_of(fact.value, "")
        return known if isinstance(known, Array) else Array()
    return Array()


def join(a: Fact, b: Fact) -> Fact:
    """What is true of a value that is either an ``a`` or a ``b`` (the meeting of two branches)."""
    if a == b:
        return a
    if isinstance(a, Static) and isinstance(b, Static) and type(a.value) is type(b.value):
        a, b = as_array(a), as_array(b)
        return join(a, b) if a != Array() and b != Array() else Unknown()
    if isinstance(a, Static) and isinstance(b, Array):
        a = as_array(a) if as_array(a) != Array() else a
    elif isinstance(b, Static) and isinstance(a, Array):
        b = as_array(b) if as_array(b) != Array() else b
    match a, b:
        case Array(), Array():
            shape: tuple[Dimension, ...] | None = None
            if a.shape is not None and b.shape is not None and len(a.shape) == len(b.shape):
                shape = tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
            dtype = a.dtype if a.dtype == b.dtype else None
            return Array(shape, dtype, a.scalar and b.scalar, dtype is None and a.is_real and b.is_real)
        case Sequence(), Sequence() if a.kind == b.kind:
            if a.items is not None and b.items is not None and len(a.items) == len(b.items):
                return Sequence(a.kind, tuple(map(join, a.items, b.items)))
            return Sequence(a.kind, None, join(element(a), element(b)))
        case Mapping(), Mapping() if a.items is not None and b.items is not None:
            if [key for key, _ in a.items] == [key for key, _ in b.items]:
                return Mapping(tuple((k, join(v, w)) for (k, v), (_, w) in zip(a.items, b.items, strict=True)))
            return Mapping()
        case Mapping(), Mapping():
            return Mapping()
        case Object(), Object() if a.kind is b.kind and [n for n, _ in a.items] == [n for n, _ in b.items]:
            return Object(a.kind, tuple((n, join(v, w)) for (n, v), (_, w) in zip(a.items, b.items, strict=True)))
    return Unknown()


def element(fact: Sequence) -> Fact:
    """The fact of any element of a sequence."""
    if fact.items is None:
        return Unknown() if fact.item is None else fact.item
    if not fact.items:
        return Unknown()
    result = fact.items[0]
    for item in fact.items[1:]:
        result = join(result, item)
    return result


def _dimension(m: Dimension, n: Dimension) -> Dimension:
    if m == n:
        return m
    if m == 1:
        return n
    if n == 1:
        return m
    for known in (m, n):
        if isinstance(known, int) or is_size(known):
            return known  # the other is the same or 1 (or the primal raises)
    return None


def broadcast(a: Array, b: Array) -> Array:
    """The fact of an elementwise operation on ``a`` and ``b``; rank 0 always comes out as a scalar."""
    dtype = promote(a.dtype, b.dtype)
    real = dtype is None and a.is_real and b.is_real
    if a.shape is None or b.shape is None:
        return Array(None, dtype, real=real)
    rank = max(len(a.shape), len(b.shape))
    left = (1,) * (rank - len(a.shape)) + a.shape
    right = (1,) * (rank - len(b.shape)) + b.shape
    shape = tuple(map(_dimension, left, right))
    return Array(shape, dtype, rank == 0, real)


def computed(ufunc: np.ufunc, operands: list[Array]) -> Array:
    """The dtype that a ufunc of one result gives for operands of these dtypes, by its table of loops."""
    names = [operand.dtype for operand in operands]
    if ufunc.nout != 1 or len(names) != ufunc.nin:
        return Array()
    if None not in names:
        return Array(dtype=_looked_up(ufunc, tuple(names)))
    if all(operand.is_real for operand in operands):
        choices = [(name,) if name is not None else ("int64", "float64") for name in names]
        found = {_looked_up(ufunc, chosen) for chosen in product(*choices)}
        return Array(dtype=found.pop()) if len(found) == 1 else Array(real=found <= REALS)
    return Array()


@cache
def _looked_up(ufunc: np.ufunc, names: tuple[str, ...]) -> str | None:
    given = [_WEAK_TYPES[name] if name in _WEAK_TYPES else np.dtype(name) for name in names]
    try:
        dtype = ufunc.resolve_dtypes((*given, None))[-1]
    except TypeError:
        return None
    return str(dtype) if dtype.kind in "biufc" else None


_WEAK_TYPES: dict[str | None, type] = {"int": int, "float": float, "complex": complex}


@cache
def keeps_complex(function: Any) -> bool:
    """Whether a complex operand makes the result complex, so that all operands of a real result are real."""
    if isinstance(function, np.ufunc):
        loops = [signature.split("->") for signature in function.types]
        return all(set(made) & _COMPLEX for given, made in loops if set(given) & _COMPLEX)
    if getattr(function, "__module__", None) in ("math", "cmath"):
        return True  # the one takes none, the other gives no real numbers
    return function in _KEEPING


_COMPLEX = set("FDG")
_KEEPING = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.pos, pow, sum,
    operator.matmul, operator.floordiv, operator.mod, np.where, np.clip, np.sum, np.mean, np.prod, np.dot, np.vdot,
    np.inner, np.trace, np.tensordot, np.einsum,
)  # fmt: skip


def same_shape(a: Fact, b: Fact) -> bool:
    """Whether the two shapes are provably equal; a dimension that is None equals nothing."""
    if not isinstance(a, Array) or not isinstance(b, Array) or a.shape is None or b.shape is None:
        return False
    return len(a.shape) == len(b.shape) and all(m is not None and m == n for m, n in zip(a.shape, b.shape, strict=True))


def same_dtype(a: Array, b: Array) -> bool:
    """Whether an adjoint of b is good as an adjoint of a: Python's numbers and NumPy's of 8 bytes are one kind."""
    alike = {"float": "float64", "complex": "complex128"}
    return a.dtype is not None and alike.get(a.dtype, a.dtype) == alike.get(b.dtype or "", b.dtype)


def fact_of(value: object, symbol: str, sizes: Table[int, str] | None = None) -> Fact:
    """The fact of an argument by its kind: rank and dtype are kept, dimensions become symbols ``symbol.0`` ...

    Only kinds: two arguments of equal rank and dtype give the same fact, so that one specialisation serves all sizes.
    With ``sizes``, the symbols of all dimensions of a call but 0 and 1, equal dimensions have one symbol, and it serves
    arguments alone whose dimensions are 0, 1 and equal in the same places.
    """
    match value:
        case bool():
            return number("bool")
        case int():
            return integer(f"{symbol}.v" if symbol else None)
        case np.generic():
            return number(str(value.dtype))
        case float():
            return number("float")
        case complex():
            return number("complex")
        case np.ndarray():
            if sizes is not None:
                return Array(tuple(sizes.get(n, n) for n in value.shape), str(value.dtype))
            return Array(tuple(f"{symbol}.{axis}" for axis in range(value.ndim)), str(value.dtype))
        case tuple() | list():
            kind = "tuple" if isinstance(value, tuple) else "list"
            return Sequence(kind, tuple(fact_of(item, f"{symbol}[{i}]", sizes) for i, item in enumerate(value)))
        case dict():
            return Mapping(tuple((key, fact_of(item, f"{symbol}[{key!r}]", sizes)) for key, item in value.items()))
        case None | str() | np.dtype() | type():
            return Static(value)
    if is_object(value):
        return Object(type(value), tuple((n, fact_of(v, f"{symbol}.{n}", sizes)) for n, v in fields_of(value).items()))
    return Static(value) if callable(value) else Unknown()


def dimensions(fact: Fact | None, literal: object = None) -> tuple[Dimension, ...] | None:
    """The shape that a ``shape=`` argument asks for: a literal, a tuple of known or unknown ints, or one int."""
    if literal is not None:
        items: tuple[Any, ...] = tuple(literal) if isinstance(literal, tuple | list) else (literal,)
        if all(isinstance(item, int) for item in items):
            return tuple(item if item >= 0 else None for item in items)
        return None
    match fact:
        case Static(value) if value is not None:
            return dimensions(None, value)
        case Sequence(_, parts) if parts is not None:
            return tuple(
                part.value if isinstance(part, Static) and isinstance(part.value, int)
                else part.value if isinstance(part, Array) else None for part in parts
            )  # fmt: skip
        case Array((), dtype, value=value) if dtype is not None and dtype not in ("float", "complex"):
            return (value,)
    return None
