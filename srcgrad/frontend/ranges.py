"""Loops over ``range``, whose index is a name of the user's.

Enters: ``gast.For`` over a range.  Leaves: ``For`` with that index, or, where the name holds something else before the
loop, with a hidden one from which the name is bound::

    for k in range(3): ...       ->     for i in range(3):      (k is a parameter, say)
                                            k = i; ...
"""

from __future__ import annotations

from collections import Counter

import gast

from srcgrad.frontend.calls import Calls
from srcgrad.frontend.desugar.build import assign, binary, call_builtin, constant, load, store, with_bodies
from srcgrad.frontend.names import bindings
from srcgrad.frontend.normal_form import For
from srcgrad.frontend.replacing import of_the_text
from srcgrad.syntax.parse import nodes_of


class Ranges(Calls):
    """``for`` over ranges."""

    def _is_range(self, node: gast.expr) -> bool:
        if not isinstance(node, gast.Call) or node.keywords:
            return False
        static = self.scope.static_of(node.func)
        return static is not None and static.value is range and 1 <= len(node.args) <= 3

    def _reversed_range(self, node: gast.expr) -> gast.Call | None:
        """``reversed(range(n))`` as the range that counts down; None if that takes more than a subtraction."""
        if not (isinstance(node, gast.Call) and len(node.args) == 1 and self._calls(node, reversed)):
            return None
        inner = node.args[0]
        if not self._is_range(inner) or len(inner.args) == 3:
            return None
        one = constant(1, node)
        if len(inner.args) == 1:
            start, stop = binary(inner.args[0], gast.Sub(), one, node), constant(-1, node)
        else:
            first = inner.args[0]
            start = binary(inner.args[1], gast.Sub(), one, node)
            if isinstance(first, gast.Constant) and isinstance(first.value, int):
                stop = constant(first.value - 1, node)
            else:
                stop = binary(first, gast.Sub(), one, node)  # an empty range stays empty: both ends move by one
        return call_builtin("range", [start, stop, constant(-1, node)], node)

    def _calls(self, node: gast.expr, function: object) -> bool:
        if not isinstance(node, gast.Call):
            return False
        static = self.scope.static_of(node.func)
        return static is not None and static.value is function

    def _range_loop(self, node: gast.For, iterable: gast.Call, heading: tuple[gast.expr, gast.expr] | None) -> None:
        if isinstance(node.target, gast.Name) and node.target.id in self.bound_otherwise:
            # What the name held before may vary, and have a shape, which no index has.
            index = self.fresh("i")
            bound = assign(node.target.id, load(index, node.target), node.target)
            node = with_bodies(node, target=store(index, node.target), body=[bound, *node.body])
            heading = None if heading is None else (node.target, heading[1])
        arguments = [self.settle(argument, calls=False) for argument in iterable.args]
        settled = call_builtin("range", arguments, iterable)
        if heading is not None:
            heading = (heading[0], call_builtin("reversed", [self.settle(heading[1].args[0])], node.iter))
        span = self.span
        body = self.block(lambda: self.run(node.body))
        self.out.append(For(self.bound_name(node.target), settled, body, span, True, heading, 0))

    @of_the_text
    def bound_otherwise(self) -> frozenset[str]:
        """The names of the function that are bound to something else than the index of a loop."""
        bound = Counter(name for name, _ in bindings(*self.scope.body))
        bound.subtract(name for node in nodes_of(self.scope.body) for name in self._indices(node))
        return self.scope.parameters.union(+bound)

    def _indices(self, node: gast.AST) -> list[str]:
        """The names that a loop binds to its index."""
        match node:
            case gast.For(target=gast.Name(id=name), iter=gast.Call() as made):
                return [name] if self._is_range(made) or self._reversed_range(made) is not None else []
            case gast.For(target=gast.Tuple(elts=[gast.Name(id=name), *_]), iter=gast.Call() as made):
                return [name] if self._calls(made, enumerate) else []
        return []

    def bound_name(self, target: gast.expr) -> str:
        if not isinstance(target, gast.Name):
            raise self.refuse(target, "a loop that stores into a container", "bind a name, and store it after")
        return str(target.id)
