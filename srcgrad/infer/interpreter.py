"""Runs functions on abstract values: calls of the user's functions are entered, and unknown code is let do anything.

Enters: a function object and its arguments, or the values of them.  Leaves: ``Facts``::

    def f(x):                          x: float64[1]@ndarray
        held = [x]                     held: list
        held.append(x[0])              t: None
        return held[1]                 t: float64

Calls are entered with one call of context.  What a statement calls while it is calling it, and what lies too deep, is
unknown code: it may change and call all that it can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CellType, FunctionType
from typing import Any

import gast

from srcgrad.errors import SrcgradError
from srcgrad.frontend.lowering import lowered
from srcgrad.infer.calls import Given, call
from srcgrad.infer.control import run_block
from srcgrad.infer.facts import Facts
from srcgrad.infer.frames import Frame, Top, merged
from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.objects import RESHAPED, SHAPING
from srcgrad.infer.outside import Outside, is_of_library
from srcgrad.infer.values import ANY, NEVER, Bound, Exact, Value, at, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import (
    Assign,
    Function,
    Statement,
)

Lower = Callable[[FunctionType], Function]
_DEEPEST = 12  # calls inside each other
_MOST = 3000  # calls that are entered in one analysis


class Analysis:
    """One analysis: what is looked up once, and the functions that run now."""

    def __init__(
        self, outside: Outside, assigned: set[tuple[int, str]], kept: set[Site], lower: Lower = lowered
    ) -> None:
        self.facts = Facts(is_reshaped=RESHAPED in assigned)
        self._lower = lower
        self.outside = outside
        self.assigned = assigned  # globals, and attributes of modules, classes and functions, that are stored to
        self.kept = kept  # sites from outside that unknown code may hold from the beginning on
        self.running: list[tuple[Function, Statement | None]] = []  # with the statements that call them
        self.entered = 0
        #: Function objects that the program makes: what they run, with which globals and cells.
        self.closures: dict[Site, tuple[Function, Mapping[str, Any], Mapping[ir.Cell, Site]]] = {}
        self._functions: dict[FunctionType, Function | None] = {}
        self._unknown: set[Function] = set()  # what unknown code may run, and was run so

    # --- functions ---------------------------------------------------------------------------------------------------
    def lowered(self, function: FunctionType) -> Function | None:
        """The IR of a function, None where it has none."""
        if function not in self._functions:
            try:
                self._functions[function] = self._lower(function)
            except (SrcgradError, OSError, SyntaxError, RecursionError):
                self._functions[function] = None
        return self._functions[function]

    def enter(
        self,
        function: Function,
        namespace: Mapping[str, Any],
        cells: Mapping[ir.Cell, Site],
        arguments: Mapping[ir.Version, Value],
        heap: Heap,
        call: Frame | None,
        statement: Statement | None,
    ) -> tuple[Value, Heap] | None:
        """What a call returns, and the heap then; None where it does not return."""
        is_unknown = call is not None and call.is_unknown
        again = (function, statement) in self.running
        if again or len(self.running) > _DEEPEST or self.entered > _MOST or function.is_generator:
            given = [*arguments.values(), *map(at, cells.values())]
            heap = self.unknown(given, heap)
            self.run_unknown(function, namespace, cells)
            return ANY, heap
        self.entered += 1
        frame = Frame(function, namespace, dict(cells), statement, self.facts, is_unknown)
        frame.raised = None if call is None else call.raised
        for cell in function.cells:
            site = Site(CellType, cell, "unknown" if is_unknown else statement)
            frame.cells[cell] = site
            heap = heap.allocated(site, Contents(fields={"cell": NEVER}))
        for version in function.parameters:
            frame.bind(version, arguments.get(version, ANY))
        self.running.append((function, statement))
        try:
            ways = run_block(self, frame, function.body, heap)
        finally:
            self.running.pop()
        left = merged(ways.returned)
        return None if left is None else (left[0][0], left[1])

    def run_unknown(self, function: Function, namespace: Mapping[str, Any], cells: Mapping[ir.Cell, Site]) -> None:
        """Run a function as unknown code may: at any time, with anything."""
        if function in self._unknown:
            return
        self._unknown.add(function)
        frame = Frame(function, namespace, dict(cells), "unknown", self.facts, is_unknown=True)
        frame.cells.update((cell, Site(CellType, cell, "unknown")) for cell in function.cells)
        for version in function.parameters:
            frame.bind(version, ANY)
        running, self.running = self.running, [(function, None)]
        try:
            run_block(self, frame, function.body, Top())
        finally:
            self.running = running

    def call(
        self, frame: Frame, statement: Statement, function: Value, positional: tuple[Value, ...], heap: Heap
    ) -> tuple[Value, Heap] | None:
        """Call a function with positional arguments."""
        return call(self, frame, statement, function, Given(positional), heap)

    # --- unknown code ------------------------------------------------------------------------------------------------
    def unknown(self, given: Sequence[Value], heap: Heap) -> Heap:
        """The heap after unknown code got these values: it keeps, changes and calls what it can reach."""
        sites, held = heap.reachable(given)
        for site in sites:
            if site in self.closures:
                self.run_unknown(*self.closures[site])
            elif site.kind is not None:
                self._run_methods(site.kind)
        for value in held:
            for atom in value.atoms:
                match atom:
                    case Exact(value=FunctionType() as function):
                        self.run_unknown_function(function)
                    case Exact(value=type() as kind):
                        self._run_methods(kind)
                    case Bound(function=FunctionType() as function):
                        self.run_unknown_function(function)
        heap = heap.exposed(given)
        self.facts.seen |= heap.seen
        return heap

    def store(self, heap: Heap, site: Site, contents: Contents) -> Heap:
        """The heap after a store; unknown code sees what is stored where it sees the object."""
        if heap.is_seen(site):
            return self.unknown(list(contents.values()), heap)
        return heap.updated(site, contents)

    def run_unknown_function(self, function: FunctionType) -> None:
        if is_of_library(function):
            return
        made = self.lowered(function)
        cells = self.cells_of(function, made)
        if made is not None:
            self.run_unknown(made, function.__globals__, cells)
            return
        if any(name in function.__code__.co_names for name in SHAPING):
            self.assigned.add(RESHAPED)
        for name in function.__code__.co_names:
            self.keep(self.outside.value(function.__globals__.get(name)))
        self.keep(at(*cells.values()))

    def _run_methods(self, kind: type) -> None:
        """Unknown code may call any method of an object."""
        for base in kind.__mro__:
            if not is_of_library(base):
                for found in vars(base).values():
                    for part in (found, getattr(found, "__func__", None), *_accessors(found)):
                        if isinstance(part, FunctionType):
                            self.run_unknown_function(part)

    def keep(self, value: Value) -> None:
        """Note that unknown code may hold what a value refers to from outside, from the beginning on."""
        heap = Heap(self.outside.contents)
        self.kept |= {site for site in heap.reachable([value])[0] if site.context == "outside"}

    def cells_of(self, function: FunctionType, made: Function | None) -> dict[ir.Cell, Site]:
        """The cells that a function from outside captured."""
        captured = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if made is None:
            return {ir.Cell(name, name): self.outside.cell(cell) for name, cell in captured.items()}
        return {cell: self.outside.cell(captured[cell.variable]) for cell in made.free}


def _accessors(found: object) -> tuple[object, ...]:
    return (found.fget, found.fset, found.fdel) if isinstance(found, property) else ()


def analysed(
    function: FunctionType, arguments: Sequence[Any], keywords: Mapping[str, Any] | None = None, lower: Lower = lowered
) -> Facts | None:
    """Facts of a call with these arguments; None of a function whose text cannot be read.  ``lower`` makes the IR."""
    outside, assigned, kept = Outside(), set[tuple[int, str]](), set[Site]()
    while True:
        analysis = Analysis(outside, assigned, kept, lower)
        made = analysis.lowered(function)
        if made is None:
            return None
        before = len(assigned), len(kept)
        frame = Frame(made, function.__globals__, {}, None, analysis.facts)
        heap = Heap(outside.contents, seen=frozenset(kept))
        named = tuple((name, outside.value(value)) for name, value in (keywords or {}).items())
        given = Given(tuple(map(outside.value, arguments)), named)
        call(analysis, frame, _ENTRY, exact(function), given, heap)
        analysis.facts.seen |= kept
        analysis.facts.note_heap(Heap(outside.contents, outside.contents))
        if before == (len(assigned), len(kept)):  # what is stored to, and kept, was known from the beginning
            return analysis.facts


_ENTRY = Assign((), ir.Copy(ir.Literal(None)), gast.Pass())  # the call from outside
