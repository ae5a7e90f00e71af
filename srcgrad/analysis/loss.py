"""Loss: values that depend on what is differentiated for, through text, keys or sets, which carry no derivative.

Enters: ``Function`` with its ``Activity`` and facts, and the same of what it calls.  Leaves: what the run looks at
where keys may turn out to be numbers, or a refusal where what was lost is read as a number, and is of use.

This is one forward analysis over access paths (``analysis/paths.py``), without regard to order, with a summary for each
callee.  Sources are text that is made of what varies, and keys that vary.  Operations, containers and calls propagate
a loss.  Sinks are what reads text as a number, or the keys of a dict, and sets, which are not followed.
``analysis/loss_table.py`` says of expressions and functions which they are::

    s = f"{x}"                  s: TEXT
    d[k] = s                    d: TEXT under any key, and a NUMBER among its keys where k varies
    ks = list(d.keys())         ks: NUMBER; refused if ks is of use, while d[ks[0]] loses nothing
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
    may_hand_on,
    may_make_text,
    read_by,
    reads_keys,
    reads_text,
)
from srcgrad.analysis.paths import (
    ANY,
    DEEP,
    KEPT,
    KEYS,
    NOWHERE,
    NUMBER,
    SAME,
    TEXT,
    UNSURE,
    VARIED,
    Link,
    Loss,
    Path,
    Paths,
    SummaryOf,
    inside,
    items_in,
    key_of,
    keys_in,
    links,
    others_related,
    some_in,
    spread,
    under,
    within,
)
from srcgrad.analysis.references import names_mentioned
from srcgrad.analysis.summaries import Summaries
from srcgrad.analysis.values import fact_of_expression
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir import normal_form as nf
from srcgrad.language.members import SHAPES
from srcgrad.rules.facts import Array, Fact, Object, Sequence, Static, Unknown, is_floating
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.formula import object_of
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.parse import children, names_read
from srcgrad.syntax.parse import walk as nodes_of

Facts = tuple[Fact, ...]
Known = Mapping[str, Fact]
Inside = Callable[[nf.Callee, Facts, tuple[bool, ...]], tuple[nf.Function, Activity, Known]]

_ITSELF: Paths = frozenset(((VARIED,),))
_TEXT: Paths = frozenset(((TEXT,),))
_REPEATING = (operator.mul, operator.imul)
_MAKING_DICTS = (runtime.keyed, runtime.from_pairs)

_IN_A_SET, _TEXT_IN_A_SET = "in a set", "text in a set"
#: What is refused: the message, its code, label and hint.
_REFUSALS: Mapping[object, tuple[str, str, str, str]] = {
    TEXT: (
        "a number is read from text that is made of a value which varies", "E0601",
        "its derivative is lost here", "pass the value itself; text is for printing, keys and tests",
    ),
    _TEXT_IN_A_SET: (
        "text that is made of a value which varies is put into a set", "E0602",
        "its derivative could be lost there", "keep such text in a list or dict",
    ),
    NUMBER: (
        "the keys of a dict are read where some of them vary", "E0603",
        "keys have no derivative", "keep what varies in the values, or beside them in a list",
    ),
    _IN_A_SET: (
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
    """The check of the functions of one module.  ``inside`` gives a callee, its activity where some of its arguments
    vary, and the facts of its names; ``summary_of`` what a call does to memory."""

    def __init__(
        self, normalized: Callable[[nf.Callee], nf.Function], inside: Inside, summary_of: SummaryOf
    ) -> None:
        self.normalized, self.inside, self.summary_of = normalized, inside, summary_of
        self.flows = Summaries(self._flow_inside, _Flow())
        self.losing: dict[nf.Callee, bool] = {}

    def refuse(
        self, function: nf.Function, activity: Activity, facts: Known, door: bool
    ) -> dict[nf.Statement, list[nf.Effect]]:
        """Refuse what is lost and of use; gives what the run has to look at before a statement.  ``door``: what the
        function returns is of use as a whole."""
        statements, looks = walk(function.body), dict[nf.Statement, list[nf.Effect]]()
        for statement in statements:
            _refuse_at_once(statement, function, activity)
        if not any(map(self._may_lose, statements)):
            return looks
        body = _Body(self, function, activity, facts, dict.fromkeys(function.parameters, _ITSELF))
        for statement, read, made, put in body.sinks():
            useful = activity.useful_before if isinstance(statement, nf.For) else activity.useful_after
            if door and isinstance(statement, nf.Return):
                if any(path[-1] is KEPT for path in body.of(statement.value, ())):
                    raise _refusal(TEXT if TEXT in body.kept else NUMBER, statement)
            if put - {UNSURE} or put and _callee(statement):
                raise _refusal(_TEXT_IN_A_SET if TEXT in put else _IN_A_SET, statement)
            if read and any(name in useful(statement) for name in made):
                if read != {UNSURE}:
                    raise _refusal(TEXT if TEXT in read else NUMBER, statement)
                put.add(UNSURE)
            if put or UNSURE in read and _callee(statement):
                looks[statement] = body.looks(statement)
        return looks

    def _may_lose(self, statement: nf.Statement) -> bool:
        callee = _callee(statement)
        return _is_source(statement) or callee is not None and self._loses(callee)

    def _loses(self, callee: nf.Callee) -> bool:
        """Whether a callee, or what it calls, has a source."""
        if callee not in self.losing:
            met = [callee]
            for each in met:
                for statement in walk(self.normalized(each).body):
                    called = _callee(statement)
                    if _is_source(statement) or called is not None and self.losing.get(called):
                        self.losing[callee] = True
                        return True
                    if called is not None and called not in met and called not in self.losing:
                        met.append(called)
            self.losing.update(dict.fromkeys(met, False))
        return self.losing[callee]

    def flow(self, callee: nf.Callee, facts: Facts, given: tuple[Paths, ...]) -> _Flow:
        """What a call does with what it is ``given``."""
        if isinstance(callee.function, nf.Guarded):
            flow = self.flow(nf.unguarded(callee), facts, given)
            raised = under(1, spread(_TEXT)) if any(given) else NOWHERE
            return replace(flow, returned=under(0, flow.returned) | raised)
        kinds = {path[-1] for paths in given for path in paths}
        if not kinds or kinds == {VARIED} and not self._loses(callee):
            return _Flow(kept=(under(DEEP, {(kind,) for kind in kinds}),) * len(given))
        return self.flows.of(callee, facts, given)

    def _flow_inside(self, callee: nf.Callee, facts: Facts, given: tuple[Paths, ...]) -> _Flow:
        varies = tuple(any(path[-1] is VARIED for path in paths) for paths in given)
        function, activity, known = self.inside(callee, facts, varies)
        body = _Body(self, function, activity, known, dict(zip(function.parameters, given, strict=True)))
        read, put, returned = set[Loss](), set[Loss](), NOWHERE
        for statement, kinds, made, into_set in body.sinks():
            read |= kinds if made else set()
            put |= into_set | ({VARIED} if _varies_in_set(statement, function, activity) else set())
            if isinstance(statement, nf.Return):
                returned |= _lost(body.of(statement.value, (), False))
        kept = tuple(body.put.get(p, NOWHERE) for p in function.parameters)
        return _Flow(returned, kept, frozenset(read), frozenset(put))


class _Body:
    """What is lost in one function: in which paths of what a name holds.

    ``put`` are the paths that were put there by this name after its object was made: other names reach it too.
    ``shared`` are the names that have such by what they may share memory with."""

    def __init__(
        self, losses: Losses, function: nf.Function, activity: Activity, facts: Known, given: Mapping[str, Paths]
    ) -> None:
        self.losses, self.function, self.activity, self.facts = losses, function, activity, facts
        self.paths: dict[str, Paths] = dict(given)
        self.put: dict[str, Paths] = {}
        self.shared: tuple[set[str], set[str]] = (set(), set())
        self.read = set[Loss]()  # by the present statement, as numbers,
        self.into_set = set[Loss]()  # or put into a set by it
        self.made: dict[str, Paths] = {}  # what it makes of what is lost
        self.kept = set[Loss]()  # what callees and arrays have read and put into containers
        statements = walk(function.body)
        for statement in statements:
            for name in bound_here(statement) if not links(statement) else ():
                self.note(name, _ITSELF)
        kin = cache(lambda: others_related(function, facts, losses.summary_of, _keeps_apart))
        self.has_grown = True
        while self.has_grown:
            self.has_grown = False
            for statement in statements:
                self.transfer(statement)
            self._share(kin)

    def sinks(self) -> Iterator[tuple[nf.Statement, set[Loss], list[str], set[Loss]]]:
        """For each statement what it reads as numbers, the names that hold some of that, and what it puts into sets."""
        for statement in walk(self.function.body):
            self.read, self.into_set, self.made = set(), set(), {}
            self.transfer(statement)
            made = [name for name, paths in self.made.items() if _is_read(paths, self.read)]
            yield statement, self.read, made, self.into_set

    def note(self, name: str, paths: Paths, put: bool = False) -> None:
        """More paths for a name; what facts prove to be text or an integer loses no number."""
        fact = self.facts.get(name)
        if isinstance(fact, Static) or isinstance(fact, Array) and fact.dtype and not is_floating(fact.dtype):
            paths = frozenset(path for path in paths if path[-1] is TEXT)
        self.made[name] = self.made.get(name, NOWHERE) | paths
        held = _lost(paths) if _ITSELF <= self.paths.get(name, NOWHERE) else paths
        for table, new in ((self.paths, held), (self.put, within(paths) if put else NOWHERE)):
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
            case gast.Lambda() | gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                held = NOWHERE.union(*(self._named(name, varied, dropped) for name in names_read(node)))
                return spread({*held, (TEXT,), (NUMBER,)}) if held else NOWHERE
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
        if isinstance(node, gast.JoinedStr) and any(parts):
            return _TEXT
        if isinstance(node, gast.BinOp) and may_make_text(node) and self.of(node.right, varied, dropped):
            parts.append(_TEXT)
        return spread(NOWHERE.union(*parts))

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
    def transfer(self, statement: nf.Statement) -> None:
        """Note what a statement makes of what is lost."""
        followed, varied = links(statement), self.activity.varied_before(statement)
        for link in followed:
            self._link(link, varied, isinstance(statement, nf.Bind) and isinstance(statement.operation, nf.Pack))
        match statement:
            case nf.Bind(operation=nf.Call() as made):
                self._call(statement, made, varied)
            case nf.Bind(target=target, operation=nf.Exchange(base=base, method=method, arguments=arguments)):
                if method == "setdefault" and arguments:
                    self._put_key(base, arguments[0], varied)
                if not followed:
                    given = NOWHERE.union(*(self.of(e, varied, False) for e in arguments))
                    self.note(base, within(spread(given)) | under(ANY, given), put=True)
                    self._take(target, spread(self.paths.get(base, NOWHERE) | given))
            case nf.Bind(operation=nf.Apply() as made):
                self._bound(statement, self._applied(statement, made, varied))
            case nf.Bind(target=made, operation=nf.Unruled(given=tuple(), changes=changed), expression=expression):
                if not _is_only_asked(self.function, changed or made):
                    self.into_set |= {path[-1] for n in names_read(expression) for path in self._named(n, (), True)}
            case nf.Bind(operation=nf.Unruled(), expression=expression):
                self.read |= {path[-1] for path in self.of(expression, ())}
                if held := self.of(expression, varied):
                    self._bound(statement, spread(held | {(NUMBER,)} | ({(TEXT,)} if _texts(held) else NOWHERE)))
            case nf.Bind(operation=nf.Fixed(), expression=expression):
                self._bound(statement, self.of(expression, varied))
            case nf.Bind(operation=nf.Index(base=base)) if not followed:
                self._bound(statement, some_in(self.paths.get(base, NOWHERE)))
            case nf.Bind(target=target, operation=nf.Pack(elements=elements)) if not followed:
                self.note(target, spread(NOWHERE.union(*(self.of(e, varied, False) for e in elements))))
            case nf.Store(base=base, index=index, value=value) | nf.AugStore(base=base, index=index, value=value):
                self._put_key(base, index, varied)
                self._store(base, self.of(value, varied, False), followed=bool(followed))
            case nf.AddAt(buffer=base, value=value) | nf.Append(sequence=base, value=value) | nf.SetField(
                base=base, value=value
            ):
                if not followed:
                    self.note(base, within(spread(self.of(value, varied, False))), put=True)
            case nf.Unpack(targets=targets, source=source, star=int()):
                for name in targets:
                    self._take(name, self._fitting(name, some_in(self.paths.get(source, NOWHERE))))
            case nf.Pop(targets=targets, sequence=sequence, tupled=tupled):
                held = inside(self.paths.get(sequence, NOWHERE), ANY)
                for j, name in enumerate(targets):
                    self._take(name, self._fitting(name, inside(held, j) if tupled else held))
            case nf.With(body=body) if names := _entered(statement):
                if any(map(self._writes, walk(body))):
                    for name in names:
                        self.note(name, spread(_TEXT))
            case nf.For(index=index, iterable=iterable, counted=False):
                held = self.of(iterable, ())
                self._keys(_keyed(held))
                self._take(index, self._fitting(index, items_in(held)))

    def _writes(self, statement: nf.Statement) -> bool:
        """Whether a statement, or a callee, may print, log or warn of what varies."""
        varied = self.activity.varied_before(statement)
        match statement:
            case nf.Effect(statement=read) | nf.Bind(operation=nf.Call() | nf.Unruled(), expression=read):
                return any(name in varied or self.paths.get(name) for name in names_read(read))
        return False

    def _take(self, name: str, paths: Paths) -> None:
        """Note what is taken out of a container: a number that was kept there is read here."""
        if any(path[-1] is KEPT for path in paths):
            self.read |= self.kept or {TEXT}
            paths |= spread({(NUMBER,)})
        self.note(name, paths)

    def _bound(self, statement: nf.Bind, paths: Paths) -> None:
        """Facts tell of numbers: where they know an array, text is bound only if they were wrong before."""
        fact = self.facts.get(statement.target)
        is_told = isinstance(fact, Array) and not (is_of_text(fact) or makes_text_alone(statement))
        if is_told and getattr(statement.operation, "function", None) in _REPEATING and (TEXT,) in paths:
            is_told = False
        if is_told:
            read = () if isinstance(statement.operation, nf.Call) else names_read(statement.expression)
            held = [n for n in read if isinstance(self.facts.get(n), Array)]
            is_told = not any(_texts(self.paths.get(name, NOWHERE)) for name in held)
        note = self.note if _callee(statement) else self._take
        note(statement.target, _numbers(paths) if is_told else paths)

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
                self._keep(base)
            self.note(base, under(ANY, _numbers(held)), put=True)
        elif not followed:
            self.note(base, under(ANY, held) | within(spread(held)), put=True)

    def _keep(self, name: str, read: Iterable[Loss] = (TEXT,), paths: Paths = frozenset(((ANY, NUMBER),))) -> None:
        """Note numbers that were read where they are kept: whoever takes them out reads them."""
        self.kept.update(read if paths else ())
        self.note(name, frozenset((*path[:-1], KEPT) for path in paths), put=True)

    def _fitting(self, name: str, paths: Paths) -> Paths:
        return _numbers(paths) if isinstance(self.facts.get(name), Array) else paths

    def _applied(self, statement: nf.Bind, made: nf.Apply, varied: Container[str]) -> Paths:
        """What an operation makes of what is lost in its operands."""
        function, arguments = made.function, made.arguments
        if function in _MAKING_DICTS:
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
        sensitive = NOWHERE.union(*(paths for p, paths in held.items() if p in made.rule.sensitive))
        numbers = spread(everything | keys if hands_on(function) else _numbers(sensitive | keys))
        if _texts(sensitive) and read_by(made):
            self.read.add(TEXT)
            numbers |= {(NUMBER,)}
        return numbers | spread(_texts(sensitive)) if may_hand_on(function) else numbers

    def _operands(self, argument: gast.expr, varied: Container[str]) -> Paths:
        parts = argument.elts if isinstance(argument, gast.Tuple | gast.List) else [argument]
        return NOWHERE.union(*(self.of(part, varied, False) for part in parts))

    def _call(self, statement: nf.Bind, made: nf.Call, varied: Container[str]) -> None:
        facts = tuple(fact_of_expression(a, lambda name: self.facts.get(name, Unknown())) for a in made.arguments)
        flow = self.losses.flow(made.callee, facts, tuple(self.of(e, varied, False) for e in made.arguments))
        if self.function.generated and isinstance(made.callee.function, nf.Guarded):
            # What was raised is compared with None there; the program that it is made from was looked at before.
            flow = replace(flow, returned=frozenset(path for path in flow.returned if path[0] != 1))
        self.into_set |= flow.put
        if _is_read(flow.returned, flow.read):
            self.read |= flow.read
        self._bound(statement, flow.returned)
        for argument, paths in zip(made.arguments, flow.kept, strict=bool(flow.kept)):
            read = frozenset(path for path in paths if _is_read((path,), flow.read - {UNSURE}))
            self.read |= {UNSURE} if _is_read(paths, flow.read & {UNSURE}) else set()
            for name in names_read(argument):
                if not is_of_text(self.facts.get(name)) and any(map(_is_place, _texts(paths))):
                    if isinstance(self.facts.get(name), Array):
                        self._keep(name)
                self.note(name, self._fitting(name, paths - read), put=True)
                self._keep(name, flow.read & {TEXT} or {NUMBER}, read)

    # --- containers --------------------------------------------------------------------------------------------------
    def _link(self, link: Link, varied: Container[str], is_display: bool) -> None:
        """Follow what is lost into containers and out of them, by whatever name it got there."""
        container, part = self.facts.get(link.container), self.facts.get(link.part)
        held = self.paths.get(link.container, NOWHERE)
        ways = self.paths.get(link.part, NOWHERE) if link.part in varied else _lost(self.paths.get(link.part, NOWHERE))
        if isinstance(container, Array):
            if not link.put:
                self._taken(link, inside(held, link.key))
            elif is_of_text(container) and _texts(ways):
                self.note(link.container, _TEXT)
        elif link.put:
            self.note(link.container, under(link.key, ways), put=not is_display)
        else:
            taken = inside(held, link.key)
            self._taken(link, _numbers(taken) if _is_numbers(part) else taken)
        # What is put into the part, by whatever name, is in the container too.
        back = inside(self.put.get(link.container, NOWHERE), link.key) if link.put else NOWHERE
        later = NOWHERE if link.put else under(link.key, self.put.get(link.part, NOWHERE))
        self.note(link.part, _numbers(within(back)) if isinstance(part, Array) else within(back), put=True)
        self.note(link.container, _numbers(later) if isinstance(part, Array) else later, put=True)

    def _taken(self, link: Link, paths: Paths) -> None:
        (self._take if (KEPT,) in paths and link.key is not SAME else self.note)(link.part, paths)

    def _share(self, kin: Callable[[], Callable[[str], frozenset[str]]]) -> None:
        """Follow what is lost into what may share memory with what it lies in, in some path or other."""
        for put, table, shared in ((False, self.paths, self.shared[0]), (True, self.put, self.shared[1])):
            for name, paths in [*table.items()]:
                paths = within(paths if put else _texts(paths))
                if not paths or name in shared and all(path[0] is DEEP for path in paths):
                    continue
                for other in kin()(name):
                    is_array = isinstance(self.facts.get(other), Array)
                    found = within(spread(_numbers(paths) if is_array else paths))
                    if not within(table.get(other, NOWHERE)):
                        shared.add(other)
                    self.note(other, found, put)

    def looks(self, statement: nf.Statement) -> list[nf.Effect]:
        """What the run looks at before a statement that reads keys which may be numbers, or puts them into a set."""
        place = gast.Constant(statement.span.origin, None)
        checks = [runtime.require_keys]
        if isinstance(statement, nf.Bind) and isinstance(statement.operation, nf.Unruled):
            checks.append(runtime.require_key)
        found: list[nf.Effect] = []
        for name in dict.fromkeys(names_mentioned(statement)):
            if name not in bound_here(statement) and any(path[-1] is UNSURE for path in self.paths.get(name, ())):
                read = gast.Name(name, gast.Load(), None, None)
                looks = (gast.Expr(call_runtime(check, read, place)) for check in checks)
                found += (nf.Effect(look, statement.span) for look in looks)
        return found


# --- parts -----------------------------------------------------------------------------------------------------------
def _is_source(statement: nf.Statement) -> bool:
    """Whether a statement may lose what varies; an exception that is caught has a text."""
    match statement:
        case nf.Bind(operation=nf.Call(callee=callee)):
            return isinstance(callee.function, nf.Guarded)
        case nf.Bind(operation=nf.Unruled() | nf.Exchange(method="setdefault")):
            return True
        case nf.Bind(operation=nf.Apply(function=function)) if function in _MAKING_DICTS:
            return True
        case nf.Bind(expression=expression):
            return any(map(may_make_text, nodes_of(expression)))
        case nf.Store(index=index) | nf.AugStore(index=index):
            return not isinstance(index, gast.Constant)
        case nf.With():
            return bool(_entered(statement))
    return False


def _entered(statement: nf.With) -> list[str]:
    """The names of what a library's context manager gives, into which it may write what is printed or warned of."""
    return [
        inner.target for inner in statement.body.statements
        if isinstance(inner, nf.Bind) and isinstance(inner.expression, gast.Call)
        and object_of(inner.expression.func) is runtime.entered
    ]  # fmt: skip


def _callee(statement: nf.Statement) -> nf.Callee | None:
    made = statement.operation if isinstance(statement, nf.Bind) else None
    return made.callee if isinstance(made, nf.Call) else None


def _refusal(kind: object, statement: nf.Statement) -> UnsupportedSyntax:
    message, code, label, hint = _REFUSALS[kind]
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


def _is_read(paths: Iterable[Path], read: Container[Loss]) -> bool:
    """Whether some path leads to a number that may be of what is ``read``, text or keys."""
    found = {path[-1] for path in paths if _is_number(path)}
    return NUMBER in found and (TEXT in read or NUMBER in read) or UNSURE in found and UNSURE in read


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
    """The fact of the part of a value that lies at a path."""
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


def _keeps_apart(statement: nf.Statement) -> bool:
    """Whether a statement binds a length, a whole number or a truth value."""
    match statement:
        case nf.Bind(expression=gast.Call() as called):
            return loses_text(called)
        case nf.Bind(expression=gast.Compare() | gast.UnaryOp()):
            return True
    return False


# --- what needs no paths ---------------------------------------------------------------------------------------------
def _refuse_at_once(statement: nf.Statement, function: nf.Function, activity: Activity) -> None:
    """Refuse what varies in a set; and where it is of use to what has no rule."""
    match statement:
        case nf.Bind(target=target, operation=nf.Unruled(given=given, refusal=refusal)):
            is_useful = given is None and target in activity.useful_after(statement)
            if is_useful and any(name in activity.varied_before(statement) for name in inputs(statement)):
                raise refusal
            if _varies_in_set(statement, function, activity):
                raise refusal


def _varies_in_set(statement: nf.Statement, function: nf.Function, activity: Activity) -> bool:
    """Whether what varies is put into a set from which anything is read: it has no adjoint there."""
    match statement:
        case nf.Bind(target=made, operation=nf.Unruled(given=tuple() as given, changes=changed)) if given:
            varied = activity.varied_before(statement)
            return any(name in varied for name in given) and not _is_only_asked(function, changed or made)
    return False


def _is_only_asked(function: nf.Function, name: str) -> bool:
    """Whether nothing is read from a set that is made here: it grows, shrinks, and is asked what is in it."""
    return name not in function.parameters and not any(_reads_set(s, name) for s in walk(function.body))


def _reads_set(statement: nf.Statement, name: str) -> bool:
    mentioned = names_mentioned(statement).count(name)
    if mentioned and isinstance(statement, nf.Bind) and statement.target == name:
        mentioned -= isinstance(statement.operation, nf.Unruled) and statement.operation.given is not None
    for part in vars(statement).values():
        if mentioned and isinstance(part, gast.AST):
            mentioned -= sum(_asked(node) == name for node in nodes_of(part))
    return mentioned > 0


def _asked(node: gast.AST) -> str | None:
    """The set that an expression asks, or changes, without reading from it."""
    match node:
        case gast.Compare(ops=[gast.In() | gast.NotIn()], comparators=[gast.Name(id=asked)]):
            return str(asked)
        case gast.Call(func=gast.Attribute(value=gast.Name(id=asked), attr="add" | "discard" | "remove" | "clear")):
            return str(asked)
        case gast.Call(func=func, args=[gast.Name(id=asked)]) if object_of(func) in (len, runtime.shadow):
            return str(asked)
    return None
