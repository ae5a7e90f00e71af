"""``zip``: of several sources, and of rows of which it is not known how many there are.

::

    for a, b in zip(x, y):      for i in range(min(len(x), len(y))): a = x[i];  b = y[i]
    for c in zip(*rows):        t = [];  for j in range(len(rows)): t.append(rows[j])
                                for i in range(shortest(t)): c = tuple([r[i] for r in t])

The rows are those that there are when ``zip`` is called, their elements are read as the loop goes.
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.ir import normal_form as nf
from srcgrad.specialise.collecting import put_each
from srcgrad.specialise.containers import applied, displayed
from srcgrad.specialise.context import Context
from srcgrad.specialise.iterables import series_of
from srcgrad.specialise.operands import settled
from srcgrad.specialise.series import Item, Series, is_text
from srcgrad.syntax.build import call, call_builtin, call_runtime, constant, load, placed, subscript
from srcgrad.syntax.globals import builtin, reference


def zipped(context: Context, node: gast.Call, taken: set[str]) -> Series | None:
    if any(isinstance(argument, gast.Starred) for argument in node.args):
        return _columns(context, node)
    strict = [keyword.value for keyword in node.keywords]
    if not all(isinstance(each, gast.Constant) for each in strict):
        return None
    is_strict, found = any(each.value for each in strict), list[Series]()
    for argument in node.args:
        one = series_of(context, argument, taken) or letters(context, argument)
        if one is None:
            return None
        found.append(one)

    def count() -> gast.expr:
        counts = [one.count() for one in found] or [constant(0, node)]
        if len(counts) == 1:
            return counts[0]
        name, least = context.fresh(), call_builtin("min", counts, node)
        if is_strict:  # raises what Python raises, before the first item in place of behind the last one
            places = call_builtin("zip", [call_builtin("range", [each], node) for each in counts], node)
            places.keywords = [gast.keyword("strict", constant(True, node))]
            least = call_builtin("len", [call_builtin("list", [places], node)], node)
        context.out.append(nf.Bind(name, least, nf.Fixed(), context.span))
        return load(name, node)

    printed = call(settled(context, node.func), [one.printed for one in found], node)
    printed.keywords = [gast.keyword("strict", constant(True, node))] if is_strict else []
    is_whole = is_strict and len(found) > 1 or any(one.is_whole for one in found)
    return Series(count, lambda place: [one.item(place) for one in found], printed, is_whole)


def letters(context: Context, node: gast.expr) -> Series | None:
    """A text, whose letters have places as well."""
    if not is_text(context.value(node)):
        return None
    text = settled(context, node)
    name = context.fresh()
    context.out.append(nf.Bind(name, text, nf.Fixed(), context.span))
    count = call_builtin("len", [load(name, node)], node)
    return Series(lambda: count, lambda place: (subscript(load(name, node), place, node), nf.Fixed()), text)


def _columns(context: Context, node: gast.Call) -> Series:
    made, _ = displayed(context, placed(gast.List(node.args, gast.Load()), node))
    assert isinstance(made, gast.Name)
    rows = made.id
    count = context.fresh()
    shortest = call_runtime(runtime.shortest, [load(rows, node)], node)
    context.out.append(nf.Bind(count, shortest, nf.Fixed(), context.span))

    def item(place: gast.expr) -> Item:
        column = context.fresh()
        empty = placed(gast.List([], gast.Load()), node)
        context.out.append(nf.Bind(column, empty, nf.Pack("list", ()), context.span))

        def put(row: gast.expr) -> None:
            assert isinstance(row, gast.Name)
            element, read = context.fresh(), subscript(row, place, node)
            context.out.append(nf.Bind(element, read, nf.Index(row.id, read.slice), context.span))
            context.out.append(nf.Append(column, load(element, node), context.span))

        put_each(context, rows, put, node)
        return applied(context, tuple, [load(column, node)], node, reference(builtin("tuple")))

    printed = placed(gast.Starred(load(rows, node), gast.Load()), node)
    return Series(lambda: load(count, node), item, call(settled(context, node.func), [printed], node))
