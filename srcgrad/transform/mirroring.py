"""Shadows of containers: what is put into one, what comes out of it, and every change of it, mirrored as it happens.

Enters: statements of the normal form that build, read or change what may be a container.  Leaves: the same statements
with those of their shadows beside them.  The reverse sweep reads references that the forward sweep held, and never a
container, so that a change of a container has no adjoint::

    L = [x, s]             s_cell = shadow(s);  L_bar = [x_bar, s_cell];  L = [x, s]          s is a number
    y = L[i]               y_bar = L_bar[i];  y = L[i]
    L.append(y)            L_bar.append(y_bar);  L.append(y)
    w[i] = e               if not isinstance(w, np.ndarray): w_bar[i] = e_bar;  w[i] = e       w unknown
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.references import local_names
from srcgrad.analysis.regions import reads_contents
from srcgrad.analysis.values import is_defaulting
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    Bind,
    Copy,
    Delete,
    Exchange,
    Fixed,
    Index,
    Operation,
    Pack,
    Pop,
    SetField,
    Statement,
    Store,
    Unpack,
)
from srcgrad.rules.facts import Array
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import CHANGES
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import builtin_call, constant, index_value, is_array, load, method, subscript, tuple_of
from srcgrad.transform.mirror import Mirror

#: Methods that take a default beside a key: what they may hand out, or put in.
_DEFAULTS = ("get", "pop", "setdefault")


def settled_index(mirror: Mirror, index: gast.expr, span: Span) -> gast.expr:
    """An index whose value does not change with what it is read from."""
    match index:
        case gast.Tuple(elts=elements):
            return gast.Tuple([settled_index(mirror, e, span) for e in elements], gast.Load())
        case gast.Slice(lower=lower, upper=upper, step=step):
            return gast.Slice(*(None if e is None else settled_index(mirror, e, span) for e in (lower, upper, step)))
    if not reads_contents(index, mirror.stored):
        return clone(index)
    place = mirror.namer.fresh("place")
    mirror.add(place, call_runtime(runtime.snapshot, clone(index)), span)
    return load(place)


def held(mirror: Mirror, value: gast.expr, statement: Statement) -> gast.expr:
    """The shadow of what a statement puts into a container; a number gets a cell."""
    names = atoms(value) if isinstance(value, gast.Name) else ()
    if names and names[0] in mirror.shadowed:
        return mirror.bar(names[0])
    if isinstance(value, gast.Tuple):
        return tuple_of([held(mirror, part, statement) for part in value.elts])
    cell = mirror.namer.fresh(f"{names[0] if names else 'value'}_cell")
    mirror.add(cell, call_runtime(runtime.shadow, clone(value)), statement.span)
    if names:
        mirror.result.put.setdefault(statement, []).append((names[0], cell))
    return load(cell)


def received(mirror: Mirror, target: str, statement: Statement) -> str:
    """The name for the shadow of what a statement takes out of a container."""
    if target in mirror.shadowed:
        return mirror.result.bars[target]
    cell = mirror.namer.fresh(f"{target}_cell")
    mirror.result.taken.setdefault(statement, []).append((target, cell))
    return cell


def as_before(mirror: Mirror, name: str, statement: Bind) -> tuple[str, str]:
    """A name and its shadow, under other names where the statement binds the name again."""
    value, value_bar = name, mirror.result.bars[name]
    if name == statement.target:
        value, value_bar = mirror.namer.fresh(name), mirror.namer.fresh(value_bar)
        mirror.add(value, load(name), statement.span)
        mirror.add(value_bar, mirror.bar(name), statement.span)
    return value, value_bar


def shadow_part(mirror: Mirror, statement: Bind, base: str, index: gast.expr) -> None:
    """``target = base[index]``, or a field, of what is not known to be an array."""
    target, span = statement.target, statement.span
    index = settled_index(mirror, index, span)
    if any(n.id == target for n in local_names(index)):
        place = mirror.namer.fresh("place")
        mirror.add(place, index_value(index), span)
        index = load(place)
    bar = received(mirror, target, statement)
    if mirror.is_container(base) and not isinstance(index, gast.Slice):
        mirror.add(bar, subscript(mirror.bar(base), index), span)
        mirror.out.append(statement)
        mirror.result.handed.add(statement)
        return
    value, value_bar = as_before(mirror, base, statement)
    mirror.out.append(statement)
    parts = (load(target), load(value), load(value_bar), index_value(index))
    mirror.add(bar, call_runtime(runtime.part_like, *parts), span)
    mirror.result.parts.setdefault(statement, []).append((bar, base, clone(index)))
    mirror.result.handed.add(statement)


def by_targets(mirror: Mirror, statement: Statement) -> list[Statement]:
    """Numbers that are unpacked to names of mutable classes: each, and the list of the rest, gets a shadow of its
    own, since what they are unpacked from has none."""
    match statement:
        case Unpack(targets=targets, source=source, star=star, span=span) if (
            source not in mirror.shadowed and not mirror.shadowed.isdisjoint(targets)
        ):
            if star is None and source not in targets:
                places = [constant(j) for j in range(len(targets))]
                pairs = zip(targets, places, strict=True)
                return [Bind(t, subscript(load(source), place), Index(source, place), span) for t, place in pairs]
            parts = tuple(mirror.namer.fresh(target) for target in targets)
            made: list[Statement] = [replace(statement, targets=parts)]
            for j, (target, part) in enumerate(zip(targets, parts, strict=True)):
                expression: gast.expr = load(part)
                operation: Operation = Copy(part)
                if j == star:  # the parts of the tuple are read from this list, which nobody changes
                    rule = lookup(np.copy)
                    assert rule is not None
                    expression, operation = method(part, "copy"), Apply(rule, np.copy, {"a": load(part)})
                made.append(Bind(target, expression, operation, span))
            return made
    return [statement]


def shadow_unpack(mirror: Mirror, statement: Unpack) -> None:
    """The parts of a tuple, list or array by their places."""
    source, span, star = statement.source, statement.span, statement.star
    count = len(statement.targets)
    overwritten = source in statement.targets
    kept: list[tuple[str, str]] = []
    if not overwritten:  # first, since it raises where the number of parts does not fit
        mirror.out.append(statement)
    for j, target in enumerate(statement.targets):
        if star is not None and j == star:
            stop = constant(star + 1 - count) if star + 1 < count else None
            index: gast.expr = gast.Slice(constant(star), stop, None)
        else:
            index = constant(j if star is None or j < star else j - count)
        made = mirror.namer.fresh(f"{target}_bar")
        bar = received(mirror, target, statement)
        value: gast.expr = subscript(mirror.bar(source), index)
        if not mirror.is_container(source):
            read = subscript(load(source), clone(index))
            like = runtime.rest_like if isinstance(index, gast.Slice) else runtime.part_like
            value = call_runtime(like, read, load(source), mirror.bar(source), index_value(index))
            if isinstance(index, gast.Slice) and target in mirror.result.changing:  # the list may hold others later
                bar = mirror.namer.fresh(f"{target}_bar")
                kept.append((bar, made))
            mirror.result.parts.setdefault(statement, []).append((bar, source, clone(index)))
        elif isinstance(index, gast.Slice):
            value = builtin_call(list, value)
        mirror.add(made, value, span)
    names = [s.target for s in mirror.out[-count:] if isinstance(s, Bind)]
    for bar, made in kept:
        mirror.add(bar, call_runtime(runtime.frozen, load(made)), span)
    if overwritten:
        mirror.out.append(statement)
    cells = dict(mirror.result.taken.get(statement, ()))
    for target, made in zip(statement.targets, names, strict=True):
        mirror.add(mirror.result.bars[target] if target in mirror.shadowed else cells[target], load(made), span)


def shadow_pack(mirror: Mirror, statement: Bind, made: Pack) -> None:
    parts = [held(mirror, element, statement) for element in made.elements]
    value: gast.expr
    match made.kind:
        case "tuple":
            value = tuple_of(parts)
        case "list":
            value = gast.List(parts, gast.Load())
        case _:
            value = gast.Dict([clone(key) for key in made.keys], parts)
            value = call_runtime(runtime.defaulting, value) if is_defaulting(statement) else value
    fresh = mirror.namer.fresh(mirror.result.bars[statement.target])
    mirror.add(fresh, value, statement.span)
    mirror.out.append(statement)
    mirror.add(mirror.result.bars[statement.target], load(fresh), statement.span)
    mirror.result.handed.add(statement)


def shadow_append(mirror: Mirror, statement: Append) -> None:
    value = held(mirror, statement.value, statement)
    base = statement.sequence
    mirror.change(base, gast.Expr(method(mirror.result.bars[base], "append", value)), statement.span)
    mirror.out.append(statement)


def shadow_pop(mirror: Mirror, statement: Pop) -> None:
    base, span = statement.sequence, statement.span
    bars = [received(mirror, target, statement) for target in statement.targets]
    item = mirror.namer.fresh(f"{base}_item")
    _taken_out(mirror, item, base, method(mirror.result.bars[base], "pop"), span)
    mirror.out.append(statement)
    for j, bar in enumerate(bars):
        mirror.add(bar, subscript(load(item), constant(j)) if statement.tupled else load(item), span)


def _taken_out(mirror: Mirror, name: str, base: str, value: gast.expr, span: Span) -> None:
    """Bind a name to what is taken out of the shadow of a container, which changes it."""
    statement = Bind(name, value, Fixed(), span)
    mirror.result.made.add(statement)
    mirror.result.effects[statement] = base
    mirror.out.append(statement)


def shadow_set_field(mirror: Mirror, statement: SetField) -> None:
    value = held(mirror, statement.value, statement)
    place = gast.Subscript(mirror.bar(statement.base), constant(statement.name), gast.Store())
    mirror.change(statement.base, gast.Assign([place], value, None), statement.span)
    mirror.out.append(statement)


def shadow_delete(mirror: Mirror, statement: Delete) -> None:
    index = constant(statement.name) if statement.index is None else clone(statement.index)
    place = gast.Subscript(mirror.bar(statement.base), index, gast.Del())
    if statement.index is None:  # first, since it raises where the object has no such field
        mirror.out.append(statement)
    mirror.change(statement.base, gast.Delete([place]), statement.span)
    if statement.index is not None:
        mirror.out.append(statement)


def shadow_store_item(mirror: Mirror, statement: Store) -> None:
    """``base[index] = value`` where the base is a container, or nothing is known of it."""
    base, span = statement.base, statement.span
    value = held(mirror, statement.value, statement)
    if mirror.is_container(base):
        place = gast.Subscript(mirror.bar(base), clone(statement.index), gast.Store())
        mirror.change(base, gast.Assign([place], value, None), span)
        mirror.out.append(statement)
        return
    assert isinstance(value, gast.Name)
    index = mirror.result.places[statement] = settled_index(mirror, statement.index, span)
    freeze(mirror, statement, atoms(statement.value))  # which an array takes the numbers of
    kept = [bar for _, bar in mirror.result.frozen.get(statement, {}).values()]
    mirror.result.stored[statement] = kept[0] if kept else value.id
    old = mirror.result.olds[statement] = mirror.namer.fresh(f"{base}_0")
    mirror.add(old, call_runtime(runtime.held_before, load(base), index_value(clone(index))), span)
    place = gast.Subscript(mirror.bar(base), clone(index), gast.Store())
    holds = gast.UnaryOp(gast.Not(), is_array(load(base)))
    mirror.change(base, gast.If(holds, [gast.Assign([place], value, None)], []), span)
    mirror.out.append(statement)


def shadow_exchange(mirror: Mirror, statement: Bind, made: Exchange) -> None:
    """The same method of the shadow, with the shadows of what is put in."""
    base, span, target = made.base, statement.span, statement.target
    if object_of(getattr(statement.expression, "func", None)) in CHANGES:
        raise UnsupportedSyntax(
            "a store into what may be an array or a container cannot be reversed twice",
            span, code="E0304",
            hint="use forward mode for the second derivative: hessian, hvp, jvp of grad",
        )
    bar = mirror.result.bars[base]
    match made.method:
        case "remove":
            place = method(base, "index", *map(clone, made.arguments))
            mirror.change(base, gast.Delete([gast.Subscript(load(bar), place, gast.Del())]), span)
        case "sort":
            order = call_runtime(runtime.argsorted, load(base), *map(clone, made.arguments))
            items = call_runtime(runtime.gather, load(bar), order)
            everything = gast.Subscript(load(bar), gast.Slice(None, None, None), gast.Store())
            mirror.change(base, gast.Assign([everything], items, None), span)
        case _:
            arguments: list[gast.expr] = []
            for j, argument in enumerate(made.arguments):
                goes_in = j in made.held or (made.method in _DEFAULTS and j == 1)
                arguments.append(held(mirror, argument, statement) if goes_in else clone(argument))
            value = method(bar, made.method, *arguments)
            if made.method in ("extend", "clear", "reverse", "insert", "update", "append", "appendleft", "rotate"):
                mirror.change(base, gast.Expr(value), span)
            else:
                item = mirror.namer.fresh(f"{base}_item")
                _taken_out(mirror, item, base, value, span)
                mirror.out.append(statement)
                mirror.add(received(mirror, target, statement), load(item), span)
                mirror.result.handed.add(statement)
                return
    mirror.out.append(statement)
    if target in mirror.shadowed:
        mirror.add(mirror.result.bars[target], constant(None), span)
    mirror.result.handed.add(statement)


def freeze(mirror: Mirror, statement: Statement, names: Sequence[str]) -> None:
    """Keep containers that change, and their shadows, as an operation sees them; called before the statement."""
    for name in dict.fromkeys(names):
        if name in mirror.result.changing and not isinstance(mirror.fact(name), Array):
            value = bar = mirror.namer.fresh(name)
            mirror.add(value, call_runtime(runtime.frozen, load(name)), statement.span)
            if name in mirror.shadowed:
                bar = mirror.namer.fresh(mirror.result.bars[name])
                mirror.add(bar, call_runtime(runtime.frozen, mirror.bar(name)), statement.span)
            mirror.result.frozen.setdefault(statement, {})[name] = value, bar


def freeze_result(mirror: Mirror, statement: Bind) -> None:
    """Keep the shadow of a result as it is made; called after the statement."""
    name = statement.target
    if name in mirror.result.changing and name in mirror.shadowed and not isinstance(mirror.fact(name), Array):
        bar = mirror.namer.fresh(mirror.result.bars[name])
        mirror.add(bar, call_runtime(runtime.frozen, mirror.bar(name)), statement.span)
        mirror.result.results_frozen[statement] = bar
