"""Statements of code that srcgrad has emitted, which is differentiated again: tapes, and what adds to shadows.

Enters: calls for what they change.  Leaves: the statements of the normal form that they are: such code keeps tapes, and
owns the buffers it adds to::

    tape.append((s, t))         ->      Append(tape, ...)
    accumulate(y_bar, g)        ->      AddAt(y_bar, ..., g)
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad import runtime
from srcgrad.frontend.contexts import Contexts
from srcgrad.frontend.desugar.build import call_runtime, constant, placed
from srcgrad.frontend.normal_form import AddAt, Append, Exchange, Pop, Store
from srcgrad.rules.memory import CHANGES
from srcgrad.syntax.globals import of_runtime, reference
from srcgrad.syntax.parse import clone


class Generated(Contexts):
    """Changes of tapes and shadows."""

    def append(self, sequence: str, item: gast.expr) -> None:
        if isinstance(item, gast.Tuple) and sequence not in self.lists:
            value: gast.expr = placed(gast.Tuple([self.value(e) for e in item.elts], gast.Load()), item)
        else:
            value = self.value(item)
        self.out.append(Append(sequence, value, self.span))

    def is_pop(self, node: gast.expr) -> bool:
        match node:
            case gast.Call(func=gast.Attribute(value=gast.Name() as base, attr="pop"), args=[]):
                return self.source.generated and self.set_at(base) is None
        return False

    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        if self.is_pop(node):
            self.out.append(Pop((target(),), node.func.value.id, self.span, tupled=False))
            return True
        static = self.scope.static_of(node.func) if self.source.generated else None
        if static is not None and static.value is runtime.claim:
            self._claim(target, node)
            return True
        return super().bind_call(target, node)

    def _claim(self, target: Callable[[], str], node: gast.Call) -> None:
        """``t = claim(v_bar, v, index)`` is ``t = taken(v_bar, v, index); v_bar[index] = 0.0``."""
        base, value = (self.value(argument) for argument in node.args[:2])
        place = self.settle(node.args[2], calls=False)
        assert isinstance(base, gast.Name)
        called = call_runtime(runtime.taken, [base, value, place], node)
        self.bind(target(), called)
        self.out.append(Store(base.id, clone(place), constant(0.0, node), self.span))

    def add_to_shadow(self, function: object, statement: gast.Expr) -> bool:
        """Statements of generated code that change what they are given; whether this is one."""
        node = statement.value
        if function is runtime.add_at:
            self._add_at(statement, *node.args, function=reference(of_runtime(function)))
        elif function is runtime.accumulate:
            buffer, value = node.args
            self._add_at(statement, buffer, constant(..., node), value, function=reference(of_runtime(function)))
        elif function is runtime.claim:
            self._claim(self.fresh, node)
        elif callable(function) and function in CHANGES:
            base, shadows = CHANGES[function]
            given = [self.value(e) if j in shadows else self.settle(e, calls=False) for j, e in enumerate(node.args)]
            called = call_runtime(function, given, node)
            self.emit(self.fresh(), called, Exchange(given[base].id, called.func.id, tuple(given), shadows))
        else:
            return False
        return True

    def _add_at(
        self,
        statement: gast.stmt,
        buffer: gast.expr,
        index: gast.expr,
        value: gast.expr,
        *,
        function: gast.expr | None = None,
    ) -> None:
        holder = self.value(buffer)
        assert isinstance(holder, gast.Name)
        place = self.settle(index, calls=False)
        shared = self.source.is_shared(statement)
        self.out.append(AddAt(holder.id, place, self.value(value), self.span, function, shared))
