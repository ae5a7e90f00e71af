"""Pairs of which dicts are made, ``dict(pairs)``: what is first in them, which becomes a key.

Enters: ``Function``.  Leaves: the names of what is first, by the name of what holds the pairs, and the lists that hold
no other pairs than those::

    pairs = [(t, y)]            t, for pairs, which is closed
    fill(pairs)                 t, for pairs, which may hold others
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.references import names_mentioned
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    Bind,
    Copy,
    Exchange,
    Field,
    Fixed,
    For,
    Function,
    Index,
    Pack,
    SetField,
    Statement,
    Store,
    Unpack,
)
from srcgrad.syntax.parse import names_read

Key: TypeAlias = tuple[Statement, str]


@dataclass(frozen=True)
class Pairs:
    """Where the first of pairs are named, by the name of what holds the pairs, and the lists that hold no others, found
    when they are asked for: few programs make dicts of pairs."""

    function: Function

    @cached_property
    def firsts(self) -> Mapping[str, list[Key]]:
        return _firsts(self.function)

    @cached_property
    def closed(self) -> set[str]:
        return _closed(self.function)


def _firsts(function: Function) -> dict[str, list[Key]]:
    """The names that are first in the pairs that a name may hold, which is a list of such by whatever way it got them:
    what is taken out of a container may hold the pairs that lie anywhere in it."""
    own: dict[str, dict[Key, None]] = {}  # of a display itself; of its items; of all that can be reached
    held, deep = dict[str, dict[Key, None]](), dict[str, dict[Key, None]]()
    steps: list[tuple[Any, Any, str, Iterable[str]]] = []  # from one table to another, for a name and its parts
    for statement in walk(function.body):
        match statement:
            case Bind(target=target, operation=Pack(kind=kind, elements=elements)):
                keys = elements[: kind != "dict"]
                firsts: dict[Key, None] = {(statement, name): None for key in keys for name in names_read(key)}
                own.setdefault(target, {}).update(firsts)
                deep.setdefault(target, {}).update(firsts)
                parts = [name for element in elements for name in atoms(element)]
                steps += [(own, held, target, parts), (deep, deep, target, parts)]
            case Append(sequence=name, value=value) | Store(base=name, value=value) | SetField(base=name, value=value):
                steps += [(own, held, name, names_read(value)), (deep, deep, name, names_read(value))]
            case Bind(target=target, operation=Index(base=base) | Field(base=base) | Exchange(base=base)):
                steps += [(held, own, target, [base]), (deep, held, target, [base]), (deep, deep, target, [base])]
                steps.append((deep, deep, base, [target]))  # what is put into an item later
            case Unpack(targets=targets, source=source):
                taken = ((held, own), (deep, held), (deep, deep))
                steps += [(*tables, target, [source]) for target in targets for tables in taken]
            case For(counted=False, index=index, iterable=iterable):
                through = names_read(iterable)
                steps += [(held, own, index, through), (deep, held, index, through), (deep, deep, index, through)]
            case Bind(target=target, expression=expression):
                same = names_read(expression)
                steps += [(table, table, target, same) for table in (own, held, deep)]
                # It may be the same object, into which something is put later.
                steps += [(table, table, name, [target]) for name in same for table in (held, deep)]
    size = -1
    while size != (size := sum(len(firsts) for table in (own, held, deep) for firsts in table.values())):
        for source, into, name, read in steps:
            into.setdefault(name, {}).update({first: None for part in read for first in source.get(part, ())})
    return {name: list(firsts) for name, firsts in held.items()}


def _closed(function: Function) -> set[str]:
    """The names of lists into which nothing comes but tuples that are displayed here: what else may put something in,
    or change a pair, is looked at when it runs."""
    statements, every = list(walk(function.body)), set[str]()
    for statement in statements:
        every.update(bound_here(statement))
    pairs, lists = every - {*function.parameters}, every - {*function.parameters}
    size = -1
    while size != (size := len(pairs) + len(lists)):
        for statement in statements:
            match statement:
                case Bind(target=target, operation=Pack(kind="tuple", elements=elements)):
                    lists -= {target, *(name for element in elements for name in atoms(element))}
                case Bind(target=target, operation=Pack(kind="list", elements=elements)):
                    given = [atoms(element) for element in elements]
                    lists -= {name for names in given for name in names}
                    pairs.discard(target)
                    if not all(names and pairs.issuperset(names) for names in given):
                        lists.discard(target)
                case Bind(target=target, operation=Copy(source=source)):
                    for names in (pairs, lists):
                        if not names.issuperset((target, source)):
                            names -= {target, source}
                case Bind(target=target, operation=Index(base=base)):
                    lists.discard(target)
                    if base not in lists:
                        pairs.discard(target)
                case Bind(target=target, operation=Apply(function=called)) if called is runtime.from_pairs:
                    pairs.discard(target)
                    lists.discard(target)
                case Bind(target=target, operation=Fixed()):  # which asks how many there are
                    pairs.discard(target)
                    lists.discard(target)
                case Append(sequence=name, value=value):
                    lists -= {*atoms(value)}
                    if not atoms(value) or not pairs.issuperset(atoms(value)):
                        lists.discard(name)
                case For():
                    pairs -= {*bound_here(statement)}
                    lists -= {*bound_here(statement)}
                case _:
                    gone = {*bound_here(statement), *names_mentioned(statement)}
                    pairs -= gone
                    lists -= gone
    return lists
