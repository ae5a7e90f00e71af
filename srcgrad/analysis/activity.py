"""Activity: which names vary with the differentiated inputs, and which are useful to the result, at each point.

Enters: ``Function``, the names of its differentiated parameters, and the names whose type proves them inert.  Leaves:
``Activity``.  A name is *active* at a point if it is varied and useful there (Hascoët & Pascual, *The Tapenade
automatic differentiation tool*, §5.1; Griewank & Walther, *Evaluating Derivatives*, §6.2)::

    t = x * 2        varied after: x, t         useful before: x
    u = 3.0          (kills u: a bare name)     useful before: t
    s = t * u        varied after: x, t, s      useful before: t, u
    return s                                    useful before: s

A sequence that ``append`` fills with tuples (a tape) is tracked by position: ``tape[0]``, ``tape[1]``, … are
pseudo-names of their own, weakly updated by ``append`` and read by ``pop``; the tape itself varies, or is useful, if
one of its positions is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import Graph, Names, NameSet, bound_here, graph_of, solve, stores_of, walk
from srcgrad.analysis.references import names_carrying
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Call,
    Copy,
    Effect,
    Exchange,
    Field,
    For,
    Function,
    Index,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    With,
)
from srcgrad.rules.facts import Fact, Unknown
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children, names_read


def atoms(expression: gast.expr) -> tuple[str, ...]:
    """The local names of an atom or of a display of atoms."""
    if isinstance(expression, GlobalReference):
        return ()
    if isinstance(expression, gast.Name):
        return (expression.id,)
    if isinstance(expression, gast.Tuple | gast.List):
        return tuple(name for element in expression.elts for name in atoms(element))
    return ()


def inputs(statement: Statement) -> tuple[str, ...]:
    """The names through which a derivative can reach what a statement binds."""
    match statement:
        case Bind(operation=Copy(source=source)):
            return (source,)
        case Bind(operation=Index(base=base) | Field(base=base)):
            return (base,)
        case Bind(operation=Exchange(base=base, arguments=arguments, held=held)):
            return (base, *(name for j in held for name in atoms(arguments[j])))
        case Bind(operation=Apply(rule=rule, arguments=arguments)):
            sensitive = rule.sensitive
            return tuple(n for p, e in arguments.items() if p in sensitive for n in atoms(e))
        case Bind(operation=Call(arguments=arguments)):
            return tuple(name for expression in arguments for name in atoms(expression))
        case Bind(operation=Pack(elements=elements)):
            return tuple(name for expression in elements for name in atoms(expression))
        case Bind(operation=Unruled(given=tuple())):
            return ()  # what varies is put into sets only where nothing is read from them
        case Bind(operation=Unruled(), expression=expression):
            return tuple(names_carrying(*children(expression)))
        case Unpack(source=source):
            return (source,)
        case Append(value=value) | AddAt(value=value) | Store(value=value) | SetField(value=value):
            return atoms(value)
        case AugStore(base=base, value=value):
            return (base, *atoms(value))
        case Return(value=value):
            return atoms(value)
    return ()


def refuse_seen(statement: With, activity: Activity) -> None:
    """Refuse a context manager that was given what varies: it may change that when it is entered, and when left."""
    inside = (*walk(statement.body), statement)
    for name in statement.given:
        if any(name in activity.varied_before(s) or name in activity.varied_after(s) for s in inside):
            assert statement.refusal is not None
            raise statement.refusal


def flat_names(function: Function, facts: Mapping[str, Fact]) -> set[str]:
    """The names that are bound to nothing but results whose derivative is known to be zero: signs of real numbers."""
    flat: set[str] = set()
    others: set[str] = set(function.parameters)
    for statement in walk(function.body):
        match statement:
            case Bind(target=target, operation=Apply(rule=rule, arguments=arguments)) if rule.is_flat(
                arguments, {p: facts.get(n, Unknown()) for p, e in arguments.items() for n in atoms(e)}
            ):
                flat.add(target)
            case _:
                others.update(bound_here(statement))
    return flat - others


def entry_name(sequence: str, position: int) -> str:
    """The pseudo-name of one position of the tuples on a tape."""
    return f"{sequence}[{position}]"


@dataclass(frozen=True, eq=False)
class Activity:
    """Varied and useful names before and after every statement; tapes by position in ``tapes``."""

    function: Function
    graph: Graph
    names: Names
    tapes: dict[str, int]  # tape -> length of its tuples
    varied_in: list[int]
    varied_out: list[int]
    useful_in: list[int]  # useful before the node
    useful_out: list[int]  # useful after the node
    escaping: frozenset[str]  # sequences that come from elsewhere or go elsewhere
    outlived: Container[str] = ()  # sequences that grow or shrink when nobody reads them any more

    def varied_before(self, statement: Statement) -> NameSet:
        return NameSet(self.names, self.varied_in[self.graph.heads[statement]])

    def is_needless(self, statement: Statement, followed: Container[str]) -> bool:
        """Whether a statement looks at the arguments of a call under ``functools.cache``, of which none varies: the
        function is called as it is, cache and all, but where what is stored into an argument is ``followed``."""
        match statement:
            case Effect(statement=gast.Expr(value=gast.Call(func=GlobalReference() as function, args=given))):
                varied = self.varied_before(statement)
                asked = function.binding.value is runtime.require_hashed
                return asked and not any(name in varied or name in followed for name in names_read(*given))
        return False

    def varied_after(self, statement: Statement) -> NameSet:
        return NameSet(self.names, self.varied_out[self.graph.tails[statement]])

    def useful_before(self, statement: Statement) -> NameSet:
        return NameSet(self.names, self.useful_in[self.graph.heads[statement]])

    def useful_after(self, statement: Statement) -> NameSet:
        return NameSet(self.names, self.useful_out[self.graph.tails[statement]])

    def active_before(self, statement: Statement) -> NameSet:
        return self.varied_before(statement) & self.useful_before(statement)

    def active_after(self, statement: Statement) -> NameSet:
        return self.varied_after(statement) & self.useful_after(statement)

    def active_names(self) -> NameSet:
        """The names that are active at some point."""
        bits = 0
        for varied, useful in zip(self.varied_out, self.useful_out, strict=True):
            bits |= varied & useful
        for varied, useful in zip(self.varied_in, self.useful_in, strict=True):
            bits |= varied & useful
        return NameSet(self.names, bits)

    def tape_positions(self, sequence: str) -> tuple[int, ...]:
        """The positions of a tape's tuples that carry a derivative somewhere.

        A tape that other functions fill or empty is mirrored whole: they cannot know which positions matter here.
        """
        if sequence in self.escaping:
            return tuple(range(self.tapes[sequence]))
        active = self.active_names()
        return tuple(j for j in range(self.tapes[sequence]) if entry_name(sequence, j) in active)


CALLER = "$caller"  # whoever sees what is stored into the parameters that came with a shadow


def activity(
    function: Function,
    varied: Iterable[str],
    inert: Callable[[str], bool] = lambda name: False,
    stored: Mapping[str, frozenset[str]] | None = None,
    with_shadow: frozenset[str] = frozenset(),
    always: frozenset[str] = frozenset(),
    stores: Callable[[Statement], tuple[str, ...]] = stores_of,
) -> Activity:
    """Solve both directions for the given varied parameters; ``inert`` names never vary, others ``always`` do.

    ``stored`` has the class of every name of a mutable class: a store into one of them makes all of them vary, is
    useful if any of them is, and ends neither.  What is stored into parameters that came with a shadow is useful to the
    caller.
    """
    graph = graph_of(function)
    names = Names(function.parameters)
    tapes: dict[str, int] = {}
    for statement in walk(function.body):
        for name in (*bound_here(statement), *inputs(statement)):
            names.add(name)
        match statement:
            case Append(sequence=sequence, value=gast.Tuple(elts=elements)):
                tapes[sequence] = max(tapes.get(sequence, 0), len(elements))
            case Pop(sequence=sequence, targets=targets, tupled=True):
                tapes[sequence] = max(tapes.get(sequence, 0), len(targets))
    for sequence, width in tapes.items():
        names.add(sequence)
        for position in range(width):
            names.add(entry_name(sequence, position))
    weak = _weak_masks(names, stored or {}, with_shadow)
    solver = _Transfer(graph, names, tapes, names.mask(n for n in names.listed if inert(n)), weak, stores)
    solver.always = solver.whole(sorted(always)) & ~solver.inert
    start = names.mask(varied) & ~solver.inert | solver.always
    varied_in, varied_out = solve(graph, solver.varied, start)
    useful_out, useful_in = solve(graph, solver.useful, 0, backward=True)
    escaping = _escaping(function)
    made = Activity(function, graph, names, tapes, varied_in, varied_out, useful_in, useful_out, escaping)
    while later := solver.changed_later(made, stored or {}) & ~solver.at_end:
        solver.at_end |= later  # what is put into these lists is of use then, other lists perhaps
        useful_out, useful_in = solve(graph, solver.useful, 0, backward=True)
        outlived = NameSet(names, solver.at_end)
        made = replace(made, useful_in=useful_in, useful_out=useful_out, outlived=outlived)
    for statement in walk(function.body):
        if isinstance(statement, For) and statement.index in made.useful_before(statement):
            refuse_items(statement, made)
    return made


def refuse_items(loop: For, activity: Activity) -> None:
    """The items of an iterator that are of use have no adjoint: where they vary, a derivative would be lost."""
    varied = activity.varied_before(loop)
    if not loop.counted and any(name in varied for name in names_read(loop.iterable)):
        raise UnsupportedSyntax(
            "the items of this iterator carry a derivative",
            loop.span, code="E0403",
            label="they are read here",
            hint="loop over lists, tuples or arrays, by index where need be",
        )


def _weak_masks(
    names: Names, stored: Mapping[str, frozenset[str]], with_shadow: frozenset[str]
) -> dict[str, int]:
    """The names that a store into a name concerns: those of its class, if it is mutable."""
    masks: dict[str, int] = {}
    for name, members in stored.items():
        masks[name] = sum(names.add(member) for member in sorted(members))
        if members & with_shadow:
            masks[name] |= names.add(CALLER)
    return masks


def _escaping(function: Function) -> frozenset[str]:
    """The sequences that are parameters, unpacked, packed, passed on or returned."""
    sequences = {s.sequence for s in walk(function.body) if isinstance(s, Append | Pop)}
    found = sequences & set(function.parameters)
    for statement in walk(function.body):
        match statement:
            case Unpack(targets=targets):
                found |= sequences & set(targets)
            case Bind() if _makes_sequence(statement):
                continue
            case Bind(target=target):
                found |= sequences & {target, *inputs(statement)}
            case Return():
                found |= sequences & set(inputs(statement))
    return frozenset(found)


def _makes_sequence(statement: Bind) -> bool:
    return isinstance(statement.operation, Pack) and not statement.operation.elements


def _read(statement: Statement) -> Iterable[str]:
    """The inputs of a statement; of a loop over an iterator, whose items have no adjoint, what makes its items vary."""
    if isinstance(statement, For):
        return () if statement.counted else names_read(statement.iterable)
    return inputs(statement)


class _Transfer:
    """The transfer functions of both directions, with the operands of every node as bit sets made once."""

    def __init__(
        self,
        graph: Graph,
        names: Names,
        tapes: dict[str, int],
        inert: int,
        weak: Mapping[str, int],
        stores: Callable[[Statement], tuple[str, ...]],
    ) -> None:
        self.graph = graph
        self.weak = weak
        self.stored: dict[int, int] = {}  # node -> the names whose memory it may store into
        self.names = names
        self.tapes = tapes
        self.inert = inert
        self.always = 0
        self.at_end = 0  # what is of use wherever the function ends
        self.entries = {t: names.mask(entry_name(t, j) for j in range(width)) for t, width in tapes.items()}
        self.reads: dict[int, int] = {}
        self.binds: dict[int, int] = {}
        for node, statement in enumerate(graph.statements):
            if statement is None or graph.is_tail[node]:
                continue
            self.reads[node] = self.whole(_read(statement))
            self.binds[node] = self.whole(bound_here(statement))
            mask = 0
            for name in stores(statement) if weak else ():
                mask |= weak.get(name, 0)
            for tape, entries in self.entries.items():
                if mask & names.mask((tape,)):
                    mask |= entries
            if mask:
                self.stored[node] = mask

    def whole(self, sequence_names: Iterable[str]) -> int:
        """The names, each tape together with its positions."""
        bits = 0
        for name in sequence_names:
            bits |= self.names.mask((name,)) | self.entries.get(name, 0)
        return bits

    def varied(self, node: int, state: int) -> int:
        statement = None if self.graph.is_tail[node] else self.graph.statements[node]
        if node in self.stored and state & self.reads[node]:
            state |= self.stored[node]
        if node in self.stored and isinstance(statement, Pop):
            held = state & self.stored[node]
            return (state & ~self.binds[node] | (self.binds[node] if held else 0)) & ~self.inert | self.always
        match statement:
            case None:
                return state | self.always
            case For():
                return state | self.binds[node] if state & self.reads[node] else state
            case Bind() | Unpack():
                # A tape that is copied or unpacked varies as a whole, at every position.
                state = state & ~self.binds[node] | (self.binds[node] if state & self.reads[node] else 0)
            case Append(sequence=sequence, value=value):
                if isinstance(value, gast.Tuple):
                    for position, element in enumerate(value.elts):
                        if state & self.whole(atoms(element)):
                            state |= self.names.mask((sequence, entry_name(sequence, position)))
                elif state & self.reads[node]:
                    state |= self.names.mask((sequence,))
            case Pop(sequence=sequence, targets=targets, tupled=tupled):
                for position, target in enumerate(targets):
                    source = self.names.mask((entry_name(sequence, position) if tupled else sequence,))
                    bit = self.names.mask((target,))
                    state = state & ~bit | (bit if state & source else 0)
            case AddAt(buffer=buffer):
                if state & self.reads[node]:
                    state |= self.names.mask((buffer,))
        return state & ~self.inert | self.always

    def changed_later(self, activity: Activity, stored: Container[str]) -> int:
        """The lists that have adjoints, and grow or shrink when they are of no use any more.

        An adjoint has an entry for every entry of the list: it is made when the last has come, at the end.
        """
        found = taken = 0
        for statement, node in self.graph.heads.items():
            if isinstance(statement, Append | Pop) and statement.sequence not in stored:
                bits = self.whole((statement.sequence,))
                found |= 0 if activity.useful_out[node] & (bits | self.binds[node]) else bits
            if isinstance(statement, Unpack | Pop):
                taken |= self.binds[node] & activity.varied_out[node]  # they have adjoints if any of them is of use
        return found & (activity.active_names().bits | taken) if found else 0

    def useful(self, node: int, state: int) -> int:
        statement = None if self.graph.is_tail[node] else self.graph.statements[node]
        if node in self.stored:
            # What comes out of a container, and what goes in; what a callee stores goes in too.
            out, into = state & self.binds[node], state & self.stored[node]
            state &= ~self.binds[node]
            if out and not (isinstance(statement, Bind) and isinstance(statement.operation, Call)):
                state |= self.stored[node]
            return state | (self.reads[node] if out or into else 0)
        match statement:
            case Bind() | Unpack():
                if state & self.binds[node]:
                    state = state & ~self.binds[node] | self.reads[node]
            case For():
                # The index is bound on the way into the body only, so it stays useful before the loop.
                return state | self.reads[node] if state & self.binds[node] else state
            case Return():
                # Useful restarts here: nothing after a return is executed, but the caller sees what was stored.
                return self.reads[node] | self.names.mask((CALLER,)) | self.at_end
            case Append(sequence=sequence, value=value):
                if isinstance(value, gast.Tuple):
                    for position, element in enumerate(value.elts):
                        if state & self.names.mask((entry_name(sequence, position),)):
                            state |= self.whole(atoms(element))
                elif state & self.names.mask((sequence,)):
                    state |= self.reads[node]
            case Pop(sequence=sequence, targets=targets, tupled=tupled):
                for position, target in enumerate(targets):
                    bit = self.names.mask((target,))
                    if state & bit:
                        source = (sequence, entry_name(sequence, position)) if tupled else (sequence,)
                        state = state & ~bit | self.names.mask(source)
            case AddAt(buffer=buffer):
                if state & self.names.mask((buffer,)):
                    state |= self.reads[node]
        return state
