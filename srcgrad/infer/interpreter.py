"""Runs functions on abstract values: calls of the user's functions are entered, and unknown code is let do anything.

Enters: a function object and its arguments, or the values of them.  Leaves: ``Facts``::

    def f(x):                          x: float64[1]@ndarray
        held = [x]                     held: list
        held.append(x[0])              t: None
        return held[1]                 t: float64

Calls are summarised with one call of context (``infer.summaries``).  What lies too deep is unknown code: it may change
and call all that it can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import gast

from srcgrad.errors import SrcgradError
from srcgrad.frontend.lowering import converted, with_lists
from srcgrad.infer import generators, summaries
from srcgrad.infer.assigned import Again, Assigned
from srcgrad.infer.calls import call
from srcgrad.infer.control import run_block
from srcgrad.infer.entry import Kinds
from srcgrad.infer.facts import Facts
from srcgrad.infer.frames import Frame, Top, Ways
from srcgrad.infer.generators import Generator
from srcgrad.infer.heap import Contents, Heap, Site, sites_of
from srcgrad.infer.local_classes import LocalClasses
from srcgrad.infer.object_sets import with_object_sets
from srcgrad.infer.outside import Outside, is_of_library
from srcgrad.infer.parameters import Given
from srcgrad.infer.reasons import TOO_DEEP, TOO_LONG, Place, Reason
from srcgrad.infer.stacks import nested
from srcgrad.infer.values import ANY, NEVER, Bound, Exact, Value, at, exact, unknown
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import (
    Assign,
    Function,
    Statement,
)
from srcgrad.language.models import is_of_model
from srcgrad.syntax.parse import walk

Lower = Callable[[FunctionType], Function]
_DEEPEST = 24  # calls inside each other
_MOST = 3000  # calls that are entered in one analysis


class GivenUp(Exception):
    """An analysis takes longer than it may, or anything may be anything."""

    def __init__(self, why: Reason, place: Place | None) -> None:
        super().__init__(why.message)
        self.why, self.place = why, place


class Analysis:
    """One analysis: what is looked up once, and the functions that run now."""

    def __init__(
        self, assigned: Assigned, kept: dict[Site, object], lower: Lower = converted, *, stops: bool = False
    ) -> None:
        self.facts = Facts(is_reshaped=assigned.is_reshaped)
        self._lower = lower
        self.outside = Outside(assigned, self._may_reach)
        self.local_classes = LocalClasses(assigned)
        self.assigned = assigned
        assigned.now, assigned.stop = self._place, self._stop
        self.stops = stops  # whether the program ends where unknown code would run
        self.kept = kept  # sites from outside that unknown code may hold from the beginning on
        self.running: list[tuple[Function, Statement | None]] = []  # with the statements that call them
        self._begun: Any = None  # where unknown code has begun to run
        self.entered = 0
        self.root: FunctionType | None = None
        self.at: tuple[Frame, Statement] | None = None  # the statement that runs
        self.left: int | None = None  # statements that may still be run; None: any number
        self.summaries = summaries.Summaries()
        #: Function objects that the program makes: what they run, with which globals and cells.
        self.closures: dict[Site, tuple[Function, Mapping[str, Any], Mapping[ir.Cell, Site]]] = {}
        self.generators: dict[Site, Generator] = {}  # generators of the program that are followed
        self.texts: dict[FunctionType, Function | None] = {}  # the IR of functions from outside
        self._unknown: set[Function] = set()  # what unknown code may run, and was run so
        self._reached: set[FunctionType | ModuleType] = set()  # of which unknown code has what they hold
        self._waiting: list[FunctionType] = []  # those of them that are still to be run
        self._is_running_them = False
        self._without_text: set[FunctionType] = set()
        self._classes: set[type] = set()  # of which it may call methods
        self.carried: set[Value] = set()  # what exceptions may hold that are raised where something catches them
        self.throws_data = False  # whether the program raises exceptions that hold more than text
        self.raised = NEVER  # what the program itself raises

    # --- functions ---------------------------------------------------------------------------------------------------
    def lowered(self, function: FunctionType) -> Function | None:
        """The IR of a function, None where it has none."""
        if function not in self.texts:
            try:
                made = nested(self._lowered(function), function.__globals__)
                made = self.assigned.unrolled.written(made)
                self.texts[function] = with_object_sets(made, self.assigned.object_sets)
            except (SrcgradError, OSError, SyntaxError, RecursionError):
                self.texts[function] = None
        return self.texts[function]

    def _lowered(self, function: FunctionType) -> Function:
        listed = self.assigned.listed.items()
        places = frozenset(at for (home, at), is_list in listed if is_list and home == id(function.__globals__))
        if not places:
            return self._lower(function)
        texts = self.assigned.texts
        if (function, places) not in texts:  # its statements are the same ones when the analysis starts again
            texts[function, places] = with_lists(function, places)
        return texts[function, places] or self._lower(function)

    def enter(
        self,
        function: Function,
        namespace: Mapping[str, Any],
        cells: Mapping[ir.Cell, Site],
        arguments: Mapping[ir.Version, Value],
        heap: Heap,
        call: Frame,
        statement: Statement,
    ) -> tuple[Value, Heap] | None:
        """What a call returns, and the heap then; None where it does not return."""
        if function.is_generator and (function, statement) not in self.running:
            generator = Generator(function, namespace, dict(cells), statement)
            return generators.made(self, call, statement, generator, arguments, heap)
        if self.is_deep or function.is_generator:
            self.run_unknown(function, namespace, cells)
            why = TOO_DEEP if self.is_deep else None
            return unknown(why), self.unknown([*arguments.values(), *map(at, cells.values())], heap, why=why)
        return summaries.entered(self, function, namespace, cells, arguments, heap, call, statement)

    def run(self, frame: Frame, function: Function, statement: Statement | None, heap: Heap) -> Ways:
        """Run the body of a function, which a statement calls."""
        self.running.append((function, statement))
        try:
            return run_block(self, frame, function.body, heap)
        finally:
            self.running.pop()

    def spend(self, statements: int) -> None:
        """Count statements that are run; raises ``GivenUp`` after too many, and where nothing is known any more."""
        if self.left is not None:
            self.left -= statements
            if self.left < 0:
                self.assigned.give_up(TOO_LONG)
            if self.assigned.why is not None:
                raise GivenUp(self.assigned.why, self.assigned.place)

    def _stop(self, why: Reason | None) -> bool:
        """Whether the program ends at the statement that runs, for a reason."""
        if not self.stops or self.at is None or self.at[0].is_unknown or self.assigned.is_trusted:
            return False
        self.facts.stops[self.at[1]] = self.facts.stops.get(self.at[1]) or why
        return True

    def _place(self) -> Place | None:
        """The statement that runs, in a function of the user's: the one that calls, where a model or a library does."""
        owners = {function: owner for owner, function in self.texts.items() if function is not None}
        at, running = self._begun or (self.at, self.running)
        node, called = None if at is None else at[1].node, None
        for function, statement in reversed(running):
            owner = owners.get(function) or _around(node, owners)
            if node is not None and owner is not None and not is_of_library(owner) and not is_of_model(owner):
                return Place(owner, node, called)
            node, called = None if statement is None else statement.node, owner
        return None

    @property
    def is_deep(self) -> bool:
        """Whether no more calls are entered here."""
        return len(self.running) > _DEEPEST or self.entered > _MOST

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
        begun, self._begun = self._begun, self._begun or (self.at, running)
        try:
            run_block(self, frame, function.body, Top())
        finally:
            self.running, self._begun = running, begun

    def call(
        self, frame: Frame, statement: Statement, function: Value, positional: tuple[Value, ...], heap: Heap,
        named: tuple[tuple[str, Value], ...] = (),
    ) -> tuple[Value, Heap] | None:  # fmt: skip
        """Call a function."""
        return self.called(frame, statement, function, Given(positional, named), heap)

    def called(
        self, frame: Frame, statement: Statement, function: Value, given: Given, heap: Heap
    ) -> tuple[Value, Heap] | None:
        """Call a function, of which some arguments may be of any number."""
        return call(self, frame, statement, function, given, heap)

    # --- unknown code ------------------------------------------------------------------------------------------------
    def unknown(
        self, given: Sequence[Value], heap: Heap, *, is_run: bool = True, why: Reason | None = None
    ) -> Heap:
        """The heap after unknown code got these values: it keeps, changes and calls what it can reach.

        ``is_run``: the code is run by the statement that is at work; ``why`` it is unknown.
        """
        if is_run and self._stop(None):
            return heap
        if is_run and self.at is not None:
            frame, statement = self.at
            if not frame.is_unknown:
                self.facts.opaque.add(statement)
        sites, held = self.reachable(heap, given)
        if why is not None:
            self.facts.exposed.update((site, why) for site in sites if site not in self.facts.exposed)
        for site in sites:
            if site in self.closures:
                self.run_unknown(*self.closures[site])
            elif site in self.generators:
                generator = self.generators[site]
                self.run_unknown(generator.function, generator.namespace, generator.cells)
            elif site.kind not in (None, CellType, FunctionType):
                self._run_methods(site.kind)
        for value in held:
            for atom in value.atoms:
                match atom:
                    case Exact(value=FunctionType() as function):
                        self.run_unknown_function(function)
                    case Exact(value=type() as kind):
                        self._run_methods(kind)
                    case Exact(value=ModuleType() as module) if not is_of_library(module):
                        if module not in self._reached:
                            self._reached.add(module)
                            self._may_reach(list(vars(module).values()))
                    case Bound(function=FunctionType() as function):
                        self.run_unknown_function(function)
        heap = heap.exposed(map(at, sites))
        self.facts.seen |= heap.seen
        return heap

    def reachable(self, heap: Heap, roots: Sequence[Value]) -> tuple[frozenset[Site], list[Value]]:
        """As ``Heap.reachable``, with what the variables of generators hold."""
        resumed: set[Site] = set()
        while True:
            sites, held = heap.reachable(roots)
            more = [site for site in sites if site in self.generators and site not in resumed]
            if not more:
                return sites, held
            resumed.update(more)
            roots = [*roots, *(value for site in more for value in self.generators[site].values.values())]

    def store(self, heap: Heap, site: Site, contents: Contents) -> Heap:
        """The heap after a store; unknown code sees what is stored where it sees the object."""
        self.note_store([at(site)])
        if heap.is_seen(site):
            return self.unknown(list(contents.values()), heap, is_run=False)
        return heap.updated(site, contents)

    def note_store(self, values: Sequence[Value], heap: Heap | None = None) -> None:
        """Note for the call that runs that something is stored into what these values refer to; with a heap, or into
        what can be reached from them."""
        if self.summaries.running:
            own = [site for value in values for site in sites_of(value)]
            self.summaries.running[-1].stored.update(own if heap is None else heap.reachable(values)[0])

    def run_unknown_function(self, function: FunctionType) -> None:
        """Run a function as unknown code may; those that it reaches wait for their turn, so that calls do not nest."""
        if function in self._reached or is_of_library(function):
            return
        self._reached.add(function)
        self._waiting.append(function)
        if self._is_running_them:
            return
        self._is_running_them = True
        try:
            while self._waiting:
                self._run_reached(self._waiting.pop())
        finally:
            self._is_running_them = False

    def _run_reached(self, function: FunctionType) -> None:
        made = self.lowered(function)
        cells = self.cells_of(function, made)
        self.keep(at(*cells.values()))
        self._may_reach([function.__defaults__, function.__kwdefaults__, *vars(function).values()])
        if made is not None:
            self.run_unknown(made, function.__globals__, cells)
        elif function not in self._without_text:
            self._without_text.add(function)
            self.assigned.note_code(function.__code__, function.__globals__)
            self._may_reach([function.__globals__.get(name) for name in names_in(function.__code__)])

    def _run_methods(self, kind: type) -> None:
        """Unknown code may call any method of an object, and reaches what its class holds."""
        if kind in self._classes:
            return
        self._classes.add(kind)
        meta: type = type(kind)
        for base in (*kind.__mro__, *meta.__mro__):
            if not is_of_library(base):
                held = [found for name, found in vars(base).items() if name not in _OF_COMPILER]
                self._may_reach([part for found in held for part in unwrapped(found)])

    def _may_reach(self, found: Sequence[Any]) -> None:
        """Unknown code may hold, change and call these objects from outside, from the beginning on."""
        for part in found:
            if isinstance(part, FunctionType):
                self.run_unknown_function(part)
            elif isinstance(part, type):
                self._run_methods(part)
            elif not isinstance(part, ModuleType):
                self.keep(self.outside.value(part))

    def keep(self, value: Value) -> None:
        """Note that unknown code may hold what a value refers to from outside, from the beginning on."""
        for site in Heap(self.outside.contents).reachable([value])[0]:
            if site.context == "outside":
                self.kept[site] = self.outside.objects[site]

    def cells_of(self, function: FunctionType, made: Function | None) -> dict[ir.Cell, Site]:
        """The cells that a function from outside captured."""
        captured = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if made is None:
            return {ir.Cell(name, name): self.outside.cell(cell) for name, cell in captured.items()}
        return {cell: self.outside.cell(captured[cell.variable]) for cell in made.free}


def _around(node: gast.AST | None, owners: Mapping[Function, FunctionType]) -> FunctionType | None:
    """The function in whose text a node stands."""
    return next((owner for made, owner in owners.items() if any(inner is node for inner in walk(made.node))), None)


#: What Python's compiler notes of a class, since 3.13, which is no part of the program.
_OF_COMPILER = ("__static_attributes__", "__firstlineno__")


def names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def unwrapped(found: Any) -> tuple[Any, ...]:
    """What an entry of a class holds: a function itself, those of a property, or the object that it is."""
    if isinstance(found, property):
        return found.fget, found.fset, found.fdel
    return (found.__func__,) if isinstance(found, classmethod | staticmethod) else (found,)


def analysed(
    function: FunctionType,
    arguments: Sequence[Any] | None,
    keywords: Mapping[str, Any] | None = None,
    lower: Lower = converted,
    *,
    by_kind: bool = False,
    as_data: bool = False,
    most: int | None = None,
    stops: bool = False,
    joint: Set[summaries.Called] = frozenset(),
) -> Facts | None:
    """Facts of a call with these arguments, or of any call with data; None of a function whose text cannot be read.

    ``by_kind``: of every call with arguments of the same kinds, where what is outside is of the same kinds too.
    ``as_data``: with nothing said of what is data among the arguments.  ``lower`` makes the IR.  ``most``: how many
    statements may be run; raises ``GivenUp`` where there are more, and where anything may be anything.  ``stops``: the
    program ends where unknown code would run, or what hands out its frames and namespaces (``Facts.stops``).
    ``joint``: functions and the statements at which all calls of them are taken as one.
    """
    assigned, kept, alive = Assigned(), dict[Site, object](), list[Outside]()
    while True:
        analysis = Analysis(assigned, kept, lower, stops=stops)
        analysis.root, analysis.left, analysis.summaries.joint = function, most, joint
        outside = analysis.outside
        alive.append(outside)
        made = analysis.lowered(function)
        if made is None:
            return None
        before = len(assigned), len(kept)
        frame = Frame(made, function.__globals__, {}, None, analysis.facts)
        heap = analysis.unknown([outside.again(found) for found in list(kept.values())], Heap(outside.contents))
        value: Callable[[Any], Value] = outside.value
        if by_kind:
            outside.by_kind, value = Kinds(outside, outside.value_itself).of, Kinds(outside).of
        if as_data or arguments is None:
            begin_data(outside)
            analysis.facts.data = DATA
        named = tuple((name, value(each)) for name, each in (keywords or {}).items())
        if arguments is None:
            given = data_for(made)
        else:
            given = Given(tuple(map(value, arguments)), named)
        try:
            call(analysis, frame, _ENTRY, exact(function), given, heap)
        except Again:
            assigned.begin_again()
            continue
        analysis.facts.seen |= set(kept)
        analysis.facts.note_heap(Heap(outside.contents, outside.contents))
        analysis.facts.is_lost, analysis.facts.generators = assigned.is_lost, analysis.generators
        analysis.facts.entry, analysis.facts.methods = frame.calls.get(_ENTRY, []), outside.methods
        analysis.facts.functions = analysis.texts
        if assigned.why is not None and most is not None:
            raise GivenUp(assigned.why, assigned.place)
        if assigned.is_lost or before == (len(assigned), len(kept)):  # all stores, and what is kept, were known before
            return analysis.facts


def begin_data(outside: Outside) -> None:
    """Numbers, arrays and containers of such, of which nothing is said, and which may be one another."""
    outside.data = DATA
    outside.contents[DATA] = Contents(single=False, rest=at(DATA), others=at(DATA))
    outside.objects[DATA] = DATA  # for the object that it stands for, of which there is none


def data_for(function: Function) -> Given:
    """Arguments of which nothing is said."""
    given = function.parameters
    named = tuple((version.variable or version.name, at(DATA)) for version in given.keyword_only)
    more = None if given.variadic is None and given.rest is None else at(DATA)
    return Given((at(DATA),) * len((*given.positional_only, *given.positional)), named, more)


#: All data that a program is given or makes of that, where nothing is said of its arguments.
DATA = Site(None, "arguments", "outside")


_ENTRY = Assign((), ir.Copy(ir.Literal(None)), gast.Pass())  # the call from outside
