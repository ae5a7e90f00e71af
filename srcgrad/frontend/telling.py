"""What is told of a function as a whole: whether it meets objects, what its result is, what it does to lists.

Enters: the normal form of a function, and what is known of its names.  Leaves: answers for those who call it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from srcgrad.frontend.classed import Foreign, Weighted
from srcgrad.frontend.inference import Table
from srcgrad.frontend.known import (
    DEEPEST,
    NEVER,
    NONE,
    PLAIN,
    Again,
    Bag,
    Blurred,
    Closed,
    Data,
    Entries,
    Instance,
    Items,
    Known,
    Never,
    OneOf,
    Own,
    Plain,
    Result,
    Value,
    folded,
    join,
    parts_of,
    text_of,
    without,
)
from srcgrad.frontend.meeting import taken_outside
from srcgrad.frontend.normal_form import Bind, Call, Delete, Exchange, Fixed, Function, Pack, Pop, Return, Unruled
from srcgrad.frontend.puts import ITEMS
from srcgrad.frontend.walking import statements_of


def moves(function: Function) -> tuple[tuple[str, Known], ...]:
    """What a caller is told of a function that meets no objects: whether items of lists may have changed places."""
    for statement in statements_of(function.body):
        changes = isinstance(statement, Pop | Delete) or isinstance(statement, Bind) and isinstance(
            statement.operation, Exchange
        )
        if changes and not function.generated:
            return ((ITEMS, NEVER),)
    return ()


#: What is known of an object, of what may be one, and of what holds some.
_OBJECTS = Instance | Foreign | Blurred | OneOf | Items | Entries


def any_objects(function: Function, table: Table) -> bool:
    """Whether a function makes objects or values of local functions, reads some outside, or may be handed some by its
    callees."""
    bound = [s for s in statements_of(function.body) if isinstance(s, Bind)]
    if any(isinstance(s.operation, Fixed) and isinstance(table.atom(s.expression), _OBJECTS) for s in bound):
        return True
    if any(taken_outside(s.expression) != PLAIN for s in bound):
        return True
    operations = (s.operation for s in bound)
    return any(
        isinstance(made, Call)
        or isinstance(made, Pack) and (made.of is not None or text_of(made) is not None)
        or isinstance(made, Unruled) and isinstance(made.makes, Bag)
        for made in operations
    )


def meets_objects(function: Function) -> bool:
    """Whether a function makes objects, or hands some on."""
    operations = (s.operation for s in statements_of(function.body) if isinstance(s, Bind))
    return any(
        isinstance(made, Call) and (made.callee.classes or made.callee.makes is not None)
        or isinstance(made, Pack) and made.of is not None
        for made in operations
    )


def returns(function: Function, table: Table) -> Known:
    """What is known of the result."""
    made: Known | None = None
    for statement in statements_of(function.body):
        if isinstance(statement, Return):
            known = folded(table.enriched(table.atom(statement.value)))
            made = known if made is None else join(made, known)
    return NONE if made is None else made


def hands_out_functions(result: Known, function: Function) -> bool:
    """Whether local functions leave a function: in its ``result``, or in what it puts into objects and containers."""
    pending: list[Any] = [result, *(known for _, known in function.sets)]
    while pending:
        known = pending.pop()
        if isinstance(known, Closed):
            return True
        pending += parts_of(known)
    return False


def bears_out(known: Known, relied: Known) -> bool:
    """Whether what is known in the end bears out what was relied on: it is that, or tells of more fields of an object,
    which were read as nothing is known of them."""
    match known, relied:
        case Instance(kind=kind), Instance() if kind is relied.kind:
            before, after = dict(relied.fields), dict(known.fields)
            added = [name for name in after if name not in before]
            return all(name in after and after[name] == before[name] for name in before) and all(
                without(kind, name) == NEVER for name in added
            )
    return known == relied


def cut(known: Known, depth: int = DEEPEST) -> Known:
    """The same without what lies deeper, so that a recursion that wraps its argument anew comes to an end."""
    match known:
        case Plain() | Data() | Never() | Again() | Bag() | Foreign() | Weighted() | Value() | Own() | Result():
            return known
        case _ if depth == 0:
            return PLAIN
        case Instance(kind=kind, fields=fields):
            return Instance(kind, tuple((name, cut(item, depth - 1)) for name, item in fields))
        case Items(kind=kind, items=items, item=item):
            parts = None if items is None else tuple(cut(each, depth - 1) for each in items)
            return Items(kind, parts, cut(item, depth - 1))
        case Closed(held=held):
            return replace(known, held=cut(held, depth))
        case Entries(items=entries):
            return Entries(tuple((key, cut(item, depth - 1)) for key, item in entries))
        case OneOf(choices=choices):
            return OneOf(tuple(cut(each, depth) for each in choices))
