"""Requests to the compiler, and the intermediate forms that are shared between them.

Enters: nothing; ``pipeline`` makes a ``Compiled`` of a ``Request``.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from srcgrad.analysis.admission import Assumed
from srcgrad.batching.carried import Carried
from srcgrad.errors import LanguageError
from srcgrad.frontend.journal import Journal
from srcgrad.infer.entry import described
from srcgrad.ir.normal_form import Callee, Function
from srcgrad.rules.facts import Fact

Given = tuple[tuple[Any, ...], Mapping[str, Any]]
Asked = tuple[Callee, tuple[Fact, ...]]  # a callee, and the facts of its arguments
Prepared = tuple[Function, Mapping[str, Fact]]


def _of_dicts() -> defaultdict[Any, dict[Any, Any]]:
    return defaultdict(dict)


@dataclass
class Forms:
    """The journal of what is read, the normal forms of callees, the callees for calls from whose arguments values are
    inferred, and, by what modules assume (``generic``, ``shown``, or all that is ``Assumed``), the facts of names and
    how the transforms take them."""

    journal: Journal = field(default_factory=lambda: Journal(described))
    normal: dict[Callee, Function] = field(default_factory=dict)
    inferred: dict[tuple[Callee, object], Callee | LanguageError] = field(default_factory=dict)
    known: defaultdict[tuple[bool, bool], dict[Asked, Mapping[str, Fact]]] = field(default_factory=_of_dicts)
    prepared: defaultdict[tuple[bool, Assumed], dict[Asked, Prepared]] = field(default_factory=_of_dicts)

    def callee(self, request: Request, make: Callable[..., Callee]) -> Callee:
        """The callee for a call, made once for all its derivatives; raises what refuses it."""
        key = request.callee, request.kinds
        if key not in self.inferred:
            try:
                self.inferred[key] = make(request.callee, request.arguments, self.journal, request.is_data)
            except LanguageError as refusal:
                self.inferred[key] = refusal
        found = self.inferred[key]
        if isinstance(found, LanguageError):
            raise found.with_traceback(None)
        return found


_forms: ContextVar[Forms | None] = ContextVar("srcgrad_forms", default=None)


@contextmanager
def keeping_forms() -> Iterator[None]:
    """Inside, a function is brought into normal form and analysed once for all its derivatives.  What it reads while it
    is compiled, globals and classes, must not change meanwhile."""
    token = _forms.set(Forms())
    try:
        yield
    finally:
        _forms.reset(token)


def present_forms() -> Forms:
    return _forms.get() or Forms()


@dataclass(frozen=True)
class Request:
    """What is to be compiled: ``mode`` is reverse, value (with the gradient), split or forward."""

    callee: Callee
    wanted: tuple[str, ...]
    mode: str
    facts: Mapping[str, Fact] | None = None  # by parameter; None: nothing is known
    tupled: bool = False  # one gradient comes as a tuple too
    open: bool = False  # its entry is called with arguments at which nobody has looked: what was saved is
    kept: tuple[str, ...] = ()  # the parameters that nothing may be stored into: the object of a bound method
    shown: bool = False  # made to be read: what only a check could tell of the parameters is left out
    arguments: Given | None = None  # positional ones and keywords; None: nothing is said of them
    kinds: object = None  # what the program depends on of these
    is_data: bool = False  # of what is no object among these nothing is said
    told: Mapping[str, str] = field(default_factory=dict)  # the kinds of parameters that an open entry looks at
    looks: bool = False  # a gradient whose value types do not prove to be one number looks at it, and raises
    pattern: tuple[int, ...] = ()  # of the sizes of the arguments, where the facts tell which of them are equal
    sizes: str = ""  # the shapes of the arguments that it is right for, in words
    is_flat: bool = False  # differentiated again: what it calls is written out in it where it can be
    carried: tuple[Carried, ...] = ()  # of a program over a batch: which parts of its arguments have one


@contextmanager
def without_collecting() -> Iterator[None]:
    """Pause the search for garbage in cycles: compiling makes none, and a quarter of the time would go into it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
