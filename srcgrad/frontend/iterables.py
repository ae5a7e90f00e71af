"""Iterators of ``itertools`` and ``filter`` where they are consumed at once; ``reduce``, and keys of orders.

Enters: calls of them.  Leaves: the lists that they run through, made by comprehensions and loops.  An iterator that has
a name is refused elsewhere: who reads it twice finds it empty::

    for a, b in pairwise(xs)       ->     for a, b in [(t[i], t[i + 1]) for i in range(len(t) - 1)]
    functools.reduce(f, xs, s)     ->     for v in xs: s = f(s, v)
    max(xs, key=f)                 ->     t[chosen([f(v) for v in t], True)]
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Sequence

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.containers import Containers
from srcgrad.frontend.desugar.build import (
    assign,
    binary,
    branch,
    call,
    call_builtin,
    call_runtime,
    compare,
    constant,
    load,
    method_call,
    negation,
    placed,
    store,
    subscript,
    targets,
    tuple_of,
    with_bodies,
)
from srcgrad.frontend.names import bindings, names_of
from srcgrad.frontend.normal_form import Fixed, Operation
from srcgrad.frontend.plans import Columns, Elements, Plan
from srcgrad.frontend.replacing import of_the_text
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.parse import walk

#: What runs through its first argument at once, and keeps nothing of it.
CONSUMERS = (
    sum, min, max, sorted, any, all, list, tuple, math.fsum, math.prod, statistics.fmean, statistics.mean,
)  # fmt: skip


class Iterables(Containers):
    """Iterators as lists."""

    def plan(self, node: gast.expr, rebound: set[str]) -> Plan | None:
        if isinstance(node, gast.Call) and self._zips_rows(node):
            return self._columns(node)
        if self._maps_rows(node):
            row, head = self._own("row"), reference(GlobalBinding("zip", zip, "builtins", "zip"))
            made = call(node.args[0], [placed(gast.Starred(row, gast.Load()), node)], node)
            return super().plan(self._comprehension(made, call(head, node.args[1:], node), node, row), rebound)
        if isinstance(node, gast.Call) and self._calls(node, np.ndenumerate) and len(node.args) == 1:
            array = self.value(call(_numpy("asarray", np.asarray), node.args, node))
            assert isinstance(array, gast.Name)
            shape = placed(gast.Attribute(array, "shape", gast.Load()), node)
            places = self.held(self.settle(call_runtime(runtime.all_places, [shape], node)))
            assert isinstance(places, gast.Name)
            return Elements(array.id, places.id, True)
        listed = self._listed_iterator(node)
        return super().plan(node if listed is None else listed, rebound)

    def _is_iterator(self, node: gast.expr) -> bool:
        return self._iterator_of(node) is not None or super()._is_iterator(node)

    def draws(self, node: gast.expr) -> bool:
        return self._iterator_of(node) is not None or super().draws(node)

    def _is_pairs(self, node: gast.expr) -> bool:
        return self._is_iterator(node) or super()._is_pairs(node)

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        static = self.scope.static_of(node.func)
        function = None if static is None else static.value
        if function is functools.reduce and 2 <= len(node.args) <= 3 and not node.keywords:
            return self.operation(self._reduced(node))
        if function is math.hypot and len(node.args) == 1 and isinstance(node.args[0], gast.Starred):
            return self.operation(self._distance(node, node.args[0].value))
        if function in CONSUMERS and node.args and self._is_iterator(node.args[0]):
            listed = self.consumed(node.args[0])
            return self.call(placed(gast.Call(node.func, [self.value(listed), *node.args[1:]], node.keywords), node))
        return super().call(node)

    def _distance(self, node: gast.Call, items: gast.expr) -> gast.expr:
        """``math.hypot(*xs)`` of any number of coordinates: the distance from the origin, which is computed alike."""
        name = self._items(items)
        count, origin = call_builtin("len", [load(name, node)], node), gast.List([constant(0.0, node)], gast.Load())
        zeros = binary(placed(origin, node), gast.Mult(), count, node)
        head = reference(GlobalBinding("dist", math.dist, "math", "dist"))
        return call(head, [load(name, node), self.held(self.settle(zeros))], node)

    def consumed(self, node: gast.expr) -> gast.expr:
        """What is taken apart at once: an iterator as its list."""
        listed = self._listed_iterator(node)
        if listed is None and self._is_iterator(node):
            item = self._own("item")
            listed = self._comprehension(item, node, node, item)
        return node if listed is None else listed

    def write_for(self, node: gast.For) -> None:
        """``for k in d`` where items are stored: the keys are a list of the loop's own, as an iterator cannot be
        reversed that runs through what changes.  In our own output the keys go on tapes, beside what varies."""
        rebound = names_of([node.target]) | {name for name, _ in bindings(*node.body)}
        own = self._stores_items or self.source.generated
        if not own or self._is_mapping(node.iter) or self._indexing_items(node, rebound) is None:
            super().write_for(node)
            return
        keys = self.fresh("keys")
        self.emit(keys, call_runtime(runtime.places_of, [self.value(node.iter)], node.iter), Fixed())
        super().write_for(with_bodies(node, iter=load(keys, node.iter)))

    @of_the_text
    def _stores_items(self) -> bool:
        """Whether an item of anything is stored, or deleted, in this function."""
        nodes = walk(*self.scope.body)
        return any(isinstance(n, gast.Subscript) and not isinstance(n.ctx, gast.Load) for n in nodes)

    # --- columns of rows ---------------------------------------------------------------------------------------------
    def _zips_rows(self, node: gast.Call) -> bool:
        if not self._calls(node, zip) or any(not _is_false(keyword) for keyword in node.keywords):
            return False
        return any(isinstance(argument, gast.Starred) for argument in node.args)

    def _maps_rows(self, node: gast.expr) -> bool:
        return self._calls(node, map) and any(isinstance(argument, gast.Starred) for argument in node.args[1:])

    def _columns(self, node: gast.Call) -> Plan:
        """``zip(*rows)``: its rows are those of the list as it is now, their elements are read as the loop goes."""
        parts = [a.value if isinstance(a, gast.Starred) else placed(gast.List([a], gast.Load()), a) for a in node.args]
        rows = self._items(parts[0] if len(parts) == 1 else self._flattened(tuple_of(parts, node), node))
        return Columns(rows, self.held(self.settle(call_runtime(runtime.shortest, [load(rows, node)], node))))

    def length(self, plan: Plan, at: gast.AST) -> gast.expr:
        return plan.count if isinstance(plan, Columns) else super().length(plan, at)

    def element(self, plan: Plan, index: gast.expr, at: gast.AST) -> gast.expr:
        if not isinstance(plan, Columns):
            return super().element(plan, index, at)
        row = self._own("row")
        here = self._comprehension(subscript(row, index, at), load(plan.rows, at), at, row)
        return call_builtin("tuple", [here], at)

    def printable(self, plan: Plan, at: gast.AST) -> gast.expr:
        if isinstance(plan, Elements):
            return call(_numpy("ndenumerate", np.ndenumerate), [load(plan.mapping, at)], at)
        if not isinstance(plan, Columns):
            return super().printable(plan, at)
        return call_builtin("zip", [placed(gast.Starred(load(plan.rows, at), gast.Load()), at)], at)

    def _iterator_of(self, node: gast.expr) -> object:
        """The function of an iterator that is known here; None for anything else."""
        if not isinstance(node, gast.Call) or node.keywords and not _only(node, "initial", "repeat", "fillvalue"):
            return None
        static = self.scope.static_of(node.func)
        function = None if static is None else static.value
        if function is np.ndindex:
            return function
        if any(isinstance(argument, gast.Starred) for argument in node.args):
            return None
        if getattr(function, "__qualname__", "") == "chain.from_iterable":
            return function
        return function if function in _KNOWN and len(node.args) in _KNOWN[function] else None

    def bounds_of(self, given: Sequence[gast.expr], node: gast.expr) -> list[gast.expr]:
        """The bounds of an ``islice``, which a slice takes too where ``islice`` raises nothing."""
        bounds = [self.value(bound) for bound in given]
        known = [bound.value if isinstance(bound, gast.Constant) else 0 for bound in bounds]
        if not all(value is None or type(value) is int and value > 0 for value in known):
            self.look(runtime.require_bounds, bounds, node)
        return bounds

    def _listed_iterator(self, node: gast.expr) -> gast.expr | None:
        """The list that an iterator runs through, as an expression."""
        function = self._iterator_of(node)
        if function is None:
            return None
        assert isinstance(node, gast.Call)
        args: Sequence[gast.expr] = node.args
        if function is np.ndindex:
            return call_runtime(runtime.all_places, list(args), node)
        if function is itertools.chain:
            return self._flattened(self.parts_of_chain(args, node), node)
        if function is itertools.islice:
            items, bounds = self._items(args[0]), self.bounds_of(args[1:], node)
            bounds = [constant(None, node), *bounds] if len(bounds) == 1 else bounds
            part = placed(gast.Slice(*bounds, *[None] * (3 - len(bounds))), node)
            return subscript(load(items, node), part, node)
        if function is itertools.repeat:
            value = self.value(args[0])
            return self._comprehension(value, call_builtin("range", [args[1]], node), node)
        if function is itertools.pairwise:
            name, i = self._items(args[0]), self._own("i")
            after = binary(load(i.id, node), gast.Add(), constant(1, node), node)
            pair = tuple_of([subscript(load(name, node), i, node), subscript(load(name, node), after, node)], node)
            last = binary(call_builtin("len", [load(name, node)], node), gast.Sub(), constant(1, node), node)
            return self._comprehension(pair, call_builtin("range", [last], node), node, i)
        if function is itertools.product:
            return self._product(node)
        if function in (itertools.combinations, itertools.combinations_with_replacement, itertools.permutations):
            return self._combinations(node, function)
        if function in (itertools.takewhile, itertools.dropwhile):
            return self._collected(node)
        if function is itertools.zip_longest:
            return self.longest(node, [self._items(argument) for argument in args], self._own("i"))
        if function is itertools.compress:
            item, chosen = self._own("item"), self._own("chosen")
            pair = targets([store(item.id, node), store(chosen.id, node)], node)
            source = call_builtin("zip", args, node)
            return placed(gast.ListComp(item, [gast.comprehension(pair, source, [chosen], 0)]), node)
        if function is itertools.accumulate:
            return self._accumulated(node)
        if function is itertools.starmap:
            row = self._own("row")
            spread = placed(gast.Starred(row, gast.Load()), node)
            return self._comprehension(call(args[0], [spread], node), args[1], node, row)
        if function in (filter, itertools.filterfalse):
            item = self._own("item")
            is_none = isinstance(args[0], gast.Constant) and args[0].value is None
            test = load(item.id, node) if is_none else call(args[0], [load(item.id, node)], node)
            test = test if function is filter else negation(test, node)
            return self._comprehension(item, args[1], node, item, [test])
        return self._flattened(args[0], node)

    # --- the lists ---------------------------------------------------------------------------------------------------
    def _own(self, stem: str) -> gast.Name:
        """A name for a comprehension of our own."""
        name = self.fresh(stem)
        self.scope.locals.discard(name)
        return gast.Name(name, gast.Load(), None, None)

    def _items(self, node: gast.expr) -> str:
        """A name for a list of what an expression iterates over."""
        endless = self._calls(node, itertools.count) or self._calls(node, itertools.cycle)
        if endless or self._calls(node, itertools.repeat) and len(node.args) == 1 and not node.keywords:
            raise self.refuse(node, "the items of this iterator have no end", "put a range, or enumerate, in its place")
        listed = self._listed_iterator(node)
        atom = self._listed(node if listed is None else listed)
        assert isinstance(atom, gast.Name)
        return str(atom.id)

    def run_through(self, node: gast.expr) -> str:
        """A name for what is read item by item: the list or array itself, a list of anything else."""
        plain = isinstance(node, gast.Name) and not self._is_mapping(node)
        return self.name_of(node) if plain else self._items(node)

    def _comprehension(
        self,
        element: gast.expr,
        iterable: gast.expr,
        at: gast.AST,
        item: gast.Name | None = None,
        tests: Sequence[gast.expr] = (),
    ) -> gast.ListComp:
        if item is None:
            item = element.slice if isinstance(element, gast.Subscript) else self._own("i")
        assert isinstance(item, gast.Name)
        generator = gast.comprehension(store(item.id, at), iterable, list(tests), 0)
        return placed(gast.ListComp(element, [generator]), at)

    def parts_of_chain(self, given: Sequence[gast.expr], node: gast.AST) -> gast.expr:
        return tuple_of(list(given), node)

    def _flattened(self, parts: gast.expr, at: gast.AST) -> gast.ListComp:
        part, item = self._own("part"), self._own("item")
        outer = gast.comprehension(store(part.id, at), parts, [], 0)
        inner = gast.comprehension(store(item.id, at), part, [], 0)
        return placed(gast.ListComp(item, [outer, inner]), at)

    def _product(self, node: gast.Call) -> gast.expr:
        names = [self._items(argument) for argument in node.args]
        for keyword in node.keywords:
            if not isinstance(keyword.value, gast.Constant):
                raise self.refuse(keyword.value, "a product repeated a computed number of times", "write the loops")
            names *= int(keyword.value.value)
        if not names:
            return placed(gast.List([placed(gast.Tuple([], gast.Load()), node)], gast.Load()), node)
        items = [self._own("item") for _ in names]
        generators = [
            gast.comprehension(store(item.id, node), load(name, node), [], 0)
            for item, name in zip(items, names, strict=True)
        ]
        return placed(gast.ListComp(tuple_of(items, node), generators), node)

    def longest(self, node: gast.Call, names: list[str], index: gast.Name) -> gast.ListComp:
        """``zip_longest(a, b)`` of names as ``[(a[i] if i < len(a) else fill, ...) for i in range(max(...))]``."""
        fills = [keyword.value for keyword in node.keywords if keyword.arg == "fillvalue"]
        fill = self.value(fills[0]) if fills else constant(None, node)
        lengths = [call_builtin("len", [load(name, node)], node) for name in names]
        items: list[gast.expr] = []
        for name, length in zip(names, lengths, strict=True):
            item, has = subscript(load(name, node), index, node), compare(index, gast.Lt(), length, node)
            items.append(placed(gast.IfExp(has, item, fill), node))
        count = lengths[0] if len(lengths) == 1 else call_builtin("max", lengths, node)
        return self._comprehension(tuple_of(items, node), call_builtin("range", [count], node), node, index)

    def _collected(self, node: gast.Call) -> gast.expr:
        """``takewhile`` and its like as a list, made by a loop over them."""
        item, made = self.fresh("item"), self.fresh("made")
        keep = placed(gast.Expr(method_call(load(made, node), "append", [load(item, node)], node)), node)
        self.run([assign(made, placed(gast.List([], gast.Load()), node), node)])
        self.run([placed(gast.For(store(item, node), node, [keep], [], None), node)])
        return load(made, node)

    def _combinations(self, node: gast.Call, function: object) -> gast.ListComp:
        count = node.args[1]
        if not (isinstance(count, gast.Constant) and isinstance(count.value, int) and 1 <= count.value <= 4):
            raise self.refuse(count, "combinations of a computed number of items", "write the loops")
        name = self._items(node.args[0])
        places = [self._own("i") for _ in range(count.value)]
        generators = []
        for j, place in enumerate(places):
            first: gast.expr = constant(0, node)
            tests: list[gast.expr] = []
            if function is itertools.permutations:
                tests = [compare(place, gast.NotEq(), before, node) for before in places[:j]]
            elif j:
                first = load(places[j - 1].id, node)
            if j and function is itertools.combinations:
                first = binary(first, gast.Add(), constant(1, node), node)
            numbers = call_builtin("range", [first, call_builtin("len", [load(name, node)], node)], node)
            generators.append(gast.comprehension(store(place.id, node), numbers, tests, 0))
        parts = [subscript(load(name, node), load(place.id, node), node) for place in places]
        return placed(gast.ListComp(tuple_of(parts, node), generators), node)

    def _accumulated(self, node: gast.Call) -> gast.expr:
        given = {k.arg: k.value for k in node.keywords}
        name, total, sums, i = self._items(node.args[0]), self.fresh("total"), self.fresh("sums"), self.fresh("i")
        function = node.args[1] if len(node.args) > 1 else None
        here = subscript(load(name, node), load(i, node), node)
        joined = binary(load(total, node), gast.Add(), here, node) if function is None else call(
            function, [load(total, node), here], node
        )
        initial = given.get("initial")
        started = initial is not None and not (isinstance(initial, gast.Constant) and initial.value is None)
        self.run([assign(sums, placed(gast.List([], gast.Load()), node), node)])
        self.run([assign(total, initial if started and initial is not None else constant(None, node), node)])
        keep = placed(gast.Expr(method_call(load(sums, node), "append", [load(total, node)], node)), node)
        if started:
            self.run([keep])
            body: list[gast.stmt] = [assign(total, joined, node), keep]
        else:
            is_first = placed(gast.Compare(load(i, node), [gast.Eq()], [constant(0, node)]), node)
            first = subscript(load(name, node), load(i, node), node)
            body = [branch(is_first, [assign(total, first, node)], [assign(total, joined, node)], node), keep]
        numbers = call_builtin("range", [call_builtin("len", [load(name, node)], node)], node)
        self.run([placed(gast.For(store(i, node), numbers, body, [], None), node)])
        return load(sums, node)

    def some(self, count: gast.expr, at: gast.AST) -> gast.stmt:
        """What raises as ``reduce`` does where there is nothing to begin with."""
        return placed(gast.Expr(call_runtime(runtime.require_some, [self.held(self.settle(count))], at)), at)

    def _reduced(self, node: gast.Call) -> gast.expr:
        name, total, i = self.run_through(node.args[1]), self.fresh("total"), self.fresh("i")
        start = 0 if len(node.args) == 3 else 1
        if start:
            self.run([self.some(call_builtin("len", [load(name, node)], node), node)])
        first = node.args[2] if start == 0 else subscript(load(name, node), constant(0, node), node)
        self.run([assign(total, first, node)])
        here = subscript(load(name, node), load(i, node), node)
        body: list[gast.stmt] = [assign(total, call(node.args[0], [load(total, node), here], node), node)]
        numbers = call_builtin("range", [constant(start, node), call_builtin("len", [load(name, node)], node)], node)
        self.run([placed(gast.For(store(i, node), numbers, body, [], None), node)])
        return load(total, node)


_KNOWN: dict[object, tuple[int, ...]] = {
    itertools.chain: tuple(range(20)),
    itertools.islice: (2, 3, 4),
    itertools.repeat: (2,),
    itertools.pairwise: (1,),
    itertools.product: (1, 2, 3, 4),
    itertools.combinations: (2,),
    itertools.combinations_with_replacement: (2,),
    itertools.permutations: (2,),
    itertools.takewhile: (2,),
    itertools.dropwhile: (2,),
    itertools.filterfalse: (2,),
    itertools.compress: (2,),
    itertools.zip_longest: (1, 2, 3, 4),
    itertools.accumulate: (1, 2),
    itertools.starmap: (2,),
    filter: (2,),
}


def _only(node: gast.Call, *names: str) -> bool:
    return all(keyword.arg in names for keyword in node.keywords)


def _is_false(keyword: gast.keyword) -> bool:
    return keyword.arg == "strict" and isinstance(keyword.value, gast.Constant) and keyword.value.value is False


def _numpy(name: str, function: object) -> gast.expr:
    return reference(GlobalBinding(name, function, "numpy", name))
