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
from dataclasses import dataclass
from enum import EnumType
from typing import Any, TypeAlias

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.infer.data import is_data
from srcgrad.infer.heap import sites_of
from srcgrad.infer.objects import MAPPINGS, is_only_data
from srcgrad.infer.values import Array, At, Bound, Exact, Of, Value, is_unchanging
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.language.effects import resizing
from srcgrad.rules.formula import object_of
from srcgrad.specialise.context import Context
from srcgrad.specialise.expressions import Made, named, settled
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.resized import resizes_data
from srcgrad.specialise.set_operations import are_sets, may_be_set
from srcgrad.syntax.build import (
    binary,
    call,
    call_builtin,
    call_runtime,
    constant,
    load,
    method_call,
    subscript,
    tuple_of,
)
from srcgrad.syntax.parse import clone, walk

#: What a loop binds in each round: one value, or the parts of a tuple.
Item: TypeAlias = Made | list["Item"]


@dataclass(frozen=True)
class Series:
    """What a loop runs over by places: how many items, the item at a place, and how it is printed."""

    count: Callable[[], gast.expr]
    item: Callable[[gast.expr], Item]
    printed: gast.expr
    is_whole: bool = False  # its end is looked at before it begins, and so must be reached


def for_(context: Context, statement: gast.For) -> None:
    target, source = statement.target, statement.iter
    taken = _bound(*statement.body)
    counted = _numbers(context, source) or _backwards(context, source)
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
    if not is_unordered(context, context.value(source)):
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
    from srcgrad.specialise.writing import written  # whose statements are loops in turn

    return written(context, statement.body, start)


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
        from srcgrad.specialise.writing import assignment

        assignment(context, [target], load(whole(context, item, target), target))


def _held(context: Context, item: Item) -> Item:
    if isinstance(item, list):
        return [_held(context, part) for part in item]
    name = whole(context, item, item[0])
    return load(name, item[0]), nf.Copy(name)


def whole(context: Context, item: Item, at: gast.AST) -> str:
    """A name for an item."""
    if isinstance(item, list):
        atoms = tuple(load(whole(context, part, at), at) for part in item)
        item = tuple_of(atoms, at), nf.Pack("tuple", atoms)
    name = context.fresh()
    context.out.append(nf.Bind(name, *item, context.span))
    return name


def _own_index(context: Context, target: Any, source: Any, taken: set[str]) -> str | None:
    """The user's own index, where there is one: ``for j, v in enumerate(x)``."""
    is_counted = function_called(context, source) is enumerate and len(source.args) == 1 and not source.keywords
    if is_counted and isinstance(target, gast.Tuple) and len(target.elts) == 2:
        first, second = target.elts
        if isinstance(first, gast.Name) and first.id not in taken | context.parameters | _bound(second):
            return str(first.id)
    return None


# --- what is run over ------------------------------------------------------------------------------------------------
def series_of(context: Context, node: Any, taken: set[str]) -> Series | None:
    """What an expression runs over, evaluated; None of what has no places.  ``taken`` names are bound in the loop."""
    from srcgrad.specialise import elements  # whose arrays are held as those of other loops

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
    if (numbers := _numbers(context, node)) is not None:
        return _range(context, node, numbers, taken)
    if function in (np.ndindex, np.ndenumerate) and node.args and not node.keywords:
        return elements.indices(context, node, taken)
    view = _view(context, node)
    if view is not None:
        return entries_of(context, *view, node, taken)
    if _is_flat(context, node):
        return elements.flat(context, node, taken)
    value = context.value(node)
    if any(map(is_data, value.atoms)):  # a number or None beside it raises the same: it has no length
        value = Value(frozenset(atom for atom in value.atoms if not is_unchanging(atom)), value.is_any)
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


def entries_of(context: Context, mapping: Any, view: str, node: Any, taken: set[str]) -> Series:
    """The keys, values or items of a dict."""
    name, keys = kept(context, mapping, taken), context.fresh("keys")
    listed = call_builtin("list", [method_call(load(name, node), "keys", [], node)], node)
    context.out.append(nf.Bind(keys, listed, nf.Fixed(), context.span))
    marked = call_runtime(runtime.followed, [load(name, node), load(keys, node)], node)  # that they must not change
    context.out.append(nf.Bind(context.fresh("walk"), marked, nf.Fixed(), context.span))

    def item(place: gast.expr) -> Item:
        key = subscript(load(keys, node), place, node)
        entry = subscript(load(name, node), key, node)
        parts: list[Item] = [(key, nf.Index(keys, place)), (entry, nf.Index(name, key))]
        return parts if view == "items" else parts[view == "values"]

    printed = load(keys, node) if view == "keys" else method_call(load(name, node), view, [], node)
    return Series(lambda: call_builtin("len", [load(keys, node)], node), item, printed)


def _view(context: Context, node: Any) -> tuple[Any, str] | None:
    """The dict and the name of the view of it that an expression is."""
    made = getattr(node, "statement", None)
    if not isinstance(node, gast.Call) or made is None or not isinstance(made.operation, ir.Call) or node.args:
        return None
    function, data = context.reduced.value(made.operation.function), context.facts.data is not None
    methods = [atom for atom in function.atoms if not (data and is_only_data(atom))]
    names = {atom.name for atom in methods if isinstance(atom, Bound) and are(atom.receiver, MAPPINGS, data=data)}
    is_view = len(names) == 1 and names <= {"keys", "values", "items"} and not function.is_any and all(
        isinstance(atom, Bound) and are(atom.receiver, MAPPINGS, data=data) for atom in methods
    )  # fmt: skip
    return (node.func.value, *names) if is_view and isinstance(node.func, gast.Attribute) else None


def _numbers(context: Context, node: Any) -> list[Any] | None:
    """The arguments of a ``range``."""
    is_range = function_called(context, node) is range and not node.keywords and 1 <= len(node.args) <= 3
    return list(node.args) if is_range else None


def _backwards(context: Context, node: Any) -> list[Any] | None:
    """``reversed(range(n))`` as the range that counts down; None where that takes more than a subtraction."""
    is_reversed = function_called(context, node) is reversed and len(node.args) == 1
    inner = _numbers(context, node.args[0]) if is_reversed else None
    if inner is None or len(inner) == 3:
        return None
    one = constant(1, node)
    stop = constant(-1, node) if len(inner) == 1 else binary(inner[0], gast.Sub(), one, node)
    return [binary(inner[-1], gast.Sub(), one, node), stop, constant(-1, node)]


def function_called(context: Context, node: Any) -> Any:
    """The function that an expression calls, where it is one."""
    made = getattr(node, "statement", None)
    if not isinstance(node, gast.Call) or made is None or not isinstance(made.operation, ir.Call):
        return None
    return static_of(context.reduced.value(made.operation.function))


def is_series(context: Context, node: Any) -> bool:
    """Whether an expression makes an iterator or a view of what has places."""
    is_made = function_called(context, node) in (enumerate, zip, reversed)
    return is_made or _view(context, node) is not None or _is_flat(context, node)


def _is_flat(context: Context, node: Any) -> bool:
    return isinstance(node, gast.Attribute) and node.attr == "flat" and context.value(node.value).consists_of(
        lambda a: isinstance(a, Array | Of) or is_unchanging(a) or is_data(a)  # 0-d ones are numbers
    )


# --- names and values ------------------------------------------------------------------------------------------------
def _still(context: Context, node: Any, taken: set[str]) -> gast.expr:
    """A number as it is before the loop, whose body may bind the name that it is read of."""
    node = settled(context, node)
    if isinstance(node, gast.Constant) or context.is_local(node) and node.id not in taken:
        return node
    name = context.fresh()
    context.out.append(nf.Bind(name, node, nf.Fixed(), context.span))
    return load(name, node)


def kept(context: Context, node: Any, taken: set[str]) -> str:
    """The name of what a loop runs over, under which its body, which reads the items, binds nothing else."""
    name = named(context, node)
    if name not in taken:
        return name
    held = context.fresh()
    context.out.append(nf.Bind(held, load(name, node), nf.Copy(name), context.span))
    return held


def are(value: Value, kinds: tuple[Any, ...], *, arrays: bool = False, data: bool = False) -> bool:
    """Whether a value is an object of one of these classes, or an array, or data (of which a check that stands
    before the loop makes sure that it has places), whatever it is."""

    def is_one(atom: Any) -> bool:
        if isinstance(atom, Array):
            return arrays
        return isinstance(atom, At) and (atom.site.kind in kinds or data and atom.site.kind is None)

    return value.consists_of(is_one)


def is_unordered(context: Context, value: Value) -> bool:
    """Whether a value is text."""
    def is_one(one: Any) -> bool:
        match one:
            case Exact(value=str() | bytes()):
                return True
            case Of(kind=kind):
                return kind in (str, bytes)
        return False

    return value.consists_of(is_one)


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
