"""Access paths: where in a value a loss lies, by constant keys and names of fields, and the names that share it.

Enters: ``Function``.  Leaves: ``Link``s, which say that a statement makes one name an item of another, and for the
other statements the names that may share memory (``others_related``).  A path is a tuple of keys that ends in the kind
of loss; that alone is the value itself::

    log["msg"].append(t)        log: ("msg", ANY, TEXT)     the item under "msg" has t among its items
    log["val"][0]               under "val" lies nothing
    d[k] = 1.0                  d: (KEYS, NUMBER)           among the keys of d
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import gast

from srcgrad.analysis.cfg import walk
from srcgrad.analysis.memory import Solver
from srcgrad.analysis.summaries import Summary
from srcgrad.ir.normal_form import (
    Append,
    Bind,
    Callee,
    Copy,
    Exchange,
    Field,
    Function,
    Index,
    Pack,
    SetField,
    Statement,
    Store,
    Unpack,
)
from srcgrad.rules.facts import Fact

Path = tuple[Any, ...]
SummaryOf = Callable[[Callee, tuple[Fact, ...]], Summary]
Paths = frozenset[Path]


class Loss(Enum):
    """What lies at the end of a path."""

    VARIED = "what varies, with its derivative"
    TEXT = "text of what varies"
    NUMBER = "a number that varies, without its derivative"
    KEPT = "such a number, in what a callee or an array that made it of text or keys has put it into"
    UNSURE = "such a number, unless it turns out to be text or an integer"


class Step(Enum):
    ANY = "any key"
    DEEP = "any keys, one or more"
    KEYS = "among the keys of a dict, where no key leads to"
    SAME = "the value itself"


VARIED, TEXT, NUMBER, KEPT, UNSURE = Loss
ANY, DEEP, KEYS, SAME = Step
NOWHERE: Paths = frozenset()
_LONGEST = 4  # so many keys are told apart, what lies deeper is somewhere there


def spread(paths: Iterable[Path]) -> Paths:
    """Everywhere in a value, what lies at the end of these paths; what is a key stays one."""
    ends = {(KEYS, path[-1]) if KEYS in path else (path[-1],) for path in paths}
    return frozenset(path for end in ends for path in (end, (DEEP, *end)))


def under(key: object, paths: Iterable[Path]) -> Paths:
    """The paths into a container that has, under a key, an item with such paths."""
    if key is SAME:
        return frozenset(paths)
    return frozenset(map(_cut, ((key, *path) for path in paths)))


def _cut(path: Path) -> Path:
    if len(path) <= _LONGEST + 1:
        return path
    return (*path[: _LONGEST - 1], DEEP, *((KEYS,) if KEYS in path else ()), path[-1])


def inside(paths: Paths, key: object) -> Paths:
    """The paths into the item that a container with such paths has under a key; an item of text is text."""
    if key is SAME:
        return paths
    found: set[Path] = set()
    for path in paths:
        if len(path) == 1:
            found.add(path)
        elif path[0] is DEEP:
            found |= {path, path[1:]}
        elif path[0] is not KEYS and (path[0] in (ANY, key) or key is ANY):
            found.add(path[1:])
    return frozenset(found)


def keys_in(paths: Paths) -> Paths:
    """The paths into any one of the keys of a dict with such paths."""
    return frozenset(path[-1:] for path in paths if len(path) == 1 or path[0] is KEYS)


def items_in(paths: Paths) -> Paths:
    """The paths into whatever a loop over a container with such paths meets."""
    return inside(paths, ANY) | keys_in(paths)


def some_in(paths: Paths) -> Paths:
    """The paths into some of the items of what has such paths, or into one of them."""
    return inside(paths, ANY) | under(ANY, inside(within(paths), ANY))


def within(paths: Iterable[Path]) -> Paths:
    """The paths that lead into a container, which is the same by whatever name it is reached."""
    return frozenset(path for path in paths if len(path) > 1)


def key_of(index: gast.expr, places: bool = True) -> object:
    """The key that an index is, if it is sure to lead to one item alone; ``places``: whole numbers may be such."""
    match index:
        case gast.Constant(value=str() as key):
            return key
        case gast.Constant(value=int() as key) if places and key >= 0:
            return key
    return ANY


@dataclass(frozen=True)
class Link:
    """``container[key]`` is ``part``; it is read there, or put there."""

    container: str
    key: object
    part: str
    put: bool = False


def links(statement: Statement) -> list[Link]:
    """What a statement makes an item of what, or takes out of what."""
    match statement:
        case Bind(target=target, operation=Copy(source=source)):
            return [Link(source, SAME, target)]
        case Bind(target=target, operation=Field(base=base, name=name)):
            return [Link(base, ANY if name.startswith("__") else name, target)]
        case Bind(target=target, operation=Index(base=base, index=index)) if not _selects_many(index):
            return [Link(base, key_of(index), target)]
        case Bind(target=target, operation=Pack(kind=kind, elements=elements, keys=keys, of=of)):
            if kind in ("dict", "object"):
                steps = [key_of(key) for key in keys]
            else:
                steps = [j if kind == "tuple" and of is None else ANY for j in range(len(elements))]
            if len(steps) == len(elements) and all(isinstance(e, gast.Name | gast.Constant) for e in elements):
                pairs = zip(steps, elements, strict=True)
                return [Link(target, key, e.id, put=True) for key, e in pairs if isinstance(e, gast.Name)]
        case Bind(target=target, operation=Exchange(base=base, method="get" | "pop" | "setdefault", arguments=given)):
            key = key_of(given[0], places=False) if given else ANY
            return [
                Link(base, key, target),
                *(Link(base, key, e.id, put=True) for e in given[1:] if isinstance(e, gast.Name)),
            ]
        case Store(base=base, index=index, value=gast.Name(id=part)) if not _selects_many(index):
            return [Link(base, key_of(index, places=False), part, put=True)]
        case SetField(base=base, name=name, value=gast.Name(id=part)):
            return [Link(base, name, part, put=True)]
        case Append(sequence=base, value=gast.Name(id=part)):
            return [Link(base, ANY, part, put=True)]
        case Unpack(targets=targets, source=source, star=None):
            return [Link(source, j, name) for j, name in enumerate(targets)]
    return []


def _selects_many(index: gast.expr) -> bool:
    return isinstance(index, gast.Slice | gast.Tuple)


def others_related(
    function: Function, facts: Mapping[str, Fact], summary_of: SummaryOf, apart: Callable[[Statement], bool]
) -> Callable[[str], frozenset[str]]:
    """For a name all other names that may share memory with it by statements that ``links`` says nothing of, and that
    do not keep what they bind ``apart``."""
    solver = Solver(function, facts, summary_of)
    for statement in walk(function.body):
        if not (links(statement) or apart(statement)):
            solver.flow(statement)
    classes: dict[str, set[str]] = {}
    for name in solver.names:
        classes.setdefault(solver.find(name), set()).add(name)
    return lambda name: frozenset(classes.get(solver.find(name), ())) - {name}
