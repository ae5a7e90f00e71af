"""The tangent program of a function: the user's statements, with the tangents of what they bind between them.

Enters: ``Function``, its ``Activity`` and the shape facts.  Leaves: ``Tangent``, one definition that takes a tangent
for every differentiated parameter and returns the value with its tangent; control flow stays as the user wrote it::

    def f(x, n):                    def jvp_f(x, n, x_dot):
        s = 1.0                         s = 1.0
        for i in range(n):              s_dot = 0.0
            s = s * x                   for i in range(n):
        return s                            s_dot = s_dot * x + s * x_dot
                                            s = s * x
                                        return s, s_dot

A tangent is bound wherever its name is bound and the tangent may be read later (``Tangents``): there it is the rule's
tangent if an operand is varied, else a zero.  So every path that joins, and every loop that repeats, finds it bound,
and nothing is made at the joins themselves.  (Griewank & Walther, *Evaluating Derivatives*, ch. 3; zeros stand at the
binder and not at the join, because there the value is certainly available.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import gast

from srcgrad.analysis.activity import Activity, refuse_items, refuse_seen
from srcgrad.analysis.asking import data_names
from srcgrad.analysis.cfg import bound_here
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    AugStore,
    Bind,
    Block,
    Delete,
    For,
    Function,
    If,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    While,
    With,
)
from srcgrad.rules.facts import Fact
from srcgrad.syntax.marks import in_role
from srcgrad.syntax.parse import clone
from srcgrad.transform.apart import Outside
from srcgrad.transform.build import (
    constant,
    store,
    tuple_of,
)
from srcgrad.transform.control import placed
from srcgrad.transform.forward_statements import append_tangent, pop_tangent, restated, unpack_tangent
from srcgrad.transform.forward_stores import (
    addition_tangent,
    aug_store_tangent,
    bind_tangent,
    delete_tangent,
    entered,
    set_field_tangent,
    store_tangent,
    zero_at_entry,
)
from srcgrad.transform.tangent_sweep import Calls, TangentSweep, tangent_sweep


@dataclass(frozen=True, eq=False)
class Tangent:
    """A tangent program, and the names in it that the compiler made."""

    definition: gast.FunctionDef
    temporaries: frozenset[str]
    data: frozenset[str]  # names of numbers, arrays and containers


def tangent(
    function: Function,
    active: Collection[str],
    activity: Activity,
    facts: Mapping[str, Fact],
    calls: Calls,
    name: str,
    mirrored: frozenset[str] = frozenset(),
    stored: Collection[str] = (),
    beside: frozenset[str] = frozenset(),
    outside: Outside | None = None,
    *,
    attempted: bool = False,
) -> Tangent:
    """``name(parameters..., tangents...) -> (value, tangent)``.

    The tangents come in the order of ``active``, in that of the parameters if it is a set.  They have defaults only
    where the parameters before them do.  ``mirrored`` names have a tangent that shares memory as they do; the
    parameters that are ``stored`` into are copied at the entry.  Names ``beside`` them may share memory with mirrored
    ones all the same, because a caller passed one array twice.  ``attempted``: what the function raises may be caught.
    ``outside`` tells what it reads there, which must be apart from what is stored into.
    """
    order = [p for p in function.parameters if p in active] if isinstance(active, frozenset | set) else list(active)
    sweep = tangent_sweep(function, activity, facts, calls, mirrored, beside, attempted=attempted)
    dots = [sweep.dot(p) for p in order]
    body = entered(sweep, order, [p for p in function.parameters if p in stored], outside)
    for parameter in function.parameters:
        if parameter not in active and sweep.tangents.needed_at_entry(parameter):
            body += zero_at_entry(sweep, parameter)
    body = [placed(statement, function.span) for statement in body]
    body += _block(sweep, function.body)
    defaults = _defaults(function)
    defaults += [constant(1.0) for _ in dots] if defaults else []
    arguments = gast.arguments(
        [gast.Name(p, gast.Param(), None, None) for p in [*function.parameters, *dots]],
        [],
        None,
        [],
        [],
        None,
        defaults,
    )
    definition = in_role(placed(gast.FunctionDef(name, arguments, body, [], None, None, []), function.span), "tangent")
    made = {dot for of, dot in sweep.dots.items() if of in function.temporaries}
    return Tangent(definition, frozenset(function.temporaries | made | sweep.temporaries), data_names(facts))


def _defaults(function: Function) -> list[gast.expr]:
    """The defaults of the parameters, if every parameter after the first that has one has one too."""
    trailing = [p for p in function.parameters if p in function.defaults]
    if trailing != list(function.parameters[len(function.parameters) - len(trailing) :]):
        return []
    return [clone(function.defaults[p]) for p in trailing]


def _block(sweep: TangentSweep, block: Block, opening: Iterable[gast.stmt] = ()) -> list[gast.stmt]:
    code = list(opening)
    for statement in block.statements:
        code += [placed(s, statement.span) for s in _statement(sweep, statement)]
    return code or [gast.Pass()]


def _statement(sweep: TangentSweep, statement: Statement) -> list[gast.stmt]:
    match statement:
        case Bind():
            return bind_tangent(sweep, statement)
        case Unpack():
            return unpack_tangent(sweep, statement)
        case Append():
            return [restated(statement), *append_tangent(sweep, statement)]
        case Pop():
            return [restated(statement), *pop_tangent(sweep, statement)]
        case AddAt():
            return addition_tangent(sweep, statement)
        case Store():
            return store_tangent(sweep, statement)
        case AugStore():
            return aug_store_tangent(sweep, statement)
        case SetField():
            return set_field_tangent(sweep, statement)
        case Delete():
            return delete_tangent(sweep, statement)
        case If(test=test, body=body, orelse=orelse):
            otherwise = _block(sweep, orelse) if orelse.statements else []
            return [gast.If(clone(test), _block(sweep, body), otherwise)]
        case For():
            return [_for(sweep, statement)]
        case While(test=test, body=body):
            return [gast.While(clone(test), _block(sweep, body), [])]
        case With(items=items, body=body):
            refuse_seen(statement, sweep.activity)
            return [gast.With([clone(item) for item in items], _block(sweep, body), None)]
        case Return(value=value):
            return [gast.Return(tuple_of([clone(value), sweep.dot_of(value, statement)]))]
    return [] if sweep.activity.is_needless(statement, sweep.mirrored) else [restated(statement)]


def _for(sweep: TangentSweep, loop: For) -> gast.For:
    """A loop under the user's own heading, unless a tangent needs the hidden index."""
    opening = []
    if sweep.tangents.needed_in(loop.body, loop.index):
        refuse_items(loop, sweep.tangents.activity)
        opening = sweep.zero(loop.index)
    opening = [placed(s, loop.span) for s in opening]
    bound = loop.body.statements[: loop.elements]
    rest = Block(loop.body.statements[loop.elements :])
    if loop.heading is None or opening or any(sweep.tangents.moves(s) for s in bound):
        return gast.For(store(loop.index), clone(loop.iterable), _block(sweep, loop.body, opening), [], None)
    target, iterable = loop.heading
    for statement in bound:
        for name in bound_here(statement):
            if sweep.tangents.needed_after(name, statement):
                opening += [placed(s, loop.span) for s in sweep.zero(name)]
    return gast.For(clone(target), clone(iterable), _block(sweep, rest, opening), [], None)
