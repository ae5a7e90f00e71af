"""The adjoint of one statement that binds a name, and of a return.

Enters: a ``Bind`` or ``Return`` and the adjoints that are set after it.  Leaves: the statements that turn them into the
adjoints before it.  Primal values are read through ``Reference``s, which say the version they mean;
``analysis.required`` decides later where each comes from::

    w = v[i]         ->     v_bar[i] += w_bar               (w_bar is zero from here on: it has no variable)

Where a statement reads what it overwrites (``s = s * u``), the adjoint of the overwritten name is formed last, in one
assignment, from the old one: take the adjoint, zero it, then add (Griewank & Walther, *Evaluating Derivatives*, §3.3).
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.references import reference, referring
from srcgrad.errors import InternalError
from srcgrad.ir.normal_form import (
    Apply,
    Bind,
    Block,
    Call,
    Copy,
    Exchange,
    Field,
    Fixed,
    Index,
    Pack,
    Return,
    Unruled,
)
from srcgrad.rules.facts import (
    Array,
)
from srcgrad.rules.memory import KEEPS_ALIASES
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import clone
from srcgrad.transform.applications import apply_adjoint
from srcgrad.transform.build import (
    assign,
    constant,
    load,
)
from srcgrad.transform.calls import call_adjoint, call_with_shadows
from srcgrad.transform.contributions import add, add_at, distribute, zero
from srcgrad.transform.cotangents import Cotangents
from srcgrad.transform.operands import is_single_real
from srcgrad.transform.sequences import pack_adjoint
from srcgrad.transform.stores import mirrored_adjoint, mirrors
from srcgrad.transform.sweep import ReverseSweep


def bind_adjoint(sweep: ReverseSweep, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
    target = statement.target
    if sweep.shadows is not None and statement in sweep.shadows.calls:
        return call_with_shadows(sweep, statement, block, position)
    if mirrors(sweep, statement):
        return mirrored_adjoint(sweep, statement, block, position)
    if target in sweep.shadowed:
        return _bind_shadowed(sweep, statement, block, position)
    if target not in sweep.bars:
        return []
    if target not in sweep.activity.useful_after(statement):
        sweep.bars.drop(target)
        return []
    return _operation(sweep, statement, block, position)


def _bind_shadowed(sweep: ReverseSweep, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
    """The target's adjoint is its shadow, which ends with what the target was bound to."""
    assert sweep.shadows is not None
    target = statement.target
    if statement in sweep.shadows.handed or target not in sweep.activity.useful_after(statement):
        return []
    sources = sweep.shadows.sources.get(statement, ())
    again = _holds_twice(sweep, statement)
    if again or any(not isinstance(sweep.fact(name), Array) for name in sources):
        sweep.seeds[statement] = sweep.fresh(f"{target}_bar")
    before = sweep.bars.copy()
    code = _operation(sweep, statement, block, position)
    if again:
        once = call_runtime(runtime.each_once, sweep.shadow(target, after=True))
        return [assign(sweep.seeds[statement], once), *code] if code else []
    known = [sweep.shadow(name) for name in sweep.shadows.sources.get(statement, ())]
    if not known or not code:
        return code
    if statement in sweep.seeds:
        test: gast.expr = gast.Compare(load(sweep.seeds[statement]), [gast.IsNot()], [constant(None)])
        return [
            assign(
                sweep.seeds[statement],
                call_runtime(runtime.own_adjoint, sweep.shadow(target, after=True), *known),
            ),
            gast.If(test, code, _without(sweep, before, block, position)),
        ]
    test = call_runtime(runtime.separate, sweep.shadow(target, after=True), *known)
    return [gast.If(test, code, _without(sweep, before, block, position))]


def _without(sweep: ReverseSweep, before: Cotangents, block: Block, position: int) -> list[gast.stmt]:
    """What stands in place of contributions that may be left out: zeros of the adjoints that begin with them.

    ``before``: the adjoints before the contributions.  What holds of one afterwards holds in both cases.
    """
    made: list[gast.stmt] = []
    for name, owned in list(sweep.bars.owned.items()):
        if name not in before:
            made += zero(sweep, name, block, position)
        if not owned or not before.owned.get(name, True):
            sweep.bars.share(name)
    sweep.bars.pending |= before.pending & sweep.bars.owned.keys()
    return made


def _holds_twice(sweep: ReverseSweep, statement: Bind) -> bool:
    """Whether a statement makes a value that may hold one memory in two places, whose adjoint belongs to it once."""
    made = statement.operation
    return isinstance(made, Apply) and made.function in KEEPS_ALIASES and not isinstance(
        sweep.fact(statement.target), Array
    )


def _operation(sweep: ReverseSweep, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
    target = statement.target
    varied = sweep.activity.varied_before(statement)
    match statement.operation:
        case Fixed():
            sweep.bars.drop(target)
            return []
        case Unruled(refusal=refusal):
            if not any(name in varied for name in inputs(statement)):
                sweep.bars.drop(target)
                return []
            raise refusal
        case Copy(source=source):
            if source not in varied:
                sweep.bars.drop(target)
                return []
            return distribute(sweep, target, [(source, sweep.bar_name(target))])
        case Index(base=base, index=gast.Tuple(elts=[])) if base not in sweep.shadowed and base in varied:
            return distribute(sweep, target, [(base, sweep.bar_name(target))])  # all of it, which may be one number
        case Index(base=base, index=index):
            return _index(sweep, statement, base, index, block, position, base in varied)
        case Field(base=base, name=name):
            return _index(sweep, statement, base, constant(name), block, position, base in varied)
        case Exchange(base=base) if is_single_real(sweep.fact(base)) or not any(n in varied for n in inputs(statement)):
            sweep.bars.drop(target)  # a number has no such method: nothing after it runs
            return []
        case Pack():
            return pack_adjoint(sweep, statement, statement.operation, varied)
        case Apply():
            return apply_adjoint(sweep, statement, statement.operation, block, position, varied)
        case Call():
            return call_adjoint(sweep, statement, statement.operation, block, position, varied)
    raise InternalError(f"the adjoint of {type(statement.operation).__name__} is not known", statement.span)


def _index(
    sweep: ReverseSweep, statement: Bind, base: str, index: gast.expr, block: Block, position: int, varied: bool
) -> list[gast.stmt]:
    target = statement.target
    if target in sweep.lent:
        if base not in sweep.handed and not sweep.bars.owned.get(base, False):
            raise InternalError(f"the array that lent {target!r} its adjoint has another by now", statement.span)
        sweep.lent.discard(target)
        sweep.bars.drop(target)
        return []
    if not varied:
        sweep.bars.drop(target)
        return []
    code: list[gast.stmt] = []
    value: gast.expr = sweep.bar_name(target)
    if sweep.shadows is not None:
        index = sweep.shadows.places.get(statement, index)
    place = referring(index, block, position)
    if base == target and base not in sweep.shadowed:
        # x = x[i]: the old adjoint is the contribution, the new one a buffer of the old x.
        old = sweep.fresh(f"{target}_bar")
        code.append(assign(old, value))
        sweep.bars.drop(target)
        value = load(old)
        code += add_at(sweep, base, place, value, block, position)
        return code
    code += add_at(sweep, base, place, value, block, position)
    sweep.bars.drop(target)
    return code


def return_adjoint(sweep: ReverseSweep, statement: Return, block: Block, position: int) -> list[gast.stmt]:
    names = atoms(statement.value)
    if not names or names[0] not in sweep.activity.varied_before(statement):
        return []
    seed = clone(sweep.seed)
    if sweep.shadows is not None and statement in sweep.shadows.results:
        if names[0] in sweep.shadowed:
            return []  # whoever has the result adds to its shadow
        seed = reference(sweep.shadows.results[statement], block, position)
    if isinstance(seed, gast.Name) and seed.id == sweep.names.get(names[0]) and names[0] not in sweep.bars:
        sweep.bars.assign(names[0], owned=False)
        return []
    return add(sweep, names[0], seed)
