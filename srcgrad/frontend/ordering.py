"""What is put in order, or picked by it: ``sorted``, ``min`` and ``max`` by keys, of objects, or with a default.

Enters: such a call.  Leaves: a read of the items by the places that they are put into, which have no derivative::

    ys = sorted(xs, key=f)      ->      keys = [f(x) for x in xs]
                                        order = argsorted(keys)
                                        ys = [xs[k] for k in order]

Objects say themselves, by methods that are run as they are, which of them is less.
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar.build import call, call_builtin, call_runtime, constant, load, placed, subscript
from srcgrad.frontend.iterables import Iterables
from srcgrad.frontend.known import Items, Known, classes_in, holds_objects
from srcgrad.frontend.names import bindings
from srcgrad.frontend.normal_form import Operation
from srcgrad.frontend.replacing import of_the_text
from srcgrad.syntax.parse import names_bound, names_read


class Ordering(Iterables):
    """Reads items in order."""

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        static = self.scope.static_of(node.func)
        function = None if static is None else static.value
        if not (function is sorted or function is min or function is max):
            return super().call(node)
        if len(node.args) > 1 and not node.keywords and any(map(self._is_tuple, node.args)):
            # Tuples are compared item by item, and have no arithmetic: one is read of a list.
            node = placed(gast.Call(node.func, [placed(gast.List(list(node.args), gast.Load()), node)], []), node)
        given = {k.arg: k.value for k in node.keywords}
        if self._is_of_objects(node):
            return self._ordered_objects(function, given, node)
        if function is sorted and "key" in given and len(node.args) == 1:
            name = self._items(node.args[0])
            order = self.ordered(name, given["key"], given.get("reverse"), node)
            made = self.value(self._comprehension(subscript(load(name, node), self._own("k"), node), order, node))
            return self.operation(made)
        if (function is min or function is max) and "default" in given and len(node.args) == 1:
            return self._copied(self.value(self._or_default(node, given["default"])))
        if (function is min or function is max) and set(given) == {"key"} and node.args:
            several = len(node.args) > 1
            items = placed(gast.List(list(node.args), gast.Load()), node) if several else node.args[0]
            name = self._items(items)
            item = self._own("item")
            keys = self.value(self._comprehension(call(given["key"], [item], node), load(name, node), node, item))
            made = call_runtime(runtime.chosen, [keys, constant(function is max, node)], node)
            place = self.held(self.settle(made))
            return self.operation(subscript(load(name, node), place, node))
        return super().call(node)

    def _is_tuple(self, node: gast.expr) -> bool:
        """Whether an expression is a tuple, or a name that is bound to one somewhere."""
        return isinstance(node, gast.Tuple) or (isinstance(node, gast.Name) and node.id in self._tuples)

    @of_the_text
    def _tuples(self) -> frozenset[str]:
        found = bindings(*self.text)
        return frozenset(name for name, value in found if isinstance(value, gast.Tuple))

    def _or_default(self, node: gast.Call, default: gast.expr) -> gast.expr:
        """``max(xs, default=d)``: the default is evaluated as Python does, and taken where there are no items."""
        name, held = self._items(node.args[0]), self.value(default)
        rest = [keyword for keyword in node.keywords if keyword.arg != "default"]
        found = placed(gast.Call(node.func, [load(name, node)], rest), node)
        return placed(gast.IfExp(call_builtin("len", [load(name, node)], node), found, held), node)

    def _is_of_objects(self, node: gast.Call) -> bool:
        """Whether what is put in order without a key may be objects, which say themselves which is less."""
        if not node.args or any(k.arg != "reverse" for k in node.keywords):
            return False
        if len(node.args) > 1:
            return any(self.is_object(argument) or self.makes_object(argument) for argument in node.args)
        match node.args[0]:
            case gast.List(elts=elts) | gast.Tuple(elts=elts):
                return any(self.is_object(element) or self.makes_object(element) for element in elts)
            case gast.ListComp(elt=element, generators=[first, *_] as generators) | gast.GeneratorExp(
                elt=element, generators=[first, *_] as generators
            ):
                # What the comprehension binds means nothing out here.
                read = names_read(element.func if isinstance(element, gast.Call) else element)
                makes = names_bound(*(each.target for each in generators)).isdisjoint(read)
                return self._holds_objects(self.peek(first.iter)) or makes and self.makes_object(element)
            case given:
                return self._holds_objects(self.peek(given)) or self.makes_object(given)

    def _holds_objects(self, known: Known) -> bool:
        """Whether a value is a list, tuple or deque in which there are objects."""
        is_list = isinstance(known, Items) and known.kind is not dict
        return is_list and bool(classes_in(known, self.table.resolved))

    def _ordered_objects(
        self, function: object, given: dict[str | None, gast.expr], node: gast.Call
    ) -> tuple[gast.expr, Operation]:
        """``sorted``, ``min`` and ``max`` of objects, read by their places in the order that they say themselves."""
        if len(node.args) > 1:
            atoms = [self.value(argument) for argument in node.args]
            if not any(holds_objects(self.known_atom(atom)) for atom in atoms):
                return super().call(placed(gast.Call(node.func, atoms, node.keywords), node))
            node = placed(gast.Call(node.func, [placed(gast.List(atoms, gast.Load()), node)], node.keywords), node)
        given_items = node.args[0]
        runs = isinstance(given_items, gast.GeneratorExp) or self._is_iterator(given_items)
        name = self._items(given_items) if runs else self.name_of(given_items)
        if not self._holds_objects(self.known_name(name)):
            return super().call(placed(gast.Call(node.func, [load(name, node)], node.keywords), node))
        if function is sorted:
            order = self.ordered(name, None, given.get("reverse"), node)
            made = self._comprehension(subscript(load(name, node), self._own("k"), node), order, node)
            return self.operation(self.value(made))
        chosen = call_runtime(runtime.chosen, [load(name, node), constant(function is max, node)], node)
        place = self.held(self.settle(chosen))
        return self.operation(subscript(load(name, node), place, node))
