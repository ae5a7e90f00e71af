"""Iterators over lists and arrays that a name keeps, as a place in what they run through.

Enters: the body of a function, and what its names mean outside.  Leaves: the body with two names for each such
iterator, what it runs through and the place of the item that it gave last, where ``next`` and loops alone read it::

    it = iter(xs)                   items = xs;  place = -1
    first = next(it)        ->      place = place + 1 if place + 1 < len(items) else END
                                    require_item(place)         (which raises StopIteration)
                                    first = items[place]
    for v in it:                    while True:
        s = s + v                       place = place + 1 if place + 1 < len(items) else END
                                        if place == END: break
                                        v = items[place]
                                        s = s + v

So do the iterators of Python: they read an item when it is asked for, and stay at their end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar.build import (
    assign,
    binary,
    branch,
    call,
    call_builtin,
    compare,
    constant,
    load,
    placed,
    store,
    subscript,
    with_bodies,
)
from srcgrad.frontend.desugar.functional import Meaning
from srcgrad.rules.rewriting import rebuilt
from srcgrad.runtime.doors import END
from srcgrad.syntax.globals import of_runtime, reference
from srcgrad.syntax.parse import walk

_ITEM = of_runtime(runtime.require_item)
_ROW = of_runtime(runtime.require_row)
_SCOPES = (
    gast.FunctionDef, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.ClassDef,
)  # fmt: skip


def by_places(
    body: Sequence[gast.stmt], parameters: Collection[str], meaning: Meaning, fresh: Callable[[str], str]
) -> list[gast.stmt]:
    """The body without the iterators that can be written so; what a parameter holds may be no iterator."""
    names = sorted(_all_made(body, meaning).difference(parameters))
    plain = [name for name in names if _is_read_plainly(name, body, meaning)]
    kept = {name: _Place(fresh(f"{name}_items"), fresh(f"{name}_place")) for name in plain}
    return _Written(kept, meaning, fresh).block(body) if kept else list(body)


@dataclass(frozen=True)
class _Place:
    items: str
    place: str

    def advanced(self, at: gast.AST) -> gast.expr:
        """The place of the next item, or ``END``."""
        more = binary(load(self.place, at), gast.Add(), constant(1, at), at)
        test = compare(more, gast.Lt(), call_builtin("len", [load(self.items, at)], at), at)
        return placed(gast.IfExp(test, more, constant(END, at)), at)

    def item(self, at: gast.AST) -> gast.expr:
        return subscript(load(self.items, at), load(self.place, at), at)

    def is_there(self, place: gast.expr, at: gast.AST) -> gast.expr:
        return compare(place, gast.Lt(), constant(END, at), at)

    def binding(self, at: gast.AST) -> gast.expr:
        """The next place as an expression that binds it."""
        return placed(gast.NamedExpr(store(self.place, at), self.advanced(at)), at)


def _all_made(body: Sequence[gast.stmt], meaning: Meaning) -> set[str]:
    return {name for node in walk(*body) if (name := _made(node, meaning)) is not None}


def _made(node: gast.AST, meaning: Meaning) -> str | None:
    match node:
        case gast.Assign(
            targets=[gast.Name(id=name)], value=gast.Call(func=gast.Name(id=function), args=[items], keywords=[])
        ) if meaning(function) is iter and not isinstance(items, gast.Starred):
            return str(name)
    return None


def _read(node: gast.AST, meaning: Meaning) -> str | None:
    """The name of the iterator of which a call asks the next item."""
    match node:
        case gast.Call(
            func=gast.Name(id=function), args=[gast.Name(id=name), *default], keywords=[]
        ) if meaning(function) is next and all(isinstance(each, gast.Constant | gast.Name) for each in default):
            return str(name) if len(default) < 2 else None
    return None


def _is_read_plainly(name: str, body: Sequence[gast.stmt], meaning: Meaning) -> bool:
    """Whether a name is bound to iterators, and read by ``next`` and as what loops run over, alone."""
    plain = 0
    for node in walk(*body):
        match node:
            case gast.Global(names=names) | gast.Nonlocal(names=names) if name in names:
                return False
            case gast.For(iter=gast.Name(id=other), body=inner, orelse=orelse) if other == name:
                if any(_made(each, meaning) == name for each in walk(*inner, *orelse)):
                    return False
                plain += 1
        if isinstance(node, _SCOPES) and name in _names(node):
            return False
        plain += (_made(node, meaning) == name) + (_read(node, meaning) == name)
    return plain == sum(each == name for node in body for each in _names(node))


def _names(node: gast.AST) -> Iterator[str]:
    return (str(inner.id) for inner in walk(node) if isinstance(inner, gast.Name))


@dataclass(frozen=True)
class _Written:
    """Writes statements without these iterators."""

    kept: dict[str, _Place]
    meaning: Meaning
    fresh: Callable[[str], str]

    def block(self, body: Sequence[gast.stmt]) -> list[gast.stmt]:
        return [made for statement in body for made in self.statement(statement)]

    def statement(self, node: gast.stmt) -> list[gast.stmt]:
        if self.kept.keys().isdisjoint(_names(node)):
            return [node]
        here = self.kept.get(_made(node, self.meaning) or "")
        if here is not None:
            items = self._expression(node.value.args[0])
            checked = call(reference(_ROW), [load(here.items, node)], node)
            begin = assign(here.place, constant(-1, node), node)
            return [assign(here.items, items, node), placed(gast.Expr(checked), node), begin]
        match node:
            case gast.Assign(targets=[_], value=gast.Call(args=[_]) as value) | gast.Expr(
                value=gast.Call(args=[_]) as value
            ) if (here := self.kept.get(_read(value, self.meaning) or "")) is not None:
                required = call(reference(_ITEM), [load(here.place, node)], node)
                made = [assign(here.place, here.advanced(node), node), placed(gast.Expr(required), node)]
                stores = isinstance(node, gast.Assign)
                return [*made, with_bodies(node, value=here.item(value))] if stores else made
            case gast.For(iter=gast.Name(id=name)) if name in self.kept:
                return [self._loop(node, self.kept[name])]
        inner: dict[str, object] = {}
        for field in node._fields:
            parts: Any = getattr(node, field, None)
            if isinstance(parts, list) and parts and isinstance(parts[0], gast.stmt):
                inner[field] = self.block(parts)
            elif field in ("handlers", "cases"):
                inner[field] = [with_bodies(part, body=self.block(part.body)) for part in parts]
        return [self._expression(with_bodies(node, **inner) if inner else node)]

    def _loop(self, node: gast.For, here: _Place) -> gast.While:
        read = assign(node.target, here.item(node), node)
        body = [read, *self.block(node.body)]
        if node.orelse:
            test = here.is_there(here.binding(node), node)
            return placed(gast.While(test, body, self.block(node.orelse)), node)
        over = compare(load(here.place, node), gast.Eq(), constant(END, node), node)
        leave = branch(over, [placed(gast.Break(), node)], [], node)
        head = [assign(here.place, here.advanced(node), node), leave]
        return placed(gast.While(constant(True, node), [*head, *body], []), node)

    def _expression(self, node: gast.AST) -> gast.AST:
        """With every ``next`` as a read that goes on by one."""

        def change(part: gast.AST) -> gast.AST | None:
            here = self.kept.get(_read(part, self.meaning) or "")
            if here is None:
                return None
            if len(part.args) == 1:
                return subscript(load(here.items, part), call(reference(_ITEM), [here.binding(part)], part), part)
            return placed(gast.IfExp(here.is_there(here.binding(part), part), here.item(part), part.args[1]), part)

        return rebuilt(node, change)
