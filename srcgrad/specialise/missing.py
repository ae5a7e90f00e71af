"""What Python raises where an object that a method is looked up of may be None, or lack the method.

Enters: an operation whose method is called instead.  Leaves: the tests that stand in front of the call::

    r = p.area()           if p is None: raise AttributeError("'NoneType' object has no attribute 'area'")
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

import gast

from srcgrad.errors import MissingRule, Span, UnsupportedSyntax
from srcgrad.frontend.classes import found, is_user_class
from srcgrad.infer.values import SCALARS, Array, At, Bound, Exact, Of, Value, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, Fall, If, Raise, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.operators import COMPARED, REFLECTED, SPECIAL
from srcgrad.runtime.refusals import RefusedMode
from srcgrad.specialise.receivers import without_attribute
from srcgrad.syntax.globals import builtin, importable, of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def looked_up(made: Reduced, statement: Assign) -> list[Statement]:
    """What is raised where a method is looked up of what may be None: before the arguments of its call."""
    operation, found_ = statement.operation, made.value(statement.targets[0]) if statement.targets else exact(None)
    if not isinstance(operation, ir.GetAttribute) or not any(isinstance(atom, Bound) for atom in found_.atoms):
        return []
    base = made.known.get(operation.base, operation.base)
    tests: list[Statement] = []
    if not exact(None).atoms.isdisjoint(made.value(base).atoms) and not hasattr(None, operation.name):
        text = _without(operation.name, "NoneType")
        tests += _unless_none(made, base, raising(made, statement.node, AttributeError, text))
    kinds = {atom.site.kind for atom in without_attribute(made.facts, made.value(base), operation.name)}
    for kind in sorted(kinds, key=lambda kind: kind.__qualname__):
        block = raising(made, statement.node, AttributeError, _without(operation.name, kind.__name__))
        tested, ask = is_of_class(made, base, kind, union(*map(exact, kinds)), statement.node)
        tests += [*ask, If((), tested, block, Block((), Fall()), statement.node)]
    return tests


def raising(made: Reduced, node: gast.AST, kind: type[Exception], text: str, *others: Operand) -> Block:
    """What raises an exception, made with a text and what else is given to it."""
    error, raised = made.version("t", of(kind)), Literal(Spelled(reference(builtin(kind.__name__)), kind))
    return Block((Assign((error,), ir.Call(raised, (Literal(text), *others)), node),), Raise(error, None, node))


def without_module(made: Reduced, statement: Statement) -> Block | None:
    """What is raised by an import of a module that is not there, where that is caught; None of any other statement."""
    if not isinstance(statement, Assign) or not isinstance(statement.operation, ir.Import):
        return None
    if any(made.value(target) for target in statement.targets):
        return None
    if made.functions.origins.get(statement, statement) in made.frame.not_reached:
        return None
    return raising(made, statement.node, ModuleNotFoundError, f"No module named {statement.operation.module!r}")


def refusing(made: Reduced, node: gast.AST, refusal: UnsupportedSyntax | MissingRule, *read: Operand) -> Block:
    """What raises a refusal where it is reached: the exception knows its place by the line of the text that raises.

    ``read`` are operands that are computed before."""
    error, kind = made.version("t", of(RefusedMode)), reference(of_runtime(RefusedMode))
    placed = _at(node, refusal.span)
    if (owner := made.functions.places.get(node)) is not None:
        made.functions.places[placed] = owner
    node = placed
    given: list[Operand] = [Literal(text) for text in (refusal.code, refusal.reason, refusal.hint)]
    given = [*given, *read] if read else given[: 2 + (refusal.hint is not None)]
    called = ir.Call(Literal(Spelled(kind, RefusedMode)), tuple(given))
    return Block((Assign((error,), called, node),), Raise(error, None, node))


def _at(node: gast.AST, span: Span | None) -> gast.AST:
    """A node at the place of a refusal, where that is in the statement that is left out."""
    if span is None or span.line != getattr(node, "lineno", None) or span.end_line != span.line:
        return node
    placed = gast.Pass()
    placed.lineno = placed.end_lineno = span.line
    placed.col_offset = len(span.text[: span.column].encode())
    placed.end_col_offset = len(span.text[: span.end_column].encode())
    return placed


def _unless_none(made: Reduced, operand: Operand, block: Block) -> list[Statement]:
    tested, node = made.version("t", of(bool)), block.statements[0].node
    asked = Assign((tested,), ir.Compare("is", operand, Literal(None)), node)
    return [asked, If((), tested, block, Block((), Fall()), node)]


def of_none(
    made: Reduced, statement: Assign, receiver: Operand, name: str, given: tuple[Operand, ...]
) -> list[Statement] | None:
    """What an operation of the user's raises where its receiver is None; None where it does something else."""
    asked, receiver = receiver, made.known.get(receiver, receiver)
    if exact(None).atoms.isdisjoint(made.value(receiver).atoms):
        return []
    kind: type[Exception] = TypeError
    text = ""
    match statement.operation:
        case ir.Call() if name != "__call__":  # it was looked up before
            return None if hasattr(None, name) else []
        case ir.Call():
            text = "'NoneType' object is not callable"
        case ir.GetAttribute(name=name) | ir.SetAttribute(name=name) if not hasattr(None, name):
            kind, text = AttributeError, _without(name, "NoneType")
        case ir.Operator(symbol="bool" | "not"):
            return None
        case ir.GetItem():
            text = "'NoneType' object is not subscriptable"
        case ir.SetItem():
            text = "'NoneType' object does not support item assignment"
        case ir.DeleteItem():
            text = "'NoneType' object doesn't support item deletion"
        case ir.Operator(symbol=symbol, operands=(_,)):
            text = f"bad operand type for unary {symbol}: 'NoneType'"
        case ir.Operator(symbol=symbol, operands=(left, _)):
            name = SPECIAL[symbol, 2] if asked is not left else REFLECTED[SPECIAL[symbol, 2]]
            text = f"unsupported operand type(s) for {symbol} of None" if _lacks(made, given[0], name) else ""
        case ir.Compare(symbol="<" | "<=" | ">" | ">=" as symbol, left=left):
            name = COMPARED[symbol][asked is left]
            text = f"{symbol!r} not supported of None" if _lacks(made, given[0], name) else ""
    return _unless_none(made, receiver, raising(made, statement.node, kind, text)) if text else None


def _without(name: str, kind: str) -> str:
    return f"{kind!r} object has no attribute {name!r}"


def is_of_class(
    made: Reduced, operand: Operand, kind: type, kinds: Value, node: gast.AST
) -> tuple[Operand, list[Statement]]:
    """Whether an operand, of one of these classes, is of this one, and what asks that."""
    asked, tested = made.version("t", kinds), made.version("t", of(bool))
    own = Literal(Spelled(reference(importable(kind.__name__, kind)), kind))
    ask = Assign((asked,), ir.Call(Literal(type), (operand,)), node)
    return tested, [ask, Assign((tested,), ir.Compare("is", asked, own), node)]


def _lacks(made: Reduced, operand: Operand, name: str) -> bool:
    """Whether an operand has no method that takes None for its other operand."""
    value = made.value(made.known.get(operand, operand))
    return not value.is_any and all(
        isinstance(a, Of | Array) or isinstance(a, Exact) and type(a.value) in (*SCALARS, type(None))
        or isinstance(a, At) and a.site.kind is not None and is_user_class(a.site.kind)
        and not isinstance(found(a.site.kind, name), FunctionType) for a in value.atoms
    )  # fmt: skip
