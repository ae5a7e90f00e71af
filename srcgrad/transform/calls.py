"""Adjoints of calls of user functions.

Enters: a ``Bind`` of a ``Call``.  Leaves: a call of the backward half of the callee's derivative.  Arguments go by
value, or with their shadows (``transform.shadows.Modes``), to which the callee adds::

    s = g(x)             s, saved = g_fwd(x)                     x_bar = g_bwd(saved, s_bar)
    s = g(y, a)          s, saved = g_fwd(y, y_bar, a)           a_bar = g_bwd(saved, s_bar)          g stores into y
"""

from __future__ import annotations

from collections.abc import Container

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.references import hidden
from srcgrad.ir.normal_form import Bind, Block, Call
from srcgrad.rules.facts import Fact
from srcgrad.syntax.globals import call_runtime
from srcgrad.transform.build import call, load, unpack
from srcgrad.transform.contributions import distribute, zero
from srcgrad.transform.shadows import PLAIN
from srcgrad.transform.sweep import ReverseSweep


def call_adjoint(
    sweep: ReverseSweep, statement: Bind, made: Call, block: Block, position: int, varied: Container[str]
) -> list[gast.stmt]:
    target = statement.target
    operands = [atoms(a) for a in made.arguments]
    active = active_arguments(sweep, statement)
    if not any(active):
        sweep.bars.drop(target)
        return []
    sweep.requests.saved_calls.add(statement)
    _, backward = pair_of(sweep, statement)
    result = call(backward, hidden(statement, "saved"), _seed_of(sweep, target))
    names = [n[0] for n, is_active in zip(operands, active, strict=True) if is_active]
    return _distribute_result(sweep, target, names, result)


def call_with_shadows(sweep: ReverseSweep, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
    """A callee that was given shadows adds to them, and takes back what it stored: it is reversed in any case."""
    assert sweep.shadows is not None and isinstance(statement.operation, Call)
    target, modes = statement.target, sweep.shadows.calls[statement]
    sweep.requests.saved_calls.add(statement)
    _, backward = pair_of(sweep, statement)
    arguments: list[gast.expr] = [hidden(statement, "saved")]
    code: list[gast.stmt] = []
    if not modes.result:
        if target not in sweep.shadowed and target not in sweep.bars:
            code += zero(sweep, target, block, position + 1)
        arguments.append(_seed_of(sweep, target))
    result = call(backward, *arguments)
    by_value = zip(statement.operation.arguments, active_arguments(sweep, statement), modes.given, strict=True)
    names = [atoms(a)[0] for a, is_active, given in by_value if is_active and not given]
    if not names:
        sweep.bars.drop(target)
        return [*code, gast.Expr(result)]
    return code + _distribute_result(sweep, target, names, result)


def _seed_of(sweep: ReverseSweep, target: str) -> gast.expr:
    """The adjoint of a result, for the callee that made it: what a shadow holds in two places it gets once."""
    bar = sweep.bar_name(target)
    return call_runtime(runtime.each_once, bar) if target in sweep.shadowed and not sweep.is_array(target) else bar


def active_arguments(sweep: ReverseSweep, statement: Bind) -> tuple[bool, ...]:
    """The arguments that carry a derivative; one that comes with its shadow does if anything of its class does."""
    assert isinstance(statement.operation, Call)
    varied = sweep.activity.varied_before(statement)
    arguments = statement.operation.arguments
    active = [any(n in varied for n in atoms(a)) for a in arguments]
    modes = sweep.shadows.calls.get(statement) if sweep.shadows is not None else None
    if modes is not None and sweep.shadows is not None:
        for j, given in enumerate(modes.given):
            if given:
                members = sweep.shadows.classes.members(atoms(arguments[j])[0])
                active[j] = any(n in varied for n in members)
    return tuple(active)


def pair_of(sweep: ReverseSweep, statement: Bind) -> tuple[gast.expr, gast.expr]:
    """The two halves of the derivative that a call site uses."""
    assert isinstance(statement.operation, Call)
    made = statement.operation
    modes = sweep.shadows.calls.get(statement, PLAIN) if sweep.shadows is not None else PLAIN
    return sweep.calls.pair(made.callee, active_arguments(sweep, statement), argument_facts(sweep, made), modes)


def _distribute_result(sweep: ReverseSweep, target: str, names: list[str], result: gast.expr) -> list[gast.stmt]:
    """What a backward half returns, handed on to the arguments that were passed by value."""
    code: list[gast.stmt] = []
    if len(names) == 1:
        return distribute(sweep, target, [(names[0], result)])
    parts = [sweep.fresh(f"{name}_bar") for name in names]
    code.append(unpack(parts, result))
    return code + distribute(
        sweep, target, [(n, load(p)) for n, p in zip(names, parts, strict=True)]
    )


def argument_facts(sweep: ReverseSweep, made: Call) -> tuple[Fact, ...]:
    return tuple(sweep.fact_of(argument) for argument in made.arguments)
