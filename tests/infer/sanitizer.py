"""Facts against runs: a program runs in the interpreter of the IR, and everything that it binds is looked up.

Enters: a function and its arguments.  Leaves: what the analysis did not foresee, as texts: a statement that it takes
for unreachable, an object of another class, dtype or rank, an item that a container cannot hold, two versions with one
memory that it takes for apart.
"""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import BuiltinFunctionType, CellType, FunctionType, GeneratorType, ModuleType
from typing import Any

import numpy as np

import srcgrad.api.derivative
from srcgrad.api.arguments import kind_of
from srcgrad.fuzz.agreement import OutOfTime, time_limit
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Contents, sites_of
from srcgrad.infer.interpreter import GivenUp, analysed
from srcgrad.infer.outside import is_of_library, runs_no_code
from srcgrad.infer.values import SCALARS, Array, At, Bound, Exact, Of, Value
from srcgrad.ir import interpreter
from srcgrad.ir.evaluating import Frame
from srcgrad.ir.operations import END, UNBOUND
from srcgrad.language.models.derivatives import Derivative
from srcgrad.runtime.defaults import dict_like
from srcgrad.runtime.objects import fields_of, is_object
from srcgrad.specialise.entry import MOST
from srcgrad.syntax.depth import unless_too_deep
from tests.ir.running import checked, functions_of, interpreting


def covers(value: Value, found: Any) -> bool:
    """Whether an object is among those that a value stands for, as far as it shows by itself."""
    return value.is_any or any(_is_of(atom, found) for atom in value.atoms)


def _is_of(atom: Any, found: Any) -> bool:
    match atom:
        case Exact(value=known):
            if type(known) in SCALARS:
                return atom == Exact(found)
            return known is found or isinstance(known, BuiltinFunctionType) and bool(known == found)  # made when read
        case Of(kind=kind):
            return type(found) is kind
        case Array(type_string=dtype, rank=rank):
            return type(found) is np.ndarray and dtype in ("", found.dtype.str) and rank in (None, found.ndim)
        case At(site=site):
            if isinstance(found, srcgrad.api.derivative.Derivative):
                return site.kind in (Derivative, type(found))  # the model's class stands for it
            if isinstance(found, BaseException) and site.kind is None:  # who reads its traceback knows nothing more
                return is_of_library(type(found)) and all(map(runs_no_code, found.args))
            return type(found) is site.kind or site.kind is None and runs_no_code(found)
        case Bound(receiver=receiver, name=name, function=function):
            owner = getattr(found, "__self__", None)
            if not covers(receiver, owner) and not (function is None and isinstance(owner, type)):
                return False
            own = getattr(found, "__func__", None)
            of_library = function is None and own is not None and is_of_library(own)
            return (own is function or of_library) and getattr(found, "__name__", None) == name
    return False


#: Names of no field: the sides of the entries of a dict.
_KEY, _HELD = "a key", "an item of a key"


def _part(contents: Contents, field: str) -> Value:
    if field == _KEY:
        return contents.keys
    if field == _HELD:
        return contents.held
    return contents.get(field) if field else contents.items


def held_by(found: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds itself: the names of its fields, or "" of an item, or which side of an entry it is."""
    if type(found) in (list, deque, set, frozenset) or isinstance(found, tuple):
        yield from (("", item) for item in found)
    elif isinstance(found, dict):
        yield from ((_KEY, key) for key in found)
        yield from ((_HELD, item) for item in found.values())
    elif is_object(found):
        yield from fields_of(found).items()


class Watching:
    """What is looked at while a program runs."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.complaints: list[str] = []
        self.is_looking = False
        self.operations = {id(statement.operation) for statement in facts.reached if hasattr(statement, "operation")}
        self._held: dict[int, tuple[Any, list[tuple[str, Value]]]] = {}

    def bound(self, frame: Frame, version: Any, found: Any) -> None:
        value = self.facts.values.get(version)
        name = f"{frame.function.name}: {version.name}"
        if value is None:
            self.complain(f"{name} is taken for never bound, and is {found!r}")
            return
        if isinstance(found, GeneratorType) and found.__qualname__.startswith("EnumType."):
            found = iter(())  # the members of an enumeration are gone over as those of a tuple
        if not covers(value, found):
            self.complain(f"{name} is taken for {value}, and is a {type(found).__name__}: {found!r}")
            return
        if found is END or found is UNBOUND or type(found) in SCALARS or isinstance(found, np.generic | type):
            return
        self._contents(name, value, found)
        if isinstance(found, list | dict | set | deque | np.ndarray) or hasattr(found, "__dict__"):
            self._alias(name, value, found)

    def _contents(self, name: str, value: Value, found: Any) -> None:
        sites = list(sites_of(value))
        if isinstance(found, srcgrad.api.derivative.Derivative):
            return  # its fields are those of no model
        if value.is_any or any(isinstance(atom, Exact | Bound) for atom in value.atoms):
            return
        known = [self.facts.contents.get(site) for site in sites if not self.facts.is_seen(site)]
        if len(known) == len(sites):
            self._covered(name, [contents for contents in known if contents is not None], found)

    def _covered(self, name: str, known: list[Contents], found: Any) -> None:
        for field, item in held_by(found):
            values = [_part(contents, field) for contents in known]
            if known and not any(covers(value, item) for value in values):
                self.complain(f"{name} is taken to hold {values} as {field or 'items'}, and holds {item!r}")

    def left(self, *roots: Any) -> None:
        """Look at what was there before the program and has changed."""
        sites = {site.origin: site for site in self.facts.contents if site.context == "outside"}
        pending, seen = list(roots), dict[int, Any]()
        while pending:
            part = pending.pop()
            if id(part) in seen or isinstance(part, ModuleType | type) or type(part) in SCALARS:
                continue
            seen[id(part)] = part
            pending += [cell.cell_contents for cell in getattr(part, "__closure__", None) or () if is_set(cell)]
            pending += [item for _, item in held_by(part)]
            site = sites.get(id(part))
            if site is not None and not self.facts.is_seen(site):
                self._covered(f"{site} from outside", [self.facts.contents[site]], part)

    def _alias(self, name: str, value: Value, found: Any) -> None:
        owner = found
        while isinstance(owner, np.ndarray) and owner.base is not None:
            owner = owner.base
        _, before = self._held.setdefault(id(owner), (owner, []))
        for other, known in before:
            if not self.facts_share(value, known):
                self.complain(f"{name} ({value}) and {other} ({known}) are taken for apart, and are one {type(found)}")
        if (name, value) not in before:
            before.append((name, value))

    def facts_share(self, one: Value, other: Value) -> bool:
        """Whether the analysis says that two versions may have one memory."""
        if not set(sites_of(one)).isdisjoint(sites_of(other)) or not one.atoms.isdisjoint(other.atoms):
            return True
        return (one.is_any or other.is_any) and all(v.is_any or self._seen(v) for v in (one, other))

    def _seen(self, value: Value) -> bool:
        return any(self.facts.is_seen(site) for site in sites_of(value)) or any(
            isinstance(atom, Exact) for atom in value.atoms
        )

    def ran(self, operation: Any) -> None:
        if id(operation) not in self.operations:
            self.complain(f"{type(operation).__name__} is taken for unreachable")

    def complain(self, text: str) -> None:
        if text not in self.complaints:
            self.complaints.append(text)


@contextmanager
def watched(watching: Watching) -> Iterator[None]:
    """The interpreter tells of what it binds."""

    class Values(dict[Any, Any]):
        frame: Any = None

        def __setitem__(self, version: Any, found: Any) -> None:
            if not watching.is_looking:  # looking at an object may run its methods
                watching.is_looking = True
                try:
                    watching.bound(self.frame, version, found)
                except Exception as error:  # which the program that runs might catch
                    watching.complain(f"{type(error).__name__}: {error}")
                watching.is_looking = False
            super().__setitem__(version, found)

        def update(self, pairs: Any) -> None:
            for version, found in pairs:
                self[version] = found

    class Watched(Frame):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.values = Values()
            self.values.frame = self

    def noting(run: Any) -> Any:
        def ran(frame: Frame, operation: Any) -> Any:
            watching.ran(operation)
            return run(frame, operation)

        return ran

    kept = dict(interpreter._RUN), interpreter.Frame
    interpreter._RUN.update({kind: noting(run) for kind, run in kept[0].items()})
    interpreter.Frame = Watched
    try:
        yield
    finally:
        interpreter._RUN.update(kept[0])
        interpreter.Frame = kept[1]


def is_set(cell: CellType) -> bool:
    try:
        return bool(cell.cell_contents) or True
    except ValueError:
        return False


def unforeseen(function: FunctionType, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> list[str]:
    """What a run does that the facts of the call do not say."""
    given, named = copy.deepcopy((arguments, dict(keywords)))
    facts = analysed(function, given, named, checked)
    assert facts is not None
    return _not_said(facts, function, given, named)


def unforeseen_of_kinds(function: FunctionType, arguments: tuple[Any, ...]) -> list[str]:
    """What runs with other arguments do that the facts of calls with arguments of their kinds do not say."""
    complaints: list[str] = []
    for change in (lambda value: value, moved):
        try:
            given = copy.deepcopy(arguments)
            facts = unless_too_deep(lambda: analysed(function, given, {}, checked, by_kind=True, most=10 * MOST))
        except GivenUp:  # of what runs that long nothing is said
            return complaints
        assert facts is not None
        given = tuple(dict_like(value, value) for value in map(change, copy.deepcopy(arguments)))  # as programs get it
        by_kind: dict[object, Any] = {}
        shared = tuple(by_kind.setdefault(kind_of(value), value) for value in given)  # one argument for several
        complaints += _not_said(facts, function, given, {})
        if any(one is not other for one, other in zip(shared, given, strict=True)):
            complaints += _not_said(facts, function, copy.deepcopy(shared), {})
    return complaints


def moved(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float() | complex():
            return 0.5 - value
        case str():
            return value + "other"
        case np.ndarray(ndim=rank) if rank and value.dtype.kind in "fc":
            return np.concatenate([0.5 - value, value], 0)
        case list():
            return [moved(item) for item in value]
        case tuple() if type(value) is tuple:
            return tuple(moved(item) for item in value)
        case dict() if type(value) in (dict, OrderedDict):
            return type(value)((key, moved(item)) for key, item in value.items())
    if is_object(value) and not isinstance(value, tuple):
        made = copy.copy(value)
        for name, held in fields_of(value).items():
            object.__setattr__(made, name, moved(held))
        return made
    return value


def _not_said(facts: Facts, function: FunctionType, given: tuple[Any, ...], named: dict[str, Any]) -> list[str]:
    if facts.is_lost:  # they say nothing
        return []
    watching = Watching(facts)
    globals_ = [function.__globals__.get(name) for name in function.__code__.co_names]
    run = interpreting(functions_of(function, given, named), facts.functions)
    with run, watched(watching), np.errstate(all="ignore"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with time_limit(2):
                    result = function(*given, **named)
                    if isinstance(result, Iterator):
                        list(result)
            except (Exception, OutOfTime):  # of the program, which may not end where its arguments are others
                pass
    watching.left(function, given, named, globals_)
    return watching.complaints
