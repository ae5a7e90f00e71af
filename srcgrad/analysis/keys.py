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

from collections.abc import Iterable, Mapping

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, atoms, inputs
from srcgrad.analysis.cfg import walk
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.frontend.normal_form import (
    Append,
    Apply,
    Bind,
    Call,
    Copy,
    Exchange,
    Field,
    Fixed,
    Function,
    Index,
    Pack,
    SetField,
    Statement,
    Store,
)
from srcgrad.rules.facts import Array, Fact, Sequence
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read
from srcgrad.syntax.parse import walk as nodes_of

_TAKEN = (
    gast.Name, gast.Constant, gast.Subscript, gast.List, gast.Tuple, gast.UnaryOp, gast.BinOp, gast.expr_context,
    gast.USub, gast.UAdd, gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow,
)  # fmt: skip


class KeyReader:
    """The check of the functions of one module.  A dict that one function fills may be read by any other that did not
    make it: where both happen in a module, the reading is refused, whichever dict it is."""

    def __init__(self) -> None:
        self.puts = False
        self.reads: list[Span] = []

    def refuse(self, function: Function, activity: Activity, facts: Mapping[str, Fact]) -> None:
        """Refuse keys that vary where what is read of them is of use."""
        statements = list(walk(function.body))
        pairs, taken = _pairs(statements), _taken(statements, activity)
        dicts = {
            name
            for statement in statements
            for name, keys in _puts(statement, pairs, facts)
            if any(key in taken or key in activity.varied_before(at) for at, key in keys)
        }
        keyed, before = set(dicts), 0
        while len(keyed) != before:
            before = len(keyed)
            held = {name for s in statements for name, parts in _holders(s) if not keyed.isdisjoint(parts)}
            keyed.update(name for name in held if not isinstance(facts.get(name), Array))
        made = {name for statement in statements for name, _ in _puts(statement, pairs, facts)} - keyed
        for statement in statements:
            if not isinstance(statement, Bind) or statement.target not in activity.useful_after(statement):
                continue
            read = set(_keys_read(statement))
            if isinstance(statement.operation, Call) and not keyed.isdisjoint(given := inputs(statement)):
                varied = activity.varied_before(statement)
                if not any(name in varied for name in given):
                    read.update(given)  # called as it is, the function reads what it likes
            if not keyed.isdisjoint(read) or not dicts.isdisjoint(_run_through(statement)):
                raise _refusal(statement.span)
            if not read <= made:
                self.reads.append(statement.span)
        self.puts = self.puts or bool(dicts)
        if self.puts and self.reads:
            raise _refusal(self.reads[0])


def _refusal(span: Span) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        "the keys of a dict are read where some of them vary",
        span,
        label="keys have no derivative",
        hint="keep what varies in the values, or beside them in a list",
    )


def _taken(statements: Iterable[Statement], activity: Activity) -> set[str]:
    """The names of what varies without its derivative, as it is taken for keys."""
    taken, before = set[str](), -1
    while len(taken) != before:
        before = len(taken)
        for statement in statements:
            match statement:
                case Bind(target=target, operation=Fixed(), expression=expression) if _takes(expression):
                    read = names_read(expression)
                    if any(name in taken or name in activity.varied_before(statement) for name in read):
                        taken.add(target)
    return taken


def _takes(expression: gast.expr) -> bool:
    """Whether this is a number with a derivative, or a tuple of such: rounded, counted or made text it has none."""
    nodes = nodes_of(expression)
    return all(isinstance(n, _TAKEN) or isinstance(n, gast.Call) and _is_float(n.func) for n in nodes)


def _is_float(function: gast.expr) -> bool:
    return isinstance(function, GlobalReference) and function.binding.value in (float, np.float64)


def _pairs(statements: Iterable[Statement]) -> dict[str, list[tuple[Statement, str]]]:
    """The names that are first in the pairs of lists of pairs, by the list."""
    firsts: dict[str, list[tuple[Statement, str]]] = {}
    lists: list[tuple[str, str]] = []
    for statement in statements:
        match statement:
            case Bind(target=target, operation=Pack(elements=[key, _])):
                firsts.setdefault(target, []).extend((statement, name) for name in names_read(key))
            case Append(sequence=name, value=value):
                lists += [(name, each) for each in names_read(value)]
            case Bind(target=target, operation=Pack(elements=elements)):
                lists += [(target, each) for each in atoms(elements)]
    return {
        name: [first for other, each in lists if other == name for first in firsts.get(each, [])] for name, _ in lists
    }


def _puts(
    statement: Statement, pairs: Mapping[str, list[tuple[Statement, str]]], facts: Mapping[str, Fact]
) -> Iterable[tuple[str, list[tuple[Statement, str]]]]:
    """Each name into which a statement puts a key, and the names that the keys are made of, where they are read."""
    match statement:
        case Store(base=base, index=index) if not isinstance(facts.get(base), Array | Sequence):
            yield base, [(statement, name) for name in names_read(index) if _takes(index)]
        case Bind(operation=Exchange(base=base, method="setdefault", arguments=[key, *_])):
            yield base, [(statement, name) for name in names_read(key) if _takes(key)]
        case Bind(target=target, operation=Apply(function=function, arguments=arguments)):
            if function is runtime.keyed:
                keys = arguments["keys"]
                yield target, [(statement, name) for name in names_read(keys) if _takes(keys)]
            elif function is runtime.from_pairs:
                yield target, [first for name in names_read(arguments["pairs"]) for first in pairs.get(name, [])]


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


def _keys_read(statement: Bind) -> list[str]:
    """The dicts whose keys a statement reads."""
    if not isinstance(statement.operation, Fixed):
        return []
    return [
        name
        for node in nodes_of(statement.expression)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "keys"
        for name in names_read(node.func.value)
    ]
