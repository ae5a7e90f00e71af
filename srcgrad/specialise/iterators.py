"""Iterators that are kept: what they go over stays where it is, and a variable says at which place they are.

Enters: statements of the IR that make an iterator, ask it for an item, or go over the rest of it.  Leaves: reads of
places, and tests whether there is one more::

    it = iter(y)                     place = 0
    s = next(it, 0.0)                if place < len(y):  t = y[place];  place = place + 1
    for v in it:            ->       else:  t = 0.0
        s = s * v                    s = t
                                     while place < len(y):
                                         v = y[place];  place = place + 1
                                         s = s * v

Items are read when they are asked for, so that what is stored meanwhile is seen.  An iterator is known by the version
that holds it: the variables of that version are those of the object that was made last, since every read of a version
stands behind the statement that binds it.  One that is held by a list, or that may be one of several, is refused.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING

import gast

from srcgrad.infer.heap import Contents, Site
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import NEVER, Array, At, Bound, Exact, Of, Value, are_of, at, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import END, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    If,
    Loop,
    Raise,
    Statement,
    operands_of,
    parts_of,
    placed_parts,
    walk,
)
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models import KINDS
from srcgrad.language.models.ranks import MOMENTS
from srcgrad.rules.table import lookup
from srcgrad.specialise.chaining import CHAINING, of_several
from srcgrad.specialise.changing import may_change
from srcgrad.specialise.ended import is_endless
from srcgrad.specialise.generators import is_number
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.places import Kept, builtin_of, each, of_others, over
from srcgrad.specialise.resized import is_resized
from srcgrad.specialise.rows import columns, items_value
from srcgrad.specialise.stepping import generator_of, stepwise

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: Functions that take all items at once; a list of them serves as well.
_CONSUMING = (list, tuple, sum, min, max, sorted, set, frozenset, dict, math.fsum, math.prod, *MOMENTS)
#: What makes an iterator of others.
_MAKING = (enumerate, zip, reversed)


#: The operations that may make an iterator, or ask one.
ITERATED = (
    ir.Call, ir.Compare, ir.Copy, ir.Extend, ir.Iterate, ir.Next, ir.ReadCell, ir.Unpack, ir.WriteCell
)  # fmt: skip


def iterated(
    made: Reduced, statement: Assign, block: Block, reduce: Callable[[Block], Block]
) -> list[Statement] | None:
    """What a statement does that makes an iterator, or asks one; None of any other."""
    operation = with_operands(statement.operation, made.known.get)
    match operation:
        case ir.Copy(source=source) | ir.Iterate(source=source) if source in made.kept:
            made.kept[statement.targets[0]] = made.kept[source]
            return []
        case ir.Iterate(source=source) if (
            _is_asked_by_steps(made, block, statement.targets[0]) or _is_begun_before(made, statement, block)
        ) and (
            begun := over(made, source, statement.node)
        ):
            made.kept[statement.targets[0]] = begun[1]
            return begun[0]
        case ir.Iterate(source=source) if is_resized(made, block, statement.targets[0], (source,)):
            begun = over(made, source, statement.node)
            if begun is None:
                made.refuse("E0402", statement.node, "a loop over a container that changes its length")
            made.kept[statement.targets[0]] = begun[1]
            return begun[0]
        case ir.WriteCell(cell=cell, value=value) if value in made.kept and (
            _is_bound_once(made, cell) and _is_new(statement, block)
        ):
            made.held[cell] = made.kept[value]
            return []
        case ir.ReadCell(cell=cell) if (here := made.frame.cells.get(cell, cell)) in made.held:
            made.kept[statement.targets[0]] = made.held[here]
            return []
        case ir.Next(iterator=iterator) if iterator in made.kept:
            statements, more = made.kept[iterator].asked(statement.node)
            made.asked[statement.targets[0]] = made.kept[iterator], more
            return statements
        case ir.Compare(left=left, right=Literal(value=end)) if end is END and left in made.asked:
            made.endings[statement.targets[0]] = left
            return []
        case ir.Unpack(source=source, count=count, star=star) if source in made.kept:
            listed = _rest(made, made.kept[source], statement.node)
            return [*listed[0], replace(statement, operation=ir.Unpack(listed[1], count, star))]
        case ir.Extend(source=source) if source in made.kept:
            listed = _rest(made, made.kept[source], statement.node)
            return [*listed[0], replace(statement, operation=replace(operation, source=listed[1]))]
        case ir.Unpack(source=source, count=count, star=star) if are_of(made.value(source), *_MAKING):
            items = [made.value(target) for place, target in enumerate(statement.targets) if place != star]
            taken = made.version("t", items_value(made, list, union(*items), statement.node))
            first = Assign((taken,), ir.Call(builtin_of(list), (source,)), statement.node)
            return [first, replace(statement, operation=ir.Unpack(taken, count, star))]
        case ir.Call(star=star) if star is not None and _is_read_again(made, block, statement.targets[0]) and (
            begun := columns(made, operation, statement.node)
        ):
            made.kept[statement.targets[0]] = begun[1]
            return begun[0]
        case ir.Call(star=None, rest=None):
            return _called(made, statement, operation, block, reduce)
    return None


def _called(
    made: Reduced, statement: Assign, call: ir.Call, block: Block, reduce: Callable[[Block], Block]
) -> list[Statement] | None:
    function, given = static_of(made.value(call.function)), call.positional
    (target,), node = statement.targets, statement.node
    if function in _MAKING:
        block = _home(made, target, block)
    if target in made.frame.searched:  # one over what carries no derivative is made, and asked
        return None
    if function is next and given and given[0] in made.kept and len(given) <= 2 and not call.keywords:
        return _next(made, statement, made.kept[given[0]], given[1:])
    if function is next and len(given) == 1 and statement in made.steps and not is_endless(made.value(given[0])):
        made.refuse("E0414", node, "next() in a generator, of an iterator that may be any,")
    if function is iter and len(given) == 1:
        found = ([], made.kept[given[0]]) if given[0] in made.kept else over(made, given[0], node)
    elif function in CHAINING and generator_of(made, made.value(target)) is not None:
        found = of_several(made, function, call, node)
    elif function in (any, all) and len(given) == 1 and given[0] in made.kept:
        return _decided(made, statement, made.kept[given[0]], is_any=function is any)
    elif (base := _extended(made, call)) is not None and len(given) == 1 and given[0] in made.kept:
        return _put_into(made, statement, base, made.kept[given[0]])
    elif generator_of(made, made.value(target)) is not None:
        if made.called.get(statement):  # of a model, which makes it
            if not _is_unpacked(block, target):
                made.stepped.add(statement)
            return None
        at_once, is_soon = _is_at_once(made, statement, block), _is_asked_soon(made, statement, block)
        found = stepwise(made, statement, call, reduce, at_once=at_once, is_soon=is_soon)
    elif not given or function is None:
        return None
    elif function in _CONSUMING and given[0] in made.kept and not call.keywords:
        kept = made.kept[given[0]]
        is_other = function not in (list, tuple) and kept.item != NEVER and not is_number(kept.item)
        if is_other and (kept.runs or not _is_of_numbers(kept.item)):
            # What is added as it comes may change before the next one is asked for.
            return _summed(made, statement, call, kept) if function is sum and _is_of_numbers(kept.item) else None
        statements, listed = _rest(made, kept, node)
        return [*statements, replace(statement, operation=replace(call, positional=(listed, *given[1:])))]
    elif function in _MAKING and (
        any(one in made.kept for one in given) or _is_read_again(made, block, target)
        or is_resized(made, block, target, given)
    ):  # fmt: skip
        found = of_others(made, function, call, node)
    else:
        return None
    if found is None:
        return None
    made.kept[target] = found[1]
    return found[0]


def _home(made: Reduced, version: Version, block: Block) -> Block:
    """The block that reads a version: another one where the call is reduced by itself, as its star was taken apart."""
    if not any(version in operands_of(part) for part in parts_of(block)):
        for around, statement in walk(made.frame.function.body):
            if isinstance(statement, Assign) and version in operands_of(statement.operation):
                return around
    return block


def _is_asked_by_steps(made: Reduced, block: Block, version: Version) -> bool:
    """Whether an iterator is that of a generator expression that is asked for items one by one: by ``next``, by another
    iterator, by a function of the user's, or by a name that holds it."""
    for _ in range(2):
        readers = [s for s in block.statements if isinstance(s, Assign) and version in operands_of(s.operation)]
        if made.uses[version] != 1 or len(readers) != 1:
            return False
        reader, (version, *_) = readers[0].operation, readers[0].targets or (version,)
        if isinstance(reader, ir.Copy):
            return True
        if not isinstance(reader, ir.Call):
            return False
        called = static_of(made.value(reader.function))
        if called is next or called in _MAKING:
            return True
        if called is functools.reduce and reader.positional:
            return lookup(static_of(made.value(reader.positional[0]))) is None
        body = generator_of(made, made.value(version))
        if body is None or not isinstance(body.function.node, gast.GeneratorExp):
            return body is not None or isinstance(called, FunctionType) and not is_of_library(called)
        if body.function.cells:  # another function in it shares its variables
            return True
    return False


def _is_begun_before(made: Reduced, statement: Assign, block: Block) -> bool:
    """Whether something is changed between the statement that makes an iterator, over what is read
    there, and the function that asks it."""
    (version,), place = statement.targets, block.statements.index(statement)
    (source,) = operands_of(statement.operation)
    if not isinstance(made.origins.get(source), ir.GetItem | ir.GetAttribute):  # others are read by their name
        return False
    between = list[Assign]()
    for other in block.statements[place + 1 :]:
        if not isinstance(other, Assign):
            return False
        if version not in operands_of(other.operation):
            between.append(other)
            continue
        body = generator_of(made, made.value(other.targets[0])) if other.targets else None
        if made.uses[version] != 1 or body is None or not isinstance(body.function.node, gast.GeneratorExp):
            return made.uses[version] == 1 and any(may_change(made, each) for each in between)
        version = other.targets[0]
    return False


def _is_of_numbers(value: Value) -> bool:
    """Whether a value consists of numbers, arrays and data, whose operators run no code of the user's."""
    return value.consists_of(
        lambda a: isinstance(a, Array | Of | Exact) or isinstance(a, At) and a.site.kind is None
    )


def _is_unpacked(block: Block, version: Version) -> bool:
    readers = [part for part in parts_of(block) if version in operands_of(part)]
    return len(readers) == 1 and isinstance(readers[0], ir.Unpack)


def _is_at_once(made: Reduced, statement: Assign, block: Block) -> bool:
    """Whether one loop, or one function, goes over an iterator as soon as it is made."""
    place = block.statements.index(statement) + 1
    following = block.statements[place : place + 2]
    readers = [part for part in parts_of(block) if statement.targets[0] in operands_of(part)]
    match following:
        case (Assign(operation=ir.Iterate(source=source)), Loop()) if source is statement.targets[0]:
            return len(readers) == 1
        case (Assign(operation=ir.Call(function=function, positional=(source, *_))), *_):
            is_asked = static_of(made.value(function)) in (next, *_CONSUMING)
            return is_asked and source is statement.targets[0] and len(readers) == 1
    return False


def _is_asked_soon(made: Reduced, statement: Assign, block: Block) -> bool:
    """Whether nothing changes between the statement that makes an iterator and the loop or function that asks it, by
    others around it."""
    asked: Operand = statement.targets[0]
    for other in block.statements[block.statements.index(statement) + 1 :]:
        if isinstance(other, Loop):
            nexts = [s.operation for s in other.body.statements if isinstance(s, Assign)]
            return any(isinstance(one, ir.Next) and one.iterator is asked for one in nexts)
        if not isinstance(other, Assign):
            return False
        called = static_of(made.value(other.operation.function)) if isinstance(other.operation, ir.Call) else None
        is_making = called in _MAKING or any(generator_of(made, made.value(target)) for target in other.targets)
        if asked not in operands_of(other.operation):
            if not is_making and may_change(made, other):
                return False
        elif isinstance(other.operation, ir.Unpack | ir.Extend) or called in (next, any, all, *_CONSUMING):
            return True
        elif is_making or isinstance(other.operation, ir.Iterate):
            (asked,) = other.targets
        else:
            return False
    return False


def _is_bound_once(made: Reduced, cell: ir.Cell) -> bool:
    """Whether one statement alone binds a variable, which no function inside shares."""
    bindings = 0
    for _, statement in walk(made.frame.function.body):
        match getattr(statement, "operation", None):
            case ir.WriteCell(cell=other) | ir.DeleteCell(cell=other):
                bindings += made.frame.cells.get(other, other) is cell
            case ir.MakeFunction(function=inner) if any(made.frame.cells.get(c, c) is cell for c in inner.free):
                return False
    return bindings == 1


def _is_new(statement: Assign, block: Block) -> bool:
    """Whether a variable is bound as soon as what it holds is made: it is never that of another round of a loop."""
    value = operands_of(statement.operation)[0]
    for before in reversed(block.statements[: block.statements.index(statement)]):
        if not isinstance(before, Assign) or not isinstance(before.operation, ir.WriteCell | ir.Copy):
            return value in getattr(before, "targets", ())
        if value in before.targets:
            value = operands_of(before.operation)[0]
    return False


def hands_iterators(made: Reduced, statement: Assign, call: ir.Call) -> bool:
    """Whether a function is given an iterator that is kept, or is the model of what makes one."""
    given = (*call.positional, *(operand for _, operand in call.keywords))
    return statement in made.stepped or any(operand in made.kept or operand in made.views for operand in given)


def _is_read_again(made: Reduced, block: Block, version: Version) -> bool:
    """Whether an iterator is more than what one loop, or one function, goes over."""
    readers = [part for part in parts_of(block) if version in operands_of(part)]
    if len(readers) != 1 or isinstance(readers[0], ir.Copy | ir.WriteCell | ir.Next):
        return True
    begun = [s for s in block.statements if isinstance(s, Assign) and s.operation is readers[0]]
    if isinstance(readers[0], ir.Iterate) and begun and _is_asked_by_steps(made, block, begun[0].targets[0]):
        return True
    function = static_of(made.value(readers[0].function)) if isinstance(readers[0], ir.Call) else None
    is_users = isinstance(function, FunctionType) and lookup(function) is None
    return is_users or function in (iter, next, *KINDS.values())


def turned(made: Reduced, statement: If, reduce: Callable[[Block], Block]) -> list[Statement]:
    """A test whether an iterator is at its end, as one whether there is an item."""
    left = made.endings[statement.test]
    kept, more = made.asked[left]
    assert isinstance(left, Version)
    taken, ended = kept.taken(statement.node, left), kept.ended(statement.node)
    over, going = reduce(statement.body), reduce(statement.orelse)
    body, orelse = Block((*taken, *going.statements), going.exit), Block((*ended, *over.statements), over.exit)
    return [replace(statement, test=more, body=body, orelse=orelse)]


def refuse_others(made: Reduced, body: Block) -> None:
    """Refuse what still reads an iterator that is not made, and a generator that stores where its text is not seen."""
    for _, statement in walk(body):
        for target in statement.targets if isinstance(statement, Assign) else ():
            call = getattr(statement, "operation", None)
            running = generator_of(made, made.value(target)) if isinstance(call, ir.Call) else None
            if running is not None and running.changes:
                made.refuse_at("E0403", "a generator that stores into something", statement.node)
    for part, node in placed_parts(body) if made.views or made.kept or made.endings else ():
        if any(operand in made.views for operand in operands_of(part)):
            made.refuse_at("E0404", "this use of a view of a dict", node)
        for operand in operands_of(part):
            running = generator_of(made, made.value(operand))
            if operand in made.kept and running is not None and isinstance(running.function.node, gast.GeneratorExp):
                made.refuse_at("E0103", "this use of a generator expression", node)
            if operand in made.kept or operand in made.endings:
                made.refuse_at("E0403", "this use of an iterator", node)


# --- what asks them --------------------------------------------------------------------------------------------------
def _next(made: Reduced, statement: Assign, kept: Kept, default: Sequence[Operand]) -> list[Statement]:
    (target,), node = statement.targets, statement.node
    statements, more = kept.asked(node)
    if default:
        item = made.version("t", kept.item)
        body = Block(tuple(kept.taken(node, item)), Fall((item,)))
        orelse = Block(tuple(kept.ended(node)), Fall((default[0],)))
        return [*statements, If((target,), more, body, orelse, node)]
    kind: type[Exception] = StopIteration
    said: tuple[Operand, ...] = ()
    if statement in made.steps:  # which Python does not let out of a generator
        kind, said = RuntimeError, (Literal("generator raised StopIteration"),)
    error = made.version("t", of(kind))
    raised = Assign((error,), ir.Call(builtin_of(kind), said), node)
    stop = Block((*kept.ended(node), raised), Raise(error, None, node))
    return [*statements, If((), more, Block((), Fall()), stop, node), *kept.taken(node, target)]


def _decided(made: Reduced, statement: Assign, kept: Kept, *, is_any: bool) -> list[Statement]:
    """``any`` and ``all``, which ask for no item behind the one that decides."""
    node, decided = statement.node, made.new_cell("found")
    item, test = made.version("t", kept.item), made.version("t", of(bool))

    def put() -> list[Statement]:
        leave = Block((Assign((), ir.WriteCell(decided, Literal(is_any)), node),), Break())
        on = Block((), Continue())
        sides = (leave, on) if is_any else (on, leave)
        return [Assign((test,), ir.Operator("bool", (item,)), node), If((), test, *sides, node)]

    loop = each(made, kept, item, put(), node, is_over=False)
    first = Assign((), ir.WriteCell(decided, Literal(not is_any)), node)
    return [first, loop, replace(statement, operation=ir.ReadCell(decided))]


def _summed(made: Reduced, statement: Assign, call: ir.Call, kept: Kept) -> list[Statement] | None:
    """``sum`` of numbers and arrays, which are added as they come."""
    (target,), node = statement.targets, statement.node
    if len(call.positional) > 2:
        return None
    first = call.positional[1] if len(call.positional) == 2 else Literal(0)
    if not _is_of_numbers(made.value(first)):
        return None
    total, value = made.new_cell("total"), union(made.value(target), made.value(first))
    item, before, after = made.version("t", kept.item), made.version("t", value), made.version("t", value)
    put: list[Statement] = [
        Assign((before,), ir.ReadCell(total), node), Assign((after,), ir.Operator("+", (before, item)), node),
        Assign((), ir.WriteCell(total, after), node),
    ]  # fmt: skip
    loop = each(made, kept, item, put, node, is_over=True)
    return [Assign((), ir.WriteCell(total, first), node), loop, replace(statement, operation=ir.ReadCell(total))]


def _extended(made: Reduced, call: ir.Call) -> Operand | None:
    """The list or deque of a call ``items.extend(...)``, which takes items as they come."""
    looked = made.origins.get(call.function)
    is_method = made.value(call.function).consists_of(
        lambda atom: isinstance(atom, Bound) and atom.name == "extend" and are_of(atom.receiver, list, deque)
    )  # fmt: skip
    base = looked.base if is_method and isinstance(looked, ir.GetAttribute) else None
    return made.known.get(base, base) if base is not None else None


def _put_into(made: Reduced, statement: Assign, base: Operand, kept: Kept) -> list[Statement]:
    node, item = statement.node, made.version("t", kept.item)
    method = made.version("t", Value(frozenset((Bound(made.value(base), "append"),))))
    nothing = made.version("t", exact(None))
    put: list[Statement] = [
        Assign((method,), ir.GetAttribute(base, "append"), node), Assign((nothing,), ir.Call(method, (item,)), node),
    ]  # fmt: skip
    loop = each(made, kept, item, put, node, is_over=True)
    return [loop, replace(statement, operation=ir.Copy(Literal(None)))]


def _rest(made: Reduced, kept: Kept, node: gast.AST) -> tuple[list[Statement], Version]:
    """A list of the items that are left."""
    site = Site(list, (node, made.namer.fresh("items")), made.frame.summaries[0].context)
    made.facts.contents[site] = Contents(single=False, rest=kept.item)
    listed, item = made.version("t", at(site)), made.version("t", kept.item)
    put = Assign((), ir.Insert(listed, item), node)
    whole = each(made, kept, item, [put], node, is_over=True)
    return [Assign((listed,), ir.Make("list"), node), whole], listed
