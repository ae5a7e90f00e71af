"""Which functions and classes are read while a program is compiled: what its guards are made of.

Enters: a function with the tree of its text, a class, a value that is compiled in.  Leaves: a ``Journal``.  The
compiler writes it and reads nothing from it but results that were computed in the same compile (``remembered``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import gast

from srcgrad.syntax.parse import walk

A = TypeVar("A")
R = TypeVar("R")


class Names(NamedTuple):
    """What a text may name: variables, attributes, modules that it imports (each with the level of the import)."""

    variables: frozenset[str]
    attributes: frozenset[str]
    modules: frozenset[tuple[str, int]]


_NO_TEXT = Names(frozenset(), frozenset(), frozenset())


@dataclass(eq=False)
class Journal:
    """The functions whose text was read, the classes that were looked into, values that were compiled in, and names
    that were looked up though no text spells them."""

    #: What a program may depend on of a value that it reads from outside.
    describe: Callable[[Any], object]
    functions: dict[FunctionType, Names] = field(default_factory=dict)
    #: A digest of the text of the file of each; None where the function is not what its file says.
    texts: dict[FunctionType, str | None] = field(default_factory=dict)
    classes: dict[int, type] = field(default_factory=dict)
    compiled_in: dict[tuple[int, str], tuple[Mapping[str, object], str]] = field(default_factory=dict)
    reads: dict[tuple[int, str], tuple[Mapping[str, object], str]] = field(default_factory=dict)
    results: dict[tuple[object, int], tuple[object, Any]] = field(default_factory=dict)


_present: ContextVar[Journal | None] = ContextVar("srcgrad_journal", default=None)


@contextmanager
def writing(journal: Journal) -> Iterator[Journal]:
    token = _present.set(journal)
    try:
        yield journal
    finally:
        _present.reset(token)


def note_function(function: FunctionType, node: gast.AST, text: str | None = None) -> None:
    journal = _present.get()
    if journal is not None and journal.functions.get(function, _NO_TEXT) is _NO_TEXT:
        journal.functions[function] = _names(node)
        journal.texts[function] = text


def note_parameters(function: FunctionType) -> None:
    """What a function tells of its parameters was read, and none of its text."""
    journal = _present.get()
    if journal is not None:
        journal.functions.setdefault(function, _NO_TEXT)
    for name in ("__wrapped__", "__signature__"):
        note_compiled_in(vars(function), name)


def note_class(kind: type) -> None:
    journal = _present.get()
    if journal is not None:
        journal.classes.setdefault(id(kind), kind)


def note_compiled_in(namespace: Mapping[str, object], name: str) -> None:
    """The value of a name is a part of the program: another one, even of the same type, needs another program."""
    journal = _present.get()
    if journal is not None:
        journal.compiled_in[id(namespace), name] = namespace, name


def note_read(namespace: Mapping[str, object], name: str) -> None:
    """What a name means was looked up, however it is spelled: ``getattr(module, "name")``."""
    journal = _present.get()
    if journal is not None:
        journal.reads[id(namespace), name] = namespace, name


def remembered(function: Callable[[A], R]) -> Callable[[A], R]:
    """Compute the result for one object once per compile: classes and functions may have changed at the next one."""

    @wraps(function)
    def once(argument: A) -> R:
        journal = _present.get()
        if journal is None:
            return function(argument)
        key = (function, id(argument))
        if key not in journal.results:
            journal.results[key] = argument, function(argument)  # which keeps the argument, and with it its number
        made: R = journal.results[key][1]
        return made

    return once


def _names(node: gast.AST) -> Names:
    variables: set[str] = set()
    attributes: set[str] = set()
    modules: set[tuple[str, int]] = set()
    for inner in walk(node):
        match inner:
            case gast.Name(id=name):
                variables.add(name)
            case gast.Attribute(attr=name):
                attributes.add(name)
            case gast.Import(names=aliases):
                modules.update((alias.name, 0) for alias in aliases)
            case gast.ImportFrom(module=module, names=aliases, level=level):
                modules.add((module or "", level or 0))
                attributes.update(alias.name for alias in aliases)
    return Names(frozenset(variables), frozenset(attributes), frozenset(modules))
