"""With-statements: what the reverse sweep enters again, what it does not, what stops gradients.

Enters: ``with`` around statements.  Leaves: ``With`` for ``np.errstate``, the statements alone for ``no_grad``, and for
any other manager a ``With`` that the forward sweep alone enters; what ``as`` binds there carries no derivative::

    with timer(log) as clock:     ->      manager = once(timer(log))
        y = f(x)                          with manager:
                                              clock = entered(manager)
                                              y = f(x)
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.defaulting import Defaulting
from srcgrad.frontend.desugar.build import assign, call, load, placed, with_bodies
from srcgrad.frontend.normal_form import Fixed, Operation, Unruled, With
from srcgrad.frontend.scope import Static
from srcgrad.frontend.stopping import stops_gradients, without_gradients
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.parse import clone, names_read

_ONCE = GlobalBinding("once", runtime.once, "srcgrad.runtime", "once")
_ENTERED = GlobalBinding("entered", runtime.entered, "srcgrad.runtime", "entered")


class Contexts(Defaulting):
    """Writes with-statements."""

    def write_with(self, statement: gast.With) -> None:
        """The first of the managers around what follows it."""
        item, *others = statement.items
        body = [with_bodies(statement, items=others)] if others else statement.body
        manager = item.context_expr
        static = self.scope.static_of(manager.func) if isinstance(manager, gast.Call) else None
        if static is not None and stops_gradients(static.value) and not manager.args and item.optional_vars is None:
            self.run(without_gradients(body, self.refuse))
            return
        span = self.span
        if static is not None and static.value is np.errstate and item.optional_vars is None:
            inside = gast.withitem(self.settle(manager, calls=True), None)
            self.out.append(With((inside,), self.block(lambda: self.run(body)), span))
            return
        self._forward_only(item, body, static)

    def _forward_only(self, item: gast.withitem, body: list[gast.stmt], static: Static | None) -> None:
        span, manager = self.span, item.context_expr
        if isinstance(manager, gast.Name) and self.source.generated:
            held = self.value(manager)
        else:
            made = static is not None and static.value is runtime.once
            opened = self._opened(manager, static)
            settled = opened if made else call(reference(_ONCE), [opened], manager)
            name = self.fresh("manager")
            self.emit(name, settled, self._opaque(manager, settled))
            held = load(name, manager)

        def write() -> None:
            if item.optional_vars is not None:
                given = call(reference(_ENTERED), [held], manager)
                value = self.fresh("entered")
                self.emit(value, given, self._opaque(manager, given))
                self.run([assign(item.optional_vars, load(value, manager), manager)])
            self.run(body)

        self.out.append(With((gast.withitem(held, None),), self.block(write), span, once=True))

    def _opened(self, manager: gast.expr, static: Static | None) -> gast.expr:
        """What makes the manager, as it is: it is not looked into."""
        if not isinstance(manager, gast.Call) or static is None or static.expression is None:
            return self.settle(manager)
        arguments = [self.settle(argument) for argument in manager.args]
        keywords = [placed(gast.keyword(k.arg, self.settle(k.value)), k) for k in manager.keywords]
        return placed(gast.Call(clone(static.expression), arguments, keywords), manager)

    def _opaque(self, node: gast.expr, settled: gast.expr) -> Operation:
        if not names_read(settled):
            return Fixed()
        reason = "a context manager is made from values that vary: what it does with them is not known"
        hint = "make it from what does not vary, or outside of the function"
        return Unruled(UnsupportedSyntax(reason, self.source.span(node), label="made here", hint=hint))
