"""Generators, and iterators that call functions, that an exception ends which Python takes for another.

Enters: the entry of a program.  Leaves: nothing, or a refusal, where ``StopIteration`` may leave a generator expression
or a function that ``map`` and its like call: by what their text says, and what it calls.  A function stops where it
asks without a default, raises ``StopIteration``, or calls one that stops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any

from srcgrad.analysis.cfg import walk
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.endings import HINT, REASON, Text, may_ask
from srcgrad.frontend.normal_form import (
    Bind,
    Call,
    Callee,
    Derived,
    Dynamic,
    Function,
    Guarded,
    LocalFunction,
    unguarded,
)
from srcgrad.frontend.signatures import definition_of
from srcgrad.syntax.parse import children

NormalForms = Callable[[Callee], Function]
_LIBRARIES = frozenset({"builtins", "numpy", "scipy", "math", "itertools", "functools", "operator", "collections"})


def refuse_endings(entry: Callee, normal_form_of: NormalForms) -> None:
    """Refuse generator expressions, and iterators that call functions, out of which ``StopIteration`` may come."""
    if entry.instance is not None:
        return  # which is looked at before it is written
    program = _Program(normal_form_of, entry)
    for callee in program.calls:
        if isinstance(callee.function, FunctionType):
            program.check(callee)


@dataclass(eq=False)
class _Program:
    """What a program calls."""

    normal_form_of: NormalForms
    entry: Callee
    texts: dict[int, Text] = field(default_factory=dict)

    @cached_property
    def calls(self) -> dict[Callee, list[Callee]]:
        """Every callee with those that it calls."""
        found: dict[Callee, list[Callee]] = {}
        pending = [self.entry]
        while pending:
            one = pending.pop()
            if one not in found:
                found[one] = self._called(one)
                pending += found[one]
        return found

    def _called(self, callee: Callee) -> list[Callee]:
        match callee.function:
            case Dynamic():
                return []
            case Guarded():
                return [unguarded(callee)]
            case Derived(function=function):
                return [Callee(function, callee.statics, callee.lengths, callee.classes)]  # type: ignore[arg-type]
        body = self.normal_form_of(callee).body
        made = [s.operation for s in walk(body) if isinstance(s, Bind)]
        return [operation.callee for operation in made if isinstance(operation, Call)]

    def text(self, callee: Callee) -> Text:
        source, node, _ = definition_of(callee)
        return self.texts.setdefault(id(node), Text(source, node))

    @cached_property
    def stopping(self) -> set[Callee]:
        """The callees that may raise ``StopIteration``."""
        found = {
            callee for callee in self.calls
            if isinstance(callee.function, FunctionType | LocalFunction)
            and (text := self.text(callee)).asks(children(text.node))
        }  # fmt: skip
        if any(isinstance(callee.function, Guarded) for callee in self.calls):  # where it may be caught
            found |= {callee for callee in self.calls if isinstance(callee.function, Dynamic)}
        before = -1
        while before < len(found):
            before = len(found)
            for callee, called in self.calls.items():
                if not found.isdisjoint(called) and not _catches(callee):
                    found.add(callee)
        return found

    def _of_text(self, callee: Callee) -> set[Callee]:
        """What the text of a function calls, with the functions that stand in it."""
        seen: set[Callee] = set()
        pending = list(self.calls[callee])
        while pending:
            one = pending.pop()
            if one not in seen:
                seen.add(one)
                if not isinstance(one.function, FunctionType | Dynamic):
                    pending += self.calls[one]
        return seen

    def check(self, callee: Callee) -> None:
        text = self.text(callee)
        if not text.delayed:
            return
        called = [one for one in self._of_text(callee) if isinstance(one.function, FunctionType | Dynamic)]
        stopping = {one.function for one in called if one in self.stopping}
        are_apart = stopping <= text.called_at_once
        followed = {one.function for one in called}
        for each in text.delayed:
            others = [made for made in each.called if isinstance(made, FunctionType) and made not in followed]
            is_open = each.is_open or any(map(_is_users, each.called))
            if (
                text.asks(each.nodes)
                or any(made in stopping for made in each.called if isinstance(made, FunctionType))
                or any(may_ask(made.__code__) for made in others if not _is_of_library(made))
                or stopping
                and (is_open or not are_apart)
                or is_open
                and text.has_asking_function
            ):
                raise UnsupportedSyntax(REASON, text.source.span(each.at), hint=HINT)


def _catches(callee: Callee) -> bool:
    return isinstance(callee.function, Guarded) and any(issubclass(StopIteration, k) for k in callee.function.caught)


def _is_of_library(made: Any) -> bool:
    return str(getattr(made, "__module__", None) or "builtins").partition(".")[0] in _LIBRARIES


def _is_users(made: object) -> bool:
    """Whether what is called is an object, or a class, of the user's."""
    kind = made if isinstance(made, type) else type(made)
    return not isinstance(made, FunctionType | functools.partial) and not _is_of_library(kind)
