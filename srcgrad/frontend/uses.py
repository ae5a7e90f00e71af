"""What a statement of the normal form computes with, mentions and binds, and how a message calls it.

Enters: a statement.  Leaves: atoms and names; blocks inside of a statement are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from srcgrad.frontend.callees import SHAPES
from srcgrad.frontend.handing import is_of_sparse
from srcgrad.frontend.normal_form import Apply, Bind, Fixed, For, Index, Operation, Statement, Store, Unpack
from srcgrad.rules.formula import object_of
from srcgrad.syntax.parse import children, names_read

_ASKING = (isinstance, len, type, id, hasattr, callable)
#: Attributes of sparse matrices that are constants.
CONSTANT_ATTRIBUTES = SHAPES | {"T", "nnz", "format", "real", "imag", "mT"}


def bound(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Bind(target=target):
            return (target,)
        case Unpack(targets=targets):
            return targets
    return ()


def operands_of(statement: Statement) -> list[gast.expr]:
    """The operands of what is computed by the rules of arrays, numbers and containers."""
    found: list[gast.expr] = []
    match statement:
        case Bind(operation=Apply(function=function, arguments=given)):
            if is_of_sparse(function):
                return []
            for argument in given.values():
                found += argument.elts if isinstance(argument, gast.Tuple) else [argument]
        case Bind(operation=Fixed(), expression=expression) if not isinstance(expression, gast.Name):
            found += _read_in(expression)
        case Bind(operation=Index(base=base)) | Unpack(source=base) | Store(base=base):
            found.append(_name(base))
            if isinstance(statement, Store):
                found.append(statement.value)
        case For():
            reading = [s for s in statement.reading if isinstance(s, Bind) and isinstance(s.operation, Index)]
            found += [_name(s.operation.base) for s in reading if isinstance(s.operation, Index)]
    return [atom for atom in found if isinstance(atom, gast.Name)]


def names_in(statement: Statement) -> Iterator[str]:
    """Every name that a statement mentions, but for those in its blocks and those that it binds."""
    pending: list[Any] = [value for field, value in vars(statement).items() if field not in ("target", "targets")]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.AST):
            yield from names_read(part)
        elif isinstance(part, tuple):
            pending += part
        elif isinstance(part, str):
            yield part
        elif isinstance(part, Operation):
            pending += vars(part).values()
        elif isinstance(part, dict):
            pending += part.values()


def _name(base: str) -> gast.expr:
    return gast.Name(base, gast.Load(), None, None)


def _read_in(expression: gast.expr) -> list[gast.expr]:
    """The names in an expression without a derivative, but for those that are asked for a shape or class."""
    found: list[gast.expr] = []
    pending: list[gast.AST] = [expression]
    while pending:
        node = pending.pop()
        match node:
            case gast.Attribute(attr=attr) if attr in CONSTANT_ATTRIBUTES:
                continue
            case gast.Call(func=func) if any(object_of(func) is each for each in _ASKING):
                continue
            case gast.Compare(ops=[gast.Is() | gast.IsNot()]):
                continue
            case gast.Name():
                found.append(node)
        pending += children(node)
    return found


def described(statement: Statement) -> str:
    match statement:
        case Bind(operation=Apply(rule=rule)):
            return f"{rule.name} of a sparse matrix"
        case Bind(operation=Index()) | Store():
            return "an item of a sparse matrix"
        case For():
            return "a loop over a sparse matrix"
    return "this expression of a sparse matrix"
