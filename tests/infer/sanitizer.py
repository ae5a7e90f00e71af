"""Facts against runs: a program runs in the interpreter of the IR, and everything that it binds is looked up.

Enters: a function and its arguments.  Leaves: what the analysis did not foresee, as texts: a statement that it takes
for unreachable, an object of another class, dtype or rank, an item that a container cannot hold, two versions with one
memory that it takes for apart.
"""

from __future__ import annotations

import copy
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import sites_of
from srcgrad.infer.interpreter import analysed
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import SCALARS, Array, At, Bound, Exact, Of, Value
from srcgrad.ir import interpreter
from srcgrad.ir.evaluating import Frame
from srcgrad.ir.operations import END, UNBOUND
from tests.ir.running import checked, with_callees


def covers(value: Value, found: Any) -> bool:
    """Whether an object is among those that a value stands for, as far as it shows by itself."""
    if value.is_any:
        return True
    for atom in value.atoms:
        match atom:
            case Exact(value=known):
                kind = type(known)
                if known is found or kind in SCALARS and kind is type(found) and repr(known) == repr(found):
                    return True
                if isinstance(known, BuiltinFunctionType) and known == found:  # made each time that it is read
                    return True
                if isinstance(known, FunctionType) and isinstance(found, FunctionType):  # run by the interpreter
                    if known.__qualname__ == found.__qualname__:
                        return True
            case Of(kind=kind):
                if type(found) is kind:
                    return True
            case Array(type_string=dtype, rank=rank):
                if type(found) is np.ndarray and dtype in ("", found.dtype.str) and rank in (None, found.ndim):
                    return True
            case At(site=site):
                if type(found) is site.kind or site.kind is None and is_of_library(found):
                    return True
            case Bound():
                if callable(found):
                    return True
    return False


class Watching:
    """What is looked at while a program runs."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.complaints: list[str] = []
        self.operations = {id(statement.operation) for statement in facts.reached if hasattr(statement, "operation")}
        self._held: dict[int, tuple[Any, list[tuple[str, Value]]]] = {}

    def bound(self, frame: Frame, version: Any, found: Any) -> None:
        value = self.facts.values.get(version)
        name = f"{frame.function.name}: {version.name}"
        if value is None:
            self.complain(f"{name} is taken for never bound, and is {found!r}")
            return
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
        if value.is_any or not isinstance(found, list | tuple | deque | dict | set):
            return
        known = [self.facts.contents.get(site) for site in sites if not self.facts.is_seen(site)]
        if len(known) < len(sites) or None in known:
            return
        for item in [*found, *(found.values() if isinstance(found, dict) else ())]:
            if not any(covers(contents.items, item) for contents in known if contents is not None):
                self.complain(f"{name} is taken to hold {[str(c.items) for c in known if c]}, and holds {item!r}")

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
            try:
                watching.bound(self.frame, version, found)
            except Exception as error:  # which the program that runs might catch
                watching.complain(f"{type(error).__name__}: {error}")
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


def unforeseen(function: FunctionType, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> list[str]:
    """What a run does that the facts of the call do not say."""
    facts = analysed(function, arguments, keywords, checked)
    assert facts is not None
    watching = Watching(facts)
    program = with_callees(function)
    given, named = copy.deepcopy((arguments, dict(keywords)))
    with watched(watching), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = program(*given, **named)
            if isinstance(result, Iterator):
                list(result)
        except Exception:  # of the program
            pass
    return watching.complaints
