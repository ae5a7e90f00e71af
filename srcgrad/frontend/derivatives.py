"""Derivatives taken inside of a differentiated function: ``grad(g)(x)`` as a call of a function of its own.

Enters: a transformation of srcgrad's, the function that it is given, the call.  Leaves: a ``Derived``, or None where
that says what is not known while compiling.  A transformation is known by its attribute ``__srcgrad_transform__``, a
derivative made outside by its class's method ``__srcgrad_derived__``.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast

from srcgrad.frontend.applying import differentiated
from srcgrad.frontend.normal_form import Derived, LocalFunction
from srcgrad.rules.formula import literal

MODES = ("reverse", "value")


def transform_of(value: object) -> str | None:
    """Which of srcgrad's transformations a function is; a decorator has copied the mark of one that it wraps."""
    if not isinstance(value, FunctionType) or not str(value.__globals__.get("__name__")).startswith("srcgrad."):
        return None
    return vars(value).get("__srcgrad_transform__")


def derived_by(transform: Any, function: object, node: gast.Call) -> Derived | None:
    """What ``grad(f, argnums)`` makes of a function known now."""
    mode = transform_of(transform)
    if mode is None or mode not in MODES or len(node.args) > 2:
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if len(node.args) == 2:
        given["argnums"] = node.args[1]
    if not set(given) <= {"argnums"}:
        return None
    argnums: Any = 0
    if "argnums" in given:
        known, argnums = literal(given["argnums"])
        if not known:
            return None
    return derived(mode, function, argnums)


def derived(mode: str, function: object, argnums: Any) -> Derived | None:
    made = plain(function)
    if made is None or argnums is None:
        return None
    names = positional_parameters(made)
    wanted: list[str] = []
    for which in argnums if isinstance(argnums, tuple) else (argnums,):
        if isinstance(which, str):
            wanted.append(which)
        elif isinstance(which, int) and -len(names) <= which < len(names):
            wanted.append(names[which])
        else:
            return None
    return Derived(made, mode, tuple(dict.fromkeys(wanted)), isinstance(argnums, tuple))


def derived_object(value: object) -> Derived | None:
    """What a derivative that was made outside is, if it is one."""
    tell: Callable[[object], tuple[str, object, Any] | None] | None = getattr(type(value), "__srcgrad_derived__", None)
    told = None if tell is None else tell(value)
    return None if told is None else derived(*told)


def plain(function: object) -> object | None:
    """A function that can be differentiated as a callee: one with source, or a derivative of one."""
    if isinstance(function, FunctionType | LocalFunction | Derived):
        text: object = differentiated(function)
        return text
    return derived_object(function)


def unpassed(function: object) -> tuple[str, ...]:
    """The parameters of a local function that no caller passes: what it captured, and the object of a bound method."""
    if not isinstance(function, LocalFunction):
        return ()
    arguments = function.node.args
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return (*function.captured, *(p.id for p, default in named if default is not None))


def positional_parameters(function: object) -> list[str]:
    while isinstance(function, Derived):
        function = function.function
    if isinstance(function, LocalFunction):
        arguments = function.node.args
        return [p.id for p in (*arguments.posonlyargs, *arguments.args)]
    assert isinstance(function, FunctionType)
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])
