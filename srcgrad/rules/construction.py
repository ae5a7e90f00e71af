"""Arrays made from numbers and sequences, and arrays that are the same whatever they are given."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from srcgrad.rules.facts import Array, Fact, Sequence, Static, as_array, broadcast, dimensions, element
from srcgrad.rules.results import Facts, Literals, dtype_name, dtype_of
from srcgrad.rules.table import add_method, linear, rule
from srcgrad.runtime import astype, unarray, unastype, unbroadcast, zeros_like


# --- from values -----------------------------------------------------------------------------------------------------
@linear(np.array, "object")
def array(object, dtype=None, ndmin=0, *, y, y_bar):
    """An array of a number, an array or nested sequences; a dtype that is not floating stops the derivative."""
    return unarray(unastype(np.reshape(y_bar, np.shape(object)), y_bar, dtype), object)


@array.when(dtype=None, ndmin=0)
def array(object, dtype=None, ndmin=0, *, y, y_bar):
    """As it is."""
    return unarray(y_bar, object)


array.accept(ignored=("copy", "order", "subok"))


@linear(np.asarray, "a", np.asanyarray)
def asarray(a, dtype=None, *, y, y_bar):
    """An array of a number, an array or nested sequences; a dtype that is not floating stops the derivative."""
    return unarray(unastype(y_bar, y_bar, dtype), a)


@asarray.when(dtype=None)
def asarray(a, dtype=None, *, y, y_bar):
    """As it is."""
    return unarray(y_bar, a)


asarray.accept(ignored=("copy", "order", "device"))


def _nested(fact: Fact) -> Array:
    match fact:
        case Sequence(_, items):
            facts = [_nested(item) for item in (items if items else [element(fact)])]
            shapes = {f.shape for f in facts}
            shape = shapes.pop() if len(shapes) == 1 else None
            dtypes = {f.dtype for f in facts}
            dtype = dtypes.pop() if len(dtypes) == 1 else None
            length = None if items is None else len(items)
            return Array(None if shape is None else (length, *shape), dtype)
    return as_array(fact)


def _of_values(name: str) -> Callable[[Facts, Literals], Fact]:
    def infer(arguments: Facts, literals: Literals) -> Fact:
        fact = _nested(arguments[name])
        own = {"float": "float64", "complex": "complex128", "int": None}.get(fact.dtype or "", fact.dtype)
        shape = fact.shape if literals.get("ndmin") == 0 or name == "a" else None
        return Array(shape, dtype_of(arguments, literals, own))

    return infer


array.infer(_of_values("object"))
asarray.infer(_of_values("a"))


@linear(np.float64, "x", np.float32, np.float16, np.longdouble)
def float64(x, *, y, y_bar):
    """A number (or array) in a floating dtype."""
    return unbroadcast(y_bar, x)


@linear(np.full, "fill_value")
def full(shape, fill_value, dtype=None, *, y, y_bar):
    """One value everywhere."""
    return unbroadcast(unastype(y_bar, y_bar, dtype), fill_value)


@full.when(dtype=None)
def full(shape, fill_value, dtype=None, *, y, y_bar):
    """One value everywhere."""
    return unbroadcast(y_bar, fill_value)


@full.infer
def full(arguments, literals):
    value = as_array(arguments["fill_value"]).dtype
    own = {"float": "float64", "complex": "complex128", "int": None}.get(value or "", value)
    return Array(dimensions(arguments.get("shape"), literals.get("shape")), dtype_of(arguments, literals, own))


@linear(np.full_like, "fill_value")
def full_like(a, fill_value, dtype=None, *, y, y_bar):
    """One value everywhere, in the dtype of ``a``."""
    return unbroadcast(unastype(y_bar, y_bar, np.result_type(y)), fill_value)


@rule(np.linspace)
def linspace(start, stop, num=50, endpoint=True, *, y, y_bar):
    """Evenly spaced numbers between two numbers."""
    t = np.linspace(0.0, 1.0, num, endpoint)
    return unbroadcast(np.tensordot(1.0 - t, y_bar, 1), start), unbroadcast(np.tensordot(t, y_bar, 1), stop)


@linspace.tangent
def linspace(start, stop, num=50, endpoint=True, *, y, start_dot, stop_dot):
    return (
        np.linspace(start_dot, np.zeros_like(stop), num, endpoint),
        np.linspace(np.zeros_like(start), stop_dot, num, endpoint),
    )


@linspace.infer
def linspace(arguments, literals):
    ends = broadcast(as_array(arguments["start"]), as_array(arguments["stop"]))
    return Array(None if ends.shape is None else (_length(literals.get("num")), *ends.shape))


def _length(value: object) -> int | None:
    return value if type(value) is int else None


@rule(np.arange)
def arange(start, stop=None, step=1, dtype=None, *, y, y_bar):
    """Numbers from start in steps; how many is a constant."""
    return np.sum(y_bar), None, np.sum(y_bar * np.arange(np.size(y_bar)))


@arange.tangent
def arange(start, stop=None, step=1, dtype=None, *, y, start_dot, step_dot):
    return start_dot * np.ones(np.shape(y)), step_dot * np.arange(np.size(y))


@arange.when(stop=None)
def arange(start, stop=None, step=1, dtype=None, *, y, y_bar):
    """What is named start is the end."""
    return zeros_like(start), None, np.sum(y_bar * np.arange(np.size(y_bar)))


@arange.tangent_when(stop=None)
def arange(start, stop=None, step=1, dtype=None, *, y, start_dot, step_dot):
    return start_dot * np.zeros(np.shape(y)), step_dot * np.arange(np.size(y))


@arange.infer
def arange(arguments, literals):
    return Array((None,), dtype_of(arguments, literals, None))


# --- copies and dtypes -----------------------------------------------------------------------------------------------
@linear(np.copy, "a", np.ascontiguousarray, np.asfortranarray)
def copy(a, *, y, y_bar):
    """The same elements."""
    return unbroadcast(y_bar, a)


copy.accept(ignored=("order", "subok"))


@copy.infer
def copy(arguments, literals):
    a = as_array(arguments["a"])
    return Array(a.shape, a.dtype)


@linear(astype, "a")
def astype_(a, dtype, *, y, y_bar):
    """In another dtype; nothing passes through integers."""
    return unastype(y_bar, a, dtype)


astype_.accept(ignored=("copy", "order", "casting", "subok"))
add_method("astype", astype)


@astype_.infer
def astype_(arguments, literals):
    a, dtype = as_array(arguments["a"]), arguments.get("dtype")
    name = dtype_name(dtype.value) if isinstance(dtype, Static) else None
    return Array(a.shape, name, a.scalar)


if hasattr(np, "astype"):  # NumPy 2.1

    @linear(np.astype, "x")
    def np_astype(x, dtype, *, y, y_bar):
        """In another dtype; nothing passes through integers."""
        return unastype(y_bar, x, dtype)

    np_astype.accept(ignored=("copy", "device"))


# --- the same whatever they are given --------------------------------------------------------------------------------
@rule(np.zeros, np.ones, np.empty)
def zeros(shape, dtype=None, *, y, y_bar):
    """Arrays of constants."""
    return None


zeros.accept(ignored=("order", "device"))


@zeros.infer
def zeros(arguments, literals):
    return Array(dimensions(arguments.get("shape"), literals.get("shape")), dtype_of(arguments, literals, "float64"))


@rule(np.zeros_like, np.ones_like, np.empty_like)
def filled_like(a, dtype=None, shape=None, *, y, y_bar):
    """Arrays of constants in the shape of another."""
    return None


filled_like.accept(ignored=("order", "subok", "device"), x="a", prototype="a")


@filled_like.infer
def filled_like(arguments, literals):
    a = as_array(arguments["a"])
    own = {"float": "float64", "complex": "complex128", "int": None}.get(a.dtype or "", a.dtype)
    return Array(a.shape if "shape" not in arguments else None, dtype_of(arguments, literals, own))


@rule(np.eye, np.identity, np.tri)
def eye(N, M=None, k=0, dtype=None, *, y, y_bar):
    """Constant matrices."""
    return None


eye.accept(n="N", ignored=("order", "device"))


@eye.infer
def eye(arguments, literals):
    n = _length(literals.get("N"))
    m = n if literals.get("M") is None and "M" not in arguments else _length(literals.get("M"))
    return Array((n, m), dtype_of(arguments, literals, "float64"))
