"""The facts of calls without a derivative: arrays made from a shape, predicates, conversions, methods.

Enters: a call, and the facts of its parts.  Leaves: the fact of its result::

    np.zeros((n, 3))            Array((None, 3), "float64")
    np.zeros_like(x)            as x, never a scalar
    x.astype(np.float32)        the shape of x, "float32"
"""

from __future__ import annotations

import math

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.indices import Inner, indexed
from srcgrad.analysis.literals import BOOLEAN, FLOAT, INTEGER, TEXT, is_integer
from srcgrad.rules.facts import (
    REALS,
    Array,
    Dimension,
    Fact,
    Mapping,
    Sequence,
    Static,
    Unknown,
    as_array,
    broadcast,
    dimensions,
    integer,
    is_floating,
    is_natural,
)
from srcgrad.rules.results import dtype_name
from srcgrad.syntax.globals import GlobalReference

_PREDICATES = (
    np.isnan, np.isfinite, np.isinf, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.isclose,
)  # fmt: skip
_STEPS = (np.sign, np.floor, np.ceil, np.rint, np.trunc)
_MADE = (np.zeros, np.ones, np.empty)
_MADE_LIKE = (np.zeros_like, np.ones_like, np.empty_like)
_INTEGERS = (
    len, ord, hash, id, np.ndim, np.size, math.floor, math.ceil, math.trunc, math.comb, math.perm, math.factorial,
    math.gcd, math.lcm, math.isqrt,
)  # fmt: skip
_PLACE = str(np.dtype(np.intp))
_PLACES = (np.argmax, np.argmin, np.nanargmax, np.nanargmin)
_TEXTS = (str, repr, format, chr, hex)
_TRUTHS = (isinstance, issubclass, callable, hasattr, bool, any, all)


def compared(facts: list[Fact]) -> Fact:
    """A comparison: one truth value for numbers and strings, else an array of them."""
    made = BOOLEAN
    for fact in facts:
        match fact:
            case Array():
                made = broadcast(made, Array(fact.shape, "bool", fact.scalar))
            case Static(value) if not isinstance(value, np.ndarray):
                pass
            case Sequence() | Mapping():
                return BOOLEAN if not any(isinstance(f, Array) for f in facts) else Array(None, "bool")
            case _:
                return Unknown()
    return Array(made.shape, "bool", made.scalar)


def fact_of_call(node: gast.Call, inner: Inner) -> Fact:
    if isinstance(node.func, gast.Attribute) and not isinstance(node.func.value, GlobalReference):
        return _method(node, inner)
    head = inner(node.func)
    if not isinstance(head, Static) or any(isinstance(a, gast.Starred) for a in node.args):
        return Unknown()
    function = head.value
    keywords = {k.arg: k.value for k in node.keywords}
    facts = [inner(a) for a in node.args]
    try:
        if function in _TRUTHS:
            return BOOLEAN
    except TypeError:
        return Unknown()
    if function is len and len(facts) == 1 and isinstance(facts[0], Array) and facts[0].shape:
        return integer(facts[0].shape[0])
    if function in _INTEGERS:
        return INTEGER
    if function is range:
        return Sequence("range", None, INTEGER)
    if function in _TEXTS:
        return TEXT
    if function is int or (function is round and len(facts) == 1):
        return INTEGER
    if function is float:
        return FLOAT
    if function is np.shape and len(facts) == 1:
        shape = as_array(facts[0]).shape
        return Sequence("tuple", None, INTEGER) if shape is None else Sequence("tuple", tuple(map(integer, shape)))
    if function in _PREDICATES:
        return compared(facts)
    if function in _PLACES and len(facts) == 1 and set(keywords) <= {"axis"}:
        return Array(None, _PLACE) if keywords else Array((), _PLACE, scalar=True)
    if function is np.argsort and len(facts) == 1 and not keywords:
        return Array(as_array(facts[0]).shape, _PLACE)
    if function is np.searchsorted and len(facts) == 2 and isinstance(facts[1], Array):
        return Array(facts[1].shape, _PLACE, facts[1].scalar)
    if function in _STEPS and len(facts) == 1 and isinstance(facts[0], Array) and is_floating(facts[0].dtype):
        dtype = facts[0].dtype
        return Array(facts[0].shape, "float64" if dtype == "float" else dtype, facts[0].shape == ())
    if function is runtime.count and len(facts) <= 2 and not keywords:
        return FLOAT  # an integer, when the program runs, divides a cotangent in the same way
    if function is runtime.zeros_like and len(facts) == 1:
        return zero_of(facts[0])
    if function in (*_MADE, np.full, *_MADE_LIKE, np.full_like, np.arange, np.linspace, np.eye, np.identity):
        return _made(function, node, facts, keywords, inner)
    if isinstance(function, type) and issubclass(function, np.generic) and len(facts) <= 1:
        shape = as_array(facts[0]).shape if facts else ()
        return Array(shape, str(np.dtype(function)), shape == ())
    return Unknown()


def _made(
    function: object,
    node: gast.Call,
    facts: list[Fact],
    keywords: dict[str | None, gast.expr],
    inner: Inner,
) -> Fact:
    """Arrays made from a shape, from another array, or from numbers."""
    dtype: str | None = None
    names = {"shape", "fill_value", "dtype", "a", "prototype", "order", "num"}
    if not set(keywords) <= names or (not facts and not keywords):
        return Unknown()
    wanted = keywords.get("dtype")
    place = {np.zeros: 1, np.ones: 1, np.empty: 1, np.full: 2, np.full_like: 2}.get(function)  # type: ignore[call-overload]
    if wanted is None and place is not None and len(node.args) > place:
        wanted = node.args[place]
    if wanted is not None:
        dtype = _dtype(inner(wanted))
        if dtype is None:
            return Unknown()
    if function in (*_MADE_LIKE, np.full_like):
        like = facts[0] if facts else inner(next(iter(keywords.values())))
        if not isinstance(like, Array) or len(facts) > (2 if function is np.full_like else 1):
            return Unknown()
        own = {"float": "float64", "int": "int64"}.get(like.dtype or "", like.dtype)
        return Array(like.shape, dtype or own)
    if function in (np.arange, np.linspace):
        if function is np.linspace:
            known = len(facts) in (2, 3) and all(as_array(f).dtype in REALS for f in facts)
            return Array((None,), dtype or "float64") if known else Unknown()
        ints = all(isinstance(f, Array) and f.dtype in ("int", "int64") for f in facts)
        length = facts[0].value if len(facts) == 1 and isinstance(facts[0], Array) else None
        return Array((length if is_natural(length) else None,), dtype or ("int64" if ints else None))
    if function in (np.eye, np.identity):
        size = _dimensions(node.args[0], inner) if len(facts) == 1 else None
        return Array(size * 2 if size else (None, None), dtype or "float64")
    shape = node.args[0] if node.args else keywords.get("shape")
    if shape is None:
        return Unknown()
    if function is np.full:
        fill = facts[1] if len(facts) > 1 else Unknown()
        own = fill.dtype if isinstance(fill, Array) and fill.shape == () else None
        dtype = dtype or {"float": "float64", "int": "int64"}.get(own or "", own)
        return Array(_dimensions(shape, inner), dtype)
    return Array(_dimensions(shape, inner), dtype or "float64")


def _dimensions(shape: gast.expr, inner: Inner) -> tuple[Dimension, ...] | None:
    """The shape that an expression asks for."""
    parts = shape.elts if isinstance(shape, gast.Tuple | gast.List) else [shape]
    made: list[Dimension] = []
    for part in parts:
        if isinstance(part, gast.Constant) and type(part.value) is int:
            made.append(part.value)
        elif is_integer(fact := inner(part)) and isinstance(fact, Array) and fact.shape == ():
            made.append(fact.value)
        elif len(parts) == 1 and isinstance(fact, Sequence) and fact.items is not None:
            return dimensions(fact)
        else:
            return None
    return tuple(made)


def _dtype(fact: Fact) -> str | None:
    return dtype_name(fact.value) if isinstance(fact, Static) else None


def zero_of(fact: Fact) -> Fact:
    """The fact of ``runtime.zeros_like(value)``."""
    match fact:
        case Array(shape=shape, dtype=dtype, scalar=scalar):
            if is_floating(dtype):
                return fact
            if dtype is None:
                return Array(shape, None, scalar, fact.real)
            return FLOAT if scalar else Array(shape, "float64")
        case Sequence(items=tuple() as items):
            return Sequence("list", tuple(map(zero_of, items)))
        case Mapping(items=tuple() as items):
            return Mapping(tuple((k, zero_of(f)) for k, f in items))
        case Static():
            return Static(None)
    return Unknown()


def _method(node: gast.Call, inner: Inner) -> Fact:
    assert isinstance(node.func, gast.Attribute)
    base = inner(node.func.value)
    match base, node.func.attr:
        case Array(), "any" | "all" if not node.args and not node.keywords:
            return BOOLEAN
        case Array(shape=shape), "astype" if len(node.args) == 1 and not node.keywords:
            dtype = _dtype(inner(node.args[0]))
            return Array() if dtype is None else Array(shape, dtype, base.scalar)
        case Array(), "item" if not node.args and is_floating(base.dtype):
            return FLOAT
        case Mapping(items=tuple()), "get" if len(node.args) in (1, 2) and isinstance(node.args[0], gast.Constant):
            return indexed(base, node.args[0], inner)
    return Unknown()
