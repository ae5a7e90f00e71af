"""Generators that are asked for one item after the other: each step is a round of the loop that gives them.

Enters: the call of a generator function, whose body is one loop that gives one item in a round.  Leaves: what is done
when it is called, and a ``Kept``, whose step is the body of that loop::

    def decays(y, k):                              k = 0.9;  place = 0
        for v in y:                                found = False
            yield v * k             ->             if place < len(y):
            k = k * 0.9                                v = y[place];  place = place + 1
    it = decays(y, 0.9)                                item = v * k;  found = True;  k = k * 0.9
    s = next(it)                                   if not found: raise StopIteration
                                                   s = item

``map``, ``filter`` and their like are such generators, by their models.  What stands behind ``yield`` is done when the
next item is asked for; it may be done at once where it computes numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CellType, FunctionType, GeneratorType
from typing import TYPE_CHECKING

import gast

from srcgrad.infer.calls import model_of
from srcgrad.infer.generators import Generator
from srcgrad.infer.heap import Site
from srcgrad.infer.values import NEVER, SCALARS, At, Exact, Of, Value, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import UNBOUND, Cell, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    If,
    Loop,
    Return,
    Statement,
    Try,
    Unreachable,
    With,
    blocks_of,
    operands_of,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.specialise.arguments import only_arguments
from srcgrad.specialise.functions import Closure, closure_of
from srcgrad.specialise.inlining import Renaming, bound_by
from srcgrad.specialise.places import Found, Kept, builtin_of
from srcgrad.specialise.unassigned import refuse_unassigned
from srcgrad.specialise.unused import parts_of

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Frame, Reduced


_NESTED = 2  # times that a generator is written out in itself


@dataclass(frozen=True, eq=False)
class _Steps:
    """A generator whose items one loop gives."""

    body: Generator
    closure: Closure
    frame: Frame
    loop: Loop
    versions: dict[Operand, Operand]  # of what stands before the loop, and of the parameters
    heads: dict[Version, Cell]
    item: Cell
    found: Cell
    over: Cell | None  # whether it is at its end, where that has to be known
    value: Value  # what an item may be
    reduce: Callable[[Block], Block]


def generator_of(made: Reduced, value: Value) -> Generator | None:
    """What a generator runs, where a value is one of one text."""
    sites = [atom.site for atom in value.atoms if isinstance(atom, At)]
    if value.is_any or len(sites) != 1 or len(value.atoms) != 1 or made.facts.is_seen(sites[0]):
        return None
    body = made.facts.generators.get(sites[0])
    return body if isinstance(body, Generator) else None


def stepwise(
    made: Reduced, statement: Assign, call: ir.Call, reduce: Callable[[Block], Block], *, at_once: bool
) -> Found | None:
    """A generator that is asked for its items; ``at_once``: by one loop or function, when it is made."""
    from srcgrad.specialise.raising import is_caught  # which knows what is reduced

    (target,) = statement.targets
    value = made.value(target)
    body = generator_of(made, value)
    before: list[Statement] = []
    entered = None if body is None else _entered(made, statement, call, body, before)
    if body is None or entered is None:
        return None
    closure, frame, given = entered
    *first, loop = body.function.body.statements or (None,)
    if not isinstance(loop, Loop) or not _gives_one(body, loop) or UNBOUND in map(_constant, loop.initial):
        return None
    is_users = any(isinstance(atom, At) and atom.site.kind is GeneratorType for atom in value.atoms)
    asks = any(body.calls.values()) or any(_asks(body, s) for _, s in walk(body.function.body))
    if is_users and is_caught(made) and (not at_once or asks):
        return None  # an exception ends it, and that of an iterator at its end is another one outside
    if not at_once and not all(_is_timeless(made, body, s) for s in first):
        return None
    # A straight one asks what it goes over again, as ``map`` does; nobody asks again what is gone over at once.
    is_asked_again = not _is_straight(loop.body) or is_users and not at_once
    values = [body.values.get(y, NEVER) if isinstance(y, Version) else made.value(y) for y in _given(loop.body)]
    heads = {head: made.new_cell(head.variable or "state") for head in loop.heads}
    at_end = made.new_cell("over") if is_asked_again else None
    item, found = made.new_cell("item"), made.new_cell("found")
    steps = _Steps(body, closure, frame, loop, dict(given), heads, item, found, at_end, union(*values), reduce)
    begun = _begun(made, steps, tuple(s for s in first if s is not None), statement)
    return [*before, *begun], _kept(made, steps)


def _entered(
    made: Reduced, statement: Assign, call: ir.Call, body: Generator, before: list[Statement]
) -> tuple[Closure, Frame, dict[Operand, Operand]] | None:
    """The function whose statements a generator runs, and what its parameters are."""
    from srcgrad.specialise.callees import bound, outer_closure  # which write functions out

    function, outer = body.function, made.frame
    if isinstance(function.node, gast.GeneratorExp):
        return None  # its iterator is made outside of it
    value = made.value(call.function)
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    closure: Closure | None = None
    text = model_of(atom.value) or atom.value if isinstance(atom, Exact) else None
    if isinstance(text, FunctionType):
        closure = outer_closure(text, function)
    elif atom is not None:
        closure = closure_of(made, call.function, atom)
    if closure is None or closure.function is not function or function.parameters.variadic is not None:
        return None
    same = [each for each in made.functions.around if each.function is function]
    if len(same) > _NESTED or function.parameters.rest is not None:
        return None
    given = bound(made, closure, call, statement, before, ())
    if given is None:
        return None
    for version, operand in given.items():
        if isinstance(operand, Version) and operand not in made.values:
            made.values[operand] = body.values.get(version, NEVER)
    cells = {cell: made.new_cell(cell.variable) for cell in function.cells}
    for cell, home in cells.items():
        made.functions.homes.setdefault(Site(CellType, cell, body.context), []).append(home)
    cells |= closure.cells
    outside = frozenset(cell for cell in function.free if cell not in closure.cells)
    frame = replace(outer, owner=closure.owner, cells=cells, outer=outside, function=function)
    operands: dict[Operand, Operand] = dict(given.items())
    return closure, frame, operands


# --- which generators ------------------------------------------------------------------------------------------------
class _Several(Exception):
    """More than one item in a round, or what cannot be done before the next one is asked for."""


def _gives_one(body: Generator, loop: Loop) -> bool:
    """Whether a round gives one item at most, and does nothing behind that but to compute numbers."""
    if any(isinstance(s, Try | With) for _, s in walk(body.function.body)):
        return False
    inside = {id(s) for _, s in walk(loop.body)}
    assigned = [s for _, s in walk(body.function.body) if isinstance(s, Assign)]
    yields = [s for s in assigned if isinstance(s.operation, ir.Yield | ir.YieldFrom)]
    if not yields or any(id(s) not in inside or isinstance(s.operation, ir.YieldFrom) for s in yields):
        return False
    outside = [s for _, s in walk(body.function.body) if s is not loop and id(s) not in inside]
    if any(isinstance(side.exit, Return) for s in outside for side in blocks_of(s)):  # before it has begun
        return False
    read = {operand for part in parts_of(body.function.body) for operand in operands_of(part)}
    if any(not read.isdisjoint(s.targets) for s in yields):  # of what ``send`` gives
        return False
    try:
        _follow(body, loop.body, False)
    except _Several:
        return False
    return True


def _follow(body: Generator, block: Block, is_given: bool) -> bool:
    """Whether an item may have been given at the end of a block."""
    for statement in block.statements:
        match statement:
            case Assign(operation=ir.Yield()):
                if is_given:
                    raise _Several
                is_given = True
            case If(body=one, orelse=other):
                sides = _follow(body, one, is_given), _follow(body, other, is_given)
                both = zip((one, other), sides, strict=True)
                falling = [given for side, given in both if isinstance(side.exit, Fall)]
                is_given = any(falling) if falling else is_given
            case Loop() if not is_given and not _has_yield(statement) and not _returns(statement):
                pass
            case Assign() if not is_given or _is_of_numbers(body, statement):
                pass
            case _:
                raise _Several
    return is_given


def _has_yield(statement: Statement) -> bool:
    inner = (s for block in blocks_of(statement) for _, s in walk(block))
    return any(isinstance(getattr(s, "operation", None), ir.Yield | ir.YieldFrom) for s in inner)


def _returns(loop: Loop) -> bool:
    blocks = [loop.body, *(block for _, s in walk(loop.body) for block in blocks_of(s))]
    return any(isinstance(block.exit, Return) for block in blocks)


def _is_of_numbers(body: Generator, statement: Assign) -> bool:
    """Whether a statement computes one number of others, which it may do sooner than Python does."""
    operation = statement.operation
    if isinstance(operation, ir.Copy):
        return True
    symbols = ("+", "-", "*")
    if not isinstance(operation, ir.Operator) or operation.symbol not in symbols:
        return False
    values = [body.values.get(v, NEVER) for v in operation.operands if isinstance(v, Version)]
    return all(bool(v.atoms) and not v.is_any and all(
        isinstance(a, Of) or isinstance(a, Exact) and type(a.value) in SCALARS for a in v.atoms
    ) for v in values)  # fmt: skip


def _is_timeless(made: Reduced, body: Generator, statement: Statement | None) -> bool:
    """Whether a statement does the same when a generator is made as when it is asked for the first time."""
    match statement:
        case None | Assign(operation=ir.Copy() | ir.ReadGlobal() | ir.Iterate() | ir.Make(kind="tuple")):
            return True
        case Assign(operation=ir.Unpack(source=source, star=None)):
            atoms = body.values.get(source, NEVER).atoms if isinstance(source, Version) else frozenset()
            return bool(atoms) and all(isinstance(a, At) and a.site.kind is tuple for a in atoms)
    return isinstance(statement, Assign) and _is_of_numbers(body, statement)


def _asks(body: Generator, statement: Statement) -> bool:
    """Whether a statement asks an iterator, which may be at its end."""
    operation = getattr(statement, "operation", None)
    if not isinstance(operation, ir.Call) or not isinstance(operation.function, Version):
        return False
    value = body.values.get(operation.function, NEVER)
    return value.is_any or any(isinstance(a, Exact) and a.value is next for a in value.atoms)


def _constant(operand: Operand) -> object:
    return operand.value if isinstance(operand, Literal) else None


def _blocks(block: Block) -> list[Block]:
    """A block, and those of the branches in it: not of loops further in."""
    found = [block]
    for statement in block.statements:
        if isinstance(statement, If):
            found += [inner for side in blocks_of(statement) for inner in _blocks(side)]
    return found


def _given(block: Block) -> list[Operand]:
    return [s.operation.value for _, s in walk(block) if isinstance(s, Assign) and isinstance(s.operation, ir.Yield)]


# --- what is written -------------------------------------------------------------------------------------------------
def _begun(made: Reduced, steps: _Steps, first: tuple[Statement, ...], statement: Assign) -> list[Statement]:
    """What a generator does before its loop."""
    rounds = [s.operation for s in steps.loop.body.statements if isinstance(s, Assign)]
    iterators = {operation.iterator for operation in rounds if isinstance(operation, ir.Next)}
    copied = _copied(made, steps, Block(first, Fall()), steps.versions)
    begun: list[Statement] = []
    for old, new in zip(first, copied.statements, strict=True):
        match new:
            case Assign(operation=ir.Iterate(source=source)) if not iterators.isdisjoint(bound_by(old)):
                new = replace(new, operation=ir.Call(builtin_of(iter), (source,)))
                made.functions.origins[new] = old
        begun.append(new)
    for head, initial in zip(steps.loop.heads, steps.loop.initial, strict=True):
        held = steps.versions.get(initial, initial)
        begun.append(Assign((), ir.WriteCell(steps.heads[head], held), statement.node))
    if steps.over is not None:
        begun.append(Assign((), ir.WriteCell(steps.over, Literal(False)), statement.node))
    return _reduced(made, steps, Block(tuple(begun), Fall()))


def _kept(made: Reduced, steps: _Steps) -> Kept:
    def asked(node: gast.AST) -> tuple[list[Statement], Operand]:
        more = made.version("t", of(bool))
        start: list[Statement] = [Assign((), ir.WriteCell(steps.found, Literal(False)), node)]
        step = _step(made, steps, node)
        if steps.over is not None:
            over = made.version("t", of(bool))
            start.append(Assign((over,), ir.ReadCell(steps.over), node))
            step = [If((), over, Block((), Fall()), Block(tuple(step), Fall()), node)]
        return [*start, *step, Assign((more,), ir.ReadCell(steps.found), node)], more

    def taken(node: gast.AST, target: Version) -> list[Statement]:
        return [Assign((target,), ir.ReadCell(steps.item), node)]

    return Kept(asked, taken, lambda node: [], steps.value, runs=True)


def _step(made: Reduced, steps: _Steps, node: gast.AST) -> list[Statement]:
    """The rounds of the loop up to the next item."""
    versions = dict(steps.versions)
    heads: list[Statement] = []
    for head, cell in steps.heads.items():
        held = made.version("t", steps.body.values.get(head, NEVER))
        versions[head] = held
        heads.append(Assign((held,), ir.ReadCell(cell), node))
    copied = _copied(made, steps, steps.loop.body, versions)
    is_straight = _is_straight(steps.loop.body)
    body = _with_exits(made, steps, copied, is_straight=is_straight, node=node)
    whole = Block((*heads, *body.statements), body.exit)
    if not is_straight:
        loop = gast.copy_location(gast.While(gast.Constant(True, None), [], []), node)
        whole = Block((Loop((), (), (), whole, loop),), Fall())
    return _reduced(made, steps, whole)


def _is_straight(body: Block) -> bool:
    """Whether a round gives an item, or is the last one: no loop is needed to come to the next."""
    last = body.statements[-1] if body.statements else None
    if not isinstance(last, If) or not all(map(_falls, body.statements[:-1])):
        return False
    ways = [side for side in blocks_of(last) if isinstance(side.exit, Continue)]
    others = [side for side in blocks_of(last) if isinstance(side.exit, Break)]
    if len(ways) != 1 or len(others) != 1 or not all(map(_falls, (*ways[0].statements, *others[0].statements))):
        return False
    return any(isinstance(s, Assign) and isinstance(s.operation, ir.Yield) for s in ways[0].statements)


def _falls(statement: Statement) -> bool:
    """Whether nothing in a statement leaves the block that it stands in."""
    return isinstance(statement, Loop) or all(
        isinstance(inner.exit, Fall) and all(map(_falls, inner.statements)) for inner in blocks_of(statement)
    )  # fmt: skip


def _with_exits(made: Reduced, steps: _Steps, block: Block, *, is_straight: bool, node: gast.AST) -> Block:
    """A block of a round: an item is kept, and so is what the next round begins with."""
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Assign(operation=ir.Yield(value=value)):
                statements.append(Assign((), ir.WriteCell(steps.item, value), statement.node))
                statements.append(Assign((), ir.WriteCell(steps.found, Literal(True)), statement.node))
            case If(body=body, orelse=orelse):
                sides = [_with_exits(made, steps, s, is_straight=is_straight, node=node) for s in (body, orelse)]
                turned = replace(statement, body=sides[0], orelse=sides[1])
                made.functions.origins[turned] = made.functions.origins.get(statement, statement)
                statements.append(turned)
            case _:
                statements.append(statement)
    match block.exit:
        case Continue(values=values):
            cells = steps.heads.values()
            statements += [Assign((), ir.WriteCell(c, v), node) for c, v in zip(cells, values, strict=True)]
            if is_straight:
                return Block(tuple(statements), Fall())
            found = made.version("t", of(bool))
            leave = If((), found, Block((), Break()), Block((), Continue()), node)
            return Block((*statements, Assign((found,), ir.ReadCell(steps.found), node), leave), Unreachable())
        case Break() | Return():
            if steps.over is not None:
                statements.append(Assign((), ir.WriteCell(steps.over, Literal(True)), node))
            return Block(tuple(statements), Fall() if is_straight else Break())
        case Unreachable() if is_straight:
            return Block(tuple(statements), Fall())
    return Block(tuple(statements), block.exit)


def _copied(made: Reduced, steps: _Steps, block: Block, versions: dict[Operand, Operand]) -> Block:
    """A block of a generator, with versions of its own."""

    def note(new: Statement, old: Statement) -> None:
        made.functions.origins[new] = old
        made.functions.places[new.node] = steps.frame.owner
        made.called[new] = list(steps.body.calls.get(old, ()))
        made.steps.add(new)
        for one, other in zip(bound_by(new), bound_by(old), strict=True):
            made.values[one] = steps.body.values.get(other, NEVER)

    renaming = Renaming(versions, steps.frame.cells, lambda v: made.namer.fresh(v.variable or "t"), note)
    copied = renaming.block(block)
    made.only_arguments |= only_arguments(copied)
    made.uses.update(uses_of(replace(steps.body.function, body=copied)))
    return copied


def _reduced(made: Reduced, steps: _Steps, block: Block) -> list[Statement]:
    outer, made.frame = made.frame, steps.frame
    refuse_unassigned(made)
    made.functions.around.append(steps.closure)
    whole = steps.reduce(block)
    made.functions.around.pop()
    made.frame = outer
    return list(whole.statements)
