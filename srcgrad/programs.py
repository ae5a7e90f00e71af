"""How programs are compiled, and what the compiler gives.

Nothing here loads the compiler, whose doors are ``requests.py`` and ``pipeline.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from srcgrad.emit.emission import Emission
from srcgrad.emit.load import refresh
from srcgrad.errors import Span
from srcgrad.frontend.guards import Guards
from srcgrad.runtime.reaching import all_names, globals_read, leads_nowhere
from srcgrad.syntax.bindings import GlobalBinding


@dataclass(frozen=True)
class Options:
    """How programs are compiled; changed for a while by ``options(...)``, for tests and inspection."""

    optimise: bool = True
    specialise: bool = True
    sizes: bool = True  # which dimensions of the arguments are equal, or 0 or 1, is known too
    sink: bool = True  # let the reverse sweep make the shadows that it can make for itself
    repeat: bool = True  # run again what is marked so (``srcgrad.checkpointed``), else record all
    varying: tuple[str, ...] = ()  # parameters that are no constants where they are at their defaults
    strong_zeros: bool = False  # zero times an infinite or undefined partial is zero
    check: bool = os.environ.get("SRCGRAD_CHECK") == "1"  # of what stands at each door, by spec.py
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

    The other options are for tests and inspection: ``optimise``, ``specialise``, ``sizes``, ``sink``,
    ``repeat``, ``check``, and ``varying``, the names of parameters whose values one program must serve, as of shards.
    Another name raises TypeError.
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


@dataclass(frozen=True, eq=False)
class Compiled:
    """An emitted module, loaded: its entry, and the second half where the entry is the forward half of a pair."""

    span: Span  # of the function that was compiled
    emission: Emission
    entry: FunctionType
    backward: FunctionType | None  # the second half of a pair
    scalar_result: bool  # whether the result is proved to be one real number
    changes_saved: bool = False  # whether the backward half stores into what the forward half saved; of a program over
    # a batch: whether it stores into its arguments
    guards: Guards = Guards()  # what it was compiled from
    repeats: bool = False  # whether it runs anything again, which its derivative would not follow
    looks: bool = False  # a gradient whose value types do not prove to be one number looks at it, and raises
    pattern: tuple[int, ...] = ()  # of the sizes of the arguments that it is right for alone; none: for all sizes
    of: Callable[[], Any] = lambda: None  # the request that it answers
    slow: tuple[tuple[str, Span | None], ...] = ()  # what a batch runs example by example, and where
    returned: Any = None  # which parts of the result of a program over a batch have one (``batching.carried``)
    break_even: float = 0.0  # the number of examples from which on it takes less time than a run for each

    @property
    def is_of_one_number(self) -> bool:
        """Whether a gradient that it returns is one of one real number: it is proved, or it looks when it runs."""
        return self.scalar_result or self.looks

    @cached_property
    def reads_arrays(self) -> bool:
        """Whether a global or closure variable holds an array that a result might be."""
        simple = (int, float, complex, str, type(None), ModuleType)
        live = [b for _, b in self.emission.bindings if b.cell is not None or not callable(b.value)]
        return any(not isinstance(binding.value, simple) for binding in live)

    @property
    def globals(self) -> list[object]:
        """What those globals and closure variables hold now that may lead to memory."""
        return [b.value if b.cell is None else b.cell() for b in self._leading]

    @cached_property
    def _leading(self) -> list[GlobalBinding]:
        return [b for _, b in self.emission.bindings if b.cell is not None or not leads_nowhere(b.value)]

    @cached_property
    def reads_outside(self) -> bool:
        """Whether a function kept for later has to look at what lies outside: something that is read may lead to
        memory, or the second half reads a variable itself.

        What the first half computed of a number is in what it saved.  A variable that holds a number when this is asked
        holds one in each run, for the guards of the program compare its type."""
        again = frozenset() if self.backward is None else globals_read(self.backward)
        read = [(n, b, b.value if b.cell is None else b.cell()) for n, b in self.emission.bindings]
        return any(b.cell is not None and name in again or not leads_nowhere(value) for name, b, value in read)

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
