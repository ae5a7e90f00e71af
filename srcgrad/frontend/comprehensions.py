"""Comprehensions: their own names, and the loops that they are.

Enters: a list comprehension, or a generator that is consumed as it is made.  Leaves: a loop that appends; its names are
the user's where they mean nothing else in the function, else fresh ones, so that they hide nothing after it.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.names import names_of
from srcgrad.frontend.nested import Nested
from srcgrad.frontend.replacing import of_the_text
from srcgrad.syntax.parse import clone, names_read, visible_names, walk


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
        first, *others = made.generators  # what the first one goes over is evaluated outside of its scope
        parts = [made.elt, *first.ifs, *(part for each in others for part in (each.iter, *each.ifs))]
        targets = [name for each in made.generators for name in walk(each.target) if isinstance(name, gast.Name)]
        for name in [*targets, *visible_names(*parts)]:
            name.id = mapping.get(name.id, name.id)
        return made

    def _is_used(self, name: str) -> bool:
        """Whether the function reads a global or captured variable of this name."""
        return name in self._names_read and name not in self.scope.locals

    @of_the_text
    def _names_read(self) -> frozenset[str]:
        return frozenset(name for statement in self.scope.body for name in names_read(statement))
