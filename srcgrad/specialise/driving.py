"""Generators that a loop goes over, written out where it stands: what the loop does with an item is done where the
item is yielded.

Enters: the loop, behind the call of a generator function.  Leaves: the statements of the generator, with those of the
loop in place of each ``yield``::

    def both(x):                       def f(x):                          t = np.sin(x);  s = s + t * t
        yield np.sin(x)                    for t in both(x):       ->     t = np.cos(x);  s = s + t * t
        yield np.cos(x)                        s = s + t * t

So the parts of both run in the order in which Python runs them.  What leaves the loop, or returns from the generator,
leaves the loops of the generator by a variable that says so.  What goes from round to round is variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import gast

from srcgrad.infer.values import NEVER, Value, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import Renaming, bound_by, continued
from srcgrad.ir.operations import UNBOUND, Cell, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Exit,
    Fall,
    If,
    Loop,
    Return,
    Statement,
    Try,
    Unreachable,
    With,
    blocks_of,
    exits_of,
    operands_of,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.specialise.arguments import only_arguments
from srcgrad.specialise.rounds import may_end_by_others
from srcgrad.specialise.stepping import entered_by, generator_of, in_its_frame

if TYPE_CHECKING:
    from srcgrad.infer.generators import Generator
    from srcgrad.specialise.reduced import Reduced

Reduce = Callable[["Reduced", Block], Block]

LARGEST = 300  # statements of a loop, as often as an item is yielded


class NotWritten(Exception):
    """What a generator, or a loop over one, does that cannot be written in the other."""


@dataclass(eq=False)
class _Round:
    """What a loop does in one round and at its end, and the variables of what goes on from there."""

    item: Version
    each: Block
    end: Block
    heads: dict[Version, Cell]
    targets: dict[Version, Cell]
    left: Cell | None  # whether the generator is left; None where nothing leaves it before its end
    broken: Cell | None  # whether the loop is left
    result: Cell | None  # what the function around returns then
    returned: Cell | None


def driven(made: Reduced, loop: Loop, before: list[Statement], reduce: Reduce) -> list[Statement] | None:
    """A loop over a generator that ``before`` makes; None of any other."""
    last = next((place for place in reversed(range(len(before))) if not _is_empty_display(before[place])), -1)
    match before[max(last - 1, 0) : last + 1]:
        case [
            Assign(targets=(source,), operation=ir.Call() as call) as start,
            Assign(targets=(iterator,), operation=ir.Iterate(source=taken)),
        ] if taken is source and made.uses[source] <= 1 == made.uses[iterator]:
            pass
        case _:
            return None
    body, parts = generator_of(made, made.value(source)), _parts(loop, iterator)
    if body is None or parts is None:
        return None
    first: list[Statement] = []
    whole = gone_over(made, start, call, body, first, reduce)
    if whole is None:
        return None
    try:
        written = _written(made, loop, parts, whole, reduce)
    except NotWritten:
        return None
    del before[last - 1 : last + 1]  # nothing of the generator runs there
    return [*first, *written]


def _is_empty_display(statement: Statement) -> bool:
    """Whether a statement makes the container that a comprehension fills."""
    return isinstance(statement, Assign) and isinstance(statement.operation, ir.Make) and (
        not operands_of(statement.operation))  # fmt: skip


def gone_over(
    made: Reduced, start: Assign, call: ir.Call, body: Generator, before: list[Statement],
    reduce: Reduce,
) -> Block | None:  # fmt: skip
    """What a generator runs, with versions of its own; None where that is not known."""
    if isinstance(body.function.node, gast.GeneratorExp):
        (parameter,) = body.function.parameters
        return reduce(made, _copied(made, body, {parameter: call.positional[0]}))
    from srcgrad.specialise.raising import is_caught  # which knows what is reduced

    if is_caught(made) and may_end_by_others(body):
        return None
    entered = entered_by(made, start, call, body, before)
    if entered is None:
        return None
    closure, frame, given = entered
    return in_its_frame(made, body, closure, frame, given, lambda block: reduce(made, block))


def _copied(made: Reduced, body: Generator, given: dict[Operand, Operand]) -> Block:
    """What a generator runs, with versions of its own."""

    def note(new: Statement, old: Statement) -> None:
        made.functions.origins[new] = old
        made.take_over(new, old, (body,))
        for one, other in zip(bound_by(new), bound_by(old), strict=True):
            made.values[one] = made.facts.values.get(other, NEVER)

    renaming = Renaming(given, made.frame.cells, lambda version: made.namer.fresh(version.variable or "t"), note)
    copied = renaming.block(body.function.body)
    made.only_arguments |= only_arguments(copied)
    made.uses.update(uses_of(replace(body.function, body=copied)))
    return copied


def _parts(loop: Loop, iterator: Operand) -> tuple[Version, Block, Block] | None:
    """The item of a loop, what it does at its end, and what it does with an item."""
    match loop.body.statements:
        case (
            Assign(targets=(item,), operation=ir.Next(iterator=asked)),
            Assign(targets=(over,), operation=ir.Compare()),
            If(targets=(), test=test, body=end, orelse=each),
        ) if asked is iterator and test is over:
            return item, end, each
    return None


def _written(
    made: Reduced, loop: Loop, parts: tuple[Version, Block, Block], whole: Block, reduce: Reduce
) -> list[Statement]:
    item, end, each = parts
    if any(isinstance(value, Literal) and value.value is UNBOUND for value in loop.initial):
        raise NotWritten
    exits = [*exits_of(each), *exits_of(end)]
    returns = any(isinstance(found, Return) for found in exits)
    breaks = any(isinstance(found, Break | Return) for found in exits_of(each))
    ends = _returns_early(whole)
    yields = sum(1 for _, s in walk(whole) if _is_yield(s))
    if yields * sum(1 for _ in walk(each)) > LARGEST:
        raise NotWritten

    def cell(stem: str, is_needed: bool) -> Cell | None:
        return made.new_cell(stem) if is_needed else None

    left = cell("left", breaks or ends)
    round_ = _Round(
        item, each, end,
        {head: made.new_cell(head.variable or "state") for head in loop.heads},
        {target: made.new_cell(target.variable or "state") for target in loop.targets},
        left, cell("broken", True) if breaks and ends else left if breaks else None,
        cell("result", returns), cell("returned", returns),
    )  # fmt: skip
    node = loop.node
    flags = {flag for flag in (round_.left, round_.broken, round_.returned) if flag is not None}
    begun: list[Statement] = [Assign((), ir.WriteCell(flag, Literal(False)), node) for flag in flags]
    for (_, home), value in zip(round_.heads.items(), loop.initial, strict=True):
        begun.append(Assign((), ir.WriteCell(home, made.known.get(value, value)), node))

    def put(item_: Operand, at: gast.AST) -> list[Statement]:
        return [*_done(made, round_, each, {item: item_}, at, reduce).statements]

    gone = _whole(made, _Splice(put, left, breaks), whole, node)
    last = _done(made, round_, end, {}, node, reduce)
    if round_.broken is None:
        begun += [*gone.statements, *last.statements]
    else:
        was = made.version("t", of(bool))
        begun += [*gone.statements, Assign((was,), ir.ReadCell(round_.broken), node)]
        begun.append(If((), was, Block((), Fall()), last, node))
    if round_.returned is not None and round_.result is not None:
        was, value = made.version("t", of(bool)), made.version("t", _returned(made, exits))
        read = Assign((value,), ir.ReadCell(round_.result), node)
        begun.append(Assign((was,), ir.ReadCell(round_.returned), node))
        begun.append(If((), was, Block((read,), Return(value)), Block((), Fall()), node))
        made.is_conditional = True
    return begun + [Assign((target,), ir.ReadCell(home), node) for target, home in round_.targets.items()]


# --- the generator ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class _Splice:
    """What stands in place of ``yield``, and whether that may leave the generator."""

    put: Callable[[Operand, gast.AST], list[Statement] | None]
    left: Cell | None  # whether the generator is left; None where nothing leaves it before its end
    breaks: bool
    is_round: bool = True  # whether a loop of one round stands around the generator, to be left


def each_put(
    made: Reduced, whole: Block, put: Callable[[Operand, gast.AST], list[Statement] | None], node: gast.AST
) -> Block | None:
    """What a generator runs, with what ``put`` makes of each item in place of ``yield``; None if that cannot be."""
    left = made.new_cell("left") if _returns_early(whole) else None
    begun = [] if left is None else [Assign((), ir.WriteCell(left, Literal(False)), node)]
    try:
        gone = _whole(made, _Splice(put, left, breaks=False), whole, node)
    except NotWritten:
        return None
    return Block((*begun, *gone.statements), Fall())


def _whole(made: Reduced, splice: _Splice, whole: Block, node: gast.AST) -> Block:
    if splice.left is None or _is_left_by_its_loop(whole):
        return _spliced(made, replace(splice, is_round=False), whole, None)
    gone = _spliced(made, splice, whole, None)
    again = gast.copy_location(gast.While(gast.Constant(True, None), [], []), node)
    return Block((Loop((), (), (), replace(gone, exit=Break()), again),), Fall())


def _spliced(made: Reduced, splice: _Splice, block: Block, loop: Loop | None) -> Block:
    """A block of a generator with what is put in place of ``yield``."""
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Assign(targets=targets, operation=ir.Yield(value=value)):
                put = splice.put(value, statement.node)
                if put is None or any(made.uses[target] for target in targets):  # of what ``send`` gives
                    raise NotWritten
                statements += put
                statements += _leaving(made, splice, loop, statement.node) if splice.breaks else []
            case Assign(operation=ir.YieldFrom()):
                raise NotWritten
            case If(body=body, orelse=orelse):
                sides = [_spliced(made, splice, side, loop) for side in (body, orelse)]
                statements.append(replace(statement, body=sides[0], orelse=sides[1]))
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):  # around no ``yield``
                sides = [_spliced(made, splice, side, loop) for side in (body, orelse, final)]
                caught = tuple(replace(each, body=_spliced(made, splice, each.body, loop)) for each in handlers)
                statements.append(Try(sides[0], caught, sides[1], sides[2], statement.node))
            case With(body=body):
                statements.append(replace(statement, body=_spliced(made, splice, body, loop)))
            case Loop(body=body):
                statements.append(replace(statement, body=_spliced(made, splice, body, statement)))
                if splice.breaks and any(_is_yield(s) for _, s in walk(body)) or _returns(body):
                    statements += _leaving(made, splice, loop, statement.node)
            case _:
                statements.append(statement)
    if not isinstance(block.exit, Return):
        return Block(tuple(statements), block.exit)
    if loop is not None:
        assert splice.left is not None
        statements.append(Assign((), ir.WriteCell(splice.left, Literal(True)), loop.node))
        return Block(tuple(statements), Break(_nothing(loop)))
    return Block(tuple(statements), Break() if splice.is_round and splice.left is not None else Fall())


def _leaving(made: Reduced, splice: _Splice, loop: Loop | None, node: gast.AST) -> list[Statement]:
    """The way out of a loop of the generator, if it is left."""
    if splice.left is None or loop is None and not splice.is_round:
        return []
    is_left = made.version("t", of(bool))
    out = Block((), Break(() if loop is None else _nothing(loop)))
    return [Assign((is_left,), ir.ReadCell(splice.left), node), If((), is_left, out, Block((), Fall()), node)]


def _nothing(loop: Loop) -> tuple[Operand, ...]:
    """What a loop binds where nothing is read any more."""
    return (Literal(UNBOUND),) * len(loop.targets)


def _is_left_by_its_loop(whole: Block) -> bool:
    """Whether a generator is a loop and what stands before it, so that behind that loop nothing is left to do."""
    *first, last = whole.statements or (None,)
    if not isinstance(last, Loop) or not isinstance(whole.exit, Return):
        return False
    start = Block(tuple(s for s in first if s is not None), Fall())
    return not _returns(start) and not any(_is_yield(s) for _, s in walk(start))


def _all_blocks(statement: Statement) -> list[Block]:
    return [inner for block in blocks_of(statement) for inner in (
        block, *(side for s in block.statements for side in _all_blocks(s)))]  # fmt: skip


def _is_yield(statement: Statement) -> bool:
    return isinstance(statement, Assign) and isinstance(statement.operation, ir.Yield)


def _returns(block: Block) -> bool:
    return isinstance(block.exit, Return) or any(
        isinstance(side.exit, Return) for s in block.statements for side in _all_blocks(s)
    )


def _returns_early(whole: Block) -> bool:
    """Whether a generator may return before the end of its text."""
    return any(isinstance(side.exit, Return) for s in whole.statements for side in _all_blocks(s))


# --- the loop --------------------------------------------------------------------------------------------------------
def _done(
    made: Reduced, round_: _Round, block: Block, versions: dict[Operand, Operand], node: gast.AST, reduce: Reduce
) -> Block:
    """What is done with an item, or at the end, with versions of its own."""
    read: list[Statement] = []
    for head, home in round_.heads.items():
        held = versions[head] = made.version(head.variable or "t", made.value(head))
        read.append(Assign((held,), ir.ReadCell(home), node))

    whole = reduce(made, copied_again(made, block, versions))
    return _to_its_end(Block((*read, *whole.statements), whole.exit), round_, node)


def copied_again(made: Reduced, block: Block, versions: dict[Operand, Operand]) -> Block:
    """A block of the function that is reduced, with versions of its own."""

    def note(new: Statement, old: Statement) -> None:
        made.functions.origins[new] = made.functions.origins.get(old, old)
        made.called[new] = made.called.get(old, [])
        for side in ("parts", "entries"):
            if (old, side) in made.stars:
                made.stars[new, side] = made.stars[old, side]
        for one, other in zip(bound_by(new), bound_by(old), strict=True):
            made.values[one] = made.value(other)

    making = [s.operation for _, s in walk(block) if isinstance(s, Assign) and isinstance(s.operation, ir.MakeFunction)]
    if any(each.defaults or each.keyword_defaults for each in making):
        raise NotWritten  # they are known by the statement that makes the function
    copied = Renaming(versions, {}, lambda v: made.namer.fresh(v.variable or "t"), note).block(block)
    made.only_arguments |= only_arguments(copied)
    made.uses.update(uses_of(replace(made.function, body=copied)))
    return copied


def _to_its_end(block: Block, round_: _Round, node: gast.AST) -> Block:
    """A round that is over at its end alone: what follows a branch that ends it is done in the other branch."""
    for place, statement in enumerate(block.statements):
        if not isinstance(statement, Assign | If) and any(
            isinstance(side.exit, Return) or isinstance(side.exit, Break | Continue) and not isinstance(statement, Loop)
            for side in _all_blocks(statement)
        ):
            raise NotWritten
        if isinstance(statement, If) and any(_ends(side) for side in blocks_of(statement)):
            sides = [_to_its_end(continued(side, statement, block, place + 1), round_, node)
                     for side in (statement.body, statement.orelse)]  # fmt: skip
            joined = replace(statement, targets=(), body=sides[0], orelse=sides[1])
            return Block((*block.statements[:place], joined), Fall())
    match block.exit:
        case Continue(values=values):
            return _kept(block, round_.heads.values(), values, node)
        case Break(values=values):
            left = [flag for flag in dict.fromkeys((round_.left, round_.broken)) if flag is not None]
            return _kept(block, (*round_.targets.values(), *left), (*values, *(Literal(True),) * len(left)), node)
        case Return(value=value):
            left = [flag for flag in dict.fromkeys((round_.left, round_.broken, round_.returned)) if flag is not None]
            assert round_.result is not None
            return _kept(block, (round_.result, *left), (value, *(Literal(True),) * len(left)), node)
        case Unreachable():
            return Block(block.statements, Fall())
    return block


def _kept(block: Block, homes: Iterable[Cell], values: Iterable[Operand], node: gast.AST) -> Block:
    """A block that keeps values in variables at its end."""
    pairs = [*zip(homes, values, strict=True)]
    if any(isinstance(value, Literal) and value.value is UNBOUND for _, value in pairs):
        raise NotWritten
    kept = (Assign((), ir.WriteCell(home, value), node) for home, value in pairs)
    return Block((*block.statements, *kept), Fall())


def _ends(block: Block) -> bool:
    """Whether a block may end the round."""
    inner = (side for s in block.statements if isinstance(s, If) for side in blocks_of(s))
    return isinstance(block.exit, Break | Continue | Return) or any(map(_ends, inner))


def _returned(made: Reduced, exits: Iterable[Exit]) -> Value:
    return union(NEVER, *(made.value(found.value) for found in exits if isinstance(found, Return)))
