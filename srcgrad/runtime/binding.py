"""How a call binds its arguments: by what the code says that runs first, and by its defaults.

``inspect.signature`` tells what a function is to look like instead: it follows ``__wrapped__`` and believes
``__signature__``, which any decorator may set, and the decorator may have other parameters and other defaults.

>>> def plain(x, k=1.0): ...
>>> def decorated(x, k=5.0): ...
>>> decorated.__wrapped__ = plain
>>> inspect.signature(decorated), called_signature(decorated)
(<Signature (x, k=1.0)>, <Signature (x, k=5.0)>)
"""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable
from itertools import chain
from types import FunctionType, MethodType
from typing import Any

from srcgrad.runtime.objects import LIBRARIES, is_object


def called_signature(function: Any) -> inspect.Signature:
    """The signature by which a call binds its arguments."""
    return inspect.signature(_bare(function))


def documented_signature(function: Any) -> inspect.Signature:
    """The signature that rules are written for: what a library tells of its functions, whose decorators hand on what
    they are given, and of any other function that of its calls."""
    return inspect.signature(function) if is_of_library(function) else called_signature(function)


def default_objects(function: FunctionType) -> dict[str, object]:
    """The default values that a function object holds, by parameter."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    return {**dict(zip(names[len(names) - len(values) :], values, strict=True)), **(function.__kwdefaults__ or {})}


class OfDefault:
    """Reads the present default of a parameter."""

    __slots__ = __match_args__ = ("function", "name")

    def __init__(self, function: FunctionType, name: str) -> None:
        self.function, self.name = function, name

    def __call__(self) -> object:
        return default_objects(self.function)[self.name]


def decides_binding(function: Any) -> tuple[object, ...]:
    """What the binding of arguments depends on, each to be compared by identity."""
    found: list[object] = []
    while True:
        if isinstance(function, FunctionType):
            keywords = (function.__kwdefaults__ or {}).items()
            return (*found, function.__code__, function.__defaults__, *chain.from_iterable(keywords))
        if not isinstance(function, MethodType):  # each read of an object's method makes one
            found.append(function)
        behind = _behind(function)
        if behind is None:
            return tuple(found)
        function = behind


def cached_function(function: Any) -> Callable[..., Any] | None:
    """The function that one of ``functools.cache`` or ``lru_cache`` calls; None where ``__wrapped__`` has been set to
    another one, since nothing else tells."""
    told = getattr(function, "__wrapped__", None)
    return told if any(told is held for held in gc.get_referents(function)) else None


def _behind(function: Any) -> Any:
    """What a callable calls with the arguments that it is given, if it is one that does."""
    if isinstance(function, MethodType | staticmethod):
        return function.__func__
    if isinstance(function, functools.partial):
        return function.func
    if isinstance(function, functools._lru_cache_wrapper):
        return cached_function(function)
    called = function.__call__ if is_object(function) else None
    return called if isinstance(called, FunctionType | MethodType) else None


def _bare(function: Any) -> Any:
    """A callable that binds its arguments in the same way, and has no attributes that tell something else."""
    if isinstance(function, FunctionType):
        made = FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
        made.__kwdefaults__ = function.__kwdefaults__
        return made
    behind = _behind(function)
    if behind is None:
        return function
    behind = _bare(behind)
    if isinstance(function, MethodType):
        return MethodType(behind, function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(behind, *function.args, **function.keywords)
    return behind


def is_of_library(function: Any) -> bool:
    """Whether the code of a function is a library's; ``__module__`` is what a decorator has copied."""
    while (behind := _behind(function)) is not None:
        function = behind
    if not isinstance(function, FunctionType):
        return True
    home = function.__globals__.get("__name__")
    return isinstance(home, str) and home.partition(".")[0] in LIBRARIES
