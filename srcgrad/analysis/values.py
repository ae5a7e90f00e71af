"""The fact of one expression, given the facts of the names in it.

Enters: an expression of the normal form, nested where it carries no derivative.  Leaves: its ``Fact``::

    x.shape[0] - 1        with x: Array(("x.0",), "float64")     number("int")
    s > 1.0               with s: number("float")                   number("bool")

Everything not listed here is ``Unknown()``, which is always right.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import gast
import numpy as np

from srcgrad.analysis.calls import compared, fact_of_call
from srcgrad.analysis.indices import Inner, indexed, joined
from srcgrad.analysis.literals import BOOLEAN, FLOAT, INTEGER, TEXT, fact_of_constant
from srcgrad.frontend.guards import is_compiled_in
from srcgrad.ir.normal_form import Apply, Bind, Pack
from srcgrad.rules.facts import (
    Array,
    Dimension,
    Fact,
    Object,
    Sequence,
    Static,
    Unknown,
    broadcast,
    element,
    integer,
    is_floating,
    is_natural,
    join,
    number,
    promote,
    shortened,
    taken_apart,
    without_value,
)
from srcgrad.rules.formula import object_of
from srcgrad.runtime.objects import is_users
from srcgrad.syntax.globals import GlobalReference

Lookup = Callable[[str], Fact]
DEPTH = 60  # nesting below which expressions are looked into


def is_copy(statement: Bind) -> bool:
    """Whether this is ``w = v.copy()``, which copies lists and dicts as well as arrays."""
    made = statement.operation
    if not isinstance(made, Apply) or made.function is not np.copy:
        return False
    called = getattr(statement.expression, "func", None)
    return isinstance(called, gast.Attribute) and object_of(called) is None


def is_defaulting(statement: Bind) -> bool:
    """Whether this makes a ``defaultdict``, whose items are those of a dict that is made."""
    made = statement.operation
    return isinstance(made, Pack) and made.kind == "dict" and not isinstance(statement.expression, gast.Dict)


def fact_of_expression(expression: gast.expr, of: Lookup, depth: int = 0) -> Fact:
    """What is known of an expression whose names have the facts ``of(name)``."""
    if depth > DEPTH:
        return Unknown()

    def inner(part: gast.expr) -> Fact:
        return fact_of_expression(part, of, depth + 1)

    match expression:
        case gast.Constant(value=value):
            return fact_of_constant(value)
        case GlobalReference(binding=binding):
            if binding.cell is None:
                return fact_of_constant(binding.value)
            return Unknown()
        case gast.Name(id=name):
            return of(name)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            if any(isinstance(e, gast.Starred) for e in elements):
                return Unknown()
            kind = "tuple" if isinstance(expression, gast.Tuple) else "list"
            return Sequence(kind, tuple(inner(e) for e in elements))
        case gast.JoinedStr():
            return TEXT
        case gast.BinOp(left=left, op=op, right=right):
            a, b = inner(left), inner(right)
            return valued(arithmetic(op, a, b, right), type(op), value_of(left, a), value_of(right, b))
        case gast.UnaryOp(op=op, operand=operand):
            return _unary(op, inner(operand))
        case gast.Compare(left=left, comparators=comparators, ops=ops):
            if any(isinstance(op, gast.In | gast.NotIn | gast.Is | gast.IsNot) for op in ops):
                return BOOLEAN
            return compared([inner(left), *(inner(c) for c in comparators)])
        case gast.BoolOp(values=values):
            return joined([inner(v) for v in values])
        case gast.IfExp(body=body, orelse=orelse):
            return join(inner(body), inner(orelse))
        case gast.Attribute(value=value, attr=attribute):
            return _attribute(value, attribute, inner)
        case gast.Subscript(value=value, slice=index):
            return indexed(inner(value), index, inner)
        case gast.Call():
            return fact_of_call(expression, inner)
    return Unknown()


def arithmetic(op: gast.AST, left: Fact, right: Fact, written: gast.expr | None = None) -> Fact:
    """A binary operator on numbers and arrays that carry no derivative."""
    if not isinstance(left, Array) or not isinstance(right, Array):
        return Unknown()
    if isinstance(op, gast.MatMult):
        return Array(None, promote(left.dtype, right.dtype))
    made = broadcast(left, right)
    dtype = made.dtype
    if isinstance(op, gast.Pow):
        exponent = written.value if isinstance(written, gast.Constant) else None
        known = power(left, right, exponent) if left.scalar and right.scalar else None
        if known is not None:
            return known
        natural = isinstance(exponent, int) and exponent >= 0 and dtype != "bool"
        return Array(made.shape, dtype if natural or is_floating(dtype) else None, made.scalar)
    if dtype is not None and not is_floating(dtype):
        if isinstance(op, gast.Div):
            dtype = "float" if dtype in ("int", "bool") else ("float64" if np.dtype(dtype).itemsize > 2 else None)
        elif dtype == "bool" and not isinstance(op, gast.BitAnd | gast.BitOr | gast.BitXor):
            dtype = None
    return Array(made.shape, dtype, made.scalar, made.real)


def _unary(op: gast.AST, operand: Fact) -> Fact:
    if isinstance(op, gast.Not):
        return BOOLEAN
    if isinstance(operand, Array) and operand.dtype != "bool":
        return operand if isinstance(op, gast.UAdd) else without_value(operand)
    return Unknown()


def value_of(expression: gast.expr, fact: Fact) -> Dimension:
    """What integer an operand is, as a dimension."""
    if isinstance(expression, gast.Constant) and type(expression.value) is int:
        return expression.value
    return fact.value if isinstance(fact, Array) else None


def valued(fact: Fact, operator: type[gast.AST], left: Dimension, right: Dimension) -> Fact:
    """The fact of a sum or difference of integers, with what dimension it is where that is known."""
    if not isinstance(fact, Array) or not fact.scalar or fact.dtype != "int":
        return fact
    if operator is gast.Add and isinstance(left, int):
        left, right = right, left
    if operator not in (gast.Add, gast.Sub) or not isinstance(left, str) or not isinstance(right, int):
        return fact
    less = right if operator is gast.Sub else -right
    if less >= 0:
        return replace(fact, value=shortened(left, less))
    whole, cut = taken_apart(left)
    return replace(fact, value=shortened(whole, cut + less)) if is_natural(left) and cut + less >= 0 else fact


def _attribute(value: gast.expr, attribute: str, inner: Inner) -> Fact:
    fact = inner(value)
    match fact, attribute:
        case Static(ModuleType() as module), _ if hasattr(module, attribute):
            held = getattr(module, attribute)
            return fact_of_constant(held) if is_compiled_in(held) or not is_users(module) else Unknown()
        case Array(shape=tuple() as shape), "shape":
            return Sequence("tuple", tuple(map(integer, shape)))
        case Array(shape=(length,)), "size":
            return integer(length)
        case Array(), "shape":
            return Sequence("tuple", None, INTEGER)
        case Array(), "ndim" | "size" | "nbytes" | "itemsize":
            return INTEGER
        case Array(shape=tuple() as shape, dtype=dtype), "T":
            return Array(shape[::-1], dtype, fact.scalar)
        case Array(dtype=str() as dtype), "dtype":
            return Static(np.dtype(dtype))
        case Object(), _:
            return fact.field(attribute)
    return Unknown()


def operator_result(function: object, facts: list[Fact], exponent: object = None) -> Fact | None:
    """Python's own arithmetic on single numbers, where its dtypes differ from NumPy's; None: ask the rule.

    ``exponent`` is the second operand where it is written out.
    """
    if getattr(function, "__module__", None) not in ("_operator", "builtins"):
        return None
    numbers = [f for f in facts if isinstance(f, Array) and f.scalar]
    if not numbers or len(numbers) < len(facts):
        return None
    name = getattr(function, "__name__", "")
    if name == "pow":
        return power(numbers[0], numbers[1], exponent) if len(numbers) == 2 else None
    dtypes = {f.dtype for f in numbers}
    if None in dtypes and all(f.is_real for f in numbers):
        return number(real=True) if name in _CLOSED or name in _MODULAR else None
    if dtypes <= {"bool", "int", "float"}:
        if name == "truediv":
            return FLOAT
        if name in _CLOSED or name in _MODULAR:
            return FLOAT if "float" in dtypes else INTEGER
    elif dtypes <= {"bool", "int", "float", "complex"}:
        if name == "abs":
            return FLOAT
        return number("complex") if name in _CLOSED else None
    return None


_CLOSED = ("add", "sub", "mul", "truediv", "neg", "pos")
_MODULAR = ("floordiv", "mod", "abs")


def power(base: Array, exponent: Array, written: object = None) -> Fact | None:
    """``base ** exponent`` of single numbers that may be Python's; None: ask the rule.

    A fraction of a negative Python float is complex: what is found ``real`` here is so if no complex number is about
    (``analysis.shapes``).
    """
    python = {"bool", "int", "float", "complex"}
    if "complex" in (base.dtype, exponent.dtype):
        return number("complex") if {base.dtype, exponent.dtype} <= python else None
    if not (base.is_real and exponent.is_real):
        return None
    whole = exponent.dtype in ("bool", "int", "int64") or (isinstance(written, float) and written.is_integer())
    if base.dtype in ("float", "float64") and whole:
        return number("float" if {base.dtype, exponent.dtype} <= python else "float64")
    if base.dtype in ("int", "int64") and isinstance(written, int) and written >= 0:
        return base
    return number(real=True)


def is_arithmetic(function: object, other: Fact) -> bool:
    """Whether ``+``, ``*`` or another operator of a list or tuple and this is NumPy's."""
    if not isinstance(other, Array) or other.scalar and other.dtype in ("int", "float", "complex"):
        return False  # of Python's own numbers and a list it is an error, or repeats the list
    return function is not operator.mul or bool(other.shape) or is_floating(other.dtype) and not other.scalar


def _dtype_with(array: Fact, items: Fact) -> str | None:
    """The dtype of an array and a list of numbers, of which NumPy makes an array of the widest of its own kinds."""
    item = element(items) if isinstance(items, Sequence) else items
    if not isinstance(array, Array) or not isinstance(item, Array) or array.dtype is None or item.dtype is None:
        return None
    return str(np.result_type(*(np.zeros(1, dtype) for dtype in (array.dtype, item.dtype))))


def joined_fact(function: object, left: Fact, right: Fact) -> Fact:
    """The fact of sequences joined by ``+`` or repeated by ``*``; with an array they are arrays too."""
    for fact, other in ((left, right), (right, left)):
        if is_arithmetic(function, fact):
            return Array(None, _dtype_with(fact, other))
    if function is operator.mul:
        items = left if isinstance(left, Sequence) else right
        assert isinstance(items, Sequence)
        return Sequence(items.kind, None, element(items)) if items.items != () else Unknown()
    if isinstance(left, Unknown) or isinstance(right, Unknown):  # ``runtime.joined`` looks whether it is a sequence
        known = left if isinstance(left, Sequence) else right
        return Sequence(known.kind, None, Unknown()) if isinstance(known, Sequence) else Unknown()
    if not isinstance(left, Sequence) or not isinstance(right, Sequence) or left.kind != right.kind:
        return Unknown()
    if left.items is not None and right.items is not None:
        return Sequence(left.kind, (*left.items, *right.items))
    return Sequence(left.kind, None, join(element(left), element(right)))
