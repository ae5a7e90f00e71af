"""Short lists and tuples of numbers whose items are read by their places: each item under a name of its own.

Enters: ``Function`` and the facts of its names.  Leaves: the same function, without the containers of which every use
says which item it means (scalar replacement of aggregates: Muchnick, *Advanced Compiler Design and Implementation*,
1997, §12.2).  The adjoint of a list would be a list, to which is added place by place::

    v = [v[0] + dt * a, v[1]]                v_0 = v_0 + dt * a
    x = x + dt * v[0]                ->      x = x + dt * v_0

A tuple is made again where it is handed on as a whole, a list only where it is returned: whoever else sees a list may
change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import gast

from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.webs import names_taken
from srcgrad.ir.normal_form import (
    Bind,
    Block,
    Call,
    Copy,
    Fixed,
    For,
    Function,
    If,
    Index,
    Pack,
    Return,
    Statement,
    Store,
    Unpack,
    While,
    With,
)
from srcgrad.ir.renaming import mentioned, renamed, with_expressions
from srcgrad.rules.facts import Array, Fact, Sequence
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone

LONGEST = 8


def elements_named(function: Function, facts: Mapping[str, Fact]) -> Function:
    """The function with a name for each item; the same object where it has no such container."""
    wholes = _taken_apart(function, facts)
    return _Elements(function, wholes).function() if wholes else function


# --- which containers ------------------------------------------------------------------------------------------------
def _taken_apart(function: Function, facts: Mapping[str, Fact]) -> dict[str, tuple[str, int]]:
    """The kind and the length of each container whose items get names."""
    statements = walk(function.body)
    made = {s.target for s in statements if isinstance(s, Bind) and isinstance(s.operation, Pack | Copy)}
    shapes = {name: shape for name in made if (shape := _shape(facts.get(name))) is not None}
    for name in function.parameters:
        shapes.pop(name, None)
    if not shapes:
        return {}
    uses = _Uses(shapes, facts)
    for statement in statements:
        uses.meet(statement)
    return {name: shape for name, shape in shapes.items() if uses.is_apart(name)}


def _shape(fact: Fact | None) -> tuple[str, int] | None:
    if isinstance(fact, Sequence) and fact.kind in ("list", "tuple") and fact.items and not fact.fields:
        if len(fact.items) <= LONGEST and all(map(_is_number, fact.items)):
            return fact.kind, len(fact.items)
    return None


def _is_number(fact: Fact | None) -> bool:
    return isinstance(fact, Array) and fact.shape == () and fact.scalar


class _Uses:
    """How containers are used: by their items, under other names, as wholes, or in ways that spoil them."""

    def __init__(self, shapes: Mapping[str, tuple[str, int]], facts: Mapping[str, Fact]) -> None:
        self.shapes = shapes
        self.facts = facts
        self.kin = {name: {name} for name in shapes}  # names that are copied into one another, each with all of them
        self.by_item: set[str] = set()
        self.stored: set[str] = set()
        self.spoilt: set[str] = set()

    def is_apart(self, name: str) -> bool:
        kin = self.kin[name]
        if any(self.shapes[other] != self.shapes[name] for other in kin) or not self.spoilt.isdisjoint(kin):
            return False
        return not self.by_item.isdisjoint(kin) and (len(kin) == 1 or self.stored.isdisjoint(kin))

    def meet(self, statement: Statement) -> None:
        """Note what a statement does to containers, the blocks inside it apart."""
        match statement:
            case Bind(target=target, operation=Pack(kind=kind, elements=elements)) if target in self.shapes:
                if kind != self.shapes[target][0] or len(elements) != self.shapes[target][1]:
                    self.spoilt.add(target)
                self._handed_on(statement, mentioned(statement) - {target})
            case Bind(target=target, operation=Copy(source=source)) if {target, source} <= self.shapes.keys():
                joined = self.kin[target] | self.kin[source]
                self.kin.update(dict.fromkeys(joined, joined))
            case Bind(target=target, operation=Index(base=base, index=index)) if self._has(base, index):
                self.by_item.add(base)
                self.spoilt.add(target)
            case Unpack(source=source, targets=targets, star=None) if self._length(source) == len(targets):
                self.by_item.add(source)
                self.spoilt.update(targets)
            case Store(base=base, index=index, value=value) if self._has(base, index) and self._is_number(value):
                self.stored.add(base)
            case _:
                self.spoilt.update(bound_here(statement))
                wholes = mentioned(_with_items(statement, self._item)) - set(bound_here(statement))
                self.by_item |= mentioned(statement) - wholes
                self._handed_on(statement, wholes)
        if isinstance(statement, For):  # whose heading stands for so many statements
            for each in statement.body.statements[: statement.elements]:
                self.spoilt |= mentioned(each)

    def _length(self, name: str) -> int:
        return self.shapes[name][1] if name in self.shapes else 0

    def _has(self, name: str, index: gast.expr) -> bool:
        return _place(index, self._length(name)) is not None

    def _item(self, name: str, index: gast.expr) -> gast.expr | None:
        return gast.Constant(0, None) if self._has(name, index) else None

    def _is_number(self, value: gast.expr) -> bool:
        return isinstance(value, gast.Constant) or isinstance(value, gast.Name) and _is_number(self.facts.get(value.id))

    def _handed_on(self, statement: Statement, names: set[str]) -> None:
        match statement:
            case Bind(operation=Call() | Pack(kind="tuple", of=None)):
                self.spoilt |= {name for name in names if self.shapes.get(name, ("", 0))[0] == "list"}
            case Return():
                pass
            case _:
                self.spoilt |= names


def _place(index: gast.expr, length: int) -> int | None:
    """Which item a literal index means, counted from the front."""
    match index:
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() as value)):
            value = -value
        case gast.Constant(value=int() as value):
            pass
        case _:
            return None
    return None if isinstance(value, bool) or not -length <= value < length else value % length


class _Items(gast.NodeTransformer):
    """Something in the place of each item that an expression reads."""

    def __init__(self, item: Callable[[str, gast.expr], gast.expr | None]) -> None:
        self.item = item

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        if isinstance(node.value, gast.Name) and not isinstance(node.value, GlobalReference):
            if (made := self.item(node.value.id, node.slice)) is not None:
                return made
        return self.generic_visit(node)


def _with_items(statement: Any, item: Callable[[str, gast.expr], gast.expr | None]) -> Any:
    return with_expressions(statement, lambda root: _Items(item).visit(clone(root)))


# --- the function without them ---------------------------------------------------------------------------------------
class _Elements:
    def __init__(self, function: Function, wholes: Mapping[str, tuple[str, int]]) -> None:
        self.start = function
        self.wholes = wholes
        self.namer = Namer(names_taken(function))
        self.names = {
            name: tuple(self.namer.fresh(f"{name}_{j}") for j in range(length)) for name, (_, length) in wholes.items()
        }
        self.temporaries = {new for old in wholes if old in function.temporaries for new in self.names[old]}

    def function(self) -> Function:
        body = self._block(self.start.body)
        return replace(self.start, body=body, temporaries=self.start.temporaries | self.temporaries)

    def _block(self, block: Block) -> Block:
        return Block(tuple(each for statement in block.statements for each in self._statement(statement)))

    def _statement(self, statement: Statement) -> Iterator[Statement]:
        match statement:
            case Bind(target=target, operation=Pack(elements=elements)) if target in self.wholes:
                yield from self._bound(self.names[target], elements, statement)
            case Bind(target=target, operation=Copy(source=source)) if target in self.wholes:
                yield from self._bound(self.names[target], map(_load, self.names[source]), statement)
            case Bind(operation=Index(base=base, index=index)) if base in self.wholes:
                name = self._name(base, index)
                yield replace(statement, expression=_load(name), operation=Copy(name))
            case Unpack(source=source, targets=targets) if source in self.wholes:
                yield from self._bound(targets, map(_load, self.names[source]), statement)
            case Store(base=base, index=index, value=value) if base in self.wholes:
                yield from self._bound([self._name(base, index)], [value], statement)
            case If(body=body, orelse=orelse):
                bare = self._with_items(replace(statement, body=_EMPTY, orelse=_EMPTY))
                yield replace(bare, body=self._block(body), orelse=self._block(orelse))
            case For(body=body) | While(body=body) | With(body=body):
                bare = self._with_items(replace(statement, body=_EMPTY))
                yield replace(bare, body=self._block(body))
            case _:
                made = self._with_items(statement)
                again: dict[str, str] = {}
                for name in sorted(mentioned(made) & self.wholes.keys()):
                    again[name] = self.namer.fresh("t")
                    yield self._again(name, again[name], statement)
                self.temporaries |= {*again.values()}
                yield renamed(made, again) if again else made

    def _with_items(self, statement: Any) -> Any:
        return _with_items(statement, lambda name, index: _load(made) if (made := self._name(name, index)) else None)

    def _name(self, base: str, index: gast.expr) -> str:
        """The name of an item; none if there is no such item."""
        place = _place(index, self.wholes[base][1]) if base in self.wholes else None
        return "" if place is None else self.names[base][place]

    def _bound(self, names: Iterable[str], values: Iterable[gast.expr], statement: Statement) -> Iterator[Statement]:
        for name, value in zip(names, values, strict=True):
            is_local = isinstance(value, gast.Name) and not isinstance(value, GlobalReference)
            operation = Copy(value.id) if is_local else Fixed()
            yield Bind(name, clone(value), operation, statement.span)

    def _again(self, name: str, target: str, statement: Statement) -> Statement:
        """The container, where it is handed on."""
        kind, _ = self.wholes[name]
        elements = tuple(map(_load, self.names[name]))
        display = (gast.List if kind == "list" else gast.Tuple)([*elements], gast.Load())
        return Bind(target, display, Pack(kind, elements), statement.span)


_EMPTY = Block(())


def _load(name: str) -> gast.Name:
    return gast.Name(name, gast.Load(), None, None)
