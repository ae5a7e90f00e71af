"""The fact of one expression, given the facts of the names in it.

Enters: an expression of the normal form, nested where it carries no derivative.  Leaves: its ``Fact``::

    x.shape[0] - 1        with x: Array(("x.0",), "float64")     number("int")
    s > 1.0               with s: number("float")                   number("bool")

Everything not listed here is ``Unknown()``, which is always right.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import gast
import numpy as np

from srcgrad.analysis.calls import compared, fact_of_call
from srcgrad.analysis.indices import Inner, indexed, joined
from srcgrad.analysis.literals import BOOLEAN, FLOAT, INTEGER, TEXT, fact_of_constant
from srcgrad.rules.facts import (
    Array,
    Fact,
    Sequence,
    Static,
    Unknown,
    broadcast,
    is_floating,
    join,
    number,
    promote,
)
from srcgrad.syntax.globals import GlobalReference

Lookup = Callable[[str], Fact]
DEPTH = 60  # nesting below which expressions are looked into


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
            if binding.cell is None or callable(binding.value) or isinstance(binding.value, ModuleType):
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
            return arithmetic(op, inner(left), inner(right), right)
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
    if dtype is not None and not is_floating(dtype):
        if isinstance(op, gast.Div):
            dtype = "float" if dtype in ("int", "bool") else ("float64" if np.dtype(dtype).itemsize > 2 else None)
        elif isinstance(op, gast.Pow):
            natural = isinstance(written, gast.Constant) and isinstance(written.value, int) and written.value >= 0
            dtype = dtype if natural and dtype != "bool" else None
        elif dtype == "bool" and not isinstance(op, gast.BitAnd | gast.BitOr | gast.BitXor):
            dtype = None
    return Array(made.shape, dtype, made.scalar)


def _unary(op: gast.AST, operand: Fact) -> Fact:
    if isinstance(op, gast.Not):
        return BOOLEAN
    if isinstance(operand, Array) and operand.dtype != "bool":
        return operand
    return Unknown()


def _attribute(value: gast.expr, attribute: str, inner: Inner) -> Fact:
    fact = inner(value)
    match fact, attribute:
        case Static(ModuleType() as module), _ if hasattr(module, attribute):
            return fact_of_constant(getattr(module, attribute))
        case Array(shape=tuple() as shape), "shape":
            return Sequence("tuple", tuple(INTEGER for _ in shape))
        case Array(), "shape":
            return Sequence("tuple", None, INTEGER)
        case Array(), "ndim" | "size" | "nbytes" | "itemsize":
            return INTEGER
        case Array(shape=tuple() as shape, dtype=dtype), "T":
            return Array(shape[::-1], dtype, fact.scalar)
        case Array(dtype=str() as dtype), "dtype":
            return Static(np.dtype(dtype))
    return Unknown()


def operator_result(function: object, facts: list[Fact]) -> Fact | None:
    """Python's own arithmetic on Python's own numbers, where its dtypes differ from NumPy's; None: ask the rule."""
    if getattr(function, "__module__", None) not in ("_operator", "builtins"):
        return None
    python = {"bool", "int", "float"}
    if not facts or not all(isinstance(f, Array) and f.scalar and f.dtype in python for f in facts):
        return None
    is_float = any(isinstance(f, Array) and f.dtype == "float" for f in facts)
    match getattr(function, "__name__", ""):
        case "truediv":
            return FLOAT
        case "add" | "sub" | "mul" | "floordiv" | "mod" | "neg" | "pos" | "abs":
            return FLOAT if is_float else INTEGER
        case "pow":
            return number(None)  # 2 ** -1 is a float, (-2.0) ** 0.5 is complex
    return None
