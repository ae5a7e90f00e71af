"""What restoring writes before the variables have names: gast nodes, and three statements that Python does not have.

A ``gast.Name`` that stands for a version has it as ``version``; one without is a cell, a global or a name of a class.
An expression in which control flow joins versions has a ``shape``: the statements that compute the same, from the same
nodes, by which names are checked.  ``Copies`` are block arguments.

>>> import gast
>>> from srcgrad.ir.operations import Literal
>>> gast.unparse(constant(Literal(-2).value))
'-2'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from srcgrad.ir.operations import UNBOUND, Literal, Operand, Version
from srcgrad.ir.regions import Statement
from srcgrad.syntax.globals import LOAD
from srcgrad.syntax.parse import clone

OPERATORS = {
    "+": gast.Add, "-": gast.Sub, "*": gast.Mult, "/": gast.Div, "//": gast.FloorDiv, "%": gast.Mod, "**": gast.Pow,
    "@": gast.MatMult, "<<": gast.LShift, ">>": gast.RShift, "&": gast.BitAnd, "|": gast.BitOr, "^": gast.BitXor,
}  # fmt: skip
UNARY = {"+": gast.UAdd, "-": gast.USub, "~": gast.Invert, "not": gast.Not}
COMPARING = {
    "==": gast.Eq, "!=": gast.NotEq, "<": gast.Lt, "<=": gast.LtE, ">": gast.Gt, ">=": gast.GtE, "is": gast.Is,
    "is not": gast.IsNot, "in": gast.In, "not in": gast.NotIn,
}  # fmt: skip


@dataclass(eq=False)
class Copies:
    """``targets`` are bound to ``values``, all at once; where it is ``tied``, by sharing their names.

    ``found`` notes what a target's name may hold where its value is none at all."""

    targets: Sequence[Version]
    values: Sequence[Any]
    tied: Statement | None = None
    found: dict[int, frozenset[object]] = field(default_factory=dict)
    comes_from: gast.AST | None = None  # the statement of the user's that binds them


@dataclass(eq=False)
class Branch:
    """Two ways through an expression, after its ``test``."""

    test: Any
    body: list[Any]
    orelse: list[Any]


@dataclass(eq=False)
class Inner:
    """The scope of a comprehension, which binds ``bound`` and the captured variables ``cells``."""

    bound: list[Version]
    cells: set[str]
    body: list[Any]


@dataclass(frozen=True, eq=False)
class Spelled:
    """A value that is known, and the expression that stands for it."""

    node: Any
    value: object

    def __repr__(self) -> str:  # what it is called in the text of a function in a failure
        called = getattr(self.value, "function", self.value)
        return str(getattr(called, "__name__", type(called).__name__))


def name(text: str, context: type[gast.expr_context] = gast.Load) -> Any:
    return gast.Name(text, LOAD if context is gast.Load else context(), None, None)


def of_version(version: Version, context: type[gast.expr_context] = gast.Load) -> Any:
    made = name("", context)
    made.version = version
    return made


def operand(given: Operand) -> Any:
    """An operand that is not nested: a name or a constant."""
    return constant(given.value) if isinstance(given, Literal) else of_version(given)


def constant(value: object) -> Any:
    if isinstance(value, Spelled):
        return clone(value.node)
    if callable(value):
        return name(str(getattr(value, "__name__", value)))
    if type(value) in (int, float) and math.copysign(1, value) < 0:  # type: ignore[arg-type]  # a sign is an operator
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))  # type: ignore[operator]
    return gast.Constant(value, None)


def is_nothing(node: object) -> bool:
    return isinstance(node, gast.Constant) and node.value is UNBOUND


def call(function: Any, *arguments: Any) -> Any:
    return gast.Call(function, list(arguments), [])


def assigned(targets: Sequence[Any], value: Any) -> Any:
    return gast.Assign(list(targets), value, None)


def body_of(statements: list[Any]) -> list[Any]:
    """A suite, which may not be empty."""
    return statements or [gast.Pass()]
