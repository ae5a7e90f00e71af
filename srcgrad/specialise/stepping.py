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
from srcgrad.infer.values import NEVER, At, Bound, Exact, Value, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import Renaming, bound_by
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
    operands_of,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.specialise.arguments import only_arguments
from srcgrad.specialise.functions import Closure, closure_of
from srcgrad.specialise.places import Found, Kept, builtin_of
from srcgrad.specialise.receivers import is_method, receiver_of
from srcgrad.specialise.rounds import (
    constant_of,
    gives_one,
    is_iterated,
    is_straight,
    is_timeless,
    items_given,
    leaves,
    may_end_by_others,
    only_reads,
    read_later,
)
from srcgrad.specialise.unassigned import refuse_unassigned

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
    opening: tuple[Statement, ...]  # what is done when the first item is asked for
    opened: dict[Version, Cell]  # what the rounds read of it
    started: Cell | None  # whether that is done


def generator_of(made: Reduced, value: Value) -> Generator | None:
    """What a generator runs, where a value is one of one text."""
    sites = [atom.site for atom in value.atoms if isinstance(atom, At)]
    if value.is_any or len(sites) != 1 or len(value.atoms) != 1 or made.facts.is_seen(sites[0]):
        return None
    body = made.facts.generators.get(sites[0])
    return body if isinstance(body, Generator) else None


def stepwise(
    made: Reduced, statement: Assign, call: ir.Call, reduce: Callable[[Block], Block], *, at_once: bool,
    is_soon: bool = False,
) -> Found | None:  # fmt: skip
    """A generator that is asked for its items; ``at_once``: by one loop or function, when it is made; ``is_soon``:
    nothing changes before it is asked."""
    from srcgrad.specialise.raising import is_caught  # which knows what is reduced

    (target,) = statement.targets
    value = made.value(target)
    body = generator_of(made, value)
    before: list[Statement] = []
    entered = None if body is None else entered_by(made, statement, call, body, before)
    if body is None or entered is None:
        return None
    closure, frame, given = entered
    *first, loop = body.function.body.statements or (None,)
    if not isinstance(loop, Loop) or not gives_one(body, loop) or UNBOUND in map(constant_of, loop.initial):
        return None
    is_users = any(isinstance(atom, At) and atom.site.kind is GeneratorType for atom in value.atoms)
    if is_users and is_caught(made) and (not at_once or may_end_by_others(body)):
        return None  # an exception ends it, and that of an iterator at its end is another one outside
    parted = next((i for i, s in enumerate(first) if not (
        is_timeless(made, body, s) or is_soon and only_reads(body, s))), len(first))  # fmt: skip
    if at_once and not any(map(leaves, first)):
        parted = len(first)
    late = tuple(s for s in first[parted:] if s is not None)
    iterators = [s for s in late if isinstance(s, Assign) and is_iterated(s)]
    opening = tuple(s for s in late if not is_iterated(s))
    bound_late = {v for s in opening for v in bound_by(s)}
    if any(operand in bound_late for s in iterators for operand in operands_of(s.operation)):
        return None
    # A straight one asks what it goes over again, as ``map`` does; nobody asks again what is gone over at once.
    is_asked_again = not is_straight(loop.body) or bool(opening) or is_users and not at_once
    given_ = items_given(body.function.body)
    values = [body.values.get(y, NEVER) if isinstance(y, Version) else made.value(y) for y in given_]
    heads = {head: made.new_cell(head.variable or "state") for head in loop.heads}
    at_end = made.new_cell("over") if is_asked_again else None
    item, found = made.new_cell("item"), made.new_cell("found")
    started = made.new_cell("started") if opening else None
    steps = _Steps(body, closure, frame, loop, dict(given), heads, item, found, at_end, union(*values), reduce, opening,
                   {v: made.new_cell(v.variable or "state") for v in read_later(opening, loop)}, started)  # fmt: skip
    begun = _begun(made, steps, (*(s for s in first[:parted] if s is not None), *iterators), statement)
    return [*before, *begun], _kept(made, steps)


def entered_by(
    made: Reduced, statement: Assign, call: ir.Call, body: Generator, before: list[Statement]
) -> tuple[Closure, Frame, dict[Operand, Operand]] | None:
    """The function whose statements a generator runs, and what its parameters are."""
    from srcgrad.specialise.callees import bound, outer_closure  # which write functions out

    function, outer = body.function, made.frame
    if isinstance(function.node, gast.GeneratorExp) and call.positional[0] not in made.kept:
        return None  # its iterator is made outside of it
    value = made.value(call.function)
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    closure: Closure | None = None
    text = model_of(atom.value) or atom.value if isinstance(atom, Exact) else None
    if isinstance(text, FunctionType):
        closure = outer_closure(text, function)
    elif is_method(atom) and (read := receiver_of(made, call, statement.node)) is not None:
        assert isinstance(atom, Bound) and isinstance(atom.function, FunctionType)
        before += read[2]
        closure, call = outer_closure(atom.function, function), replace(call, positional=(read[0], *call.positional))
    elif atom is not None:
        closure = closure_of(made, call.function, atom)
    if closure is None or closure.function is not function:
        return None
    same = [each for each in made.functions.around if each.function is function]
    if len(same) > _NESTED:
        return None
    given = bound(made, closure, call, statement, before, ())
    if given is None:
        return None
    for version, operand in given.items():
        if isinstance(operand, Version) and not made.value(operand).atoms and not made.value(operand).is_any:
            made.values[operand] = body.values.get(version, NEVER)
    cells = {cell: made.new_cell(cell.variable) for cell in function.cells}
    for cell, home in cells.items():
        made.functions.homes.setdefault(Site(CellType, cell, body.context), []).append(home)
    cells |= closure.cells
    outside = frozenset(cell for cell in function.free if cell not in closure.cells)
    frame = replace(outer, owner=closure.owner, cells=cells, outer=outside, function=function)
    operands: dict[Operand, Operand] = dict(given.items())
    return closure, frame, operands


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
    if steps.started is None:
        begun += _heads(steps, steps.versions, statement.node)
    else:
        begun.append(Assign((), ir.WriteCell(steps.started, Literal(False)), statement.node))
    if steps.over is not None:
        begun.append(Assign((), ir.WriteCell(steps.over, Literal(False)), statement.node))
    return _reduced(made, steps, Block(tuple(begun), Fall()))


def _heads(steps: _Steps, versions: dict[Operand, Operand], node: gast.AST) -> list[Statement]:
    """What the first round begins with."""
    heads = zip(steps.loop.heads, steps.loop.initial, strict=True)
    return [Assign((), ir.WriteCell(steps.heads[head], versions.get(first, first)), node) for head, first in heads]


def _opened(made: Reduced, steps: _Steps, node: gast.AST) -> list[Statement]:
    """What is done when an item is asked for: at first what stands before the loop, which may give it, or end it."""
    assert steps.started is not None and steps.over is not None
    versions = dict(steps.versions)
    copied = _copied(made, steps, Block(steps.opening, Fall()), versions)
    last: list[Statement] = [Assign((), ir.WriteCell(cell, versions[v]), node) for v, cell in steps.opened.items()]
    last += [*_heads(steps, versions, node), Assign((), ir.WriteCell(steps.started, Literal(True)), node)]
    opening = _with_returns(made, steps, [*copied.statements], last, node)
    begun = Block(tuple(_reduced(made, steps, Block(tuple(opening), Fall()))), Fall())
    if not any(getattr(getattr(s, "operation", None), "cell", None) is steps.started for _, s in walk(begun)):
        unread = Assign((), ir.WriteCell(steps.item, Literal(None)), node)
        return [*begun.statements, unread]  # it always ends there
    is_started, over, found = (made.version("t", of(bool)) for _ in range(3))
    going = If((), found, Block((), Fall()), Block(tuple(_step(made, steps, node)), Fall()), node)
    return [
        Assign((is_started,), ir.ReadCell(steps.started), node),
        If((), is_started, Block((), Fall()), begun, node),
        Assign((over,), ir.ReadCell(steps.over), node),
        If((), over, Block((), Fall()), Block((Assign((found,), ir.ReadCell(steps.found), node), going), Fall()), node),
    ]


def _with_returns(
    made: Reduced, steps: _Steps, statements: list[Statement], last: list[Statement], node: gast.AST
) -> list[Statement]:
    """What is done first, with what follows a branch that ends the generator in the other branch."""
    done: list[Statement] = []
    for place, statement in enumerate(statements):
        match statement:
            case Assign(operation=ir.Yield(value=value)):
                done.append(Assign((), ir.WriteCell(steps.item, value), statement.node))
                done.append(Assign((), ir.WriteCell(steps.found, Literal(True)), statement.node))
            case If(targets=targets, body=body, orelse=orelse) if any(
                isinstance(side.exit, Return) for side in (body, orelse)
            ):
                sides: list[Block] = []
                for side in (body, orelse):
                    if isinstance(side.exit, Fall):
                        bound = zip(targets, side.exit.values, strict=True)
                        rest = _with_returns(made, steps, statements[place + 1 :], last, node)
                        ended = [*(Assign((t,), ir.Copy(v), node) for t, v in bound), *rest]
                    else:
                        assert steps.over is not None
                        ended = [Assign((), ir.WriteCell(steps.over, Literal(True)), node)]
                    sides.append(Block((*side.statements, *ended), Fall()))
                turned = replace(statement, targets=(), body=sides[0], orelse=sides[1])
                made.functions.origins[turned] = made.functions.origins.get(statement, statement)
                return [*done, turned]
            case _:
                done.append(statement)
    return [*done, *last]


def _kept(made: Reduced, steps: _Steps) -> Kept:
    def asked(node: gast.AST) -> tuple[list[Statement], Operand]:
        more = made.version("t", of(bool))
        start: list[Statement] = [Assign((), ir.WriteCell(steps.found, Literal(False)), node)]
        step = _step(made, steps, node) if steps.started is None else _opened(made, steps, node)
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
    for head, cell in (*steps.heads.items(), *steps.opened.items()):
        held = made.version("t", steps.body.values.get(head, NEVER))
        versions[head] = held
        heads.append(Assign((held,), ir.ReadCell(cell), node))
    copied = _copied(made, steps, steps.loop.body, versions)
    without_loop = is_straight(steps.loop.body)
    body = _with_exits(made, steps, copied, without_loop=without_loop, node=node)
    whole = Block((*heads, *body.statements), body.exit)
    if not without_loop:
        loop = gast.copy_location(gast.While(gast.Constant(True, None), [], []), node)
        whole = Block((Loop((), (), (), whole, loop),), Fall())
    return _reduced(made, steps, whole)


def _with_exits(made: Reduced, steps: _Steps, block: Block, *, without_loop: bool, node: gast.AST) -> Block:
    """A block of a round: an item is kept, and so is what the next round begins with."""
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Assign(operation=ir.Yield(value=value)):
                statements.append(Assign((), ir.WriteCell(steps.item, value), statement.node))
                statements.append(Assign((), ir.WriteCell(steps.found, Literal(True)), statement.node))
            case If(body=body, orelse=orelse):
                sides = [_with_exits(made, steps, s, without_loop=without_loop, node=node) for s in (body, orelse)]
                turned = replace(statement, body=sides[0], orelse=sides[1])
                made.functions.origins[turned] = made.functions.origins.get(statement, statement)
                statements.append(turned)
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                sides = [_with_exits(made, steps, s, without_loop=False, node=node) for s in (body, orelse, final)]
                caught = tuple(
                    replace(each, body=_with_exits(made, steps, each.body, without_loop=False, node=node))
                    for each in handlers
                )
                statements.append(Try(sides[0], caught, sides[1], sides[2], statement.node))
            case _:
                statements.append(statement)
    match block.exit:
        case Continue(values=values):
            cells = steps.heads.values()
            statements += [Assign((), ir.WriteCell(c, v), node) for c, v in zip(cells, values, strict=True)]
            if without_loop:
                return Block(tuple(statements), Fall())
            found = made.version("t", of(bool))
            leave = If((), found, Block((), Break()), Block((), Continue()), node)
            return Block((*statements, Assign((found,), ir.ReadCell(steps.found), node), leave), Unreachable())
        case Break() | Return():
            if steps.over is not None:
                statements.append(Assign((), ir.WriteCell(steps.over, Literal(True)), node))
            return Block(tuple(statements), Fall() if without_loop else Break())
        case Unreachable() if without_loop:
            return Block(tuple(statements), Fall())
    return Block(tuple(statements), block.exit)


def _copied(made: Reduced, steps: _Steps, block: Block, versions: dict[Operand, Operand]) -> Block:
    """A block of a generator, with versions of its own."""
    return _of_generator(made, steps.body, steps.frame, block, versions)


def _of_generator(
    made: Reduced, body: Generator, frame: Frame, block: Block, versions: dict[Operand, Operand]
) -> Block:
    def note(new: Statement, old: Statement) -> None:
        made.functions.origins[new] = old
        made.functions.places[new.node] = frame.owner
        made.take_over(new, old, (body,))
        made.steps.add(new)
        for one, other in zip(bound_by(new), bound_by(old), strict=True):
            made.values[one] = body.values.get(other, NEVER)

    renaming = Renaming(versions, frame.cells, lambda v: made.namer.fresh(v.variable or "t"), note)
    copied = renaming.block(block)
    made.only_arguments |= only_arguments(copied)
    made.uses.update(uses_of(replace(body.function, body=copied)))
    return copied


def _reduced(made: Reduced, steps: _Steps, block: Block) -> list[Statement]:
    return list(_in_frame(made, steps.closure, steps.frame, block, steps.reduce).statements)


def _in_frame(
    made: Reduced, closure: Closure, frame: Frame, block: Block, reduce: Callable[[Block], Block]
) -> Block:
    outer, made.frame = made.frame, frame
    refuse_unassigned(made)
    made.functions.around.append(closure)
    whole = reduce(block)
    made.functions.around.pop()
    made.frame = outer
    return whole


def in_its_frame(
    made: Reduced, body: Generator, closure: Closure, frame: Frame, given: dict[Operand, Operand],
    reduce: Callable[[Block], Block],
) -> Block:  # fmt: skip
    """The whole body of a generator, with versions of its own, reduced where its own names are meant."""
    return _in_frame(made, closure, frame, _of_generator(made, body, frame, body.function.body, given), reduce)
