"""Comprehensions: their own names, and the loops that they are.

Enters: a list comprehension, or a generator that is consumed as it is made.  Leaves: a loop that appends; its names are
the user's where they mean nothing else in the function, else fresh ones, so that they hide nothing after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import placed
from srcgrad.frontend.names import COMPREHENSIONS, names_of
from srcgrad.frontend.nested import Nested
from srcgrad.frontend.replacing import of_the_text
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import clone, names_read


class Comprehensions(Nested):
    """Comprehensions as loops."""

    def comprehend(self, node: gast.ListComp | gast.GeneratorExp, target: str) -> None:
        """``target = [...]``, the names of the comprehension being free here (see ``renamed``)."""
        self.lists.add(target)
        self.within(node, lambda: self.run(control.list_comprehension(node, target)))
        self.lists.discard(target)

    def within(self, node: gast.ListComp | gast.GeneratorExp, write: Callable[[], None]) -> None:
        names = names_of(generator.target for generator in node.generators)
        self.comprehended |= names
        self.scope.locals |= names
        outer, self.open = self.open, self.open | names
        write()
        self.open = outer

    def renamed(self, node: gast.ListComp | gast.GeneratorExp) -> gast.ListComp | gast.GeneratorExp:
        """The comprehension with names of its own: those that mean something else in the function are replaced."""
        mapping: dict[str, str] = {}
        own = names_of(generator.target for generator in node.generators)
        for name in sorted(own):
            is_other = name in self.scope.locals and name not in self.comprehended
            if name in self.open or is_other or self._is_used(name):
                mapping[name] = self.fresh(name)
            elif name in self.comprehended:  # by another comprehension
                mapping[name] = self.fresh(name)
                self.webs[mapping[name]] = name
        if not mapping:
            return node
        made = clone(node)
        first = made.generators[0]
        outermost = first.iter
        first.iter = placed(gast.Constant(None, None), node)  # evaluated outside of the comprehension's scope
        for inner in rename_sites(made):
            if inner.id in mapping:
                inner.id = mapping[inner.id]
        first.iter = outermost
        return made

    def _is_used(self, name: str) -> bool:
        """Whether the function reads a global or captured variable of this name."""
        return name in self._names_read and name not in self.scope.locals

    @of_the_text
    def _names_read(self) -> frozenset[str]:
        return frozenset(name for statement in self.scope.body for name in names_read(statement))


def rename_sites(root: gast.AST) -> list[gast.Name]:
    """The names in a comprehension that may be its own: not the parameters of lambdas inside, nor what they hide."""
    found: list[gast.Name] = []
    pending: list[tuple[gast.AST, frozenset[str]]] = [(root, frozenset())]
    while pending:
        node, hidden = pending.pop()
        if isinstance(node, GlobalReference):
            continue
        if isinstance(node, gast.Name):
            if node.id not in hidden:
                found.append(node)
            continue
        inside = hidden
        if isinstance(node, gast.Lambda):
            inside = hidden | names_of([*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs])
        elif isinstance(node, COMPREHENSIONS) and node is not root:
            inside = hidden | names_of(generator.target for generator in node.generators)
        for name in node._fields:
            child = getattr(node, name, None)
            below: Sequence[object] = child if isinstance(child, list) else [child]
            pending += [(inner, inside) for inner in below if isinstance(inner, gast.AST)]
    return found
