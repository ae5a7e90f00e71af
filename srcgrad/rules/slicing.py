"""Cutting a template down to what a call needs.

Enters: a ``Formula``, the wanted partials, the arguments given at the call.  Leaves: a ``Slice`` without parameters
that were not given (their defaults stand there), pruned to the statements that the wanted values need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import gast

from srcgrad import runtime
from srcgrad.errors import InternalError
from srcgrad.rules.casting import DTYPE, Given, Manner, cast, cast_back
from srcgrad.rules.formula import Formula, is_none, is_number, object_of
from srcgrad.rules.reading import readings
from srcgrad.rules.rewriting import item, locals_in, read, substituted, unrolled, with_defaults, without_neutral
from srcgrad.rules.strong_zeros import guarded
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import children, names_bound

if TYPE_CHECKING:
    from srcgrad.rules.template import Rule

Line = tuple[str, gast.expr]


@dataclass(frozen=True, eq=False)
class Slice:
    """Straight-line assignments to template-local names, then one value per wanted parameter."""

    body: tuple[gast.stmt, ...]
    values: Mapping[str, gast.expr]
    reads: frozenset[str]
    shapes: frozenset[str]

    @cached_property
    def bound(self) -> list[str]:
        """The names that its values bind: in comprehensions, and by ``:=``."""
        return sorted(names_bound(*self.values.values()))


# --- the three ways to a slice ---------------------------------------------------------------------------------------
def adjoint(
    rule: Rule, formula: Formula, partials: Mapping[str, gast.expr], wanted: set[str], given: Given, manner: Manner
) -> Slice:
    """Partials of the wanted parameters; an elementwise rule's are unbroadcast where another operand may be larger."""
    missing = wanted - set(partials)
    if missing:
        raise InternalError(f"{rule.name} has no partial for {sorted(missing)}", stage="rules")
    partials = {p: partials[p] for p in rule.parameters if p in wanted}
    if manner.strong:
        partials = {p: guarded(rule, formula.body, partials[p], rule.adjoint) for p in partials}
    values = {p: cast(partials[p], rule, given, manner) for p in partials}
    body = [(name, cast(value, rule, given, manner)) for name, value in formula.body]
    if rule.kind == "elementwise" and not manner.scalar:
        for p in values:
            if manner.cast:
                values[p] = cast_back(values[p], p, manner)
            elif p != rule.variadic and _operands(rule, given, p):
                values[p] = call_runtime(runtime.unbroadcast, values[p], read(p))
    return _finished(rule, body, values, given, manner)


def tangent(
    rule: Rule, formula: Formula, terms: Mapping[str, gast.expr], active: set[str], given: Given, manner: Manner
) -> Slice:
    """The sum of the terms of the active parameters."""
    terms = {p: terms[p] for p in rule.parameters if p in active}
    if manner.strong:
        terms = {p: guarded(rule, formula.body, terms[p], f"{p}_dot") for p in terms}
    total = cast(_sum([*terms.values()], rule.sums), rule, given, manner)
    body = [(name, cast(value, rule, given, manner)) for name, value in formula.body]
    if manner.cast:
        total = cast_back(total, rule.result, manner, up=True)
    return _finished(rule, body, {f"{rule.result}_dot": total}, given, manner)


def diagonal_tangent(
    rule: Rule, formula: Formula, partials: Mapping[str, gast.expr], active: set[str], given: Given, manner: Manner
) -> Slice:
    """An elementwise tangent: each partial with ``p_dot`` in place of the adjoint; lines that read it are repeated."""
    lines: list[Line] = []
    terms: list[gast.expr] = []
    moving = {rule.adjoint}
    for name, value in formula.body:
        if moving & set(locals_in(value)):
            moving.add(name)
        else:
            lines.append((name, value))
    for p in rule.parameters:
        if p not in active:
            continue
        if p == rule.variadic:
            terms += _variadic_terms(rule, partials[p], given, manner)
            continue
        renamed = {name: read(f"{name}_{p}") for name in moving} | {rule.adjoint: read(f"{p}_dot")}
        for name, value in formula.body:
            if name in moving:
                lines.append((renamed[name].id, substituted(value, renamed)))
        term = guarded(rule, formula.body, partials[p], rule.adjoint) if manner.strong else partials[p]
        terms.append(substituted(term, renamed))
    total = cast(_sum(terms), rule, given, manner)
    lines = [(name, cast(value, rule, given, manner)) for name, value in lines]
    if manner.cast:
        total = cast_back(total, rule.result, manner, up=True)
    elif not manner.scalar and (rule.own_dtype or not _covers(rule, lines, total, given)):
        total = call_runtime(runtime.rebroadcast, total, read(rule.result))
    return _finished(rule, lines, {f"{rule.result}_dot": total}, given, manner)


def _variadic_terms(rule: Rule, partial: gast.expr, given: Given, manner: Manner) -> list[gast.expr]:
    """``[e for x in operands]`` with the tangent of each operand in place of the adjoint."""
    assert rule.variadic is not None
    display = given.get(rule.variadic) if isinstance(given, Mapping) else None
    dots = given.get(f"{rule.variadic}_dot") if isinstance(given, Mapping) else None
    if not isinstance(display, gast.Tuple):
        raise InternalError(f"{rule.name} needs the expressions of its operands", stage="rules")
    terms: list[gast.expr] = []
    for i, term in enumerate(unrolled(partial, rule.variadic, display).elts):
        if not (isinstance(dots, gast.Tuple) and is_none(dots.elts[i])):
            dot = item(f"{rule.variadic}_dot", i)
            term = guarded(rule, (), term, rule.adjoint) if manner.strong else term
            terms.append(substituted(term, {rule.adjoint: dot}))
    return terms


def linear_tangent(rule: Rule, function: gast.expr, active: set[str], given: Given, manner: Manner) -> Slice:
    """``f(a_dot, b) + f(a, b_dot)``: the function itself on the tangents."""
    terms: list[gast.expr] = []
    for p in rule.parameters:
        if p in active:
            args: list[gast.expr] = []
            keywords: list[gast.keyword] = []
            gap = False
            for q in rule.parameters:
                if q not in given:
                    gap = True
                    continue
                value = read(f"{q}_dot" if q == p else q)
                if q == rule.variadic:
                    args.append(gast.Starred(value, gast.Load()))
                elif gap or q in rule.defaults:
                    keywords.append(gast.keyword(q, value))
                else:
                    args.append(value)
            term = gast.Call(function, args, keywords)
            terms.append(guarded(rule, (), term, f"{p}_dot") if manner.strong else term)
    return _finished(rule, (), {f"{rule.result}_dot": _sum(terms)}, given, Manner())


# --- parts -----------------------------------------------------------------------------------------------------------
def _sum(terms: list[gast.expr], function: Callable[..., object] | None = None) -> gast.expr:
    total = terms[0]
    for term in terms[1:]:
        total = (
            gast.BinOp(total, gast.Add(), term)
            if function is None
            else call_runtime(function, total, term)
        )
    return total


def _operands(rule: Rule, given: Given, besides: str) -> list[str]:
    """The other arguments of an elementwise call that may be larger: all but literal numbers."""
    return [
        p
        for p in rule.parameters
        if p in given and p != besides and not (isinstance(given, Mapping) and is_number(given[p]))
    ]


def _covers(rule: Rule, lines: Iterable[Line], total: gast.expr, given: Given) -> bool:
    """Whether an elementwise expression reads every operand (or the result), so that it has the result's shape."""
    by_name = {name: _summands(value) for name, value in lines}
    pending, seen = _summands(total), set[str]()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += by_name.get(name, [])
    return rule.result in seen or all(p in seen or f"{p}_dot" in seen for p in _operands(rule, given, ""))


def _summands(expression: gast.expr) -> list[str]:
    """The names from which an expression has its shape and dtype: not those that are only compared."""
    match expression:
        case gast.Compare():
            return []
        case gast.Call(func=function) if object_of(function) in _COMPARING:
            return []
        case gast.Name():
            return locals_in(expression)
    return [name for part in children(expression) for name in _summands(part)]


_COMPARING = (runtime.is_within, runtime.is_below, runtime.is_above)


def _finished(rule: Rule, body: Iterable[Line], values: Mapping[str, gast.expr], given: Given, manner: Manner) -> Slice:
    """Prune, put defaults in place of what is not given, unroll variadic displays, note what is read."""
    needed = set(locals_in(*values.values()))
    kept: list[Line] = []
    for name, value in reversed(list(body)):
        if name in needed:
            needed.update(locals_in(value))
            kept.append((name, value))
    kept.reverse()
    absent = {p: rule.defaults[p] for p in rule.parameters if p not in given and p in rule.defaults}
    display = given.get(rule.variadic) if isinstance(given, Mapping) and rule.variadic else None

    def settle(expression: gast.expr) -> gast.expr:
        made = with_defaults(without_neutral(expression, absent) if rule.drops_neutral else expression, absent)
        if isinstance(display, gast.Tuple) and rule.variadic is not None:
            made = unrolled(made, rule.variadic, display)
        return manner.settled(made)

    lines = [(name, settle(value)) for name, value in kept]
    settled = {p: settle(value) for p, value in values.items()}
    reads, shapes = readings([*(value for _, value in lines), *settled.values()])
    visible = {*(p for p in (*rule.parameters, DTYPE) if p in given), rule.result}
    statements: list[gast.stmt] = [
        gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None) for name, value in lines
    ]
    return Slice(tuple(statements), settled, frozenset(reads & visible), frozenset(shapes & visible))
