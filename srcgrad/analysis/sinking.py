"""Which shadows need not exist in the forward sweep: those that the reverse sweep can make at its head.

Enters: the planner, and the references that the text of the reverse sweep has to shadows.  Leaves: the names of the
shadows to be made there.  A class of memory sinks as a whole: every shadow that is read must be that of a new value
bound at the level of the function, or a view that is made again; a shadow that comes over a join, round a loop, from a
caller or a callee has its owner in the forward sweep alone::

    y = np.zeros(n)             y_bar = zeros_like(y)             at the head of the reverse sweep
    for i in range(n):          for i in reversed(range(n)):
        v = y[i:]                   v_bar = y_bar[i:]             at the head of the reversed pass
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

import gast

from srcgrad.analysis.layout import Layout, Slot
from srcgrad.analysis.references import Reference, is_cheap, local_names, referring
from srcgrad.ir.normal_form import Bind, Statement


class Sinking:
    """``made`` are the statements that bind shadows; ``barred`` are shadows of classes that stay where they are."""

    def __init__(self, layout: Layout, made: Set[Statement], classes: Mapping[str, str], barred: Set[str]) -> None:
        self.layout = layout
        self.made = made
        self.classes = classes  # name that the shadow pass made -> what its class is called
        self.barred = barred  # classes

    def sunk(self, read: Iterable[Reference]) -> frozenset[str]:
        """The names of the shadows that sink, given what the reverse sweep reads."""
        failed = set(self.barred)
        seen: set[Slot] = set()
        pending = [node for node in read if node.id in self.classes]
        while pending:
            node = pending.pop()
            root = self.classes[node.id]
            slot = self.layout.slot(node.id, node.block, node.position)
            if root in failed or slot in seen:
                continue
            seen.add(slot)
            expression = self.made_again(slot)
            if expression is None:
                failed.add(root)
                continue
            pending += [n for n in gast.walk(expression) if isinstance(n, Reference) and n.id in self.classes]
        return frozenset(name for name, root in self.classes.items() if root not in failed)

    def made_again(self, slot: Slot) -> gast.expr | None:
        """The expression that makes a shadow at the head of the reversed pass of its block."""
        frame = self.layout.frames[slot.order]
        if slot.hidden or slot.defined < 0 or slot.defined >= frame.first_exit:
            return None
        statement = frame.block.statements[slot.defined]
        if not isinstance(statement, Bind) or statement not in self.made:
            return None
        if not is_cheap(statement.expression) and frame.parent is not None:
            return None  # new memory in a block that may run again, or not at all
        for name in local_names(statement.expression):
            source = self.layout.slot(name.id, frame.block, slot.defined)
            if name.id not in self.classes and not self._is_at_hand(source):
                return None
        return referring(statement.expression, frame.block, slot.defined)

    def _is_at_hand(self, slot: Slot) -> bool:
        frame = self.layout.frames[slot.order]
        return not frame.repeats or (slot.defined < 0 and frame.is_loop)
