"""``vars(o)`` that is read where it is made, as a dict of the fields that the object has then.

Enters: a call of the IR.  Leaves::

    vars(o)["x"]        require_fields(o, ("x", "y"));  t = {"x": o.x, "y": o.y};  t["x"]

The dict of Python's is the object's own: it shows what is stored later, and stores into it are stores into the object.
So a dict of its own serves as long as it is read at once, before any attribute is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import gast

from srcgrad import runtime
from srcgrad.infer.builtin import holds_fields
from srcgrad.infer.heap import Heap
from srcgrad.infer.objects import class_of
from srcgrad.infer.values import At, Exact, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, Loop, Statement, operands_of, walk
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.changing import may_change
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.stepping import generator_of
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.infer.values import Value
    from srcgrad.specialise.reduced import Reduced

#: Functions that read all of a dict, or of its items, when they are called.
_TAKING = (dict, len, list, max, min, set, sorted, sum, tuple)
#: Functions that make an iterator of others.
_MAKING = (enumerate, iter, zip)


def fields_taken(made: Reduced, statement: Assign, block: Block) -> list[Statement] | None:
    """What stands for ``vars(o)`` or ``o.__dict__``; None of others.  Refused where more is done than to read it."""
    match statement.operation:
        case ir.Call(function=function, positional=(base,)) if (
            static_of(made.value(made.known.get(function, function))) is vars
        ):
            pass
        case ir.GetAttribute(name="__dict__", base=base) if made.value(base).consists_of(
            lambda atom: holds_fields(class_of(atom) or object)
        ):
            pass
        case _:
            return None
    base = made.known.get(base, base)
    (target,) = statement.targets
    sites = [atom.site for atom in made.value(target).atoms if isinstance(atom, At)]
    entries = made.facts.contents[sites[0]].entries if len(sites) == 1 == len(made.value(target).atoms) else None
    if entries is None:
        return None
    if not _is_read_at_once(made, target, block.statements[block.statements.index(statement) + 1 :]):
        hint = "read it where it is made, as in vars(o)['name'] and in loops that store no attribute"
        made.refuse("E0109", statement.node, "vars() that is kept, or changed,", hint=hint)
    names = tuple(Literal(str(name)) for name, _ in entries)
    listed, nothing = made.version("t", exact(tuple(name for name, _ in entries))), made.version("t", exact(None))
    head = Literal(Spelled(reference(of_runtime(runtime.require_fields)), runtime.require_fields))
    taken: list[Statement] = [
        Assign((listed,), ir.Make("tuple", names), statement.node),
        Assign((nothing,), ir.Call(head, (base, listed)), statement.node),
    ]
    held = list[Operand]()
    for name, value in entries:
        read = made.version("t", value)
        taken.append(Assign((read,), ir.GetAttribute(base, str(name)), statement.node))
        held.append(read)
    return [*taken, Assign((target,), ir.Make("dict", tuple(held), names), statement.node)]


def _is_read_at_once(made: Reduced, held: Operand, following: Sequence[Statement]) -> bool:
    """Whether one statement reads a dict, its method or its items, and nothing is stored until that is done."""
    if made.uses[held] != 1:
        return False
    for place, statement in enumerate(following):
        if isinstance(statement, Loop):
            return _asks(statement, held) and not any(_may_store(made, inner) for _, inner in walk(statement.body))
        if not isinstance(statement, Assign):
            return False
        operation, rest = statement.operation, following[place + 1 :]
        if held not in operands_of(operation):
            if may_change(made, statement):
                return False
            continue
        match operation:
            case ir.GetItem(base=one) | ir.Compare(symbol="in" | "not in", right=one) | ir.Extend(source=one):
                return one is held and not _may_store(made, statement)
            case ir.GetAttribute(name="get" | "copy"):
                return _is_called_next(made, statement.targets[0], rest)
            case ir.GetAttribute(name="keys" | "values" | "items") | ir.Iterate():
                return _is_read_at_once(made, statement.targets[0], rest)
            case ir.Call(function=function, positional=()) if function is held:
                return _is_read_at_once(made, statement.targets[0], rest)
            case ir.Call(function=function, positional=given) if held in given:
                called = static_of(made.value(function))
                if called in _TAKING:
                    return not _may_store(made, statement)
                body = generator_of(made, made.value(statement.targets[0]))
                is_quiet = body is not None and isinstance(body.function.node, gast.GeneratorExp) and not body.changes
                return (called in _MAKING or is_quiet) and _is_read_at_once(made, statement.targets[0], rest)
            case ir.Call(rest=given):
                return given is held
        return False
    return False


def _is_called_next(made: Reduced, method: Operand, following: Sequence[Statement]) -> bool:
    """Whether a method is called before anything may change: by then its arguments are there."""
    for statement in following:
        if isinstance(statement, Assign) and method in operands_of(statement.operation):
            return isinstance(statement.operation, ir.Call) and statement.operation.function is method
        if not isinstance(statement, Assign) or may_change(made, statement):
            return False
    return False


def _asks(loop: Loop, iterator: Operand) -> bool:
    """Whether a loop goes over an iterator."""
    first = loop.body.statements[0] if loop.body.statements else None
    return isinstance(first, Assign) and isinstance(first.operation, ir.Next) and first.operation.iterator is iterator


def _may_store(made: Reduced, statement: Statement) -> bool:
    """Whether a statement may store an attribute of an object."""
    operation = statement.operation if isinstance(statement, Assign) else None
    if isinstance(operation, ir.SetAttribute | ir.DeleteAttribute):
        return True
    called = made.value(operation.function).atoms if isinstance(operation, ir.Call) else frozenset()
    if any(isinstance(atom, Exact) and any(atom.value is one for one in (setattr, delattr)) for atom in called):
        return True
    return any(summary.changes for summary in made.called.get(statement, ())) or (
        operation is not None and _reaches_what_stores(made, map(made.value, operands_of(operation)))
    )


def _reaches_what_stores(made: Reduced, values: Iterable[Value]) -> bool:
    """Whether a generator can be reached from values that stores where others see it: who asks it is not looked at."""
    sites, _ = Heap(made.facts.contents).reachable(values)
    return any(made.facts.generators[site].changes for site in sites & made.facts.generators.keys())
