"""Statements that may be run again: with the same operands they do the same, and nothing outside sees how often.

Enters: a block of the normal form, and the functions that it calls.  Leaves: the first statement that may not be run
again, and what it does: draw random numbers, write text, read files, or call code of which nothing is known.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import gast

from srcgrad.analysis.cfg import walk
from srcgrad.errors import Span
from srcgrad.ir.normal_form import Bind, Block, Call, Callee, Effect, Exchange, Function, Statement, With
from srcgrad.language import effects
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import lookup
from srcgrad.syntax.parse import walk as nodes_of


@dataclass(frozen=True)
class Once:
    """What must run once alone: where it stands and what it does."""

    span: Span
    what: str


def run_once(block: Block, normal_form_of: Callable[[Callee], Function]) -> Once | None:
    """The first statement of a block, or of what it calls, that may not be run again."""
    pending: list[Block] = [block]
    seen: set[Callee] = set()
    while pending:
        for statement in walk(pending.pop()):
            if (what := _once(statement)) is not None:
                return Once(statement.span, what)
            match statement:
                case Bind(operation=Call(callee=callee)) if callee not in seen:
                    seen.add(callee)
                    pending.append(normal_form_of(callee).body)
    return None


def _once(statement: Statement) -> str | None:
    match statement:
        case Effect(statement=gast.Raise()):
            return None  # no sweep follows it
        case With(once=True):
            return "enters a context manager"
        case Bind(operation=Call(), expression=gast.Call(args=given)):
            return next(filter(None, map(_once_in, given)), None)
        case Bind(operation=Exchange()):  # of a container, of which activity and memory know
            return None
    return next(filter(None, map(_once_in, _expressions(statement))), None)


def _expressions(statement: Statement) -> Iterator[gast.AST]:
    for name, value in vars(statement).items():
        if name not in ("body", "orelse", "heading"):
            parts = value if isinstance(value, tuple) else (value,)
            yield from (part for part in parts if isinstance(part, gast.AST))


def _once_in(expression: gast.AST) -> str | None:
    for node in nodes_of(expression):
        if isinstance(node, gast.Call) and (what := _called(node)) is not None:
            return what
    return None


def _called(call: gast.Call) -> str | None:
    function = object_of(call.func)
    if function is None:
        effect = effects.method(call.func.attr) if isinstance(call.func, gast.Attribute) else effects.UNKNOWN
        if effect.draws:
            return "draws random numbers"
        if effects.is_reading(effect) and not effect.calls:
            return None
        return f"calls {gast.unparse(call.func)}, which may do more than compute"
    if effects.of_function(function).draws:
        return "draws random numbers"
    if _only_computes(function):
        return None
    name = getattr(function, "__name__", type(function).__name__)
    return f"calls {name}, which may do more than compute"


def _only_computes(function: object) -> bool:
    home = str(getattr(function, "__module__", None) or "")
    if home == "builtins":
        return getattr(function, "__name__", "") in _OF_BUILTINS and getattr(builtins, function.__name__) is function  # type: ignore[attr-defined]
    if lookup(function) is not None or effects.is_compiled_ufunc(function) or function in vars(math).values():
        return True
    if home.startswith("srcgrad.runtime"):
        return True
    if isinstance(function, type) and issubclass(function, BaseException):
        return True
    name = str(getattr(function, "__name__", ""))
    return home.partition(".")[0] == "numpy" and not home.startswith("numpy.random") and (
        effects.is_function(function) and name not in _FILES
    )  # fmt: skip


_OF_BUILTINS = frozenset(
    "abs all any bool bytes callable complex dict divmod enumerate float frozenset getattr hasattr hash int isinstance "
    "issubclass len list max min pow range repr reversed round set slice sorted str sum tuple type zip".split()
)
#: NumPy's functions that read or write files and settings.
_FILES = frozenset(
    "fromfile fromregex genfromtxt load loadtxt memmap save savetxt savez savez_compressed seterr seterrcall "
    "setbufsize set_printoptions geterr geterrcall getbufsize get_printoptions show_config show_runtime test "
    "info".split()
)
