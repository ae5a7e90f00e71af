"""Functions that are known only when the program runs: their derivatives, found then and kept.

Enters: a function object, how it is called and which arguments vary, from emitted code.  Leaves: the functions that run
its derivative.  The same function is compiled once for each way of calling it; a closure once for its text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from srcgrad.frontend.applied import adapter
from srcgrad.frontend.normal_form import Dynamic
from srcgrad.pipeline import Compiled, Options, Request, compile_request, present_options
from srcgrad.rules.edition import edition
from srcgrad.rules.table import constant
from srcgrad.runtime import Closure
from srcgrad.syntax.globals import GlobalBinding
from srcgrad.transform.nesting import parameters_of


@constant
def halves_of(f: Callable[..., Any], shape: str, active: tuple[bool, ...], *stars: Any) -> tuple[Any, Any]:
    """The forward and the backward function of a call of ``f``.

    ``shape`` spells the call: how many positional arguments, ``*``, names of keywords, ``**``; ``stars`` are the tuple and
    the dict that the stars stand for, of which the lengths and keys are looked at.
    """
    made = _compiled(f, shape, active, stars, "split")
    return made.entry, made.backward


@constant
def tangent_of(f: Callable[..., Any], shape: str, active: tuple[bool, ...], *stars: Any) -> Any:
    """The tangent function of a call of ``f``; see ``halves_of``."""
    return _compiled(f, shape, active, stars, "forward").entry


DOORS = (
    GlobalBinding("halves_of", halves_of, __name__, "halves_of"),
    GlobalBinding("tangent_of", tangent_of, __name__, "tangent_of"),
)


class _Identity:
    """A function by its identity; a closure by that of its text."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.key = (id(function.function), function[1]) if isinstance(function, Closure) else (id(function), "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _compiled(f: Callable[..., Any], shape: str, active: tuple[bool, ...], stars: tuple[Any, ...], mode: str) -> Compiled:
    if not callable(f):
        raise TypeError(f"{type(f).__name__!r} object is not callable")
    star, rest = (*stars, None, None)[:2]
    lengths = None if star is None else len(star), None if rest is None else tuple(rest)
    made = _kept(_Identity(f), shape, active, lengths, mode, present_options(), edition())
    made.refresh()
    return made


@lru_cache(maxsize=1024)
def _kept(
    identity: _Identity,
    shape: str,
    active: tuple[bool, ...],
    lengths: tuple[int | None, tuple[str, ...] | None],
    mode: str,
    options: Options,
    rules: object,
) -> Compiled:
    """``options`` and ``rules`` are what the program depends on besides."""
    count, *rest = shape.split()
    called = Dynamic(int(count), "*" in rest, tuple(name for name in rest if "*" not in name), "**" in rest)
    callee = adapter(identity.function, called, lengths)
    wanted = tuple(p for p, moves in zip(parameters_of(called), active, strict=True) if moves)
    return compile_request(Request(callee, wanted, mode, doors=DOORS))
