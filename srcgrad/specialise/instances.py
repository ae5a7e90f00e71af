"""Kinds of calls: summaries that a function is written once for.

Enters: summaries of one function.  Leaves: an ``Instance``, equal to others whose arguments are of the same classes,
dtypes, ranks and constants, and share and hold the same: where objects were made does not matter.  What lies outside is
the same for all calls of a program, which is compiled again where it changes (guards).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.infer.called import made_at
from srcgrad.infer.entry import Inferred
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Site, within
from srcgrad.infer.outside import is_of_users
from srcgrad.infer.summaries import Called, Summary, called_at
from srcgrad.infer.values import SCALARS, Array, At, Bound, Exact, Value, at, exact
from srcgrad.ir.operations import Version
from srcgrad.ir.regions import Function
from srcgrad.language.models import FUNCTIONS
from srcgrad.specialise.receivers import holds_methods


@dataclass(frozen=True)
class Captured:
    """What a local function captured: the cells, by the names of the parameters that it gets them in."""

    names: tuple[tuple[Site, str], ...]
    owners: Mapping[Function, FunctionType]  # in whose text functions stand that it may call


@dataclass(frozen=True)
class Instance:
    """A function for one kind of call."""

    function: FunctionType
    key: str
    summary: Summary = field(compare=False)
    facts: Facts = field(compare=False)  # which the summary is of
    made: type | None = None  # the class of the object that it returns, where it is an ``__init__``
    captured: Captured | None = field(default=None, compare=False)  # of a function that stands in the text of another
    is_flat: bool = False  # what it calls is written out in it where it can be

    @property
    def given(self) -> tuple[Inferred, ...]:
        """What it is passed, and what it captured."""
        summary, fixed = self.summary, fixed_parameters(self.summary)
        passed = [value for version, value in summary.arguments.items() if version not in fixed]
        names = () if self.captured is None else self.captured.names
        captured = [summary.heap[site].get("cell") for site, _ in names]
        return tuple(Inferred(value, summary.heap) for value in (*passed, *captured))

    @cached_property
    def objects(self) -> frozenset[str]:
        """The parameters that are objects or containers for sure, and neither numbers nor arrays."""

        def is_object(value: Value) -> bool:
            return not value.is_any and all(
                isinstance(atom, At) and atom.site.kind not in (None, np.ndarray) for atom in value.atoms
            )

        return frozenset(
            version.variable or version.name for version, value in self.summary.arguments.items() if is_object(value)
        )

    @cached_property
    def may_hold_functions(self) -> bool:
        """Whether what it is given or returns may be a method of the user's or a function that the program makes, or
        hold one: pairs, tuples and texts stand for those."""
        values = [*self.summary.arguments.values(), *map(at, self.summary.cells.values())]
        values += [] if self.summary.returned is None else [self.summary.returned[0][0]]
        return any(holds_methods(self.facts, value, FUNCTIONS) for value in values)


def instance_of(
    function: FunctionType, summary: Summary, facts: Facts, made: type | None = None, captured: Captured | None = None,
    *, is_flat: bool = False,
) -> Instance:  # fmt: skip
    key = _Key(summary)
    text = key.text()
    changed = [key.site(site) for site in summary.heap if site.context == "outside" and site not in key.numbers]
    text += f"; {', '.join(changed)}" if changed else ""
    if captured is not None:
        text += f"; {id(summary.function)} {', '.join(key.site(site) for site in summary.cells.values())}"
    return Instance(function, text, summary, facts, made, captured, is_flat)


def static_of(value: Value) -> Any:
    """The function, class or module that a value is; None of any other."""
    if value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    return atom.value if isinstance(atom, Exact) and type(atom.value) not in SCALARS else None


_STATIC = (FunctionType, type(np._NoValue), np.ufunc, BuiltinFunctionType, ModuleType, type, Enum)


def fixed_parameters(summary: Summary) -> dict[Version, object]:
    """The parameters that are not passed: None, a function, class, module or member of an enumeration in every
    call of this kind."""
    found: dict[Version, object] = {}
    for version, value in summary.arguments.items():
        static = static_of(value)
        if value == exact(None) or isinstance(static, _STATIC):
            found[version] = static
    return found


class _Key:
    """What a call is given, with sites numbered as they are met."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.numbers: dict[Site, int] = {}

    def text(self) -> str:
        return ", ".join(self.of(value) for value in self.summary.arguments.values())

    def of(self, value: Value) -> str:
        parts = sorted(map(self.atom, sorted(value.atoms, key=str)))
        return " | ".join([*["any"] * value.is_any, *parts])

    def atom(self, atom: Any) -> str:
        match atom:
            case Exact(value=found):
                return str(atom) if type(found) in SCALARS else f"{atom} {id(found)}"
            case Array(site=site):
                return f"{atom.type_string}[{atom.rank}]{self.site(site)}"
            case At(site=site):
                return self.site(site)
            case Bound(receiver=receiver, name=name):
                return f"{self.of(receiver)}.{name}"
        return str(atom)

    def site(self, site: Site) -> str:
        if site in self.numbers:
            return f"#{self.numbers[site]}"
        number = self.numbers[site] = len(self.numbers)
        contents = self.summary.heap[site]
        held = [f"{name}={self.of(value)}" for name, value in sorted(contents.fields.items())]
        held += [self.of(part) for part in contents.parts or ()]
        held += [f"{key}: {self.of(value)}" for key, value in contents.entries or ()]
        sides = (contents.rest,) if contents.apart is None else contents.apart
        held += [f"*{' of '.join(map(self.of, sides))}"] if contents.rest else []
        kind = "data" if site.kind is None else f"{site.kind.__module__}.{site.kind.__qualname__} {id(site.kind)}"
        if (statement := made_at(site)) is not None:
            kind += f" {id(statement)}"
        return f"#{number} {kind}({', '.join(held)}){'' if contents.single else '*'}"


# --- one kind of call that is of another, too ------------------------------------------------------------------------
def widest(summaries: Sequence[Summary]) -> Summary | None:
    """The kind of call that the others of a statement are of too; None where none is."""
    for wide in reversed(summaries):
        others = [other for other in summaries if other is not wide]
        fixed = fixed_parameters(wide).keys()
        if all(fixed <= fixed_parameters(other).keys() and covers(wide, other) for other in others):
            return wide
    return None


def taken_apart(facts: Facts) -> set[Called]:
    """The functions of the user's, and the calls of them, of which no kind of call is that of all others.  They may as
    well be called once for all: those that get other functions, classes or modules are not."""
    found, pending, seen = set[Called](), list(facts.entry), set[Summary]()
    while pending:
        summary = pending.pop()
        if summary in seen:
            continue
        seen.add(summary)
        for statement, called in summary.calls.items():
            pending += called
            by_function: dict[Function, list[Summary]] = {}
            for each in called:
                by_function.setdefault(each.function, []).append(each)
            for function, several in by_function.items():
                home = str(several[0].namespace.get("__name__", ""))
                if len(several) > 1 and not home.startswith("srcgrad.language.") and _get_the_same(several):
                    found.update([] if widest(several) else [called_at(function, statement)])
    return found


def _get_the_same(summaries: Sequence[Summary]) -> bool:
    """Whether calls get the same functions, classes and modules, and objects of the same classes, which decide what
    their methods are."""

    def given(summary: Summary) -> tuple[object, ...]:
        fixed = {k: v for k, v in fixed_parameters(summary).items() if v is not None}
        atoms = (value.atoms for value in summary.arguments.values())
        return fixed, [{a.site.kind for a in each if isinstance(a, At) and is_of_users(a)} for each in atoms]

    return all(given(each) == given(summaries[0]) for each in summaries)


def covers(wide: Summary, narrow: Summary) -> bool:
    """Whether what is written for one call holds of the other, which is given no more: objects correspond one by one,
    so that the two share the same, and what comes from outside is the same object."""
    if wide.function is not narrow.function or wide.cells != narrow.cells:
        return False
    if narrow.heap <= wide.heap and all(narrow.arguments[v] <= value for v, value in wide.arguments.items()):
        return True
    there: dict[Site, Site] = {}  # of the narrow call -> of the wide one
    back: dict[Site, Site] = {}

    def values(one: Value, other: Value) -> bool:
        if one.is_any and not other.is_any:
            return False
        return all(Value(frozenset((a,))) <= other and not isinstance(a, Array | At) or atoms(a, other)
                   for a in one.atoms)  # fmt: skip

    def atoms(one: Any, other: Value) -> bool:
        alike = [b for b in other.atoms if isinstance(b, Array | At) and (b == one or _is_alike(one, b))]
        alike = [one] if one in alike else alike
        return len(alike) == 1 and sites(one.site, alike[0].site)

    def sites(one: Site, other: Site) -> bool:
        if one in there or other in back:
            return there.get(one) == other and back.get(other) == one
        if made_at(one) is not made_at(other):  # of another text
            return False
        there[one], back[other] = other, one
        is_outside = not isinstance(one.origin, tuple) or not isinstance(other.origin, tuple)
        if is_outside and one != other or narrow.heap.is_seen(one) != wide.heap.is_seen(other):
            return False
        mine, theirs = narrow.heap[one], wide.heap[other]
        if one.kind is None:  # which holds nothing but its like
            return one == other and within(mine, theirs)
        if theirs.single and not mine.single or mine.fields.keys() != theirs.fields.keys():
            return False
        known = [*((mine.fields[name], held) for name, held in theirs.fields.items()), (mine.others, theirs.others)]
        if theirs.entries is not None:
            if mine.entries is None or [key for key, _ in mine.entries] != [key for key, _ in theirs.entries]:
                return False
            known += [(a, b) for (_, a), (_, b) in zip(mine.entries, theirs.entries, strict=True)]
        if theirs.parts is not None:
            if mine.parts is None or len(mine.parts) != len(theirs.parts):
                return False
            known += zip(mine.parts, theirs.parts, strict=True)
        if theirs.apart is not None:
            if mine.sides is None:
                return False
            known += zip(mine.sides, theirs.apart, strict=True)
        elif theirs.entries is None and theirs.parts is None:
            known.append((mine.items, theirs.rest))
        return all(values(a, b) for a, b in known)

    return all(values(narrow.arguments[version], value) for version, value in wide.arguments.items())


def _is_alike(one: Array | At, other: Array | At) -> bool:
    """Whether two atoms are of one class, dtype and rank."""
    if isinstance(one, Array) and isinstance(other, Array):
        return one.type_string == other.type_string and one.rank == other.rank
    return isinstance(one, At) and isinstance(other, At) and one.site.kind is other.site.kind


def starts_alone(facts: Facts, summary: Summary) -> bool:
    """Whether an ``__init__`` changes nothing but its object, so that it may run as it is."""
    if summary.returned is None or facts.runs_unknown(summary.reached):
        return False
    inner = [each for found in summary.calls.values() for each in found]
    own = {atom.site for atom in next(iter(summary.arguments.values())).atoms if isinstance(atom, At)}
    after, before = summary.returned[1], summary.heap
    is_alone = all(site in own or site not in before or held == before.own(site) for site, held in after.items())
    return is_alone and not any(map(partial(runs_users, facts), [[each] for each in inner]))


def runs_users(facts: Facts, called: Sequence[Summary]) -> bool:
    """Whether a call runs code of the user's: more than itself, and models."""
    pending, seen = list(called), set[Summary]()
    while pending:
        summary = pending.pop()
        if summary in seen:
            continue
        seen.add(summary)
        home = str(summary.namespace.get("__name__", ""))
        if not home.startswith("srcgrad.") or facts.runs_unknown(summary.reached):
            return True
        pending += [inner for found in summary.calls.values() for inner in found]
    return False
