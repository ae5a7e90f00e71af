"""What is left over where values decide tests, and functions are written out where they are called.

Enters: the reduced statements of a function.  Leaves: those that something reads, or that do more than compute::

    t = k is None        (decided, and read by nothing now)
    f = lambda v: v * a  (written out where it was called)          ->      y = x * a
    y = x * a
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from srcgrad.infer.values import are_methods
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, If, Loop, Statement, Try, With, operands_of, parts_of, walk
from srcgrad.ir.restoring.tree import Spelled

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def without_unused(reduced: Reduced, body: Block) -> Block:
    """Without what only decided tests were computed from: temporaries that nothing reads, of operations that do
    nothing but compute, and raise nothing where that may be caught."""
    from srcgrad.specialise.captures import carried_in
    from srcgrad.specialise.raising import is_caught, raises  # which know what is reduced

    caught = is_caught(reduced)

    def only_computes(statement: Assign) -> bool:
        return _only_computes(statement.operation) and not (caught and raises(reduced, statement, (BaseException,)))

    methods = {v for v, value in reduced.values.items() if are_methods(value)}
    functions = _functions(body) | reduced.iterators | (methods - _called(body))
    while True:
        read: set[Any] = {operand for part in parts_of(body) for operand in operands_of(part)}
        read |= {part.cell for part in parts_of(body) if isinstance(part, ir.ReadCell)}
        read |= carried_in(reduced, body)
        kept = _kept(reduced, body, read, functions, only_computes)
        if kept is body:
            return body
        body = kept


def _called(body: Block) -> set[Operand]:
    """What calls give, which may do more than that."""
    return {target for _, s in walk(body) if isinstance(s, Assign) and isinstance(s.operation, ir.Call)
            for target in s.targets}  # fmt: skip


def _functions(body: Block) -> set[Operand]:
    """The versions that are functions which are made in here, under whatever name."""
    found: set[Operand] = set()
    for _, statement in walk(body):
        match statement:
            case Assign(targets=(target,), operation=ir.MakeFunction()):
                found.add(target)
            case Assign(targets=(target,), operation=ir.Copy(source=source)) if source in found:
                found.add(target)
    return found


def _kept(
    reduced: Reduced, block: Block, read: set[Any], functions: set[Operand], only_computes: Callable[[Assign], bool]
) -> Block:
    def inner(part: Block) -> Block:
        return _kept(reduced, part, read, functions, only_computes)

    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Assign(targets=(target,), operation=operation) if target not in read and (
                isinstance(operation, ir.MakeFunction) or target in functions
                or target.variable is None and only_computes(statement)
            ):
                continue
            case Assign(operation=ir.WriteCell(cell=cell, value=held)) if cell not in read and (
                held in functions and cell not in reduced.fields.values() or cell in reduced.functions.defaults
            ):
                continue
            case If(body=body, orelse=orelse):
                sides = [inner(body), inner(orelse)]
                made: Statement = replace(statement, body=sides[0], orelse=sides[1])
                is_same = sides[0] is body and sides[1] is orelse
            case Loop(body=body) | With(body=body):
                made = reduced.renewed(statement, replace(statement, body=inner(body)))
                is_same = made.body is body
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                sides = [inner(part) for part in (body, orelse, final, *(h.body for h in handlers))]
                caught = tuple(replace(h, body=part) for h, part in zip(handlers, sides[3:], strict=True))
                made = replace(statement, body=sides[0], handlers=caught, orelse=sides[1], final=sides[2])
                before = (body, orelse, final, *(h.body for h in handlers))
                is_same = all(a is b for a, b in zip(sides, before, strict=True))
            case _:
                made, is_same = statement, True
        statements.append(statement if is_same else made)
    is_whole = len(statements) == len(block.statements)
    is_whole = is_whole and all(a is b for a, b in zip(statements, block.statements, strict=True))
    return block if is_whole else Block(tuple(statements), block.exit)


def _only_computes(operation: ir.Operation) -> bool:
    match operation:
        case ir.Copy() | ir.ReadGlobal() | ir.Make() | ir.ReadCell() | ir.Super():
            return True
        case ir.Compare(symbol="is" | "is not") | ir.Operator(symbol="bool" | "not"):
            return True
        case ir.Call(function=Literal(value=Spelled(value=called))):
            return called in (isinstance, callable, functools.wraps, itemgetter)
    return False
