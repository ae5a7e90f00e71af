"""With-statements: what the reverse sweep enters again, what it does not, what stops gradients.

Enters: ``with`` around statements.  Leaves: ``With`` for ``np.errstate``, the statements alone for ``no_grad``, for an
object of a user's class calls of what it is entered and left by, and for any other manager a ``With`` that the forward
sweep alone enters; what ``as`` binds there carries no derivative::

    with timer(log) as clock:     ->      manager = once(timer(log))
        y = f(x)                          with manager:
                                              clock = entered(manager)
                                              y = f(x)

    with model as m:              ->      m = model.__enter__()
        m.y = f(x)                        with leaving(model):      (which leaves it where the body raises)
                                              m.y = f(x)
                                          model.__exit__(None, None, None)
"""

from __future__ import annotations

from types import FunctionType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import found, is_user_class
from srcgrad.frontend.desugar.build import assign, call, constant, load, method_call, placed, with_bodies
from srcgrad.frontend.desugar.exits import ends
from srcgrad.frontend.known import Instance, choices_of
from srcgrad.frontend.names import names_of
from srcgrad.frontend.normal_form import Fixed, LocalFunction, Operation, Unruled, With
from srcgrad.frontend.scope import Static
from srcgrad.frontend.sets import Sets
from srcgrad.frontend.stopping import stops_gradients, without_gradients
from srcgrad.syntax.globals import GlobalReference, of_runtime, reference
from srcgrad.syntax.parse import clone, names_read

_ONCE = of_runtime(runtime.once)
_LEAVING = of_runtime(runtime.leaving)
_ENTERED = of_runtime(runtime.entered)


class Contexts(Sets):
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
        if not self.source.generated and self._may_be_read(item, static):
            subject, known = self.receiver(manager)
            entered = (isinstance(c, Instance) and _is_entered(c.kind) for c in choices_of(known))
            if all(entered) and not isinstance(subject, GlobalReference):
                name = self.fresh("manager")
                self.bind(name, subject)
                self._written_out(name, item, body)
                return
            item, static = gast.withitem(subject, item.optional_vars), static if subject is manager else None
        self._forward_only(item, body, static)

    def _may_be_read(self, item: gast.withitem, static: Static | None) -> bool:
        """Whether the methods of a manager are to be read if they can be: not where it is made here, of nothing, and
        nothing else sees it."""
        made, target = item.context_expr, item.optional_vars
        if static is None:
            return True
        if isinstance(static.value, type):
            is_seen = target is not None and not names_of([target]).isdisjoint(names_read(*self.scope.body))
            return _is_entered(static.value) and bool(is_seen or made.args or made.keywords)
        return isinstance(static.value, LocalFunction | FunctionType) and not hasattr(static.value, "__wrapped__")

    def _written_out(self, manager: str, item: gast.withitem, body: list[gast.stmt]) -> None:
        span, at = self.span, item.context_expr
        entered, held = self.fresh("entered"), self.fresh("leaving")
        self.run([assign(entered, method_call(load(manager, at), "__enter__", [], at), at)])
        self.emit(held, call(reference(_LEAVING), [load(manager, at)], at), Fixed())
        nothing: list[gast.expr] = [constant(None, at)] * 3
        leave = placed(gast.Expr(method_call(load(manager, at), "__exit__", nothing, at)), at)

        def write() -> None:
            if item.optional_vars is not None:
                self.run([assign(item.optional_vars, load(entered, at), at)])
            self.run(self._leaving(body, leave))

        self.out.append(With((gast.withitem(load(held, at), None),), self.block(write), span, once=True))
        if not ends(body):
            self.run([leave])

    def _leaving(self, body: list[gast.stmt], leave: gast.stmt, inside: bool = False) -> list[gast.stmt]:
        """Statements that leave the manager before they leave its body; ``inside`` of a loop of theirs."""
        made: list[gast.stmt] = []
        for statement in body:
            match statement:
                case gast.Return(value=gast.expr() as value) if not isinstance(value, gast.Constant):
                    name = self.fresh("value")
                    result = placed(gast.Return(load(name, value)), statement)
                    made += [assign(name, value, statement), clone(leave), result]
                case gast.Return():
                    made += [clone(leave), statement]
                case gast.Break() | gast.Continue() if not inside:
                    made += [clone(leave), statement]
                case gast.If(body=first, orelse=second):
                    first, second = (self._leaving(each, leave, inside) for each in (first, second))
                    made.append(with_bodies(statement, body=first, orelse=second))
                case gast.For(body=inner) | gast.While(body=inner):
                    made.append(with_bodies(statement, body=self._leaving(inner, leave, True)))
                case gast.With(body=inner):
                    made.append(with_bodies(statement, body=self._leaving(inner, leave, inside)))
                case _:
                    made.append(statement)
        return made

    def _forward_only(self, item: gast.withitem, body: list[gast.stmt], static: Static | None) -> None:
        span, manager = self.span, item.context_expr
        given: Operation = Fixed()
        names: tuple[str, ...] = ()
        if isinstance(manager, gast.Name) and self.source.generated:
            held = self.value(manager)
        else:
            made = static is not None and static.value is runtime.once
            opened = self._opened(manager, static)
            settled = opened if made else call(reference(_ONCE), [opened], manager)
            name = self.fresh("manager")
            given, names = self._opaque(manager, settled), tuple(sorted(names_read(settled)))
            self.emit(name, settled, given)
            held = load(name, manager)

        def write() -> None:
            if item.optional_vars is not None:
                entered = call(reference(_ENTERED), [held], manager)
                value = self.fresh("entered")
                self.emit(value, entered, self._opaque(manager, entered))
                self.run([assign(item.optional_vars, load(value, manager), manager)])
            self.run(body)

        items, inside = (gast.withitem(held, None),), self.block(write)
        refusal = given.refusal if isinstance(given, Unruled) else None
        self.out.append(With(items, inside, span, once=True, given=names, refusal=refusal))

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


def _is_entered(kind: type) -> bool:
    return is_user_class(kind) and all(isinstance(found(kind, n), FunctionType) for n in ("__enter__", "__exit__"))
