"""What a loop runs over by places: how many items there are, and the item at a place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import gast

from srcgrad import runtime
from srcgrad.infer.data import is_data
from srcgrad.infer.objects import MAPPINGS, is_only_data
from srcgrad.infer.values import Array, At, Bound, Exact, Of, Value, is_unchanging
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.specialise.context import Context
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.operands import Made, named
from srcgrad.syntax.build import (
    call_builtin,
    call_runtime,
    load,
    method_call,
    subscript,
    tuple_of,
)

#: What a loop binds in each round: one value, or the parts of a tuple.
Item: TypeAlias = Made | list["Item"]


@dataclass(frozen=True)
class Series:
    """What a loop runs over by places: how many items, the item at a place, and how it is printed."""

    count: Callable[[], gast.expr]
    item: Callable[[gast.expr], Item]
    printed: gast.expr
    is_whole: bool = False  # its end is looked at before it begins, and so must be reached


def whole(context: Context, item: Item, at: gast.AST) -> str:
    """A name for an item."""
    if isinstance(item, list):
        atoms = tuple(load(whole(context, part, at), at) for part in item)
        item = tuple_of(atoms, at), nf.Pack("tuple", atoms)
    name = context.fresh()
    context.out.append(nf.Bind(name, *item, context.span))
    return name


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


def view_of(context: Context, node: Any) -> tuple[Any, str] | None:
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


def function_called(context: Context, node: Any) -> Any:
    """The function that an expression calls, where it is one."""
    made = getattr(node, "statement", None)
    if not isinstance(node, gast.Call) or made is None or not isinstance(made.operation, ir.Call):
        return None
    return static_of(context.reduced.value(made.operation.function))


def is_series(context: Context, node: Any) -> bool:
    """Whether an expression makes an iterator or a view of what has places."""
    is_made = function_called(context, node) in (enumerate, zip, reversed)
    return is_made or view_of(context, node) is not None or is_flat(context, node)


def is_flat(context: Context, node: Any) -> bool:
    return isinstance(node, gast.Attribute) and node.attr == "flat" and context.value(node.value).consists_of(
        lambda a: isinstance(a, Array | Of) or is_unchanging(a) or is_data(a)  # 0-d ones are numbers
    )


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


def is_text(value: Value) -> bool:
    """Whether a value is text."""
    return value.consists_of(_is_of_text)


def may_be_text(value: Value) -> bool:
    """Whether a value may be text, as far as something is said of it."""
    return any(map(_is_of_text, value.atoms))


def _is_of_text(atom: Any) -> bool:
    match atom:
        case Exact(value=str() | bytes()):
            return True
        case Of(kind=kind):
            return kind in (str, bytes)
    return False
