"""Values written in the text of a program, and their facts.

>>> fact_of_constant(2), fact_of_constant("axis")
(Array(shape=(), dtype='int', scalar=True, real=False, value=None), Static(value='axis'))
"""

from __future__ import annotations

from types import ModuleType

import gast
import numpy as np

from srcgrad.frontend.journal import note_compiled_in
from srcgrad.rules.facts import Array, Fact, Static, Unknown, fact_of, number
from srcgrad.runtime.objects import is_object
from srcgrad.syntax.globals import GlobalReference

INTEGER, BOOLEAN, FLOAT = number("int"), number("bool"), number("float")
TEXT = Static("")  # any string: only its kind is used


def is_integer(fact: Fact) -> bool:
    """Whether the dtype is an integer's, truth values apart."""
    dtype = fact.dtype if isinstance(fact, Array) else None
    return dtype is not None and dtype.startswith(("int", "uint"))


def literal(expression: gast.expr) -> object:
    """The value of a number (signed or not), a string, None, or a tuple or list of those; else ValueError."""
    match expression:
        case gast.Constant(value=value):
            return value
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() | float() as value)):
            return -value
        case gast.Tuple(elts=elements):
            return tuple(literal(e) for e in elements)
        case gast.List(elts=elements):
            return [literal(e) for e in elements]
        case GlobalReference(binding=binding) if binding.cell is None:
            return binding.value
        case gast.Attribute(value=GlobalReference(binding=binding), attr=attribute):
            if isinstance(binding.value, ModuleType) and hasattr(binding.value, attribute):
                note_compiled_in(vars(binding.value), attribute)
                return getattr(binding.value, attribute)
    raise ValueError("not a literal")


def fact_of_constant(value: object) -> Fact:
    """The fact of a value written in the text or fixed when the function is compiled."""
    if isinstance(value, bool | int | float | complex | np.generic):
        return fact_of(value, "")
    if isinstance(value, np.ndarray):
        return Array(value.shape, str(value.dtype))
    return Unknown() if is_object(value) else Static(value)
