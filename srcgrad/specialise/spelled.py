"""Operations that are spelled as the methods or functions that do them.

Enters: a call of the IR.  Leaves: the operation::

    q.__setitem__(0, v)        q[0] = v
    return q.__imul__(v)       q *= v; return q
    setattr(o, "x", v)         o.x = v
    replace(o, x=v)            Point(x=v, y=o.y)          of a dataclass
    asdict(o), astuple(o)      {"x": o.x, "y": o.y}, (o.x, o.y)
    p._replace(x=v)            Pair(v, p[1])              of a named tuple
"""

from __future__ import annotations

import copy
import dataclasses
import operator
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classes import captured_by
from srcgrad.infer.data import is_data
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.values import NEVER, Array, At, Atom, Bound, Exact, Of, Value, are_numbers, are_of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.operators import IN_PLACE_METHODS
from srcgrad.specialise.asking import classes_of
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.receivers import without_attribute
from srcgrad.syntax.globals import importable, of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def operated(made: Reduced, statement: Assign) -> Assign | None:
    """The operation that a call of a method stands for; None of other calls."""
    call = statement.operation
    if not isinstance(call, ir.Call) or call.star is not None or call.rest is not None or call.keywords:
        return None
    function = static_of(made.value(made.known.get(call.function, call.function)))
    if (function is operator.or_ or function is operator.ior) and len(call.positional) == 2 and all(
        are_of(made.value(made.known.get(each, each)), dict) for each in call.positional
    ):
        left, right = (made.known.get(each, each) for each in call.positional)
        return replace(statement, operation=ir.Operator("|", (left, right), in_place=function is operator.ior))
    read, value = made.origins.get(call.function), made.value(call.function)
    bounds = [atom for atom in value.atoms if isinstance(atom, Bound) and atom.function is None]
    if not isinstance(read, ir.GetAttribute) or value.is_any or not bounds:
        return None
    if read.name == "detach" and not call.positional and all(isinstance(a, Bound) or is_data(a) for a in value.atoms):
        stop = Literal(Spelled(reference(of_runtime(runtime.stop_gradient)), runtime.stop_gradient))
        return Assign(statement.targets, ir.Call(stop, (made.known.get(read.base, read.base),)), statement.node)
    if len(bounds) < len(value.atoms):
        return None
    base = made.known.get(read.base, read.base)
    match read.name, [made.known.get(operand, operand) for operand in call.positional]:
        case "__setitem__", [index, stored] if all(_has_items(each.receiver) for each in bounds):
            made.known[statement.targets[0]] = Literal(None)
            return Assign((), ir.SetItem(base, index, stored), statement.node)
        case name, [other] if name in IN_PLACE_METHODS and all(_is_array(each.receiver) for each in bounds):
            if are_numbers(made.value(other)):  # others may have a method of their own, which the operator tries
                operation = ir.Operator(IN_PLACE_METHODS[name], (base, other), in_place=True)
                return Assign(statement.targets, operation, statement.node)
    return None


# --- functions -------------------------------------------------------------------------------------------------------
def written_out(made: Reduced, statement: Assign) -> list[Assign] | None:
    """What a function does with the fields of an object of the user's; None of other calls."""
    call = with_operands(statement.operation, made.known.get)
    if not isinstance(call, ir.Call) or call.star is not None or call.rest is not None:
        return None
    if not call.positional:
        return _of_named_tuple(made, statement, call)
    function, value = static_of(made.value(call.function)), made.value(call.positional[0])
    kinds = classes_of(value)
    if kinds is None or not any(function is each for each in (getattr, setattr, *_OF_DATACLASSES)):
        return None
    if function is dataclasses.fields:
        owner = Literal(Spelled(reference(importable(kinds[0].__name__, kinds[0])), kinds[0]))
        is_one = len(kinds) == len(call.positional) == 1
        return [_with_operation(statement, dataclasses.replace(call, positional=(owner,)))] if is_one else None
    if function in _TAKING:
        is_bare = len(call.positional) == 1 and not call.keywords
        taken = _taken(made, statement, call.positional[0], function is dataclasses.asdict) if is_bare else None
        return None if taken is None else [*taken[0], _with_operation(statement, taken[1])]
    if function is dataclasses.replace:
        is_one = len(call.positional) == len(kinds) == 1 and Exact(None) not in value.atoms
        return _replaced(made, statement, call, kinds[0]) if is_one else None
    name = _text(made, call.positional[1]) if len(call.positional) in (2, 3) and not call.keywords else None
    origin = made.functions.origins.get(statement, statement)
    match function, call.positional:
        case _ if name is None:
            return None
        case _, (base, _) if function is getattr:
            return [_renewed(made, statement, _with_operation(statement, ir.GetAttribute(base, name)))]
        case _, (base, _, _) if function is getattr and made.facts.held.get(origin) == {True}:
            return [_renewed(made, statement, _with_operation(statement, ir.GetAttribute(base, name)))]
        case _, (_, _, default) if function is getattr and without_attribute(made.facts, value, name) == value.atoms:
            return [_with_operation(statement, ir.Copy(default))]
        case _, (base, _, stored) if function is setattr:
            store = dataclasses.replace(statement, targets=(), operation=ir.SetAttribute(base, name, stored))
            return [_renewed(made, statement, store), _with_operation(statement, ir.Copy(Literal(None)))]
    return None


#: Functions that take dataclasses apart.
_TAKING: tuple[Any, ...] = (dataclasses.asdict, dataclasses.astuple)
_OF_DATACLASSES: tuple[Any, ...] = (dataclasses.replace, dataclasses.fields, *_TAKING)


def _taken(made: Reduced, statement: Assign, base: Operand, named: bool) -> tuple[list[Assign], ir.Make] | None:
    """The fields of a dataclass in a dict or tuple, those of the dataclasses in it too; arrays are copied, as Python
    does.  None where a field may hold something else."""
    kinds, value = classes_of(made.value(base)), made.value(base)
    if kinds is None or len(kinds) != 1 or Exact(None) in value.atoms or not dataclasses.is_dataclass(kinds[0]):
        return None
    reads, held = list[Assign](), list[Operand]()
    names = [field.name for field in dataclasses.fields(kinds[0])]
    for name in names:
        field = _field(made, value, name)
        read = made.version("t", field)
        reads.append(Assign((read,), ir.GetAttribute(base, name), statement.node))
        if field.consists_of(_is_immutable):
            held.append(read)
            continue
        again = made.version("t", field)
        if are_numbers(field):
            copying = Literal(Spelled(reference(importable("deepcopy", copy.deepcopy)), copy.deepcopy))
            operation: ir.Operation = ir.Call(copying, (read,))
        elif (inner := _taken(made, statement, read, named)) is not None:
            reads += inner[0]
            operation = inner[1]
        else:
            return None
        reads.append(Assign((again,), operation, statement.node))
        held.append(again)
    keys = tuple(map(Literal, names)) if named else ()
    return reads, ir.Make("dict" if named else "tuple", tuple(held), keys)


def _is_immutable(atom: Atom) -> bool:
    """Whether a value is a number or a text, of which a copy is the same."""
    if isinstance(atom, Exact):
        return atom.value is None or type(atom.value) in (str, bool, int, float, complex)
    return isinstance(atom, Of) and issubclass(atom.kind, (str, int, float, complex, np.generic))


def _with_operation(statement: Assign, operation: ir.Operation) -> Assign:
    return dataclasses.replace(statement, operation=operation)


def _renewed(made: Reduced, statement: Assign, other: Assign) -> Assign:
    """Another form of a statement, which calls what that called."""
    made.called[other] = made.called.get(statement, [])
    made.functions.origins[other] = made.functions.origins.get(statement, statement)
    return other


def _replaced(made: Reduced, statement: Assign, call: ir.Call, kind: Any) -> list[Assign] | None:
    """A dataclass that is called with the fields of an object, but for those that are given."""
    if not hasattr(kind, "__dataclass_fields__") or any(not field.init for field in dataclasses.fields(kind)):
        return None
    base, named, reads = call.positional[0], dict(call.keywords), list[Assign]()
    given: dict[str, Operand] = {}
    for name in (*(field.name for field in dataclasses.fields(kind)), *captured_by(kind)):
        if name not in named:
            held = made.version("t", _field(made, made.value(base), name))
            reads.append(Assign((held,), ir.GetAttribute(base, name), statement.node))
            given[name] = held
    own = Literal(Spelled(reference(importable(kind.__name__, kind)), kind))
    whole = ir.Call(own, (), None, (*named.items(), *given.items()))
    return [*reads, _renewed(made, statement, _with_operation(statement, whole))]


def _of_named_tuple(made: Reduced, statement: Assign, call: ir.Call) -> list[Assign] | None:
    """``_replace`` of a named tuple: its class is called with the items, but for those that are given."""
    read, methods = made.origins.get(call.function), made.value(call.function)
    if not isinstance(read, ir.GetAttribute) or read.name != "_replace" or not methods.consists_of(
        lambda atom: isinstance(atom, Bound) and atom.function is None
    ):
        return None
    base, named = made.known.get(read.base, read.base), dict(call.keywords)
    kinds: set[Any] = {atom.site.kind if isinstance(atom, At) else None for atom in made.value(base).atoms}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None or not is_named_tuple(kind) or not named.keys() <= {*kind._fields}:
        return None
    reads, given = list[Assign](), list[Operand]()
    for place, name in enumerate(kind._fields):
        if name not in named:
            held = made.version("t", _item(made, made.value(base), place))
            reads.append(Assign((held,), ir.GetItem(base, Literal(place)), statement.node))
            named[name] = held
        given.append(named[name])
    own = Literal(Spelled(reference(importable(kind.__name__, kind)), kind))
    return [*reads, _renewed(made, statement, _with_operation(statement, ir.Call(own, tuple(given))))]


def _item(made: Reduced, base: Value, place: int) -> Value:
    """What an item of tuples may be."""
    contents = [made.facts.contents[atom.site] for atom in base.atoms if isinstance(atom, At)]
    return union(NEVER, *(held.items if held.parts is None else held.parts[place] for held in contents))


def _field(made: Reduced, base: Value, name: str) -> Value:
    """What a field of objects may hold, at any time."""
    contents = [made.facts.contents.get(atom.site) for atom in base.atoms if isinstance(atom, At)]
    return union(NEVER, *(held.get(name) for held in contents if held is not None))


def _text(made: Reduced, operand: Operand) -> str | None:
    """A text that is known."""
    (atom, *others) = made.value(operand).atoms or (None,)
    return atom.value if isinstance(atom, Exact) and type(atom.value) is str and not others else None


def _is_array(value: Value) -> bool:
    return not value.is_any and all(isinstance(atom, Array) and atom.number is not None for atom in value.atoms)


def _has_items(value: Value) -> bool:
    return not value.is_any and all(
        isinstance(a, Array) and a.number is not None or isinstance(a, At) and a.site.kind in (list, dict, deque)
        for a in value.atoms
    )  # fmt: skip
