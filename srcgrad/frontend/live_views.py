"""Views of dicts that a name keeps: ``v = d.values()`` shows what the dict holds wherever ``v`` is read.

Enters: assignments of views to names in functions that may change a dict.  Leaves: a name for the dict, and the view
taken anew in place of every read of the name::

    v = d.values()              t = d
    e["a"] = x          ->      e["a"] = x
    s = sum(v)                  s = sum(t.values())

So it is in functions that change no dict, where a name is read otherwise than gone over: a view is no list, which is
what a loop over it takes it for.  A view that is kept otherwise, or is given to what may change the dict, is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.errors import SourceUnavailable, UnresolvedName
from srcgrad.frontend.desugar.build import call_builtin, call_runtime, constant, load, method_call, placed
from srcgrad.frontend.live_iterators import LiveIterators
from srcgrad.frontend.methods import VIEWS, only_reads
from srcgrad.frontend.names import Definition, body_of, default_values
from srcgrad.frontend.normal_form import Apply, Bind, Effect, LocalFunction, Operation
from srcgrad.frontend.plans import Columns, Counted, Plan
from srcgrad.frontend.replacing import of_the_text
from srcgrad.frontend.scope import Static
from srcgrad.frontend.side_effects import may_store, returns_call_of
from srcgrad.frontend.source import source_of
from srcgrad.language import effects
from srcgrad.rules.table import attribute, lookup
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children, clone, names_read, nodes_of, walk

_HINT = "write list(...) of it where it is read"
_KEPT = "a view of a dict is kept"
#: Modules whose classes make objects that change no dict.
_PLAIN_MODULES = ("builtins", "collections", "itertools")
#: Functions of ours that tell what a view is from a list.
_ASKING = (runtime.is_sequence, runtime.is_mapping)
#: Built-in functions that go over what they are given, and keep nothing of it.
_GOING_OVER = (
    all, any, dict, enumerate, filter, frozenset, iter, len, list, map, max, min, reversed, set, sorted, sum, tuple,
    zip,
)  # fmt: skip


class LiveViews(LiveIterators):
    """Views under names."""

    _views_kept: dict[str, tuple[str, str]] | None = None  # name -> the name of the dict, and the method

    def keep_view(self, name: str, value: gast.expr) -> bool:
        """Take up ``name = d.values()`` where ``d`` may change; whether that was done."""
        if isinstance(value, gast.Attribute) and value.attr == "flat":
            self.bind(name, value)
            match self.out[-1]:  # an array's, no field of that name
                case Bind(operation=Apply(function=function)) if function is attribute("flat"):
                    hint = "index y.flat where it is read, or take y.ravel()"
                    raise self.refuse(value, "an iterator that a name keeps", hint)
            return True
        is_told = name in self._read_as_values
        if not self._is_view(value):
            if self._hands_view_on(value) and self._dicts_change or is_told and self._may_be_view(value):
                raise self.refuse(value, _KEPT, _HINT)
            return False
        if not self._dicts_change and not is_told:
            return False
        kept = (self._views_kept or {}).get(name)
        if name not in self._read_later or (kept is not None and kept[1] != value.func.attr):
            raise self.refuse(value, _KEPT, _HINT)
        held = self.fresh("held") if kept is None else kept[0]
        self.bind(held, value.func.value)
        self._views_kept = {**(self._views_kept or {}), name: (held, value.func.attr)}
        return True

    def with_views(self, statement: gast.stmt) -> gast.stmt:
        """The statement with views in place of the names that keep them; what else keeps one is refused."""
        made: gast.AST = statement
        if self._views_kept and not self._views_kept.keys().isdisjoint(names_read(statement)):
            made = self._read_anew(statement)
        assert isinstance(made, gast.stmt)
        self._refuse_kept(made)
        return made

    def _refuse_kept(self, statement: gast.stmt) -> None:
        """Refuse views where they would be lists: in a container or a field, returned by a local function, kept as a
        default, subscripted, added."""
        pending: list[gast.AST] = [statement]
        while pending:
            node = pending.pop()
            parts: list[gast.AST] = []
            match node:
                case gast.FunctionDef(args=inner) | gast.Lambda(args=inner):
                    parts = default_values(inner)
                case gast.With():
                    continue  # their statements come one by one
                case gast.If(test=head) | gast.While(test=head) | gast.For(iter=head):
                    pending.append(head)
                    continue
                case gast.Tuple(elts=parts) | gast.List(elts=parts) | gast.Set(elts=parts) | gast.Dict(values=parts):
                    pass
                case gast.NamedExpr(value=value) | gast.ListComp(elt=value) | gast.GeneratorExp(elt=value):
                    parts = [value]
                case gast.Assign(targets=[gast.Attribute() | gast.Subscript()], value=value):
                    parts = [value]
                case gast.Subscript(value=value):  # a list has items at places, and a view has none
                    parts = [value]
                case gast.BinOp(op=gast.Add() | gast.Mult(), left=left, right=right):
                    parts = [left, right]
                case gast.Call(func=called):
                    parts = node.args if self._keeps_operands(called) else []
                case gast.Return(value=gast.expr() as value) if self.scope.parent is not None:
                    parts = [value]
            if any(self._may_be_view(part) or self._hands_view_on(part) for part in parts):
                raise self.refuse(node, _KEPT, _HINT)
            if not isinstance(node, Definition):  # their statements come one by one
                pending += children(node)

    def _keeps_operands(self, function: gast.expr) -> bool:
        """Whether a function keeps what it is given, as ``append`` does, or tells what it is."""
        if isinstance(function, GlobalReference):
            return function.binding.value in _ASKING
        is_method = isinstance(function, gast.Attribute) and self.known_static(function) is None
        return is_method and effects.method(function.attr).keeps

    def _hands_view_on(self, node: gast.expr) -> bool:
        """Whether this is a call of a function that returns a view of a dict."""
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name | gast.Attribute):
            return False
        static = self.known_static(node.func)
        return static is not None and isinstance(static.value, FunctionType) and returns_call_of(static.value, VIEWS)

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        if any(self._may_be_view(keyword.value) for keyword in node.keywords):
            raise self.refuse(node, "a view of a dict is given by keyword", _HINT)
        if any(map(self._may_be_view, node.args)) and self._may_change_dicts(node):
            raise self.refuse(node, "a view of a dict is given to a function that may change the dict", _HINT)
        if any(map(self._may_be_view, node.args)) and self._is_told_apart(node):
            raise self.refuse(node, "a view of a dict is given to a function that may tell it from a list", _HINT)
        return super().call(node)

    def write_for(self, node: gast.For) -> None:
        calls = (part for part in walk(node.iter) if isinstance(part, gast.Call) and any(map(self._is_view, part.args)))
        if any(self._iterator_of(call) is itertools.chain for call in calls):
            if any(self._stores_into_dict(part) for statement in node.body for part in walk(statement)):
                raise self.refuse(node.iter, "a chain of a view, whose dict this loop may change", "make lists of them")
        super().write_for(node)

    def _stores_into_dict(self, node: gast.AST) -> bool:
        match node:
            case gast.Subscript(ctx=gast.Store() | gast.Del()):
                return True
            case gast.Call(func=gast.Attribute(attr=name)) if self.known_static(node.func) is None:
                return bool(effects.member(dict, name).updates) if hasattr(dict, name) else False
            case gast.Call():
                return self._may_change_dicts(node)
        return False

    def _indexed_loop(self, node: gast.For, plan: Plan) -> None:
        """Rows that grow or shrink while their columns are looped over are refused when it happens."""
        super()._indexed_loop(node, plan)
        inner = plan.inner if isinstance(plan, Counted) else plan
        body = [part for statement in node.body for part in walk(statement)]
        if isinstance(inner, Columns) and any(isinstance(n, gast.Call) and self._may_change_dicts(n) for n in body):
            rows = call_runtime(runtime.shortest, [load(inner.rows, node)], node)
            place = f"{self.span.filename.rpartition('/')[2]}:{self.span.line}"
            given = [call_builtin("range", [rows], node), clone(inner.count), constant(place, node)]
            made = placed(gast.Expr(call_runtime(runtime.require_length, given, node)), node)
            self.out.append(Effect(made, self.span))

    def _read_anew(self, node: gast.AST) -> gast.AST:
        assert self._views_kept is not None
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and node.id in self._views_kept:
            held, method = self._views_kept[node.id]
            return method_call(load(held, node), method, [], node)
        changed: dict[str, object] = {}
        for field in node._fields:
            child = getattr(node, field, None)
            if isinstance(child, gast.AST):
                made: object = self._read_anew(child)
                if made is not child:
                    changed[field] = made
            elif isinstance(child, list):
                parts = [self._read_anew(part) if isinstance(part, gast.AST) else part for part in child]
                if any(new is not old for new, old in zip(parts, child, strict=True)):
                    changed[field] = parts
        if not changed:
            return node
        return placed(type(node)(**{f: changed.get(f, getattr(node, f, None)) for f in node._fields}), node)

    def parts_of_chain(self, given: Sequence[gast.expr], node: gast.AST) -> gast.expr:
        """What ``chain`` goes over: it begins once all operands are evaluated, so that views may be lists here."""
        parts = [call_builtin("list", [part], node) if self._is_view(part) else part for part in given]
        return super().parts_of_chain(parts, node)

    def _may_be_view(self, value: gast.expr) -> bool:
        match value:
            case gast.IfExp(body=body, orelse=orelse):
                return self._may_be_view(body) or self._may_be_view(orelse)
            case gast.BoolOp(values=values):
                return any(map(self._may_be_view, values))
        return self._is_view(value)

    def _is_view(self, value: gast.expr) -> bool:
        match value:
            case gast.Call(func=gast.Attribute(value=base, attr=attr), args=[], keywords=[]) if attr in VIEWS:
                return self.scope.static_of(base) is None and not self.is_object(base) and not self.is_global(base)
        return False

    @of_the_text
    def _read_as_values(self) -> frozenset[str]:
        """The names that are read otherwise than gone over, counted and searched."""
        return _read_as_values(self.scope.body, self._goes_over)

    def _goes_over(self, function: gast.Name) -> bool:
        static = self.known_static(function)
        return static is not None and static.value in _GOING_OVER

    def _is_told_apart(self, node: gast.Call) -> bool:
        """Whether a function of the user's is given a view, which it may tell from a list."""
        static = self.known_static(node.func)
        function = None if static is None else static.value
        if not isinstance(function, FunctionType) or lookup(function) is not None:
            return False
        try:
            text: Any = source_of(function).node
        except SourceUnavailable:
            return True
        names = {each.__name__ for each in _GOING_OVER} - function.__globals__.keys()
        read = _read_as_values(body_of(text), lambda called: called.id in names)
        given = zip(text.args.args, node.args, strict=False)
        return any(parameter.id in read for parameter, value in given if self._may_be_view(value))

    @of_the_text
    def _dicts_change(self) -> bool:
        """Whether anything in this function may change a dict."""
        for node in self.own_nodes():
            match node:
                case gast.Subscript(ctx=gast.Store() | gast.Del()) | gast.AugAssign(op=gast.BitOr()):
                    return True
                case gast.Call() if self._may_change_dicts(node):
                    return True
        return False

    def own_nodes(self) -> Iterator[gast.AST]:
        """The nodes of the function's text, without the bodies of the functions in it."""
        return nodes_of(self.scope.body)

    def known_static(self, node: gast.expr) -> Static | None:
        """What a call's function is, of calls in comprehensions too, whose names are not bound here."""
        try:
            return self.scope.static_of(node)
        except UnresolvedName:
            return None

    def _may_change_dicts(self, node: gast.Call) -> bool:
        static = self.known_static(node.func)
        if static is None:
            return not (isinstance(node.func, gast.Attribute) and only_reads(node.func.attr))
        if isinstance(static.value, FunctionType):
            return may_store(static.value)
        is_class = isinstance(static.value, type) and static.value.__module__ not in _PLAIN_MODULES
        return isinstance(static.value, LocalFunction) or is_class

    @of_the_text
    def _read_later(self) -> frozenset[str]:
        """The names that are bound once, and read after that in the text, by the function itself."""
        stores: dict[str, list[tuple[int, int]]] = {}
        reads: dict[str, list[tuple[int, int]]] = {}
        inside: set[str] = set()
        for node in walk(*self.scope.body):
            if isinstance(node, gast.FunctionDef | gast.Lambda):
                inside |= {inner.id for part in children(node) for inner in walk(part) if isinstance(inner, gast.Name)}
            if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
                kind = reads if isinstance(node.ctx, gast.Load) else stores
                kind.setdefault(node.id, []).append((node.lineno, node.col_offset))
        once = {name: places[0] for name, places in stores.items() if len(places) == 1 and name not in inside}
        return frozenset(name for name, place in once.items() if all(place < read for read in reads.get(name, ())))


def _read_as_values(body: Sequence[gast.stmt], goes_over: Callable[[gast.Name], bool]) -> frozenset[str]:
    """The names that are read otherwise than gone over; ``goes_over`` tells functions that only do so."""
    found: set[str] = set()
    for node in walk(*body):
        gone_over = [id(part) for part in _gone_over(node, goes_over)]
        names = (part for part in children(node) if isinstance(part, gast.Name) and id(part) not in gone_over)
        found.update(name.id for name in names if isinstance(name.ctx, gast.Load))
    return frozenset(found)


def _gone_over(node: gast.AST, goes_over: Callable[[gast.Name], bool]) -> list[gast.expr]:
    """The operands of a node of which it reads the items, their number, or whether something is one of them."""
    match node:
        case gast.For(iter=part) | gast.comprehension(iter=part) | gast.Starred(value=part):
            return [part]
        case gast.Compare(ops=ops, comparators=parts) if all(isinstance(op, gast.In | gast.NotIn) for op in ops):
            return list(parts)
        case gast.Call(func=gast.Name() as called, args=parts):
            return list(parts) if goes_over(called) else []
        case gast.Assign(targets=[gast.Tuple() | gast.List()], value=part):
            return [part]
    return []
