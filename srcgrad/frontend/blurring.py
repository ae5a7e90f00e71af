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
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.frontend.inference import Table
from srcgrad.frontend.known import PLAIN, Blurred, Known, OneOf, is_named_tuple, matters, parts_of
from srcgrad.frontend.normal_form import Apply, Bind, Fixed, For, Function, Index, Pack, Pop, Statement, Unpack
from srcgrad.frontend.walking import statements_of
from srcgrad.runtime.objects import has_operators
from srcgrad.syntax.parse import walk

_HOMES = ("numpy", "scipy", "builtins", "operator", "_operator", "math")


def blurred_names(function: Function, table: Table) -> frozenset[str]:
    """The names that are worked on as numbers, and may hold an object of a class that is not known as well."""
    names = {name for name in table.names if isinstance(table.of(name), Blurred | OneOf)}
    items = _items_of_unknown(function, table)
    asked = {name for worked_on in asked_as_numbers(function, frozenset(names | items)).values() for name in worked_on}
    return frozenset(name for name in asked if name in items or _is_blurred(table, table.of(name)))


def _items_of_unknown(function: Function, table: Table) -> set[str]:
    """The names of items that may be objects, since some were put into a container, nobody knows which: a callee may
    have been given this one."""
    if table.generated or not any(matters(known) for _, known in table.puts):
        return set()
    found: set[str] = set()
    for statement in statements_of(function.body):
        match statement:
            case Bind(target=target, operation=Index(base=base)) if table.of(base) == PLAIN:
                found.add(target)
            case Unpack(targets=targets, source=base) | Pop(targets=targets, sequence=base) if table.of(base) == PLAIN:
                found.update(targets)
    return {name for name in found if table.of(name) == PLAIN}


def _is_blurred(table: Table, known: Known) -> bool:
    if isinstance(known, Blurred):
        return table.seen_through(known) != PLAIN
    if isinstance(known, OneOf):  # operations on several objects ask each; what is left takes none of them for one
        kinds: list[Any] = [getattr(part, "kind", None) for part in parts_of(known)]
        return any(not is_named_tuple(kind) or has_operators(kind) for kind in kinds)
    return False


def asked_as_numbers(function: Function, names: frozenset[str]) -> dict[Statement, list[str]]:
    """By statement, which of ``names`` it works on by the rules of numbers, arrays and lists."""
    found: dict[Statement, list[str]] = {}
    statements = list(statements_of(function.body)) if names and not function.generated else []
    operands = {name for statement in statements for name in _computed_with(statement)}
    for statement in statements:
        worked_on = list(_worked_on(statement))
        match statement:
            case Bind(target=target, operation=Pack("list" | "tuple", elements)) if target in operands:
                worked_on += _names(list(elements))
        if worked_on := [name for name in dict.fromkeys(worked_on) if name in names]:
            found[statement] = worked_on
    return found


def _worked_on(statement: Statement) -> Iterator[str]:
    match statement:
        case Bind(operation=Apply(), expression=expression):
            yield from _computed_with(statement)
            yield from _asked_in(expression)
        case Bind(operation=Index(base=base)) | Unpack(source=base):
            yield base
        case Bind(operation=Fixed(), expression=expression):
            yield from _asked_in(expression)
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


def _asked_in(expression: gast.expr) -> Iterator[str]:
    """The names in an expression without a derivative whose operators, items or attributes are asked for."""
    for node in walk(expression):
        match node:
            case gast.BinOp(left=left, right=right):
                yield from _names([left, right])
            case gast.UnaryOp(op=gast.USub() | gast.UAdd() | gast.Invert(), operand=operand):
                yield from _names([operand])
            case gast.Compare(left=left, ops=ops, comparators=comparators):
                if not any(isinstance(op, gast.Is | gast.IsNot | gast.In | gast.NotIn) for op in ops):
                    yield from _names([left, *comparators])
            case gast.Attribute(value=value) | gast.Subscript(value=value):
                yield from _names([value])


def _names(nodes: list[gast.expr]) -> Iterator[str]:
    return (node.id for node in nodes if type(node) is gast.Name)
