"""Assignment: targets of any form, several of them, and augmented ones.

``a, b[i] = c = v`` is several stores of one value; the statements that compute what a target stands on are between
them.  They are one assignment if nothing else is.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> def rotate(v):
...     (a, *v[1:]), b = c = v
...     c += a, b
>>> print(gast.unparse(restored(lowered(rotate))).strip())
def rotate(v):
    (a, *v[1:]), b = c = v
    c += (a, b)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Statement
from srcgrad.ir.restoring.operations import place_of
from srcgrad.ir.restoring.pending import Entry, Pad, Part, Plan, emit, plain, reads_of, take, take_values, waiting
from srcgrad.ir.restoring.tree import OPERATORS, assigned, of_version

_Found = tuple[Any, int]


def stored(statement: Statement) -> Operand | None:
    """The value that a statement stores or unpacks, if it does."""
    if not isinstance(statement, Assign):
        return None
    match statement.operation:
        case ir.Copy(source=value) if statement.targets[0].variable is not None:
            return value
        case ir.WriteCell(value=value) | ir.WriteGlobal(value=value) | ir.WriteName(value=value):
            return value
        case ir.SetAttribute(value=value) | ir.SetItem(value=value) | ir.Unpack(source=value):
            return value
    return None


def target(
    plan: Plan, statements: Sequence[Statement], at: int, value: Operand, node: gast.AST, form: Any = None
) -> _Found | None:
    """The target of the next store of a value, if only what it stands on is computed before; where it ends.

    ``form`` is the target that the user wrote, if it is known."""
    place = at
    while place < len(statements) and stored(statements[place]) is not value:
        here = statements[place]
        if stored(here) is not None and not isinstance(here.node, gast.NamedExpr):
            return None
        place += 1
    if place == len(statements):
        return None
    statement = statements[place]
    assert isinstance(statement, Assign)
    if statement.node is not node or statement in plan.refused:
        return None
    if isinstance(statement.operation, ir.SetAttribute | ir.SetItem):
        return _held(plan, statements[at:place], statement.operation, place)
    if place != at:
        return None
    if isinstance(statement.operation, ir.Unpack):
        return _unpacked(plan, statements, place, node, form)
    return place_of(statement.operation, statement.targets), place + 1


def _held(plan: Plan, before: Sequence[Statement], made: ir.SetAttribute | ir.SetItem, at: int) -> _Found | None:
    """An attribute or item of what is computed before."""
    from srcgrad.ir.restoring.statements import run

    if made.value in reads_of(before):
        return None
    pad = Pad(plan)
    run(pad, before, None)
    operands = [made.base] if isinstance(made, ir.SetAttribute) else [made.base, made.index]
    parts = take(pad, operands)
    return (_place(plan, made, parts), at + 1) if pad.is_clear else None


def _place(plan: Plan, made: ir.SetAttribute | ir.SetItem, parts: Sequence[Part]) -> Any:
    base = plain(plan, parts[0].value)
    if isinstance(made, ir.SetAttribute):
        return gast.Attribute(base, made.name, gast.Store())
    return gast.Subscript(base, parts[1].value, gast.Store())


def _unpacked(
    plan: Plan, statements: Sequence[Statement], at: int, node: gast.AST, form: Any = None
) -> _Found | None:
    statement = statements[at]
    assert isinstance(statement, Assign) and isinstance(statement.operation, ir.Unpack)
    place = at + 1
    elements: list[Any] = []
    forms = [getattr(part, "value", part) if isinstance(part, gast.Starred) else part for part in
             getattr(form, "elts", [])]
    for number, item in enumerate(statement.targets):
        inner = forms[number] if number < len(forms) else None
        found = target(plan, statements, place, item, node, inner) if plan.uses[item] == 1 else None
        if found is None:
            return None
        element, place = found
        elements.append(gast.Starred(element, gast.Store()) if number == statement.operation.star else element)
    kind = gast.List if isinstance(form, gast.List) else gast.Tuple
    return kind(elements, gast.Store()), place


def bound_in(place: Any) -> list[Version]:
    """The versions that a target binds."""
    return [node.version for node in gast.walk(place) if isinstance(node, gast.Name) and hasattr(node, "version")
            and isinstance(node.ctx, gast.Store)]


def cells_in(place: Any) -> set[str]:
    """The other variables that a target binds."""
    return {node.id for node in gast.walk(place) if isinstance(node, gast.Name) and not hasattr(node, "version")
            and isinstance(node.ctx, gast.Store)}


def store(pad: Pad, statements: Sequence[Statement], at: int) -> int:
    """An assignment; where it ends."""
    statement = statements[at]
    value = stored(statement)
    assert isinstance(statement, Assign) and value is not None
    made, node = statement.operation, statement.node
    if isinstance(node, gast.NamedExpr) and statement not in pad.plan.refused:
        _walrus(pad, statement, value)
        return at + 1
    behind = at + 1
    first: Any = None
    forms = [*(getattr(node, "targets", None) or [None])]
    if isinstance(made, ir.Unpack):
        found = None if statement in pad.plan.refused else _unpacked(pad.plan, statements, at, node, forms[0])
        first, behind = found if found is not None else (_temporaries(statement), behind)
    more: list[Any] = []
    while (
        found := target(pad.plan, statements, behind, value, node, next(iter(forms[1 + len(more) :]), None))
    ) is not None:
        more.append(found[0])
        behind = found[1]
    entry = waiting(pad, value)
    if entry is not None and not entry.named and entry.uses != 1 + len(more):
        more, behind = [], at + 1  # something else reads the value: it has a name, and each store is its own
        if isinstance(made, ir.Unpack):
            found = _unpacked(pad.plan, statements, at, node, forms[0])
            behind = found[1] if found is not None and first is found[0] else behind
            if found is not None:
                first, behind = found
    operands: list[Operand] = [value]
    if isinstance(made, ir.SetAttribute):
        operands.append(made.base)
    elif isinstance(made, ir.SetItem):
        operands += [made.base, made.index]
    given, *parts = take(pad, operands, {value: 1 + len(more)})
    if isinstance(made, ir.SetAttribute | ir.SetItem):
        first = _place(pad.plan, made, parts)
    elif first is None:
        first = place_of(made, statement.targets)
    emit(pad, assigned([first, *more], plain(pad.plan, given.value)))
    return behind


def _temporaries(statement: Assign) -> Any:
    assert isinstance(statement.operation, ir.Unpack)
    names = [of_version(item, gast.Store) for item in statement.targets]
    star = statement.operation.star
    return gast.Tuple([gast.Starred(n, gast.Store()) if j == star else n for j, n in enumerate(names)], gast.Store())


def _walrus(pad: Pad, statement: Assign, value: Operand) -> None:
    """``:=``: what it binds can be read again; of a cell, the value that it is given is what the expression gives."""
    place, node = place_of(statement.operation, statement.targets), statement.node
    entry = waiting(pad, value)
    if statement.targets:
        (part,) = take(pad, [value])
        pad.pending.append(Entry(statement.targets[0], Part(plain(pad.plan, part.value)), 1, True, [place], node))
    elif entry is not None and entry is pad.pending[-1]:
        entry.targets.append(place)
        entry.origin = node
        entry.uses -= 1
    else:
        (part,) = take(pad, [value])
        pad.pending.append(Entry(value, part, 1, True, [place], node))


# --- augmented -------------------------------------------------------------------------------------------------------
def augmented_place(pad: Pad, statements: Sequence[Statement], at: int) -> int | None:
    """``x.a += v`` or ``x[i] += v`` from where its place is read; where it ends."""
    from srcgrad.ir.restoring.statements import run

    read = statements[at]
    assert isinstance(read, Assign)
    for behind in range(at + 1, len(statements) - 1):
        change, write = statements[behind], statements[behind + 1]
        if not (isinstance(change, Assign) and change.node is read.node and isinstance(write, Assign)):
            continue
        made = change.operation
        if not (isinstance(made, ir.Operator) and made.in_place and made.operands[0] is read.targets[0]):
            return None
        match read.operation, write.operation:
            case ir.GetAttribute(base=base, name=name), ir.SetAttribute(base=to, name=other, value=value) if (
                to is base and name == other
            ):
                operands: list[Operand] = [base]
            case ir.GetItem(base=base, index=index), ir.SetItem(base=to, index=place, value=value) if (
                to is base and place is index
            ):
                operands = [base, index]
            case _:
                return None
        if value is not change.targets[0] or any(pad.plan.uses[v.targets[0]] != 1 for v in (read, change)):
            return None
        before = statements[at + 1 : behind]
        reads = reads_of(before) | {made.operands[1]}
        if any(entry.key in reads for entry in pad.pending) or read.targets[0] in reads:
            return None
        inner = Pad(pad.plan)
        run(inner, before, None)
        (given,) = take_values(inner, [made.operands[1]])
        if not inner.is_clear:
            return None
        kind = ir.SetAttribute if isinstance(write.operation, ir.SetAttribute) else ir.SetItem
        assert isinstance(write.operation, kind)
        parts = take(pad, operands, dict.fromkeys(operands, 2))
        place = _place(pad.plan, write.operation, parts)
        place.computes = read.targets[0]
        emit(pad, gast.AugAssign(place, OPERATORS[made.symbol](), given))
        return behind + 2
    return None


def augmented(pad: Pad, statements: Sequence[Statement], at: int) -> int:
    """An operator in place; where its statement ends."""
    statement = statements[at]
    assert isinstance(statement, Assign) and isinstance(statement.operation, ir.Operator)
    held, other = statement.operation.operands
    operator = OPERATORS[statement.operation.symbol]()
    behind = statements[at + 1] if at + 1 < len(statements) else None
    result = statement.targets[0]
    if (
        isinstance(behind, Assign) and stored(behind) is result and pad.plan.uses[result] == 1
        and behind.node is statement.node and behind not in pad.plan.refused
    ):  # fmt: skip
        place = place_of(behind.operation, behind.targets)
        if place is not None and behind.targets:
            if isinstance(held, Version) and (waiting(pad, held) is None or held in pad.plan.same):
                before, given = take(pad, [held, other])
                place.held, place.statement = before.value.version, behind
                emit(pad, gast.AugAssign(place, operator, plain(pad.plan, given.value)))
                return at + 2
        elif place is not None and (entry := waiting(pad, held)) is not None and _is_name(entry.part.value, place.id):
            before, given = take(pad, [held, other])
            if before is entry.part:
                emit(pad, gast.AugAssign(place, operator, plain(pad.plan, given.value)))
                return at + 2
            emit(pad, assigned([of_version(result, gast.Store)], before.value))
            emit(pad, gast.AugAssign(of_version(result, gast.Store), operator, plain(pad.plan, given.value)))
            return at + 1
    before, given = take(pad, [held, other])
    temporary = of_version(result, gast.Store)
    emit(pad, assigned([of_version(result, gast.Store)], plain(pad.plan, before.value)))
    temporary.held, temporary.statement = result, None
    emit(pad, gast.AugAssign(temporary, operator, plain(pad.plan, given.value)))
    return at + 1


def _is_name(value: Any, text: str) -> bool:
    return isinstance(value, gast.Name) and not hasattr(value, "version") and value.id == text

