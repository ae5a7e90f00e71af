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
from srcgrad.syntax.parse import clone
from srcgrad.transform.apart import Outside
from srcgrad.transform.build import (
    constant,
    store,
    tuple_of,
)
from srcgrad.transform.control import placed
from srcgrad.transform.forward_statements import Calls, restated
from srcgrad.transform.forward_stores import MirroredTangent


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
    writer = _Writer(function, activity, facts, calls, mirrored, beside, attempted=attempted)
    dots = [writer.dot(p) for p in order]
    body = writer.entered(order, [p for p in function.parameters if p in stored], outside)
    for parameter in function.parameters:
        if parameter not in active and writer.tangents.needed_at_entry(parameter):
            body += writer.zero_at_entry(parameter)
    body = [placed(statement, function.span) for statement in body]
    body += writer.block(function.body)
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
    definition = gast.FunctionDef(name, arguments, body, [], None, None, [])
    made = {dot for of, dot in writer.dots.items() if of in function.temporaries}
    return Tangent(definition, frozenset(function.temporaries | made | writer.temporaries), data_names(facts))


def _defaults(function: Function) -> list[gast.expr]:
    """The defaults of the parameters, if every parameter after the first that has one has one too."""
    trailing = [p for p in function.parameters if p in function.defaults]
    if trailing != list(function.parameters[len(function.parameters) - len(trailing) :]):
        return []
    return [clone(function.defaults[p]) for p in trailing]


class _Writer(MirroredTangent):
    """Writes the statements of one tangent program."""

    # --- blocks ------------------------------------------------------------------------------------------------------
    def block(self, block: Block, opening: Iterable[gast.stmt] = ()) -> list[gast.stmt]:
        code = list(opening)
        for statement in block.statements:
            code += [placed(s, statement.span) for s in self.statement(statement)]
        return code or [gast.Pass()]

    def statement(self, statement: Statement) -> list[gast.stmt]:
        match statement:
            case Bind():
                return self._bind(statement)
            case Unpack():
                return self._unpack(statement)
            case Append():
                return [restated(statement), *self._append(statement)]
            case Pop():
                return [restated(statement), *self._pop(statement)]
            case AddAt():
                return self._add_at(statement)
            case Store():
                return self._store(statement)
            case AugStore():
                return self._aug_store(statement)
            case SetField():
                return self._set_field(statement)
            case Delete():
                return self._delete(statement)
            case If(test=test, body=body, orelse=orelse):
                otherwise = self.block(orelse) if orelse.statements else []
                return [gast.If(clone(test), self.block(body), otherwise)]
            case For():
                return [self._for(statement)]
            case While(test=test, body=body):
                return [gast.While(clone(test), self.block(body), [])]
            case With(items=items, body=body):
                refuse_seen(statement, self.activity)
                return [gast.With([clone(item) for item in items], self.block(body), None)]
            case Return(value=value):
                return [gast.Return(tuple_of([clone(value), self.dot_of(value, statement)]))]
        return [] if self.activity.is_needless(statement, self.mirrored) else [restated(statement)]

    def _for(self, loop: For) -> gast.For:
        """A loop under the user's own heading, unless a tangent needs the hidden index."""
        opening = []
        if self.tangents.needed_in(loop.body, loop.index):
            refuse_items(loop, self.tangents.activity)
            opening = self.zero(loop.index)
        opening = [placed(s, loop.span) for s in opening]
        bound = loop.body.statements[: loop.elements]
        rest = Block(loop.body.statements[loop.elements :])
        if loop.heading is None or opening or any(self.tangents.moves(s) for s in bound):
            return gast.For(store(loop.index), clone(loop.iterable), self.block(loop.body, opening), [], None)
        target, iterable = loop.heading
        for statement in bound:
            for name in bound_here(statement):
                if self.tangents.needed_after(name, statement):
                    opening += [placed(s, loop.span) for s in self.zero(name)]
        return gast.For(clone(target), clone(iterable), self.block(rest, opening), [], None)
