"""What is asked of the compiler, how, and what it gives.

Enters: nothing; ``pipeline`` makes a ``Compiled`` of a ``Request`` under the present ``Options``.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from srcgrad.analysis.admission import Assumed
from srcgrad.emit.load import refresh
from srcgrad.emit.printer import Emission
from srcgrad.errors import LanguageError
from srcgrad.frontend.guards import Guards
from srcgrad.frontend.journal import Journal
from srcgrad.infer.entry import described
from srcgrad.ir.normal_form import Callee, Function
from srcgrad.rules.facts import Fact
from srcgrad.runtime.reaching import all_names, leads_nowhere
from srcgrad.spec import is_asked_for


@dataclass(frozen=True)
class Options:
    """How programs are compiled; changed for a while by ``options(...)``, for tests and inspection."""

    optimise: bool = True
    specialise: bool = True
    sink: bool = True  # let the reverse sweep make the shadows that it can make for itself
    varying: tuple[str, ...] = ()  # parameters that are no constants where they are at their defaults
    strong_zeros: bool = False  # zero times an infinite or undefined partial is zero
    check: bool = is_asked_for()  # of what stands at each door, by spec.py
    finite: bool = os.environ.get("SRCGRAD_DEBUG_NANS", "0") not in ("", "0")  # look at what each statement computes
    debug: bool = os.environ.get("SRCGRAD_DEBUG", "0") not in ("", "0")  # breakpoints in the user's files stop


_present: ContextVar[Options] = ContextVar("srcgrad_options", default=Options())  # noqa: B039 (frozen)


@contextmanager
def options(**changes: Any) -> Iterator[None]:
    """Compile with other options what is called inside the ``with`` block; a decorator of functions as well.

    ``strong_zeros=True``: a cotangent, or tangent, that is zero stays zero through a partial derivative that is
    infinite or undefined, in both directions and at every order.  So the gradient of ``np.sqrt(x)[1]`` at
    ``[0.0, 4.0]`` is ``[0.0, 0.25]`` and not ``[nan, 0.25]``.  It is off by default, because it answers wrongly where
    a factor is zero by its value and not because something is masked: of ``np.sum(np.sqrt(x) ** 2)`` at 0 it gives 0
    instead of 1.  Elementwise functions keep zeros element by element, reductions (norms) for each result, functions
    that mix elements otherwise (products of matrices, decompositions) only where all of their cotangent is zero.
    Eager runs are not concerned.

    ``debug=True``: a breakpoint that ``pdb``, ``debugpy`` or an editor has in the file of a differentiated function
    stops when the forward sweep runs that line; variables have the names of the program.  Programs are not optimised
    then, so that every line of the user's is run.  The reverse sweep counts as the line of the ``def``.  The
    environment variable ``SRCGRAD_DEBUG=1`` does this for a whole process.

    The other options are for tests and inspection: ``optimise``, ``specialise``, ``sink``, ``check``, and
    ``varying``, the names of parameters whose values one program must serve, as of shards.  Another name raises
    TypeError.
    """
    with present(replace(_present.get(), **changes)):
        yield


@contextmanager
def present(chosen: Options) -> Iterator[None]:
    """Compile with these options what is called inside the ``with`` block."""
    token = _present.set(chosen)
    try:
        yield
    finally:
        _present.reset(token)


def debug_nans() -> AbstractContextManager[None]:
    """Find where numbers stop being finite in what is called inside the ``with`` block; a decorator as well.

    Every statement of a derivative is looked at when it has run.  The first that makes an infinity or a NaN of operands
    that hold none raises ``NonFiniteError`` (a FloatingPointError), which says the line of your program, the variable,
    the sweep, the pass of each loop around it, and the operands.  A NaN in an argument is reported when it is passed.
    A NaN that ``np.where`` leaves out is reported too: in the reverse sweep it may come back as 0 times infinity.
    A statement that spells what is not finite (``best = np.inf``) means it.  Functions that are not differentiated are
    judged by what they return.

    A pullback made inside looks too, wherever it is called.  Programs compiled so are slower, and are kept apart from
    the others.  The environment variable ``SRCGRAD_DEBUG_NANS=1`` does this for a whole process.
    """
    return options(finite=True)


def present_options() -> Options:
    return _present.get()


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
    guards: Guards = Guards()  # what it was compiled from

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

    @cached_property
    def reads_outside(self) -> bool:
        """Whether the functions read data, or what may lead to data."""
        return any(b.cell is not None or not leads_nowhere(b.value) for _, b in self.emission.bindings)

    @cached_property
    def names_read(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names and attributes that the second half may read, and those that either half may."""
        back = frozenset() if self.backward is None else frozenset(all_names(self.backward))
        return back, back.union(all_names(self.entry))

    @cached_property
    def is_current(self) -> Callable[[], bool]:
        """Whether what the function reads is still what it was compiled from."""
        return self.guards.check()

    def refresh(self) -> None:
        """Read the live globals and closure variables that the functions use again."""
        refresh(self.entry)


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
