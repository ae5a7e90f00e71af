"""Lists and dicts that are made of what an expression runs over: loops that do the same with each item.

::

    list(zip(x, y))      t = [];  for i in range(min(len(x), len(y))): v = x[i];  w = y[i];  t.append((v, w))
    d.update(e)          keys = list(e.keys());  for i in range(len(keys)): k = keys[i];  v = e[k];  d[k] = v
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcgrad.ir import normal_form as nf
from srcgrad.specialise.context import Context
from srcgrad.specialise.iterables import series_of
from srcgrad.specialise.series import Item, Series, entries_of, whole
from srcgrad.specialise.set_operations import are_sets
from srcgrad.syntax.build import call_builtin, load, placed, subscript


def collected(context: Context, node: Any, into: str | None = None) -> str | None:
    """The name of a new list of what an expression runs over, or of one that was made before, to which it is appended;
    None of what has no places, and of sets that are to be appended."""
    if are_sets(context.value(node)):
        if into is not None:
            return None
        from srcgrad.specialise.sets import listed  # which are made of what is collected

        return listed(context, node)
    series = series_of(context, node, set())
    if series is None:
        return None
    made = context.fresh() if into is None else into
    if into is None:
        context.out.append(nf.Bind(made, placed(gast.List([], gast.Load()), node), nf.Pack("list", ()), context.span))

    def put(item: Item) -> None:
        context.out.append(nf.Append(made, load(whole(context, item, node), node), context.span))

    _each(context, series, put, node)
    return made


def put_each(context: Context, items: str, put: Callable[[gast.expr], None], node: gast.AST) -> None:
    """Do something with each item of a list."""
    def item(place: gast.expr) -> Item:
        read = subscript(load(items, node), place, node)
        return read, nf.Index(items, read.slice)

    series = Series(lambda: call_builtin("len", [load(items, node)], node), item, load(items, node))
    _each(context, series, lambda one: put(load(whole(context, one, node), node)), node)


def merge(context: Context, base: str, node: Any) -> None:
    """Store the entries of a dict into another one."""
    def put(item: Item) -> None:
        assert isinstance(item, list)
        key, value = (load(whole(context, part, node), node) for part in item)
        context.out.append(nf.Store(base, key, value, context.span))

    _each(context, entries_of(context, node, "items", node, set()), put, node)


def _each(context: Context, series: Series, put: Callable[[Item], None], node: gast.AST) -> None:
    """A loop that does the same with each item."""
    index, count = context.fresh("i"), series.count()
    outer, context.out = context.out, []
    put(series.item(load(index, node)))
    body, context.out = nf.Block(tuple(context.out)), outer
    iterable = call_builtin("range", [count], node)
    context.out.append(nf.For(index, iterable, body, context.span, indexed=True))
