"""A function that has a rule, as a function of a text that calls it: what is differentiated is that call.

Enters: a function.  Leaves: another one with the same parameters::

    def variance(data, xbar=None):
        return applied(data, xbar)            applied: statistics.variance

>>> import statistics
>>> made = applying(statistics.variance)
>>> made([1.0, 2.0]), made.__srcgrad_source__
(0.5, 'def variance(data, xbar=None):\\n    return applied(data, xbar)\\n')
"""

from __future__ import annotations

import inspect
from collections.abc import Collection
from types import FunctionType
from typing import Any

from srcgrad.rules.table import lookup


def applying(function: Any, absent: Collection[str] = ()) -> FunctionType | None:
    """None of a function without a rule, or of one whose parameters cannot be written down."""
    if not isinstance(function, FunctionType) or lookup(function) is None or not function.__name__.isidentifier():
        return None
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    if any(p.default is not p.empty and type(p.default) not in _CONSTANTS for p in parameters):
        return None
    plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    left_out = {parameter.name for parameter in plain if parameter.default is None and parameter.name in absent}
    later = [parameter for parameter in plain if parameter.name not in left_out]
    given = ", ".join(_given(parameter, is_named=bool(left_out)) for parameter in later)
    name = function.__name__
    text = f"def {name}{inspect.Signature(plain)}:\n    return {_APPLIED}({given})\n"
    namespace: dict[str, Any] = {"__name__": function.__module__, _APPLIED: function}
    exec(compile(text, f"<srcgrad rule of {function.__module__}.{function.__qualname__}>", "exec"), namespace)
    made: FunctionType = namespace[name]
    made.__qualname__ = function.__qualname__
    made.__srcgrad_source__ = text  # type: ignore[attr-defined]
    return made


_CONSTANTS = (bool, int, str, type(None))
_APPLIED = "applied"


def _given(parameter: inspect.Parameter, *, is_named: bool) -> str:
    """An argument of the call; ``is_named``: one before it may be left out."""
    name = parameter.name
    match parameter.kind:
        case parameter.POSITIONAL_OR_KEYWORD if is_named and parameter.default is not parameter.empty:
            return f"{name}={name}"
        case parameter.VAR_POSITIONAL:
            return f"*{name}"
        case parameter.VAR_KEYWORD:
            return f"**{name}"
        case parameter.KEYWORD_ONLY:
            return f"{name}={name}"
    return name
