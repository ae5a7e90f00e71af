"""The manner in which a slice is written: for numbers or arrays, and through the ``dtype`` that a ufunc was given.

``np.sin(x, dtype=np.float32)`` is the sine of ``x`` cast to float32, so that its formula reads the cast operand, and
what comes of it is cast back::

    unbroadcast(z_bar * np.cos(astype(x, np.float32)), x)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import MissingRule
from srcgrad.rules.facts import WEAK, Array, Fact
from srcgrad.rules.formula import displayed, is_number, literal, object_of
from srcgrad.rules.laws import is_own
from srcgrad.rules.results import dtype_name
from srcgrad.rules.rewriting import read, rebuilt, substituted, twins
from srcgrad.syntax.globals import GlobalReference, call_runtime

if TYPE_CHECKING:
    from srcgrad.rules.template import Rule

Given = Collection[str] | Mapping[str, gast.expr]

DTYPE = "dtype"


@dataclass(frozen=True)
class Manner:
    """``scalar``: all are Python's numbers, ``math`` functions serve; ``numpy``: none is, their quotients never raise.

    ``cast`` tells whether operands are cast to the ``dtype`` that was given, and what is known of it.  ``strong``: a
    zero cotangent or tangent stays zero through any partial (``rules.strong_zeros``).
    """

    scalar: bool = False
    numpy: bool = False
    cast: Literal["", "floating", "any"] = ""
    strong: bool = False

    def settled(self, expression: gast.expr) -> gast.expr:
        """An expression of a template in this manner."""
        if self.numpy:
            expression = _divided(expression)
        return twins(expression) if self.scalar else expression


def manner_of(
    rule: Rule, given: Given, facts: Mapping[str, Fact] | None, scalar: bool, strong: bool = False
) -> Manner:
    """The manner of one call."""
    operands = [(facts or {}).get(p) for p in _operands(rule, given)]
    known = [fact.dtype if isinstance(fact, Array) else None for fact in operands]
    numpy = not scalar and bool(known) and all(dtype is not None and dtype not in WEAK for dtype in known)
    if rule.kind != "elementwise" or DTYPE not in given or DTYPE in rule.parameters:
        return Manner(scalar, numpy, strong=strong)
    name = asked_for(given)
    if known and all(dtype is not None and _STRONG.get(dtype, dtype) == name for dtype in known):
        return Manner(False, True, strong=strong)  # nothing is cast
    floating = name is not None and name.startswith(("float", "complex"))
    return Manner(False, True, "floating" if floating else "any", strong)


_STRONG = {"float": "float64", "complex": "complex128"}


def _operands(rule: Rule, given: Given) -> list[str]:
    """The arguments that are not literal numbers."""
    return [p for p in rule.parameters if p in given and not (isinstance(given, Mapping) and is_number(given[p]))]


def asked_for(given: Given) -> str | None:
    """The name of the ``dtype`` of a call, if it is known from its text."""
    wanted = _wanted(given)
    return None if wanted is None else dtype_name(wanted)


def _wanted(given: Given) -> Any:
    if not isinstance(given, Mapping) or DTYPE not in given:
        return None
    known, value = literal(given[DTYPE])
    return value if known else object_of(given[DTYPE])


def check_dtype(rule: Rule, given: Given) -> None:
    """Refuse a ``dtype`` of objects, text or dates that a call names; one that is computed is refused where it runs."""
    wanted = _wanted(given)
    if wanted is None or not is_own(rule.template):
        return
    try:
        dtype = np.dtype(wanted)
    except TypeError:
        return  # the function says so
    if dtype.kind not in "biufc":
        name = displayed(rule.functions[0])
        raise MissingRule(
            f"{name} has no derivative where its dtype is {dtype}", code="E0507", hint="compute with floating numbers"
        )


def cast_facts(
    rule: Rule, given: Given, facts: Mapping[str, Fact] | None, manner: Manner
) -> Mapping[str, Fact] | None:
    """What is known of the operands that the formula is about."""
    if not manner.cast or not rule.casts_operands or facts is None:
        return facts
    name = asked_for(given)
    return {p: replace(f, dtype=name, real=False) if isinstance(f, Array) else f for p, f in facts.items()}


def casts(function: object) -> bool:
    """Whether a function casts its operands: a ufunc to the dtype that it is given, one of ``cmath`` to complex."""
    return type(function).__name__ == "ufunc" or getattr(function, "__module__", None) == "cmath"


# --- expressions -----------------------------------------------------------------------------------------------------
def cast(expression: Any, rule: Rule, given: Given, manner: Manner) -> Any:
    """An expression of the formula with its operands cast."""
    if not manner.cast or not rule.casts_operands:
        return expression
    operands = _operands(rule, given)
    return substituted(expression, {p: call_runtime(runtime.astype, read(p), read(DTYPE)) for p in operands})


def cast_back(partial: gast.expr, like: str, manner: Manner, *, up: bool = False) -> gast.expr:
    """What the formula gives in the dtype and shape of ``like``; nothing passes through integers."""
    if up:
        partial = call_runtime(runtime.rebroadcast, partial, read(like))
        if manner.cast == "floating":
            return partial
    elif manner.cast == "floating":
        return call_runtime(runtime.unbroadcast, partial, read(like))
    return call_runtime(runtime.unastype, partial, read(like), read(DTYPE))


def _divided(expression: gast.expr) -> gast.expr:
    """``quotient(a, b)`` as ``a / b``."""

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.Call(func=GlobalReference() as function, args=[x, y]) if (
                function.binding.value is runtime.quotient
            ):
                return gast.BinOp(rebuilt(x, change), gast.Div(), rebuilt(y, change))
        return None

    made: gast.expr = rebuilt(expression, change)
    return made
