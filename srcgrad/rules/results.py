"""Facts of results that several rules share: reductions, products, reshaped arrays.

Each takes the facts of the arguments and the values of those that are literal, and promises nothing it cannot know.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from srcgrad.rules.facts import (
    WEAK,
    Array,
    Dimension,
    Fact,
    Sequence,
    Static,
    Unknown,
    as_array,
    broadcast,
    computed,
    dimensions,
    element,
    is_floating,
    is_natural,
    is_real,
    keeps_complex,
    number,
    promote,
)

Facts = Mapping[str, Fact]
Literals = Mapping[str, object]


def floating(dtype: str | None) -> str | None:
    """The dtype of a mean or a root: integers become float64."""
    if dtype is None or is_floating(dtype):
        return dtype
    return "float" if dtype in ("bool", "int") else "float64"


def summed(dtype: str | None) -> str | None:
    """The dtype of a sum: kept where it is floating; truth values are counted."""
    return dtype if is_floating(dtype) or dtype == "int64" else "int64" if dtype == "bool" else None


def strong(dtype: str | None) -> str | None:
    """The dtype of an array made of values of this one: Python's numbers become NumPy's."""
    return {"int": None, "float": "float64", "complex": "complex128"}.get(dtype or "", dtype)


def gathered(dtypes: Iterable[str | None]) -> str | None:
    """The dtype of one array made of values of these: beside floating ones an integer of Python's is an int64."""
    given = set(dtypes)
    if not given or None in given:
        return None
    if not any(map(is_floating, given)):
        return strong(given.pop()) if len(given) == 1 else None
    return functools.reduce(promote, ("int64" if dtype == "int" else strong(dtype) for dtype in given))


def axes_of(axis: object, rank: int) -> set[int] | None:
    """The reduced axes, or None when they are not known."""
    if axis is None:
        return set(range(rank))
    given = axis if isinstance(axis, tuple) else (axis,)
    if all(type(a) is int and -rank <= a < rank for a in given):
        return {a % rank for a in given}
    return None


def reduced(a: Array, dtype: str | None, literals: Literals) -> Fact:
    """A reduction over ``axis`` with ``keepdims``."""
    unknown = object()
    axis, keepdims = literals.get("axis", unknown), literals.get("keepdims", unknown)
    if axis is None and keepdims is False:
        return Array((), dtype, scalar=True)
    if a.shape is None or not isinstance(keepdims, bool):
        return Array(None, dtype)
    axes = None if axis is unknown else axes_of(axis, len(a.shape))
    if axes is None:
        return Array(None, dtype)
    if keepdims:
        shape: tuple[Dimension, ...] = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    else:
        shape = tuple(n for i, n in enumerate(a.shape) if i not in axes)
    return Array(shape, dtype, scalar=not shape and not (keepdims or not axes))


def elementwise(
    function: object, family: tuple[object, ...], operands: list[Array], *, keeps_integers: bool = False
) -> Fact:
    """What acts on each element by itself and broadcasts; ``family`` are functions of the same formula.

    Of NumPy's functions the dtype is known, of users' it is not.
    """
    if not operands:
        return Unknown()
    home = getattr(function, "__module__", None) or ""
    if home in ("math", "cmath"):
        return number("float" if home == "math" else "complex")
    made = operands[0]
    for operand in operands[1:]:
        made = broadcast(made, operand)
    plain = function is None or home in ("_operator", "builtins")
    python = plain and all(operand.dtype in WEAK for operand in operands)
    alike = _UFUNC_OF_OPERATOR.get(function) if plain else None  # type: ignore[call-overload]
    ufuncs = [f for f in (function, *family, alike) if isinstance(f, np.ufunc) and f.nin == len(operands)]
    if ufuncs and not python:
        found = computed(ufuncs[0], operands)
        return Array(made.shape, found.dtype, made.shape == (), found.real)
    dtype = made.dtype
    if dtype is not None and not is_floating(dtype) and not keeps_integers:
        dtype = {"bool": None, "int": "float"}.get(dtype, "float64" if dtype in ("int64", "int32") else None)
    if dtype is None or not (python or home.startswith("numpy")):
        return Array(made.shape, None, made.shape == ())
    if not is_real(dtype) and not keeps_complex(function):
        dtype = None
    return Array(made.shape, dtype, made.shape == ())


#: The ufunc that an operator is for NumPy's numbers and arrays, where its rule is not that of the ufunc.
_UFUNC_OF_OPERATOR = {operator.truediv: np.divide, operator.pow: np.power, pow: np.power}


def of_library(fact: Fact) -> Fact:
    """What a fact of NumPy's says of a library's result: numbers may be Python's, tuples without names or lists."""
    if not isinstance(fact, Array):
        return Unknown()
    return Array(fact.shape, None, True, is_real(fact.dtype)) if fact.scalar else fact


def product(a: Array, b: Array) -> Fact:
    """``a @ b`` and, up to rank 2, ``np.dot(a, b)``."""
    dtype = promote(a.dtype, b.dtype)
    if a.shape is None or b.shape is None:
        return Array(None, dtype)
    match len(a.shape), len(b.shape):
        case (0, _) | (_, 0):
            return Array(None, dtype)
        case 1, 1:
            return Array((), dtype, scalar=True)
        case m, n if m <= 2 and n <= 2:
            return Array(a.shape[:-1] + (b.shape[-1:] if n == 2 else ()), dtype)
        case m, n:
            rank = max(m, n) - (m == 1) - (n == 1)
            left = a.shape[-2:-1] if m > 1 else ()
            right = b.shape[-1:] if n > 1 else ()
            return Array((None,) * (rank - len(left) - len(right)) + left + right, dtype)


def total_size(shape: tuple[Dimension, ...] | None) -> Dimension:
    if shape is None or not all(isinstance(n, int) for n in shape):
        return shape[0] if shape is not None and len(shape) == 1 else None
    return math.prod(n for n in shape if isinstance(n, int))


def reshaped(a: Array, shape: Fact | None, literal: object) -> Fact:
    """``np.reshape``: one dimension -1 stays unknown, and so does what may be -1."""
    made = dimensions(shape, literal)
    return Array(None if made is None else tuple(n if is_natural(n) else None for n in made), a.dtype)


def dtype_of(arguments: Facts, literals: Literals, otherwise: str | None) -> str | None:
    """The dtype that a ``dtype`` argument asks for; ``otherwise`` when it is not given, None when it is not known."""
    fact = arguments.get("dtype")
    if isinstance(fact, Static) and fact.value is not None:
        return dtype_name(fact.value)
    if "dtype" in literals:
        return otherwise if literals["dtype"] is None else dtype_name(literals["dtype"])
    return None if fact is not None and fact != Static(None) else otherwise


def of_dtype(
    shape: tuple[Dimension, ...] | None, arguments: Facts, literals: Literals, otherwise: str | None
) -> Array:
    """An array of the dtype that is asked for.  One that is not known may be of records or of objects, whose elements
    are no numbers, or of small arrays, which add axes: nothing is known of the array then."""
    dtype = dtype_of(arguments, literals, otherwise)
    is_asked = "dtype" in arguments and dtype_of(arguments, literals, "float64") is None
    return Array() if is_asked else Array(shape, dtype)


def dtype_name(dtype: Any) -> str | None:
    """The name of a dtype, a scalar type or a string that means one; none of objects and records, which hold others."""
    try:
        made = np.dtype(dtype)
    except TypeError:
        return None
    return None if made.kind in "OV" else str(made)


def joined(arrays: Fact | None) -> tuple[Array | None, int | None]:
    """The common fact of a sequence of arrays, and how many there are."""
    match arrays:
        case Sequence(_, items):
            facts = [as_array(item) for item in (items if items else [element(arrays)])]
            dtype = strong(facts[0].dtype)  # every item is an array first
            for fact in facts[1:]:
                dtype = promote(dtype, strong(fact.dtype))
            ranks = {fact.rank for fact in facts}
            rank = ranks.pop() if len(ranks) == 1 else None
            shape = None if rank is None else (None,) * rank
            return Array(shape, dtype), None if items is None else len(items)
    return None, None


def scalar_sum(facts: list[Fact]) -> Fact:
    """The sum of Python's numbers, if they are."""
    dtype: str | None = "int"
    for fact in facts:
        array = as_array(fact)
        if array.shape != ():
            return Unknown()
        dtype = promote(dtype, array.dtype)
    return number(dtype)
