"""Text that is made of values which vary, and read back as a number: the derivative would be lost on the way.

Enters: ``Function`` with its ``Activity``, and the normal forms of what it calls.  Leaves: nothing, or a refusal where
such text becomes a number that is of use.  Text that is printed, compared, measured or rounded to an integer loses
nothing::

    s = f"{x}"          s is text of x
    t = "x = " + s      t too
    d["k"] = [t]        d, under "k" alone (``analysis/ways.py``)
    return float(s)     refused
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import gast

from srcgrad.analysis.activity import Activity, inputs
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.readers import (
    hands_on,
    is_of_text,
    loses_text,
    makes_text,
    makes_text_alone,
    read_by,
    readings,
)
from srcgrad.analysis.sets import put_into_sets
from srcgrad.analysis.shapes import shapes
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.ways import (
    AMONG_KEYS,
    ANY,
    ANYWHERE,
    DEEP,
    ITSELF,
    NOWHERE,
    WITHIN,
    Way,
    Ways,
    inside,
    key_of,
    links,
    others_related,
    summary,
    under,
    within,
)
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    AugStore,
    Bind,
    Call,
    Callee,
    Exchange,
    Fixed,
    For,
    Function,
    Guarded,
    Index,
    Pack,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    unguarded,
)
from srcgrad.language.members import SHAPES
from srcgrad.rules.facts import Array, Fact, Unknown
from srcgrad.syntax.parse import names_read

Varied = Callable[[Statement], Container[str]]

_REPEATING = (operator.mul, operator.imul)


@dataclass(frozen=True)
class _Flow:
    """What a callee does with text: in which ways of its result text of what varies lies, whether it reads text as a
    number, or puts such text into a set, and in which ways of its arguments such text lies in the end."""

    returned: Ways = NOWHERE
    read: bool = False
    put: bool = False
    kept: tuple[Ways, ...] = ()


class _Textual(dict[str, Ways]):
    """In which ways of what a name holds text of what varies may lie; ``has_grown`` since it was last asked.

    ``put`` are the ways that such text was put to by this name after its object was made: other names reach it too.
    ``shared`` and ``shared_put`` are the names that have these by what they may share memory with."""

    def __init__(self, given: Mapping[str, Ways] | None = None) -> None:
        super().__init__(given or {})
        self.put: dict[str, Ways] = {}
        self.shared: set[str] = set()
        self.shared_put: set[str] = set()
        self.has_grown = True

    def note(self, name: str, ways: Ways, put: bool = False) -> None:
        """More ways for a name; text itself is put nowhere by a store."""
        if not ways <= self.get(name, NOWHERE):
            self[name] = self.get(name, NOWHERE) | ways
            self.has_grown = True
        if put and not within(ways) <= self.put.get(name, NOWHERE):
            self.put[name] = self.put.get(name, NOWHERE) | within(ways)
            self.has_grown = True

    def of(self, expression: gast.expr, varied: Container[str] = ()) -> Ways:
        """The ways to text in the value of an expression, which may be made there of what varies."""
        match expression:
            case gast.Name(id=name):
                return self.get(name, NOWHERE)
            case gast.Subscript(value=value, slice=index) if not isinstance(index, gast.Slice | gast.Tuple):
                return inside(self.of(value, varied), key_of(index))
            case gast.Attribute(value=value, attr=attr) if not attr.startswith("__"):
                return NOWHERE if attr in SHAPES else inside(self.of(value, varied), attr)
            case gast.IfExp(body=body, orelse=orelse):
                return self.of(body, varied) | self.of(orelse, varied)
        if makes_text(expression):
            return ITSELF if any(name in self or name in varied for name in names_read(expression)) else NOWHERE
        if loses_text(expression) or not any(self._among(node, varied) for node in gast.iter_child_nodes(expression)):
            return NOWHERE
        return ITSELF if isinstance(expression, gast.JoinedStr) else ANYWHERE

    def _among(self, node: gast.AST, varied: Container[str]) -> bool:
        if isinstance(node, gast.expr):
            return bool(self.of(node, varied))
        return any(self._among(child, varied) for child in gast.iter_child_nodes(node))


class TextReader:
    """The check of the functions of one module: what is text is followed into callees and out of them."""

    def __init__(self, normalized: Callable[[Callee], Function]) -> None:
        self.normalized = normalized
        self.flows: dict[tuple[Callee, tuple[bool, ...], tuple[Ways, ...]], _Flow] = {}
        self.summaries: dict[Callee, Summary] = {}

    def refuse_numbers(self, function: Function, activity: Activity, facts: Mapping[str, Fact]) -> None:
        """Refuse a number that is read from text of what varies; what is known to be an array is no text."""
        statements = list(walk(function.body))
        textual = self._textual(function, activity.varied_before, _Textual(), facts)
        kept = put_into_sets(statements)
        for statement in statements:
            if self._puts(statement, activity.varied_before, textual):
                raise UnsupportedSyntax(
                    "text that is made of a value which varies is put into a set",
                    statement.span, code="E0602",
                    label="its derivative could be lost there",
                    hint="keep such text in a list or dict",
                )
            is_read = self._reads(statement, statements, activity.varied_before, textual)
            made = list(bound_here(statement)) if is_read else []
            stored = self._stored_as_numbers(statement, activity.varied_before, textual, facts)
            of_use = (name in kept or name in activity.useful_after(statement) for name in (*made, *stored))
            if any(stored.values()) or any(of_use):
                raise UnsupportedSyntax(
                    "a number is read from text that is made of a value which varies",
                    statement.span, code="E0601",
                    label="its derivative is lost here",
                    hint="pass the value itself; text is for printing, keys and tests",
                )

    # --- where text lies ---------------------------------------------------------------------------------------------
    def _textual(
        self, function: Function, varied_before: Varied, textual: _Textual, facts: Mapping[str, Fact]
    ) -> _Textual:
        """Where text of what varies may lie in what the names hold, where it lies so in those given."""
        statements, kin = list(walk(function.body)), cache(lambda: self._kin(function))
        while textual.has_grown:
            textual.has_grown = False
            for statement in statements:
                self._written(statement, varied_before, textual, facts)
            if textual:
                for statement in statements:
                    _linked(statement, textual, facts)
                _shared(textual, facts, kin)
        return textual

    def _kin(self, function: Function) -> Callable[[str], frozenset[str]]:
        return others_related(function, self._summary, lambda s: isinstance(s, Bind) and loses_text(s.expression))

    def _written(
        self, statement: Statement, varied_before: Varied, textual: _Textual, facts: Mapping[str, Fact]
    ) -> None:
        """Note the text that a statement makes of a value that varies, or hands on, but by ``links``."""
        if isinstance(statement, Bind):
            self._bound(statement, varied_before, textual, facts)
        match statement:
            case Bind(operation=Call() as made):
                kept = self._flow(made, varied_before(statement), textual).kept
                for argument, ways in zip(made.arguments, kept, strict=bool(kept)):
                    for name in names_read(argument):
                        if not isinstance(facts.get(name), Array):
                            textual.note(name, ways, put=True)
            case Bind(operation=Exchange(base=base, arguments=arguments)):
                if not links(statement) and any(textual.of(e) for e in arguments):
                    textual.note(base, frozenset((*WITHIN, (ANY,))), put=True)
            case Bind(operation=Unruled(changes=str() as base), expression=expression):
                if textual.of(expression):
                    textual.note(base, WITHIN, put=True)
            case Store(base=base, index=index, value=value) | AugStore(base=base, index=index, value=value):
                varied = varied_before(statement)
                of_text = is_of_text(facts.get(base)) and any(name in varied for name in names_read(value))
                ways = textual.of(value) or (ITSELF if of_text else NOWHERE)
                if isinstance(facts.get(base), Array):
                    textual.note(base, ITSELF if ways and is_of_text(facts.get(base)) else NOWHERE)
                elif not links(statement):
                    textual.note(base, under(ANY, ways) | (WITHIN if ways else NOWHERE), put=True)
                if textual.of(index):
                    textual.note(base, frozenset(((AMONG_KEYS,),)), put=True)
            case Append(sequence=base, value=value) | SetField(base=base, value=value) if not links(statement):
                textual.note(base, WITHIN if textual.of(value) else NOWHERE, put=True)
            case Unpack(targets=targets, source=source, star=int()):
                for name in targets:
                    self._take(name, _some_of(textual.get(source, NOWHERE)), textual, facts)
            case For(index=index, iterable=iterable, counted=False) if not links(statement):
                self._take(index, ANYWHERE if textual.of(iterable) else NOWHERE, textual, facts)

    @staticmethod
    def _take(name: str, ways: Ways, textual: _Textual, facts: Mapping[str, Fact]) -> None:
        if not isinstance(facts.get(name), Array):
            textual.note(name, ways)

    def _bound(self, statement: Bind, varied_before: Varied, textual: _Textual, facts: Mapping[str, Fact]) -> None:
        ways = self._handed_on(statement, varied_before, textual)
        if not ways:
            return
        repeated = ITSELF <= ways and getattr(statement.operation, "function", None) in _REPEATING
        told = isinstance(facts.get(statement.target), Array) and not (repeated or makes_text_alone(statement))
        if told and not any(isinstance(facts.get(n), Array) and n in textual for n in _read_by_value(statement)):
            return
        textual.note(statement.target, ways)

    def _handed_on(self, statement: Bind, varied_before: Varied, textual: _Textual) -> Ways:
        """The ways to text in what a statement binds, which others handed to it."""
        match statement.operation:
            case Call() as made:
                return self._flow(made, varied_before(statement), textual).returned
            case Apply(function=function, arguments=arguments):
                if makes_text(statement.expression):
                    return textual.of(statement.expression, varied_before(statement))
                given = NOWHERE.union(*map(textual.of, arguments.values()))
                if function in _REPEATING:
                    return given  # text is repeated, or a list
                return ANYWHERE if given and hands_on(function) else NOWHERE
            case Index(base=base) if not links(statement):
                return _some_of(textual.get(base, NOWHERE))
            case Exchange(base=base, arguments=arguments) if not links(statement):
                return ANYWHERE if base in textual or any(map(textual.of, arguments)) else NOWHERE
            case Fixed() | Unruled():
                return textual.of(statement.expression, varied_before(statement))
            case Pack(elements=elements) if not links(statement):
                return ANYWHERE if any(map(textual.of, elements)) else NOWHERE
        return NOWHERE

    # --- what becomes of it ------------------------------------------------------------------------------------------
    def _reads(
        self, statement: Statement, statements: Iterable[Statement], varied_before: Varied, textual: _Textual
    ) -> bool:
        """Whether a statement reads text as a number."""
        match statement:
            case Bind(operation=Call() as made):
                return self._flow(made, (), textual).read
            case Bind(operation=Unruled(given=None), expression=expression):
                return bool(textual.of(expression, varied_before(statement)))
            case Bind(operation=Apply() as made):
                given = [argument for p, argument in made.arguments.items() if p in made.rule.sensitive]
                return read_by(made) and any(map(textual.of, given))
            case Bind(operation=Fixed(), expression=expression):
                varied = varied_before(statement)
                return any(textual.of(e, varied) for made in readings(expression) for e in _given(made))
        return False

    def _stored_as_numbers(
        self, statement: Statement, varied_before: Varied, textual: _Textual, facts: Mapping[str, Fact]
    ) -> dict[str, bool]:
        """The arrays that text is stored into, and whether they are known to be of numbers, as which they read it."""
        match statement:
            case Store(base=base, value=value) | AugStore(base=base, value=value) if textual.of(value):
                found = [base]
            case Bind(operation=Call() as made):
                kept = self._flow(made, varied_before(statement), textual).kept
                given = zip(made.arguments, kept, strict=bool(kept))
                found = [n for e, ways in given if any(map(_is_place, ways)) for n in names_read(e)]
            case _:
                return {}
        known = {name: facts.get(name) for name in found}
        return {n: _is_numbers(fact) for n, fact in known.items() if isinstance(fact, Array) and not is_of_text(fact)}

    def _puts(self, statement: Statement, varied_before: Varied, textual: _Textual) -> bool:
        """Whether a statement puts text of what varies into a set, which has too many names to be followed."""
        match statement:
            case Bind(operation=Call() as made):
                return self._flow(made, varied_before(statement), textual).put
            case Bind(operation=Unruled(given=tuple()), expression=expression):
                return any(name in textual for name in names_read(expression))
        return False

    # --- callees -----------------------------------------------------------------------------------------------------
    def _flow(self, made: Call, varied: Container[str], textual: _Textual) -> _Flow:
        """What a call does with text, by which arguments vary and where text lies in them."""
        callee = made.callee
        if isinstance(callee.function, Guarded):
            callee = unguarded(callee)
        varies = tuple(any(name in varied for name in names_read(argument)) for argument in made.arguments)
        given = tuple(map(textual.of, made.arguments))
        key = (callee, varies, given)
        if key not in self.flows:
            self.flows[key] = _Flow()  # a recursive call adds nothing by itself
            self.flows[key] = self._flow_inside(self.normalized(callee), varies, given)
        return self.flows[key]

    def _flow_inside(self, function: Function, varies: tuple[bool, ...], given: tuple[Ways, ...]) -> _Flow:
        statements = list(walk(function.body))
        derived = {p for p, flag in zip(function.parameters, varies, strict=True) if flag}
        before = -1
        while len(derived) != before:
            before = len(derived)
            for statement in statements:
                if not derived.isdisjoint(inputs(statement)):
                    derived.update(_receivers(statement))
        texts = _Textual({p: ways for p, ways in zip(function.parameters, given, strict=True) if ways})
        textual = self._textual(function, lambda _: derived, texts, {})
        returned = NOWHERE.union(*(textual.of(s.value) for s in statements if isinstance(s, Return)))
        facts = shapes(function, {}, lambda callee, facts: Unknown()) if textual else {}
        read = any(
            self._reads(s, statements, lambda _: derived, textual)
            or any(self._stored_as_numbers(s, lambda _: derived, textual, facts).values())
            for s in statements
        )
        put = any(self._puts(s, lambda _: derived, textual) for s in statements)
        return _Flow(returned, read, put, tuple(textual.put.get(p, NOWHERE) for p in function.parameters))

    def _summary(self, callee: Callee, facts: tuple[Fact, ...]) -> Summary:
        """Which arguments a callee may make share memory, with each other and with its result: whatever the facts are,
        all where it is not known, or calls itself."""
        everything = frozenset(range(len(facts)))
        if isinstance(callee.function, Guarded):
            callee = unguarded(callee)
        if callee not in self.summaries:
            self.summaries[callee] = Summary(returned=everything, joined=(everything,))
            self.summaries[callee] = summary(self.normalized(callee), self._summary)
        return self.summaries[callee]


def _linked(statement: Statement, textual: _Textual, facts: Mapping[str, Fact]) -> None:
    """Follow text into containers and out of them, by whatever name it got there."""
    for link in links(statement):
        known = facts.get(link.container)
        held, ways = textual.get(link.container, NOWHERE), textual.get(link.part, NOWHERE)
        if isinstance(known, Array):
            if link.put and ways and is_of_text(known):
                textual.note(link.container, ITSELF)
            elif not link.put:
                textual.note(link.part, inside(held, link.key))
            continue
        if link.put:
            textual.note(link.container, under(link.key, ways), put=not isinstance(statement, Bind))
        elif not _is_numbers(facts.get(link.part)):
            textual.note(link.part, inside(held, link.key))
        if not isinstance(facts.get(link.part), Array):
            back = within(inside(textual.put.get(link.container, NOWHERE), link.key)) if link.put else NOWHERE
            textual.note(link.part, back, put=True)
            if not link.put:
                textual.note(link.container, under(link.key, textual.put.get(link.part, NOWHERE)), put=True)


def _shared(
    textual: _Textual, facts: Mapping[str, Fact], kin: Callable[[], Callable[[str], frozenset[str]]]
) -> None:
    """Follow text into what may share memory with what it lies in, in some way or other."""
    for put, ways, shared in ((False, textual, textual.shared), (True, textual.put, textual.shared_put)):
        for name in [name for name in ways if within(ways[name]) and not (name in shared and ways[name] <= ANYWHERE)]:
            for other in kin()(name) - {name}:
                if not isinstance(facts.get(other), Array):
                    if not within(ways.get(other, NOWHERE)):
                        shared.add(other)
                    textual.note(other, WITHIN, put)


def _some_of(ways: Ways) -> Ways:
    """The ways to text in some of the items of what has such ways, or in one of them."""
    return inside(ways, ANY) | under(ANY, inside(within(ways), ANY))


def _given(made: gast.Call) -> list[gast.expr]:
    """What a call is given, and the object whose method it is."""
    own = [made.func.value] if isinstance(made.func, gast.Attribute) else []
    return [*own, *made.args, *(keyword.value for keyword in made.keywords)]


def _receivers(statement: Statement) -> tuple[str, ...]:
    """What a statement binds, and the container that it puts something into."""
    match statement:
        case Append(sequence=name) | Store(base=name) | AugStore(base=name) | SetField(base=name):
            return (*bound_here(statement), name)
        case Bind(operation=Exchange(base=name) | Unruled(changes=str() as name)):
            return (*bound_here(statement), name)
    return tuple(bound_here(statement))


def _read_by_value(statement: Bind) -> list[str]:
    """The names whose text is part of the value itself that a statement binds."""
    match statement.operation:
        case Call():
            return []
        case Apply(arguments=arguments):
            return names_read(*arguments.values())
    return names_read(statement.expression)


def _is_numbers(fact: Fact | None) -> bool:
    """Whether a value is known to be a number, or an array of such."""
    return isinstance(fact, Array) and not is_of_text(fact) and (fact.dtype is not None or fact.scalar)


def _is_place(way: Way) -> bool:
    """Whether a way may be to an element of an array."""
    return len(way) == 1 and not isinstance(way[0], str) and way[0] not in (DEEP, AMONG_KEYS)
