"""Iteration: every loop over something that can be indexed becomes a counted loop over a hidden index.

Enters: ``gast.For``.  Leaves: ``For`` over a ``range``, the elements bound at the head of its body, and the heading as
the user wrote it; or an uncounted ``For`` over items that carry no derivative::

    for j, (v, w) in enumerate(zip(xs, ys)):     ->     for j in range(min(len(xs), len(ys))):
        s = s + v * w                                       v = xs[j];  w = ys[j]
                                                            s = s + v * w
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import gast

from srcgrad import runtime
from srcgrad.frontend.callees import makes_iterator
from srcgrad.frontend.data_model import RESIZED, counts_objects, may_resize
from srcgrad.frontend.desugar.build import assign, binary, call_builtin, call_runtime, constant, load, placed, subscript
from srcgrad.frontend.mappings import mappings
from srcgrad.frontend.names import bindings, names_of
from srcgrad.frontend.normal_form import Fixed, For
from srcgrad.frontend.plans import Counted, Entries, Items, Mapped, Numbers, Plan, Reversed, Zipped, lettered, mapped_by
from srcgrad.frontend.ranges import Ranges
from srcgrad.frontend.replacing import of_the_text
from srcgrad.frontend.scope import Variable
from srcgrad.language import effects
from srcgrad.syntax.globals import GlobalBinding, GlobalReference
from srcgrad.syntax.parse import children, names_read, parameters_of, walk


class Loops(Ranges):
    """``for`` of every kind."""

    def write_for(self, node: gast.For) -> None:
        rebound = names_of([node.target]) | {name for name, _ in bindings(*node.body)}
        if self._is_range(node.iter) and isinstance(node.target, gast.Name):
            self._range_loop(node, node.iter, None)
            return
        backwards = self._reversed_range(node.iter)
        if backwards is not None and isinstance(node.target, gast.Name):
            self._range_loop(node, backwards, (node.target, node.iter))
            return
        iterable = None if self._is_mapping(node.iter) else self._indexing_items(node, rebound)
        if iterable is None:
            plan = self.plan(node.iter, rebound)
            if plan is not None and _holds_strict(plan):
                raise self.refuse(node.iter, "a strict zip inside of another iterator", "make a list of it before")
            if plan is not None and counts_objects(plan, self.known_name) and may_resize(self, node.body):
                raise self.refuse(node.iter, RESIZED, "loop over a list of its items")
            if plan is not None:
                self._indexed_loop(node, plan)
                return
            iterable = self._iterator(node)
        elif isinstance(iterable, gast.Name) and not isinstance(iterable, GlobalReference):
            self.walk(iterable.id, iterable.id, node.iter)
        self._uncounted_loop(node, iterable)

    # --- indexed loops -----------------------------------------------------------------------------------------------
    def plan(self, node: gast.expr, rebound: set[str]) -> Plan | None:
        """How to index what an expression iterates over; None if it cannot be indexed.  Evaluates the expression."""
        if isinstance(node, gast.Call):
            if self._is_range(node):
                return Numbers(tuple(self._now(argument, rebound) for argument in node.args))
            if isinstance(node.func, gast.Attribute) and node.func.attr in ("keys", "values", "items"):
                if not node.args and self.scope.static_of(node.func.value) is None:
                    return self._entries(node.func.value, node.func.attr, rebound)
            static = self.scope.static_of(node.func)
            function = None if static is None else static.value
            if function is enumerate and node.args:
                return self._enumerated(node, rebound)
            if function is zip:
                strict = self._is_strict(node)
                inner = self._plans(node.args, rebound)
                return None if inner is None else Zipped(inner, strict)
            if function is reversed and len(node.args) == 1:
                inner_node, is_counted = self.run_backwards(node.args[0])
                plan = self.items_of(inner_node, rebound) if is_counted else self.plan(inner_node, rebound)
                return None if plan is None else Reversed(plan)
            if function is map and len(node.args) > 1 and self.scope.static_of(node.args[0]) is not None:
                inner = self._plans(node.args[1:], rebound) if self.is_fixed(node.args[0], rebound) else None
                return None if inner is None else Mapped(node.args[0], inner)
            if makes_iterator(function):
                return None
        if self._is_mapping(node):
            return self._entries(node, "keys", rebound)
        if isinstance(node, gast.GeneratorExp):
            node = placed(gast.ListComp(node.elt, node.generators), node)
        node = self.iterated(node)
        if isinstance(node, gast.Constant | gast.JoinedStr | gast.Set):
            return None
        value = self._global(node)
        if value is not None and not _can_be_indexed(value):
            return None
        return self.items_of(node, rebound)

    def items_of(self, node: gast.expr, rebound: set[str]) -> Items:
        """What an expression evaluates to, by its places."""
        atom = self.value(node)
        assert isinstance(atom, gast.Name)
        if atom.id in rebound and isinstance(node, gast.Name):
            kept = self.fresh()
            self.bind(kept, atom)
            return Items(kept)
        return Items(atom.id)

    def _is_strict(self, node: gast.Call) -> bool:
        for keyword in node.keywords:
            value = keyword.value.value if isinstance(keyword.value, gast.Constant) else self._global(keyword.value)
            if not isinstance(value, bool | int):
                raise self.refuse(node, "a zip whose strict is computed", "write strict=True or strict=False")
            return bool(value)
        return False

    def _plans(self, nodes: list[gast.expr], rebound: set[str]) -> tuple[Plan, ...] | None:
        if any(isinstance(node, gast.Starred) for node in nodes):
            return None
        plans = [self.plan(lettered(node), rebound) for node in nodes]
        return tuple(p for p in plans if p is not None) if all(p is not None for p in plans) else None

    def _enumerated(self, node: gast.Call, rebound: set[str]) -> Plan | None:
        inner = self.plan(lettered(node.args[0]), rebound)
        starts = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
        start = self._now(starts[0], rebound) if starts else None
        return None if inner is None else Counted(inner, start)

    def _now(self, node: gast.expr, rebound: set[str]) -> gast.expr:
        """A number as it is before the loop, which may bind its name again, or change what it is read of."""
        settled = self.settle(node, calls=False)
        stays = rebound.isdisjoint(names_read(settled)) and not self.may_be_changed(node)
        return settled if stays else self.held(settled)

    @abstractmethod
    def may_be_changed(self, node: gast.AST) -> bool:
        """Whether what an expression evaluates to may change, if something else is evaluated before."""

    def _entries(self, node: gast.expr, view: str, rebound: set[str]) -> Plan:
        mapping = self.name_of(node)
        if mapping in rebound:
            kept = self.fresh()
            self.bind(kept, load(mapping, node))
            mapping = kept
        keys = self.keys_of(mapping, node)
        self.walk(mapping, keys, node)
        return Items(keys) if view == "keys" else Entries(mapping, keys, view == "items")

    def walk(self, container: str, items: str, at: gast.AST) -> None:
        """Mark that a loop goes over the items of a dict or a set, which may change meanwhile."""
        if not self.source.generated:
            marked = call_runtime(runtime.followed, [load(container, at), load(items, at)], at)
            self.emit(self.fresh("walk"), marked, Fixed())

    def _global(self, node: gast.expr) -> object:
        if isinstance(node, GlobalReference):
            return node.binding.value
        if isinstance(node, gast.Name):
            meaning = self.scope.resolve(node.id, node)
            return meaning.value if isinstance(meaning, GlobalBinding) else None
        return None

    def _refuse_changed_length(self, node: gast.For, plan: Plan) -> None:
        """A list that changes its length while it is looped over by name: the number of passes is not known before."""
        lists = set(_listed(plan))
        for inner in (part for statement in node.body for part in walk(statement)):
            match inner:
                case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)) if attr in effects.resizing():
                    changed = name in lists
                case gast.AugAssign(target=gast.Name(id=name)):
                    changed = name in lists
                case gast.Delete(targets=targets):
                    changed = any(isinstance(t, gast.Subscript) and names_of([t.value]) & lists for t in targets)
                case _:
                    changed = False
            if changed:
                hint = "loop over a copy of it, list(...), or write a while loop"
                raise self.refuse(inner, "a list changes its length while it is looped over", hint)

    def _indexed_loop(self, node: gast.For, plan: Plan) -> None:
        self._refuse_changed_length(node, plan)
        mapped = [self.scope.static_of(function) for function in mapped_by(plan)]
        local = any(static is None or static.expression is None for static in mapped)  # the emitted module has it not
        is_printable = not (stores_into(node.target) or local)
        heading = (node.target, self.printable(plan, node.iter)) if is_printable else None
        taken = {name for name, _ in bindings(*node.body)} | self.bound_otherwise
        own = self._own_index(node.target, plan)
        index = own if own is not None and own not in taken else self.fresh("i")
        count = self.held_count(plan, node)
        span = self.span
        elements = 0

        def write() -> None:
            nonlocal elements
            if own == index and isinstance(plan, Counted):
                self.bind_element(node.target.elts[1], plan.inner, load(index, node.iter), node)
            else:
                self.bind_element(node.target, plan, load(index, node.iter), node)
            elements = 0 if heading is None else len(self.out)
            self.run(node.body)

        body = self.block(write)
        iterable = call_builtin("range", [count], node.iter)
        self.out.append(For(index, iterable, body, span, True, heading, elements, indexed=True))

    def _own_index(self, target: gast.expr, plan: Plan) -> str | None:
        """The user's own index, where he has one: ``for j, v in enumerate(xs)``."""
        if isinstance(plan, Counted) and plan.start is None and isinstance(target, gast.Tuple):
            first, second = target.elts if len(target.elts) == 2 else (target, target)
            if isinstance(first, gast.Name) and first.id not in names_of([second]):
                return str(first.id)
        return None

    def held_count(self, plan: Plan, node: gast.For) -> gast.expr:
        if isinstance(plan, Zipped) and plan.strict:
            lists = [self.printable(inner, node.iter) for inner in plan.inner]
            checked = _zip(lists, True, node.iter)
            listed = call_builtin("list", [checked], node.iter)
            return self.held(call_builtin("len", [listed], node.iter))
        count = self.length(plan, node)
        return count

    def length(self, plan: Plan, at: gast.AST) -> gast.expr:
        """The number of elements, as an expression."""
        match plan:
            case Items(name=name) | Entries(keys=name):
                return call_builtin("len", [load(name, at)], at)
            case Numbers(arguments=[gast.expr() as only]):
                return call_builtin("len", [call_builtin("range", [only], at)], at)
            case Numbers(arguments=arguments):
                return call_builtin("len", [call_builtin("range", list(arguments), at)], at)
            case Counted(inner=inner) | Reversed(inner=inner):
                return self.length(inner, at)
            case Zipped(inner=inner) | Mapped(inner=inner):
                lengths = [self.length(one, at) for one in inner]
                if not lengths:
                    return constant(0, at)
                return lengths[0] if len(lengths) == 1 else self.held(call_builtin("min", lengths, at))
        raise AssertionError(plan)

    def element(self, plan: Plan, index: gast.expr, at: gast.AST) -> gast.expr:
        """The element at ``index``, as an expression still to be written."""
        match plan:
            case Items(name=name):
                return subscript(load(name, at), index, at)
            case Numbers(arguments=arguments):
                start = arguments[0] if len(arguments) > 1 else None
                step = arguments[2] if len(arguments) > 2 else None
                moved = index if step is None else binary(index, gast.Mult(), step, at)
                return moved if start is None else binary(start, gast.Add(), moved, at)
            case Counted(inner=inner, start=start):
                count = index if start is None else binary(start, gast.Add(), index, at)
                return placed(gast.Tuple([count, self.element(inner, index, at)], gast.Load()), at)
            case Zipped(inner=inner):
                return placed(gast.Tuple([self.element(one, index, at) for one in inner], gast.Load()), at)
            case Reversed(inner=inner):
                return self.element(inner, self._from_the_end(inner, index, at), at)
            case Entries(mapping=mapping, keys=keys, pairs=pairs):
                key = subscript(load(keys, at), index, at)
                entry = subscript(load(mapping, at), key, at)
                return placed(gast.Tuple([key, entry], gast.Load()), at) if pairs else entry
            case Mapped(function=function, inner=inner):
                return placed(gast.Call(function, [self.element(one, index, at) for one in inner], []), at)
        raise AssertionError(plan)

    def _from_the_end(self, plan: Plan, index: gast.expr, at: gast.AST) -> gast.expr:
        last = binary(self.length(plan, at), gast.Sub(), constant(1, at), at)
        return binary(last, gast.Sub(), index, at)

    def bind_element(self, target: gast.expr, plan: Plan, index: gast.expr, at: gast.AST) -> None:
        """Write ``target = element``, component by component where both sides show their structure."""
        if isinstance(plan, Reversed):
            self.bind_element(target, plan.inner, self._from_the_end(plan.inner, index, at), at)
            return
        if isinstance(target, gast.Tuple | gast.List) and not (
            any(isinstance(e, gast.Starred) for e in target.elts) or stores_into(target)
        ):
            if isinstance(plan, Zipped) and len(plan.inner) == len(target.elts):
                for one, inner in zip(target.elts, plan.inner, strict=True):
                    self.bind_element(one, inner, index, at)
                return
            if isinstance(plan, Counted) and len(target.elts) == 2:
                count = index if plan.start is None else binary(plan.start, gast.Add(), index, at)
                self._assign(target.elts[0], count, at)
                self.bind_element(target.elts[1], plan.inner, index, at)
                return
            if isinstance(plan, Entries) and plan.pairs and len(target.elts) == 2:
                self._assign(target.elts[0], subscript(load(plan.keys, at), index, at), at)
                key = target.elts[0] if isinstance(target.elts[0], gast.Name) else None
                place = subscript(load(plan.keys, at), index, at) if key is None else load(key.id, at)
                self._assign(target.elts[1], subscript(load(plan.mapping, at), place, at), at)
                return
        self._assign(target, self.element(plan, index, at), at)

    def _assign(self, target: gast.expr, value: gast.expr, at: gast.AST) -> None:
        self.run(self.desugared([assign(target, value, at)]))

    def desugared(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        raise NotImplementedError

    def printable(self, plan: Plan, at: gast.AST) -> gast.expr:
        """The iterable as text, on names that are evaluated."""
        match plan:
            case Items(name=name):
                return load(name, at)
            case Numbers(arguments=arguments):
                return call_builtin("range", list(arguments), at)
            case Counted(inner=inner, start=start):
                return call_builtin("enumerate", [self.printable(inner, at), *([] if start is None else [start])], at)
            case Zipped(inner=inner, strict=strict):
                return _zip([self.printable(one, at) for one in inner], strict, at)
            case Reversed(inner=inner):
                return call_builtin("reversed", [self.printable(inner, at)], at)
            case Entries(mapping=mapping, pairs=pairs):
                view = placed(gast.Attribute(load(mapping, at), "items" if pairs else "values", gast.Load()), at)
                return placed(gast.Call(view, [], []), at)
            case Mapped(function=function, inner=inner):
                static = self.scope.static_of(function)
                spelled = function if static is None or static.expression is None else static.expression
                return call_builtin("map", [spelled, *(self.printable(one, at) for one in inner)], at)
        raise AssertionError(plan)

    # --- uncounted loops ---------------------------------------------------------------------------------------------
    def _is_mapping(self, node: gast.expr) -> bool:
        """Whether a name seems to hold a dict.  Its ``keys()`` are asked for, so a wrong guess fails and is seen."""
        if not isinstance(node, gast.Name) or node.id not in self.mappings:
            return False
        return isinstance(self.scope.resolve(node.id, node), Variable)

    def _indexing_items(self, node: gast.For, rebound: set[str]) -> gast.expr | None:
        """``for k in d`` where every pass reads ``d[k]``: k is a key or a whole number, and carries no derivative."""
        if not isinstance(node.iter, gast.Name) or not isinstance(node.target, gast.Name) or node.iter.id in rebound:
            return None
        if not isinstance(self.scope.resolve(node.iter.id, node.iter), Variable):
            return None
        for statement in node.body:
            match statement:
                case gast.Assign(value=value) | gast.AugAssign(value=value) | gast.Expr(value=value):
                    if _always_indexes(value, node.iter.id, node.target.id):
                        return self.value(node.iter)
                    if node.target.id in {name for name, _ in bindings(statement)}:
                        return None
        return None

    @of_the_text
    def mappings(self) -> frozenset[str]:
        arguments = self.scope.node.args
        given = () if arguments.kwarg is None else (arguments.kwarg.id,)
        return mappings(self.scope.body, parameters_of(arguments)).union(given)

    def _iterator(self, node: gast.For) -> gast.expr:
        """An iterable that cannot be indexed: its items must carry no derivative."""
        settled = self.settle(node.iter)
        if names_read(settled):
            held = self.fresh("items")
            self.emit(held, settled, self.unruled(node.iter, settled, "the items of this iterator", hint=_LISTS))
            return load(held, node.iter)
        return settled

    def _uncounted_loop(self, node: gast.For, iterable: gast.expr) -> None:
        span = self.span
        heading: tuple[gast.expr, gast.expr] | None = None
        index = node.target.id if isinstance(node.target, gast.Name) else self.fresh("item")
        elements = 0
        if not isinstance(node.target, gast.Name) and not stores_into(node.target):
            heading = (node.target, iterable)

        def write() -> None:
            nonlocal elements
            if not isinstance(node.target, gast.Name):
                self._assign(node.target, load(index, node.target), node)
                elements = 0 if heading is None else len(self.out)
            self.run(node.body)

        self.out.append(For(index, iterable, self.block(write), span, False, heading, elements))


def _listed(plan: Plan) -> Iterator[str]:
    """The sequences that a plan runs over."""
    match plan:
        case Items(name=name):
            yield name
        case Counted(inner=inner) | Reversed(inner=inner):
            yield from _listed(inner)
        case Zipped(inner=parts) | Mapped(inner=parts):
            for part in parts:
                yield from _listed(part)


_LISTS = "loop over lists, tuples or arrays, by index where need be"


def _always_indexes(root: gast.expr, base: str, key: str) -> bool:
    """Whether evaluating an expression always reads ``base[key]``."""
    pending: list[gast.AST] = [root]
    while pending:
        node = pending.pop()
        match node:
            case gast.Subscript(value=gast.Name(id=name), slice=gast.Name(id=index)) if name == base and index == key:
                return True
            case gast.NamedExpr():
                return False
            case gast.IfExp(test=first) | gast.BoolOp(values=[first, *_]) | gast.Compare(left=first):
                pending.append(first)
            case gast.Lambda() | gast.ListComp() | gast.GeneratorExp():
                continue
            case _:
                pending += children(node)
    return False


def stores_into(target: gast.expr) -> bool:
    """Whether assigning to a target stores into objects, so that it does more than to bind names."""
    return any(isinstance(node, gast.Subscript | gast.Attribute) for node in walk(target))


def _zip(given: list[gast.expr], strict: bool, at: gast.AST) -> gast.Call:
    made = call_builtin("zip", given, at)
    made.keywords = [gast.keyword("strict", constant(True, at))] if strict else []
    return made


def _holds_strict(plan: object) -> bool:
    """Whether a plan inside of this one is of a strict zip, whose lengths a loop over the whole does not compare."""
    inner = getattr(plan, "inner", ())
    parts = inner if isinstance(inner, tuple) else (inner,)
    return any(isinstance(part, Zipped) and part.strict or _holds_strict(part) for part in parts)


def _can_be_indexed(value: object) -> bool:
    return hasattr(value, "__getitem__") and hasattr(value, "__len__") and not isinstance(value, dict | str | bytes)


