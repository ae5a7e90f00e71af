"""Adjoints of sequences: displays, unpacking, lists that loops fill, tapes, and buffers that are added to.

Enters: ``Pack``, ``Unpack``, ``Append``, ``Pop`` or ``AddAt``.  Leaves: the statements of its adjoint.  The adjoint of
a list has one entry per entry of the list at every moment, so ``append`` and ``pop`` are each other's adjoint::

    tape.append((s, u))      ->     s_bar2, u_bar2 = tape_bar.pop()
    s, u = tape.pop()        ->     tape_bar.append((s_bar, u_bar))
"""

from __future__ import annotations

from collections.abc import Container

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.references import reference, referring
from srcgrad.ir.normal_form import AddAt, Append, Bind, Block, Pack, Pop, Unpack
from srcgrad.rules.facts import Array, Sequence, same_dtype
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import assign, constant, load, method, subscript, tuple_of, unpack
from srcgrad.transform.contributions import add, add_at, distribute, may_be_container, own, zero
from srcgrad.transform.sweep import ReverseSweep


def pack_adjoint(sweep: ReverseSweep, statement: Bind, pack: Pack, varied: Container[str]) -> list[gast.stmt]:
    target = statement.target
    keys: list[gast.expr] = list(pack.keys) or [constant(j) for j in range(len(pack.elements))]
    contributions = [
        (name, subscript(sweep.bar_name(target), clone(key)))
        for key, element in zip(keys, pack.elements, strict=True)
        for name in atoms(element)
        if name in varied
    ]
    return distribute(sweep, target, contributions)


def unpack_adjoint(sweep: ReverseSweep, statement: Unpack, block: Block, position: int) -> list[gast.stmt]:
    if not any(t in sweep.bars for t in statement.targets):
        return []
    varied = sweep.activity.varied_after(statement)
    source = statement.source
    if source not in sweep.activity.varied_before(statement):
        for target in statement.targets:
            sweep.bars.drop(target)
        return []
    code: list[gast.stmt] = []
    parts: list[gast.expr] = []
    for j, target in enumerate(statement.targets):
        if target in sweep.bars:
            part: gast.expr = sweep.bar_name(target)
        elif target in varied:
            code += zero(sweep, target, block, position + 1)
            part = sweep.bar_name(target)
        else:
            part = constant(None)
        parts.append(gast.Starred(part, gast.Load()) if j == statement.star else part)
    if statement.star is not None:
        return code + _unpack_starred(sweep, statement, parts, block, position)
    whole = tuple_of(parts)
    if not isinstance(sweep.fact(source), Sequence):
        whole = call_runtime(runtime.pack_like, whole, reference(source, block, position, shape_only=True))
    for target in statement.targets:
        sweep.bars.drop(target)
    return code + add(sweep, source, whole)


def _unpack_starred(
    sweep: ReverseSweep, statement: Unpack, parts: list[gast.expr], block: Block, position: int
) -> list[gast.stmt]:
    """The starred target has the places between those counted from either end."""
    star, count = statement.star, len(parts)
    assert star is not None
    source = statement.source
    held: list[gast.stmt] = []
    if source in statement.targets:
        for j, part in enumerate(parts):
            value = part.value if isinstance(part, gast.Starred) else part
            if isinstance(value, gast.Name) and value.id == sweep.bar(source):
                kept = load(sweep.fresh(f"{source}_bar"))
                held.append(assign(kept.id, value))
                parts[j] = gast.Starred(kept, gast.Load()) if isinstance(part, gast.Starred) else kept
    for target in statement.targets:
        sweep.bars.drop(target)
    code: list[gast.stmt] = held
    for j, part in enumerate(parts):
        if isinstance(part, gast.Starred):
            rest = constant(star + 1 - count) if star + 1 < count else None
            place: gast.expr = gast.Slice(constant(star), rest, None)
            part = _rest(sweep, source, part.value, place, block, position)
        else:
            place = constant(j if j < star else j - count)
        if not (isinstance(part, gast.Constant) and part.value is None):
            code += add_at(sweep, source, place, part, block, position)
    return code


def _rest(
    sweep: ReverseSweep, source: str, part: gast.expr, place: gast.Slice, block: Block, position: int
) -> gast.expr:
    """The cotangent of the starred target: a list, which of an array without more rows has not their shape."""
    fact = sweep.fact(source)
    if not isinstance(fact, Array) or fact.rank == 1 or isinstance(part, gast.Constant):
        return part
    rest = subscript(reference(source, block, position, shape_only=True), clone(place))
    return call_runtime(runtime.rearray, part, rest)


def append_adjoint(sweep: ReverseSweep, statement: Append, block: Block, position: int) -> list[gast.stmt]:
    sequence = statement.sequence
    if sequence in sweep.bars:
        code = own(sweep, sequence)
    elif sequence in sweep.activity.outlived:
        code = zero(sweep, sequence, block, position + 1)
    else:
        return []
    varied = sweep.activity.varied_before(statement)
    popped = method(sweep.bar(sequence), "pop")
    if not isinstance(statement.value, gast.Tuple):
        names = atoms(statement.value)
        if names and names[0] in varied:
            return code + add(sweep, names[0], popped)
        return [*code, gast.Expr(popped)]
    positions = sweep.activity.tape_positions(sequence)
    if not positions:
        return code
    targets: list[str] = []
    contributions: list[tuple[str, gast.expr]] = []
    for j in positions:
        names = atoms(statement.value.elts[j]) if j < len(statement.value.elts) else ()
        part = sweep.fresh(f"{names[0]}_bar" if names else "unused")
        targets.append(part)
        if names and names[0] in varied:
            contributions.append((names[0], load(part)))
    code.append(unpack(targets, popped))
    for name, value in contributions:
        code += add(sweep, name, value)
    return code


def pop_adjoint(sweep: ReverseSweep, statement: Pop, block: Block, position: int) -> list[gast.stmt]:
    sequence = statement.sequence
    positions = sweep.activity.tape_positions(sequence) if statement.tupled else (0,)
    held = sequence in sweep.bars or sequence in sweep.activity.outlived
    held = held or any(target in sweep.bars for target in statement.targets)
    if not positions or not held:
        for target in statement.targets:
            sweep.bars.drop(target)
        return []
    code = own(sweep, sequence) if sequence in sweep.bars else zero(sweep, sequence, block, position + 1)
    parts: list[gast.expr] = []
    for j in positions:
        target = statement.targets[j]
        if target not in sweep.bars:
            code += zero(sweep, target, block, position + 1)
        parts.append(sweep.bar_name(target))
    value = tuple_of(parts) if statement.tupled else parts[0]
    code.append(gast.Expr(method(sweep.bar(sequence), "append", value)))
    for target in statement.targets:
        sweep.bars.drop(target)
    return code


def addition_adjoint(sweep: ReverseSweep, statement: AddAt, block: Block, position: int) -> list[gast.stmt]:
    names = atoms(statement.value)
    if statement.buffer not in sweep.bars or not names:
        return []
    if names[0] not in sweep.activity.varied_before(statement):
        return []
    read: gast.expr = subscript(sweep.bar_name(statement.buffer), referring(statement.index, block, position))
    mine, buffer = sweep.fact(names[0]), sweep.fact(statement.buffer)
    fits = isinstance(mine, Array) and isinstance(buffer, Array) and (
        same_dtype(mine, buffer) or (mine.is_real and buffer.is_real)
    )
    if not may_be_container(sweep, names[0]) and not (
        fits and sweep.is_scalar(names[0]) and sweep.is_array(statement.buffer)
    ):
        read = call_runtime(runtime.unbroadcast, read, reference(names[0], block, position, shape_only=True))
    return add(sweep, names[0], read)
