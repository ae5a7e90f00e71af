"""Expressions of the normal form: one operation on names, or what stays nested.

    t = x[i + 1]           Index: x is an array
    t2 = x.T @ y           Apply, of names: t = x.T;  t2 = t @ y
    n = x.shape[0] - 1     Fixed: an int has no derivative
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.infer.data import DESCRIBING, is_data
from srcgrad.infer.heap import Site
from srcgrad.infer.items import is_index, is_slice
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import CONTAINERS
from srcgrad.infer.outside import GRIDS
from srcgrad.infer.sparse import may_be_matrix
from srcgrad.infer.values import (
    Array,
    At,
    Bound,
    Exact,
    Of,
    Value,
    are_arrays,
    are_numbers,
    are_of,
    is_unchanging,
)
from srcgrad.ir import normal_form as nf
from srcgrad.language.members import WRITERS
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import FIELDS, is_constant, lookup, member_refusal, operator_of
from srcgrad.rules.table import attribute as attribute_function
from srcgrad.specialise import sparse
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.context import Context
from srcgrad.specialise.functions import is_made
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.receivers import is_field, is_method
from srcgrad.syntax.build import call_runtime, constant, distinct, load, placed, subscript
from srcgrad.syntax.globals import GlobalReference, importable, reference
from srcgrad.syntax.parse import spelled, walk

_CONTAINERS = (list, tuple, dict, deque, OrderedDict, defaultdict)
_INNER = {
    gast.ListComp: "a comprehension",
    gast.SetComp: "a comprehension",
    gast.Lambda: "a lambda",
    gast.NamedExpr: "a := b",
}
Made = tuple[gast.expr, nf.Operation]


def settled(context: Context, node: Any) -> Any:
    """An expression that stays as it is, on names of the normal form."""
    for part in walk(node):
        if isinstance(part, gast.GeneratorExp):
            _refuse_generator(context)
        if isinstance(part, gast.ListComp | gast.Lambda | gast.NamedExpr | gast.SetComp):
            context.refuse("E0105", part, f"{_INNER[type(part)]} inside of this expression")
        match part:
            case gast.Name():
                sparse.require_whole(context, part)
            case gast.Attribute(value=base, attr=name):
                require_member(context, base, name)
            case gast.Call(func=gast.Name(id="getattr"), args=[base, gast.Constant(value=str() as name), *_]):
                require_member(context, base, name)
    return _resolved(context, node)


def require_member(context: Context, base: Any, name: str) -> None:
    """Refuse an attribute that tells of the memory of an array: what is stored into lies elsewhere in a derivative."""
    if member_refusal(name) is not None and any(isinstance(each, Array) for each in context.value(base).atoms):
        context.refuse_member(base, name, "attribute")


def _resolved(context: Context, node: Any) -> Any:
    """Names of globals as references."""
    if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
        if not context.is_local(node) and isinstance(node.ctx, gast.Load):
            binding = context.source.resolve(node.id, context.span)
            return node if binding is None else reference(binding)
        return node
    if isinstance(node, gast.AST):
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, gast.AST):
                setattr(node, name, _resolved(context, value))
            elif isinstance(value, list):
                setattr(node, name, [_resolved(context, part) for part in value])
    return node


def atom(context: Context, node: Any) -> gast.expr:
    """A name or a constant."""
    match node:
        case None:
            return gast.Constant(None, None)
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() | float() | complex() as number)):
            return placed(gast.Constant(-number, None), node)
        case gast.Constant():
            return node
        case gast.Name() if context.is_local(node):
            return node
    name = context.fresh()
    context.out.append(nf.Bind(name, *operation_of(context, node), context.span))
    context.known[name] = context.value(node)
    return load(name, node)


def named(context: Context, node: Any) -> str:
    made = atom(context, node)
    if not isinstance(made, gast.Name):
        context.refuse("E0105", node, "a number or text in the place of an array")
    return str(made.id)


def operation_of(context: Context, node: Any) -> Made:
    """One operation on names."""
    if context.is_local(node):
        return node, nf.Copy(node.id)
    if isinstance(node, gast.Call):
        from srcgrad.specialise.calls import call  # whose operands are expressions in turn

        return call(context, node)
    from srcgrad.specialise import sets
    from srcgrad.specialise.containers import displayed, displayed_dict

    if isinstance(node, gast.Name) or context.is_fixed(node) and not _holds(context.value(node)):
        return settled(context, node), nf.Fixed()
    match node:
        case gast.BinOp(op=op, left=left, right=right):
            return operate(context, op, [atom(context, left), atom(context, right)], node)
        case gast.UnaryOp(op=op, operand=operand):
            return operate(context, op, [atom(context, operand)], node)
        case gast.Subscript(value=gast.Attribute(value=of, attr="flat")) if are_arrays(context.value(of), data=True):
            from srcgrad.specialise.stores import flat_place  # whose arrays are expressions in turn

            name, places = flat_place(context, node)
            return subscript(load(name, node), places, node), nf.Index(name, places)
        case gast.Subscript(value=gast.Attribute(attr="flat")):
            context.refuse("E0405", node, "a read through .flat")
        case gast.Subscript(value=base) if any(object_of(base) is each for each in GRIDS):
            from srcgrad.specialise.unruled import missing_rule  # whose calls are expressions in turn

            return settled(context, node), nf.Unruled(missing_rule(spelled(base), None, context.span), draws=True)
        case gast.Subscript(value=base, slice=index):
            if are_of(context.value(base), range) and not context.value(index).is_any:  # of which places are cut off
                return settled(context, node), nf.Fixed()
            whole = named(context, base)
            if isinstance(index, gast.Tuple) and not index.elts and _is_number(context.value(base)):
                return load(whole, node), nf.Copy(whole)
            if not _is_indexed(_with_items(context.value(base), context.value(index)), data=True):
                context.refuse("E0413", node, "an item of what may be no array and no container")
            is_found = context.is_fixed(index) or not carries(context.facts, context.value(index))
            is_found |= _have_places(context.value(base)) and not _is_object(context.value(index))
            if not is_found and not _are_mappings(context.value(base)):
                if context.facts.data is None:  # what goes over data makes sure that it has no keys
                    context.refuse("E0605", index, "an index that may carry a derivative")
            part = placed(gast.Subscript(load(whole, node), settled(context, index), gast.Load()), node)
            return part, nf.Index(whole, part.slice)
        case gast.Attribute(value=base, attr=name):
            return _attribute(context, node, base, name)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            if any(isinstance(element, gast.Starred) for element in elements):
                return displayed(context, node)
            given = tuple(atom(context, element) for element in elements)
            kind = "tuple" if isinstance(node, gast.Tuple) else "list"
            return placed(type(node)(list(given), gast.Load()), node), nf.Pack(kind, given)
        case gast.Dict(keys=keys, values=values) if all(isinstance(key, gast.Constant) for key in keys):
            keys, given = distinct(keys, [atom(context, value) for value in values])
            return placed(gast.Dict(list(keys), list(given)), node), nf.Pack("dict", given, keys)
        case gast.Dict():
            return displayed_dict(context, node)
        case gast.Set():
            return sets.displayed(context, node)
    if context.is_fixed(node):
        return settled(context, node), nf.Fixed()
    if isinstance(node, gast.GeneratorExp):
        _refuse_generator(context)
    context.refuse("E0105", node, "this form of expression")


def _refuse_generator(context: Context) -> NoReturn:
    raise UnsupportedSyntax(
        "a generator expression cannot be reversed here", context.span, code="E0103",
        label="this is evaluated later, item by item", hint="write a list: [... for ...]",
    )  # fmt: skip


def _holds(value: Value) -> bool:
    """Whether a value has memory that others may store into, or holds such a value."""
    return value.is_any or any(
        isinstance(atom, Array | At) and atom.site.kind is not slice
        or isinstance(atom, Bound) and atom.function is not None and _holds(atom.receiver) for atom in value.atoms
    )  # fmt: skip


def _is_number(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, Of))


def _with_items(value: Value, index: Value) -> Value:
    """A value without the numbers that have no such item, which raise."""
    numbers = {a for a in value.atoms if isinstance(a, Exact | Of) and (is_index(index) or is_slice(index) or not (
        isinstance(a, Of) and issubclass(a.kind, np.generic)))}  # fmt: skip
    return replace(value, atoms=value.atoms - numbers)


def _is_indexed(value: Value, *, data: bool = False) -> bool:
    """Whether a value is an array or a container, whose items are read by ``Index``."""
    kinds = (*_CONTAINERS, None) if data else _CONTAINERS
    return value.consists_of(
        lambda a: isinstance(a, Array) or isinstance(a, At) and (a.site.kind in kinds or is_named_tuple(a.site.kind))
        or isinstance(a, Of) and issubclass(a.kind, np.generic) or is_method(a) or is_made(a)  # as their tuples
    )


def _have_places(value: Value) -> bool:
    """Whether an index finds an item, and is not one itself."""
    return value.consists_of(
        lambda a: isinstance(a, Array | Exact | Of) or isinstance(a, At) and a.site.kind in (list, tuple, deque)
    )


def _is_list(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, At) and atom.site.kind is list)


def _are_mappings(value: Value) -> bool:
    return all(isinstance(atom, At) and atom.site.kind in (dict, OrderedDict, defaultdict) for atom in value.atoms)


def _are_dicts(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, At) and atom.site.kind is dict)


def operate(context: Context, op: gast.AST, atoms: list[gast.expr], node: Any) -> Made:
    from srcgrad.specialise import sets  # whose items are expressions in turn

    if (made := sets.operated(context, op, atoms, node)) is not None:
        return made
    if (made := sparse.operated(context, op, atoms, node)) is not None:
        return made
    if any(_is_object(context.value(operand)) for operand in atoms):
        context.refuse("E0413", node, "an operator of an object")
    function = operator_of(type(op))
    rule = lookup(function)
    values = [context.value(operand) for operand in atoms]
    if rule is None and context.facts.data is not None and len(values) > 1 and not any(map(are_numbers, values)):
        if any(is_data(one) for value in values for one in value.atoms):  # sets, or arrays of truth values
            context.refuse(
                "E0413", node, "an operator of what may be containers where nothing is said of the arguments"
            )
    if isinstance(op, gast.Add) and all(map(_is_list, values)) and len(values) > 1:
        join = lookup(runtime.joined)  # in a function of its own or a recursion nothing else says that they are lists
        assert join is not None
        return call_runtime(runtime.joined, atoms, node), nf.Apply(
            join, runtime.joined, join.bind(runtime.joined, atoms, {})
        )
    expression = gast.UnaryOp(op, atoms[0]) if len(atoms) == 1 else gast.BinOp(atoms[0], op, atoms[1])
    if isinstance(op, gast.BitOr) and len(values) == 2 and all(one.atoms and _are_dicts(one) for one in values):
        from srcgrad.specialise.containers import displayed_dict  # whose entries are expressions in turn

        return displayed_dict(context, placed(gast.Dict([None, None], list(atoms)), node))
    if rule is None:
        if any(is_varied_container(context, context.value(operand)) for operand in atoms):
            context.refuse("E0413", node, "an operator of containers, for which there is no rule,")
        if function is not None and is_constant(function) or context.is_fixed(node):
            return placed(expression, node), nf.Fixed()
        context.refuse("E0413", node, "an operator of what is no number or array for sure")
    return placed(expression, node), nf.Apply(rule, function, rule.bind(function, atoms, {}))


def is_varied_container(context: Context, value: Value) -> bool:
    """Whether a value is a container of what may carry a derivative: what is made of it carries that too."""
    return carries(context.facts, value) and is_container(value)


def is_container(value: Value) -> bool:
    """Whether a value may be a container."""
    return any(
        isinstance(a, At) and isinstance(a.site.kind, type) and issubclass(a.site.kind, (*_CONTAINERS, set, frozenset))
        for a in value.atoms
    )


def is_of_arrays(name: str) -> bool:
    """Whether no built-in container has a method of this name: data that has it is an array or a number."""
    return not any(hasattr(kind, name) for kind in CONTAINERS)


def _is_object(value: Value) -> bool:
    return value.is_any or any(
        isinstance(a, At) and (not isinstance(a.site, Site) or a.site.kind not in (*_CONTAINERS, None))
        and not is_named_tuple(a.site.kind) for a in value.atoms
    )  # fmt: skip


def are_writers(value: Value) -> bool:
    """Whether a value writes text that no program reads: loggers and files."""
    return value.consists_of(lambda one: isinstance(one, At) and one.site.kind in WRITERS.values())


def is_spelled(node: Any) -> bool:
    """Whether an expression is a class or module, by its name."""
    return isinstance(node, GlobalReference) or isinstance(node, gast.Attribute) and is_spelled(node.value)


def _attribute(context: Context, node: Any, base: Any, name: str) -> Made:
    value = context.value(base)
    if may_be_matrix(value):
        return sparse.attribute(context, node, atom(context, base))
    if any(map(is_method, context.value(node).atoms)) and not is_field(value, name):
        context.refuse("E0416", node, "a method as a value")
    from srcgrad.specialise.asking import classes_of
    from srcgrad.specialise.attributes import read  # whose objects are expressions in turn

    if (kinds := classes_of(value)) is not None:
        return read(context, node, kinds)
    found = context.value(node)
    is_read = not _holds(found) or _is_indexed(found, data=True) or are_writers(found)
    if is_spelled(base) and is_read:  # what a class or module holds is outside
        return settled(context, node), nf.Fixed()
    owner = None if _holds(context.value(node)) else static_of(value)
    if owner is not None and not callable(owner) and not isinstance(owner, ModuleType):
        return settled(context, node), nf.Fixed()  # of an object that the kinds of the arguments decide: a dtype
    if isinstance(owner, ModuleType | type):  # the same, by another name of it
        spelled = placed(reference(importable(owner.__name__, owner)), node)
        return placed(gast.Attribute(spelled, name, gast.Load()), node), nf.Fixed()
    if value.consists_of(lambda a: isinstance(a, At) and a.site.kind is partial and a.site.context == "outside"):
        return settled(context, node), nf.Fixed()  # which functions of a program read alone
    if value.is_any or not all(
        isinstance(a, Array | Of) or is_unchanging(a) or isinstance(a, At) and (
            a.site.kind is None or a.site.kind in CONTAINERS and not hasattr(a.site.kind, name)  # which raises
        ) for a in value.atoms
    ):  # fmt: skip
        context.refuse("E0203", node, "an attribute of an object that may be of any class")
    function = attribute_function(name)
    rule = None if function is None else lookup(function)
    if rule is None and name in FIELDS and value.consists_of(is_data):  # of what a decomposition gives
        held, rule = atom(context, base), lookup(runtime.field)
        assert rule is not None
        expression = placed(gast.Attribute(held, name, gast.Load()), node)
        given = rule.bind(runtime.field, [held, constant(name, node)], {})
        return expression, nf.Apply(rule, runtime.field, given)
    if rule is None:
        require_member(context, base, name)
        if context.is_fixed(node) or name in DESCRIBING:
            return settled(context, node), nf.Fixed()
        context.refuse_member(node, name, "attribute")
    held = atom(context, base)
    expression = placed(gast.Attribute(held, name, gast.Load()), node)
    return expression, nf.Apply(rule, function, rule.bind(function, [held], {}))
