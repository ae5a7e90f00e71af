"""Arrays made from numbers and sequences, and arrays that are the same whatever they are given."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from srcgrad.rules.arguments import alike, has_axes
from srcgrad.rules.facts import Array, Fact, Sequence, Static, as_array, dimensions, element
from srcgrad.rules.results import Facts, Literals, dtype_name, gathered, of_dtype, strong
from srcgrad.rules.table import add_method, linear, rule
from srcgrad.runtime import astype, operand, rearray, reastype, tolist, unarray, unastype, unbroadcast, widened


# --- from values -----------------------------------------------------------------------------------------------------
@rule(np.array)
def array(object, dtype=None, ndmin=0, *, y, y_bar):
    """An array of a number, an array or nested sequences; a dtype that is not floating stops the derivative."""
    return unarray(np.reshape(unastype(y_bar, y_bar, dtype), np.shape(object)), object)


@array.tangent
def array(object, dtype=None, ndmin=0, *, y, object_dot):
    return reastype(np.array(object_dot, ndmin=ndmin), y)


@array.when(dtype=None, ndmin=0)
def array(object, dtype=None, ndmin=0, *, y, y_bar):
    """As it is."""
    return unarray(y_bar, object)


@array.tangent_when(dtype=None, ndmin=0)
def array(object, dtype=None, ndmin=0, *, y, object_dot):
    return np.array(object_dot)


array.accept(ignored=("copy", "order", "subok"))


@rule(np.asarray, np.asanyarray, np.asarray_chkfinite)
def asarray(a, dtype=None, *, y, y_bar):
    """An array of a number, an array or nested sequences; a dtype that is not floating stops the derivative."""
    return unarray(unastype(y_bar, y_bar, dtype), a)


@asarray.tangent
def asarray(a, dtype=None, *, y, a_dot):
    return reastype(np.asarray(a_dot), y)


@asarray.when(dtype=None)
def asarray(a, dtype=None, *, y, y_bar):
    """As it is."""
    return unarray(y_bar, a)


@asarray.tangent_when(dtype=None)
def asarray(a, dtype=None, *, y, a_dot):
    return np.asarray(a_dot)


asarray.accept(ignored=("copy", "order", "device"))


@rule(np.ascontiguousarray, np.asfortranarray, np.require)
def ascontiguousarray(a, dtype=None, *, y, y_bar):
    """An array that lies in memory as it is asked for; a number becomes an array of one."""
    return unarray(np.reshape(unastype(y_bar, y_bar, dtype), np.shape(a)), a)


@ascontiguousarray.tangent
def ascontiguousarray(a, dtype=None, *, y, a_dot):
    return reastype(np.asarray(a_dot), y)


ascontiguousarray.accept(ignored=("requirements",))


def _nested(fact: Fact) -> Array:
    match fact:
        case Sequence(_, items):
            facts = [_nested(item) for item in (items if items else [element(fact)])]
            shapes = {f.shape for f in facts}
            shape = shapes.pop() if len(shapes) == 1 else None
            dtypes = {f.dtype for f in facts}
            dtype = dtypes.pop() if len(dtypes) == 1 else gathered(dtypes)
            length = None if items is None else len(items)
            return Array(None if shape is None else (length, *shape), dtype)
    return as_array(fact)


def _of_values(name: str) -> Callable[[Facts, Literals], Fact]:
    def infer(arguments: Facts, literals: Literals) -> Fact:
        fact = _nested(arguments[name])
        shape = fact.shape if literals.get("ndmin") == 0 or name == "a" else None
        return of_dtype(shape, arguments, literals, strong(fact.dtype))

    return infer


array.infer(_of_values("object"))
asarray.infer(_of_values("a"))


@ascontiguousarray.infer
def ascontiguousarray(arguments, literals):
    fact = _nested(arguments["a"])
    return of_dtype(fact.shape or None, arguments, literals, strong(fact.dtype))


@rule(np.float64, np.float32, np.float16, np.longdouble, np.complex128, np.complex64, np.clongdouble)
def float64(x, *, y, y_bar):
    """A number (or array) in a floating dtype."""
    return unarray(y_bar, x)


@float64.tangent
def float64(x, *, y, x_dot):
    return reastype(rearray(x_dot, y), y)


@rule(np.full)
def full(shape, fill_value, dtype=None, *, y, y_bar):
    """One value everywhere, in another dtype."""
    return None, unbroadcast(unastype(y_bar, y_bar, dtype), fill_value)


@full.tangent
def full(shape, fill_value, dtype=None, *, y, fill_value_dot):
    return reastype(fill_value_dot, y)


@full.when(dtype=None)
def full(shape, fill_value, dtype=None, *, y, y_bar):
    """One value everywhere."""
    return None, unbroadcast(y_bar, fill_value)


@full.tangent_when(dtype=None)
def full(shape, fill_value, dtype=None, *, y, fill_value_dot):
    return np.full(shape, fill_value_dot)


full.accept(ignored=("order", "device"))


@full.infer
def full(arguments, literals):
    own = strong(as_array(arguments["fill_value"]).dtype)
    return of_dtype(dimensions(arguments.get("shape"), literals.get("shape")), arguments, literals, own)


@rule(np.full_like)
def full_like(a, fill_value, dtype=None, shape=None, *, y, y_bar):
    """One value everywhere, in the dtype of ``a`` or another."""
    return None, unbroadcast(unastype(y_bar, y_bar, np.result_type(y)), fill_value)


@full_like.tangent
def full_like(a, fill_value, dtype=None, shape=None, *, y, fill_value_dot):
    return reastype(fill_value_dot, y)


full_like.accept(ignored=("order", "subok", "device"))


@full_like.infer
def full_like(arguments, literals):
    a = as_array(arguments["a"])
    return of_dtype(a.shape if "shape" not in arguments else None, arguments, literals, strong(a.dtype))


# --- copies and dtypes -----------------------------------------------------------------------------------------------
@linear(np.copy, "a")
def copy(a, *, y, y_bar):
    """The same elements."""
    return unarray(y_bar, a)


@copy.when(alike("a"), a=has_axes)
def copy(a, *, y, y_bar):
    """The same elements, of an array of floats."""
    return y_bar


copy.accept(ignored=("order", "subok"))


@copy.infer
def copy(arguments, literals):
    a = as_array(arguments["a"])
    return Array(a.shape, strong(a.dtype))


@rule(astype)
def astype_(a, dtype, *, y, y_bar):
    """In another dtype; nothing passes through integers."""
    return unastype(y_bar, a, dtype)


@astype_.tangent
def astype_(a, dtype, *, y, a_dot):
    return reastype(a_dot, y)


astype_.accept(ignored=("copy", "order", "casting", "subok"))
add_method("astype", astype)


@astype_.infer
def astype_(arguments, literals):
    a, dtype = as_array(arguments["a"]), arguments.get("dtype")
    name = dtype_name(dtype.value) if isinstance(dtype, Static) else None
    return Array() if name is None else Array(a.shape, name, a.scalar)


if hasattr(np, "astype"):  # NumPy 2.1

    @rule(np.astype)
    def np_astype(x, dtype, *, y, y_bar):
        """In another dtype; nothing passes through integers."""
        return unastype(y_bar, x, dtype)

    @np_astype.tangent
    def np_astype(x, dtype, *, y, x_dot):
        return reastype(x_dot, y)

    np_astype.accept(ignored=("copy", "device"))
    np_astype.infer(lambda arguments, literals: of_dtype(as_array(arguments["x"]).shape, arguments, literals, None))


@rule(tolist)
def tolist_(a, *, y, y_bar):
    """The elements as numbers in nested lists."""
    return rearray(y_bar, a)


@tolist_.tangent
def tolist_(a, *, y, a_dot):
    return tolist(a_dot)


add_method("tolist", tolist)


@rule(operand)
def operand_(x, *, y, y_bar):
    """What NumPy makes of a list; anything else as it is."""
    return unarray(y_bar, x)


@operand_.tangent
def operand_(x, *, y, x_dot):
    return operand(x_dot)


@rule(widened)
def widened_(x, like=None, *, y, y_bar):
    """An operand of a formula: integers as wider numbers, floats as they are."""
    return unarray(y_bar, x), None


@widened_.tangent
def widened_(x, like=None, *, y, x_dot):
    return operand(x_dot)


# --- the same whatever they are given --------------------------------------------------------------------------------
@rule(np.zeros, np.ones, np.empty)
def zeros(shape, dtype=None, *, y, y_bar):
    """Arrays of constants."""
    return None


zeros.accept(ignored=("order", "device"))


@zeros.infer
def zeros(arguments, literals):
    return of_dtype(dimensions(arguments.get("shape"), literals.get("shape")), arguments, literals, "float64")


@rule(np.zeros_like, np.ones_like, np.empty_like)
def filled_like(a, dtype=None, shape=None, *, y, y_bar):
    """Arrays of constants in the shape of another."""
    return None


filled_like.accept(ignored=("order", "subok", "device"), x="a", prototype="a")


@filled_like.infer
def filled_like(arguments, literals):
    a = as_array(arguments["a"])
    return of_dtype(a.shape if "shape" not in arguments else None, arguments, literals, strong(a.dtype))


@rule(np.eye, np.identity, np.tri)
def eye(N, M=None, k=0, dtype=None, *, y, y_bar):
    """Constant matrices."""
    return None


eye.accept(n="N", ignored=("order", "device"))


def _length(value: object) -> int | None:
    return value if type(value) is int else None


@eye.infer
def eye(arguments, literals):
    n = _length(literals.get("N"))
    m = n if literals.get("M") is None and "M" not in arguments else _length(literals.get("M"))
    return of_dtype((n, m), arguments, literals, "float64")
