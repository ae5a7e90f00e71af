"""Loops over iterators that read what they run through as the loop goes: the loop itself does what they do.

Enters: ``for`` over an iterator of ``itertools`` or ``filter``, ``any`` and ``all`` of what a function makes.  Leaves:
loops in which every item is read, and every function called, when Python does; what the body stores is seen::

    for v in filter(test, xs): ...      ->     for t in xs:
                                                   if test(t): v = t; ...
    for a, b in pairwise(xs): ...       ->     for i in range(len(xs) - 1):
                                                   first = xs[0] if i == 0 else last;  last = xs[i + 1]
                                                   a, b = first, last; ...

``product`` and ``combinations`` read everything when they are made.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar import expressions as control
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
    negation,
    placed,
    store,
    subscript,
    targets,
    tuple_of,
    with_bodies,
)
from srcgrad.frontend.desugar.loops import breaks
from srcgrad.frontend.names import bindings, names_of
from srcgrad.frontend.normal_form import Operation
from srcgrad.frontend.ordering import Ordering

Writer = Callable[[gast.For, gast.Call], list[gast.stmt] | None]


class LiveIterators(Ordering):
    """Iterators whose items are read one by one."""

    def write_for(self, node: gast.For) -> None:
        made = self._live(node)
        if made is None:
            super().write_for(node)
        else:
            self.run(self.desugared(made))

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        """``any`` and ``all`` stop where they know; the items after that are not made."""
        static = self.scope.static_of(node.func)
        function = None if static is None else static.value
        if function in (any, all) or (function is sum and len(node.args) + len(node.keywords) > 1):
            made = self.generated(node.args[0]) if node.args else None
            if made is not None:
                return self._copied(self.value(with_bodies(node, args=[made, *node.args[1:]])))
        if function is functools.reduce and len(node.args) in (2, 3) and not node.keywords:
            made = self.generated(node.args[1])
            if made is not None:
                return self._copied(self._taken_in(node, self.renamed(made)))
        return super().call(node)

    def _taken_in(self, node: gast.Call, made: gast.GeneratorExp) -> gast.expr:
        """``reduce``: each item is made when those before it have been taken in."""
        total, item, count = self.fresh("total"), self.fresh("item"), self.fresh("count")
        more: list[gast.stmt] = [assign(total, call(node.args[0], [load(total, node), load(item, node)], node), node)]
        first = node.args[2] if len(node.args) == 3 else constant(None, node)
        before = [assign(total, first, node)]
        if len(node.args) == 2:
            is_first = compare(load(count, node), gast.Eq(), constant(0, node), node)
            next_one = binary(load(count, node), gast.Add(), constant(1, node), node)
            begin = assign(total, load(item, node), node)
            more = [branch(is_first, [begin], more, node), assign(count, next_one, node)]
            before.append(assign(count, constant(0, node), node))
        self.run(before)
        self.within(made, lambda: self.run(control.each(made, [assign(item, made.elt, node), *more])))
        if len(node.args) == 2:
            self.run([self.some(load(count, node), node)])
        return load(total, node)

    def generated(self, node: gast.expr) -> gast.GeneratorExp | None:
        """A generator, or what ``map`` and its like make, as a generator expression."""
        function, args = self._maker_of(node), getattr(node, "args", [])
        if function is map and len(args) > 1:
            items = [self._own("item") for _ in args[1:]]
            names = [store(item.id, node) for item in items]
            target: gast.expr = targets(names, node) if len(items) > 1 else names[0]
            source = call_builtin("zip", args[1:], node) if len(items) > 1 else args[1]
            element, tests = call(args[0], items, node), []
        elif function is filter:
            item = self._own("item")
            target, source, element, tests = store(item.id, node), args[1], item, [self._condition(args[0], item, node)]
        elif function is itertools.starmap:
            item = self._own("row")
            target, source, tests = store(item.id, node), args[1], []
            element = call(args[0], [placed(gast.Starred(item, gast.Load()), node)], node)
        else:
            return super().generated(node)
        return placed(gast.GeneratorExp(element, [gast.comprehension(target, source, tests, 0)]), node)

    def _maker_of(self, node: gast.expr) -> object:
        if not isinstance(node, gast.Call) or any(isinstance(argument, gast.Starred) for argument in node.args):
            return None
        known = self._iterator_of(node)
        return map if known is None and self._calls(node, map) else known

    def _condition(self, predicate: gast.expr, item: gast.expr, at: gast.AST) -> gast.expr:
        is_none = isinstance(predicate, gast.Constant) and predicate.value is None
        return item if is_none else call(predicate, [item], at)

    # --- loops -------------------------------------------------------------------------------------------------------
    def _live(self, node: gast.For) -> list[gast.stmt] | None:
        """The loop, if what it runs over is an iterator that reads as the loop goes."""
        write = self._writer(node.iter)
        if write is None and self._maker_of(node.iter) is map:
            return self._map(node, node.iter)
        return None if write is None else write(node, node.iter)

    def _writer(self, node: gast.expr) -> Writer | None:
        if not isinstance(node, gast.Call):
            return None
        if self._calls(node, enumerate):
            return self._counted if node.args and self._writer(node.args[0]) is not None else None
        function = self._iterator_of(node)
        if function is itertools.accumulate and node.keywords:
            return None
        if getattr(function, "__qualname__", "") == "chain.from_iterable":
            return self._chain
        writers: dict[object, Writer] = {
            filter: self._filter,
            itertools.filterfalse: self._filter,
            itertools.takewhile: self._takewhile,
            itertools.dropwhile: self._dropwhile,
            itertools.compress: self._compress,
            itertools.zip_longest: self._zip_longest,
            itertools.starmap: self._starmap,
            itertools.accumulate: self._accumulate,
            itertools.pairwise: self._pairwise,
            itertools.islice: self._islice,
            itertools.chain: self._chain,
        }
        return writers.get(function) or (self._zip if self._drives(node) is not None else None)

    def _drives(self, node: gast.Call) -> int | None:
        """Which argument of ``zip`` is read as the loop goes: an iterator, or a map that stores before others stop."""
        if not self._calls(node, zip) or node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        last = len(node.args) - 1
        maps = {j for j, argument in enumerate(node.args) if self._stores_as_it_maps(argument)}
        drive = {j for j, argument in enumerate(node.args) if self._writer(argument) is not None or j in maps - {last}}
        if len(drive | maps) > 1 and (maps or self._stores_items):
            reason = "zip of several iterators in a function that stores"
            raise self.refuse(node, reason, "zip lists, or write the loop with indices")
        return min(drive, default=None)

    def _stores_as_it_maps(self, node: gast.expr) -> bool:
        if not (self._calls(node, map) and len(node.args) > 1):
            return False
        return not any(isinstance(a, gast.Starred) for a in node.args) and self.function_may_store(node.args[0])

    def _zip(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        """One argument drives the loop; those before it end the passes before it is read, those after it when it is."""
        place = self._drives(made)
        assert place is not None
        driver, item, i = made.args[place], self.fresh("item"), self.fresh("i")
        others = {j: self._run_through(a, node) for j, a in enumerate(made.args) if j != place}
        items = {j: subscript(load(name, node), load(i, node), node) for j, name in others.items()}
        ends = {
            j: compare(load(i, node), gast.GtE(), call_builtin("len", [load(name, node)], node), node)
            for j, name in others.items()
        }
        leave = [branch(ends[j], [placed(gast.Break(), node)], [], node) for j in sorted(ends)]
        whole = tuple_of([items.get(j, load(item, node)) for j in range(len(made.args))], node)
        one = binary(load(i, node), gast.Add(), constant(1, node), node)
        bind = assign(node.target, whole, node)
        if self._calls(driver, map):
            names = [*(others[j] for j in range(place)), *(self._run_through(a, node) for a in driver.args[1:])]
            lengths = [call_builtin("len", [load(name, node)], node) for name in names]
            count = lengths[0] if len(lengths) == 1 else call_builtin("min", lengths, node)
            given = [subscript(load(name, node), load(i, node), node) for name in names[place:]]
            called = assign(item, call(self._kept_function(driver.args[0], node), given, node), node)
            body = [called, *leave[place:], bind, *node.body]
            return [self._loop(node, i, call_builtin("range", [count], node), body)]
        body = [*leave, bind, assign(i, one, node), *node.body]
        return [assign(i, constant(0, node), node), self._loop(node, item, driver, body)]

    def _counted(self, node: gast.For, outer: gast.Call) -> list[gast.stmt]:
        """``enumerate(iterator, start)``: a count of its own, which goes on at the head of each pass."""
        starts = [*outer.args[1:], *(k.value for k in outer.keywords if k.arg == "start")]
        count, item = self.fresh("count"), self.fresh("item")
        one = binary(load(count, node), gast.Add(), constant(1, node), node)
        pair = tuple_of([load(count, node), load(item, node)], node)
        body = [assign(node.target, pair, node), assign(count, one, node), *node.body]
        first = starts[0] if starts else constant(0, node)
        return [assign(count, first, node), with_bodies(node, target=store(item, node), iter=outer.args[0], body=body)]

    def _loop(self, node: gast.For, item: str, source: gast.expr, body: list[gast.stmt]) -> gast.For:
        return with_bodies(node, target=store(item, node), iter=source, body=body)

    def _filter(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        item = self.fresh("item")
        inside = [assign(node.target, load(item, node), node), *node.body]
        test = self._condition(self._kept_function(made.args[0], node), load(item, node), node)
        if self._iterator_of(made) is itertools.filterfalse:
            test = negation(test, node)
        return [self._loop(node, item, made.args[1], [branch(test, inside, [], node)])]

    def _takewhile(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        item, function = self.fresh("item"), self._kept_function(made.args[0], node)
        fails = negation(call(function, [load(item, node)], node), node)
        leave = branch(fails, [placed(gast.Break(), node)], [], node)
        return [self._loop(node, item, made.args[1], [leave, assign(node.target, load(item, node), node), *node.body])]

    def _dropwhile(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        item, drops, function = self.fresh("item"), self.fresh("drops"), self._kept_function(made.args[0], node)
        asked = assign(drops, call(function, [load(item, node)], node), node)
        inside = [assign(node.target, load(item, node), node), *node.body]
        body = [
            branch(load(drops, node), [asked], [], node),
            branch(negation(load(drops, node), node), inside, [], node),
        ]
        return [assign(drops, constant(True, node), node), self._loop(node, item, made.args[1], body)]

    def _compress(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        item, chosen = self.fresh("item"), self.fresh("chosen")
        pair = targets([store(item, node), store(chosen, node)], node)
        inside = [assign(node.target, load(item, node), node), *node.body]
        body = [branch(load(chosen, node), inside, [], node)]
        return [with_bodies(node, target=pair, iter=call_builtin("zip", made.args, node), body=body)]

    def _zip_longest(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        names, i = [self._run_through(argument, node) for argument in made.args], self.fresh("i")
        listed = self.longest(made, names, load(i, node))
        body = [assign(node.target, listed.elt, node), *node.body]
        unchanged = [self._unchanged(name, node) for name in names]
        return [self._loop(node, i, listed.generators[0].iter, body), *unchanged]

    def _starmap(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        row, function = self.fresh("row"), self._kept_function(made.args[0], node)
        spread = placed(gast.Starred(load(row, node), gast.Load()), node)
        body = [assign(node.target, call(function, [spread], node), node), *node.body]
        return [self._loop(node, row, made.args[1], body)]

    def _map(self, node: gast.For, made: gast.Call) -> list[gast.stmt] | None:
        fixed = not made.args or self.is_fixed(made.args[0], self._named_in(node))
        if len(made.args) < 2 or (fixed and self.scope.static_of(made.args[0]) is not None):
            return None  # it is called by the place of an item
        function, items = self._kept_function(made.args[0], node), [self.fresh("item") for _ in made.args[1:]]
        called = call(function, [load(item, node) for item in items], node)
        names = [store(item, node) for item in items]
        target, source = names[0], made.args[1]
        if len(items) > 1:
            target, source = targets(names, node), call_builtin("zip", made.args[1:], node)
        return [with_bodies(node, target=target, iter=source, body=[assign(node.target, called, node), *node.body])]

    def _accumulate(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        item, total, i = self.fresh("item"), self.fresh("total"), self.fresh("i")
        both = [load(total, node), load(item, node)]
        function = self._kept_function(made.args[1], node) if len(made.args) > 1 else constant(None, node)
        is_sum = isinstance(function, gast.Constant)
        joined = binary(both[0], gast.Add(), both[1], node) if is_sum else call(function, both, node)
        is_first = compare(load(i, node), gast.Eq(), constant(0, node), node)
        more = branch(is_first, [assign(total, load(item, node), node)], [assign(total, joined, node)], node)
        body = [more, assign(node.target, load(total, node), node), *node.body]
        pair = targets([store(i, node), store(item, node)], node)
        source = call_builtin("enumerate", [made.args[0]], node)
        return [assign(total, constant(None, node), node), with_bodies(node, target=pair, iter=source, body=body)]

    def _pairwise(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        items = self._run_through(made.args[0], node)
        first, last, i = self.fresh("first"), self.fresh("last"), self.fresh("i")
        is_first = compare(load(i, node), gast.Eq(), constant(0, node), node)
        one = binary(load(i, node), gast.Add(), constant(1, node), node)
        begin = assign(first, subscript(load(items, node), constant(0, node), node), node)
        body = [
            branch(is_first, [begin], [assign(first, load(last, node), node)], node),
            assign(last, subscript(load(items, node), one, node), node),
            assign(node.target, tuple_of([load(first, node), load(last, node)], node), node),
            *node.body,
        ]
        count = binary(call_builtin("len", [load(items, node)], node), gast.Sub(), constant(1, node), node)
        nothing = [assign(name, constant(None, node), node) for name in (first, last)]
        return [*nothing, self._loop(node, i, call_builtin("range", [count], node), body)]

    def _islice(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        items, i = self._run_through(made.args[0], node), self.fresh("i")
        given = self.bounds_of(made.args[1:], node)
        bounds: list[gast.expr | None] = [*given] if len(given) > 1 else [None, *given]
        every = call_builtin("range", [call_builtin("len", [load(items, node)], node)], node)
        bounds += [None] * (3 - len(bounds))
        places = self.held(self.settle(subscript(every, placed(gast.Slice(*bounds), node), node)))
        body = [assign(node.target, subscript(load(items, node), load(i, node), node), node), *node.body]
        unchanged = self._unchanged(items, node)
        return [self._loop(node, i, places, body), unchanged]

    def _chain(self, node: gast.For, made: gast.Call) -> list[gast.stmt]:
        part, item = self.fresh("part"), self.fresh("item")
        several = getattr(self._iterator_of(made), "__qualname__", "") != "chain.from_iterable"
        parts = self.parts_of_chain(made.args, node) if several else made.args[0]
        inner = self._loop(node, item, load(part, node), [assign(node.target, load(item, node), node), *node.body])
        if not breaks(node.body):
            return [self._loop(node, part, parts, [inner])]
        inner = with_bodies(inner, orelse=[placed(gast.Continue(), node)])
        return [self._loop(node, part, parts, [inner, placed(gast.Break(), node)])]

    def _kept_function(self, function: gast.expr, loop: gast.For) -> gast.expr:
        """The function that an iterator is made of, which it keeps whatever the loop binds or stores since."""
        if self.is_fixed(function, self._named_in(loop)):
            return function
        kept = self.fresh("function")
        self.run([assign(kept, function, function)])
        return load(kept, function)

    def _named_in(self, loop: gast.For) -> set[str]:
        return names_of([loop.target]) | {bound for bound, _ in bindings(*loop.body)}

    def _unchanged(self, items: str, at: gast.For) -> gast.stmt:
        """What refuses, after a loop whose passes were counted before it, a list that has changed its length since."""
        count = self.held(self.settle(call_builtin("len", [load(items, at)], at)))
        place = f"{self.span.filename.rpartition('/')[2]}:{self.span.line}"
        checked = [load(items, at), count, constant(place, at)]
        return placed(gast.Expr(call_runtime(runtime.require_length, checked, at)), at)

    def _run_through(self, source: gast.expr, loop: gast.For) -> str:
        """A name for what is run through, which the loop does not bind again."""
        name = self.run_through(source)
        if name not in self._named_in(loop):
            return name
        kept = self.fresh(name)
        self.bind(kept, load(name, source))
        return kept
