"""Operators of numbers, arrays, lists, dicts, sets and sparse matrices."""

from __future__ import annotations

from collections import deque
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.infer.data import is_data
from srcgrad.infer.values import (
    Array,
    At,
    Value,
    are_numbers,
)
from srcgrad.ir import normal_form as nf
from srcgrad.rules.table import is_constant, lookup, operator_of
from srcgrad.specialise import sets, sparse
from srcgrad.specialise.collecting import collected
from srcgrad.specialise.containers import applied, displayed_dict
from srcgrad.specialise.context import Context
from srcgrad.specialise.operands import Made, is_varied_container, may_be_object
from srcgrad.specialise.series import is_text
from srcgrad.syntax.build import call_runtime, load, placed
from srcgrad.syntax.globals import importable, reference


def _is_list(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, At) and atom.site.kind is list)


def _are_dicts(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, At) and atom.site.kind is dict)


def _is_deque(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, At) and atom.site.kind is deque)


def _listed(context: Context, held: gast.expr, into: str | None = None) -> gast.expr:
    items = collected(context, held, into)
    assert items is not None
    return load(items, held)


def _of_deques(context: Context, op: gast.AST, atoms: list[gast.expr], node: Any) -> Made:
    """Two deques that are joined, or one that is repeated: the first says how many items it holds at most."""
    held = [operand for operand in atoms if _is_deque(context.value(operand))]
    counts = [operand for operand in atoms if are_numbers(context.value(operand))]
    if len(held) + len(counts) != 2 or not isinstance(op, gast.Mult if counts else gast.Add):
        context.refuse("E0413", node, "an operator of a deque and of what may be something else")
    bound = placed(gast.Attribute(held[0], "maxlen", gast.Load()), node)
    items = _listed(context, held[0])
    for other in held[1:]:
        assert isinstance(items, gast.Name)
        _listed(context, other, items.id)
    for count in counts:
        name, repeating = context.fresh(), applied(context, runtime.repeated, [items, count], node)
        context.out.append(nf.Bind(name, *repeating, context.span))
        items = load(name, node)
    return applied(context, deque, [items, bound], node, reference(importable("deque", deque)))


def operate(context: Context, op: gast.AST, atoms: list[gast.expr], node: Any) -> Made:
    if (made := sets.operated(context, op, atoms, node)) is not None:
        return made
    if (made := sparse.operated(context, op, atoms, node)) is not None:
        return made
    if any(may_be_object(context.value(operand)) for operand in atoms):
        context.refuse("E0413", node, "an operator of an object")
    function = operator_of(type(op))
    rule = lookup(function)
    values = [context.value(operand) for operand in atoms]
    if rule is None and context.facts.data is not None and len(values) > 1 and not any(map(are_numbers, values)):
        if any(is_data(one) for value in values for one in value.atoms):  # sets, or arrays of truth values
            context.refuse(
                "E0413", node, "an operator of what may be containers where nothing is said of the arguments"
            )
    if len(atoms) == 2 and any(map(_is_deque, values)):
        if not any(isinstance(atom, Array) for value in values for atom in value.atoms):
            return _of_deques(context, op, atoms, node)
        atoms = [_listed(context, operand) if _is_deque(context.value(operand)) else operand for operand in atoms]
    if isinstance(op, gast.Add) and all(map(_is_list, values)) and len(values) > 1:
        join = lookup(runtime.joined)  # in a function of its own or a recursion nothing else says that they are lists
        assert join is not None
        return call_runtime(runtime.joined, atoms, node), nf.Apply(
            join, runtime.joined, join.bind(runtime.joined, atoms, {})
        )
    expression = gast.UnaryOp(op, atoms[0]) if len(atoms) == 1 else gast.BinOp(atoms[0], op, atoms[1])
    if isinstance(op, gast.Mod) and is_text(values[0]):
        return placed(expression, node), nf.Fixed()
    if isinstance(op, gast.BitOr) and len(values) == 2 and all(one.atoms and _are_dicts(one) for one in values):
        return displayed_dict(context, placed(gast.Dict([None, None], list(atoms)), node))
    if rule is None:
        if any(is_varied_container(context, context.value(operand)) for operand in atoms):
            context.refuse("E0413", node, "an operator of containers, for which there is no rule,")
        if function is not None and is_constant(function) or context.is_fixed(node):
            return placed(expression, node), nf.Fixed()
        context.refuse("E0413", node, "an operator of what is no number or array for sure")
    return placed(expression, node), nf.Apply(rule, function, rule.bind(function, atoms, {}))
