"""The road, in order: one callee and a choice of inputs go in, an emitted module of derivative functions comes out.

    source -> lower -> infer -> specialise -> activity, shapes -> reverse | forward -> optimize -> emit

Enters: a ``Request``.  Leaves: ``Compiled``: a module of the derivatives of the entry and, once each, of its callees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any, TypeAlias

import gast

from srcgrad.analysis.accumulating import accumulated
from srcgrad.analysis.activity import Activity
from srcgrad.analysis.admission import Assumed, looked_at
from srcgrad.analysis.axes import computes_axes, refuse_varied_axes, varied_axes_ended
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.changes import attempted, may_change, must_be_copied, stores_anywhere
from srcgrad.analysis.ending import ended
from srcgrad.analysis.lengths import lengths_kept
from srcgrad.analysis.loss import Losses
from srcgrad.analysis.memory import MemoryClasses, memory_classes
from srcgrad.analysis.moving import moving
from srcgrad.analysis.parts import parts_copied
from srcgrad.analysis.read_outside import read_outside
from srcgrad.analysis.receivers import refuse_stores, require_kept
from srcgrad.analysis.shapes import NOTHING_KNOWN, Outcome, result, shapes, shapes_and_outcome
from srcgrad.analysis.solving import solved
from srcgrad.analysis.summaries import Summaries, Summary
from srcgrad.analysis.symbols import Seen, seen_from_inside, unknown
from srcgrad.analysis.values import fact_of_expression
from srcgrad.batching.program import Program, Refused, definition
from srcgrad.emit.load import load, of_users
from srcgrad.emit.printer import emit
from srcgrad.errors import InternalError, MissingRule, NotBatched, Span, UnsupportedSyntax
from srcgrad.faults import reported
from srcgrad.frontend.guards import guards_of
from srcgrad.frontend.journal import writing
from srcgrad.infer.entry import Inferred, holds_objects
from srcgrad.ir.as_python import as_python
from srcgrad.ir.normal_form import (
    Bind,
    Call,
    Callee,
    Checkpointed,
    Derived,
    Function,
    Guarded,
    Held,
    LocalFunction,
    Statement,
    Stretch,
    unguarded,
)
from srcgrad.optimize import enters, optimize, without_twins
from srcgrad.passes import PASSES, Form, Pass, Queries, prepared
from srcgrad.programs import Compiled, present_options
from srcgrad.requests import Asked, Prepared, Request, present_forms, without_collecting
from srcgrad.rules.facts import Array, Fact, Sequence, Unknown, is_real
from srcgrad.rules.formula import displayed
from srcgrad.spec import check_emitted, check_lines, check_normal_form
from srcgrad.specialise.callers import in_users_text
from srcgrad.specialise.ending import specialised
from srcgrad.specialise.entry import callee_for
from srcgrad.specialise.instances import Instance
from srcgrad.syntax.depth import deep_enough
from srcgrad.syntax.marks import in_role
from srcgrad.syntax.namer import Namer
from srcgrad.transform.adjoint import AdjointProgram
from srcgrad.transform.build import load as name_of
from srcgrad.transform.checkpointing import is_run_again
from srcgrad.transform.entries import LABELS, NESTED, document, driver, entry_facts, hidden_names, label, stem, unpassed
from srcgrad.transform.forward import tangent
from srcgrad.transform.forward_liveness import mirrored_in
from srcgrad.transform.local_texts import found_here, name_texts
from srcgrad.transform.marked import has_marks, unmarked
from srcgrad.transform.nesting import keep_apart, made_pair, made_primal, made_tangent, nested
from srcgrad.transform.outlining import outlined
from srcgrad.transform.results_apart import Returning
from srcgrad.transform.shadowing import shadows_of
from srcgrad.transform.shadows import PLAIN, Modes

Known: TypeAlias = Mapping[str, Fact]
Names: TypeAlias = frozenset[str]
Facts: TypeAlias = tuple[Fact, ...]
RISES = 8  # times that the outcome of a recursion may change before nothing is assumed about it
LIMIT = 6  # specialisations of one recursive callee before nothing more is assumed about its arguments


class Module:
    """The functions of one emitted module while they are being made; serves call sites their callees' names."""

    def __init__(self, *, generic: bool = False, shown: bool = False) -> None:
        self.stores = False  # whether anything that is called stores into memory, as far as tangents ask
        self.assumed = Assumed(shown)
        self.tried, self.shown = False, shown  # whether what a callee raises may be caught; whether this is to be read
        self.generic = generic  # nothing is known, so nothing is told apart, of arguments
        self.attempted = frozenset[Callee]()  # what is called where an exception may be caught, as tangents ask
        self.strong_zeros = present_options().strong_zeros
        self.namer, self.held_texts, self.asks_for_texts = Namer(), dict[Held, str](), False
        self.functions: list[gast.FunctionDef] = []
        self.written: list[tuple[gast.FunctionDef, Names, Names, Names, Names]] = []
        self.forms = present_forms()
        self.shaped = self.forms.known[generic, shown]
        self.underway, self.refused = set[Callee](), dict[Callee, UnsupportedSyntax | MissingRule | None]()
        self.told: Mapping[str, str] = {}  # the kinds of arguments of the entry, in words
        self.open: Callee | None = None  # the entry, where nobody has looked at what it is called with
        self.made_ready, self.opened = dict[Asked, Prepared](), dict[Asked, Prepared]()
        self.loops: dict[Asked, Prepared] = {}  # of which few states are kept, as calls
        self.repeats, self.repeated = True, False  # whether anything may be run again, instead of recorded, and is
        self.pairs: dict[tuple[Callee, tuple[bool, ...], Facts, Modes], tuple[str, str]] = {}
        self.read_again: dict[tuple[Callee, tuple[bool, ...], Facts, Modes], bool] = {}
        self.inside: dict[tuple[Callee, Facts], Seen] = {}
        self.tangents: dict[tuple[Callee, tuple[bool, ...], Facts], str] = {}
        self.primals = dict[Callee, str]()
        self.outcomes = Summaries(self._outcome, Outcome())
        self.solved: dict[Asked, Known] = {}  # the facts that the outcomes were worked out with
        self.adds: dict[Asked, frozenset[int]] = {}  # arguments to whose adjoints callees add place by place
        self.rises: dict[Asked, int] = {}  # how often the outcome of a recursion became another one
        self.specialised: dict[Callee, set[Facts]] = {}  # where each was looked into
        self.pending: list[Callable[[], None]] = []
        self.apart: dict[str, Returning] = {}  # what returns results that are handed out as they are
        self.entry: Callee | None = None
        self.summaries = Summaries(self._summary, Summary())
        self.losses = Losses(self.normalized, self._inside, self.summary_of)
        self.changes_saved = False  # whether a backward half stores into what its forward half saved

    # --- the road ----------------------------------------------------------------------------------------------------
    def normalized(self, callee: Callee) -> Function:
        callee, normal = replace(callee, recorded=False), self.forms.normal
        if callee not in normal:
            instance = self._inferred(self._entry(callee), self._given(callee)).instance
            assert isinstance(instance, Instance)
            self.underway.add(callee)
            try:
                normal[callee] = ended(specialised(instance), self._refusal_of_call)
            finally:
                self.underway.discard(callee)
            if present_options().check:
                check_normal_form(normal[callee])
        return normal[callee]

    def _refusal_of_call(self, statement: Statement) -> UnsupportedSyntax | MissingRule | None:
        operation = statement.operation if isinstance(statement, Bind) else None
        return self._refusal(operation.callee) if isinstance(operation, Call) else None

    def _refusal(self, callee: Callee) -> UnsupportedSyntax | MissingRule | None:
        """Why a callee is refused; None of any other, and of one that is being written already (recursion)."""
        if callee in self.underway or isinstance(callee.function, Derived | Guarded):
            return None
        if callee not in self.refused:
            try:
                self.normalized(callee)
                self.refused[callee] = None
            except (UnsupportedSyntax, MissingRule) as refusal:
                self.refused[callee] = refusal
        return self.refused[callee]

    def _inferred(self, callee: Callee, given: tuple[Inferred, ...] = ()) -> Callee:
        """A callee with what is inferred of a call of which no more is said than what objects it is ``given``."""
        if callee.instance is not None:
            return callee
        count = callee.function.__code__.co_argcount if given else 0  # type: ignore[union-attr]
        positional = (*given, *[0.0] * (count - len(given)))
        return self.forms.callee(Request(callee, (), "", arguments=(positional, {}) if given else None), callee_for)

    def _given(self, callee: Callee) -> tuple[Inferred, ...]:
        """What a derivative is given, where objects are among that."""
        instance = callee.instance
        if not isinstance(callee.function, Derived) or not isinstance(instance, Instance):
            return ()
        given = instance.given
        return given if any(holds_objects(each.heap, each.value) for each in given) else ()

    def _entry(self, callee: Callee) -> Callee:
        """The derivative that a callee is, as a function of its own; any other callee as it is."""
        derived = callee.function
        if not isinstance(derived, Derived):
            return unguarded(callee) if isinstance(derived, Guarded) else callee
        mode = NESTED.get(derived.mode, derived.mode)
        inner = Callee(derived.function, instance=callee.instance)  # type: ignore[arg-type]
        kept = *unpassed(derived.function), *derived.bound
        request = Request(inner, derived.wanted, mode, None, derived.tupled, kept=kept, shown=self.shown, is_flat=True)
        return Callee(compile_request(request).entry)

    def facts_of(self, callee: Callee, facts: Facts) -> Mapping[str, Fact]:
        key = (callee, facts)
        self.specialised.setdefault(callee, set()).add(facts)  # before a recursion asks for the next one
        if key not in self.shaped:
            self.outcomes.of(callee, facts)
            self.shaped[key] = self.solved[key]
        return self.shaped[key]

    def changes(self, callee: Callee) -> bool:
        """Whether a callee may change the objects that it is given."""
        return may_change(callee, self.normalized)

    def outcome_of(self, callee: Callee, facts: Facts) -> Outcome:
        """What a call returns, and puts into what it is given."""
        if isinstance(callee.function, Guarded):
            inside = self.outcome_of(unguarded(callee), facts)
            result = Unknown() if inside.result is None else inside.result
            return Outcome(Sequence("tuple", (result, Unknown())), inside.put)
        seen = self.seen(callee, facts)
        return self.outcomes.of(callee, seen.inside).mapped(seen.outside)

    def _outcome(self, callee: Callee, facts: Facts) -> Outcome:
        """The outcome of a call, from the present outcomes of those that it makes."""
        key = callee, facts
        self.specialised.setdefault(callee, set()).add(facts)
        function = self.normalized(callee)
        entry = dict(zip(function.parameters, facts, strict=True))
        self.solved[key], outcome = shapes_and_outcome(function, entry, self.outcome_of, self.changes)
        if outcome != self.outcomes.rising.get(key):
            self.rises[key] = self.rises.get(key, 0) + 1
        return NOTHING_KNOWN if self.rises.get(key, 0) > RISES else outcome

    def active(
        self, function: Function, wanted: tuple[str, ...], facts: Known, classes: MemoryClasses | None = None,
        given: Names = frozenset(),
    ) -> Activity:
        return solved(function, wanted, facts, classes, lambda made: self.called(made, facts).stored, given)

    def _kept(
        self, function: Function, wanted: tuple[str, ...], known: Known, classes: MemoryClasses, given: Names,
        solve: Callable[[Function, Known], MemoryClasses], door: bool,
    ) -> tuple[Function, MemoryClasses, Activity]:
        """The function in which no derivative is lost: it is refused else, or looks at the keys of dicts as it runs."""
        function, classes = self._axes_checked(function, wanted, known, classes, given, solve)
        activity = self.active(function, wanted, known, classes, given)
        refuse_varied_axes(function, activity)
        looks = self.losses.refuse(function, activity, known, door)
        if self.shown or not looks:
            return function, classes, activity
        function = looked_at(function, looks)
        classes = solve(function, known)
        return function, classes, self.active(function, wanted, known, classes, given)

    def _axes_checked(
        self, function: Function, wanted: tuple[str, ...], known: Known, classes: MemoryClasses, given: Names,
        solve: Callable[[Function, Known], MemoryClasses],
    ) -> tuple[Function, MemoryClasses]:  # fmt: skip
        """The function, which raises where it comes to a call whose axis varies."""
        if not computes_axes(function):
            return function, classes
        made = varied_axes_ended(function, self.active(function, wanted, known, classes, given))
        return made, classes if made is function else solve(made, known)

    def _inside(self, callee: Callee, facts: Facts, given: tuple[bool, ...]) -> tuple[Function, Activity, Known]:
        """A callee, and its activity where these of its arguments vary."""
        function, known = self.prepared(callee, self._seen_from_inside(callee, facts))
        wanted = tuple(p for p, is_given in zip(function.parameters, given, strict=True) if is_given)
        classes = memory_classes(function, known, self.summary_of)
        return function, self.active(function, wanted, known, classes, frozenset()), known

    def called(self, made: Call, known: Mapping[str, Fact]) -> Summary:
        """What a call does to the memory of its arguments."""
        facts = tuple(fact_of_expression(a, lambda name: known.get(name, Unknown())) for a in made.arguments)
        return self.summary_of(made.callee, facts)

    # --- callees, as call sites see them -----------------------------------------------------------------------------
    def pair(
        self, callee: Callee, active: tuple[bool, ...], facts: Facts, modes: Modes = PLAIN
    ) -> tuple[gast.expr, gast.expr]:
        facts = self._seen_from_inside(callee, facts)
        key = (callee, active, facts, modes)
        if key not in self.pairs:
            of = stem(callee)
            names = self.namer.fresh(f"{of}_fwd"), self.namer.fresh(f"{of}_bwd")
            self.pairs[key] = names
            if made_pair(self, callee, active, facts, modes, names):
                return name_of(names[0]), name_of(names[1])
            function = self.normalized(callee)
            wanted = tuple(p for p, is_active in zip(function.parameters, active, strict=True) if is_active)
            self.pending.append(lambda: self.split(callee, wanted, facts, *names, modes=modes))
        forward, backward = self.pairs[key]
        return name_of(forward), name_of(backward)

    def reads_again(self, callee: Callee, active: tuple[bool, ...], facts: Facts, modes: Modes) -> bool:
        """Whether the backward half of a callee reads what memory holds that comes with its shadow."""
        callee = unguarded(callee) if isinstance(callee.function, Guarded) else callee
        if self.generic or isinstance(callee.function, Derived):
            return True
        key = callee, active, self._seen_from_inside(callee, facts), modes
        if key not in self.read_again:
            self.read_again[key] = True  # of a recursion nothing is known
            parameters = self.normalized(callee).parameters
            wanted = tuple(p for p, is_active in zip(parameters, active, strict=True) if is_active)
            self.read_again[key] = self.program(callee, wanted, key[2], modes).reads_again()
        return self.read_again[key]

    def added_to(self, callee: Callee, facts: Facts) -> frozenset[int]:
        """The arguments of a callee to whose adjoints its reverse sweep adds place by place."""
        has_text = isinstance(callee.function, FunctionType | LocalFunction)
        if self.generic or not has_text or self.repeats and is_run_again(callee):
            return frozenset()
        key = callee, self._seen_from_inside(callee, facts)
        if key not in self.adds:
            self.adds[key] = accumulated(*self.prepared(*key))
        return self.adds[key]

    def tangent(self, callee: Callee, active: tuple[bool, ...], facts: Facts) -> gast.expr:
        facts = self._seen_from_inside(callee, facts)
        key = (callee, active, facts)
        if key not in self.tangents:
            name = self.tangents[key] = self.namer.fresh(f"{stem(callee)}_jvp")
            if made_tangent(self, callee, active, facts, name):
                return name_of(name)
            function = self.normalized(callee)
            wanted = tuple(p for p, is_active in zip(function.parameters, active, strict=True) if is_active)
            self.pending.append(lambda: self.forward(callee, wanted, facts, name))
        return name_of(self.tangents[key])

    def primal(self, callee: Callee) -> gast.expr | None:
        """A callee that the emitted module must hold itself: it reads its surroundings, or hands out functions."""
        kept = isinstance(callee.function, FunctionType) and callee.makes is None
        return None if kept and not must_be_copied(callee, self.normalized) else self.copied(callee)

    def copied(self, callee: Callee) -> gast.expr:
        """A callee as a function of this module, every parameter plain and positional."""
        if callee not in self.primals:
            name = self.primals[callee] = self.namer.fresh(stem(callee))
            if made_primal(self, callee, name):
                return name_of(name)
            self.pending.append(lambda: self._copy(callee, name))
        return name_of(self.primals[callee])

    def _seen_from_inside(self, callee: Callee, facts: Facts) -> Facts:
        return self.seen(callee, facts).inside

    def seen(self, callee: Callee, facts: Facts) -> Seen:
        """The facts of the arguments of a call as its callee is compiled for."""
        if self.generic:
            return unknown(facts)
        # One answer for one call: what a callee stores into, and its derivative, are worked out from the same facts.
        key = (callee, facts)
        if key not in self.inside:
            known, names = self.specialised.get(callee, set()), self.normalized(callee).parameters
            seen = seen_from_inside(facts, names)
            if seen.inside not in known and len(known) >= LIMIT // 2:
                seen = seen_from_inside(facts, names, apart=True)
            if seen.inside not in known and len(known) >= LIMIT:
                seen = unknown(facts)
            self.inside[key] = seen
        return self.inside[key]

    # --- programs ----------------------------------------------------------------------------------------------------
    def prepared(self, callee: Callee, facts: Facts) -> tuple[Function, Mapping[str, Fact]]:
        """A callee as the transforms take it, with what is known of its names."""
        made_ready = self.opened if (is_open := callee == self.open) else self.made_ready
        if (callee, facts) not in made_ready:
            for _, form in self.passes(callee, facts, is_open=is_open):
                function, known = form.function, form.facts
            made_ready[callee, facts] = function, known
        return made_ready[callee, facts]

    def passes(self, callee: Callee, facts: Facts, *, is_open: bool) -> Iterator[tuple[Pass, Form]]:
        """A callee after each of the passes that make it ready."""
        function = self.normalized(callee)
        if isinstance(callee.function, Stretch | Checkpointed):  # which was written of what they had made ready
            yield PASSES[-1], Form(function, self.facts_of(callee, facts))
            return
        entry = dict(zip(function.parameters, facts, strict=True))
        solve = partial(shapes, entry=entry, outcome_of=self.outcome_of, changes=self.changes)
        queries = Queries(self.generic, is_open, self.told, self.assumed, solve, self.summary_of, self.changes)
        checked = function
        for done, form in prepared(Form(function, self.facts_of(callee, facts)), queries):
            if form.function is not checked and present_options().check:
                check_normal_form(form.function, after=done.name)
                checked = form.function
            yield done, form

    def summary_of(self, callee: Callee, facts: Facts) -> Summary:
        """What a call does to the memory that it is given."""
        return self.summaries.of(callee, self._seen_from_inside(callee, facts))

    def looked_into(self, callee: Callee, facts: Facts) -> Prepared:
        """A callee with the facts from which its summary is worked out."""
        return self.prepared(callee, self._seen_from_inside(callee, facts))

    def _summary(self, callee: Callee, facts: Facts) -> Summary:
        return memory_classes(*self.prepared(callee, facts), self.summary_of).summary

    def outlined(self, callee: Callee, facts: Facts) -> Prepared:
        """A callee as reverse mode takes it: loops of which few states are kept are calls."""
        key = callee, facts
        if key not in self.loops:
            function, known = self.prepared(callee, facts)
            if self.repeats and has_marks(function):
                made = outlined(function, known, self.summary_of, self.normalized)
                self.forms.normal.update(made.made)
                entry = dict(zip(function.parameters, facts, strict=True))
                function = made.function
                known = shapes(function, entry, self.outcome_of, self.changes)
                if present_options().check:
                    for each in (function, *made.made.values()):
                        check_normal_form(each, after="outlining")
            self.loops[key] = unmarked(function), known
        return self.loops[key]

    def program(
        self, callee: Callee, wanted: tuple[str, ...], facts: Facts, modes: Modes = PLAIN, *, door: bool = False
    ) -> AdjointProgram:
        """``door``: called by users, whose arrays have to stay as they are."""
        function, known = self.outlined(callee, facts)
        with_shadow = frozenset(modes.shadowed(function.parameters))
        changing = frozenset(modes.changed(function.parameters))
        solve = partial(
            memory_classes, summary_of=self.summary_of, with_shadow=with_shadow, changing=changing,
            by_value=not modes.result,
        )  # fmt: skip
        function, known, classes = parts_copied(function, known, solve)
        function, classes, active = self._kept(function, wanted, known, classes, with_shadow, solve, door)
        outside = partial(read_outside, callee, self.normalized) if door else None
        shadows = shadows_of(function, known, classes, partial(self.called, known=known), modes, outside=outside)
        if shadows is not None:
            self.changes_saved, function = self.changes_saved or bool(shadows.bars), shadows.function
            active = self.active(function, wanted, known, classes, with_shadow)
        handed = modes.added_to(self.normalized(callee).parameters)
        by_value = tuple(name for name in wanted if name not in with_shadow and name not in handed)
        return AdjointProgram(
            function, by_value, active, known, self, shadows, sink=present_options().sink, handed=handed,
            restored=modes.restored,
        )

    def split(
        self, callee: Callee, wanted: tuple[str, ...], facts: Facts, forward: str, backward: str, *,
        tupled: bool = False, modes: Modes = PLAIN, door: bool = False,
    ) -> None:  # fmt: skip
        program = self.program(callee, wanted, facts, modes, door=door)
        made = program.split(forward, backward, tupled=tupled)
        self.add(made.forward, program.temporaries, program.data)
        self.add(made.backward, program.temporaries, program.data, cotangents=_cotangents(made.backward))

    def joint(
        self, callee: Callee, wanted: tuple[str, ...], facts: Facts, name: str, *, with_value: bool, tupled: bool,
        looks: bool = False,
    ) -> None:  # fmt: skip
        program = self.program(callee, wanted, facts, door=True)
        if program.has_single_return:
            made = program.joint(name, with_value=with_value, tupled=tupled, of="" if looks else None)
            self.apart[name] = Returning(beside=with_value, seed=None if looks else made.args.args[-1].id)
            self.add(made, program.temporaries, program.data, program.numbers)
            return
        forward, backward = (self.namer.fresh(f"{stem(callee)}_{half}") for half in ("fwd", "bwd"))
        pair = program.split(forward, backward, tupled=tupled)
        how = {"with_value": with_value, "stores": program.shadows is not None, "looks": looks}
        self.add(driver(name, pair.forward, forward, backward, **how), frozenset())
        self.add(pair.forward, program.temporaries, program.data)
        self.add(pair.backward, program.temporaries, program.data, cotangents=_cotangents(pair.backward))
        self.apart[backward] = Returning(seed=pair.backward.args.args[-1].id, is_sweep=True)

    def forward(
        self, callee: Callee, wanted: tuple[str, ...], facts: Facts, name: str, *, door: bool = False
    ) -> None:
        function, known = self.prepared(callee, facts)
        function = unmarked(function)
        classes = memory_classes(function, known, self.summary_of, by_place=True)
        given = frozenset() if door else classes.shadowed.intersection(function.parameters)
        # What is stored is of use as in reverse mode: tangents alone do not ask for that.
        solve = partial(memory_classes, summary_of=self.summary_of, with_shadow=given)
        function, classes, _ = self._kept(function, wanted, known, classes, given, solve, door)
        moved = moving(function, wanted, known, classes, self.summary_of)
        # What a callee hands out may be stored into, and so may what it was given: no tangent may be both.
        is_seen = self.stores and (self.tried or not door)
        beside = frozenset(bound for s in walk(function.body) if is_seen for bound in bound_here(s))
        stored = classes.shadowed if door else ()
        beyond = (mirrored_in(moved, given), stored, beside, partial(read_outside, callee, self.normalized))
        made = tangent(function, wanted, moved.activity, known, self, name, *beyond, attempted=callee in self.attempted)
        self.add(made.definition, made.temporaries, made.data)

    def _copy(self, callee: Callee, name: str) -> None:
        function = unmarked(lengths_kept(self.normalized(callee), {}, self.changes))
        made = as_python(function, aligned=True, inside=self.primal)
        made.name = name
        self.add(made, function.temporaries)

    def add(
        self, function: gast.FunctionDef, temporaries: Set[str], data: Names = frozenset(),
        numbers: Names = frozenset(), cotangents: Names = frozenset(),
    ) -> None:  # fmt: skip
        self.functions.append(found_here(self, in_role(function, "primal")))
        self.written.append((self.functions[-1], frozenset(temporaries), data, numbers, cotangents))

    def finish(self) -> None:
        entries = len(self.written)
        while self.pending:
            self.pending.pop(0)()
        name_texts(self)
        if present_options().optimise:
            first = 0 if any(enters(f) for f, *_ in self.written) else entries if self.tried else len(self.written)
            made = {
                id(f): optimize(f, names, raising=j >= first, data=data, numbers=numbers, cotangents=cotangents)
                for j, (f, names, data, numbers, cotangents) in enumerate(self.written)
            }
            self.functions = [made.get(id(each), each) for each in self.functions]
            kept = {*(f.name for f, *_ in self.written[:entries]), *self.held_texts.values(), *self.apart}
            self.functions = without_twins(self.functions, kept)
        keep_apart(self, (half for _, half in self.pairs.values()))  # last: folding may drop what made memory


def _cotangents(backward: gast.FunctionDef) -> Names:
    """The parameters of a reverse sweep behind what was saved."""
    return frozenset(parameter.id for parameter in backward.args.args[1:])


@reported
@deep_enough
@without_collecting()
def compile_request(request: Request, taken: frozenset[str] = frozenset()) -> Compiled:
    """Everything from the user's function to loaded derivative functions, none of which is called like ``taken``."""
    if request.is_flat:
        try:
            return _compiled_in(Module(generic=request.facts is None, shown=request.shown), request, taken)
        except (UnsupportedSyntax, MissingRule):
            request = replace(request, is_flat=False)  # which says why, or calls what cannot be written out
    return _compiled_in(Module(generic=request.facts is None, shown=request.shown), request, taken)


def _compiled_in(module: Module, request: Request, taken: frozenset[str]) -> Compiled:
    module.namer.reserve(*taken)
    with writing(module.forms.journal), in_users_text(lambda: module.entry):
        return _compiled(module, request, taken)


def inferred(module: Module, request: Request) -> Request:
    """A request whose callee is inferred for its arguments."""
    if request.callee.instance is None and isinstance(request.callee.function, FunctionType):
        request = replace(request, callee=module.forms.callee(request, callee_for))
    if request.is_flat and isinstance(request.callee.instance, Instance):
        flat = replace(request.callee, instance=replace(request.callee.instance, is_flat=True))
        request = replace(request, callee=flat)
    return request


def _compiled(module: Module, request: Request, taken: frozenset[str]) -> Compiled:
    request = inferred(module, request)
    module.entry = request.callee
    module.repeats = present_options().repeat and not request.mode.startswith("nested")  # which is differentiated again
    function = module.normalized(request.callee)
    stores = stores_anywhere(request.callee, module.normalized)
    module.assumed = Assumed(request.shown, stores, stores and "forward" not in request.mode)
    module.made_ready = module.forms.prepared[module.generic, module.assumed]
    facts = entry_facts(function, request.facts)
    module.open = request.callee if request.open else None
    module.told = request.told
    stored = refuse_stores(request.callee, facts, request.kept, module.looked_into, module.summary_of)
    outcome = result(function, module.facts_of(request.callee, facts))
    scalar = isinstance(outcome, Array) and outcome.shape == () and (outcome.real or is_real(outcome.dtype))
    of, entry, backward, over = stem(request.callee), "", None, dict[str, Any]()
    match request.mode:
        case "reverse" | "value":
            both, looks = request.mode == "value", request.looks and not scalar
            entry = module.namer.fresh(f"value_and_grad_{of}" if both else f"grad_{of}")
            how = {"with_value": both, "tupled": request.tupled, "looks": looks}
            module.joint(request.callee, request.wanted, facts, entry, **how)
        case "split":
            entry, backward = module.namer.fresh(f"{of}_fwd"), module.namer.fresh(f"{of}_bwd")
            module.split(request.callee, request.wanted, facts, entry, backward, tupled=request.tupled, door=True)
        case "forward" | "nested forward":
            entry = module.namer.fresh(f"jvp_{of}")
            module.stores = stores
            module.attempted = attempted(request.callee, module.normalized) if module.stores else frozenset()
            module.forward(request.callee, request.wanted, facts, entry, door=True)
            if request.mode == "nested forward":
                module.apart[entry] = Returning(beside=True)
        case "batched":
            entry, over = _batched(module, request, facts)
        case "nested" | "nested value" | "nested split" | "nested pulled" | "nested linear":
            entry = nested(module, request.callee, request.mode, request.wanted, facts, tupled=request.tupled)
        case _:
            raise InternalError(f"no such mode: {request.mode}")
    require_kept(next(made for made in module.functions if made.name == entry), stored)
    module.finish()
    if hidden := hidden_names(module.functions):
        return compile_request(request, taken | hidden)
    place = of_users(function.span) or function.span
    document(module.functions[0], place, request.callee, request.mode, request.wanted, request.sizes)
    if present_options().check:
        check_emitted(module.functions)
    emission = emit(module.functions, spans=partial(_place, function.span))
    if present_options().check:
        check_lines(emission.text, emission.above, emission.line_map, emission.roles)
    guards = guards_of(module.forms.journal)
    loaded = load(emission, entry, label=f"{label(request.callee)}:{LABELS[request.mode]}", guards=guards)
    second = loaded.__globals__[backward] if backward else None
    request = replace(request, arguments=None)  # what they are is inferred: no program keeps them
    told = scalar, module.changes_saved, guards, module.repeated, request.looks, request.pattern
    return Compiled(function.span, emission, loaded, second, *told, of=lambda: request, **over)


def _batched(module: Module, request: Request, facts: Facts) -> tuple[str, dict[str, Any]]:
    """The entry over a batch, and what its program says of that; ``LanguageError`` where it has no batching rule."""
    program = Program(module)
    entry = module.namer.fresh(f"{stem(request.callee)}_batch")
    given = len(request.carried)
    carried = (*request.carried, *(None for _ in facts[given:]))
    try:
        made = program.batched(request.callee, facts, carried, entry)
        written = [definition(each, entry=each is made[0], given=given) for each in made]
    except Refused as refused:
        raise NotBatched(refused.reason, of_users(refused.span)) from None
    for each, text in zip(made, written, strict=True):
        module.add(text, each.temporaries)
    memory = made[0].writer.memory
    module.changes_saved = not (memory.arrays | memory.containers).isdisjoint(made[0].writer.function.parameters)
    slow = tuple((displayed(function), of_users(span)) for function, span in program.slow.values())
    return entry, {"slow": slow, "returned": made[0].signature.result, "break_even": program.break_even()}


def _place(entry: Span, made: gast.stmt) -> Span | None:
    """The user's place of a statement (``transform.control.placed``); of a function that has none, what is derived."""
    return of_users(getattr(made, "span", entry if isinstance(made, gast.FunctionDef) else None))
