"""Loss: values that depend on what is differentiated for, through text, keys or sets, which carry no derivative.

Enters: ``Function`` with its ``Activity`` and facts, and the same of what it calls.  Leaves: the statements before which
the run has to look at keys, or a refusal where what was lost is read as a number, and is of use.

It is one forward analysis over access paths (``analysis/paths.py``) without regard to order.  Sources: text that is made
of what varies, and keys that vary.  Propagators hand a loss on: operations, containers, calls.  Sinks: what reads text as
a number, or takes the keys of a dict (``analysis/loss_table.py``); sets, which are not followed; and axes::

    s = f"{x}"                  s: TEXT
    d[k] = [s]                  d: TEXT within, and a NUMBER among its keys where k varies
    ks = list(d.keys())         ks: NUMBER within; refused if ks is of use, while d[ks[0]] loses nothing
    return float(s)             refused
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, inputs
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.loss_table import (
    hands_on,
    is_of_text,
    loses_numbers,
    loses_text,
    makes_number,
    makes_text,
    makes_text_alone,
    read_by,
    reads_keys,
    reads_text,
)
from srcgrad.analysis.paths import (
    ANY,
    DEEP,
    KEYS,
    NOWHERE,
    Link,
    Loss,
    Path,
    Paths,
    inside,
    items_in,
    key_of,
    keys_in,
    links,
    others_related,
    some_in,
    spread,
    summary,
    under,
    within,
)
from srcgrad.analysis.references import names_mentioned
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import fact_of_expression
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Call,
    Callee,
    Effect,
    Exchange,
    Fixed,
    For,
    Function,
    Guarded,
    Index,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    unguarded,
)
from srcgrad.language.members import SHAPES
from srcgrad.rules.facts import Array, Fact, Object, Sequence, Static, Unknown, is_floating
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.parse import children, names_read
from srcgrad.syntax.parse import walk as nodes_of

VARIED, TEXT, NUMBER, UNSURE = Loss.VARIED, Loss.TEXT, Loss.NUMBER, Loss.UNSURE
Facts = tuple[Fact, ...]
Known = Mapping[str, Fact]
Inside = Callable[[Callee, Facts, tuple[bool, ...]], tuple[Function, Activity, Known]]

_ITSELF: Paths = frozenset(((VARIED,),))
_TEXT: Paths = frozenset(((TEXT,),))
_REPEATING = (operator.mul, operator.imul)
_PLACES = ("axis", "axes", "decimals")

#: What is refused, by what is read as a number: the message, its code, label and hint.
_REFUSALS = {
    TEXT: (
        "a number is read from text that is made of a value which varies", "E0601",
        "its derivative is lost here", "pass the value itself; text is for printing, keys and tests",
    ),
    NUMBER: (
        "the keys of a dict are read where some of them vary", "E0603",
        "keys have no derivative", "keep what varies in the values, or beside them in a list",
    ),
    "text in a set": (
        "text that is made of a value which varies is put into a set", "E0602",
        "its derivative could be lost there", "keep such text in a list or dict",
    ),
    "in a set": (
        "what is put into a set varies: its derivative would be lost there", "E0604",
        "this varies", "sets are for numbers of things, keys and text; keep what varies in a list or dict",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class _Flow:
    """What a callee does with what is lost: where it lies in the result, and in the end in the arguments; what of it
    is read as numbers, and what is put into sets."""

    returned: Paths = NOWHERE
    kept: tuple[Paths, ...] = ()
    read: frozenset[Loss] = frozenset()
    put: frozenset[Loss] = frozenset()


class Losses:
    """The check of the functions of one module.  ``inside`` gives a callee, with its activity where some of its
    arguments vary, and the facts of its names."""

    def __init__(self, normalized: Callable[[Callee], Function], inside: Inside) -> None:
        self.normalized, self.inside = normalized, inside
        self.flows: dict[tuple[Callee, Facts, tuple[Paths, ...]], _Flow] = {}
        self.met: set[object] = set()  # in this round
        self.is_provisional = False  # whether a call was met that is being worked out
        self.sources: dict[Callee, bool] = {}
        self.summaries: dict[Callee, Summary] = {}

    def refuse(self, function: Function, activity: Activity, facts: Known) -> dict[Statement, list[Effect]]:
        """Refuse what is lost and of use; what the run has to look at before a statement."""
        for statement in walk(function.body):
            _refuse_axes(statement, activity)
            _refuse_unruled(statement, activity)
            if _puts_varied(statement, function, activity):
                raise statement.operation.refusal  # type: ignore[union-attr]
        if not any(map(self.is_source, walk(function.body))):
            return {}
        while True:
            self.met, self.is_provisional, before = set(), False, dict(self.flows)
            body = _Body(self, function, activity, facts, dict.fromkeys(function.parameters, _ITSELF))
            if not self.is_provisional or self.flows == before:
                break
        looks: dict[Statement, list[Effect]] = {}
        for statement, read, made, put in body.effects():
            if put - {UNSURE} or put and isinstance(statement, Bind) and isinstance(statement.operation, Call):
                raise _refusal("text in a set" if TEXT in put else "in a set", statement)
            useful = activity.useful_before if isinstance(statement, For) else activity.useful_after
            if read and any(name in useful(statement) for name in made):
                for kind in (TEXT, NUMBER):
                    if kind in read:
                        raise _refusal(kind, statement)
                put |= {UNSURE}
            if UNSURE in put:
                looks[statement] = body.looks(statement)
        return looks

    def is_source(self, statement: Statement) -> bool:
        """Whether a statement, or what it calls, may lose what varies."""
        match statement:
            case Bind(operation=Call(callee=callee)):
                return isinstance(callee.function, Guarded) or self._loses(callee)
            case Bind(operation=Unruled() | Exchange(method="setdefault")):
                return True
            case Bind(operation=Apply(function=function)) if function is runtime.keyed or function is runtime.from_pairs:
                return True
            case Bind(expression=expression):
                return any(map(makes_text, nodes_of(expression)))
            case Store(base=base, index=index) | AugStore(base=base, index=index):
                return not isinstance(index, gast.Constant)
        return False

    def _loses(self, callee: Callee) -> bool:
        if callee not in self.sources:
            self.sources[callee] = False  # of a recursion the rest tells
            self.sources[callee] = any(map(self.is_source, walk(self.normalized(callee).body)))
        return self.sources[callee]

    def flow(self, callee: Callee, facts: Facts, given: tuple[Paths, ...]) -> _Flow:
        """What a call does with what it is ``given``; of a call that is being worked out, what is known of it yet."""
        if isinstance(callee.function, Guarded):
            flow = self.flow(unguarded(callee), facts, given)
            raised = under(1, spread(_TEXT)) if any(given) else NOWHERE
            return replace(flow, returned=under(0, flow.returned) | raised)
        kinds = {path[-1] for paths in given for path in paths}
        if not kinds or kinds == {VARIED} and not self._loses(callee):
            kept = frozenset(((DEEP, VARIED),)) if kinds else NOWHERE
            return _Flow(kept=(kept,) * len(given))
        key = (callee, facts, given)
        if key in self.met:
            self.is_provisional = True
        elif not (key in self.flows and not self.is_provisional):
            self.met.add(key)
            self.flows.setdefault(key, _Flow())
            self.flows[key] = self._flow_inside(callee, facts, given)
        return self.flows[key]

    def _flow_inside(self, callee: Callee, facts: Facts, given: tuple[Paths, ...]) -> _Flow:
        varies = tuple(any(path[-1] is VARIED for path in paths) for paths in given)
        function, activity, known = self.inside(callee, facts, varies)
        body = _Body(self, function, activity, known, dict(zip(function.parameters, given, strict=True)))
        read, put = set[Loss](), set[Loss]()
        for statement, kinds, made, into_set in body.effects():
            read |= kinds if made else set()
            put |= into_set | ({VARIED} if _puts_varied(statement, function, activity) else set())
        returned = NOWHERE.union(
            *(body.of(s.value, activity.varied_before(s), False) for s in walk(function.body) if isinstance(s, Return))
        )
        kept = tuple(body.put.get(p, NOWHERE) for p in function.parameters)
        return _Flow(_lost(returned), kept, frozenset(read), frozenset(put))

    def related(self, callee: Callee, facts: Facts) -> Summary:
        """Which arguments a callee may make share memory, with each other and with its result: whatever the facts are,
        all where it is not known, or calls itself."""
        everything = frozenset(range(len(facts)))
        if isinstance(callee.function, Guarded):
            callee = unguarded(callee)
        if callee not in self.summaries:
            self.summaries[callee] = Summary(returned=everything, joined=(everything,))
            self.summaries[callee] = summary(self.normalized(callee), self.related)
        return self.summaries[callee]


class _Body:
    """What is lost in one function: in which paths of what a name holds.

    ``put`` are the paths that were put there by this name after its object was made: other names reach it too.
    ``shared`` are the names that have such by what they may share memory with."""

    def __init__(
        self, losses: Losses, function: Function, activity: Activity, facts: Known, given: Mapping[str, Paths]
    ) -> None:
        self.losses, self.function, self.activity, self.facts = losses, function, activity, facts
        self.paths: dict[str, Paths] = dict(given)
        self.put: dict[str, Paths] = {}
        self.shared: tuple[set[str], set[str]] = (set(), set())
        self.read = set[Loss]()  # by the present statement, as numbers,
        self.into_set = set[Loss]()  # or put into a set by it
        self.made: dict[str, Paths] = {}  # what it makes of what is lost
        statements = walk(function.body)
        for statement in statements:
            for name in bound_here(statement) if not links(statement) else ():
                self.note(name, _ITSELF)
        kin = cache(lambda: others_related(function, losses.related, _keeps_apart))
        self.has_grown = True
        while self.has_grown:
            self.has_grown = False
            for statement in statements:
                self.transfer(statement)
            self._share(kin)

    def effects(self) -> Iterator[tuple[Statement, set[Loss], list[str], set[Loss]]]:
        """For each statement what it reads as numbers, the names that hold some of that, and what it puts into sets."""
        for statement in walk(self.function.body):
            self.read, self.into_set, self.made = set(), set(), {}
            self.transfer(statement)
            made = [name for name, paths in self.made.items() if any(map(_is_number, paths))]
            yield statement, self.read, made, self.into_set

    def note(self, name: str, paths: Paths, put: bool = False) -> None:
        """More paths for a name; what is known to be text or an integer loses no number."""
        fact = self.facts.get(name)
        if isinstance(fact, Static) or isinstance(fact, Array) and fact.dtype and not is_floating(fact.dtype):
            paths = frozenset(path for path in paths if path[-1] is TEXT)
        self.made[name] = self.made.get(name, NOWHERE) | paths
        if _ITSELF <= self.paths.get(name, NOWHERE):
            paths = _lost(paths)
        for table, new in ((self.paths, paths), (self.put, within(paths) if put else NOWHERE)):
            if not new <= table.get(name, NOWHERE):
                table[name] = table.get(name, NOWHERE) | new
                self.has_grown = True

    # --- expressions -------------------------------------------------------------------------------------------------
    def of(self, node: gast.AST, varied: Container[str], dropped: bool = True) -> Paths:
        """The paths to what is lost in the value of an expression; what varies is, where its derivative is dropped."""
        match node:
            case GlobalReference() | gast.Constant() | gast.Compare() | gast.UnaryOp(op=gast.Not()):
                return NOWHERE
            case gast.Name(id=name):
                return self._named(name, varied, dropped)
            case gast.Subscript(value=value, slice=index):
                held = self.of(value, varied, dropped)
                return some_in(held) if isinstance(index, gast.Slice | gast.Tuple) else inside(held, key_of(index))
            case gast.Attribute(value=value, attr=attr):
                held = NOWHERE if attr in SHAPES else self.of(value, varied, dropped)
                return spread(held) if attr.startswith("__") else inside(held, attr)
            case gast.IfExp(body=body, orelse=orelse):
                return self.of(body, varied, dropped) | self.of(orelse, varied, dropped)
        if makes_text(node):
            return _TEXT if any(self.of(part, varied) for part in children(node)) else NOWHERE
        match node:
            case gast.Call(func=gast.Attribute(value=value, attr="keys") as called) if object_of(called) is None:
                return under(ANY, self._keys(self.of(value, ())))
            case gast.Call(func=func, args=[value]) if object_of(func) is runtime.places_of:
                return under(ANY, items_in(self.of(value, ())) | self._keys(self.of(value, ())))
            case gast.Call():
                return self._called(node, varied, dropped)
            case gast.UnaryOp(operand=operand):
                return _numbers(self.of(operand, varied, dropped))
            case gast.Tuple(elts=elements) if not any(isinstance(e, gast.Starred) for e in elements):
                return NOWHERE.union(*(under(j, self.of(e, varied, dropped)) for j, e in enumerate(elements)))
        parts = [self.of(part, varied, dropped) for part in children(node)]
        return frozenset(_TEXT) if isinstance(node, gast.JoinedStr) and any(parts) else spread(NOWHERE.union(*parts))

    def _named(self, name: str, varied: Container[str], dropped: bool) -> Paths:
        paths = self.paths.get(name, NOWHERE)
        moving = frozenset(path for path in paths if path[-1] is VARIED)
        lost = paths - moving
        if name not in varied or not moving:
            return lost
        if not dropped:
            return paths
        kinds = ((path, _kind(_fact_at(self.facts.get(name), path[:-1]))) for path in moving)
        return lost.union((*path[:-1], kind) for path, kind in kinds if kind is not None)

    def _called(self, node: gast.Call, varied: Container[str], dropped: bool) -> Paths:
        """What a call within an expression makes of what it is given, and of the object whose method it is."""
        function = object_of(node.func)
        own = [node.func.value] if isinstance(node.func, gast.Attribute) and function is None else []
        given = [*own, *node.args, *(keyword.value for keyword in node.keywords)]
        held = NOWHERE.union(*(self.of(part, varied, dropped) for part in given))
        numbers = NOWHERE if loses_numbers(node) else _numbers(held)
        if makes_number(function) and numbers:
            numbers = frozenset(((NUMBER,),))
        text = _texts(held)
        if text and reads_text(node):
            self.read.add(TEXT)
            numbers |= {(NUMBER,)}
        return spread(numbers) | (NOWHERE if loses_text(node) else spread(text))

    def _keys(self, paths: Paths) -> Paths:
        """The keys of a dict with such paths, which are read here."""
        keys = keys_in(paths)
        self.read.update(path[-1] for path in keys if _is_number(path))
        return keys

    # --- statements --------------------------------------------------------------------------------------------------
    def transfer(self, statement: Statement) -> None:
        """Note what a statement makes of what is lost."""
        followed, varied = links(statement), self.activity.varied_before(statement)
        for link in followed:
            self._link(link, varied, isinstance(statement, Bind) and isinstance(statement.operation, Pack))
        match statement:
            case Bind(operation=Call() as made):
                self._call(statement, made, varied)
            case Bind(target=target, operation=Exchange(base=base, method=method, arguments=arguments)):
                if method == "setdefault" and arguments:
                    self._put_key(base, arguments[0], varied)
                if not followed:
                    given = NOWHERE.union(*(self.of(e, varied, False) for e in arguments))
                    self.note(base, spread(given) - _TEXT, put=True)
                    self.note(target, spread(self.paths.get(base, NOWHERE) | given))
            case Bind(operation=Apply() as made):
                self._bound(statement, self._applied(statement, made, varied))
            case Bind(target=made, operation=Unruled(given=tuple(), changes=changed), expression=expression):
                if not _is_only_asked(self.function, changed or made):
                    self.into_set |= {path[-1] for n in names_read(expression) for path in self._named(n, (), True)}
            case Bind(operation=Unruled(), expression=expression):
                self.read |= {path[-1] for path in self.of(expression, ())}
                if held := self.of(expression, varied):
                    self._bound(statement, spread(held | {(NUMBER,), (TEXT,)}))
            case Bind(operation=Fixed(), expression=expression):
                self._bound(statement, self.of(expression, varied))
            case Bind(operation=Index(base=base)) if not followed:
                self._bound(statement, some_in(self.paths.get(base, NOWHERE)))
            case Bind(target=target, operation=Pack(elements=elements, keys=keys)):
                for key in keys:
                    self._put_key(target, key, varied)
                if not followed:
                    self.note(target, spread(NOWHERE.union(*(self.of(e, varied, False) for e in elements))))
            case Store(base=base, index=index, value=value) | AugStore(base=base, index=index, value=value):
                self._put_key(base, index, varied)
                self._store(base, self.of(value, varied, False), followed=bool(followed))
            case AddAt(buffer=base, value=value) | Append(sequence=base, value=value) | SetField(base=base, value=value):
                if not followed:
                    self.note(base, within(spread(self.of(value, varied, False))), put=True)
            case Unpack(targets=targets, source=source, star=int()):
                for name in targets:
                    self._take(name, some_in(self.paths.get(source, NOWHERE)))
            case Pop(targets=targets, sequence=sequence, tupled=tupled):
                held = inside(self.paths.get(sequence, NOWHERE), ANY)
                for j, name in enumerate(targets):
                    self._take(name, inside(held, j) if tupled else held)
            case For(index=index, iterable=iterable, counted=False):
                held = self.of(iterable, varied)
                self._keys(_keyed(held))
                self._take(index, items_in(held))

    def _take(self, name: str, paths: Paths) -> None:
        self.note(name, _numbers(paths) if isinstance(self.facts.get(name), Array) else paths)

    def _bound(self, statement: Bind, paths: Paths) -> None:
        """Facts tell of numbers: text is bound where they know an array only if they did not know of the text before."""
        is_told = isinstance(self.facts.get(statement.target), Array) and not makes_text_alone(statement)
        if is_told and getattr(statement.operation, "function", None) in _REPEATING and (TEXT,) in paths:
            is_told = False
        if is_told:
            read = () if isinstance(statement.operation, Call) else names_read(statement.expression)
            held = [n for n in read if isinstance(self.facts.get(n), Array)]
            is_told = not any(_texts(self.paths.get(name, NOWHERE)) for name in held)
        self.note(statement.target, _numbers(paths) if is_told else paths)

    def _put_key(self, base: str, key: gast.expr, varied: Container[str]) -> None:
        if not isinstance(self.facts.get(base), Array | Sequence):
            kinds = {path[-1] for path in self.of(key, varied)}
            self.note(base, frozenset((KEYS, kind) for kind in kinds), put=True)

    def _store(self, base: str, held: Paths, followed: bool) -> None:
        fact = self.facts.get(base)
        if isinstance(fact, Array):
            if is_of_text(fact):
                self.note(base, _TEXT if held else NOWHERE)
            elif _texts(held):
                self._stored_as_number(base)
            self.note(base, under(ANY, _numbers(held)), put=True)
        elif not followed:
            self.note(base, under(ANY, held) | within(spread(held)), put=True)

    def _stored_as_number(self, name: str) -> None:
        self.read.add(TEXT)
        self.note(name, frozenset(((ANY, NUMBER),)), put=True)

    def _applied(self, statement: Bind, made: Apply, varied: Container[str]) -> Paths:
        """What an operation makes of what is lost in its operands."""
        function, arguments = made.function, made.arguments
        if function is runtime.keyed or function is runtime.from_pairs:
            name = "keys" if function is runtime.keyed else "pairs"
            keys = inside(self.of(arguments[name], varied), ANY)
            values = inside(self.of(arguments["values" if name == "keys" else name], varied, False), ANY)
            if name == "pairs":
                keys, values = inside(keys, 0), inside(values, 1)
            return under(KEYS, {path[-1:] for path in keys}) | under(ANY, values)
        if makes_text(statement.expression):
            return self.of(statement.expression, varied)
        held = {p: self._operands(e, varied) for p, e in arguments.items()}
        everything = NOWHERE.union(*held.values())
        if function is runtime.merged:
            return everything
        keys = self._keys(_keyed(everything)) if reads_keys(function) else NOWHERE
        if function in _REPEATING:
            return everything  # text is repeated, or a list
        if hands_on(function):
            return spread(everything | keys)
        sensitive = NOWHERE.union(*(paths for p, paths in held.items() if p in made.rule.sensitive))
        numbers = spread(_numbers(sensitive | keys))
        if _texts(sensitive) and read_by(made):
            self.read.add(TEXT)
            numbers |= {(NUMBER,)}
        return numbers

    def _operands(self, argument: gast.expr, varied: Container[str]) -> Paths:
        parts = argument.elts if isinstance(argument, gast.Tuple | gast.List) else [argument]
        return NOWHERE.union(*(self.of(part, varied, False) for part in parts))

    def _call(self, statement: Bind, made: Call, varied: Container[str]) -> None:
        facts = tuple(fact_of_expression(a, lambda name: self.facts.get(name, Unknown())) for a in made.arguments)
        flow = self.losses.flow(made.callee, facts, tuple(self.of(e, varied, False) for e in made.arguments))
        self.into_set |= flow.put
        if any(_is_number(path) for paths in (flow.returned, *flow.kept) for path in paths):
            self.read |= flow.read
        self._bound(statement, flow.returned)
        for argument, paths in zip(made.arguments, flow.kept, strict=bool(flow.kept)):
            for name in names_read(argument):
                if not isinstance(fact := self.facts.get(name), Array):
                    self.note(name, paths, put=True)
                    continue
                if not is_of_text(fact) and any(map(_is_place, _texts(paths))):
                    self._stored_as_number(name)
                self.note(name, _numbers(paths), put=True)

    # --- containers --------------------------------------------------------------------------------------------------
    def _link(self, link: Link, varied: Container[str], is_display: bool) -> None:
        """Follow what is lost into containers and out of them, by whatever name it got there."""
        container, part = self.facts.get(link.container), self.facts.get(link.part)
        held = self.paths.get(link.container, NOWHERE)
        ways = self.paths.get(link.part, NOWHERE) if link.part in varied else _lost(self.paths.get(link.part, NOWHERE))
        if isinstance(container, Array):
            if link.put and is_of_text(container) and _texts(ways):
                self.note(link.container, _TEXT)
            elif not link.put:
                self.note(link.part, inside(held, link.key))
            return
        if link.put:
            self.note(link.container, under(link.key, ways), put=not is_display)
        else:
            taken = inside(held, link.key)
            self.note(link.part, _numbers(taken) if _is_numbers(part) else taken)
        if not isinstance(part, Array):
            back = inside(self.put.get(link.container, NOWHERE), link.key) if link.put else NOWHERE
            self.note(link.part, within(back), put=True)
            if not link.put:
                self.note(link.container, under(link.key, self.put.get(link.part, NOWHERE)), put=True)

    def _share(self, kin: Callable[[], Callable[[str], frozenset[str]]]) -> None:
        """Follow what is lost into what may share memory with what it lies in, in some path or other."""
        for put, table, shared in ((False, self.paths, self.shared[0]), (True, self.put, self.shared[1])):
            for name, paths in [*table.items()]:
                paths = within(paths if put else _texts(paths))
                if not paths or name in shared and all(path[0] is DEEP for path in paths):
                    continue
                for other in kin()(name) - {name}:
                    is_array = isinstance(self.facts.get(other), Array)
                    found = within(spread(_numbers(paths) if is_array else paths))
                    if not within(table.get(other, NOWHERE)):
                        shared.add(other)
                    self.note(other, found, put)

    def looks(self, statement: Statement) -> list[Effect]:
        """What the run looks at before a statement that reads keys which may be numbers, or puts them into a set."""
        place = gast.Constant(statement.span.origin, None)
        checks = [runtime.require_keys]
        if isinstance(statement, Bind) and isinstance(statement.operation, Unruled):
            checks.append(runtime.require_key)
        found: list[Effect] = []
        for name in dict.fromkeys(names_mentioned(statement)):
            if name not in bound_here(statement) and any(path[-1] is UNSURE for path in self.paths.get(name, ())):
                read = gast.Name(name, gast.Load(), None, None)
                looks = (gast.Expr(call_runtime(check, read, place)) for check in checks)
                found += (Effect(look, statement.span) for look in looks)
        return found


# --- parts -----------------------------------------------------------------------------------------------------------
def _refusal(kind: object, statement: Statement) -> UnsupportedSyntax:
    message, code, label, hint = _REFUSALS[kind]  # type: ignore[index]
    return UnsupportedSyntax(message, statement.span, code=code, label=label, hint=hint)


def _numbers(paths: Paths) -> Paths:
    return frozenset(path for path in paths if path[-1] is not TEXT)


def _texts(paths: Paths) -> Paths:
    return frozenset(path for path in paths if path[-1] is TEXT)


def _keyed(paths: Paths) -> Paths:
    return frozenset(path for path in paths if path[0] is KEYS)


def _lost(paths: Paths) -> Paths:
    return frozenset(path for path in paths if path[-1] is not VARIED)


def _is_number(path: Path) -> bool:
    """Whether a path leads to a lost number that has been read, and is no key."""
    return path[-1] in (NUMBER, UNSURE) and KEYS not in path


def _kind(fact: Fact | None) -> Loss | None:
    """How a value that varies, and of which this is known, is lost; most keys are text or integers, whatever activity
    says, which tells of a memory as a whole."""
    match fact:
        case Array(dtype=dtype):
            return UNSURE if dtype is None else NUMBER if is_floating(dtype) else None
        case Sequence(items=items) if items is not None:
            kinds = {_kind(item) for item in items}
            return NUMBER if NUMBER in kinds else UNSURE if UNSURE in kinds else None
        case None | Unknown() | Sequence() | MappingFact() | Object():
            return UNSURE
    return None


def _fact_at(fact: Fact | None, steps: Iterable[object]) -> Fact | None:
    """What is known of what lies there in a value."""
    for step in steps:
        match fact:
            case Sequence(items=tuple() as items) if isinstance(step, int) and step < len(items):
                fact = items[step]
            case Sequence(item=item):
                fact = item
            case MappingFact(items=tuple() as pairs) | Object(items=pairs):
                fact = dict(pairs).get(step)
            case _:
                return None
    return fact


def _is_numbers(fact: Fact | None) -> bool:
    """Whether a value is known to be a number, or an array of such."""
    return isinstance(fact, Array) and not is_of_text(fact) and (fact.dtype is not None or fact.scalar)


def _is_place(path: Path) -> bool:
    """Whether a path may be to an element of an array."""
    return len(path) == 2 and not isinstance(path[0], str) and path[0] not in (DEEP, KEYS)


def _keeps_apart(statement: Statement) -> bool:
    """Whether a statement binds a length, a whole number or a truth value."""
    match statement:
        case Bind(expression=gast.Call() as called):
            return loses_text(called)
        case Bind(expression=gast.Compare() | gast.UnaryOp()):
            return True
    return False


# --- sets and axes ---------------------------------------------------------------------------------------------------
def _puts_varied(statement: Statement, function: Function, activity: Activity) -> bool:
    """Whether what varies is put into a set from which anything is read: it has no adjoint there."""
    match statement:
        case Bind(target=made, operation=Unruled(given=tuple() as given, changes=changed)) if given:
            varied = activity.varied_before(statement)
            return any(name in varied for name in given) and not _is_only_asked(function, changed or made)
    return False


def _is_only_asked(function: Function, name: str) -> bool:
    """Whether nothing is read from a set that is made here: it grows, shrinks, and is asked what is in it."""
    return name not in function.parameters and not any(_reads_set(s, name) for s in walk(function.body))


def _reads_set(statement: Statement, name: str) -> bool:
    mentioned = names_mentioned(statement).count(name)
    if mentioned and isinstance(statement, Bind) and statement.target == name:
        mentioned -= isinstance(statement.operation, Unruled) and statement.operation.given is not None
    for part in vars(statement).values():
        if mentioned and isinstance(part, gast.AST):
            mentioned -= sum(_asked(node) == name for node in nodes_of(part))
    return mentioned > 0


def _asked(node: gast.AST) -> str | None:
    """The set that an expression asks, or changes, without reading from it."""
    match node:
        case gast.Compare(ops=[gast.In() | gast.NotIn()], comparators=[gast.Name() as asked]):
            pass
        case gast.Call(func=gast.Attribute(value=gast.Name() as asked, attr="add" | "discard" | "remove" | "clear")):
            pass
        case gast.Call(func=func, args=[gast.Name() as asked]) if object_of(func) in (len, runtime.shadow):
            pass
        case _:
            return None
    return str(asked.id)


def _refuse_unruled(statement: Statement, activity: Activity) -> None:
    """Refuse what has no rule where it is of use."""
    match statement:
        case Bind(target=target, operation=Unruled(given=None, refusal=refusal)) if target in activity.useful_after(statement):
            if any(name in activity.varied_before(statement) for name in inputs(statement)):
                raise refusal


def _refuse_axes(statement: Statement, activity: Activity) -> None:
    """``a.sum(x)`` is the sum of the array ``a`` along the axis ``x``, unless ``a`` is a module or another object with a
    method ``sum``: then its result would vary with ``x``, and a derivative of zero were silently wrong."""
    match statement:
        case Bind(operation=Apply(rule=rule, arguments=arguments)):
            places = [arguments[p] for p in _PLACES if p in arguments and p not in rule.sensitive]
            varied: Container[str] = activity.varied_before(statement) if places else ()
            if any(name in varied for place in places for name in _numbers_of(place)):
                raise UnsupportedSyntax(
                    f"the axis of {rule.name} varies: this may be no method of an array",
                    statement.span, code="E0512",
                    label="what this calls is not known",
                    hint="call the function by its name; pass modules and functions as arguments of their own",
                )


def _numbers_of(node: gast.AST) -> Iterator[str]:
    """The names whose numbers an axis is made of; lengths, shapes and comparisons are not followed."""
    match node:
        case GlobalReference():
            return
        case gast.Name(id=name):
            yield name
        case gast.BinOp() | gast.UnaryOp() | gast.Tuple() | gast.List():
            for part in children(node):
                yield from _numbers_of(part)
        case gast.Call(func=func, args=arguments) if _is_ruled(func):
            for argument in arguments:
                yield from _numbers_of(argument)


def _is_ruled(function: gast.AST) -> bool:
    """Whether this names a function with a rule, or one that is read off a module."""
    match function:
        case GlobalReference(binding=binding):
            return lookup(binding.value) is not None
        case gast.Attribute(value=GlobalReference() | gast.Attribute()):
            return True
    return False
