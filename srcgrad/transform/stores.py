"""Adjoints of stores into arrays.

Enters: a ``Store``, ``AugStore`` or ``AddAt`` into memory that has a shadow.  Leaves: its adjoint: the
adjoint of the place is taken out (what was there before is gone, so that nothing depends on it), the place gets its old
contents back if anything before the store reads them, and the value gets what was taken out::

    v[i] = e        t = v_bar[i].copy(); v_bar[i] = 0.0; v[i] = v_0; e_bar += t
    v[i] += e       v[i] = v_0; e_bar += v_bar[i]
    v[i] *= e       v[i] = v_0; e_bar += v_bar[i] * v_0; v_bar[i] *= e
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.indices import indexed
from srcgrad.analysis.references import reference, referring
from srcgrad.analysis.regions import is_basic, is_element, is_view
from srcgrad.analysis.values import fact_of_expression
from srcgrad.errors import InternalError
from srcgrad.ir.normal_form import AddAt, AugStore, Block, Statement, Store, Unpack
from srcgrad.rules.facts import Array, same_dtype, same_shape
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.marks import seen_elsewhere
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import assign, constant, index_value, is_array, load, numpy_call, subscript, tuple_of
from srcgrad.transform.contributions import add, is_fresh
from srcgrad.transform.shadows import is_whole, may_be_users
from srcgrad.transform.sweep import ReverseSweep


class Restore(gast.stmt):
    """Stands where a store is undone until it is known whether anything reads what was there before."""

    _fields = ()
    store: Statement
    code: list[gast.stmt]


def mirrors(sweep: ReverseSweep, statement: Statement) -> bool:
    """Whether the shadow pass did everything, but for the numbers that went into a container or came out of it."""
    shadows = sweep.shadows
    return shadows is not None and any(
        statement in table for table in (shadows.handed, shadows.put, shadows.taken, shadows.parts)
    )


def mirrored_adjoint(sweep: ReverseSweep, statement: Statement, block: Block, position: int) -> list[gast.stmt]:
    """Numbers have cells in shadow containers: theirs is the adjoint of what went in, and of what came out."""
    assert sweep.shadows is not None and sweep.here is not None
    _, start, end = sweep.here
    code: list[gast.stmt] = []
    for target, cell in sweep.shadows.taken.get(statement, ()):
        if target in sweep.bars:
            added = call_runtime(runtime.accumulate, reference(cell, block, end), sweep.bar_name(target))
            code.append(seen_elsewhere(gast.Expr(added)))
            sweep.bars.drop(target)
    for bar, base, index in sweep.shadows.parts.get(statement, ()):
        if _is_active(sweep, statement, base) or _was_active(sweep, statement, base):
            place = index_value(referring(index, block, position))
            part = reference(bar, block, end)
            if isinstance(statement, Unpack) and isinstance(index, gast.Slice):
                code.append(gast.Expr(call_runtime(runtime.unrest, sweep.shadow(base), place, part)))
                continue
            apart = call_runtime(runtime.separate, part, sweep.shadow(base))
            back = gast.Expr(call_runtime(runtime.add_at, sweep.shadow(base), place, part))
            test = gast.BoolOp(gast.And(), [is_array(sweep.shadow(base)), apart])
            code.append(gast.If(test, [seen_elsewhere(back)], []))
    for name, cell in sweep.shadows.put.get(statement, ()):
        if name in sweep.activity.varied_before(statement):
            value: gast.expr = reference(cell, block, end)
            if isinstance(sweep.fact(name), Array):
                value = subscript(value, tuple_of([]))
            code += add(sweep, name, value)
    return code


def as_then(sweep: ReverseSweep, statement: Statement, parameter: str, argument: gast.expr) -> gast.expr:
    """An argument of an operation whose containers change later, as the operation saw it."""
    if sweep.shadows is None:
        return argument
    argument = sweep.shadows.settled.get(statement, {}).get(parameter, argument)
    frozen = sweep.shadows.frozen.get(statement)
    if not frozen:
        return argument
    argument = clone(argument)
    nodes = [argument, *(argument.elts if isinstance(argument, gast.Tuple | gast.List) else [])]
    for node in nodes:
        if isinstance(node, gast.Name) and node.id in frozen:
            node.id = frozen[node.id][0]
    return argument


def _store_somewhere(sweep: ReverseSweep, statement: Store, block: Block, position: int) -> list[gast.stmt]:
    """A store into what may be an array, or a container, whose shadow has been changed with it."""
    assert sweep.shadows is not None
    base = statement.base
    code: list[gast.stmt] = []
    like = reference(base, block, position, shape_only=True)
    if _is_active(sweep, statement, base):
        names = atoms(statement.value)
        value = _as_stored(sweep, names[0], block, position) if names else clone(statement.value)
        value_bar = reference(sweep.shadows.stored[statement], block, position)
        index = index_value(_place(sweep, statement, block, position))
        taken = sweep.fresh("t")
        code.append(assign(taken, call_runtime(runtime.claim, sweep.shadow(base), like, index)))
        given = call_runtime(runtime.as_stored, load(taken), value)
        code.append(seen_elsewhere(gast.Expr(call_runtime(runtime.accumulate, value_bar, given))))
    code.append(_restore(sweep, statement, base, block, position))
    return [gast.If(is_array(clone(like)), code, []), *mirrored_adjoint(sweep, statement, block, position)]


def store_adjoint(sweep: ReverseSweep, statement: Store | AugStore, block: Block, position: int) -> list[gast.stmt]:
    base = statement.base
    if base not in sweep.shadowed:
        return []  # a number, by its facts: nothing is ever stored
    assert sweep.shadows is not None
    if isinstance(statement, Store) and not isinstance(sweep.fact(base), Array):
        if statement in sweep.shadows.stored:
            return _store_somewhere(sweep, statement, block, position)
        return mirrored_adjoint(sweep, statement, block, position)
    restore = _restore(sweep, statement, base, block, position)
    bar = _shadow_place(sweep, statement, base, block, position)
    index = statement.index  # the facts of its parts are not those of the names that keep them
    names = atoms(statement.value)
    active = bool(names) and _is_active(sweep, statement, base) and names[0] in sweep.activity.varied_before(statement)
    if isinstance(statement, AugStore):
        if isinstance(statement.operator, gast.Mult | gast.Div):
            return [restore, *_scaled(sweep, statement, bar, block, position)]
        if not isinstance(statement.operator, gast.Add | gast.Sub) or not is_basic(index, sweep.fact):
            raise InternalError("an augmented store that was not taken apart", statement.span)
        if not active:
            return [restore]
        value = _lasting(sweep, bar, base, block, position)
        if isinstance(statement.operator, gast.Sub):
            value = gast.UnaryOp(gast.USub(), value)
        return [restore, *_give(sweep, names[0], base, value, index, block, position, live=True)]
    if not _is_active(sweep, statement, base):
        return [restore]
    known = sweep.adds_in_place(base) and is_basic(index, sweep.fact)
    if not active:
        if known:
            return [_store(bar, constant(0.0)), restore]
        return [gast.Expr(_claimed(sweep, bar, base, block, position)), restore]
    taken = sweep.fresh("t")
    code: list[gast.stmt]
    if not known:
        code = [assign(taken, _claimed(sweep, bar, base, block, position))]
    else:
        part: gast.expr = clone_place(bar)
        if not is_element(sweep.fact(base), index, sweep.fact):
            part = gast.Call(gast.Attribute(part, "copy", gast.Load()), [], [])
        code = [assign(taken, part), _store(bar, constant(0.0))]
    return [*code, restore, *_give(sweep, names[0], base, load(taken), index, block, position, live=False)]


def _scaled(
    sweep: ReverseSweep, statement: AugStore, bar: gast.Subscript, block: Block, position: int
) -> list[gast.stmt]:
    """The adjoint of ``v[i] *= e`` or ``v[i] /= e``, of elements and views of floats: that of the place stays there."""
    assert sweep.shadows is not None
    base, names, by = statement.base, atoms(statement.value), type(statement.operator)
    if not _is_active(sweep, statement, base):
        return []
    factor = reference(names[0], block, position) if names else clone(statement.value)

    def guarded(term: gast.expr) -> gast.expr:
        seed = clone_place(bar)
        return call_runtime(runtime.where_nonzero, seed, term) if sweep.calls.strong_zeros else term

    scaled: gast.stmt = seen_elsewhere(gast.AugAssign(_as_target(bar), by(), clone(factor)))
    if sweep.calls.strong_zeros:
        scaled = _store(bar, guarded(gast.BinOp(clone_place(bar), by(), clone(factor))))
    if not names or names[0] not in sweep.activity.varied_before(statement):
        return [scaled]
    before = reference(sweep.shadows.olds[statement], block, position)
    term: gast.expr = gast.BinOp(clone_place(bar), gast.Mult(), before)
    if by is gast.Div:  # the place has the adjoint of the quotient divided by e, by then
        term = gast.UnaryOp(gast.USub(), gast.BinOp(term, gast.Div(), factor))
    term, index = guarded(term), statement.index
    if by is gast.Div or names[0] not in sweep.shadows.classes.members(base):
        given = _give(sweep, names[0], base, term, index, block, position, live=False)
        return [scaled, *given] if by is gast.Div else [*given, scaled]
    taken = sweep.fresh("t")  # e may lie in the same memory, whose shadow has to be scaled before it is added to
    given = _give(sweep, names[0], base, load(taken), index, block, position, live=False)
    return [assign(taken, term), scaled, *given]


def stored_addition_adjoint(sweep: ReverseSweep, statement: AddAt, block: Block, position: int) -> list[gast.stmt]:
    base = statement.buffer
    restore = _restore(sweep, statement, base, block, position)
    names = atoms(statement.value)
    if not names or not _is_active(sweep, statement, base) or names[0] not in sweep.activity.varied_before(statement):
        return [restore]
    if is_whole(statement, sweep.fact(base)):
        given = reference(names[0], block, position, shape_only=True)
        whole: gast.expr = sweep.shadow(base)
        whole = _lasting(sweep, whole, base, block, position) if may_be_users(statement) else whole
        return [restore, *add(sweep, names[0], call_runtime(runtime.as_given, whole, given))]
    bar = _shadow_place(sweep, statement, base, block, position)
    place = _lasting(sweep, bar, base, block, position) if may_be_users(statement) else bar
    return [restore, *_give(sweep, names[0], base, place, bar.slice, block, position, live=True)]


def _is_active(sweep: ReverseSweep, statement: Statement, base: str) -> bool:
    """Whether anything of the class varies by the end of the statement and is useful after it."""
    assert sweep.shadows is not None
    members = sweep.shadows.classes.members(base)
    varied, useful = sweep.activity.varied_after(statement), sweep.activity.useful_after(statement)
    if not any(n in varied for n in members):
        return False
    return any(n in useful for n in members) or not members.isdisjoint(sweep.shadows.with_shadow)


def _was_active(sweep: ReverseSweep, statement: Statement, base: str) -> bool:
    """The same where the statement reads of the class last: into numbers, which belong to no class."""
    assert sweep.shadows is not None
    members = sweep.shadows.classes.members(base)
    varied, useful = sweep.activity.varied_before(statement), sweep.activity.useful_before(statement)
    return any(n in varied for n in members) and any(n in useful for n in members)


def _place(sweep: ReverseSweep, statement: Store | AugStore | AddAt, block: Block, position: int) -> gast.expr:
    assert sweep.shadows is not None
    return referring(sweep.shadows.places.get(statement, statement.index), block, position)


def _shadow_place(
    sweep: ReverseSweep, statement: Store | AugStore | AddAt, base: str, block: Block, position: int
) -> gast.Subscript:
    return subscript(sweep.shadow(base), _place(sweep, statement, block, position))


def _restore(
    sweep: ReverseSweep, statement: Store | AugStore | AddAt, base: str, block: Block, position: int
) -> gast.stmt:
    assert sweep.shadows is not None
    place = subscript(
        reference(base, block, position, shape_only=True), _place(sweep, statement, block, position)
    )
    node = Restore()
    node.store = statement
    before = reference(sweep.shadows.olds[statement], block, position)
    if isinstance(statement, AddAt) and is_whole(statement, sweep.fact(base)):
        node.code = [gast.Expr(call_runtime(runtime.put_back, place.value, before))]
    else:
        node.code = [_store(place, before)]
        if isinstance(statement, AddAt) and not isinstance(sweep.fact(base), Array):
            node.code = [gast.If(is_array(clone(place.value)), node.code, [])]  # containers are never put back
    return node


def _as_stored(sweep: ReverseSweep, name: str, block: Block, position: int) -> gast.expr:
    """What was stored, for its shape: a container that changes as it was then."""
    assert sweep.shadows is not None and sweep.now is not None
    as_then, _ = sweep.shadows.frozen.get(sweep.now, {}).get(name, (name, name))
    return reference(as_then, block, position, shape_only=True)


def _lasting(sweep: ReverseSweep, bar: gast.expr, base: str, block: Block, position: int) -> gast.expr:
    """The adjoint of a place as that of what was added there: integers keep none of it."""
    if sweep.adds_in_place(base):
        return bar
    return call_runtime(runtime.stored, bar, reference(base, block, position, shape_only=True))


def _claimed(sweep: ReverseSweep, bar: gast.Subscript, base: str, block: Block, position: int) -> gast.expr:
    like = reference(base, block, position, shape_only=True)
    return call_runtime(runtime.claim, bar.value, like, index_value(bar.slice))


def _give(
    sweep: ReverseSweep,
    name: str,
    base: str,
    value: gast.expr,
    index: gast.expr,
    block: Block,
    position: int,
    *,
    live: bool,
) -> list[gast.stmt]:
    """Hand the adjoint of a place on to the value that was stored there, which may have been broadcast.

    ``live``: the adjoint is read from the shadow itself, whose contents will change.
    """
    mine, buffer = sweep.fact(name), sweep.fact(base)
    fits = isinstance(mine, Array) and isinstance(buffer, Array) and (
        same_dtype(mine, buffer) or (mine.is_real and buffer.is_real)
    )
    is_new = is_fresh(value)
    element = is_element(buffer, index, sweep.fact)
    if fits and sweep.is_scalar(name) and element:
        return add(sweep, name, value)
    if fits and sweep.is_scalar(name) and is_view(buffer, index, sweep.fact):
        return add(sweep, name, numpy_call("sum", value))
    if not fits or not same_shape(mine, indexed(buffer, index, lambda part: fact_of_expression(part, sweep.fact))):
        back = runtime.unbroadcast if isinstance(mine, Array) else runtime.as_stored
        is_new = is_new and back is runtime.unbroadcast
        value = call_runtime(back, value, _as_stored(sweep, name, block, position))
    if live and name not in sweep.shadowed and name not in sweep.bars and not is_new:
        value = call_runtime(runtime.own, value)
    return add(sweep, name, value)


def clone_place(place: gast.Subscript) -> gast.Subscript:
    made: gast.Subscript = clone(place)
    return made


def _as_target(place: gast.Subscript) -> gast.Subscript:
    target = clone_place(place)
    target.ctx = gast.Store()
    return target


def _store(place: gast.Subscript, value: gast.expr) -> gast.stmt:
    return gast.Assign([_as_target(place)], value, None)
