"""Contributions to adjoints in the reverse sweep: first ones, further ones, zeros, and buffers that are owned.

Enters: the sweep and what is to be added to the adjoint of a name.  Leaves: the statements that add it.  The first
contribution to an adjoint assigns, later ones add; in place only to a buffer that is owned::

    x_bar = s_bar * u                       first
    x_bar = x_bar + t_bar * x               second (x_bar += t_bar * x for an owned array)
    x_bar[i] += v_bar                       one place of an owned buffer: O(1)
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.analysis.numeric import numeric_names
from srcgrad.analysis.references import Reference, reference, referring
from srcgrad.analysis.regions import is_basic
from srcgrad.errors import InternalError
from srcgrad.ir.normal_form import Block
from srcgrad.rules.facts import Array
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.marks import seen_elsewhere, whole
from srcgrad.syntax.parse import same_tree, walk
from srcgrad.transform.build import (
    add_in_place,
    assign,
    constant,
    index_value,
    load,
    store,
    subscript,
)
from srcgrad.transform.lending import Lent
from srcgrad.transform.operands import calls_to
from srcgrad.transform.sweep import ReverseSweep


def zero(sweep: ReverseSweep, name: str, block: Block, position: int) -> list[gast.stmt]:
    """Give ``name`` a zero adjoint in the shape of its value there, or lend it that of the array that it shows."""
    _require_unlent(sweep, name)
    lent = sweep.lendable.get(name)
    if lent is not None and block is lent.block and lent.base in sweep.activity.varied_before(lent.statement):
        return _lend(sweep, name, lent)
    if sweep.is_scalar(name):
        value: gast.expr = constant(0.0)
    else:
        value = call_runtime(runtime.zeros_like, reference(name, block, position, shape_only=True))
    sweep.bars.assign(name, owned=True)
    return [assign(sweep.bar(name), value)]


def _lend(sweep: ReverseSweep, name: str, lent: Lent) -> list[gast.stmt]:
    """What is added to the adjoint of a view from here on is added to that of the array."""
    base, code = lent.base, list[gast.stmt]()
    if base not in sweep.handed:
        if base not in sweep.bars:
            code += zero(sweep, base, lent.block, lent.position)
        code += own(sweep, base)
    place = subscript(load(sweep.bar(base)), referring(lent.index, lent.block, lent.position))
    sweep.bars.assign(name, owned=True)
    sweep.lent.add(name)
    return [*code, assign(sweep.bar(name), place)]


def _require_unlent(sweep: ReverseSweep, name: str) -> None:
    """An adjoint that is lent stays one buffer: in another one, what is added to the view would be lost."""
    if name in sweep.lenders():
        reason = f"the adjoint of {name!r} is lent, and would be replaced by another buffer"
        raise InternalError(reason, sweep.activity.function.span)


def own(sweep: ReverseSweep, name: str) -> list[gast.stmt]:
    """Make the adjoint of ``name`` a buffer that may be added to in place."""
    if sweep.bars.owned.get(name, False) or sweep.is_scalar(name):
        return []
    _require_unlent(sweep, name)
    sweep.bars.assign(name, owned=True)
    bar = load(sweep.bar(name))
    if name in sweep.lists:
        return [assign(sweep.bar(name), call_runtime(runtime.as_list, bar))]
    return [assign(sweep.bar(name), call_runtime(runtime.own, bar))]


def add(sweep: ReverseSweep, name: str, value: gast.expr) -> list[gast.stmt]:
    """Add a contribution to the adjoint of ``name``: the first one assigns; to a shadow, in place."""
    if name in sweep.shadowed:
        return _add_to_shadow(sweep, name, value)
    bar = sweep.bar(name)
    if name in sweep.handed or name in sweep.lent:
        return [seen_elsewhere(gast.AugAssign(store(bar), gast.Add(), value))]
    if name not in sweep.bars:
        _require_unlent(sweep, name)
        _note_sharing(sweep, value)
        # What NumPy made of a list is an array: it becomes a list before an item is taken from it.
        sweep.bars.assign(name, owned=is_fresh(value) and name not in sweep.lists)
        return [assign(bar, value)]
    if sweep.bars.owned[name] and sweep.is_array(name):
        added = gast.AugAssign(store(bar), gast.Add(), _spread_by_adding(sweep, name, value))
        return [seen_elsewhere(added) if name in sweep.lenders() else added]
    _require_unlent(sweep, name)
    present = load(bar)
    if adds_plainly(sweep, name, value) and name not in sweep.lists:
        total: gast.expr = gast.BinOp(present, gast.Add(), value)
    else:
        total = call_runtime(runtime.add, present, value)
    sweep.bars.assign(name, owned=name not in sweep.lists)
    return [assign(bar, total)]


def add_at(
    sweep: ReverseSweep, name: str, index: gast.expr, value: gast.expr, block: Block, position: int
) -> list[gast.stmt]:
    """Add a contribution to one place of the adjoint of ``name``, in place; a number has no places."""
    if name in sweep.shadowed:
        place = sweep.shadow(name)
        if sweep.adds_in_place(name) and is_basic(index, sweep.fact):
            return [seen_elsewhere(add_in_place(subscript(place, index), value))]
        return [seen_elsewhere(gast.Expr(call_runtime(runtime.add_at, place, index_value(index), value)))]
    if name in sweep.handed or name in sweep.lent:
        place = load(sweep.bar(name))
        if _is_basic(sweep, index):
            return [seen_elsewhere(add_in_place(subscript(place, index), value))]
        return [seen_elsewhere(gast.Expr(call_runtime(runtime.add_at, place, index_value(index), value)))]
    if sweep.is_scalar(name) or not sweep.is_array(name) and _takes_no_axis(index):
        like = reference(name, block, position, shape_only=True)
        return add(sweep, name, call_runtime(runtime.untake, value, like, index_value(index)))
    code: list[gast.stmt] = []
    if name not in sweep.bars:
        code += zero(sweep, name, block, position)
        if name in sweep.lent:
            return [*code, *add_at(sweep, name, index, value, block, position)]
    code += own(sweep, name)
    bar = sweep.bar(name)
    if sweep.is_array(name) and _is_basic(sweep, index):
        added = add_in_place(subscript(load(bar), index), value)
    else:
        added = gast.Expr(call_runtime(runtime.add_at, load(bar), index_value(index), value))
    return [*code, seen_elsewhere(added) if name in sweep.lenders() else added]


def counted_once(sweep: ReverseSweep, contributions: list[tuple[str, gast.expr]]) -> list[tuple[str, gast.expr]]:
    """The contributions of one operation, two equal ones to one name as twice the first: ``x * x`` gives
    ``2.0 * t_bar * x``."""
    made: list[tuple[str, gast.expr]] = []
    for name, value in contributions:
        first = next((j for j, (other, seen) in enumerate(made) if other == name and _are_equal(seen, value)), None)
        if first is None or not (is_arithmetic(value) or isinstance(sweep.fact(name), Array)):
            made.append((name, value))
        elif len(contributions) == 2:
            made[first] = name, _twice(value)
        else:
            return contributions
    return made


def _are_equal(left: gast.expr, right: gast.expr) -> bool:
    """Whether two contributions of one operation are the same text about the same versions."""
    versions = [[n.position for n in walk(value) if isinstance(n, Reference)] for value in (left, right)]
    return versions[0] == versions[1] and same_tree(left, right)


def _twice(value: gast.expr) -> gast.expr:
    """Doubling is exact, wherever it is done: where the factor is likely to be a number, or the smaller array."""
    match value:
        case gast.Call(args=[whole, like]) if calls_to(value, runtime.unbroadcast):
            return call_runtime(runtime.unbroadcast, _twice(whole), like)
        case gast.BinOp(left=left, op=gast.Mult(), right=right):
            return gast.BinOp(gast.BinOp(constant(2.0), gast.Mult(), left), gast.Mult(), right)
    return gast.BinOp(constant(2.0), gast.Mult(), value)


def distribute(sweep: ReverseSweep, target: str, contributions: list[tuple[str, gast.expr]]) -> list[gast.stmt]:
    """Hand the adjoint of ``target`` on; what goes back to ``target`` itself is formed last, from the old one."""
    code: list[gast.stmt] = []
    back: list[gast.expr] = []
    for name, value in contributions:
        if name == target and name not in sweep.shadowed:
            back.append(value)
        else:
            code += add(sweep, name, value)
    if not back:
        sweep.bars.drop(target)
        return code
    total = back[0]
    for value in back[1:]:
        total = (
            gast.BinOp(total, gast.Add(), value)
            if adds_plainly(sweep, target, total) and adds_plainly(sweep, target, value)
            else call_runtime(runtime.add, total, value)
        )
    if isinstance(total, gast.Name) and total.id == sweep.bar(target):
        return code
    _note_sharing(sweep, total)
    fresh = is_fresh(total)
    sweep.bars.assign(target, owned=fresh)
    return [*code, assign(sweep.bar(target), total)]


def may_be_container(sweep: ReverseSweep, name: str) -> bool:
    return not isinstance(sweep.fact(name), Array) and name not in numeric_names(sweep.activity.function)


def adds_plainly(sweep: ReverseSweep, name: str, value: gast.expr) -> bool:
    """Whether ``+`` adds this contribution to the adjoint of ``name``, be it a number, an array or a container.

    Our own output hands None on where a path bound nothing: through copies, sequences and calls, which compute
    nothing from it.
    """
    if sweep.activity.function.generated and not isinstance(sweep.fact(name), Array) and _is_handed_on(value):
        return False
    return is_arithmetic(value) or not may_be_container(sweep, name)


def _note_sharing(sweep: ReverseSweep, value: gast.expr) -> None:
    """A contribution that is, or may view, another adjoint leaves neither of them owned."""
    if is_fresh(value) or _is_taken_off(value):
        return
    mentioned = {n.id for n in walk(value) if isinstance(n, gast.Name)}
    for name in list(sweep.bars.owned):
        if sweep.bar(name) in mentioned:
            sweep.bars.share(name)


def _add_to_shadow(sweep: ReverseSweep, name: str, value: gast.expr) -> list[gast.stmt]:
    place = sweep.shadow(name)
    if sweep.adds_in_place(name):
        place.ctx = gast.Store()
        summand = _spread_by_adding(sweep, name, value)
        fact, added = sweep.fact(name), seen_elsewhere(gast.AugAssign(place, gast.Add(), summand))
        is_plain = isinstance(fact, Array) and fact.rank == 1 and fact.dtype == "float64"  # of one layout
        return [whole(added) if is_plain and summand is value else added]
    return [seen_elsewhere(gast.Expr(call_runtime(runtime.accumulate, place, value)))]


def _spread_by_adding(sweep: ReverseSweep, name: str, value: gast.expr) -> gast.expr:
    """What is added to a buffer need not be spread over its shape first."""
    fact = sweep.fact(name)
    if not calls_to(value, runtime.unreduce) or not (isinstance(fact, Array) and fact.dtype == "float64"):
        return value
    match value:
        case gast.Call(args=[bare, _] | [bare, _, gast.Constant(value=None)], keywords=[]):
            return bare
        case gast.Call(args=[bare, _, _, gast.Constant(value=True)], keywords=[]):
            return bare
    return value


def _is_basic(sweep: ReverseSweep, index: gast.expr) -> bool:
    """Whether NumPy reads this index as a view or one element, so that no element is met twice."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(
        isinstance(part, gast.Slice)
        or (isinstance(part, gast.Constant) and not isinstance(part.value, bool))
        or (isinstance(part, gast.UnaryOp) and isinstance(part.operand, gast.Constant))
        or _is_integer(sweep, part)
        for part in parts
    )


def _is_integer(sweep: ReverseSweep, part: gast.expr) -> bool:
    if isinstance(part, gast.Name) and not isinstance(part, GlobalReference):
        fact = sweep.fact(part.id)
        return isinstance(fact, Array) and fact.shape == () and (fact.dtype or "").startswith(("int", "uint"))
    if isinstance(part, gast.BinOp):
        return _is_integer(sweep, part.left) and _is_integer(sweep, part.right)
    return isinstance(part, gast.Constant) and type(part.value) is int


FRESH = (runtime.zeros_like, runtime.own, runtime.add)


def is_fresh(value: gast.expr) -> bool:
    """Whether evaluating makes a new object that nobody else holds."""
    if isinstance(value, gast.BinOp | gast.Constant):
        return True
    if isinstance(value, gast.UnaryOp):
        return not isinstance(value.op, gast.UAdd)
    return any(calls_to(value, function) for function in FRESH)


def _is_taken_off(value: gast.expr) -> bool:
    """Whether a value is popped off a list, which has it no more: the list is as much its owner's as before."""
    match value:
        case gast.Call(func=gast.Attribute(attr="pop")):
            return True
    return False


def _is_handed_on(value: gast.expr) -> bool:
    """Whether a contribution is another adjoint, a part of one, or what a callee's reverse sweep returns."""
    if isinstance(value, gast.Call):
        return isinstance(value.func, gast.Name) and not isinstance(value.func, GlobalReference)
    return isinstance(value, gast.Name | gast.Subscript)


def is_arithmetic(value: gast.expr) -> bool:
    """Whether the value is certainly a number or an array, so that ``+`` adds."""
    return isinstance(value, gast.BinOp | gast.UnaryOp) or calls_to(value, runtime.unbroadcast) or (
        isinstance(value, gast.Constant) and isinstance(value.value, int | float | complex)
    )


def _takes_no_axis(index: gast.expr) -> bool:
    """Whether a number of NumPy's may be indexed so as well: ``x[...]``, ``x[..., None]``, ``x[()]``."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(isinstance(p, gast.Constant) and (p.value is None or p.value is ...) for p in parts)
