"""The facts of the operands of operations.

Enters: an operand of the normal form (a name, a constant, a tuple of those) and the facts of names.  Leaves: its fact,
and what is decided by facts alone.  ``2`` is a Python integer, ``x`` is what its name is.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown
from srcgrad.syntax.globals import GlobalReference

WEAK = ("int", "float")  # Python numbers: they take the dtype of the array they meet


def is_local(operand: gast.AST) -> bool:
    return isinstance(operand, gast.Name) and not isinstance(operand, GlobalReference)


def fact_of_operand(operand: gast.expr, of: Callable[[str], Fact]) -> Fact:
    """The fact of an operand whose names have the facts ``of(name)``."""
    if isinstance(operand, gast.Tuple):  # the operands of a variadic rule
        return Sequence("tuple", tuple(fact_of_operand(element, of) for element in operand.elts))
    return of(operand.id) if is_local(operand) else constant_fact(operand)


def constant_fact(expression: gast.expr) -> Fact:
    if isinstance(expression, gast.Constant):
        match expression.value:
            case bool():
                return Array((), "bool", True)
            case int():
                return Array((), "int", True)
            case float():
                return Array((), "float", True)
            case complex():
                return Array((), "complex", True)
        return Static(expression.value)
    return Unknown()


def is_single_real(fact: Fact) -> bool:
    """Whether a value is a single real number whose adjoint needs no narrowing: no complex number, no float32."""
    return isinstance(fact, Array) and fact.shape == () and fact.is_real


def gives_python_numbers(function: object) -> bool:
    """Whether a function of numbers gives Python's numbers: those of ``math``, operators, builtins."""
    return getattr(function, "__module__", None) in ("math", "_operator", "builtins")


def calls_to(expression: gast.expr, function: object) -> bool:
    """Whether an expression calls this function, named in the text."""
    return (
        isinstance(expression, gast.Call)
        and isinstance(expression.func, GlobalReference)
        and expression.func.binding.value is function
    )
