"""Expressions of the normal form: one operation on names, or what stays nested.

    t = x[i + 1]           Index: x is an array
    t2 = x.T @ y           Apply, of names: t = x.T;  t2 = t @ y
    n = x.shape[0] - 1     Fixed: an int has no derivative
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from dataclasses import replace
from enum import EnumType
from functools import partial
from inspect import Parameter, Signature
from types import ModuleType
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classes import is_local
from srcgrad.infer.data import DESCRIBING, is_data
from srcgrad.infer.enumerations import are_members
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
    are_of,
    is_unchanging,
)
from srcgrad.ir import normal_form as nf
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import FIELDS, lookup
from srcgrad.rules.table import attribute as attribute_function
from srcgrad.specialise import sets, sparse
from srcgrad.specialise.asking import classes_of
from srcgrad.specialise.attributes import read
from srcgrad.specialise.calls import call
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.containers import displayed, displayed_dict
from srcgrad.specialise.context import Context
from srcgrad.specialise.functions import is_made
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.operands import (
    READ_BY_INDEX,
    Made,
    are_writers,
    atom,
    is_spelled,
    may_be_object,
    named,
    refuse_generator,
    require_member,
    settled,
)
from srcgrad.specialise.operators import operate
from srcgrad.specialise.receivers import is_field, is_method
from srcgrad.specialise.stores import flat_place
from srcgrad.specialise.unruled import missing_rule
from srcgrad.syntax.build import constant, distinct, load, placed, subscript
from srcgrad.syntax.globals import importable, reference
from srcgrad.syntax.parse import spelled


def operation_of(context: Context, node: Any) -> Made:
    """One operation on names."""
    if context.is_local(node):
        return node, nf.Copy(node.id)
    if isinstance(node, gast.Call):
        return call(context, node)
    if isinstance(node, gast.Name) or context.is_fixed(node) and not _holds(context.value(node)):
        return settled(context, node), nf.Fixed()
    match node:
        case gast.BinOp(op=op, left=left, right=right):
            return operate(context, op, [atom(context, left), atom(context, right)], node)
        case gast.UnaryOp(op=op, operand=operand):
            return operate(context, op, [atom(context, operand)], node)
        case gast.Subscript(value=gast.Attribute(value=of, attr="flat")) if are_arrays(context.value(of), data=True):
            name, places = flat_place(context, node)
            return subscript(load(name, node), places, node), nf.Index(name, places)
        case gast.Subscript(value=gast.Attribute(attr="flat")):
            context.refuse("E0405", node, "a read through .flat")
        case gast.Subscript(value=base) if any(object_of(base) is each for each in GRIDS):
            return settled(context, node), nf.Unruled(missing_rule(spelled(base), None, context.span), draws=True)
        case gast.Subscript(value=base, slice=index):
            if are_of(context.value(base), range) and not context.value(index).is_any:  # of which places are cut off
                return settled(context, node), nf.Fixed()
            whole = named(context, base)
            if isinstance(index, gast.Tuple) and not index.elts and _is_number(context.value(base)):
                return load(whole, node), nf.Copy(whole)
            if type(static_of(context.value(base))) is EnumType:  # of a member
                return settled(context, node), nf.Fixed()
            if not _is_indexed(_with_items(context.value(base), context.value(index)), data=True):
                context.refuse("E0413", node, "an item of what may be no array and no container")
            is_found = context.is_fixed(index) or not carries(context.facts, context.value(index))
            is_found |= _have_places(context.value(base)) and not may_be_object(context.value(index))
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
        refuse_generator(context)
    context.refuse("E0105", node, "this form of expression")


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
    kinds = (*READ_BY_INDEX, None) if data else READ_BY_INDEX
    return value.consists_of(
        lambda a: isinstance(a, Array) or isinstance(a, At) and (a.site.kind in kinds or is_named_tuple(a.site.kind))
        or isinstance(a, Of) and issubclass(a.kind, np.generic) or is_method(a) or is_made(a)  # as their tuples
    )


def _have_places(value: Value) -> bool:
    """Whether an index finds an item, and is not one itself."""
    return value.consists_of(
        lambda a: isinstance(a, Array | Exact | Of) or isinstance(a, At) and a.site.kind in (list, tuple, deque)
    )


def _are_mappings(value: Value) -> bool:
    return all(isinstance(atom, At) and atom.site.kind in (dict, OrderedDict, defaultdict) for atom in value.atoms)


def _attribute(context: Context, node: Any, base: Any, name: str) -> Made:
    value = context.value(base)
    if may_be_matrix(value):
        return sparse.attribute(context, node, atom(context, base))
    if any(map(is_method, context.value(node).atoms)) and not is_field(value, name):
        context.refuse("E0416", node, "a method as a value")
    if (kinds := classes_of(value)) is not None:
        return read(context, node, kinds)
    found = context.value(node)
    is_read = not _holds(found) or _is_indexed(found, data=True) or are_writers(found)
    if is_spelled(base) and is_read:  # what a class or module holds is outside
        return settled(context, node), nf.Fixed()
    if are_members(value) and not _holds(found):
        return settled(context, node), nf.Fixed()
    if value.consists_of(lambda a: isinstance(a, Exact) and type(a.value) in (Signature, Parameter)):
        if name == "parameters" or not _holds(found):
            return settled(context, node), nf.Fixed()
        context.refuse("E0203", node, "a default of a parameter that may be stored into")
    owner = static_of(value)
    if _holds(found) and not (is_read and is_local(owner)):  # which nothing stores into
        owner = None
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
