"""Loops of which few states are kept, as calls of a function that runs a stretch of their passes.

Enters: a function in normal form that has the marks of ``srcgrad.checkpointed``, and its facts.  Leaves: the same with
a call in the place of each such loop, and the functions that are called.  The function of a loop takes what the loop
reads, its *state* first: what its body binds and reads again, and the arrays that it stores into.  Of these it makes
copies and returns them, so that a state that is kept is never changed::

    for i in range(n):                    u_out, s = steps(n, 20, None, u, s, a)
        keeping(20, None)                     u[...] = u_out
        u[1:] = a * u[:-1]
        s = s + u[0]                      def steps(first, last, u_in, s, a):
                                              u = np.copy(u_in)
                                              for i in range(first, last):
                                                  u[1:] = a * u[:-1]
                                                  s = s + u[0]
                                              return u, s
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.cfg import Names, bound_here, definitely_assigned, graph_of, solve, walk
from srcgrad.analysis.memory import memory_classes
from srcgrad.analysis.references import names_mentioned
from srcgrad.analysis.repeating import run_once
from srcgrad.analysis.summaries import Summary
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Break,
    Call,
    Callee,
    Checkpointed,
    Continue,
    Delete,
    Effect,
    Fixed,
    For,
    Function,
    If,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Stretch,
    Unpack,
    While,
    With,
)
from srcgrad.rules.facts import Array, Fact, Unknown, is_floating
from srcgrad.rules.table import lookup
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import GlobalReference, call_runtime, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, names_read
from srcgrad.transform.build import builtin_call, call, constant, load, numpy_call, tuple_of
from srcgrad.transform.leaving import left_by_breaks
from srcgrad.transform.marked import breaks, mark, numbers_of, rebuilt

Facts = Mapping[str, Fact]


@dataclass(frozen=True)
class Outlined:
    """A function without such loops, and the normal forms of what it calls in their place."""

    function: Function
    made: Mapping[Callee, Function]


def outlined(
    function: Function,
    facts: Facts,
    summary_of: Callable[[Callee, tuple[Fact, ...]], Summary],
    normal_form_of: Callable[[Callee], Function],
) -> Outlined:
    """Put calls in the place of the outermost marked loops."""
    function = left_by_breaks(function)
    writer = _Writer(function, facts, summary_of, normal_form_of)
    body = writer.block(function.body)
    return Outlined(replace(function, body=body, temporaries=function.temporaries | writer.fresh), writer.made)


# --- what is read ----------------------------------------------------------------------------------------------------
def _read(statement: Statement) -> list[str]:
    """The names that a statement itself reads."""
    parts = [value for name, value in vars(statement).items() if name not in ("body", "orelse", "heading")]
    flat = [part for value in parts for part in (value if isinstance(value, tuple) else (value,))]
    names = names_read(*(part for part in flat if isinstance(part, gast.AST)))
    match statement:
        case Unpack(source=name) | Append(sequence=name) | Pop(sequence=name) | AddAt(buffer=name):
            names.append(name)
        case Store(base=name) | AugStore(base=name) | SetField(base=name) | Delete(base=name):
            names.append(name)
        case Bind(target=name, inplace=True):
            names.append(name)
    return names


@dataclass(frozen=True)
class _Reads:
    """What a block may read before it binds it, and what it surely binds; None where control does not leave it."""

    exposed: frozenset[str]
    bound: frozenset[str] | None


def _reads(block: Block) -> _Reads:
    exposed, bound = set[str](), set[str]()
    for statement in block.statements:
        exposed |= set(_read(statement)) - bound
        match statement:
            case If(body=body, orelse=orelse):
                sides = _reads(body), _reads(orelse)
                exposed |= frozenset().union(*(side.exposed for side in sides)) - bound
                ends = [side.bound for side in sides if side.bound is not None]
                if not ends:
                    return _Reads(frozenset(exposed), None)
                bound |= frozenset.intersection(*ends)
            case For(body=body, index=index):
                exposed |= _reads(body).exposed - bound - {index}
            case While(body=body):
                exposed |= _reads(body).exposed - bound
            case With(body=body):
                inner = _reads(body)
                exposed |= inner.exposed - bound
                if inner.bound is None:
                    return _Reads(frozenset(exposed), None)
                bound |= inner.bound
            case Break() | Continue() | Return():
                return _Reads(frozenset(exposed), None)
            case _:
                bound |= set(bound_here(statement))
    return _Reads(frozenset(exposed), frozenset(bound))


class _Writer:
    """Calls in the place of loops, for one function."""

    def __init__(
        self,
        function: Function,
        facts: Facts,
        summary_of: Callable[[Callee, tuple[Fact, ...]], Summary],
        normal_form_of: Callable[[Callee], Function],
    ) -> None:
        self.function, self.facts = function, facts
        self.summary_of, self.normal_form_of = summary_of, normal_form_of
        self.namer = Namer([*function.parameters, *(n for s in walk(function.body) for n in names_mentioned(s))])
        self.fresh = frozenset[str]()
        self.made: dict[Callee, Function] = {}
        self.graph = graph_of(function)
        self.assigned, self.surely, _ = definitely_assigned(function, self.graph)
        self.names = Names(self.assigned.listed)
        self.behind = self._live()
        self.classes = memory_classes(function, facts, summary_of)

    def name(self, stem: str) -> str:
        name = self.namer.fresh(stem)
        self.fresh |= {name}
        return name

    def _live(self) -> list[int]:
        """The names that may be read before they are bound again, behind each node."""
        own = _indices_read_in_their_loops(self.function.body)
        reads, kills = dict[int, int](), dict[int, int]()
        for statement, node in self.graph.heads.items():
            reads[node] = self.names.mask(_added(self.names, _read(statement)))
            bound = [n for n in bound_here(statement) if not isinstance(statement, For) or n in own]
            kills[node] = self.names.mask(_added(self.names, bound))

        def transfer(node: int, state: int) -> int:
            return state if self.graph.is_tail[node] else state & ~kills.get(node, 0) | reads.get(node, 0)

        behind, _ = solve(self.graph, transfer, 0, backward=True)
        return behind

    # --- statements --------------------------------------------------------------------------------------------------
    def block(self, block: Block) -> Block:
        made: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, For | While) and (numbers := numbers_of(statement)) is not None:
                made += self.loop(statement, numbers)
            elif mark(statement) is not None:
                raise UnsupportedSyntax(
                    "few states are kept of a loop whose test is one expression, and computed by no statements",
                    statement.span, code="E0122",
                    hint="write while True: with the mark, and a break where the test ends it",
                )  # fmt: skip
            else:
                made.append(rebuilt(statement, self.block))
        return Block(tuple(made))

    def loop(self, loop: For | While, numbers: list[gast.expr]) -> list[Statement]:
        span, head = loop.span, self.graph.heads[loop]
        if (once := run_once(loop.body, self.normal_form_of)) is not None:
            raise UnsupportedSyntax(
                f"the passes of a checkpointed loop are run again, and this {once.what}", once.span, code="E0123",
                hint="do this outside of the loop",
            )  # fmt: skip
        if isinstance(loop, For) and not loop.counted:
            raise _refused("no number of passes is known", span, "loop over a range")
        # What the passes read and bind.
        body = Block(tuple(s for s in loop.body.statements if mark(s) is None))
        index = {loop.index} if isinstance(loop, For) else set[str]()
        exposed = set(_reads(body).exposed) - index
        exposed |= set() if isinstance(loop, For) else set(names_read(loop.test))
        bound = index | {n for s in walk(body) for n in bound_here(s)}
        behind = self.behind[self.graph.tails[loop]]
        order = dict.fromkeys(n for s in (loop, *walk(body)) for n in names_mentioned(s))
        state = [n for n in order if n in bound and (n in exposed or behind & self.names.mask([n]))]
        fixed = [n for n in order if n in exposed and n not in bound]
        missing = [n for n in state if not self.surely[head] & self.assigned.mask([n])]
        if missing:
            raise _refused(f"{missing[0]!r} may have no value at first", span, "give it a value before the loop")
        form = _Form(self, loop, body, tuple(state), tuple(fixed))
        kept = form.stored()
        self._look_at(loop, kept, bound, behind)
        state += [n for n in fixed if n in kept]
        fixed = [n for n in fixed if n not in kept]
        if not state:
            return [replace(loop, body=body)]
        written = [n for n in state if n in kept and n not in bound and self._is_never_read(n, loop)]
        state = [n for n in state if n not in written]
        form.settle(state, written, fixed, frozenset(kept), frozenset(kept) - bound)
        stretch = Callee(Stretch(f"{self.function.name}_passes"))
        loops = Checkpointed(f"{self.function.name}_loop", stretch, len(state), len(form.written), form.ends)
        callee = Callee(loops)
        self.made[stretch], self.made[callee] = form.stretch(), form.whole()
        # The call.
        code: list[Statement] = []
        count: gast.expr = constant(None)
        if isinstance(loop, For):
            code.append(Bind(form.passes, builtin_call(len, clone(loop.iterable)), Fixed(), span))
            count = load(form.passes)
        sizes: list[gast.expr] = []
        for number, stem in zip(numbers, ("snapshots", "recorded"), strict=True):
            if set(names_read(number)) & bound:
                raise _refused("the number of snapshots changes", span, "compute it before the loop")
            given = clone(number)
            if not isinstance(given, gast.Constant | gast.Name) or isinstance(given, GlobalReference):
                name = self.name(stem)
                code.append(Bind(name, given, Fixed(), span))
                given = load(name)
            sizes.append(given)
        arguments = (count, *sizes, *map(load, (*state, *form.written, *fixed)), *form.bounds)
        result = self.name("state")
        text = call(reference(GlobalBinding(loops.name, callee)), *map(clone, arguments))
        code.append(Bind(result, text, Call(callee, arguments), span))
        results = [*state, *form.written]
        targets = [self.name(f"{n}_out") if n in form.changed else n for n in results]
        code.append(Unpack(tuple(targets), result, span))
        for name, target in zip(results, targets, strict=True):
            if name in form.changed:
                code.append(Store(name, constant(...), load(target), span))
        return [*form.before, *code]

    def _is_never_read(self, name: str, loop: For | While) -> bool:
        """Whether a loop stores into an array of floats and does nothing else with it, nor with what may be its memory:
        what it holds is then no part of the state, since no pass depends on it."""
        fact = self.facts.get(name, Unknown())
        if not isinstance(fact, Array) or fact.scalar or not is_floating(fact.dtype):
            return False
        others = {n for n in self.names.listed if n != name and not self.is_scalar(n) and self.may_share(n, name)}
        for statement in (loop, *walk(loop.body)):
            read = set(_read(statement))
            if isinstance(statement, Store) and statement.base == name:
                read = set(names_read(statement.index, statement.value))
            if name in read or not others.isdisjoint({*names_mentioned(statement), *bound_here(statement)}):
                return False
        return True

    def is_scalar(self, name: str) -> bool:
        fact = self.facts.get(name, Unknown())
        return isinstance(fact, Array) and fact.scalar

    def may_share(self, one: str, other: str) -> bool:
        """Whether two names may hold the same memory: so may any two parameters, and what is made of them."""
        roots = {self.classes.root(one), self.classes.root(other)}
        return len(roots) == 1 or roots <= {self.classes.root(p) for p in self.function.parameters}

    def _look_at(self, loop: For | While, kept: Sequence[str], bound: set[str], behind: int) -> None:
        """Refuse arrays that are changed, and of which other names would go on to show what they were."""
        for name in kept:
            fact = self.facts.get(name, Unknown())
            if not isinstance(fact, Array) or fact.scalar:
                raise _refused(
                    f"{name!r} changes, which is not known to be an array", loop.span,
                    "keep what changes in arrays, or bind a new value",
                )  # fmt: skip
            if name not in bound:
                continue
            for other in sorted(self.classes.members(name)):
                if other in self.function.parameters or (
                    other not in kept and behind & self.names.mask([other])
                ):
                    raise _refused(
                        f"{name!r} is bound and changes, and {other!r} may share memory with it", loop.span,
                        f"copy what {name!r} is before the loop, under another name",
                    )  # fmt: skip


@dataclass
class _Form:
    """One loop, as the functions that run its passes."""

    writer: _Writer
    loop: For | While
    body: Block
    state: tuple[str, ...]
    fixed: tuple[str, ...]
    kept: frozenset[str] = frozenset()  # the arrays that it stores into, of which it makes copies
    changed: frozenset[str] = frozenset()  # those that it binds to nothing else
    written: tuple[str, ...] = ()  # those of these that it never reads, which are no part of the state

    def __post_init__(self) -> None:
        loop, name = self.loop, self.writer.name
        self.given = {n: n for n in self.state}
        self.before: list[Statement] = []
        self.bounds: list[gast.expr] = []
        self.head: list[Statement] = []
        bound = {n for s in walk(self.body) for n in bound_here(s)}
        is_left = any(True for _ in breaks(self.body))
        self.ends = is_left or isinstance(loop, While)
        self.passes, self.snapshots, self.recorded, self.first, self.last, self.ended, self.value = (
            name(n) for n in ("passes", "snapshots", "recorded", "first", "last", "ended", "results")
        )
        if isinstance(loop, For) and len(loop.iterable.args) == 1 and loop.index not in bound:
            self.position = loop.index
            return
        self.position = name("j")
        if isinstance(loop, For):
            self._place(loop)

    def settle(
        self, state: Sequence[str], written: Sequence[str], fixed: Sequence[str], kept: frozenset[str],
        changed: frozenset[str],
    ) -> None:  # fmt: skip
        """Say which arrays are stored into."""
        self.state, self.fixed, self.kept, self.changed = tuple(state), tuple(fixed), kept, changed
        self.written = tuple(written)
        self.given = {n: self.writer.name(f"{n}_in") if n in kept else n for n in (*state, *written)}

    def _place(self, loop: For) -> None:
        """The item of a range at a position: ``start + j * step``, with both as they were before the loop."""
        place: gast.expr = load(self.position)
        numbers = list(loop.iterable.args) if len(loop.iterable.args) > 1 else [constant(0)]
        start, step = self._before(numbers[0], "start"), None
        if len(numbers) == 3:
            step = self._before(numbers[2], "step")
            place = gast.BinOp(place, gast.Mult(), step)
        if not (isinstance(start, gast.Constant) and start.value == 0):
            place = gast.BinOp(start, gast.Add(), place)
        self.head.append(Bind(loop.index, place, Fixed(), loop.span))

    def _before(self, number: gast.expr, stem: str) -> gast.expr:
        if isinstance(number, gast.Constant):
            return clone(number)
        name = self.writer.name(stem)
        self.before.append(Bind(name, clone(number), Fixed(), self.loop.span))
        self.bounds.append(load(name))
        return load(name)

    # --- functions ---------------------------------------------------------------------------------------------------
    def stored(self) -> list[str]:
        """What comes from outside and is stored into, here or in a callee."""
        draft = self.stretch()
        passes = (*draft.body.statements[:-2], Return(constant(None), self.loop.span))  # what is returned is one tuple
        classes = memory_classes(replace(draft, body=Block(passes)), self.writer.facts, self.writer.summary_of)
        return [n for n in (*self.state, *self.fixed) if n in classes.shadowed]

    def stretch(self) -> Function:
        """A function of the passes from one to another, which says at which the loop ended."""
        span = self.loop.span
        body = list(self.head)
        if isinstance(self.loop, While) and not isinstance(self.loop.test, gast.Constant):
            ended = Bind(self.ended, load(self.position), Fixed(), span)
            test = gast.UnaryOp(gast.Not(), clone(self.loop.test))
            body.append(If(test, Block((ended, Break(span))), Block(()), span))
        body += self._told(self.body).statements
        loop = For(self.position, builtin_call(range, load(self.first), load(self.last)), Block(tuple(body)), span)
        first = [Bind(self.ended, constant(None), Fixed(), span)] if self.ends else []
        name = f"{self.writer.function.name}_passes"
        told = [self.ended] if self.ends else []
        return self._function(name, (self.first, self.last), [*first, loop], self.state, told)

    def whole(self) -> Function:
        """A function of all passes."""
        loop: For | While = replace(self.loop, body=self.body)
        if isinstance(loop, For):
            iterable = builtin_call(range, load(self.passes))
            loop = For(self.position, iterable, Block((*self.head, *self.body.statements)), loop.span)
        numbers = self.passes, self.snapshots, self.recorded
        return self._function(f"{self.writer.function.name}_loop", numbers, [loop], (*self.state, *self.written), [])

    def _function(
        self, name: str, numbers: tuple[str, ...], body: list[Statement], state: tuple[str, ...], told: list[str]
    ) -> Function:
        """``state``: what is copied if it is stored into, and returned."""
        span, given = self.loop.span, {n: self.given[n] if n in state else n for n in (*self.state, *self.written)}
        copies: list[Statement] = self._apart(span, [given[n] for n in self.state if n in self.kept])
        copies += [self._copied(n, given[n]) for n in state if n in self.kept]
        own = [n for n in self.state if n in self.kept and n not in self.changed]
        others = [n for n in self.state if n in self.changed]
        after = self._looked(span, own, others) if own and others else []
        # In one tuple with what is stored into, other arrays of the state would count as that too.
        is_among_others = any(n not in self.kept and not self.writer.is_scalar(n) for n in state)
        behind = {n: self.writer.name(f"{n}_end") for n in state if n in self.kept and is_among_others}
        after += [self._copied(end, n) for n, end in behind.items()]
        results = [*told, *(behind.get(n, n) for n in state)]
        packed = Bind(self.value, tuple_of([*map(load, results)]), Pack("tuple", tuple(map(load, results))), span)
        bounds = [bound.id for bound in self.bounds]
        parameters = (*numbers, *given.values(), *self.fixed, *bounds)
        statements = (*copies, *body, *after, packed, Return(load(self.value), span))
        function = self.writer.function
        return Function(
            name, parameters, Block(statements), function.source, span, generated=function.generated,
            temporaries=function.temporaries | self.writer.fresh,
        )  # fmt: skip

    def _copied(self, target: str, source: str) -> Statement:
        copying = lookup(np.copy)
        assert copying is not None
        copied = Apply(copying, np.copy, {"a": load(source)})
        return Bind(target, numpy_call("copy", load(source)), copied, self.loop.span)

    def _apart(self, span: Span, given: list[str]) -> list[Statement]:
        """What is copied shares no memory with anything else that is given: copies would not."""
        others = [n for n in self.fixed if not self.writer.is_scalar(n)]
        others += [n for n in self.state if n not in self.kept]
        stored = [n for n in self.state if n in self.kept]
        others = [n for n in others if any(self.writer.may_share(n, each) for each in stored)]
        return self._looked(span, given, others) if given and (len(given) > 1 or others) else []

    @staticmethod
    def _looked(span: Span, stored: list[str], others: list[str]) -> list[Statement]:
        names = [[constant(n.removesuffix("_in")) for n in group] for group in (stored, others)]
        groups = [gast.Dict(k, [load(n) for n in group]) for k, group in zip(names, (stored, others), strict=True)]
        return [Effect(gast.Expr(call_runtime(runtime.require_apart, *groups)), span)]

    def _told(self, block: Block) -> Block:
        """A block in which the breaks of the loop say at which pass they end it."""
        made: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Break):
                behind = gast.BinOp(load(self.position), gast.Add(), constant(1))
                made.append(Bind(self.ended, behind, Fixed(), statement.span))
            inner = isinstance(statement, If | With)
            made.append(rebuilt(statement, self._told) if inner else statement)
        return Block(tuple(made))


def _refused(what: str, span: Span, hint: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"few states are kept of this loop, in which {what}", span, code="E0122", hint=hint
    )


def _added(names: Names, found: Sequence[str]) -> Sequence[str]:
    for name in found:
        names.add(name)
    return found


def _indices_read_in_their_loops(block: Block) -> set[str]:
    """The indices of loops that are read inside of a loop that binds them alone."""
    found = {s.index for s in walk(block) if isinstance(s, For)}

    def look(block: Block, around: frozenset[str]) -> None:
        for statement in block.statements:
            found.difference_update(set(_read(statement)) - around)
            match statement:
                case If(body=body, orelse=orelse):
                    look(body, around)
                    look(orelse, around)
                case For(body=body, index=index):
                    look(body, around | {index})
                case While(body=body) | With(body=body):
                    look(body, around)

    look(block, frozenset())
    return found
