"""What is asked of the compiler, how, and what it gives.

Enters: nothing; ``pipeline`` makes a ``Compiled`` of a ``Request`` under the present ``Options``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from srcgrad.emit.load import refresh
from srcgrad.emit.printer import Emission
from srcgrad.frontend.known import PLAIN, Known
from srcgrad.frontend.meeting import is_users, known_outside
from srcgrad.frontend.normal_form import Callee, Function
from srcgrad.rules.facts import Fact
from srcgrad.spec import is_asked_for
from srcgrad.transform.nesting import Doors


@dataclass(frozen=True)
class Options:
    """How programs are compiled; changed for a while by ``options(...)``, for tests and inspection."""

    optimise: bool = True
    specialise: bool = True
    sink: bool = True  # let the reverse sweep make the shadows that it can make for itself
    check: bool = is_asked_for()  # of what stands at each door, by spec.py


_present: ContextVar[Options] = ContextVar("srcgrad_options", default=Options())  # noqa: B039 (frozen)


@contextmanager
def options(**changes: bool) -> Iterator[None]:
    """Compile with other options inside the ``with`` block."""
    token = _present.set(replace(_present.get(), **changes))
    try:
        yield
    finally:
        _present.reset(token)


def present_options() -> Options:
    return _present.get()


Asked = tuple[Callee, tuple[Fact, ...]]  # a callee, and the facts of its arguments
Prepared = tuple[Function, Mapping[str, Fact]]


def _of_dicts() -> defaultdict[Any, dict[Any, Any]]:
    return defaultdict(dict)


@dataclass
class Forms:
    """The normal forms of callees, what they are before local functions are written out, and, by what modules assume
    (``generic``, ``shown``), what is known of their names and how the transforms take them."""

    normal: dict[Callee, Function] = field(default_factory=dict)
    written: dict[Callee, Function] = field(default_factory=dict)
    known: defaultdict[tuple[bool, bool], dict[Asked, Mapping[str, Fact]]] = field(default_factory=_of_dicts)
    prepared: defaultdict[tuple[bool, bool], dict[Asked, Prepared]] = field(default_factory=_of_dicts)


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
    doors: Doors | None = None  # to the derivatives of functions that are known only when the program runs
    tried: bool = False  # what the callee raises may be caught
    shown: bool = False  # made to be read: what only a check could tell of the parameters is left out


@dataclass(frozen=True, eq=False)
class Compiled:
    """An emitted module, loaded: its entry, and the second half where the entry is the forward half of a pair."""

    request: Request
    function: Function
    emission: Emission
    entry: FunctionType
    backward: FunctionType | None  # the second half of a pair
    scalar_result: bool  # whether the result is proved to be one real number
    changes_saved: bool = False  # whether the backward half stores into what the forward half saved
    outside: tuple[tuple[Callable[[], object], Known], ...] = ()  # what reads globals, and of which classes they are

    @property
    def reads_arrays(self) -> bool:
        """Whether a global or closure variable holds an array that a result might be."""
        simple = (int, float, complex, str, type(None), ModuleType)
        live = [b for _, b in self.emission.bindings if b.cell is not None or not callable(b.value)]
        return any(not isinstance(binding.value, simple) for binding in live)

    @property
    def globals(self) -> list[object]:
        """What the globals and closure variables that the functions read hold now."""
        return [b.value if b.cell is None else b.cell() for _, b in self.emission.bindings]

    def is_current(self) -> bool:
        """Whether the objects outside of the function are of the classes for which it was compiled."""
        return all(known_outside(read()) == known for read, known in self.outside)

    def refresh(self) -> None:
        """Read the live globals and closure variables that the functions use again."""
        refresh(self.entry)


def objects_outside(emission: Emission) -> tuple[tuple[Callable[[], object], Known], ...]:
    """What reads globals, closure variables and attributes of the user's modules and classes, and the classes of the
    objects that they hold now."""
    readers: list[Callable[[], object]] = []
    for _, binding in emission.bindings:
        if binding.cell is not None:
            readers.append(binding.cell)
        elif is_users(binding.value):
            owner, held = binding.value, vars(binding.value)
            names = [name for name, value in held.items() if known_outside(value) != PLAIN]
            readers += [partial(getattr, owner, name, None) for name in names]
    return tuple((read, known_outside(read())) for read in readers)
