"""Functions as values: a local function together with the variables that it captured.

>>> def scaled(v, *, a):
...     return a * v
>>> closure(scaled, "", 3.0)(2.0)
6.0
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.runtime.refusals import RefusedType

_UNCHANGING = (
    int, float, complex, str, bytes, type(None), np.generic, range, FunctionType, BuiltinFunctionType, ModuleType, type,
)  # fmt: skip


def _is_unchanging(value: Any) -> bool:
    if isinstance(value, tuple):  # a local function as well
        return all(map(_is_unchanging, value))
    return isinstance(value, _UNCHANGING)


class Closure(tuple[Any, ...]):
    """``(function, names, *values)``: what a local function is outside of the text that defines it.

    ``names`` are the parameters, apart by blanks, whose default values come first among ``values``; what it captured
    follows, for the last keyword-only parameters of ``function``.  It is a tuple, so that its cotangent is one.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Python asks whether it is the same function, which equal values do not tell."""
        if self is other or not isinstance(other, Closure) or self.function is not other.function:
            return self is other
        raise RefusedType(
            "E0211", "two local functions with one text are compared; keep a name or a number beside each of them"
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    @property
    def function(self) -> Callable[..., Any]:
        made: Callable[..., Any] = self[0]
        return made

    def places(self) -> list[str]:
        """The parameters that the values are for."""
        code = self.function.__code__
        defaults = self[1].split()
        captured = len(self) - 2 - len(defaults)
        last = code.co_argcount + code.co_kwonlyargcount
        return [*defaults, *code.co_varnames[last - captured : last]]

    def missing(self, count: int, keywords: tuple[str, ...]) -> dict[str, Any]:
        """What a call with ``count`` positional arguments and these keywords leaves to the values."""
        code = self.function.__code__
        given = {*code.co_varnames[: min(count, code.co_argcount)], *keywords}
        return {name: value for name, value in zip(self.places(), self[2:], strict=True) if name not in given}

    def __deepcopy__(self, memo: dict[int, Any]) -> Closure:
        """The function itself, as in Python, where a copy of what it captured could not be told from it."""
        if not all(map(_is_unchanging, self[2:])):
            raise RefusedType(
                "E0211", "copy.deepcopy meets a local function, of which Python copies nothing that it captured;"
                " make the function again in place of a copy"
            )
        return self

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs, **self.missing(len(args), tuple(kwargs)))


def closure(function: Callable[..., Any], names: str, *values: Any) -> Closure:
    """A local function as a value."""
    return Closure((function, names, *values))


def is_made_of(f: Any, *functions: Callable[..., Any]) -> bool:
    """Whether a value is a local function with one of these texts."""
    return isinstance(f, Closure) and any(f.function is function for function in functions)


def made_of(f: Any, *functions: Callable[..., Any]) -> Any:
    """The value itself, which is a local function with one of these texts."""
    if not is_made_of(f, *functions):
        raise RefusedType(
            "E0211",
            "a local function is called here that may be any of several, which another call of the function around them"
            " made; pass it what tells it apart, or write a loop",
        )
    return f


def unwritten(code: str, reason: str) -> None:
    """In place of a local function that cannot be called without knowing what it is given."""
    from srcgrad.errors import UnsupportedSyntax  # what is saved runs on the runtime alone

    raise UnsupportedSyntax(reason, code=code)


class NotOneNumber(Exception):
    """The differentiated value is not one real number; its caller says so, and what to do."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def one_for(value: Any, name: str = "") -> float:
    """The seed of a gradient, 1.0, if the value is one real number; ``name``: of what, where that gradient is
    differentiated itself, or is read."""
    if isinstance(value, float):
        return 1.0
    is_number = not (value is None or isinstance(value, str | tuple | list | deque | dict)) and np.shape(value) == ()
    if is_number and np.issubdtype(np.result_type(value), np.floating):
        return 1.0
    if not name:
        raise NotOneNumber(value)
    from srcgrad.errors import SeedError  # what is saved runs on the runtime alone

    reason = f"the gradient of a function needs one real number, but {name} returned"
    if not is_number:
        what = f"an array of shape {np.shape(value)}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise SeedError(f"{reason} {what}", hint="use jacobian, or vjp with a seed of that shape")
    raise SeedError(f"{reason} a {type(value).__name__}", hint="return a float")


def units(x: Any) -> list[Any]:
    """The directions in which the elements of ``x`` move: one for each, in the shape and dtype of ``x``."""
    if isinstance(x, float | int):
        return [1.0]
    found = []
    for place in np.ndindex(np.shape(x)):
        unit = np.zeros_like(x)
        unit[place] = 1.0
        found.append(unit if np.shape(x) else unit[()])
    return found
