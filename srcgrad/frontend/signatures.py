"""How a callee binds its arguments: Python's rules, on what is known while compiling.

Enters: the parameters of a user function and the evaluated arguments of one call.  Leaves: one argument per parameter
of its normal form, in order, and the callables among them, which are fixed there.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import TypeAlias

import gast

from srcgrad.errors import SourceUnavailable, UnsupportedSyntax
from srcgrad.frontend.callables import is_callee
from srcgrad.frontend.journal import remembered
from srcgrad.frontend.names import Definition
from srcgrad.frontend.namespaces import namespace_parameters
from srcgrad.frontend.normal_form import Callee, Derived, LocalFunction
from srcgrad.frontend.scope import Scope, Static, Variable, closure_of, importable
from srcgrad.frontend.source import Source, source_of
from srcgrad.rules.table import attribute, method
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.parse import walk

Default: TypeAlias = Variable | Static | gast.Constant | GlobalBinding


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


def signature_of(function: FunctionType | LocalFunction | Derived) -> Signature:
    """The signature of a function object, or of a definition inside the function being compiled."""
    while isinstance(function, Derived):
        function = function.function  # type: ignore[assignment]
    if isinstance(function, LocalFunction):
        arguments = function.node.args
        positional = [p.id for p in (*arguments.posonlyargs, *arguments.args)]
        return Signature(
            function.name,
            tuple(positional),
            len(arguments.posonlyargs),
            arguments.vararg and arguments.vararg.id,
            tuple(p.id for p in arguments.kwonlyargs),
            arguments.kwarg and arguments.kwarg.id,
            closure_of(function).defaults,
        )
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


def default_objects(function: FunctionType) -> dict[str, object]:
    """The default values that a function object holds, by parameter."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    return {**dict(zip(names[len(names) - len(values) :], values, strict=True)), **(function.__kwdefaults__ or {})}


def default_expressions(function: FunctionType, parameters: Sequence[str]) -> dict[str, gast.expr]:
    """The defaults of these parameters, as a derivative of the function has them."""
    made: dict[str, gast.expr] = {}
    for name, default in signature_of(function).defaults.items():
        if name in parameters:
            if not isinstance(default, gast.Constant | GlobalBinding):
                default = GlobalBinding(f"{name}_default", default_objects(function)[name])
            made[name] = reference(default) if isinstance(default, GlobalBinding) else default
    return made


@remembered
def called_parameters(function: FunctionType | LocalFunction | Derived) -> frozenset[str]:
    """The parameters that a function calls, or takes functions from: where one is None, that is compiled in."""
    try:
        while isinstance(function, Derived):
            function = function.function  # type: ignore[assignment]
        node = function.node if isinstance(function, LocalFunction) else source_of(function).node
    except SourceUnavailable:
        return frozenset()
    calls = [inner.func for inner in walk(node) if isinstance(inner, gast.Call)]
    called = frozenset(func.id for func in calls if isinstance(func, gast.Name))
    return (called | namespace_parameters(node)) & frozenset(signature_of(function).parameters)


@remembered
def attribute_parameters(function: FunctionType | LocalFunction | Derived) -> frozenset[str]:
    """The parameters of which a function reads attributes that are not those of arrays: objects, or None."""
    try:
        while isinstance(function, Derived):
            function = function.function  # type: ignore[assignment]
        node = function.node if isinstance(function, LocalFunction) else source_of(function).node
    except SourceUnavailable:
        return frozenset()
    read = [n for n in walk(node) if isinstance(n, gast.Attribute) and isinstance(n.value, gast.Name)]
    names = {n.value.id for n in read if attribute(n.attr) is None and method(n.attr) is None}
    return frozenset(names) & frozenset(signature_of(function).parameters)


def _default(function: FunctionType, name: str, value: object) -> Default:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes) and _is_builtin_kind(value):
        return gast.Constant(value, None)
    if is_callee(value):
        return Static(value, reference(importable(name, value)))
    return GlobalBinding(f"{name}_default", value, cell=lambda: default_objects(function)[name])


def _is_builtin_kind(value: object) -> bool:
    return type(value) in (bool, int, float, complex, str, bytes)


def definition_of(callee: Callee) -> tuple[Source, Definition, Scope | None]:
    """The text that a callee is written from, and the scope around it if it is a local function."""
    function = text_of(callee)
    if isinstance(function, LocalFunction):
        parent = closure_of(function).scope
        return parent.source, function.node, parent
    source = source_of(function)
    return source, source.node, None


def text_of(callee: Callee) -> FunctionType | LocalFunction:
    """The function whose text a callee is written from; derivatives, attempts and functions not known yet have none."""
    function = callee.function
    if not isinstance(function, FunctionType | LocalFunction):
        raise SourceUnavailable(f"a {type(function).__name__} has no Python source")
    return function


def refused_as_a_whole(callee: Callee, reason: str, hint: str) -> UnsupportedSyntax:
    """The refusal of a callee, placed at its head."""
    source, node, _ = definition_of(callee)
    return UnsupportedSyntax(reason, source.span(node), hint=hint)


def receiver_of(node: Definition) -> str | None:
    """What a method calls its object."""
    positional = [*node.args.posonlyargs, *node.args.args]
    return str(positional[0].id) if positional else None
