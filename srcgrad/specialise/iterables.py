"""What a loop over an expression runs over, as a ``Series``: the items of containers and arrays, numbers, pairs, rows
and the keys of dicts."""

from __future__ import annotations

from collections import deque
from enum import EnumType
from typing import Any

import gast
import numpy as np

from srcgrad.infer.data import is_data
from srcgrad.infer.objects import MAPPINGS
from srcgrad.infer.values import Exact, Value, is_unchanging
from srcgrad.ir import normal_form as nf
from srcgrad.rules.formula import object_of
from srcgrad.specialise import elements
from srcgrad.specialise.context import Context
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.operands import settled
from srcgrad.specialise.series import Item, Series, are, entries_of, function_called, is_flat, kept, view_of
from srcgrad.specialise.set_operations import are_sets, may_be_set
from srcgrad.syntax.build import (
    binary,
    call,
    call_builtin,
    constant,
    load,
    subscript,
)


def series_of(context: Context, node: Any, taken: set[str]) -> Series | None:
    """What an expression runs over, evaluated; None of what has no places.  ``taken`` names are bound in the loop."""
    function = function_called(context, node)
    if function is enumerate and 1 <= len(node.args) <= 2 and not node.keywords:
        return _counted(context, node, node.args[1:], taken)
    if function is enumerate and len(node.args) == 1 and [k.arg for k in node.keywords] == ["start"]:
        return _counted(context, node, [node.keywords[0].value], taken)
    if function is zip:
        from srcgrad.specialise.zipped import zipped  # of which each argument is run over in turn

        return zipped(context, node, taken)
    if function is reversed and function_called(context, node.args[0]) not in (zip, enumerate) and not (
        may_be_set(context.value(node.args[0]))
    ):  # fmt: skip
        inner = series_of(context, node.args[0], taken)
        return None if inner is None else _reversed(inner, node)
    if (numbers := range_arguments(context, node)) is not None:
        return _range(context, node, numbers, taken)
    if function in (np.ndindex, np.ndenumerate) and node.args and not node.keywords:
        return elements.indices(context, node, taken)
    view = view_of(context, node)
    if view is not None:
        return entries_of(context, *view, node, taken)
    if is_flat(context, node):
        return elements.flat(context, node, taken)
    value = context.value(node)
    is_by_data = any(map(is_data, value.atoms))  # None, and a number beside data, have no length and raise the same
    beside = frozenset(atom for atom in value.atoms if atom == Exact(None) or is_by_data and is_unchanging(atom))
    value = Value(value.atoms - beside, value.is_any)
    if are(value, MAPPINGS):
        return entries_of(context, node, "keys", node, taken)
    if EnumType in (type(static_of(value)), type(object_of(node))):
        return elements.members(context, node)
    if are_sets(value):
        from srcgrad.specialise.sets import gone_over  # whose items may be those of a loop in turn

        name = gone_over(context, node)
    elif are(value, (list, tuple, deque, range), arrays=True, data=True):
        name = kept(context, node, taken)
    else:
        return None
    reads_numbers = are(value, (range,))

    def item(place: gast.expr) -> Item:
        read = subscript(load(name, node), place, node)
        return read, nf.Fixed() if reads_numbers else nf.Index(name, read.slice)

    return Series(lambda: call_builtin("len", [load(name, node)], node), item, load(name, node))


def _counted(context: Context, node: gast.Call, starts: list[Any], taken: set[str]) -> Series | None:
    from srcgrad.specialise.zipped import letters  # which are a series of their own

    inner = series_of(context, node.args[0], taken) or letters(context, node.args[0])
    if inner is None:
        return None
    start = [_still(context, first, taken) for first in starts]

    def item(place: gast.expr) -> Item:
        number = binary(start[0], gast.Add(), place, node) if start else place
        return [(number, nf.Fixed()), inner.item(place)]

    printed = call(settled(context, node.func), [inner.printed, *start], node)
    return Series(inner.count, item, printed, inner.is_whole)


def _reversed(inner: Series, node: gast.Call) -> Series:
    def item(place: gast.expr) -> Item:
        last = binary(inner.count(), gast.Sub(), constant(1, node), node)
        return inner.item(binary(last, gast.Sub(), place, node))

    return Series(inner.count, item, call_builtin("reversed", [inner.printed], node))


def _range(context: Context, node: Any, numbers: list[Any], taken: set[str]) -> Series:
    given = [_still(context, number, taken) for number in numbers]
    printed = call_builtin("range", given, node)

    def item(place: gast.expr) -> Item:
        moved = place if len(given) < 3 else binary(place, gast.Mult(), given[2], node)
        return moved if len(given) == 1 else binary(given[0], gast.Add(), moved, node), nf.Fixed()

    return Series(lambda: call_builtin("len", [call_builtin("range", given, node)], node), item, printed)


def range_arguments(context: Context, node: Any) -> list[Any] | None:
    """The arguments of a ``range``."""
    is_range = function_called(context, node) is range and not node.keywords and 1 <= len(node.args) <= 3
    return list(node.args) if is_range else None


def _still(context: Context, node: Any, taken: set[str]) -> gast.expr:
    """A number as it is before the loop, whose body may bind the name that it is read of."""
    node = settled(context, node)
    if isinstance(node, gast.Constant) or context.is_local(node) and node.id not in taken:
        return node
    name = context.fresh()
    context.out.append(nf.Bind(name, node, nf.Fixed(), context.span))
    return load(name, node)
