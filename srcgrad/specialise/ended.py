"""Generators, and iterators that call functions, that an exception ends which Python takes for another.

Enters: the facts of a program.  Leaves: nothing, or a refusal.  Where ``StopIteration`` leaves the body of a generator
Python raises ``RuntimeError``; where it leaves a function that ``map`` calls, the loop over the ``map`` ends::

    sum(ask(it) * v for v in x)        RuntimeError, where it is at its end and ask gives next(it)
    sum(map(lambda v: ask(it), x))     what was added up before

Both are written as the loops that they are, out of which ``StopIteration`` itself would come.  So what may raise it is
looked for in all that their bodies call: ``next`` without a default, ``raise`` of it or of what may be it.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any, NoReturn

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.source import source_of
from srcgrad.infer.facts import Facts
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import NEVER, At, Atom, Bound, Exact, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, Function, Handler, If, Loop, Raise, Statement, Try, With, walk

REASON = "StopIteration may leave a generator, or what an iterator calls, and end it in another way"
HINT = "give next() a default, or catch StopIteration where it is raised"
_ASKING = frozenset({"__next__", "send", "throw"})
_READ = _ASKING | {"next", "StopIteration"}


def refuse_ended(function: FunctionType, facts: Facts) -> None:
    """Refuse generators out of which ``StopIteration`` may come."""
    looked, before = _Looked(facts), -1
    while before < len(looked.stopping):  # of functions that call each other
        before = len(looked.stopping)
        looked.seen.clear()
        for generator in facts.generators.values():
            body, is_users = generator.function, _is_users(generator.function, generator.namespace)
            if looked.stops(_Run(body, generator.values, generator.calls), asks_itself=is_users):
                _refuse(function, body, facts)


def _is_users(function: Function, namespace: Mapping[str, Any]) -> bool:
    """Whether a generator is a function of the user's: what it asks itself is looked at where it is written out."""
    home = str(namespace.get("__name__", ""))
    return not isinstance(function.node, gast.GeneratorExp) and not home.startswith("srcgrad.language.")


def _refuse(function: FunctionType, body: Function, facts: Facts) -> NoReturn:
    source = source_of(function)
    statements = (s.operation for _, s in walk(facts.entry[0].function.body) if isinstance(s, Assign))
    is_inside = any(isinstance(made, ir.MakeFunction) and made.function is body for made in statements)
    raise UnsupportedSyntax(REASON, source.span(body.node if is_inside else None), code="E0414", hint=HINT)


@dataclass(eq=False)
class _Run:
    """What runs: a function, what its versions are, and what its statements call."""

    function: Function
    values: Mapping[Version, Value]
    calls: Mapping[Statement, Sequence[Summary]]

    @cached_property
    def called(self) -> dict[Operand, Operand]:
        """What is called, by what it gives."""
        found = (s for _, s in walk(self.function.body) if isinstance(s, Assign))
        return {s.targets[0]: s.operation.function for s in found if isinstance(s.operation, ir.Call)}


@dataclass(eq=False)
class _Looked:
    """Which calls may raise ``StopIteration``."""

    facts: Facts
    stopping: set[Summary] = field(default_factory=set)
    seen: set[Summary] = field(default_factory=set)

    def stops(self, run: _Run, *, asks_itself: bool = False) -> bool:
        return self._in(run, run.function.body, asks_itself, False)

    def _called(self, summary: Summary) -> bool:
        if summary not in self.seen and summary not in self.stopping and not summary.function.is_generator:
            self.seen.add(summary)
            if self.stops(_Run(summary.function, summary.values, summary.calls)):
                self.stopping.add(summary)
        return summary in self.stopping

    def _in(self, run: _Run, block: Block, asks_itself: bool, is_handled: bool) -> bool:
        """Whether a block may raise it; ``is_handled``: whether what is being handled may be it."""
        if any(self._statement(run, statement, asks_itself, is_handled) for statement in block.statements):
            return True
        match block.exit:
            case Raise(exception=None):
                return is_handled
            case Raise(exception=raised) if raised is not None:
                return self._may_be(run, raised)
        return False

    def _statement(self, run: _Run, statement: Statement, asks_itself: bool, is_handled: bool) -> bool:
        asks = isinstance(statement, Assign) and isinstance(statement.operation, ir.Call)
        called = [each for each in run.calls.get(statement, ()) if asks or each.function.name != "__next__"]
        if any(map(self._called, called)):
            return True
        match statement:
            case Assign(operation=ir.Call() as call):
                return self._asks(run, call, statement, asks_itself)
            case If(body=body, orelse=orelse):
                return any(self._in(run, side, asks_itself, is_handled) for side in (body, orelse))
            case Loop(body=body) | With(body=body):
                return self._in(run, body, asks_itself, is_handled)
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                raised = self._in(run, body, False, is_handled)
                rest = [*(handler.body for handler in handlers), orelse, final]
                if any(self._in(run, part, asks_itself, raised or is_handled) for part in rest):
                    return True
                return raised and not any(self._catches(run, handler) for handler in handlers)
        return False

    def _asks(self, run: _Run, call: ir.Call, statement: Statement, asks_itself: bool) -> bool:
        """Whether what a call calls raises it, apart from what its body does."""
        value = self._value(run, call.function)
        if value.is_any:
            return True
        for atom in value.atoms:
            match atom:
                case Exact(value=called) if called is next:
                    given = [self._value(run, operand) for operand in call.positional]
                    is_plain = call.star is None and len(given) > 1
                    if not is_plain and not asks_itself and not (given and is_endless(given[0])):
                        return True
                case Exact(value=FunctionType() as called) if called.__name__ == "__next__":
                    return True
                case Exact(value=FunctionType(__code__=code)) if code.co_flags & inspect.CO_GENERATOR:
                    pass  # nothing of it runs; what it asks is looked at where its body is
                case Exact(value=FunctionType(__code__=code)) if not run.calls.get(statement) and _may_ask(code):
                    return True
                case Bound(name=name) if name in _ASKING:
                    return True
        return False

    def _value(self, run: _Run, operand: Operand) -> Value:
        if isinstance(operand, Literal):
            return exact(operand.value)
        return run.values.get(operand) or self.facts.values.get(operand, NEVER)

    def _may_be(self, run: _Run, raised: Operand) -> bool:
        """Whether an exception, or a class of exceptions, may be ``StopIteration``."""
        value = self._value(run, raised)
        made = self._value(run, run.called[raised]) if raised in run.called else value
        if not made.is_any and made.atoms and all(isinstance(_exact(atom), type) for atom in made.atoms):
            value = made  # a class, of whose object nothing is known but what it was given
        return value.is_any or any(
            not isinstance(kind := _exact(atom), type) or issubclass(kind, StopIteration) for atom in value.atoms
        )

    def _catches(self, run: _Run, handler: Handler) -> bool:
        if handler.kinds is None:
            return True
        if not isinstance(handler.kinds.exit, Fall):
            return False
        made = [s.operation for s in handler.kinds.statements if isinstance(s, Assign)]
        parts = [*handler.kinds.exit.values, *(e for each in made if isinstance(each, ir.Make) for e in each.elements)]
        kinds = [atom.value for part in parts for atom in self._value(run, part).atoms if isinstance(atom, Exact)]
        return any(isinstance(kind, type) and issubclass(StopIteration, kind) for kind in kinds)


def _exact(atom: Atom) -> object:
    return atom.value if isinstance(atom, Exact) else None


def is_endless(value: Value) -> bool:
    """Whether an iterator never comes to its end."""
    return not value.is_any and all(isinstance(a, At) and a.site.kind is itertools.count for a in value.atoms)


def _may_ask(code: CodeType) -> bool:
    """Whether a function of which nothing but its code is known may raise ``StopIteration``."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return not _READ.isdisjoint(code.co_names) or any(map(_may_ask, inner))
