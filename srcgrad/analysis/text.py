"""Text that is made of values which vary, and read back as a number: the derivative would be lost on the way.

Enters: ``Function`` with its ``Activity``.  Leaves: nothing, or a refusal where such text becomes a number that is of
use.  Text that is printed, compared, measured or rounded to an integer loses nothing::

    s = f"{x}"          s is text of x
    t = "x = " + s      t too
    return float(s)     refused
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING

import gast
import numpy as np

from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.normal_form import Append, Apply, Bind, Call, Fixed, For, Function, SetField, Statement, Store
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read
from srcgrad.syntax.parse import walk as nodes_of

if TYPE_CHECKING:
    from srcgrad.analysis.activity import Activity

_WRITERS = (str, repr, ascii, format)
_METHODS = frozenset(
    "array2string array_repr array_str format format_float_positional format_float_scientific join".split()
)
_READERS = (float, complex, np.float64, np.float32, np.complex128)
_ARRAYS = (np.array, np.asarray)  # arrays of text, but with a dtype
_JOINS = (operator.add, operator.iadd, operator.mod)


def refuse_numbers_from_text(function: Function, activity: Activity) -> None:
    """Refuse a number that is read from text of what varies."""
    statements = list(walk(function.body))
    textual = {name for s in statements if _writes(s, activity) for name in bound_here(s)}
    while textual:
        more = {name for s in statements if not textual.isdisjoint(_passed_on(s)) for name in _receivers(s)}
        if more <= textual:
            break
        textual |= more
    for statement in statements if textual else ():
        read = _read_back(statement)
        if textual.isdisjoint(read) or not any(n in activity.useful_after(statement) for n in bound_here(statement)):
            continue
        raise UnsupportedSyntax(
            "a number is read from text that is made of a value which varies",
            statement.span,
            label="its derivative is lost here",
            hint="pass the value itself; text is for printing, keys and tests",
        )


def _writes(statement: Statement, activity: Activity) -> bool:
    """Whether a statement makes text of a value that varies."""
    if not isinstance(statement, Bind) or isinstance(statement.operation, Call):
        return False
    expression = statement.expression
    if not any(map(_makes_text, nodes_of(expression))):
        return False
    varied = activity.varied_before(statement)
    return any(name in varied for name in names_read(expression))


def _makes_text(node: gast.AST) -> bool:
    match node:
        case gast.FormattedValue() | gast.BinOp(left=gast.Constant(value=str()), op=gast.Mod()):
            return True
        case gast.Call(func=gast.Attribute(attr=attr)):
            return attr in _METHODS
        case gast.Call(func=GlobalReference(binding=binding)):
            return any(binding.value is writer for writer in _WRITERS)
    return False


def _passed_on(statement: Statement) -> Iterable[str]:
    """The names whose text is part of what a statement binds, or puts into a container."""
    match statement:
        case Bind(operation=Fixed(), expression=expression):
            return names_read(expression) if _keeps_text(expression) else ()
        case Bind(operation=Apply(function=function, arguments=arguments)):
            joins = any(function is join for join in (*_JOINS, *_ARRAYS))
            return [n for e in arguments.values() for n in names_read(e)] if joins else ()
        case Bind(operation=Call()):
            return ()
        case Bind(expression=expression):
            return names_read(expression)
        case For(iterable=iterable):
            return names_read(iterable) if not statement.counted else ()
        case Append(value=value) | Store(value=value) | SetField(value=value):
            return names_read(value)
    return ()


def _receivers(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Append(sequence=name) | Store(base=name) | SetField(base=name):
            return (name,)
    return tuple(bound_here(statement))


def _keeps_text(expression: gast.expr) -> bool:
    match expression:
        case gast.Call(func=GlobalReference()):
            return _makes_text(expression)
        case gast.Compare() | gast.UnaryOp():
            return False
    return True


def _read_back(statement: Statement) -> Iterable[str]:
    """What a conversion to a number reads."""
    match statement:
        case Bind(operation=Apply(function=function, arguments=arguments)):
            readers = (*_READERS, *_ARRAYS) if "dtype" in arguments else _READERS
            if any(function is reader for reader in readers) or getattr(function, "__name__", "") == "astype":
                return [name for e in arguments.values() for name in names_read(e)]
        case Bind(expression=gast.Call(func=gast.Attribute(attr="fromstring")) as made):
            return names_read(made)
        case Bind(expression=gast.Call(func=GlobalReference(binding=binding)) as made):
            if any(binding.value is reader for reader in _READERS):
                return names_read(made)
    return ()
