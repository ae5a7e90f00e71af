"""What the tangents of statements share: the facts of the function, and the names made so far.

Enters: a function, its activity and facts, and how callees are reached.  Leaves: ``TangentSweep``, which every function
that writes the tangent of a statement is given first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity
from srcgrad.analysis.cfg import bound_here
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import fact_of_expression
from srcgrad.ir.normal_form import Bind, Callee, Fixed, Function, Statement
from srcgrad.rules.facts import Array, Fact, Static, Unknown, is_floating
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, walk
from srcgrad.transform.build import assign, constant, load, numpy_call
from srcgrad.transform.forward_liveness import Tangents, tangents_of
from srcgrad.transform.operands import fact_of_operand, is_local


class Calls(Protocol):
    """How a call site reaches the tangent program of its callee: the name of a function beside this one.

    ``strong_zeros``: how rules are written (``rules.strong_zeros``); ``shown``: the text is made to be read."""

    strong_zeros: bool
    shown: bool

    def tangent(self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...]) -> gast.expr: ...

    def primal(self, callee: Callee) -> gast.expr | None: ...

    def summary_of(self, callee: Callee, facts: tuple[Fact, ...]) -> Summary: ...


@dataclass(frozen=True, eq=False)
class TangentSweep:
    """One tangent program: the facts of its function; the names of tangents and temporaries only grow."""

    function: Function
    activity: Activity
    facts: Mapping[str, Fact]
    calls: Calls
    mirrored: frozenset[str]  # names whose tangents share memory as they do
    beside: frozenset[str]  # names that may share memory with those all the same
    attempted: bool  # what a store raises may be caught
    tangents: Tangents
    namer: Namer
    dots: dict[str, str] = field(default_factory=dict)  # name -> its tangent
    temporaries: set[str] = field(default_factory=set)

    def dot(self, name: str) -> str:
        """The name of the tangent of ``name``."""
        if name not in self.dots:
            self.dots[name] = self.namer.fresh(f"{name}_dot")
        return self.dots[name]

    def fresh(self, stem: str) -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        return name

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, Unknown())

    def fact_of(self, operand: gast.expr) -> Fact:
        return fact_of_operand(operand, self.fact)

    def zero_of(self, atom: gast.expr, fact: Fact | None = None) -> gast.expr:
        """The zero tangent of an atom, in the shape of its value."""
        match fact or self.fact_of(atom):
            case Array(shape=(), scalar=scalar) if scalar or not (is_local(atom) and atom.id in self.mirrored):
                return constant(0.0)
            case Static(value) if not hasattr(value, "dtype") and not isinstance(value, complex):
                return constant(None)
            case Array(shape=tuple(), dtype=dtype, scalar=False) if is_floating(dtype):
                return numpy_call("zeros_like", clone(atom))
        return call_runtime(runtime.zeros_like, clone(atom))

    def zero(self, name: str, binder: Bind | None = None) -> list[gast.stmt]:
        """Give ``name`` the tangent zero, where ``binder`` has just bound it."""
        known = self.fact(name)
        is_known = isinstance(known, Static) or isinstance(known, Array) and known != Array()
        if name in self.mirrored and not is_known:
            # What it contains twice, or in two views, has one tangent; an array of records or objects has none.
            return [assign(self.dot(name), call_runtime(runtime.entering, load(name)))]
        fact: Fact | None = None
        if binder is not None and isinstance(binder.operation, Fixed):
            fact = fact_of_expression(binder.expression, self.fact)
        return [assign(self.dot(name), self.zero_of(load(name), fact))]

    def dot_of(self, atom: gast.expr, statement: Statement) -> gast.expr:
        """The tangent of an operand as it stands before a statement: zero where it is not varied."""
        if isinstance(atom, gast.Tuple | gast.List):
            return type(atom)([self.dot_of(element, statement) for element in atom.elts], gast.Load())
        if is_local(atom) and self.tangents.varied(atom.id, statement):
            return load(self.dot(atom.id))
        return self.zero_of(atom)


def tangent_sweep(
    function: Function,
    activity: Activity,
    facts: Mapping[str, Fact],
    calls: Calls,
    mirrored: frozenset[str],
    beside: frozenset[str],
    *,
    attempted: bool,
) -> TangentSweep:
    tangents, namer = tangents_of(activity, mirrored), Namer(_names_taken(function, activity))
    return TangentSweep(function, activity, facts, calls, mirrored, beside, attempted, tangents, namer)


def _names_taken(function: Function, activity: Activity) -> list[str]:
    """Every name that the function's text contains, globals included."""
    taken: dict[str, None] = dict.fromkeys(function.parameters)
    for statement in activity.graph.heads:
        taken.update(dict.fromkeys(bound_here(statement)))
        for part in vars(statement).values():
            for node in part if isinstance(part, tuple) else (part,):
                if isinstance(node, gast.AST):
                    taken.update((n.id, None) for n in walk(node) if isinstance(n, gast.Name))
    return list(taken)
