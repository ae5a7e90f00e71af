"""Adjoints of calls of user functions.

Enters: a ``Bind`` of a ``Call``.  Leaves: a call of the backward half of the callee's derivative.  Arguments go by
value, or with their shadows (``transform.shadows.Modes``), to which the callee adds::

    s = g(x)             s, saved = g_fwd(x)                     x_bar = g_bwd(saved, s_bar)
    s = g(y, a)          s, saved = g_fwd(y, y_bar, a)           a_bar = g_bwd(saved, s_bar)          g stores into y
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, atoms
from srcgrad.analysis.references import hidden
from srcgrad.ir.normal_form import Bind, Block, Call, Callee
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.namer import Namer
from srcgrad.transform.build import call as called
from srcgrad.transform.build import load, unpack
from srcgrad.transform.shadows import PLAIN, Modes, Shadows
from srcgrad.transform.stores import StoreAdjoint


class Calls(Protocol):
    """How a call site reaches the derivative of its callee: names of functions beside this one.

    ``strong_zeros``: how rules are written (``rules.strong_zeros``); ``shown``: the text is made to be read."""

    strong_zeros: bool
    shown: bool

    def pair(
        self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...], modes: Modes = PLAIN
    ) -> tuple[gast.expr, gast.expr]: ...

    def primal(self, callee: Callee) -> gast.expr | None: ...


class CallAdjoint(StoreAdjoint):
    """Adjoints of calls, and what is known of their arguments."""

    def __init__(
        self,
        activity: Activity,
        facts: Mapping[str, Fact],
        namer: Namer,
        calls: Calls,
        shadows: Shadows | None = None,
    ) -> None:
        super().__init__(activity, facts, namer, shadows)
        self.calls = calls
        self.saved_calls: set[Bind] = set()

    def call(self, statement: Bind, made: Call, block: Block, position: int, varied: object) -> list[gast.stmt]:
        target = statement.target
        operands = [atoms(a) for a in made.arguments]
        active = self.active_arguments(statement)
        if not any(active):
            self.bars.drop(target)
            return []
        self.saved_calls.add(statement)
        _, backward = self.pair_of(statement)
        result = called(backward, hidden(statement, "saved"), self._seed_of(target))
        names = [n[0] for n, is_active in zip(operands, active, strict=True) if is_active]
        return self._distribute_result(target, names, result)

    def call_with_shadows(self, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
        """A callee that was given shadows adds to them, and takes back what it stored: it is reversed in any case."""
        assert self.shadows is not None and isinstance(statement.operation, Call)
        target, modes = statement.target, self.shadows.calls[statement]
        self.saved_calls.add(statement)
        _, backward = self.pair_of(statement)
        arguments: list[gast.expr] = [hidden(statement, "saved")]
        code: list[gast.stmt] = []
        if not modes.result:
            if target not in self.shadowed and target not in self.bars:
                code += self.zero(target, block, position + 1)
            arguments.append(self._seed_of(target))
        result = called(backward, *arguments)
        by_value = zip(statement.operation.arguments, self.active_arguments(statement), modes.given, strict=True)
        names = [atoms(a)[0] for a, is_active, given in by_value if is_active and not given]
        if not names:
            self.bars.drop(target)
            return [*code, gast.Expr(result)]
        return code + self._distribute_result(target, names, result)

    def _seed_of(self, target: str) -> gast.expr:
        """The adjoint of a result, for the callee that made it: what a shadow holds in two places it gets once."""
        bar = self.bar_name(target)
        return call_runtime(runtime.each_once, bar) if target in self.shadowed and not self.is_array(target) else bar

    def active_arguments(self, statement: Bind) -> tuple[bool, ...]:
        """The arguments that carry a derivative; one that comes with its shadow does if anything of its class does."""
        assert isinstance(statement.operation, Call)
        varied = self.activity.varied_before(statement)
        arguments = statement.operation.arguments
        active = [any(n in varied for n in atoms(a)) for a in arguments]
        modes = self.shadows.calls.get(statement) if self.shadows is not None else None
        if modes is not None and self.shadows is not None:
            for j, given in enumerate(modes.given):
                if given:
                    members = self.shadows.classes.members(atoms(arguments[j])[0])
                    active[j] = any(n in varied for n in members)
        return tuple(active)

    def pair_of(self, statement: Bind) -> tuple[gast.expr, gast.expr]:
        """The two halves of the derivative that a call site uses."""
        assert isinstance(statement.operation, Call)
        made = statement.operation
        modes = self.shadows.calls.get(statement, PLAIN) if self.shadows is not None else PLAIN
        return self.calls.pair(made.callee, self.active_arguments(statement), self.argument_facts(made), modes)

    def _distribute_result(self, target: str, names: list[str], result: gast.expr) -> list[gast.stmt]:
        """What a backward half returns, handed on to the arguments that were passed by value."""
        code: list[gast.stmt] = []
        if len(names) == 1:
            return self.distribute(target, [(names[0], result)])
        parts = [self.fresh(f"{name}_bar") for name in names]
        code.append(unpack(parts, result))
        return code + self.distribute(
            target, [(n, load(p)) for n, p in zip(names, parts, strict=True)]
        )

    def argument_facts(self, made: Call) -> tuple[Fact, ...]:
        return tuple(self.fact_of(argument) for argument in made.arguments)

    def fact_of(self, argument: gast.expr) -> Fact:
        if isinstance(argument, gast.Name) and not isinstance(argument, GlobalReference):
            return self.fact(argument.id)
        if isinstance(argument, gast.Tuple):  # the operands of a variadic rule
            return Sequence("tuple", tuple(map(self.fact_of, argument.elts)))
        return constant_fact(argument)


def constant_fact(expression: gast.expr) -> Fact:
    if isinstance(expression, gast.Constant):
        match expression.value:
            case bool():
                return Array((), "bool", True)
            case int():
                return Array((), "int", True)
            case float():
                return Array((), "float", True)
            case complex():
                return Array((), "complex", True)
        return Static(expression.value)
    return Unknown()
