"""Arguments of calls, and the parameters that they are bound to.

Enters: positional and named arguments, perhaps of unknown number; the parameters of a function and their defaults.
Leaves: the value of each parameter, and the heap with the tuple and dict of what is left over.

>>> from srcgrad.infer.values import exact
>>> Given((exact(1.0),), (("k", exact(2.0)),)).after(exact(3.0)).values()
(3.0, 1.0, 2.0)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.objects import container
from srcgrad.infer.values import NEVER, SCALARS, Value, exact, of, union
from srcgrad.ir.regions import Function, Parameters
from srcgrad.language.models import is_of_model

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


@dataclass(frozen=True)
class Given:
    """The arguments of a call; ``more`` is one of those whose number is not known, positional or by name."""

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    more: Value | None = None

    def values(self) -> tuple[Value, ...]:
        extra = () if self.more is None else (self.more,)
        return (*self.positional, *(value for _, value in self.keywords), *extra)

    def replaced(self, change: Callable[[Value], Value]) -> Given:
        more = None if self.more is None else change(self.more)
        return Given(tuple(map(change, self.positional)), tuple((n, change(v)) for n, v in self.keywords), more)

    def after(self, receiver: Value) -> Given:
        return replace(self, positional=(receiver, *self.positional))


def defaults_of(analysis: Analysis, function: FunctionType, made: Function) -> dict[Any, Value]:
    given = made.parameters
    positional = (*given.positional_only, *given.positional)
    found = function.__defaults__ or ()
    named = function.__kwdefaults__ or {}

    def known(default: Any) -> Value:  # a program is compiled again where the defaults of a function are others
        is_constant = type(default) in (bool, int, str) or is_of_model(function) and type(default) in SCALARS
        return exact(default) if is_constant else analysis.outside.value(default)

    last = dict(zip(positional[len(positional) - len(found) :], map(known, found), strict=True))
    return last | {v: known(named[v.variable or v.name]) for v in given.keyword_only
                   if (v.variable or v.name) in named}  # fmt: skip


def stored_defaults(made: Function, contents: Contents) -> dict[Any, Value]:
    """The defaults of a function object that the program makes; anything if it was seen since."""
    found = {v: contents.get(f"default {v.name}") for v in made.parameters}
    return {version: value for version, value in found.items() if value}


def bind(
    frame: Frame, statement: Statement, parameters: Parameters, defaults: dict[Any, Value], given: Given, heap: Heap
) -> tuple[dict[Any, Value], Heap] | None:
    """The values of parameters; None where the call does not fit."""
    positional = (*parameters.positional_only, *parameters.positional)
    bound: dict[Any, Value] = dict(zip(positional, given.positional, strict=False))
    left = list(given.positional[len(positional) :])
    named = dict(given.keywords)
    for version in (*parameters.positional, *parameters.keyword_only):
        name = version.variable or version.name
        if name in named and version in bound:
            return None  # two values for one parameter
        if name in named:
            bound[version] = named.pop(name)
    more = given.more if given.more is not None else NEVER
    for version in (*positional, *parameters.keyword_only):
        if version not in bound:
            bound[version] = union(more, defaults.get(version, NEVER))
            if not bound[version]:
                return None
        elif given.more is not None and version in defaults:
            bound[version] = union(bound[version], more)
    if left and parameters.variadic is None or named and parameters.rest is None:
        return None
    if parameters.variadic is not None:
        contents = Contents(parts=tuple(left)) if given.more is None else Contents(rest=union(*left, more))
        bound[parameters.variadic], heap = container(frame, statement, heap, tuple, contents, parameters.variadic)
    if parameters.rest is not None:
        rest = union(*named.values(), more, of(str))
        held = Contents(entries=tuple(named.items())) if given.more is None else Contents(rest=rest)
        bound[parameters.rest], heap = container(frame, statement, heap, dict, held, parameters.rest)
    return bound, heap
