"""What is attempted is a function of its own, to which the variables that it reads are passed.

Enters: ``Function``, and the normal form of any callee.  Leaves: nothing; ``UnsupportedSyntax`` where a variable that
is passed may have no value yet, and the attempt may do without it, so that Python runs it all the same::

    try:
        p = m if a else p         p is passed to what is attempted, which does not read it where a is true
    except ValueError: ...
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.analysis.cfg import blocks_of, bound_here, definitely_assigned, graph_of, walk
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Bind,
    Block,
    Break,
    Call,
    Callee,
    Continue,
    Function,
    Guarded,
    If,
    LocalFunction,
    Return,
    Statement,
    unguarded,
)
from srcgrad.ir.renaming import mentioned
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk as walk_expression

Forms = Callable[[Callee], Function]


def refuse_unbound(function: Function, normalized: Forms) -> None:
    """Refuse attempts that are passed what may have no value, and may not read it."""
    attempts = [s for s in walk(function.body) if isinstance(s, Bind) and isinstance(s.operation, Call)
                and isinstance(s.operation.callee.function, Guarded)]  # fmt: skip
    calls = [statement for statement in attempts if _passed(statement, normalized)]
    if not calls:
        return
    graph = graph_of(function)
    names, ins, _ = definitely_assigned(function, graph)
    for statement in calls:
        bound = ins[graph.heads[statement]]
        for parameter, name in _passed(statement, normalized).items():
            if bound & names.mask((name,)) or parameter in _read_by(statement, normalized, frozenset()):
                continue
            raise UnsupportedSyntax(
                f"the variable {name!r} may have no value in this try, which reads it in some cases only",
                statement.span, code="E0114",
                hint=f"give {name} a value first",
            )


def _callee(statement: Statement) -> Callee | None:
    match statement:
        case Bind(operation=Call(callee=Callee(function=Guarded()) as callee)):
            callee = unguarded(callee)
        case Bind(operation=Call(callee=callee)):
            pass
        case _:
            return None
    return callee if isinstance(callee.function, LocalFunction) else None


def _passed(statement: Statement, normalized: Forms) -> dict[str, str]:
    """The parameters in which an inner function gets what it captured, with the variables that are passed."""
    callee = _callee(statement)
    if callee is None:
        return {}
    inner = normalized(callee)
    given = zip(inner.parameters, statement.operation.arguments, strict=True)  # type: ignore[union-attr]
    return {
        parameter: argument.id for parameter, argument in given
        if parameter in inner.captured and isinstance(argument, gast.Name)
        and not isinstance(argument, GlobalReference)
    }  # fmt: skip


def _read_by(statement: Statement, normalized: Forms, around: frozenset[Callee]) -> set[str]:
    """The names that the function which a statement calls reads whatever happens."""
    callee = _callee(statement)
    if callee is None or callee in around:
        return set()
    return _surely_read(normalized(callee).body, normalized, around | {callee})


def _surely_read(block: Block, normalized: Forms, around: frozenset[Callee]) -> set[str]:
    found: set[str] = set()
    for statement in block.statements:
        read = mentioned(statement) - _in_some_cases(statement)
        passed = _passed(statement, normalized)
        if passed:
            sure = _read_by(statement, normalized, around)
            read -= {name for parameter, name in passed.items() if parameter not in sure}
        found |= read
        if isinstance(statement, If):
            sides = [_surely_read(side, normalized, around) for side in (statement.body, statement.orelse)]
            found |= sides[0] & sides[1]
        if isinstance(statement, Return | Break | Continue) or any(_leaves(inner) for inner in blocks_of(statement)):
            break
    return found


def _leaves(block: Block) -> bool:
    return any(isinstance(statement, Return | Break | Continue) for statement in walk(block))


def _in_some_cases(statement: Statement) -> set[str]:
    """The names that an expression of a statement reads in some cases alone, and those that it binds."""
    expression = getattr(statement, "expression", getattr(statement, "test", None))
    if not isinstance(expression, gast.AST):
        return set(bound_here(statement))
    sometimes: list[gast.AST] = []
    for node in walk_expression(expression):
        match node:
            case gast.IfExp(body=body, orelse=orelse):
                sometimes += [body, orelse]
            case gast.BoolOp(values=[_, *rest]) | gast.Compare(comparators=[_, *rest]):
                sometimes += rest
            case gast.ListComp(elt=elt) | gast.SetComp(elt=elt) | gast.GeneratorExp(elt=elt):
                sometimes += [elt, *(generator.iter for generator in node.generators[1:])]
            case gast.Lambda(body=body):
                sometimes.append(body)
    inside = {id(node) for part in sometimes for node in walk_expression(part)}
    names = [node for node in walk_expression(expression) if isinstance(node, gast.Name)]
    sure = {node.id for node in names if id(node) not in inside}
    return {node.id for node in names if id(node) in inside} - sure | (set(bound_here(statement)) - sure)
