"""The rule table: which functions have a derivative, which carry none, and what operators and methods stand for.

``lookup`` and ``is_constant`` are what both machines ask.  The modules of rules are imported at the first question, so
that importing srcgrad is fast; ``rule``, ``elementwise``, ``linear`` and ``constant`` add to the table, for users too::

    @elementwise(my_softplus)
    def my_softplus_rule(x, *, y, y_bar):
        return y_bar / (1.0 + np.exp(-x))
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import gast
import numpy as np

from srcgrad.rules.template import Rule

__all__ = [
    "Rule",
    "attribute",
    "constant",
    "elementwise",
    "is_constant",
    "linear",
    "lookup",
    "method",
    "operator_of",
    "rule",
    "rules",
]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

MODULES = (
    "constants",
    "elementwise",
    "trigonometric",
    "special",
    "reductions",
    "linalg",
    "shaping",
    "indexing",
    "construction",
    "builtins",
    "runtime",
)

_rules: dict[Callable[..., object], Rule] = {}
_constants: set[Callable[..., object]] = set()
_loaded: set[str] = set()


def _load() -> None:
    """Import the modules of rules, once; what users add comes after them and replaces them."""
    if not _loaded:
        _loaded.update(MODULES)
        for name in MODULES:
            importlib.import_module(f"srcgrad.rules.{name}")


def _add(kind: str, functions: tuple[Callable[..., object], ...], names: tuple[str, ...] = ()) -> Any:
    _load()

    def decorate(template: FunctionType) -> Rule:
        made = Rule(kind, tuple(dict.fromkeys(functions)), template, names)
        for function in functions:
            _rules[function] = made
            _constants.discard(function)
        return made

    return decorate


def rule(function: Callable[..., object], *aliases: Callable[..., object]) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the adjoint of ``function``; write its tangent with ``@name.tangent``."""
    return _add("rule", (function, *aliases))  # type: ignore[no-any-return]


def elementwise(
    function: Callable[..., object], *aliases: Callable[..., object]
) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the adjoint of a function that acts on each element by itself and broadcasts as NumPy does."""
    return _add("elementwise", (function, *aliases))  # type: ignore[no-any-return]


def linear(
    function: Callable[..., object], *names: str | Callable[..., object]
) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the adjoint of a function that is linear in each of the named parameters; more functions that share
    the formula may precede the names."""
    functions = (function, *(f for f in names if not isinstance(f, str)))
    return _add("linear", functions, tuple(n for n in names if isinstance(n, str)))  # type: ignore[no-any-return]


def constant(function: AnyFunction, *more: Callable[..., object]) -> AnyFunction:
    """Declare that functions carry no derivative whatever they are given; usable as a decorator."""
    _load()
    functions: tuple[Callable[..., object], ...] = (function, *more)
    for f in functions:
        _constants.add(f)
        _rules.pop(f, None)
    return function


def lookup(function: object) -> Rule | None:
    """The rule of a function, or None."""
    _load()
    try:
        return _rules.get(function)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        return None


def is_constant(function: object) -> bool:
    """Whether a function is declared to carry no derivative."""
    _load()
    try:
        return function in _constants
    except TypeError:
        return False


def rules() -> list[Rule]:
    """Every rule once, in the order in which they were written."""
    _load()
    return list(dict.fromkeys(_rules.values()))


# --- operators -------------------------------------------------------------------------------------------------------
_OPERATORS: dict[type, Callable[..., object]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Not: operator.not_,
    gast.Invert: operator.invert,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Is: operator.is_,
    gast.IsNot: operator.is_not,
}


def operator_of(op: type) -> Callable[..., object]:
    """The function of the ``operator`` module that an operator node means."""
    return _OPERATORS[op]


# --- methods and attributes of arrays --------------------------------------------------------------------------------
def method(name: str) -> Callable[..., object] | None:
    """The function that an array's method means, taking the array first; None when it is not one of them."""
    _load()
    return _METHODS.get(name)


def attribute(name: str) -> Callable[..., object] | None:
    """The function that an array's attribute means; None when it is not one of them."""
    return _ATTRIBUTES.get(name)


_METHODS: dict[str, Callable[..., object]] = {
    name: getattr(np, name)
    for name in (
        "all any argmax argmin argsort clip compress cumprod cumsum diagonal dot max mean min nonzero prod ravel "
        "repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var"
    ).split()
} | {"conj": np.conjugate, "conjugate": np.conjugate, "copy": np.copy, "flatten": np.ravel}
_ATTRIBUTES: dict[str, Callable[..., object]] = {
    "T": np.transpose,
    "mT": np.matrix_transpose,
    "real": np.real,
    "imag": np.imag,
}


def add_method(name: str, function: Callable[..., object]) -> None:
    """Let an array's method mean a function of the table."""
    _METHODS[name] = function
