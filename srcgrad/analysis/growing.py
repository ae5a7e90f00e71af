"""Lists that one name alone fills: their adjoint can be a list of that name in the reverse sweep, bound like a number.

Enters: ``Function``.  Leaves: the names of the sequences that are appended to (in our own output also popped from) and
of which nobody else can see that they grow: made by a display, no parameter, read by index while they grow, handed on
or read as a whole only when they are complete (in our own output: not handed on, or asked for their length, before they
change)::

    rows = []
    for i in range(n):
        rows.append(np.sin(x[i]))
    return np.stack(rows)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import gast

from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.cfg import blocks_of, bound_here, kept_with_function, stores_of, walk
from srcgrad.analysis.references import names_mentioned
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    Bind,
    Block,
    Call,
    Copy,
    Exchange,
    Field,
    For,
    Function,
    If,
    Index,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    While,
)
from srcgrad.rules.memory import MIRRORS
from srcgrad.syntax.parse import names_read

Whole = dict[int, frozenset[str]]  # by the identity of a statement: what it reads as a whole


@kept_with_function
def grown_alone(function: Function) -> frozenset[str]:
    """The sequences whose growth is nobody else's concern."""
    statements = list(walk(function.body))
    grown = {s.sequence for s in statements if isinstance(s, Append | Pop)}
    if not grown:
        return frozenset()
    # A deque may drop what it held first.
    grown -= {s.target for s in statements if isinstance(s, Bind) and _makes_queue(s)}
    whole = {id(statement): _read_whole(statement) for statement in statements}
    if function.generated:
        return frozenset(grown - _shared_tapes(function, statements, whole))
    grown -= set(function.parameters)
    for statement in statements:
        grown -= _exposed(statement)
    return frozenset(name for name in grown if _is_complete_when_read(function.body, name, whole))


@kept_with_function
def only_popped(function: Function) -> frozenset[str]:
    """The lists that are appended tuples to and popped tuples of the same length from, and read in no other way: what
    is popped at one place was appended there."""
    widths: dict[str, set[int]] = {}
    others = set(function.parameters)
    for statement in walk(function.body):
        match statement:
            case Bind(target=target, operation=Pack(kind="list", elements=())):
                widths.setdefault(target, set())
            case Append(sequence=sequence, value=gast.Tuple(elts=elements) as value):
                widths.setdefault(sequence, set()).add(len(elements))
                others.update(names_read(value))
            case Pop(sequence=sequence, targets=targets, tupled=True):
                widths.setdefault(sequence, set()).add(len(targets))
                others.update(targets)
            case _:
                others.update(names_mentioned(statement))
    return frozenset(name for name, found in widths.items() if name not in others and len(found) == 1)


def _makes_queue(statement: Bind) -> bool:
    made = statement.operation
    return isinstance(made, Apply) and made.function is deque


def _shared_tapes(function: Function, statements: list[Statement], whole: Whole) -> set[str]:
    """In our own output tapes travel in tuples; what else has two names came from a user's list that has two names."""
    grown = {s.sequence for s in statements if isinstance(s, Append | Pop)}
    appended = {s.sequence for s in statements if isinstance(s, Append)}
    found = grown & set(function.parameters)
    for statement in statements:
        match statement:
            case Bind(target=target, operation=Index() | Field() | Copy() | Call() | Exchange()) if target in grown:
                found.add(target)  # a list that lies in a container, has two names, or was made elsewhere
            case Bind(target=target, operation=Apply(function=called)) if target in appended and called in MIRRORS:
                found.add(target)  # the shadow of such a list
            case Unpack(targets=targets) | Pop(targets=targets):
                found |= appended.intersection(targets)  # what is on a tape is only taken from
    found |= _seen_before_they_change(function.body, grown - found, whole)
    if not any(set(stores_of(s)) and not isinstance(s, Append | Pop | AddAt) for s in statements):
        return found
    for statement in statements:
        match statement:
            case Bind(target=target, operation=Copy(source=source)):
                found |= {target, source}
            case SetField(value=value) | Store(value=value):
                found.update(atoms(value))
            case Bind(operation=Exchange(base=base)):
                found |= {base, *inputs(statement)}
    return found


def _seen_before_they_change(body: Block, names: set[str], whole: Whole) -> set[str]:
    """The lists that are read as a whole, or handed on, and grow or shrink after that: an answer would be another one
    then, an adjoint has as many entries as the list had, and who holds the list sees it change."""
    changed: set[str] = set()

    def after(block: Block, before: set[str]) -> set[str]:
        """The lists that may have been seen behind a block, of which these may have been seen ``before`` it."""
        seen = set(before)
        for statement in block.statements:
            if isinstance(statement, Append | Pop) and statement.sequence in seen:
                changed.add(statement.sequence)
            seen |= whole[id(statement)] & names
            if isinstance(statement, Bind):
                seen.discard(statement.target)
            for _ in range(2 if isinstance(statement, For | While) else 1):  # a pass sees what those before it saw
                count = len(seen)
                for inner in blocks_of(statement):
                    seen |= after(inner, seen)
                if len(seen) == count:
                    break
        return seen

    after(body, set())
    return changed


def _exposed(statement: Statement) -> set[str]:
    """The names that a statement binds to a sequence which it did not make, or changes in a way of its own."""
    match statement:
        case Append(sequence=sequence, value=value) if sequence in names_read(value):
            return {sequence}  # it holds itself
        case Append() | Bind(operation=Pack(kind="list")):
            return set()
        case Pop(sequence=sequence, targets=targets):
            return {sequence, *targets}
    return {*bound_here(statement), *stores_of(statement)}


def _is_complete_when_read(body: Block, name: str, whole: Whole) -> bool:
    """Whether no element is appended after the list was read as a whole."""
    while True:
        # Into the innermost block that has all there is to see of the list.
        mentions = [s for s in body.statements if any(_mentions(inner, name, whole) for inner in _with_inner(s))]
        if len(mentions) != 1 or not blocks_of(mentions[0]):
            break
        inside = [b for b in blocks_of(mentions[0]) if any(_mentions(s, name, whole) for s in walk(b))]
        if len(inside) != 1:
            break
        body = inside[0]
    if not mentions or not isinstance(mentions[0], Bind) or mentions[0].target != name:
        return False
    seen = False
    for statement in mentions:
        parts = list(_with_inner(statement))
        appends = any(isinstance(s, Append) and s.sequence == name for s in parts)
        reads = any(name in whole[id(s)] for s in parts)
        if appends and (seen or (reads and isinstance(statement, For | While))):
            return False
        if appends and reads and not _in_order(parts, name, whole):
            return False
        seen = seen or reads
    return True


def _in_order(parts: list[Statement], name: str, whole: Whole) -> bool:
    """Whether the appends of a branch stand before what reads the list as a whole."""
    seen = False
    for statement in parts:
        if isinstance(statement, Append) and statement.sequence == name and seen:
            return False
        seen = seen or name in whole[id(statement)]
    return True


def _with_inner(statement: Statement) -> Iterator[Statement]:
    yield statement
    for block in blocks_of(statement):
        yield from walk(block)


def _mentions(statement: Statement, name: str, whole: Whole) -> bool:
    return name in whole[id(statement)] or name in (*bound_here(statement), *inputs(statement), *stores_of(statement))


def _read_whole(statement: Statement) -> frozenset[str]:
    """What a statement reads more of than an element: what it computes, or asks, may change as such a list grows."""
    read: list[str]
    match statement:
        case Return() | Pop():
            read = []
        case If(test=test) | While(test=test):
            read = names_read(test)
        case For(iterable=iterable):
            read = names_read(iterable)
        case Bind(operation=Index(base=base, index=index), expression=expression):
            read = [*names_read(index), *(name for name in names_read(expression) if name != base)]
        case Bind(expression=expression):
            read = names_read(expression)
        case Append(value=value):
            read = names_read(value)
        case _:
            read = names_mentioned(statement)  # an index of a store, too
    return frozenset(read)
