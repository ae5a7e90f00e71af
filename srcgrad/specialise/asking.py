"""Which method of which operand an operation may be: operators, comparisons, items, attributes and calls.

Enters: an operation of the IR.  Leaves: the methods that it may be, those that Python tries first before the others::

    p + q          __add__ of p, __radd__ of q
    abs(p)         __abs__ of p
    p.area()       area of p
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classes import is_user_class
from srcgrad.infer.data import is_data
from srcgrad.infer.dispatch import asks_for_truth, python_of
from srcgrad.infer.objects import class_of
from srcgrad.infer.values import At, Exact, Value, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.operators import COMPARED, OF_FLOATS, REFLECTED, SPECIAL, method_of
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.receivers import are_methods_of_users, receiver_of
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


@dataclass(frozen=True)
class Sent:
    """An operation as a method of one of its operands."""

    receiver: Operand
    name: str
    given: tuple[Operand, ...] = ()
    keywords: tuple[tuple[str, Operand], ...] = ()
    above: type | None = None  # of ``super()``: the class behind whose the method is looked up
    before: tuple[Statement, ...] = ()  # what reads the receiver


def methods_asked(made: Reduced, operation: ir.Operation, node: gast.AST) -> list[Sent]:
    """The methods that an operation may be, those that Python tries first before the others."""
    match operation:
        case ir.Operator(symbol=symbol, operands=(left, right), in_place=in_place) if (symbol, 2) in SPECIAL:
            name = SPECIAL[symbol, 2]
            own = [Sent(left, f"__i{name[2:]}", (right,))] if in_place else []
            return [*own, Sent(left, name, (right,)), *_reflected(made, right, REFLECTED[name], left, node)]
        case ir.Operator(symbol="bool" | "not", operands=(operand,)):
            names = {*map(asks_for_truth, classes_among(made.value(made.known.get(operand, operand))))} - {None}
            return [Sent(operand, name) for name in names if name is not None and len(names) == 1]
        case ir.Operator(symbol=symbol, operands=(operand,)) if (symbol, 1) in SPECIAL:
            return [Sent(operand, SPECIAL[symbol, 1])]
        case ir.Compare(symbol=symbol, left=left, right=right) if symbol in COMPARED:
            name, other = COMPARED[symbol]
            return [Sent(left, name, (right,)), *_reflected(made, right, other, left, node)]
        case ir.Compare(symbol="in" | "not in", left=left, right=right):
            return [Sent(right, "__contains__", (left,))]
        case ir.GetItem(base=base, index=index):
            return [Sent(base, "__getitem__", (index,))]
        case ir.SetItem(base=base, index=index, value=value):
            return [Sent(base, "__setitem__", (index, value))]
        case ir.DeleteItem(base=base, index=index):
            return [Sent(base, "__delitem__", (index,))]
        case ir.DeleteAttribute(base=base, name=name):
            return [Sent(base, "__delattr__", (Literal(name),)), Sent(base, name)]
        case ir.GetAttribute(base=base, name=name):
            return [Sent(base, name)]
        case ir.SetAttribute(base=base, name=name, value=value):
            return [Sent(base, name, (value,))]
        case ir.Call(function=function, star=None, rest=None):
            return _sent_by_call(made, replace(operation, function=made.known.get(function, function)), node)
    return []


def _reflected(made: Reduced, receiver: Operand, name: str, given: Operand, node: gast.AST) -> list[Sent]:
    """The method of the right operand, which gets a number of NumPy's as one of Python's own, and no array."""
    value = made.value(made.known.get(given, given))
    receivers = classes_of(made.value(made.known.get(receiver, receiver))) or []
    kinds = {class_of(atom) or object for atom in value.atoms}
    own = {python_of(kind) if issubclass(kind, np.number) else kind for kind in kinds}
    if own == kinds and not any(map(is_data, value.atoms)) or len(receivers) != 1:
        return [Sent(receiver, name, (given,))] if own == kinds else []
    number = made.version("t", union(*(of(kind) for kind in own if kind is not object), Value(
        frozenset(atom for atom in value.atoms if is_data(atom))
    )))  # fmt: skip
    call = ir.Call(Literal(float), (given,))
    if own != {float}:
        function = Literal(Spelled(reference(of_runtime(runtime.handed)), runtime.handed))
        call = ir.Call(function, (given, Literal(receivers[0].__name__)))
    return [Sent(receiver, name, (number,), before=(Assign((number,), call, node),))]


def _sent_by_call(made: Reduced, call: ir.Call, node: gast.AST) -> list[Sent]:
    function, given, keywords = call.function, call.positional, call.keywords
    value = made.value(function)
    atoms, named = value.atoms, static_of(value)
    if named is copy.copy and len(given) == 1:
        return [Sent(given[0], "__copy__")]
    if (named is float or named is len) and len(given) == 1 and not keywords:
        return [Sent(given[0], "__float__" if named is float else "__len__")]
    if given and (name := method_of(named)) is not None:
        kinds = classes_of(made.value(made.known.get(given[0], given[0]))) or []
        if any(named is one for one in OF_FLOATS) and kinds and not any(hasattr(kind, name) for kind in kinds):
            name = "__float__"
        return [Sent(given[0], name, given[1:], keywords)]
    read = made.origins.get(function)
    while isinstance(read, ir.Copy):
        read = made.origins.get(read.source)
    if are_methods_of_users(value):
        base = made.origins.get(read.base) if isinstance(read, ir.GetAttribute) else None
        if isinstance(read, ir.GetAttribute) and isinstance(base, ir.Super):
            owner = _owner(made, base)
            return [] if owner is None else [Sent(base.first, read.name, given, keywords, owner)]
        found_ = receiver_of(made, call, node)
        return [] if found_ is None else [Sent(found_[0], found_[1], given, keywords, before=tuple(found_[2]))]
    if atoms - exact(None).atoms and all(isinstance(atom, At) for atom in atoms - exact(None).atoms):
        return [Sent(function, "__call__", given, keywords)]
    return []


def _owner(made: Reduced, operation: ir.Super) -> type | None:
    """The class that ``super()`` is behind."""
    sites = [None if operation.cell is None else each.cells.get(operation.cell) for each in made.frame.summaries]
    if None in sites:
        return None
    held = union(*(each.heap[site].get("cell") for each, site in zip(made.frame.summaries, sites, strict=True) if site))
    found_ = [atom.value for atom in held.atoms if isinstance(atom, Exact) and isinstance(atom.value, type)]
    return found_[0] if len(found_) == len(held.atoms) == 1 and not held.is_any else None


def classes_of(value: Value) -> list[type] | None:
    """The user's classes that a value is of, or None itself; None of others."""
    kinds: dict[type, None] = {}
    for atom in sorted(value.atoms - exact(None).atoms, key=str):
        kind = atom.site.kind if isinstance(atom, At) else None
        if kind is None or not is_user_class(kind):
            return None
        kinds[kind] = None
    return list(kinds) if kinds and not value.is_any else None


def user_class(atom: Any) -> type | None:
    """The class of the user's that an atom is of."""
    kind = atom.site.kind if isinstance(atom, At) else None
    return kind if kind is not None and is_user_class(kind) else None


def classes_among(value: Value) -> set[type]:
    """The classes of the user's that a value may be of."""
    return {kind for atom in value.atoms if (kind := user_class(atom)) is not None}
