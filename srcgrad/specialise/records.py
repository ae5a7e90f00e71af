"""Objects of models that hold what they are given, and have methods: no object is made, its fields are operands.

Enters: statements of the IR.  Leaves: what the methods do, written out where they are called::

    place = at(x, 1)            x[1] = y
    z = place.set(y)     ->     z = x

Anything else that is done with such an object is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer.objects import looked_up
from srcgrad.infer.values import SCALARS
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, operands_of, placed_parts
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models import CLASSES as MODELED
from srcgrad.language.models.array_modules import class_in_numpy
from srcgrad.language.models.array_updates import CLASSES
from srcgrad.language.models.elementwise import Vectorized, fields_of
from srcgrad.specialise.callees import Written, of_closure, outer_closure
from srcgrad.syntax.globals import importable, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

_KINDS = frozenset(CLASSES.values())


@dataclass(frozen=True, eq=False)
class Record:
    """An object that is not made, and a method of it where one is looked up."""

    kind: type
    fields: Mapping[str, Operand]
    receiver: Operand | None = None
    method: Any = None


def followed(made: Reduced, statement: Assign, reduce: Callable[[Block], Block]) -> Written | None:
    """What a statement does that makes or asks such an object; None of any other."""
    operation, (target, *others) = with_operands(statement.operation, made.known.get), (*statement.targets, None)
    if target is None or others != [None]:
        return None
    match operation:
        case ir.Copy(source=source) if source in made.records:
            made.records[target] = made.records[source]
            return [], None
        case ir.GetItem(base=base, index=index) if base in made.records:
            item = looked_up(made.records[base].kind, "__getitem__")
            return _run(made, statement, item, ir.Call(Literal(None), (base, index)), reduce)
        case ir.GetAttribute(base=base, name=name) if base in made.records:
            record = made.records[base]
            if name in record.fields:
                return [], record.fields[name]
            method = looked_up(record.kind, name)
            if not isinstance(method, FunctionType):
                return None
            made.records[target] = replace(record, receiver=base, method=method)
            return [], None
        case ir.Call(function=function, star=None, rest=None) if function in made.records:
            record = made.records[function]
            method, receiver = record.method or looked_up(record.kind, "__call__"), record.receiver or function
            call = replace(operation, positional=(receiver, *operation.positional))
            return _run(made, statement, method, call, reduce)
        case ir.Call(function=Literal(value=Spelled(value=np.vectorize() as found)) as head, star=None, rest=None):
            made.records[head] = Record(Vectorized, {n: _literal(n, held) for n, held in fields_of(found).items()})
            call = replace(operation, positional=(head, *operation.positional))
            return _run(made, statement, looked_up(Vectorized, "__call__"), call, reduce)
        case ir.Call(function=Literal(value=Spelled(value=type() as kind)), star=None, rest=None):
            if (own := class_in_numpy(kind)) in _KINDS or (own := kind) is np.vectorize:
                return note_made(made, statement, operation, MODELED.get(own, own))
    return None


def note_made(made: Reduced, statement: Assign, call: ir.Call, kind: Any) -> Written | None:
    """Note an object and the operands that are its fields."""
    parameters = inspect.signature(kind).parameters.values()
    fields = dict(zip((parameter.name for parameter in parameters), call.positional, strict=False))
    fields |= dict(call.keywords)
    for parameter in parameters:
        if parameter.name not in fields:
            fields[parameter.name] = _literal(parameter.name, parameter.default)
    made.records[statement.targets[0]] = Record(kind, fields)
    return [], None


def _literal(name: str, value: Any) -> Literal:
    return Literal(value if type(value) in SCALARS else Spelled(reference(importable(name, value)), value))


def _run(
    made: Reduced, statement: Assign, method: FunctionType, call: ir.Call, reduce: Callable[[Block], Block]
) -> Written | None:
    """A method, written out."""
    summaries = made.called.get(statement, [])
    if not summaries or any(each.function is not summaries[0].function for each in summaries):
        return None
    return of_closure(made, statement, call, outer_closure(method, summaries[0].function), summaries, reduce)


def refuse_others(made: Reduced, body: Block) -> None:
    """Refuse what still reads an object that is not made."""
    for part, node in placed_parts(body) if made.records else ():
        if any(operand in made.records for operand in operands_of(part)):
            at = made.source_of(made.owner).node if node is None else node
            made.refuse("E0403", at, "what array_api_extra.at(...) gives, and is kept,")
