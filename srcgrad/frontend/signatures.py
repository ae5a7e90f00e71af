"""The parameters of a function object, and what they are where a call does not give them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import TypeAlias

import gast

from srcgrad.runtime.binding import OfDefault, default_objects
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import reference

Default: TypeAlias = gast.Constant | GlobalBinding


@dataclass(frozen=True)
class Signature:
    """The parameters of a user function, in the order of its normal form."""

    name: str
    positional: tuple[str, ...]
    positional_only: int
    variadic: str | None
    keyword_only: tuple[str, ...]
    keywords: str | None
    defaults: Mapping[str, Default] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        variadic = () if self.variadic is None else (self.variadic,)
        keywords = () if self.keywords is None else (self.keywords,)
        return (*self.positional, *variadic, *self.keyword_only, *keywords)


def signature_of(function: FunctionType) -> Signature:
    code = function.__code__
    names = code.co_varnames
    count, only = code.co_argcount, code.co_kwonlyargcount
    rest = list(names[count + only :])
    variadic = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else None
    keywords = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else None
    return Signature(
        function.__name__,
        names[:count],
        code.co_posonlyargcount,
        variadic,
        names[count : count + only],
        keywords,
        {name: _default(function, name, value) for name, value in default_objects(function).items()},
    )


def default_expressions(function: FunctionType, parameters: Sequence[str]) -> dict[str, gast.expr]:
    """The defaults of these parameters, as a derivative of the function has them."""
    made: dict[str, gast.expr] = {}
    for name, default in signature_of(function).defaults.items():
        if name in parameters:
            made[name] = reference(default) if isinstance(default, GlobalBinding) else default
    return made


def _default(function: FunctionType, name: str, value: object) -> Default:
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return gast.Constant(value, None)
    return GlobalBinding(f"{name}_default", value, cell=OfDefault(function, name))
