"""Adjoints of calls of user functions.

Enters: a ``Bind`` of a ``Call``.  Leaves: a call of the backward half of the callee's derivative.  Arguments go by
value, or with their shadows (``transform.shadows.Modes``), to which the callee adds::

    s = g(x)             s, saved = g_fwd(x)                     x_bar = g_bwd(saved, s_bar)
    s = g(y, a)          s, saved = g_fwd(y, y_bar, a)           a_bar = g_bwd(saved, s_bar)          g stores into y
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.references import backward, hidden
from srcgrad.ir.normal_form import Bind, Block, Call
from srcgrad.rules.facts import Fact
from srcgrad.syntax.globals import call_runtime
from srcgrad.transform.build import call, load, unpack
from srcgrad.transform.contributions import distribute, own, zero
from srcgrad.transform.shadows import PLAIN, Modes
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
    _, half = pair_of(sweep, statement)
    seed = _seed_of(sweep, target)
    code, buffers = _buffers(sweep, statement, block, position)
    result = call(half, hidden(statement, "saved"), seed, *buffers)
    added = modes_of(sweep, statement).added or [False] * len(active)
    names = [n[0] for n, is_active, adds in zip(operands, active, added, strict=True) if is_active and not adds]
    code += _distribute_result(sweep, target, names, result)
    _keep_owned(sweep, statement)
    return code


def call_with_shadows(sweep: ReverseSweep, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
    """A callee that was given shadows adds to them, and takes back what it stored: it is reversed in any case."""
    assert sweep.shadows is not None and isinstance(statement.operation, Call)
    target, modes = statement.target, sweep.shadows.calls[statement]
    sweep.requests.saved_calls.add(statement)
    arguments: list[gast.expr] = [hidden(statement, "saved")]
    code: list[gast.stmt] = []
    if not modes.result:
        if target not in sweep.shadowed and target not in sweep.bars:
            code += zero(sweep, target, block, position + 1)
        arguments.append(_seed_of(sweep, target))
    made, buffers = _buffers(sweep, statement, block, position)
    result = call(backward(statement), *arguments, *buffers)
    added = modes_of(sweep, statement).added or [False] * len(modes.given)
    by_value = zip(statement.operation.arguments, active_arguments(sweep, statement), modes.given, added, strict=True)
    names = [atoms(a)[0] for a, is_active, given, adds in by_value if is_active and not given and not adds]
    code += made + _distribute_result(sweep, target, names, result)
    _keep_owned(sweep, statement)
    return code


def added_to(sweep: ReverseSweep, statement: Bind) -> tuple[str, ...]:
    """The arguments of a call to whose adjoints its sweep adds."""
    if not isinstance(statement.operation, Call):
        return ()
    pairs = zip(statement.operation.arguments, modes_of(sweep, statement).added)
    return tuple(atoms(argument)[0] for argument, adds in pairs if adds)


def _buffers(
    sweep: ReverseSweep, statement: Bind, block: Block, position: int
) -> tuple[list[gast.stmt], list[gast.expr]]:
    """The adjoints that the sweep of a callee adds to, made beforehand."""
    code: list[gast.stmt] = []
    buffers: list[gast.expr] = []
    for name in added_to(sweep, statement):
        if name in sweep.shadowed:
            buffers.append(sweep.shadow(name))
            continue
        if name not in sweep.handed:
            if name not in sweep.bars:
                code += zero(sweep, name, block, position)
            code += own(sweep, name)
        buffers.append(load(sweep.bar(name)))
    return code, buffers


def _keep_owned(sweep: ReverseSweep, statement: Bind) -> None:
    """A callee adds to the buffers that it is given and reads nothing of them: nothing that it returns is one."""
    for name in added_to(sweep, statement):
        if name in sweep.bars and name not in sweep.shadowed and name not in sweep.handed:
            sweep.bars.assign(name, owned=True)


def modes_of(sweep: ReverseSweep, statement: Bind) -> Modes:
    """How the derivative of a callee is given its arguments by this call."""
    made = statement.operation
    assert isinstance(made, Call)
    modes = sweep.shadows.calls.get(statement, PLAIN) if sweep.shadows is not None else PLAIN
    if sweep.shadows is not None and statement in sweep.shadows.changed:
        modes = replace(modes, changing=sweep.shadows.changed[statement])
    if statement in sweep.unrestored:
        modes = replace(modes, restored=False)
    places = sweep.calls.added_to(made.callee, argument_facts(sweep, made))
    if not places:
        return modes
    active = active_arguments(sweep, statement)
    added = tuple(
        j in places and active[j] and not (modes.given and modes.given[j]) and _takes_sums(sweep, statement, argument)
        for j, argument in enumerate(made.arguments)
    )
    return replace(modes, added=added) if any(added) else modes


def _takes_sums(sweep: ReverseSweep, statement: Bind, argument: gast.expr) -> bool:
    """Whether an argument has a buffer that takes any adjoint of its value; what the call binds has another by then."""
    return isinstance(argument, gast.Name) and argument.id != statement.target and sweep.adds_in_place(argument.id)


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
    modes = modes_of(sweep, statement)
    return sweep.calls.pair(made.callee, active_arguments(sweep, statement), argument_facts(sweep, made), modes)


def held_by(sweep: ReverseSweep, statement: Bind) -> tuple[set[str], set[str]]:
    """The classes of which a callee saved references: those that are read in any case, and those that its own sweep
    alone reads, before it leaves them as they were."""
    assert sweep.shadows is not None and isinstance(statement.operation, Call)
    made, root = statement.operation, sweep.shadows.root
    names = {statement.target, *inputs(statement)}.intersection(sweep.shadowed)
    modes = sweep.shadows.calls.get(statement)
    if modes is None:
        return {root(name) for name in names}, set()
    given = {name for a, comes in zip(made.arguments, modes.given, strict=True) if comes for name in atoms(a)}
    inside = {root(name) for name in given}
    others = {root(name) for name in names - given}
    modes = modes_of(sweep, statement)
    if sweep.calls.reads_again(made.callee, active_arguments(sweep, statement), argument_facts(sweep, made), modes):
        return others, inside
    return others, set()


def _distribute_result(sweep: ReverseSweep, target: str, names: list[str], result: gast.expr) -> list[gast.stmt]:
    """What a backward half returns, handed on to the arguments that were passed by value."""
    code: list[gast.stmt] = []
    if not names:
        sweep.bars.drop(target)
        return [gast.Expr(result)]
    if len(names) == 1:
        return distribute(sweep, target, [(names[0], result)])
    parts = [sweep.fresh(f"{name}_bar") for name in names]
    code.append(unpack(parts, result))
    return code + distribute(
        sweep, target, [(n, load(p)) for n, p in zip(names, parts, strict=True)]
    )


def argument_facts(sweep: ReverseSweep, made: Call) -> tuple[Fact, ...]:
    return tuple(sweep.fact_of(argument) for argument in made.arguments)
