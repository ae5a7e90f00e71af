"""Functions that have no derivative rule: what is said of them where what they read varies, and which draw numbers.

Enters: the name of a function, or of a method.  Leaves: ``MissingRule``, which is raised where the result is of use::

    k = np.random.poisson(x[0])      refused: a count varies with its parameters by jumps
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.errors import MissingRule, Span
from srcgrad.infer.values import Bound, are_of
from srcgrad.language.effects import method
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import refusal

#: Classes of generators of random numbers.
GENERATORS = (np.random.Generator, np.random.RandomState)


def is_drawing(bound: Bound) -> bool:
    """Whether a method is one of a generator of random numbers, and gives new ones."""
    return method(bound.name).draws and are_of(bound.receiver, *GENERATORS)


def names_given(node: gast.Call) -> list[str]:
    """The names of the arguments that may be arrays: SciPy takes a dtype as the output."""
    return [str(k.arg) for k in node.keywords if k.arg is not None and not isinstance(object_of(k.value), type)]


def missing_rule(name: str, function: object, span: Span, hint: str | None = None) -> MissingRule:
    """What is said of a function without a rule."""
    declared = refusal(function)
    if declared is not None:
        code, message, advice = declared.code, f"{name} has no derivative: {declared.reason}", declared.hint
    else:
        code, message, advice = "E0501", f"there is no derivative rule for {name}", hint or (
            f"write one: @srcgrad.rule({name}) above the adjoint of {name.rsplit('.', 1)[-1]},\n"
            f"or declare srcgrad.constant({name}) if it has no derivative"
        )
    return MissingRule(message, span, code=code, label="its argument varies", hint=advice)
