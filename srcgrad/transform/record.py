"""The forward sweep: the user's statements, with what the reverse sweep needs recorded between them.

Enters: ``Function`` and the ``Plan`` of what is recorded where.  Leaves: the statements of the sweep.  Apart from the
records it is the user's own text::

    for i in range(n):              for i in range(n):
        u = np.sin(s)                   u = np.sin(s)
        s = u * x + s / 3.0             tape.append((s, u))
                                        s = u * x + s / 3.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from types import MappingProxyType

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.references import is_truth, names_mentioned
from srcgrad.analysis.required import Lane, Plan, entries_at, saved_at
from srcgrad.ir.as_python import statement_as_python
from srcgrad.ir.normal_form import Bind, Block, Break, Call, Continue, For, If, Return, Statement, While, With
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.marks import in_role
from srcgrad.syntax.parse import clone
from srcgrad.syntax.parse import walk as walk_tree
from srcgrad.transform.build import (
    assign,
    builtin_call,
    call,
    constant,
    load,
    method,
    store,
    tuple_of,
    unpack,
)
from srcgrad.transform.control import placed
from srcgrad.transform.shadows import Shadows


class ForwardSweep:
    """Emits blocks with their records; ``exits`` maps the order of a loop body to the list of its exit numbers."""

    def __init__(
        self,
        plan: Plan,
        exits: dict[int, str],
        forward_of: Callable[[Bind], gast.expr | None],
        primal_of: Callable[[Bind], gast.expr | None],
        idle: Set[Statement] = frozenset(),
        shadows: Shadows | None = None,
        masks: Mapping[tuple[Bind, str], gast.expr] = MappingProxyType({}),
    ) -> None:
        """``idle`` statements are left out.  ``masks``: what is asked once a statement has run, and kept."""
        self.masks: dict[Statement, list[tuple[str, gast.expr]]] = {}
        for (owner, role), expression in masks.items():
            self.masks.setdefault(owner, []).append((plan.kept[owner, role], expression))
        self.idle = idle
        self.shadows = shadows
        self.plan = plan
        self.layout = plan.layout
        self.exits = exits
        self.forward_of = forward_of
        self.primal_of = primal_of

    def block(self, block: Block) -> list[gast.stmt]:
        code: list[gast.stmt] = []
        for j, statement in enumerate(block.statements):
            code += [in_role(placed(s, statement.span), "record") for s in self._before(block, j)]
            if statement not in self.idle:
                code += [placed(s, statement.span) for s in self._statement(statement, block, j)]
                asked = [assign(name, clone(expression)) for name, expression in self.masks.get(statement, ())]
                code += [in_role(placed(s, statement.span), "record") for s in asked]
        length = len(block.statements)
        if not (block.statements and isinstance(block.statements[-1], Break | Continue | Return)):
            last = self._before(block, length)
            for lane in self.plan.lanes.get(block, ()):
                if lane.point is None:
                    last.append(self._append(lane, entries_at(self.plan, lane, self.layout.frame(block), None)))
            order = self.layout.orders[block]
            if order in self.exits:
                last.append(gast.Expr(method(self.exits[order], "append", constant(0))))
            last = [in_role(s, "record") for s in last]
            code += [placed(s, block.statements[-1].span) for s in last] if block.statements else last
        return code or [gast.Pass()]

    def _before(self, block: Block, position: int) -> list[gast.stmt]:
        code: list[gast.stmt] = []
        for lane in self.plan.lanes.get(block, ()):
            if lane.point == position:
                names = tuple(self.plan.names[s] if s.hidden else s.name for s in lane.slots)
                code.append(self._append(lane, names))
        for copy, source in self.plan.copies.get((block, position), ()):
            code.append(assign(copy, self._held(source)))
        return code

    def _statement(self, statement: Statement, block: Block, position: int) -> list[gast.stmt]:
        match statement:
            case If():
                code: list[gast.stmt] = []
                test: gast.expr = clone(statement.test)
                kept = self.plan.kept.get((statement, "test"))
                if kept is not None:
                    code.append(assign(kept, _answer(test)))
                    test = load(kept)
                orelse = self.block(statement.orelse) if statement.orelse.statements else []
                return [*code, gast.If(test, self.block(statement.body), orelse)]
            case For() | While():
                return self._loop(statement)
            case With():
                items = [clone(item) for item in statement.items]
                return [gast.With(items, self.block(statement.body), None)]
            case Break() | Continue() | Return():
                return [*self._leaving(statement, block, position), *self._exit(statement, block, position)]
            case Bind(operation=Call()):
                return self._call(statement)
        return [statement_as_python(statement)]

    def _loop(self, loop: For | While) -> list[gast.stmt]:
        code: list[gast.stmt] = []
        counter = self.plan.kept.get((loop, "passes"))
        body = self.block(loop.body)
        if counter is not None:
            code.append(assign(counter, constant(0)))
            body.insert(0, gast.AugAssign(store(counter), gast.Add(), constant(1)))
        if isinstance(loop, While):
            return [*code, gast.While(clone(loop.test), body, [])]
        if counter is None and self._reads_as_written(loop):
            assert loop.heading is not None
            target, written = clone(loop.heading[0]), clone(loop.heading[1])
            return [gast.For(target, written, body[loop.elements :] or [gast.Pass()], [], None)]
        iterable: gast.expr = clone(loop.iterable)
        kept = self.plan.kept.get((loop, "iterable"))
        if kept is not None:
            code.append(assign(kept, iterable))
            iterable = load(kept)
        return [*code, gast.For(store(loop.index), iterable, body, [], None)]

    def _reads_as_written(self, loop: For) -> bool:
        """Whether the user's own heading says it all: nothing is recorded among the reads that it stands for."""
        if loop.heading is None or not loop.elements or (loop, "iterable") in self.plan.kept:
            return False
        body = loop.body
        if any((body, j) in self.plan.copies for j in range(loop.elements)):
            return False
        if any((statement, "saved") in self.plan.kept for statement in body.statements[: loop.elements]):
            return False
        if any(lane.point is not None and lane.point < loop.elements for lane in self.plan.lanes.get(body, ())):
            return False
        rest = Block(body.statements[loop.elements :])
        written = {n.id for n in walk_tree(loop.heading[0]) if isinstance(n, gast.Name)}
        unwritten = {loop.index, *(n for s in body.statements[: loop.elements] for n in bound_here(s))} - written
        recorded = {slot.name for lane in self.plan.lanes.get(body, ()) for slot in lane.slots}
        recorded |= {source for (b, _), copies in self.plan.copies.items() if b is body for _, source in copies}
        return unwritten.isdisjoint(recorded) and not any(unwritten & set(names_mentioned(s)) for s in walk(rest))

    def _call(self, statement: Bind) -> list[gast.stmt]:
        """A call whose adjoint is wanted keeps what its own reverse sweep will need."""
        made = statement.operation
        assert isinstance(made, Call)
        saved = self.plan.kept.get((statement, "saved"))
        if saved is not None:
            forward = self.forward_of(statement)
            assert forward is not None
            targets, arguments = [statement.target], [clone(a) for a in made.arguments]
            if self.shadows is not None and statement in self.shadows.calls:
                modes, bars = self.shadows.calls[statement], self.shadows.bars
                pairs = zip(made.arguments, modes.given, strict=True)
                arguments = []
                for argument, given in pairs:
                    arguments += [clone(argument), *([load(bars[atoms(argument)[0]])] if given else [])]
                if modes.result:
                    targets.append(self.shadows.outs.get(statement, bars[statement.target]))
            made_here = unpack([*targets, saved], call(forward, *arguments))
            if self.shadows is not None and statement in self.shadows.detached:
                return [made_here, assign(saved, call_runtime(runtime.frozen, load(saved)))]
            return [made_here]
        primal = self.primal_of(statement)
        value = None if primal is None else call(primal, *(clone(a) for a in made.arguments))
        code = [statement_as_python(statement) if value is None else assign(statement.target, value)]
        if self.shadows is not None and statement in self.shadows.calls and self.shadows.calls[statement].result:
            # On a way that ends in an exception, so that no sweep reverses the call; what stores it reads a shadow.
            bar = self.shadows.outs.get(statement, self.shadows.bars[statement.target])
            code.append(assign(bar, call_runtime(runtime.shadow, load(statement.target))))
        return code

    def _append(self, lane: Lane, names: tuple[str | None, ...]) -> gast.stmt:
        values = [constant(None) if name is None else self._held(name) for name in names]
        return gast.Expr(method(lane.tape, "append", values[0] if len(values) == 1 else tuple_of(values)))

    def _held(self, name: str) -> gast.expr:
        """A value as it is now: what is changed in place is copied."""
        return call_runtime(runtime.kept, load(name)) if name in self.plan.contents else load(name)

    # --- exits -------------------------------------------------------------------------------------------------------
    def _leaving(self, statement: Statement, block: Block, position: int) -> list[gast.stmt]:
        """What an exit appends for every block it leaves, innermost first."""
        number = self.layout.number_of[statement]
        code: list[gast.stmt] = []
        frame = self.layout.frame(block)
        while True:
            for lane in self.plan.lanes.get(frame.block, ()):
                if lane.point is None:
                    code.append(self._append(lane, entries_at(self.plan, lane, frame, position)))
            order = self.layout.orders[frame.block]
            if order in self.exits:
                code.append(gast.Expr(method(self.exits[order], "append", constant(number))))
            if frame.parent is None or (frame.is_loop and not isinstance(statement, Return)):
                return code
            frame, position = frame.parent, frame.position

    def _exit(self, statement: Statement, block: Block, position: int) -> list[gast.stmt]:
        return [statement_as_python(statement)]

    def where(self, block: Block, position: int) -> dict[Block, int]:
        """The blocks that a statement stands in, each with its position there."""
        positions = {block: position}
        frame = self.layout.frame(block)
        while frame.parent is not None:
            positions[frame.parent.block] = frame.position
            frame = frame.parent
        return positions


class JointForward(ForwardSweep):
    """The forward half of a joint program: its one return is left to the end of the reverse sweep."""

    def _exit(self, statement: Statement, block: Block, position: int) -> list[gast.stmt]:
        return [] if isinstance(statement, Return) else super()._exit(statement, block, position)


class PairForward(ForwardSweep):
    """The forward half of a pair: every return also hands out what the backward half needs."""

    def __init__(self, *arguments: object, numbered: bool, tapes: list[str]) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.numbered = numbered
        self.tapes = tapes

    def _exit(self, statement: Statement, block: Block, position: int) -> list[gast.stmt]:
        if not isinstance(statement, Return):
            return super()._exit(statement, block, position)
        entries = [
            constant(None) if name is None else load(name)
            for name in saved_at(self.plan, statement, self.where(block, position))
        ]
        if self.numbered:
            entries.insert(0, constant(self.layout.number_of[statement]))
        entries += [load(tape) for tape in self.tapes]
        saved = entries[0] if len(entries) == 1 else tuple_of(entries)
        results = [clone(statement.value)]
        if self.shadows is not None and statement in self.shadows.results:
            results.append(load(self.shadows.results[statement]))
        return [gast.Return(tuple_of([*results, saved]))]


def _answer(test: gast.expr) -> gast.expr:
    """The truth value that a test gives, whose parts are asked once each, as a branch asks them."""
    if is_truth(test):
        return test
    if isinstance(test, gast.BoolOp):
        return gast.BoolOp(test.op, [_answer(value) for value in test.values])
    return builtin_call(bool, test)
