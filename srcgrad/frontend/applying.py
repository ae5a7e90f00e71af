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
import operator
import sys
from collections.abc import Collection, Hashable, Mapping
from functools import partial
from itertools import chain
from keyword import iskeyword
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from srcgrad.frontend.journal import note_compiled_in
from srcgrad.rules.table import is_constant, lookup
from srcgrad.runtime.binding import called_signature, decides_binding


def applying(function: Any, absent: Collection[str] = ()) -> FunctionType | None:
    """None of a function without a rule, and without a declaration that it carries no derivative.

    ``absent``: the parameters that are None, and left out where that is their default.
    """
    if not isinstance(function, FunctionType) or lookup(function) is None and not is_constant(function):
        return None
    return _calling(function, inspect.signature(function, follow_wrapped=False), absent)


def written_out(function: Any) -> Any:
    """A callable that has no text of its own, as a function that calls it, which is the same each time where it can be:
    a function of a library with a rule, a partial application, and a method of a class.  Any other is itself."""
    if isinstance(function, partial):
        called = written_out(function.func)
        applied = called, function.args, *chain.from_iterable(function.keywords.items())
        known, made = _PARTIALS.get(function, ((), None))
        if len(known) != len(applied) or not all(map(operator.is_, known, applied)):
            made = _partial(function, called)
            _PARTIALS[function] = applied, made
        for name in () if made is None else inspect.signature(made).parameters:
            note_compiled_in(function.keywords, name)  # a dict, which may change
        return function if made is None else made
    if isinstance(function, MethodType) and isinstance(function.__self__, type):
        key, decides = (function.__func__, function.__self__), decides_binding(function)
        known, made = _METHODS.get(key, ((), None))
        if made is None or len(known) != len(decides) or not all(map(operator.is_, known, decides)):
            made = _calling(function, called_signature(function))
            _METHODS[key] = decides, made
        return made
    if isinstance(function, FunctionType | MethodType | type) or not isinstance(function, Hashable):
        return function
    rule = lookup(function)
    if rule is None or rule.variadic is not None:
        return function
    if function not in _WRITTEN:
        _WRITTEN[function] = _calling(function, _signature(function, rule.parameters))
    return _WRITTEN[function]


_WRITTEN: dict[Any, FunctionType] = {}
_METHODS: dict[Any, tuple[tuple[object, ...], FunctionType]] = {}
_PARTIALS: WeakKeyDictionary[partial[Any], tuple[tuple[Any, ...], FunctionType | None]] = WeakKeyDictionary()


def _signature(function: Any, named: Collection[str]) -> inspect.Signature:
    """The parameters of a library's function that its rule names, but those whose default only the library knows; a
    ufunc does not tell what it takes."""
    try:
        told = list(inspect.signature(function).parameters.values())
    except ValueError:
        told = []
    kept: list[inspect.Parameter] = []
    for place, parameter in enumerate(told):
        if parameter.name not in named or type(parameter.default) not in (type, type(_ABSENT), *_CONSTANTS, float):
            continue
        is_behind = parameter.kind is parameter.POSITIONAL_OR_KEYWORD and len(kept) < place
        kept.append(parameter.replace(kind=parameter.KEYWORD_ONLY) if is_behind else parameter)
    return inspect.Signature(kept or [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in named])


def _partial(function: partial[Any], called: Any) -> FunctionType | None:
    """A partial application as a function of the parameters that are left; None where these are not known."""
    try:
        signature = called_signature(partial(called, *function.args, **function.keywords))
    except (TypeError, ValueError):  # what it takes is not known, or is not what it is given
        return None
    fixed = {f"given_{place}": value for place, value in enumerate(function.args)}
    named = [p.name for p in signature.parameters.values()]
    return _calling(called, signature, fixed=fixed) if fixed.keys().isdisjoint(named) else None


def transforming(
    transform: Any, function: Any, more: str, made: Any, signature: inspect.Signature, behind: Collection[str] = ()
) -> FunctionType:
    """A function with the name of ``made`` whose text is ``return transform(function, more)(...)``; the parameters
    ``behind`` are passed behind all other positional ones."""
    return _calling(made, signature, of=(transform, function), more=more, behind=behind)


def _calling(
    function: Any, signature: inspect.Signature, absent: Collection[str] = (), fixed: Mapping[str, Any] | None = None,
    of: tuple[Any, ...] = (), more: str = "", behind: Collection[str] = (),
) -> FunctionType:  # fmt: skip
    """A function with these parameters that passes them on, behind what is ``fixed``.

    Where ``of`` is a transformation and a function, its text calls ``transformation(function, more)`` instead."""
    parameters = signature.parameters.values()
    called = getattr(function, "__name__", "function")
    taken = {called, *(parameter.name for parameter in parameters)}
    head = _APPLIED
    while head in taken:
        head += "_"
    namespace: dict[str, Any] = {"__name__": getattr(function, "__module__", None), head: function, **(fixed or {})}
    plain = [_written(parameter, namespace) for parameter in parameters]
    left_out = {parameter.name for parameter in parameters if parameter.default is None and parameter.name in absent}
    if any(parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL) for parameter in parameters):
        left_out = set()  # what follows would stand in its place
    asked = [parameter.name for parameter in parameters if parameter.default is _ABSENT]  # left out where it is
    later = [parameter for parameter in plain if parameter.name not in (*left_out, *asked)]
    later = [p.replace(kind=p.POSITIONAL_ONLY) if p.name in behind else p for p in later]
    later.sort(key=lambda p: (p.kind > p.VAR_POSITIONAL, p.name in behind))
    keywords = next(name for name in ("given", "given_", "given__") if name not in taken)
    given = ", ".join((*(fixed or ()), *(_given(parameter, is_named=bool(left_out)) for parameter in later)))
    for place, held in enumerate(of):
        namespace[f"{head}_{place}"] = held
    head = f"{head}_0({head}_1, {more})" if of else head
    name = called if called.isidentifier() and not iskeyword(called) else "function"
    text = f"def {name}{inspect.Signature(plain)}:\n"
    if asked:
        tests = [f"    if {n} is not {n}_by_default:\n        {keywords}[{n!r}] = {n}\n" for n in asked]
        text += f"    {keywords} = {{}}\n{''.join(tests)}"
        given += f", **{keywords}"
    text += f"    return {head}({given})\n"
    home, qualified = getattr(function, "__module__", None), getattr(function, "__qualname__", name)
    exec(compile(text, f"<srcgrad rule of {home}.{qualified}>", "exec"), namespace)
    made: FunctionType = namespace[name]
    made.__qualname__ = qualified
    made.__srcgrad_source__ = text  # type: ignore[attr-defined]
    return made


def differentiated(function: Any) -> Any:
    """The function whose text is differentiated for another: itself, or one that calls it, where it has a rule or is
    declared to carry no derivative, which go before its text."""
    if not isinstance(function, FunctionType) or lookup(function) is None and not is_constant(function):
        return function
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    owner, known, made = vars(function).get(_MADE, (None, [], None))
    is_same = len(known) == len(defaults) and all(map(operator.is_, known, defaults))
    if owner is not function or not is_same:  # ``functools.wraps`` copies what hangs on a function
        made = applying(function)
        vars(function)[_MADE] = function, defaults, made  # the same each time: programs are kept by their functions
    return made


def is_right_as_text(function: Any) -> bool:
    """Whether the text of a function with a rule has the same derivative: rules of libraries say what these compute,
    a rule of the user's may say something else."""
    return str(function.__module__).partition(".")[0] in (*sys.stdlib_module_names, "numpy", "scipy")


def transform_of(value: object) -> str | None:
    """Which of srcgrad's transformations a function is; a decorator has copied the mark of one that it wraps."""
    if not isinstance(value, FunctionType) or not str(value.__globals__.get("__name__")).startswith("srcgrad."):
        return None
    return vars(value).get("__srcgrad_transform__")


_ABSENT = np._NoValue
_CONSTANTS = (bool, int, str, type(None))
_APPLIED = "applied"
_MADE = "__srcgrad_applied__"


class _Spelled(str):
    """A default as it is written in the text."""

    def __repr__(self) -> str:
        return str(self)


def _written(parameter: inspect.Parameter, namespace: dict[str, Any]) -> inspect.Parameter:
    """A parameter without its annotation, whose default is a constant or a name of the namespace."""
    default = parameter.default
    if default is not parameter.empty and type(default) not in _CONSTANTS:
        name = f"{parameter.name}_by_default"
        namespace[name] = default
        default = _Spelled(name)
    return parameter.replace(annotation=parameter.empty, default=default)


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
