"""Returns from loops inside of a ``try`` whose last block may leave a loop around it: they are done behind their loop.

Enters: the body of a function.  Leaves: the same.  Where such a return stands its last block will run, and its
``break`` and ``continue`` have to be of their own loop::

    for e in m:                         for e in m:
        try:                                try:
            while a:                            returned = False
                return e * a                    while a:
        finally:                 ->                 result = e * a; returned = True
            if c:                                   break
                continue                        if returned:
                                                    return result
                                            finally:
                                                if c:
                                                    continue
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Cell, Literal, Version
from srcgrad.ir.regions import Assign, Block, Break, Continue, Fall, If, Loop, Return, Statement, Try, blocks_of
from srcgrad.specialise.parts import TRUTH, Apart, with_blocks


def returned_behind(here: Apart, block: Block, is_inside: bool = False) -> Block:
    """A block without such returns; ``is_inside`` of a ``try`` whose last block may leave a loop around it."""
    statements: list[Statement] = []
    for statement in block.statements:
        if isinstance(statement, Try):
            is_within = is_inside or _leaves(statement.final)
            final = returned_behind(here, statement.final, is_inside)
            statements.append(_attempt(statement, _inside(here, is_within), final))
            continue
        made = with_blocks(here, statement, _inside(here, is_inside))
        statements += _behind(here, made) if is_inside and isinstance(made, Loop) else [made]
    return Block(tuple(statements), block.exit)


def _inside(here: Apart, is_inside: bool) -> Callable[[Block], Block]:
    return lambda block: returned_behind(here, block, is_inside)


def _attempt(statement: Try, change: Callable[[Block], Block], final: Block) -> Try:
    """A ``try`` with other blocks."""
    handlers = tuple(replace(handler, body=change(handler.body)) for handler in statement.handlers)
    return replace(
        statement, body=change(statement.body), handlers=handlers, orelse=change(statement.orelse), final=final
    )


def has_exit(block: Block, kind: type) -> bool:
    """Whether a block, or one inside of it, ends in an exit of this class."""
    inner = (part for statement in block.statements for part in blocks_of(statement))
    return isinstance(block.exit, kind) or any(has_exit(part, kind) for part in inner)


def _leaves(block: Block) -> bool:
    """Whether a block has a ``break`` or ``continue`` of a loop around it."""
    inner = [part for statement in block.statements if not isinstance(statement, Loop) for part in blocks_of(statement)]
    return isinstance(block.exit, Break | Continue) or any(map(_leaves, inner))


def _behind(here: Apart, loop: Loop) -> list[Statement]:
    """A loop that breaks where it returned, and the returns behind it."""
    flags: list[Cell] = []
    returns: list[Statement] = []

    def change(block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Try):
                if has_exit(statement.final, Return):
                    raise here.refuse(
                        "E0120", statement.node, "a return in a finally, in a loop inside of another try,"
                    )
                before = len(flags)
                made = _attempt(statement, change, statement.final)
                statements.append(replace(made, final=_forgetting(here, made.final, flags[before:], loop.node)))
            else:
                statements.append(statement if isinstance(statement, Loop) else with_blocks(here, statement, change))
        if not isinstance(block.exit, Return):
            return Block(tuple(statements), block.exit)
        flag, test, value = here.cell("returned"), here.version(TRUTH), block.exit.value
        flags.append(flag)
        node = statements[-1].node if statements else loop.node
        read: tuple[Statement, ...] = ()
        if isinstance(value, Version):
            result, held = here.cell("result"), here.version(here.made.value(value))
            here.uses[held] = 1
            statements.append(Assign((), ir.WriteCell(result, value), node))
            read, value = (Assign((held,), ir.ReadCell(result), loop.node),), held
        statements.append(_set(flag, True, node))
        returns.append(Assign((test,), ir.ReadCell(flag), loop.node))
        returns.append(If((), test, Block(read, Return(value)), Block((), Fall()), loop.node))
        return Block(tuple(statements), Break((Literal(None),) * len(loop.targets)))

    body = change(loop.body)
    return [*(_set(flag, False, loop.node) for flag in flags), replace(loop, body=body), *returns]


def _forgetting(here: Apart, block: Block, flags: Sequence[Cell], node: gast.AST) -> Block:
    """A last block whose own ``break`` and ``continue`` take back that a return is under way."""
    if not flags:
        return block

    def inner(part: Block) -> Block:
        return _forgetting(here, part, flags, node)

    statements = []
    for statement in block.statements:
        if isinstance(statement, Try):
            final = _forgetting(here, statement.final, flags, node)
            statement = _attempt(statement, inner, final)
        elif not isinstance(statement, Loop):
            statement = with_blocks(here, statement, inner)
        statements.append(statement)
    taken_back = [_set(flag, False, node) for flag in flags] if isinstance(block.exit, Break | Continue) else []
    return Block((*statements, *taken_back), block.exit)


def _set(flag: Cell, value: bool, node: gast.AST) -> Assign:
    return Assign((), ir.WriteCell(flag, Literal(value)), node)
