"""Which generators can be asked for one item after the other: those that give one in each round of a loop.

Enters: the body of a generator.  Leaves: what is said of it::

    for v in y:                         for v in y:
        if v > 0.0: yield v * k             yield v; yield -v
        k = k * 0.9                         (several in a round)
    (one at most, then numbers alone)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from srcgrad.infer.objects import class_of
from srcgrad.infer.values import NEVER, SCALARS, At, Exact, Of, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import bound_by
from srcgrad.ir.operations import Literal, Operand, Version
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
    With,
    blocks_of,
    operands_of,
    parts_of,
    walk,
)
from srcgrad.specialise.changing import only_computes

if TYPE_CHECKING:
    from srcgrad.infer.generators import Generator
    from srcgrad.specialise.reduced import Reduced


class _Several(Exception):
    """More than one item in a round, or what cannot be done before the next one is asked for."""


def gives_one(body: Generator, loop: Loop) -> bool:
    """Whether a round gives one item at most, and does nothing behind that but to compute numbers; and so does what
    stands before the loop."""
    inside = {id(s) for _, s in walk(loop.body)}
    if any(isinstance(s, With) or isinstance(s, Try) and id(s) not in inside for _, s in walk(body.function.body)):
        return False
    assigned = [s for _, s in walk(body.function.body) if isinstance(s, Assign)]
    yields = [s for s in assigned if isinstance(s.operation, ir.Yield | ir.YieldFrom)]
    before = Block(body.function.body.statements[:-1], Fall())
    if not yields or any(isinstance(s.operation, ir.YieldFrom) for s in yields) or not _is_opening(before):
        return False
    if all(id(s) not in inside for s in yields):
        return False
    read = {operand for part in parts_of(body.function.body) for operand in operands_of(part)}
    if any(not read.isdisjoint(s.targets) for s in yields):  # of what ``send`` gives
        return False
    try:
        _follow(body, before, False)
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
            case Try() if not is_given and not _has_yield(statement):
                pass
            case Assign() if not is_given or _is_of_numbers(body, statement) or is_iterated(statement):
                pass
            case _:
                raise _Several
    return is_given


def _is_opening(before: Block) -> bool:
    """Whether what stands before the loop leaves the generator in branches of its own alone."""
    sides = [side for s in before.statements if isinstance(s, If) for side in blocks_of(s)]
    inner: list[Statement] = [s for s in before.statements if not isinstance(s, If | Assign)]
    inner += [s for side in sides for s in side.statements]
    return not any(map(leaves, inner)) and all(
        isinstance(side.exit, Fall) or isinstance(side.exit, Return) and not _gives(side) for side in sides
    )  # fmt: skip


def leaves(statement: Statement | None) -> bool:
    """Whether a statement has a block that leaves the generator, or gives an item."""
    if statement is None or isinstance(statement, Assign):
        return statement is not None and isinstance(statement.operation, ir.Yield)
    inside = [side for block in blocks_of(statement) for side in _all_blocks(block)]
    return any(isinstance(side.exit, Return) or _gives(side) for side in inside)


def _all_blocks(block: Block) -> list[Block]:
    return [block, *(side for _, s in walk(block) for side in blocks_of(s))]


def _gives(block: Block) -> bool:
    return any(isinstance(s, Assign) and isinstance(s.operation, ir.Yield) for s in block.statements)


def is_iterated(statement: Statement) -> bool:
    """Whether a statement makes an iterator, which does the same when the generator is made as later."""
    return isinstance(statement, Assign) and isinstance(statement.operation, ir.Iterate)


def read_later(opening: tuple[Statement, ...], loop: Loop) -> list[Version]:
    """The versions of what is done first that the rounds read."""
    read = {operand for part in parts_of(loop.body) for operand in operands_of(part)}
    return [v for s in opening for v in bound_by(s) if v in read]


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


def is_timeless(made: Reduced, body: Generator, statement: Statement | None) -> bool:
    """Whether a statement does the same when a generator is made as when it is asked for the first time."""
    match statement:
        case None | Assign(operation=ir.Copy() | ir.ReadGlobal() | ir.Iterate() | ir.Make(kind="tuple")):
            return True
        case Assign(operation=ir.Unpack(source=source, star=None)):
            atoms = body.values.get(source, NEVER).atoms if isinstance(source, Version) else frozenset()
            return bool(atoms) and all(isinstance(a, At) and a.site.kind is tuple for a in atoms)
        case Assign(operation=ir.Call(function=function, positional=given, star=None)) if len(given) < 3:
            values = [body.values.get(v, NEVER) if isinstance(v, Version) else exact(v.value) for v in given]
            return body.values.get(function, NEVER) == exact(range) and all(  # type: ignore[arg-type]
                value.consists_of(lambda a: class_of(a) is int) for value in values
            )
    return isinstance(statement, Assign) and _is_of_numbers(body, statement)


def only_reads(body: Generator, statement: Statement | None) -> bool:
    """Whether a statement does the same as long as nothing changes, and changes nothing itself."""
    operation: Any = getattr(statement, "operation", None)
    called = body.values.get(operation.function, NEVER) if isinstance(operation, ir.Call) else NEVER  # type: ignore[arg-type]

    def computes(function: object) -> bool:
        return any(function is one for one in (enumerate, zip, reversed)) or only_computes(function, operation)

    is_computing = isinstance(operation, ir.Call) and called.consists_of(
        lambda atom: isinstance(atom, Exact) and computes(atom.value)
    )
    is_reading = is_computing or isinstance(operation, ir.GetAttribute | ir.GetItem)
    return is_reading and not any(each.changes for each in body.calls.get(statement, ()))  # type: ignore[arg-type]


def asks_others(body: Generator, statement: Statement) -> bool:
    """Whether a statement asks an iterator, which may be at its end."""
    operation = getattr(statement, "operation", None)
    if not isinstance(operation, ir.Call) or not isinstance(operation.function, Version):
        return False
    value = body.values.get(operation.function, NEVER)
    return value.is_any or any(isinstance(a, Exact) and a.value is next for a in value.atoms)


def may_end_by_others(body: Generator) -> bool:
    """Whether a generator may come across an iterator at its end, whose exception is another one outside of it: what it
    calls is looked at for the whole program (``ended``)."""
    return any(asks_others(body, s) for _, s in walk(body.function.body))


def constant_of(operand: Operand) -> object:
    return operand.value if isinstance(operand, Literal) else None


def _blocks(block: Block) -> list[Block]:
    """A block, and those of the branches in it: not of loops further in."""
    found = [block]
    for statement in block.statements:
        if isinstance(statement, If):
            found += [inner for side in blocks_of(statement) for inner in _blocks(side)]
    return found


def items_given(block: Block) -> list[Operand]:
    return [s.operation.value for _, s in walk(block) if isinstance(s, Assign) and isinstance(s.operation, ir.Yield)]


def is_straight(body: Block) -> bool:
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
