"""An ``__init__`` that makes its object: its fields are variables, and every end of it gives the object.

Enters: the reduced function, in which stores into fields are stores into variables; then its normal form.  Leaves: the
normal form that returns the object::

    self.w = w                     self_w = w
    if n > 2:                      if n > 2:
        return            ->           t = made(Early, {"w": self_w});  return t
    self.w = w * 2.0               self_w = w * 2.0
                                   t2 = made(Early, {"w": self_w});  return t2

A field that exists on some ways only is refused: what its class holds by that name would be meant on the others.
"""

from __future__ import annotations

from dataclasses import replace

import gast

from srcgrad import runtime
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Cell
from srcgrad.ir.regions import Assign, Block, Break, Fall, If, Loop, Return, With
from srcgrad.specialise.context import Context
from srcgrad.syntax.build import load
from srcgrad.syntax.globals import call_runtime, importable, reference


def returning_object(context: Context, block: nf.Block, kind: type) -> nf.Block:
    """The block of an ``__init__`` whose fields are variables, with the object that has these fields at its ends."""
    fields = frozenset(context.reduced.fields.values())
    left = _written(context, context.reduced.function.body, frozenset(), fields, [])
    if left is not None and not fields <= left:
        _refuse(context)
    return _with_object(context, block, kind)


def _with_object(context: Context, block: nf.Block, kind: type) -> nf.Block:
    made: list[nf.Statement] = []
    for statement in block.statements:
        match statement:
            case nf.Return(span=span):
                keys = tuple(gast.Constant(name, None) for name in context.reduced.fields)
                cells = context.reduced.fields.values()
                atoms = tuple(gast.Name(cell.variable, gast.Load(), None, None) for cell in cells)
                named = reference(importable(kind.__name__, kind))
                expression = call_runtime(runtime.made, named, gast.Dict(list(keys), list(atoms)))
                name = context.fresh()
                made.append(nf.Bind(name, expression, nf.Pack("object", atoms, keys, kind), span))
                made.append(nf.Return(load(name, expression), span))
            case nf.If(body=body, orelse=orelse):
                sides = _with_object(context, body, kind), _with_object(context, orelse, kind)
                made.append(replace(statement, body=sides[0], orelse=sides[1]))
            case nf.For(body=body) | nf.While(body=body) | nf.With(body=body):
                made.append(replace(statement, body=_with_object(context, body, kind)))
            case _:
                made.append(statement)
    return nf.Block(tuple(made))


def _written(
    context: Context, block: Block, before: frozenset[Cell], fields: frozenset[Cell], broken: list[frozenset[Cell]]
) -> frozenset[Cell] | None:
    """The fields that exist at the end of a block, None where it is not reached; ``broken`` gets those at breaks."""
    known: frozenset[Cell] | None = before
    for statement in block.statements:
        assert known is not None
        match statement:
            case Assign(operation=ir.WriteCell(cell=cell)) if cell in fields:
                known |= {cell}
            case Assign(operation=ir.ReadCell(cell=cell)) if cell in fields - known:
                _refuse(context)
            case If(body=body, orelse=orelse):
                sides = [_written(context, side, known, fields, broken) for side in (body, orelse)]
                known = _joined([side for side in sides if side is not None])
            case Loop(body=body):
                ends: list[frozenset[Cell]] = []
                _written(context, body, known, fields, ends)
                known = _joined(ends)
            case With(body=body):
                known = _written(context, body, known, fields, broken)
        if known is None:
            return None
    assert known is not None
    match block.exit:
        case Return():
            if not fields <= known:
                _refuse(context)
        case Break():
            broken.append(known)
        case Fall():
            return known
    return None


def _joined(states: list[frozenset[Cell]]) -> frozenset[Cell] | None:
    return frozenset.intersection(*states) if states else None


def _refuse(context: Context) -> None:
    context.refuse("E0417", context.source.node, "a field that may not exist")
