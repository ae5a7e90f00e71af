"""A function and its callees over a batch.

Enters: the entry, and what its arguments carry.  Leaves: one function for each callee and what it is given, each as
often as it is called with another batch.  What a callee's result carries is found with its body, again and again until
nothing changes, as recursion asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import gast

from srcgrad.analysis.cfg import blocks_of, walk
from srcgrad.analysis.shapes import NOTHING_KNOWN, Outcome, shapes_and_outcome
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.symbols import Seen
from srcgrad.batching.carried import LEAF, Carried, Items, Keys, Unbatchable, join
from srcgrad.batching.facts import of_emitted
from srcgrad.batching.scope import Operand, Scope, tree
from srcgrad.batching.statements import Memory, Signature, Writer, draws, memory_of
from srcgrad.errors import Span
from srcgrad.ir.normal_form import Bind, Block, Call, Callee, For, Function, Guarded, Statement, While, unguarded
from srcgrad.rules.facts import Array, Fact, Sequence, Unknown
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone

Facts = tuple[Fact, ...]
LIMIT = 200  # functions of one program, before nothing is made at once
_COST = 16  # how many operations on Python's numbers take the time of one on a small array
_PASSES = 10  # what is assumed of a loop


class Emitting(Protocol):
    """What a module of emitted functions provides."""

    namer: Namer

    def normalized(self, callee: Callee) -> Function: ...

    def prepared(self, callee: Callee, facts: Facts) -> tuple[Function, Mapping[str, Fact]]: ...

    def seen(self, callee: Callee, facts: Facts) -> Seen: ...

    def summary_of(self, callee: Callee, facts: Facts) -> Summary: ...

    def changes(self, callee: Callee) -> bool: ...

    def primal(self, callee: Callee) -> gast.expr | None: ...


@dataclass
class _Made:
    """One function over a batch, while it is being made."""

    signature: Signature
    writer: Writer
    parameters: tuple[Carried, ...]
    body: list[gast.stmt] = field(default_factory=list)
    calls: list[_Made] = field(default_factory=list)
    temporaries: frozenset[str] = frozenset()


class Refused(Exception):
    """Why a function is not batched, and where."""

    def __init__(self, reason: str, span: Span | None) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


def _with_loops(body: Block) -> Iterator[tuple[Statement, int]]:
    """The statements of a function, each with how many loops it stands in."""
    pending = [(body, 0)]
    while pending:
        block, loops = pending.pop()
        for statement in block.statements:
            yield statement, loops
            inside = loops + isinstance(statement, For | While)
            pending += [(inner, inside) for inner in blocks_of(statement)]


class Program:
    """The functions of one module that run over a batch."""

    def __init__(self, module: Emitting) -> None:
        self.module = module
        self.made: dict[object, _Made] = {}
        self.outcomes: dict[tuple[Callee, Facts], Outcome] = {}
        self.facts: dict[tuple[Callee, Facts], tuple[Function, Mapping[str, Fact], Memory]] = {}
        self.drawing: dict[Callee, bool] = {}
        self.grown = False
        self.running: list[_Made] = []
        self.slow: dict[str, tuple[object, Span | None]] = {}

    def batched(self, callee: Callee, facts: Facts, carried: tuple[Carried, ...], name: str) -> list[_Made]:
        """The entry and all that it calls, the entry first; ``Refused`` where some of it has no batching rule."""
        entry = self._function(callee, facts, carried, name)
        while True:
            self.grown = False
            self.slow.clear()
            for made in list(self.made.values()):
                self._run(made)
            if not self.grown:
                break
        self._raisable(entry)
        found, pending = [entry], [entry]
        while pending:
            for called in pending.pop().calls:
                if called not in found:
                    found.append(called)
                    pending.append(called)
        return found

    def break_even(self) -> float:
        """The number of examples from which on the program takes less time than a run of the function for each.

        An operation on a batch takes the time of one on a small array; so does one on an example's array, but not one
        on its numbers.  The number of passes of a loop, and of calls of a function, is not known here.
        """
        numbers = arrays = 0.0
        for made in self.made.values():
            scope = made.writer.scope
            for statement, loops in _with_loops(made.writer.function.body):
                if isinstance(statement, Bind) and scope.carried.get(statement.target) == LEAF:
                    fact = scope.facts.get(statement.target)
                    is_number = isinstance(fact, Array) and fact.shape == () and fact.scalar
                    numbers += _PASSES**loops if is_number else 0
                    arrays += 0 if is_number else _PASSES**loops
        return (numbers + arrays) / (numbers / _COST + arrays) if numbers + arrays else 0.0

    def _raisable(self, entry: _Made) -> None:
        """An argument of the entry that has to carry the batch is repeated: the entry's arguments are copies."""
        writer = entry.writer
        roots = [writer.memory.root(name) for name in writer.function.parameters]
        for before, after, root in zip(entry.parameters, entry.signature.parameters, roots, strict=True):
            if before != after and roots.count(root) > 1:
                raise Refused("an argument that is the same for all examples is stored into", None)

    def _run(self, made: _Made) -> None:
        made.calls.clear()
        self.running.append(made)
        writer = made.writer
        try:
            made.body = writer.solved(made.parameters)
        except Unbatchable as unbatchable:
            raise Refused(unbatchable.reason, writer.at) from None
        finally:
            self.running.pop()
        parameters = tuple(writer.scope.carried.get(name) for name in writer.function.parameters)
        before = made.signature.parameters, made.signature.result
        made.signature.parameters, made.signature.result = parameters, join(made.signature.result, writer.result)
        if before != (made.signature.parameters, made.signature.result):
            self.grown = True

    # --- callees -----------------------------------------------------------------------------------------------------
    def called(self, callee: Callee, facts: Facts, carried: tuple[Carried, ...]) -> Signature:
        """A callee as a call finds it so far."""
        if not any(part is not None for part in carried):
            return Signature(callee, "", carried)
        facts = self.module.seen(callee, facts).inside
        made = self.made.get((callee, facts, carried))
        if made is None:
            if len(self.made) >= LIMIT:
                raise Unbatchable("too many functions are called")
            name = self.module.namer.fresh(f"{self.module.normalized(callee).name}_batch")
            made = self._function(callee, facts, carried, name)
            self.grown = True
        if made not in self.running[-1].calls:
            self.running[-1].calls.append(made)
        return made.signature

    def _function(self, callee: Callee, facts: Facts, carried: tuple[Carried, ...], name: str) -> _Made:
        function, known, memory = self._known(callee, facts)
        taken = {*known, *function.parameters}
        size = Namer(taken).fresh("size")
        scope = Scope(known, size, slow=self._slow)
        signature = Signature(callee, name, carried)
        writer = Writer(function, scope, memory, self.called, self.module.primal, self._draws)
        made = _Made(signature, writer, carried, temporaries=function.temporaries)
        self.made[callee, facts, carried] = made
        return made

    def _draws(self, callee: Callee) -> bool:
        """Whether a callee that is called once for all examples draws random numbers, itself or in what it calls."""
        if callee not in self.drawing:
            self.drawing[callee] = False  # of a call that is being looked at
            called = unguarded(callee) if isinstance(callee.function, Guarded) else callee
            self.drawing[callee] = any(
                draws(statement)
                or isinstance(statement, Bind) and isinstance(statement.operation, Call)
                and self._draws(statement.operation.callee)
                for statement in walk(self.module.normalized(called).body)
            )  # fmt: skip
        return self.drawing[callee]

    def _slow(self, function: object) -> None:
        at = self.running[-1].writer.at
        self.slow.setdefault(f"{function!r} {at}", (function, at))

    # --- facts -------------------------------------------------------------------------------------------------------
    def _known(self, callee: Callee, facts: Facts) -> tuple[Function, Mapping[str, Fact], Memory]:
        key = callee, facts
        if key not in self.facts:
            function, _ = self.module.prepared(callee, facts)
            entry = dict(zip(function.parameters, facts, strict=True))
            self.outcomes.setdefault(key, NOTHING_KNOWN)  # for a recursion
            solved = shapes_and_outcome(function, entry, self._outcome_of, self.module.changes, of_emitted)
            known, self.outcomes[key] = solved
            self.facts[key] = function, known, memory_of(function, known, self.module.summary_of)
        return self.facts[key]

    def _outcome_of(self, callee: Callee, facts: Facts) -> Outcome:
        if isinstance(callee.function, Guarded):
            inside = self._outcome_of(unguarded(callee), facts)
            result = Unknown() if inside.result is None else inside.result
            return Outcome(Sequence("tuple", (result, Unknown())), inside.put)
        seen = self.module.seen(callee, facts)
        key = callee, seen.inside
        if key not in self.outcomes:
            self._known(*key)
        return self.outcomes[key].mapped(seen.outside)


def definition(made: _Made, *, entry: bool, given: int) -> gast.FunctionDef:
    """The text of a function; the entry takes the ``given`` parameters, and counts the examples itself."""
    function, scope = made.writer.function, made.writer.scope
    body = list(made.body)
    names = list(function.parameters)
    if entry:
        before: list[gast.stmt] = []
        for name in names[given:]:
            before.append(_assign(name, clone(function.defaults[name])))
        first = _first_batch(names[:given], made.parameters)
        for name, had, wanted in zip(names, made.parameters, made.signature.parameters, strict=True):
            if had != wanted:
                node = gast.Name(name, gast.Load(), None, None)
                before.append(_assign(name, scope.raised(Operand(node, had, Unknown(), node), wanted)))
        if scope.uses_size:
            before.insert(0, _assign(scope.size, tree("len(_0)", first)))
        names = names[:given]
        body = [*before, *body]
    else:
        names.append(scope.size)
    parameters = [gast.Name(name, gast.Param(), None, None) for name in names]
    arguments = gast.arguments(parameters, [], None, [], [], None, [])
    written = gast.FunctionDef(made.signature.name, arguments, body, [], None, None, [])
    written.span = function.span
    return written


def _first_batch(names: list[str], carried: tuple[Carried, ...]) -> gast.expr:
    for name, one in zip(names, carried, strict=False):
        found = _inside(gast.Name(name, gast.Load(), None, None), one)
        if found is not None:
            return found
    raise Refused("no argument is batched", None)


def _inside(node: gast.expr, carried: Carried) -> gast.expr | None:
    parts: list[tuple[object, Carried]] = []
    match carried:
        case None:
            return None
        case Items(parts=each):
            parts = list(enumerate(each))
        case Keys(parts=entries):
            parts = list(entries)
    if carried == LEAF:
        return node
    for key, part in parts:
        found = _inside(gast.Subscript(node, gast.Constant(key, None), gast.Load()), part)
        if found is not None:
            return found
    return None


def _assign(name: str, value: gast.expr) -> gast.stmt:
    return gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None)

