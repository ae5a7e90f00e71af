"""Loops over the elements of arrays, ``np.ndindex``, ``np.ndenumerate`` and ``x.flat``, and of enumerations.

::

    for v in x.flat:       places = all_places(x.shape)
                           for i in range(len(places)): j = places[i];  v = x[j]
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.ir import normal_form as nf
from srcgrad.specialise.context import Context
from srcgrad.specialise.operands import settled
from srcgrad.specialise.series import Item, Series, function_called, kept
from srcgrad.syntax.build import call_builtin, call_runtime, load, placed, subscript
from srcgrad.syntax.parse import clone


def indices(context: Context, node: gast.Call, taken: set[str]) -> Series:
    """The indices of the elements of an array, and the elements as they are by then."""
    if any(isinstance(argument, gast.Starred) for argument in node.args):
        context.refuse("E0206", node, "a call with stars")
    array = kept(context, node.args[0], taken) if function_called(context, node) is np.ndenumerate else None
    given = [settled(context, size) for size in node.args] if array is None else [load(array, node)]
    printed = gast.Call(settled(context, node.func), [clone(each) for each in given], [])
    sizes = given if array is None else [placed(gast.Attribute(given[0], "shape", gast.Load()), node)]
    name = context.fresh()
    context.out.append(nf.Bind(name, call_runtime(runtime.all_places, sizes, node), nf.Fixed(), context.span))

    def item(place: gast.expr) -> Item:
        read = subscript(load(name, node), place, node)
        if array is None:
            return read, nf.Fixed()
        index = context.fresh()
        context.out.append(nf.Bind(index, read, nf.Fixed(), context.span))
        element = subscript(load(array, node), load(index, node), node)
        return [(load(index, node), nf.Fixed()), (element, nf.Index(array, element.slice))]

    return Series(lambda: call_builtin("len", [load(name, node)], node), item, placed(printed, node))


def flat(context: Context, node: gast.Attribute, taken: set[str]) -> Series:
    """``x.flat``: the elements of an array, as they are by then."""
    array, places = kept(context, node.value, taken), context.fresh("places")
    shape = placed(gast.Attribute(load(array, node), "shape", gast.Load()), node)
    context.out.append(nf.Bind(places, call_runtime(runtime.all_places, [shape], node), nf.Fixed(), context.span))

    def item(place: gast.expr) -> Item:
        index = context.fresh()
        context.out.append(nf.Bind(index, subscript(load(places, node), place, node), nf.Fixed(), context.span))
        element = subscript(load(array, node), load(index, node), node)
        return element, nf.Index(array, element.slice)

    printed = placed(gast.Attribute(load(array, node), "flat", gast.Load()), node)
    return Series(lambda: call_builtin("len", [load(places, node)], node), item, printed)


def members(context: Context, node: Any) -> Series:
    """The members of an enumeration, which have no derivative."""
    name = context.fresh("members")
    listed = call_builtin("tuple", [settled(context, node)], node)
    context.out.append(nf.Bind(name, listed, nf.Fixed(), context.span))

    def item(place: gast.expr) -> Item:
        return subscript(load(name, node), place, node), nf.Fixed()

    return Series(lambda: call_builtin("len", [load(name, node)], node), item, load(name, node))
