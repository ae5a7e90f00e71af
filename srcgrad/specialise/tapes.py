"""What stays together of code that srcgrad has emitted: items of tapes, fields of objects, what is added to buffers.

Enters: the IR of such code.  Leaves: versions without names of their own, and blocks in another order::

    tape.append((s, t))     the tuple is written where it is put
    x_bar[i] += g           x_bar[i] is read behind all that computes g
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from srcgrad import runtime
from srcgrad.infer.values import Bound, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Statement


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
            case ir.Make(kind="dict") if isinstance(reader, ir.Call) and value(reader.function) == exact(runtime.made):
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
            case Assign(operation=ir.Operator(symbol="+", operands=(Version() as item, _), in_place=True)):
                place = next((j for j, s in enumerate(statements) if item in getattr(s, "targets", ())), None)
                read = None if place is None else statements[place]
                if isinstance(read, Assign) and isinstance(read.operation, ir.GetItem) and read.node is statement.node:
                    statements.remove(read)
                    statements.insert(statements.index(statement), read)
    return replace(block, statements=tuple(statements))


def _with_blocks(statement: Statement) -> Statement:
    inner = {f.name: getattr(statement, f.name) for f in fields(statement)}
    changed = {name: together(part) for name, part in inner.items() if isinstance(part, Block)}
    return replace(statement, **changed) if changed else statement  # type: ignore[arg-type]
