"""Names that hold an object of a user's class, or a number, an array, a list: what is done with them is asked for.

A method, item or operator of an object is found by its class; where that is not known an operation is that of numbers
and arrays, and what the object would have done has no derivative.  Enters: the normal form, what is known of its names.
Leaves: the classes by name, and the names that a statement works on as if they were numbers (``analysis.admission``
has them looked at when the program runs)::

    w = Vector(x) if far else x
    s = w[0] * w[1]                  w: Vector, or an array
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.inference import Table
from srcgrad.frontend.known import PLAIN, Blurred, Instance, Known, OneOf, is_named_tuple, matters, parts_of
from srcgrad.frontend.normal_form import (
    Apply,
    Bind,
    Call,
    Fixed,
    For,
    Function,
    Index,
    Pack,
    Pop,
    Statement,
    Unpack,
)
from srcgrad.frontend.walking import statements_of
from srcgrad.runtime.objects import has_operators
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk

_HOMES = ("numpy", "scipy", "builtins", "operator", "_operator", "math")


def with_unknown(function: Function, table: Table) -> Function:
    """The function with the names that are worked on as numbers, and may hold an object of a class that is not known as
    well, and with those of which nothing is known at all."""
    names = {name for name in table.names if isinstance(table.of(name), Blurred | OneOf)}
    found = {name for name in _asked(function, names, compared=True) if _is_blurred(table, table.of(name))}
    found |= _asked(function, _indexed_objects(function, table), compared=False)
    unknown = _asked(function, _unknown(function, table), compared=False)
    meets = not table.generated and _meets_objects(function, table)
    return replace(function, blurred=frozenset(found), unknown=frozenset(unknown), meets_objects=meets)


def _asked(function: Function, names: set[str], *, compared: bool) -> set[str]:
    return {name for found in asked_as_numbers(function, frozenset(names), compared).values() for name in found}


def _unknown(function: Function, table: Table) -> set[str]:
    """The names of which nothing is known: where objects are met, one may have come there by a container or a function
    that is not followed (a copy, ``next``, a dict of a comprehension), by a call, or from outside."""
    if table.generated:
        return set()
    found = set(function.parameters)
    outside: set[str] = set()
    before = -1
    while before < len(outside):  # what is read in one round of a loop is used in the next
        before = len(outside)
        for statement in statements_of(function.body):
            match statement:
                case Bind(target=name, expression=read, operation=operation):
                    found.add(name)
                    if not isinstance(operation, Apply) and _reads_objects(read, outside):
                        outside.add(name)
                case For(index=name, iterable=read):
                    found.add(name)
                    outside.update([name] if _reads_objects(read, outside) else [])
                case Unpack(targets=names, source=source):
                    found.update(names)
                    outside.update(names if source in outside else ())
                case Pop(targets=names, sequence=source):
                    found.update(names)
                    outside.update(names if source in outside else ())
    return outside | {name for name in found if table.of(name) == PLAIN}


def _indexed_objects(function: Function, table: Table) -> set[str]:
    """The names of objects that are indexed as lists are, since their class was known too late."""
    bases = [s.operation.base for s in statements_of(function.body)
             if isinstance(s, Bind) and isinstance(s.operation, Index)]  # fmt: skip
    known = {name: table.of(name) for name in bases} if not table.generated else {}
    return {name for name, one in known.items() if isinstance(one, Instance) and hasattr(one.kind, "__getitem__")}


def _reads_objects(expression: gast.AST, outside: set[str]) -> bool:
    """Whether an expression reads what may be an object from outside, or what was read of one."""
    return any(
        _may_be_object(node.binding.value) if isinstance(node, GlobalReference) else node.id in outside
        for node in walk(expression) if isinstance(node, GlobalReference | gast.Name)
    )  # fmt: skip


def _meets_objects(function: Function, table: Table) -> bool:
    """Whether a function makes objects, holds some, or reads what may be one from outside."""
    if any(matters(known) for _, known in table.puts) or any(matters(table.of(name)) for name in table.names):
        return True
    return any(
        _reads_objects(part, set()) or isinstance(statement, Bind) and _makes_object(statement)
        for statement in statements_of(function.body)
        for part in (getattr(statement, name, None) for name in ("expression", "iterable")) if part is not None
    )  # fmt: skip


def _makes_object(statement: Bind) -> bool:
    return isinstance(statement.operation, Call) and statement.operation.callee.makes is not None


def _may_be_object(value: object) -> bool:
    """Whether something from outside may be, or hold, an object of a user's class."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "O")
    is_enumeration = isinstance(value, type) and issubclass(value, Enum)  # which a loop goes over
    return is_enumeration or not isinstance(value, _NO_OBJECTS)


#: What is no object of a user's class, and holds none that is read of it; functions and classes are followed.
_NO_OBJECTS = (
    int, float, complex, str, bytes, type(None), np.generic, np.dtype, np.ufunc, type, ModuleType, FunctionType,
    BuiltinFunctionType, MethodDescriptorType, type(np.sum),
)  # fmt: skip


def _is_blurred(table: Table, known: Known) -> bool:
    if isinstance(known, Blurred):
        return table.seen_through(known) != PLAIN
    if isinstance(known, OneOf):  # operations on several objects ask each; what is left takes none of them for one
        kinds: list[Any] = [getattr(part, "kind", None) for part in parts_of(known)]
        return any(not is_named_tuple(kind) or has_operators(kind) for kind in kinds)
    return False


def asked_as_numbers(
    function: Function, names: frozenset[str], compared: bool = True
) -> dict[Statement, list[str]]:
    """By statement, which of ``names`` it works on by the rules of numbers, arrays and lists; whether it is enough
    that they are ``compared``, which has no derivative."""
    found: dict[Statement, list[str]] = {}
    statements = list(statements_of(function.body)) if names and not function.generated else []
    operands = {name for statement in statements if _makes_arrays(statement) for name in _computed_with(statement)}
    for statement in statements:
        worked_on = list(_worked_on(statement, compared))
        match statement:
            case Bind(target=target, operation=Pack("list" | "tuple", elements)) if target in operands:
                worked_on += _names(list(elements))
        if worked_on := [name for name in dict.fromkeys(worked_on) if name in names]:
            found[statement] = worked_on
    return found


def _makes_arrays(statement: Statement) -> bool:
    """Whether a function is called that makes arrays of lists; methods of lists do not, nor what makes other lists."""
    match statement:
        case Bind(operation=Apply(function=made)) if made in (tuple, list, sorted, reversed):
            return False
        case Bind(operation=Apply(), expression=gast.Call(func=gast.Attribute(value=gast.Name() as base))):
            return isinstance(base, GlobalReference)
        case Bind(operation=Apply(), expression=gast.Call()):
            return True
    return False


def _worked_on(statement: Statement, compared: bool) -> Iterator[str]:
    match statement:
        case Bind(operation=Apply(), expression=expression):
            yield from _computed_with(statement)
            yield from _asked_in(expression, compared)
        case Bind(operation=Index(base=base)) | Unpack(source=base):
            yield base
        case Bind(operation=Fixed(), expression=expression):
            yield from _asked_in(expression, compared)
        case For():
            for part in statement.reading:
                if isinstance(part, Bind) and isinstance(part.operation, Index):
                    yield part.operation.base


def _computed_with(statement: Statement) -> Iterator[str]:
    """The operands of a function of NumPy, SciPy or Python's."""
    match statement:
        case Bind(operation=Apply(function=made, arguments=given)):
            home = str(getattr(made, "__module__", None) or "numpy").partition(".")[0]
            if home in _HOMES or made is runtime.operand:  # the array that NumPy makes of an operand
                for argument in given.values():
                    yield from _names(argument.elts if isinstance(argument, gast.Tuple) else [argument])


def _asked_in(expression: gast.expr, compared: bool) -> Iterator[str]:
    """The names in an expression without a derivative whose operators, items or attributes are asked for."""
    for node in walk(expression):
        match node:
            case gast.BinOp(left=left, right=right):
                yield from _names([left, right])
            case gast.UnaryOp(op=gast.USub() | gast.UAdd() | gast.Invert(), operand=operand):
                yield from _names([operand])
            case gast.Compare(left=left, ops=ops, comparators=comparators):
                if compared and not any(isinstance(op, gast.Is | gast.IsNot | gast.In | gast.NotIn) for op in ops):
                    yield from _names([left, *comparators])
            case gast.Attribute(value=value, attr=name) if hasattr(np.ndarray, name) or hasattr(str, name):
                yield from _names([value])
            case gast.Subscript(value=value):
                yield from _names([value])


def _names(nodes: list[gast.expr]) -> Iterator[str]:
    return (node.id for node in nodes if type(node) is gast.Name)
