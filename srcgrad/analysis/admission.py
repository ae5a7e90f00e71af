"""What only types can refuse: the statements of a function that mean something else for the values it is given.

Enters: ``Function`` and the facts about its names.  Leaves: the same function, with a check before every statement that
is right for numbers only, or ``UnsupportedSyntax`` where the facts already show that it is wrong:

- ``x += e`` where other names may share x's memory changes an array in place, but is ``x = x + e`` for a number;
- ``+`` and ``*`` join and repeat tuples and lists, but add and multiply arrays: they are other functions then;
- a loop over a dict yields keys, not values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import blocks_of, walk
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.frontend.normal_form import (
    Apply,
    Bind,
    Block,
    Effect,
    For,
    Function,
    If,
    Index,
    Statement,
    Unpack,
    While,
    With,
)
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalBinding, reference

JOINING = (operator.add, operator.mul)


def admitted(function: Function, facts: Mapping[str, Fact]) -> Function:
    """The function with its run-time checks; raises ``UnsupportedSyntax`` for what the facts refuse."""
    checks = False
    for statement in walk(function.body):
        match statement:
            case Bind(operation=Apply(function=made, arguments=given), span=span) if made is tuple:
                _refuse_parts([name for argument in given.values() for name in atoms(argument)], facts, span)
            case Bind(operation=Apply() as apply):
                checks = checks or _joined(statement, apply, facts) is not None
            case For(elements=elements, index=index) if elements or index in function.temporaries:
                _refuse_keys(statement, facts)
            case Unpack(source=source, span=span):
                _refuse_parts([source], facts, span)
        if isinstance(statement, Bind) and statement.inplace:
            checks = _refuse_store(statement, facts) or checks
    return replace(function, body=_checked(function.body, facts)) if checks else function


def _joined(statement: Bind, apply: Apply, facts: Mapping[str, Fact]) -> Bind | None:
    """``+`` or ``*`` of sequences as the function that it is; None of numbers and arrays."""
    if apply.function not in JOINING:
        return None
    arguments = list(apply.arguments.values())
    known = [facts.get(name, Unknown()) for argument in arguments for name in atoms(argument)]
    if not any(isinstance(fact, Sequence) for fact in known):
        return None
    function: Callable[..., object] = runtime.joined
    if apply.function is operator.mul:
        function = runtime.repeated
        if not (atoms(arguments[0]) and isinstance(facts.get(atoms(arguments[0])[0]), Sequence)):
            arguments.reverse()
    rule = lookup(function)
    assert rule is not None
    made = replace(statement, operation=Apply(rule, function, rule.bind(function, arguments, {})))
    if not any(isinstance(fact, Unknown) for fact in known):
        return made
    # With an array this would be arithmetic: the function looks.
    head = reference(GlobalBinding(function.__name__, function, "srcgrad.runtime", function.__name__, None))
    return replace(made, expression=gast.Call(head, list(arguments), []))


def _refuse_keys(loop: For, facts: Mapping[str, Fact]) -> None:
    for statement in loop.body.statements[: loop.elements or None]:
        match statement:
            case Bind(operation=Index(base=base, index=index), span=span) if (
                isinstance(facts.get(base), MappingFact) and loop.index in atoms(index)
            ):
                raise UnsupportedSyntax(
                    "a loop over a dict goes over its keys", span, hint="write .items(), .values() or .keys()"
                )


def _refuse_parts(names: list[str], facts: Mapping[str, Fact], span: Span) -> None:
    if any(isinstance(facts.get(name), MappingFact) for name in names):
        raise UnsupportedSyntax("a dict is taken apart into its keys", span, hint="write list(d), or d.values()")


def _refuse_store(statement: Bind, facts: Mapping[str, Fact]) -> bool:
    """Whether the statement needs a check at run time."""
    fact = facts.get(statement.target, Unknown())
    if isinstance(fact, Static) or (isinstance(fact, Array) and fact.scalar):
        return False
    if isinstance(fact, Unknown) or (isinstance(fact, Array) and not fact.shape):
        return True
    raise UnsupportedSyntax(
        "an augmented assignment changes an array in place, and other names may see the change",
        statement.span,
        label=f"{statement.target} is an array here",
        hint=f"write {statement.target} = {statement.target} + …, which makes a new array",
    )


def _checked(block: Block, facts: Mapping[str, Fact]) -> Block:
    made: list[Statement] = []
    for statement in block.statements:
        if isinstance(statement, Bind) and statement.inplace and _refuse_store(statement, facts):
            made.append(_check(statement))
        if isinstance(statement, Bind) and isinstance(statement.operation, Apply):
            statement = _joined(statement, statement.operation, facts) or statement
        if blocks_of(statement):
            statement = _with_blocks(statement, facts)
        made.append(statement)
    return Block(tuple(made))


def _with_blocks(statement: Statement, facts: Mapping[str, Fact]) -> Statement:
    match statement:
        case If(body=body, orelse=orelse):
            return replace(statement, body=_checked(body, facts), orelse=_checked(orelse, facts))
        case For(body=body) | While(body=body) | With(body=body):
            return replace(statement, body=_checked(body, facts))
    return statement


def _check(statement: Bind) -> Effect:
    function = runtime.require_number
    callee = reference(GlobalBinding(function.__name__, function, "srcgrad.runtime", function.__name__, None))
    arguments = [gast.Name(statement.target, gast.Load(), None, None), gast.Constant(statement.span.origin, None)]
    return Effect(gast.Expr(gast.Call(callee, arguments, [])), statement.span)
