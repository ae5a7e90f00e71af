"""Loops: over what has places by counting them, over what has none as they are.

Enters: ``for`` over an expression whose values say what it runs over.  Leaves: ``For`` over a ``range`` with the items
bound at the head of its body, and the heading as the user wrote it::

    for j, (v, w) in enumerate(zip(x, y)):     for j in range(min(len(x), len(y))):
        s = s + v * w                              v = x[j];  w = y[j]
                                                   s = s + v * w

Text has no places.  Its items carry no derivative, and are recorded where they are read again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import gast

from srcgrad.infer.data import is_data
from srcgrad.infer.heap import sites_of
from srcgrad.infer.values import At, Bound, Value, is_unchanging
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.language.effects import resizing
from srcgrad.specialise.context import Context
from srcgrad.specialise.iterables import range_arguments, series_of
from srcgrad.specialise.operands import settled
from srcgrad.specialise.resized import resizes_data
from srcgrad.specialise.series import Item, Series, function_called, is_text, whole
from srcgrad.syntax.build import (
    binary,
    call_builtin,
    constant,
    load,
)
from srcgrad.syntax.parse import clone, walk


def for_(context: Context, statement: gast.For) -> None:
    target, source = statement.target, statement.iter
    taken = _bound(*statement.body)
    counted = range_arguments(context, source) or _backwards(context, source)
    if counted is not None and isinstance(target, gast.Name) and target.id not in taken | context.parameters:
        span = context.span
        heading = None if function_called(context, source) is range else (target, clone(settled(context, source)))
        arguments = [settled(context, argument) for argument in counted]
        iterable = call_builtin("range", arguments, source)
        body = _body(context, statement, lambda: None)
        context.out.append(nf.For(target.id, iterable, body, span, heading=heading))
        return
    _refuse_resized(context, statement)
    series = series_of(context, source, taken | _bound(target))
    if series is None:
        _uncounted(context, statement)
        return
    if series.is_whole and any(isinstance(node, gast.Break | gast.Return) for node in walk(*statement.body)):
        context.refuse("E0401", source, "a strict zip in a loop that may be left before its end")
    _indexed(context, statement, series, _own_index(context, target, source, taken))


def _indexed(context: Context, statement: gast.For, series: Series, own: str | None) -> None:
    span, target = context.span, statement.target
    index = own or context.fresh("i")
    count = series.count()
    elements = 0

    def start() -> None:
        nonlocal elements
        item = series.item(load(index, statement))
        if own is not None:
            assert isinstance(item, list)
            _bind(context, target.elts[1], item[1])
        else:
            _bind(context, target, item)
        elements = len(context.out)

    body = _body(context, statement, start)
    heading = None if _stores(target) else (target, series.printed)
    iterable = call_builtin("range", [count], statement)
    context.out.append(nf.For(index, iterable, body, span, True, heading, elements if heading else 0, indexed=True))


def _uncounted(context: Context, statement: gast.For) -> None:
    """A loop over what has no places."""
    span, source, target = context.span, statement.iter, statement.target
    if not is_text(context.value(source)):
        context.refuse("E0401", source, "this loop, over what is no container or array for sure,")
    iterable = settled(context, source)
    is_name = isinstance(target, gast.Name)
    index = target.id if is_name else context.fresh("item")
    heading = None if is_name or _stores(target) else (target, iterable)
    elements = 0

    def start() -> None:
        nonlocal elements
        if not is_name:
            _bind(context, target, (load(index, source), nf.Copy(index)))
            elements = len(context.out)

    body = _body(context, statement, start)
    context.out.append(nf.For(index, iterable, body, span, False, heading, elements if heading else 0))


def _body(context: Context, statement: gast.For, start: Callable[[], None]) -> nf.Block:
    return context.nested.block(context, statement.body, start)


def _bind(context: Context, target: Any, item: Item) -> None:
    """Bind what a loop binds in a round: parts to parts, where both sides show them."""
    if _stores(target):
        item = _held(context, item)  # all of it is read before anything is stored
    parts = target.elts if isinstance(target, gast.Tuple | gast.List) else []
    if isinstance(item, list) and len(parts) == len(item) and not any(isinstance(p, gast.Starred) for p in parts):
        for part, inner in zip(parts, item, strict=True):
            _bind(context, part, inner)
    elif isinstance(target, gast.Name) and isinstance(item, tuple):
        context.out.append(nf.Bind(target.id, *item, context.span))
    else:
        context.nested.assignment(context, [target], load(whole(context, item, target), target))


def _held(context: Context, item: Item) -> Item:
    if isinstance(item, list):
        return [_held(context, part) for part in item]
    name = whole(context, item, item[0])
    return load(name, item[0]), nf.Copy(name)


def _own_index(context: Context, target: Any, source: Any, taken: set[str]) -> str | None:
    """The user's own index, where there is one: ``for j, v in enumerate(x)``."""
    is_counted = function_called(context, source) is enumerate and len(source.args) == 1 and not source.keywords
    if is_counted and isinstance(target, gast.Tuple) and len(target.elts) == 2:
        first, second = target.elts
        if isinstance(first, gast.Name) and first.id not in taken | context.parameters | _bound(second):
            return str(first.id)
    return None


def _backwards(context: Context, node: Any) -> list[Any] | None:
    """``reversed(range(n))`` as the range that counts down; None where that takes more than a subtraction."""
    is_reversed = function_called(context, node) is reversed and len(node.args) == 1
    inner = range_arguments(context, node.args[0]) if is_reversed else None
    if inner is None or len(inner) == 3:
        return None
    one = constant(1, node)
    stop = constant(-1, node) if len(inner) == 1 else binary(inner[0], gast.Sub(), one, node)
    return [binary(inner[-1], gast.Sub(), one, node), stop, constant(-1, node)]


def _bound(*nodes: gast.AST) -> set[str]:
    return {node.id for node in walk(*nodes) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)}


def _stores(target: gast.AST) -> bool:
    """Whether assigning to a target does more than to bind names."""
    return any(isinstance(node, gast.Subscript | gast.Attribute) for node in walk(target))


def _refuse_resized(context: Context, statement: gast.For) -> None:
    """A list or deque that changes its length while it is looped over: how often the body runs is not known before.
    What changes dicts and sets is looked at when the program runs."""
    atoms = [a for value in _gone_over(context, statement.iter) for a in value.atoms]
    looped = {one.site for one in atoms if isinstance(one, At) and one.site.kind in (list, deque)}
    of_data = any(map(is_data, atoms))
    if not looped and not of_data:
        return
    for node in walk(*statement.body):
        made = getattr(node, "statement", None)
        if of_data and made is not None and resizes_data(made, context.reduced.value, context.reduced.calls):
            context.refuse("E0402", node, "a loop over a container that changes its length")
        if any(looped & set(sites_of(context.value(base))) for base in _resized(node)):
            context.refuse("E0402", node, "a loop over a container that changes its length")
        for summary in [] if made is None else context.reduced.calls.get(made, ()):
            after = None if summary.returned is None else summary.returned[1]
            if after is not None and any(after[site] != summary.heap[site] for site in looped):
                context.refuse("E0402", node, "a loop over a container that a call changes")
        if made is not None and isinstance(made.operation, ir.Call):
            for one in context.reduced.value(made.operation.function).atoms:
                if isinstance(one, Bound) and one.name in resizing() and looped & set(sites_of(one.receiver)):
                    context.refuse("E0402", node, "a loop over a container that changes its length")


def _gone_over(context: Context, node: Any) -> list[Value]:
    """What a loop over an expression goes over: of stars, each of the rows; of a list made for it, that alone; of a
    range, nothing that it was made of."""
    found = [context.value(node)]
    if found[0].consists_of(lambda a: is_unchanging(a) or isinstance(a, At) and a.site.kind is range):
        return []
    if isinstance(node, gast.Starred):
        held = [context.facts.contents.get(site) for site in sites_of(context.value(node.value))]
        found += [contents.items for contents in held if contents is not None]
    is_copy = function_called(context, node) in (list, tuple, sorted)
    parts = [] if is_copy else gast.iter_child_nodes(node)
    return [*found, *(value for part in parts for value in _gone_over(context, part))]


def _resized(node: gast.AST) -> list[gast.AST]:
    """What a statement may give another length: by ``del``, ``+=`` or a store into a slice."""
    match node:
        case gast.Delete(targets=targets) | gast.Assign(targets=targets):
            is_deleted = isinstance(node, gast.Delete)
            parts = [part for part in walk(*targets) if isinstance(part, gast.Subscript)]
            return [part.value for part in parts if is_deleted or isinstance(part.slice, gast.Slice)]
        case gast.AugAssign(target=gast.Name() as target):
            return [target]
        case gast.AugAssign(target=gast.Subscript(value=base, slice=gast.Slice())):
            return [base]
    return []
