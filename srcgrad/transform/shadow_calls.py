"""Shadows that go into calls and come out of them.

Enters: a call or a return in a function whose memory is stored into.  Leaves: how the call is given its arguments, and
the statements that bind the shadow of its result::

    s = g(y, a)          s = g(y, a);  s_bar = shadow(s)         g stores into y and is given y_bar, in both sweeps
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.ir.normal_form import Bind, Call, Return
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import load
from srcgrad.transform.mirror import Mirror
from srcgrad.transform.mirroring import freeze_result
from srcgrad.transform.shadows import Modes


def shadow_call(mirror: Mirror, statement: Bind, made: Call) -> None:
    """A callee gets the shadows of a class if it stores into the class or hands on a part of it."""
    target, root = statement.target, mirror.result.root
    summary = mirror.summary_of(made)
    names = [atoms(argument) for argument in made.arguments]
    touched = summary.stored | (summary.returned if target in mirror.shadowed else frozenset())
    roots = {root(n) for j in touched for n in names[j] if n in mirror.shadowed}
    # What changes later as a container is read through references by the callee's derivative.
    roots |= {root(n) for group in names for n in group if n in mirror.result.changing and not mirror.is_array(n)}
    given = tuple(any(n in mirror.shadowed and root(n) in roots for n in group) for group in names)
    changing = tuple(not mirror.result.idle.isdisjoint(group) for group in names)
    if any(changing):
        mirror.result.changed[statement] = changing
    mirror.out.append(statement)
    result = target in mirror.shadowed and any(given[j] for j in summary.returned)
    if any(given):
        mirror.result.calls[statement] = Modes(given, result)
    if result:
        _received(mirror, statement)
    elif target in mirror.shadowed:
        mirror.add(mirror.result.bars[target], call_runtime(runtime.shadow, load(target)), statement.span)  # gaps too
        freeze_result(mirror, statement)
        if target in mirror.result.changing and not mirror.is_array(target):
            mirror.result.detached.add(statement)


def _received(mirror: Mirror, statement: Bind) -> None:
    """The shadow that comes with a result.  The call binds it itself if the shadow never has another value; else
    what it is before may be kept until the call is made, and the call gives it a name of its own."""
    target = statement.target
    bar = mirror.result.bars[target]
    binders = sum(target in bound_here(s) for s in walk(mirror.function.body))
    if binders == 1 and not mirror.loops and target not in mirror.function.parameters:
        mirror.add(bar, load(bar), statement.span)
        mirror.result.silent.add(mirror.out[-1])
        return
    mirror.result.outs[statement] = out = mirror.namer.fresh(bar)
    # The call binds it again in every pass of a loop: no name to be read once for all.
    mirror.add(out, call_runtime(runtime.shadow, load(target)), statement.span)
    mirror.result.silent.add(mirror.out[-1])
    mirror.add(bar, load(out), statement.span)


def shadow_return(mirror: Mirror, statement: Return, value: gast.expr) -> None:
    """The result goes out with its shadow; what has none is given one here."""
    names = atoms(value)
    if names and names[0] in mirror.shadowed:
        mirror.result.results[statement] = mirror.result.bars[names[0]]
        return
    mirror.result.results[statement] = made = mirror.namer.fresh(f"{names[0] if names else 'value'}_bar")
    mirror.add(made, call_runtime(runtime.shadow, clone(value)), statement.span)
