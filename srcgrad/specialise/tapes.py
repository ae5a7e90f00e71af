"""What stays together of code that srcgrad has emitted: items of tapes, fields of objects, what is added to buffers.

Enters: the IR of such code.  Leaves: versions without names of their own, and blocks in another order::

    tape.append((s, t))     the tuple is written where it is put
    x_bar[i] += g           x_bar[i] is read behind all that computes g
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.infer.values import Bound, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Statement, blocks_of, walk
from srcgrad.ir.restoring.pending import reads_of

#: Functions that make what they are given the fields, or the items, of.
_OF_DICTS = (exact(runtime.made), exact(runtime.defaulting))


def of_tapes(ordered: list[Assign], value: Any, uses: Mapping[Operand, list[Any]]) -> Iterator[Version]:
    """What is put on a tape as a tuple, or taken from one and bound at once, and the fields of an object."""
    for statement in ordered:
        readers = [part for target in statement.targets for _, part in uses.get(target, ())]
        if len(readers) != 1:
            continue
        (reader,) = readers
        match statement.operation:
            case ir.Make(kind="tuple") if isinstance(reader, ir.Call) and _is_of_list(value(reader.function), "append"):
                yield from statement.targets
            case ir.Make(kind="dict") if isinstance(reader, ir.Call) and value(reader.function) in _OF_DICTS:
                yield from statement.targets
            case ir.Call(function=function) if isinstance(reader, ir.Copy | ir.WriteCell | ir.Unpack):
                if _is_of_list(value(function), "pop"):
                    yield from statement.targets


def _is_of_list(function: Value, name: str) -> bool:
    return function.consists_of(lambda atom: isinstance(atom, Bound) and atom.name == name)


def together(block: Block) -> Block:
    """A block in which what is added to is read where it is added to, so that the whole stays one statement: what is
    added is computed before, and changes nothing."""
    statements = [_with_blocks(statement) for statement in block.statements]
    for statement in block.statements:
        match statement:
            case Assign(operation=ir.Operator(symbol="+" | "-", operands=(Version() as item, _), in_place=True)):
                read = _read_by(statements, item, statement)
                if read is not None:
                    statements.remove(read)
                    statements.insert(statements.index(statement), read)
    return replace(block, statements=tuple(_read_late(statements)))


def _read_late(statements: list[Statement]) -> list[Statement]:
    """The same statements, with variables that closures or managers see read where they are used: a buffer has the name
    there that the text gives it."""
    for read in [s for s in statements if isinstance(s, Assign) and isinstance(s.operation, ir.ReadCell)]:
        assert isinstance(read.operation, ir.ReadCell)
        place, cell = statements.index(read), read.operation.cell
        for behind in range(place + 1, len(statements)):
            if _writes(statements[behind], cell) or read.targets[0] in reads_of([statements[behind]]):
                statements.insert(behind, read)
                del statements[place]
                break
    return statements


def _writes(statement: Statement, cell: ir.Cell) -> bool:
    operation = getattr(statement, "operation", None)
    if isinstance(operation, ir.WriteCell | ir.DeleteCell):
        return operation.cell is cell
    return any(_writes(inner, cell) for block in blocks_of(statement) for _, inner in walk(block))


def _read_by(statements: Sequence[Statement], item: Version, statement: Assign) -> Assign | None:
    """What reads an item, or a variable, in the target of an augmented assignment."""
    target = getattr(statement.node, "target", None)
    for each in statements:
        if isinstance(each, Assign) and item in each.targets:
            is_read = isinstance(each.operation, ir.GetItem | ir.ReadCell) and target is not None
            return each if is_read and (each.node is statement.node or each.node in gast.walk(target)) else None
    return None


def _with_blocks(statement: Statement) -> Statement:
    inner = {f.name: getattr(statement, f.name) for f in fields(statement)}
    changed = {name: together(part) for name, part in inner.items() if isinstance(part, Block)}
    return replace(statement, **changed) if changed else statement  # type: ignore[arg-type]
