"""A function known only when the program runs, as a callee: the text that calls it.

Enters: a function object and how it is called.  Leaves: a ``Callee`` whose body is that call, with the function itself
for the name in it, so that its derivative is compiled as any other; a ``Closure`` is taken apart first::

    def applied(given_f, given_0):               def applied(given_f, given_0):
        return function(given_0)                     _code, _names, c0 = given_f
                                                     return function(given_0, k=c0)
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from srcgrad import runtime
from srcgrad.frontend.known import Items, Known, matters
from srcgrad.frontend.meeting import known_of
from srcgrad.frontend.normal_form import Callee, Dynamic
from srcgrad.runtime.objects import is_object

Lengths = tuple[int | None, tuple[str, ...] | None]


def adapter(function: Callable[..., Any], shape: Dynamic, lengths: Lengths) -> Callee:
    """``lengths``: of what the stars of the call stand for."""
    length, options = lengths
    positional = [f"given_{j}" for j in range(shape.count)]
    given = list(shape.keywords) + list(options or ())
    opening = ""
    called: object = function
    passed = [*positional, *(["*given_star"] if shape.star else [])]
    passed += [f"{name}=given_k_{name}" for name in shape.keywords]
    if isinstance(function, runtime.Closure):
        called = function.function
        names = [f"c{j}" for j in range(len(function) - 2)]
        if names:
            opening = f"    _code, _names, {', '.join(names)} = given_f\n"
        missing = function.missing(shape.count + (length or 0), tuple(given))
        passed += [f"{place}={name}" for place, name in zip(function.places(), names, strict=True) if place in missing]
    passed += ["**given_rest"] if shape.rest else []
    parameters = ["given_f", *positional, *(["given_star"] if shape.star else [])]
    parameters += [*(f"given_k_{name}" for name in shape.keywords), *(["given_rest"] if shape.rest else [])]
    spelled = "given_f" if is_object(function) else "function"  # an object's class says what it runs
    text = f"def applied({', '.join(parameters)}):\n{opening}    return {spelled}({', '.join(passed)})\n"
    known: list[tuple[str, int | tuple[str, ...]]] = []
    if length is not None:
        known.append(("given_star", length))
    if options is not None:
        known.append(("given_rest", options))
    return Callee(_made(text, called), (), tuple(known), classes_held(function))


def classes_held(function: Callable[..., Any]) -> tuple[tuple[int, Known], ...]:
    """The classes of the objects that a closure holds, or is, as those of the parameter that it is given in."""
    if is_object(function):
        return ((0, known_of(function)),)
    if not isinstance(function, runtime.Closure):
        return ()
    held = tuple(known_of(value) for value in function)
    return ((0, Items(tuple, held)),) if any(map(matters, held)) else ()


def _made(text: str, function: object) -> FunctionType:
    namespace: dict[str, Any] = {"__name__": "srcgrad.emitted", "function": function}
    exec(compile(text, "<srcgrad call>", "exec", dont_inherit=True), namespace)
    made: FunctionType = namespace["applied"]
    made.__srcgrad_source__ = text  # type: ignore[attr-defined]
    return made
