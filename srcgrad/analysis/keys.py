"""Keys that vary, read back as numbers: a dict has adjoints for its values alone, and the derivative would be lost.

Enters: ``Function`` with its ``Activity`` and facts.  Leaves: nothing, or a refusal where the keys of a dict are of use
that may be one into which keys that vary are put.  Keys that find values lose nothing::

    d[t] = y                        t varies
    for t, y in d.items():
        s = s + t * y               refused
    for t in d:
        s = s + d[t]                keys are read, to find values
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, atoms, inputs
from srcgrad.analysis.cfg import NameSet, bound_here, walk
from srcgrad.analysis.pairs import Key, Pairs
from srcgrad.analysis.references import names_mentioned
from srcgrad.analysis.sets import put_into_sets, touches_sets
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    Bind,
    Call,
    Callee,
    Copy,
    Effect,
    Exchange,
    Field,
    Fixed,
    For,
    Function,
    Index,
    Pack,
    SetField,
    Statement,
    Store,
    Unpack,
)
from srcgrad.rules.facts import Array, Fact, Object, Sequence, Unknown, is_floating
from srcgrad.rules.facts import Mapping as Mapping_
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import is_constant, method
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.parse import clone, names_read
from srcgrad.syntax.parse import walk as nodes_of

Inside: TypeAlias = Callable[
    [Call, tuple[bool, ...], Mapping[str, Fact]], tuple[Function, Activity, Mapping[str, Fact]]
]

#: Attributes of arrays that have no derivative.
_DESCRIBING = frozenset("dtype itemsize nbytes ndim shape size strides".split())


class KeyReader:
    """The check of the functions of one module.  A dict that one function fills may be read by any other that did not
    make it: where both happen in a module, the reading is refused, whichever dict it is.

    ``inside`` gives, for a call and the names that vary before it, the function that is called with its activity."""

    def __init__(self, normal_form_of: Callable[[Callee], Function], inside: Inside) -> None:
        self.puts = False
        self.reads: list[Span] = []
        self.normal_form_of, self.inside = normal_form_of, inside
        self.entry: Callee | None = None  # of the module
        self.underway: set[tuple[Callee, tuple[bool, ...]]] = set()

    def guards(self, function: Function, activity: Activity, facts: Mapping[str, Fact]) -> dict[Statement, list[str]]:
        """Where keys are put into dicts that vary if they are numbers, which nobody knows before the program runs."""
        statements = list(walk(function.body))
        pairs, taken = Pairs(function), _taken(statements, activity, facts, _may_give_number)
        certain = _taken(statements, activity, facts, _is_number)  # which are refused
        found: dict[Statement, list[str]] = {}
        of_use = (
            statement.target in activity.useful_after(statement)
            for statement in statements
            if isinstance(statement, Bind) and (_keys_read(statement) or _run_through(statement))
        )
        if not any(of_use) and not self._read_elsewhere(function):
            return found
        for at, key in (key for each in statements for _, keys in _puts(each, pairs, facts) for key in keys):
            varied = key in activity.varied_before(at)
            if key in certain or varied and _is_number(facts.get(key)):
                continue
            if _may_give_number(facts.get(key)) and (key in taken or varied):
                if key not in found.setdefault(at, []):
                    found[at].append(key)
        for at in statements:
            match at:
                case Bind(operation=Apply(function=called, arguments=given)) if called is runtime.from_pairs:
                    names = [*names_read(given["pairs"])]
                    if any(name in activity.varied_before(at) and name not in pairs.closed for name in names):
                        found[at] = names
        return found

    def _read_elsewhere(self, function: Function) -> bool:
        """Whether any other function that the entry of the module calls reads the keys of a dict."""
        if self.entry is None:
            return True
        pending, seen = [self.entry], {self.entry}
        while pending:
            here = pending.pop()
            normal = self.normal_form_of(here)
            for statement in walk(normal.body):
                match statement:
                    case Bind(operation=Call(callee=called)) if called not in seen:
                        seen.add(called)
                        pending.append(called)
                    case Bind() if normal.span != function.span and (_keys_read(statement) or _run_through(statement)):
                        return True
        return False

    def refuse(self, function: Function, activity: Activity, facts: Mapping[str, Fact]) -> None:
        """Refuse keys that vary where what is read of them is of use."""
        statements = list(walk(function.body))
        pairs, taken = Pairs(function), _taken(statements, activity, facts, _is_number)
        puts = [put for statement in statements for put in _puts(statement, pairs, facts)]
        carried = _carried(statements) if puts else {}

        def varies(at: Statement, key: str) -> bool:
            if not keyed.isdisjoint(carried.get(key, ())):
                return True
            return key in taken or _is_number(facts.get(key)) and key in activity.varied_before(at)

        dicts, keyed, before = self._handed_out(statements, activity, facts), set[str](), -1
        while len(keyed) != before:
            before = len(keyed)
            dicts.update(name for name, keys in puts if any(varies(at, key) for at, key in keys))
            held = {name for s in statements for name, parts in _holders(s) if not keyed.isdisjoint(parts)}
            keyed.update(dicts, (name for name in held if not isinstance(facts.get(name), Array)))
        made, before = {name for name, _ in puts} - keyed, -1
        while len(made) != before:  # a dict that is given the keys of one that is not made here says no more than that
            before = len(made)
            made -= {name for name, keys in puts if any(not carried.get(key, made) <= made for _, key in keys)}
        kept = put_into_sets(statements)
        for statement in statements:
            if not isinstance(statement, Bind):
                continue
            into_set = touches_sets(statement)
            if not (into_set or statement.target in kept or statement.target in activity.useful_after(statement)):
                continue
            read = set(names_read(statement.expression) if into_set else _keys_read(statement))
            if isinstance(statement.operation, Call) and not keyed.isdisjoint(passed := inputs(statement)):
                varied = activity.varied_before(statement)
                if not any(name in varied for name in passed):
                    read.update(passed)  # called as it is, the function reads what it likes
            if not keyed.isdisjoint(read) or not dicts.isdisjoint(_run_through(statement)):
                raise _refusal(statement.span)
            read.update(n for n in _run_through(statement) if not isinstance(facts.get(n), Array | Sequence))
            if not read <= made:
                self.reads.append(statement.span)
        self.puts = self.puts or bool(dicts)
        if self.puts and self.reads:
            raise _refusal(self.reads[0])

    def _handed_out(
        self, statements: Iterable[Statement], activity: Activity, facts: Mapping[str, Fact]
    ) -> set[str]:
        """The names of what callees return that put into dicts, as keys, what varies.  Where no value that they return
        is of use such callees have no derivative, and are not looked at otherwise."""
        found: set[str] = set()
        calls = {s: s.operation for s in statements if isinstance(s, Bind) and isinstance(s.operation, Call)}
        read = Counter(name for statement in statements if calls for name in names_mentioned(statement))
        for statement, made in calls.items():
            if isinstance(facts.get(target := statement.target), Array) or read[target] <= 1:
                continue
            if target in activity.useful_after(statement):
                continue
            if self._puts_inside(made, activity.varied_before(statement), facts):
                found.add(target)
        return found

    def _puts_inside(self, made: Call, varied: NameSet, facts: Mapping[str, Fact]) -> bool:
        """Whether a callee, or one that it calls, puts keys that vary, and may be numbers, into dicts."""
        given = tuple(any(name in varied for name in atoms(argument)) for argument in made.arguments)
        if not any(given):
            return False
        key = (made.callee, given)
        if key in self.underway:
            return False  # of a recursion the rest tells
        self.underway.add(key)
        try:
            function, activity, known = self.inside(made, given, facts)
            statements = list(walk(function.body))
            pairs = Pairs(function)
            keys = [key for each in statements for _, put in _puts(each, pairs, known) for key in put]
            if any(_may_be_number(known.get(name)) and name in activity.varied_before(at) for at, name in keys):
                return True
            return any(
                self._puts_inside(each.operation, activity.varied_before(each), known)
                for each in statements
                if isinstance(each, Bind) and isinstance(each.operation, Call)
            )
        finally:
            self.underway.discard(key)


def key_checks(at: Statement, names: list[str]) -> list[Effect]:
    """What is looked at before a statement puts in keys: these as they are written, ``x[i]``, since the array that one
    is read of is no key itself; of pairs what is first in them."""
    looked: list[Any] = [gast.Name(name, gast.Load(), None, None) for name in names]
    check: Any = runtime.require_key
    match at:
        case Store(index=key) | Bind(operation=Exchange(method="setdefault", arguments=[key, *_])):
            looked = [clone(key)]
        case Bind(operation=Apply(function=called, arguments=given)) if called is runtime.keyed:
            looked = [clone(given["keys"])]
        case Bind(operation=Apply(function=called)) if called is runtime.from_pairs:
            check = runtime.require_firsts
    place = gast.Constant(at.span.origin, None)
    return [Effect(gast.Expr(call_runtime(check, each, place)), at.span) for each in looked]


def puts_keys(function: Function) -> bool:
    """Whether a function may put keys into dicts."""
    statements = list(walk(function.body))
    pairs = Pairs(function)
    made = [s.operation for s in statements if isinstance(s, Bind) and isinstance(s.operation, Apply)]
    return any(each.function is runtime.from_pairs for each in made) or any(
        keys for statement in statements for _, keys in _puts(statement, pairs, {})
    )


def _refusal(span: Span) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        "the keys of a dict are read where some of them vary",
        span, code="E0603",
        label="keys have no derivative",
        hint="keep what varies in the values, or beside them in a list",
    )


def _is_number(fact: Fact | None) -> bool:
    """Whether a key is known to be a number, or to hold one: most are text or integers, whatever activity says, which
    tells of a memory as a whole."""
    if isinstance(fact, Sequence):
        return any(map(_is_number, fact.items or ()))
    return isinstance(fact, Array) and is_floating(fact.dtype)


def _may_be_number(fact: Fact | None) -> bool:
    """Whether a key is not known to be text, an integer, or a container of such."""
    match fact:
        case Sequence(items=items) if items is not None:
            return any(map(_may_be_number, items))
        case None | Unknown() | Sequence():
            return True
        case Array(dtype=dtype):
            return dtype is None or is_floating(dtype)
    return False


def _may_give_number(fact: Fact | None) -> bool:
    """Whether a key, which may be read of a dict or an object, is not known to be text or an integer."""
    return _may_be_number(fact) or isinstance(fact, Mapping_ | Object)


def _taken(
    statements: Iterable[Statement],
    activity: Activity,
    facts: Mapping[str, Fact],
    is_number: Callable[[Fact | None], bool],
) -> set[str]:
    """The names of numbers that vary without their derivative, as they are taken for keys."""
    taken, before = set[str](), -1
    while len(taken) != before:
        before = len(taken)
        for statement in statements:
            match statement:
                case Bind(target=target, operation=Fixed(), expression=expression) if (given := _takes(expression)):
                    varied, made = activity.varied_before(statement), any(map(_makes_number, nodes_of(expression)))
                    if any(
                        name in taken or name in varied and (made or is_number(facts.get(name)))
                        for name in given
                    ):
                        taken.add(target)
    return taken


def _carried(statements: list[Statement]) -> dict[str, set[str]]:
    """The dicts whose keys a name may hold, or hold something made of."""
    carried: dict[str, set[str]] = {}
    mappings = _mappings(statements)
    steps = [step for statement in statements for step in _carries(statement, mappings)]
    size = -1
    while size != (size := sum(map(len, carried.values()))):
        for name, dicts, parts in steps:
            found = {*dicts, *(each for part in parts for each in carried.get(part, ()))}
            if found:
                carried.setdefault(name, set()).update(found)
    return carried


def _carries(statement: Statement, mappings: set[str]) -> Iterable[tuple[str, list[str], list[str]]]:
    """Each name that a statement gives a value, the dicts whose keys it reads for it, the names that it is made of."""
    match statement:
        case Bind(target=target, operation=Index(base=base) | Field(base=base) | Exchange(base=base)):
            yield target, [], [base]
        case Bind(target=target, expression=expression):
            yield target, [*_keys_read(statement, mappings), *_places_read(statement)], names_read(expression)
        case For(counted=False, index=index, iterable=iterable):
            yield index, names_read(iterable), names_read(iterable)
        case Unpack(targets=targets, source=source):
            yield from ((target, [], [source]) for target in targets)
        case Append(sequence=name, value=value) | Store(base=name, value=value) | SetField(base=name, value=value):
            yield name, [], names_read(value)


def _takes(node: Any) -> list[str]:
    """The names whose numbers, with a derivative, an expression may be or hold: what is rounded, counted, compared or
    made text has none."""
    match node:
        case GlobalReference():
            return []
        case gast.Name():
            return [str(node.id)]
        case gast.Subscript(value=value) | gast.Starred(value=value):
            return _takes(value)
        case gast.Attribute(value=value, attr=attr):
            return [] if attr in _DESCRIBING else _takes(value)
        case gast.Call(func=gast.Attribute(value=value, attr=attr) as func, args=args) if object_of(func) is None:
            return [] if is_constant(method(attr)) else [name for part in (value, *args) for name in _takes(part)]
        case gast.Call(func=func, args=args, keywords=keywords):
            given = [*args, *(keyword.value for keyword in keywords)]
            return [] if is_constant(object_of(func)) else [name for part in given for name in _takes(part)]
        case gast.Compare() | gast.JoinedStr() | gast.Constant() | gast.Slice():
            return []
        case gast.IfExp(body=one, orelse=other) | gast.BinOp(left=one, right=other):
            return [*_takes(one), *_takes(other)]
        case gast.Tuple(elts=parts) | gast.List(elts=parts) | gast.BoolOp(values=parts):
            return [name for part in parts for name in _takes(part)]
        case gast.UnaryOp(operand=operand):
            return _takes(operand)
    return names_read(node)


def _makes_number(node: gast.AST) -> bool:
    match node:
        case gast.Call(func=GlobalReference(binding=binding)):
            return any(binding.value is kind for kind in (float, np.float64))
    return False


def _puts(statement: Statement, pairs: Pairs, facts: Mapping[str, Fact]) -> Iterable[tuple[str, list[Key]]]:
    """Each name into which a statement puts a key, and the names that the keys are made of, where they are read."""
    match statement:
        case Store(base=base, index=index) if not isinstance(facts.get(base), Array | Sequence):
            yield base, [(statement, name) for name in _takes(index)]
        case Bind(operation=Exchange(base=base, method="setdefault", arguments=[key, *_])):
            yield base, [(statement, name) for name in _takes(key)]
        case Bind(target=target, operation=Apply(function=function, arguments=arguments)):
            if function is runtime.keyed:
                keys = arguments["keys"]
                yield target, [(statement, name) for name in _takes(keys)]
            elif function is runtime.from_pairs:
                given = names_read(arguments["pairs"])
                yield target, [first for name in given for first in pairs.firsts.get(name, [])]


def _holders(statement: Statement) -> Iterable[tuple[str, list[str]]]:
    """Each name that a statement makes a name of what others hold, or a holder of it."""
    match statement:
        case Bind(target=target, operation=Copy() | Index() | Field() | Pack(), expression=expression):
            yield target, names_read(expression)
        case Append(sequence=name, value=value) | Store(base=name, value=value) | SetField(base=name, value=value):
            yield name, names_read(value)


def _run_through(statement: Bind) -> list[str]:
    """What a statement takes the items of, which are keys where it is a dict."""
    match statement.operation:
        case Apply(function=function, arguments=arguments) if any(function is each for each in (max, min, sorted, sum)):
            return [name for argument in arguments.values() for name in atoms(argument)]
    return []


def _mappings(statements: Iterable[Statement]) -> set[str]:
    """The names of nothing but dicts that are made here."""
    made, others = set[str](), set[str]()
    for statement in statements:
        match statement:
            case Bind(target=target, operation=Pack(kind="dict")):
                made.add(target)
            case Bind(target=target, operation=Apply(function=function)) if (
                function is runtime.keyed or function is runtime.from_pairs
            ):
                made.add(target)
            case _:
                others.update(bound_here(statement))
    return made - others


def _keys_read(statement: Bind, mappings: Collection[str] = ()) -> list[str]:
    """The dicts whose keys a statement reads; what is sorted is only told where it is one of the mappings."""
    match statement.operation:
        case Apply(function=function, arguments=arguments) if function is sorted:
            return [name for argument in arguments.values() for name in atoms(argument) if name in mappings]
        case Fixed():
            return [
                name
                for node in nodes_of(statement.expression)
                if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "keys"
                for name in names_read(node.func.value)
            ]
    return []


def _places_read(statement: Bind) -> list[str]:
    """What a statement reads the places of, which are keys where it is a dict."""
    match statement.expression:
        case gast.Call(func=GlobalReference() as function, args=[given]) if function.binding.value is runtime.places_of:
            return names_read(given)
    return []
