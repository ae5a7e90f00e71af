"""Methods and constructors of lists, tuples, deques and dicts: what they put in, take out and read.

Enters: a call whose values say what its receiver or function is.  Leaves: ``Append``, ``Exchange``, ``Delete``,
``Store`` or ``If`` on a name that holds the container, and what the call gives::

    d.rows.append(x * 2)      t = x * 2;  t2 = d.rows;  t2.append(t)
    v = d.get(k, y)           if k in d: v = d[k]  else: v = y
    list(zip(x, y))           t = [];  for v, w in zip(x, y): t.append((v, w))
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.infer.data import is_data
from srcgrad.infer.objects import MAPPINGS
from srcgrad.infer.values import At, Bound, Value
from srcgrad.ir import normal_form as nf
from srcgrad.rules.table import lookup
from srcgrad.specialise.collecting import collected, merge, put_each
from srcgrad.specialise.context import Context
from srcgrad.specialise.operands import Made, atom, named, settled
from srcgrad.specialise.series import are, is_series, is_text
from srcgrad.syntax.build import (
    call,
    call_builtin,
    call_runtime,
    compare,
    constant,
    load,
    method_call,
    placed,
    subscript,
)
from srcgrad.syntax.globals import builtin, importable, reference

#: Methods that ``Exchange`` stands for: by how many arguments they take, and which of these is put in.
_EXCHANGED: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "insert": ((2,), (1,)), "pop": ((0, 1), ()), "reverse": ((0,), ()), "clear": ((0,), ()), "appendleft": ((1,), (0,)),
    "popleft": ((0,), ()), "rotate": ((0, 1), ()),
}  # fmt: skip
_WRITTEN = ("append", "extend", "extendleft", "remove", "sort")
#: Methods of lists and deques alone, and of dicts alone.
_OF_LISTS = ("append", "extend", "appendleft", "extendleft", "popleft", "rotate", "insert", "reverse", "count", "index")
_OF_DICTS = ("get", "setdefault", "popitem")
#: What only reads a container, and gives numbers.
_COUNTING = ("count", "index")


def method(context: Context, node: gast.Call, bound: Bound) -> Made | None:
    """A method of a container; None of anything else."""
    known: tuple[tuple[Any, ...], ...] = ((list,), (deque,), MAPPINGS, (tuple,))
    kinds = next((kinds for kinds in known if are(bound.receiver, kinds)), None)
    if kinds is None:
        kinds = _of_data(context, bound, len(node.args))
    if kinds is None or not isinstance(node.func, gast.Attribute):
        return None
    name, count = bound.name, len(node.args)
    if node.keywords and name != "update":
        context.refuse("E0405", node, f"the method {name!r}")
    if kinds is MAPPINGS:
        return _of_dict(context, node, name, bound.receiver)
    if name in _COUNTING:
        return settled(context, node), nf.Fixed()
    if name == "copy" and kinds == (list,) and not count:
        return _listed(context, node.func.value)
    if name == "copy" and kinds == (deque,) and not count:
        held = atom(context, node.func.value)
        bound_ = placed(gast.Attribute(held, "maxlen", gast.Load()), node)
        items = collected(context, held)
        assert items is not None
        return applied(context, deque, [load(items, node), bound_], node, reference(importable("deque", deque)))
    if kinds == (tuple,) or name not in _WRITTEN and count not in _EXCHANGED.get(name, ((), ()))[0]:
        context.refuse("E0405", node, f"the method {name!r}")
    base = named(context, node.func.value)
    match name:
        case "append":
            context.out.append(nf.Append(base, atom(context, node.args[0]), context.span))
        case "remove":
            where = fixed(context, method_call(load(base, node), "index", [atom(context, node.args[0])], node))
            context.out.append(nf.Delete(base, where, context.span))
        case "sort" if not count:
            return exchanged(context, base, "sort", [], (), node)
        case "extend" | "extendleft":
            extend(context, base, name, node.args[0])
        case _ if name in _EXCHANGED:
            held = _EXCHANGED[name][1]
            given = [atom(context, a) if p in held else still(context, a) for p, a in enumerate(node.args)]
            return exchanged(context, base, name, given, held, node)
        case _:
            context.refuse("E0405", node, f"the method {name!r}")
    return constant(None, node), nf.Fixed()


def _of_data(context: Context, bound: Bound, count: int) -> tuple[Any, ...] | None:
    """The classes that have a method of what may be data: no array has a method of these names."""
    is_pop = bound.name == "pop" and count < 2  # of lists as of dicts, by a key
    kinds = (list, deque) if is_pop or bound.name in _OF_LISTS else MAPPINGS if bound.name in _OF_DICTS else None
    if kinds is None or context.facts.data is None:
        return None
    held = (*kinds, *MAPPINGS) if is_pop else kinds
    return kinds if are(bound.receiver, held, arrays=True, data=True) else None


def exchanged(
    context: Context, base: str, name: str, given: list[gast.expr], held: tuple[int, ...], node: gast.AST
) -> Made:
    expression = method_call(load(base, node), name, list(given), node)
    return expression, nf.Exchange(base, name, tuple(given), held)


# --- dicts -----------------------------------------------------------------------------------------------------------
def _of_dict(context: Context, node: gast.Call, name: str, receiver: Value) -> Made:
    count = len(node.args)
    kinds = (dict, defaultdict, OrderedDict)  # whose methods make nothing that is missing
    is_plain = are(receiver, kinds, data=context.facts.data is not None)
    if name == "update" and is_plain and count < 2:
        return _update(context, node)
    base = named(context, node.func.value)
    match name, count:
        case ("get", 1 | 2):
            return _chosen(context, node, base, lambda key, default: ([], []))
        case ("setdefault", 1 | 2) if is_plain:
            return _chosen(context, node, base, lambda key, default: (
                [], [nf.Store(base, key, default, context.span)]))  # fmt: skip
        case ("pop", 2) if is_plain:
            return _chosen(context, node, base, lambda key, default: ([nf.Delete(base, key, context.span)], []))
        case ("pop", 1) if is_plain:
            return exchanged(context, base, "pop", [still(context, node.args[0])], (), node)
        case ("popitem", 0) if is_plain:
            check = call_runtime(runtime.require_entry, [load(base, node)], node)
            context.out.append(nf.Effect(placed(gast.Expr(check), node), context.span))
            keys = call_builtin("list", [method_call(load(base, node), "keys", [], node)], node)
            key = fixed(context, subscript(keys, constant(-1, node), node))
            value = context.fresh()
            context.out.append(nf.Bind(value, *exchanged(context, base, "pop", [key], (), node), context.span))
            parts = (key, load(value, node))
            return placed(gast.Tuple(list(parts), gast.Load()), node), nf.Pack("tuple", parts)
        case ("clear", 0) if is_plain:
            return exchanged(context, base, "clear", [], (), node)
        case ("copy", 0) if are(receiver, (dict,), data=context.facts.data is not None):
            return applied(context, runtime.merged, [load(base, node)], node)
    context.refuse("E0405", node, f"the method {name!r}")


def _chosen(
    context: Context, node: gast.Call, base: str, more: Callable[[Any, Any], tuple[list[Any], list[Any]]]
) -> Made:
    """What a dict holds under a key, or a default: what more is done where it holds it, and where it does not."""
    key = still(context, node.args[0])
    default = atom(context, node.args[1]) if len(node.args) == 2 else constant(None, node)
    made, span = context.fresh(), context.span
    item = subscript(load(base, node), key, node)
    copy = nf.Copy(default.id) if isinstance(default, gast.Name) else nf.Fixed()
    here, missing = more(key, default)
    body = nf.Block((nf.Bind(made, item, nf.Index(base, key), span), *here))
    orelse = nf.Block((nf.Bind(made, default, copy, span), *missing))
    context.out.append(nf.If(compare(key, gast.In(), load(base, node), node), body, orelse, span))
    return load(made, node), nf.Copy(made)


def extend(context: Context, base: str, name: str, source: Any) -> None:
    """Put what another container holds into a list, or a dict: its entries are read one after the other."""
    if name != "update":
        items = collected(context, source)
        if items is None:
            context.refuse("E0406", source, "a list that is extended by what may be no list")
        if name == "extendleft":
            put_each(context, items, lambda item: context.out.append(nf.Bind(
                context.fresh(), *exchanged(context, base, "appendleft", [item], (0,), source), context.span)), source)
            return
        made = exchanged(context, base, name, [load(items, source)], (0,), source)
        context.out.append(nf.Bind(context.fresh(), *made, context.span))
        return
    if are(context.value(source), MAPPINGS, data=True):
        if any(map(is_data, context.value(source).atoms)):
            source = atom(context, source)
            place = constant(context.span.origin, source)
            check = call_runtime(runtime.require_mapping, [source, place], source)
            context.out.append(nf.Effect(placed(gast.Expr(check), source), context.span))
        merge(context, base, source)
        return
    pairs = collected(context, source)
    if pairs is None:
        context.refuse(
            "E0406", source, "a dict that is updated by what is not known"
        )

    def put(pair: gast.expr) -> None:
        assert isinstance(pair, gast.Name)
        key, value = context.fresh(), context.fresh()
        context.out.append(nf.Unpack((key, value), pair.id, context.span, None))
        context.out.append(nf.Store(base, load(key, source), load(value, source), context.span))

    put_each(context, pairs, put, source)


def _update(context: Context, node: gast.Call) -> Made:
    """``d.update(other, k=v)``."""
    base = named(context, node.func.value)
    for source in node.args:
        extend(context, base, "update", source)
    for keyword in node.keywords:
        if keyword.arg is None:
            context.refuse("E0406", node, "a dict that is updated by stars")
        value = atom(context, keyword.value)
        context.out.append(nf.Store(base, constant(keyword.arg, node), value, context.span))
    return constant(None, node), nf.Fixed()


def displayed(context: Context, node: gast.List | gast.Tuple) -> Made:
    """``[*x, y]``: a list that is made empty and put into."""
    name = context.fresh()
    context.out.append(nf.Bind(name, placed(gast.List([], gast.Load()), node), nf.Pack("list", ()), context.span))
    for element in node.elts:
        if isinstance(element, gast.Starred):
            if collected(context, element.value, name) is None:
                extend(context, name, "extend", element.value)
        else:
            context.out.append(nf.Append(name, atom(context, element), context.span))
    if isinstance(node, gast.Tuple):
        return applied(context, tuple, [load(name, node)], node, reference(builtin("tuple")))
    return load(name, node), nf.Copy(name)


def displayed_dict(context: Context, node: gast.Dict) -> Made:
    """``{**d, k: y}``: a dict that is made empty and stored into."""
    name = context.fresh()
    context.out.append(nf.Bind(name, placed(gast.Dict([], []), node), nf.Pack("dict", ()), context.span))
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            extend(context, name, "update", value)
        else:
            place = still(context, key)
            context.out.append(nf.Store(name, place, atom(context, value), context.span))
    return load(name, node), nf.Copy(name)


# --- constructors ----------------------------------------------------------------------------------------------------
def constructed(context: Context, node: gast.Call, kind: type) -> Made | None:
    """A container that is made of what is iterated; None where nothing is said of it here."""
    if kind in (list, tuple) and not node.args and not node.keywords:
        display: Any = gast.List if kind is list else gast.Tuple
        return placed(display([], gast.Load()), node), nf.Pack(kind.__name__, ())
    if kind is deque and node.args:
        items = collected(context, node.args[0])
        if items is None:
            context.refuse("E0406", node, "a deque of what may be no container")
        rest = [settled(context, argument) for argument in node.args[1:]]
        return applied(context, kind, [load(items, node), *rest], node, settled(context, node.func), node.keywords)
    if kind in (list, tuple) and len(node.args) == 1 and not node.keywords:
        items = collected(context, node.args[0])
        if items is None and is_text(context.value(node.args[0])):
            return settled(context, node), nf.Fixed()
        if items is None or kind is list:
            return None if items is None else (load(items, node), nf.Copy(items))
        return applied(context, kind, [load(items, node)], node, settled(context, node.func))
    if kind is dict and not node.args and all(keyword.arg is not None for keyword in node.keywords):
        keys = tuple(constant(keyword.arg, node) for keyword in node.keywords)
        values = tuple(atom(context, keyword.value) for keyword in node.keywords)
        return placed(gast.Dict(list(keys), list(values)), node), nf.Pack("dict", values, keys)
    named_ = [keyword.arg for keyword in node.keywords]
    if kind is dict and len(node.args) == 1 and named_ and None not in named_:
        return _with_keywords(context, node)
    if kind is dict and len(node.args) == 1 and not node.keywords:
        if are(context.value(node.args[0]), (dict,), data=True):  # which makes sure that it is given one
            return applied(context, runtime.merged, [atom(context, node.args[0])], node)
        if any(isinstance(a, At) and a.site == context.facts.data for a in context.value(node.args[0]).atoms):
            context.refuse("E0406", node, "a dict of what may be one")
        if are(context.value(node.args[0]), (list,)):  # which needs no copy: the pairs keep the names that they have
            return applied(context, runtime.from_pairs, [atom(context, node.args[0])], node)
        pairs = collected(context, node.args[0])
        return None if pairs is None else applied(context, runtime.from_pairs, [load(pairs, node)], node)
    return None


def _with_keywords(context: Context, node: gast.Call) -> Made | None:
    """``dict(source, k=v)``: the source is read behind what its keywords are."""
    source = context.value(node.args[0])
    are_entries = are(source, MAPPINGS, data=True)
    if not are_entries and any(isinstance(a, At) and a.site == context.facts.data for a in source.atoms):
        context.refuse("E0406", node, "a dict of what may be one")
    first = node.args[0] if is_series(context, node.args[0]) else atom(context, node.args[0])
    given = [placed(gast.keyword(k.arg, atom(context, k.value)), k) for k in node.keywords]
    if are_entries:
        keys = [None, *(constant(keyword.arg, node) for keyword in given)]
        return displayed_dict(context, placed(gast.Dict(keys, [first, *(k.value for k in given)]), node))
    pairs, name = collected(context, first), context.fresh()
    if pairs is None:
        return None
    made = applied(context, runtime.from_pairs, [load(pairs, node)], node)
    context.out.append(nf.Bind(name, *made, context.span))
    for keyword in given:
        context.out.append(nf.Store(name, constant(keyword.arg, node), keyword.value, context.span))
    return load(name, node), nf.Copy(name)


def _listed(context: Context, node: Any) -> Made:
    items = collected(context, node)
    if items is None:
        context.refuse("E0406", node, "a list of what may be no container")
    return load(items, node), nf.Copy(items)


def applied(
    context: Context, function: Any, given: list[gast.expr], node: gast.AST, head: gast.expr | None = None,
    keywords: Sequence[gast.keyword] = (),
) -> Made:  # fmt: skip
    """A function with a rule, of the runtime where its ``head`` is not given."""
    rule = lookup(function)
    assert rule is not None
    made = call_runtime(function, given, node) if head is None else call(head, given, node)
    made.keywords = [placed(gast.keyword(k.arg, settled(context, k.value)), k) for k in keywords]
    return made, nf.Apply(rule, function, rule.bind(function, list(given), {k.arg: k.value for k in made.keywords}))


def argument(context: Context, node: Any) -> gast.expr:
    """What is given to a function that goes over all items at once: a list in place of an iterator or a view."""
    items = collected(context, node) if is_series(context, node) else None
    return atom(context, node) if items is None else load(items, node)


# --- parts -----------------------------------------------------------------------------------------------------------
def fixed(context: Context, expression: gast.expr) -> gast.expr:
    """A name for what carries no derivative."""
    name = context.fresh()
    context.out.append(nf.Bind(name, expression, nf.Fixed(), context.span))
    return load(name, expression)


def still(context: Context, node: Any) -> gast.expr:
    """A place or key that is read more than once."""
    made = settled(context, node)
    return made if isinstance(made, gast.Constant) or context.is_local(made) else fixed(context, made)
