"""Functions that are known only when the program runs: their derivatives, found then and kept.

Enters: a function object, how it is called and which arguments vary, from emitted code.  Leaves: the functions that run
its derivative.  The same function is compiled once for each way of calling it; a closure once for its text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.faults import reported
from srcgrad.frontend.applied import adapter, classes_held
from srcgrad.frontend.guards import guards_of
from srcgrad.frontend.journal import Journal, writing
from srcgrad.frontend.normal_form import Callee, Dynamic
from srcgrad.frontend.source import source_of
from srcgrad.language import effects
from srcgrad.pipeline import Module, compile_request
from srcgrad.programs import Compiled, Options, Request, present_options
from srcgrad.rules.edition import edition
from srcgrad.rules.facts import Unknown
from srcgrad.rules.table import constant
from srcgrad.runtime import Closure
from srcgrad.runtime.objects import is_object
from srcgrad.syntax.globals import GlobalBinding
from srcgrad.transform.nesting import parameters_of


@constant
def halves_of(f: Callable[..., Any], shape: str, active: tuple[bool, ...], *stars: Any) -> tuple[Any, Any]:
    """The forward and the backward function of a call of ``f``.

    ``shape`` spells the call: how many positional arguments, ``*``, names of keywords, ``**``; ``stars`` are the tuple
    and the dict that the stars stand for, of which the lengths and keys are looked at.
    """
    made = _compiled(f, shape, active, stars, "split")
    return made.entry, made.backward


@constant
def tangent_of(f: Callable[..., Any], shape: str, active: tuple[bool, ...], *stars: Any) -> Any:
    """The tangent function of a call of ``f``; see ``halves_of``."""
    return _compiled(f, shape, active, stars, "forward").entry


@constant
def reading(f: Callable[..., Any], shape: str, *stars: Any) -> Callable[..., Any]:
    """``f`` itself, to be called without a derivative, if it stores into nothing it is given; see ``halves_of``."""
    asked = (_Identity(f), shape, _lengths(f, stars), edition())
    if not _checked(*asked)[1]():
        _checked.cache_clear()
        _checked(*asked)
    return f


DOORS = (
    GlobalBinding("halves_of", halves_of, __name__, "halves_of"),
    GlobalBinding("tangent_of", tangent_of, __name__, "tangent_of"),
    GlobalBinding("reading", reading, __name__, "reading"),
)


_BUILT_IN = (BuiltinMethodType, MethodWrapperType, MethodDescriptorType, WrapperDescriptorType)


class _Identity:
    """A function by its identity; a closure by that of its text and the classes of the objects that it holds; an
    object that is called by its class and those of its fields."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.code: object = function.function if isinstance(function, Closure) else function
        if is_object(function):
            self.code = type(function)
        self.held = (function[1] if isinstance(function, Closure) else "", classes_held(function))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.code is other.code and self.held == other.held

    def __hash__(self) -> int:
        return hash((id(self.code), self.held))


@reported
def stored_parameters(callee: Callee) -> list[str]:
    """The parameters whose memory a function stores into, whatever its arguments are."""
    module = Module(generic=True)
    parameters = module.normalized(callee).parameters
    stored = module.summary_of(callee, tuple(Unknown() for _ in parameters)).stored
    return [parameters[j] for j in sorted(stored)]


Lengths = tuple[int | None, tuple[str, ...] | None]


def _compiled(f: Callable[..., Any], shape: str, active: tuple[bool, ...], stars: Any, mode: str) -> Compiled:
    asked = (_Identity(f), shape, active, _lengths(f, stars), mode, present_options(), edition())
    made = _kept(*asked)
    if not made.is_current():
        _kept.cache_clear()
        _checked.cache_clear()
        made = _kept(*asked)
    made.refresh()
    return made


def _lengths(f: Callable[..., Any], stars: tuple[Any, ...]) -> Lengths:
    if not callable(f):
        raise TypeError(f"{type(f).__name__!r} object is not callable")
    star, rest = (*stars, None, None)[:2]
    return None if star is None else len(star), None if rest is None else tuple(rest)


@lru_cache(maxsize=1024)
def _kept(
    identity: _Identity,
    shape: str,
    active: tuple[bool, ...],
    lengths: Lengths,
    mode: str,
    options: Options,
    rules: object,
) -> Compiled:
    """``options`` and ``rules`` are what the program depends on besides."""
    callee, _ = _checked(identity, shape, lengths, rules)
    wanted = tuple(p for p, moves in zip(parameters_of(_spelled(shape)), active, strict=True) if moves)
    return compile_request(Request(callee, wanted, mode, doors=DOORS, tried=True))


@lru_cache(maxsize=1024)
def _checked(identity: _Identity, shape: str, lengths: Lengths, rules: object) -> tuple[Callee, Callable[[], bool]]:
    """The call as a callee, and whether it is still what it was read from.  It gets its arguments by value, so that it
    may store into none of them."""
    applied: Any = identity.function
    while isinstance(applied, partial):
        applied = applied.func
    if isinstance(applied, MethodType) and is_object(applied.__self__):
        name, kind = applied.__name__, type(applied.__self__).__name__
        raise UnsupportedSyntax(
            f"the method {name!r} of an object of class {kind}, known only when the program runs, is called",
            hint="call it by its name, of the object: what the object holds may vary",
        )
    if isinstance(applied, _BUILT_IN) and effects.of_function(applied).updates:
        raise UnsupportedSyntax(
            f"the method {applied.__name__!r} of a container or an array, known only when the program runs, updates it",
            hint="call it by its name, of the container or array",
        )
    with writing(Journal()) as journal:
        callee = adapter(identity.function, _spelled(shape), lengths)
        stored = stored_parameters(callee)
    if stored:
        name = getattr(identity.code, "__name__", "")
        raise UnsupportedSyntax(
            f"the function {name!r}, known only when the program runs, stores into what it is given or has captured",
            source_of(identity.code).span() if isinstance(identity.code, FunctionType) else Span.unknown(),
            hint="call it by its name",
        )
    return callee, guards_of(journal).check()


def _spelled(shape: str) -> Dynamic:
    count, *rest = shape.split()
    return Dynamic(int(count), "*" in rest, tuple(name for name in rest if "*" not in name), "**" in rest)
