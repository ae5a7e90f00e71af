"""Patterns of ``match``, read back from the tests that lowering makes of them.

The user's pattern says in which order to expect the tests; what they compare with, how many items they ask for and
under which names is taken from the operations.  Whatever does not follow the pattern ends the reading: the tests are
then written one by one.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> def name(v):
...     match v:
...         case complex(real=0, imag=y):
...             return y
>>> print(gast.unparse(restored(lowered(name))).strip())
def name(v):
    match v:
        case complex(real=0, imag=y):
            return y
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Fall, If, Statement
from srcgrad.ir.restoring.pending import Pad, Plan, take_values

Captured: TypeAlias = dict[str, Operand]


@dataclass(frozen=True)
class Read:
    """A pattern, the operand that says whether it holds, and what it captures."""

    pattern: Any
    found: Operand
    captured: Captured


Test: TypeAlias = Callable[["Reader"], Read | None]
ALWAYS = Literal(True)


@dataclass
class Reader:
    """Where reading has come in a block."""

    plan: Plan
    run: Callable[[Pad, Sequence[Statement], Statement | None], None]  # statements one after the other, on a pad
    statements: Sequence[Statement]
    at: int

    def next(self, kind: type[ir.Operation], node: gast.AST) -> tuple[Any, tuple[Version, ...]] | None:
        """The next statement, if it is an operation of this kind for this pattern."""
        here = self.statements[self.at] if self.at < len(self.statements) else None
        if not isinstance(here, Assign) or not isinstance(here.operation, kind) or here.node is not node:
            return None
        self.at += 1
        return here.operation, here.targets

    def values(self, kind: type[ir.Operation], node: gast.AST, of: Callable[[Any], Sequence[Operand]]) -> Any:
        """The next operation of a kind, and the expressions of operands of it, which only stand before it."""
        for place in range(self.at, len(self.statements)):
            here = self.statements[place]
            if not isinstance(here, Assign):
                return None
            if isinstance(here.operation, kind) and here.node is node:
                pad = Pad(self.plan)
                self.run(pad, self.statements[self.at : place], None)
                values = take_values(pad, of(here.operation))
                if not pad.is_clear:
                    return None
                self.at = place + 1
                return here.operation, here.targets, values
        return None

    def within(self, found: Operand, node: gast.AST) -> If | None:
        """The next statement, if it branches on a test."""
        here = self.statements[self.at] if self.at < len(self.statements) else None
        if not isinstance(here, If) or here.test is not found or here.node is not node:
            return None
        self.at += 1
        return here


def read(reader: Reader, pattern: Any, subject: Operand) -> Read | None:
    """A pattern of a subject."""
    match pattern:
        case gast.MatchValue():
            return _value(reader, pattern, subject)
        case gast.MatchSingleton():
            found = reader.next(ir.Compare, pattern)
            if found is None or found[0].symbol != "is" or found[0].left is not subject:
                return None
            given = found[0].right
            known = isinstance(given, Literal) and any(given.value is value for value in (None, True, False))
            return Read(gast.MatchSingleton(given.value), found[1][0], {}) if known else None
        case gast.MatchAs(pattern=None, name=name):
            return Read(gast.MatchAs(None, name), ALWAYS, {} if name is None else {_text(name): subject})
        case gast.MatchStar(name=name):
            return Read(gast.MatchStar(name), ALWAYS, {} if name is None else {_text(name): subject})
        case gast.MatchAs(pattern=inner, name=name):
            got = read(reader, inner, subject)
            if got is None:
                return None
            return Read(gast.MatchAs(got.pattern, name), got.found, {**got.captured, _text(name): subject})
        case gast.MatchOr(patterns=patterns):
            return _any(reader, patterns, subject, pattern)
        case gast.MatchSequence(patterns=patterns):
            return _sequence(reader, pattern, patterns, subject)
        case gast.MatchMapping():
            return _mapping(reader, pattern, subject)
        case gast.MatchClass():
            return _class(reader, pattern, subject)
    return None


def _text(given: object) -> str:
    return str(getattr(given, "id", given))


def is_irrefutable(found: Operand) -> bool:
    return isinstance(found, Literal) and found.value is True


# --- single values ---------------------------------------------------------------------------------------------------
def _value(reader: Reader, pattern: Any, subject: Operand) -> Read | None:
    got = reader.values(ir.Compare, pattern, lambda made: [made.right])
    asked = reader.next(ir.Operator, pattern) if got is not None else None
    if asked is None or got[0].symbol != "==" or got[0].left is not subject:
        return None
    if asked[0].symbol != "bool" or asked[0].operands[0] is not got[1][0] or not _may_stand(got[2][0]):
        return None
    return Read(gast.MatchValue(got[2][0]), asked[1][0], {})


def _may_stand(value: Any) -> bool:
    """Whether an expression is a value in a pattern: a number, a text or a name with a dot."""
    match value:
        case gast.Constant(value=given):
            return isinstance(given, int | float | complex | str | bytes) and not isinstance(given, bool)
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=given)):
            return isinstance(given, int | float | complex) and not isinstance(given, bool)
        case gast.BinOp(left=left, op=gast.Add() | gast.Sub(), right=gast.Constant(value=complex())):
            return _may_stand(left)
        case gast.Attribute(value=base):
            return _is_dotted(base)
    return False


def _is_dotted(value: Any) -> bool:
    while isinstance(value, gast.Attribute):
        value = value.value
    return isinstance(value, gast.Name)


def _any(reader: Reader, patterns: Sequence[Any], subject: Operand, node: gast.AST) -> Read | None:
    first = read(reader, patterns[0], subject)
    if first is None or len(patterns) == 1:
        return first
    names = list(first.captured)
    here = reader.within(first.found, node)
    if here is None or here.body.statements or len(here.targets) != 1 + len(names):
        return None
    inside = replace(reader, statements=here.orelse.statements, at=0)
    other = _any(inside, patterns[1:], subject, node)
    if other is None or inside.at < len(inside.statements) or {*other.captured} != {*names}:
        return None
    ends = here.body.exit, here.orelse.exit
    if not _gives(ends[0], True, [first.captured[n] for n in names]):
        return None
    if not _gives(ends[1], other.found, [other.captured[n] for n in names]):
        return None
    rest = other.pattern.patterns if len(patterns) > 2 else [other.pattern]
    decided, *values = here.targets
    return Read(gast.MatchOr([first.pattern, *rest]), decided, dict(zip(names, values, strict=True)))


def _gives(exit: object, found: object, values: Sequence[Operand]) -> bool:
    """Whether a block falls through with an answer, an operand or a constant, and with what is captured."""
    if not isinstance(exit, Fall) or len(exit.values) != 1 + len(values):
        return False
    first = exit.values[0]
    same = first is found or isinstance(first, Literal) and (
        first.value is found or isinstance(found, Literal) and first.value is found.value
    )
    return same and all(one is other for one, other in zip(exit.values[1:], values, strict=True))


def _all(reader: Reader, tests: Sequence[Test], captures: Sequence[Any], node: gast.AST) -> list[Read] | None:
    """Tests of which each is made where those before it hold; the last one read has the answer and the captures."""
    first = tests[0](reader)
    if first is None or len(tests) == 1:
        return None if first is None else [first]
    names = list(dict.fromkeys(name for inner in captures for name in captured_by(inner)))
    if is_irrefutable(first.found):
        rest = _all(reader, tests[1:], captures[1:], node)
        if rest is None:
            return None
        whole = Read(None, rest[-1].found, {**first.captured, **rest[-1].captured})
        return [first, *rest[:-1], Read(rest[-1].pattern, whole.found, whole.captured)]
    here = reader.within(first.found, node)
    if here is None or here.orelse.statements or len(here.targets) != 1 + len(names):
        return None
    inside = replace(reader, statements=here.body.statements, at=0)
    rest = _all(inside, tests[1:], captures[1:], node)
    if rest is None or inside.at < len(inside.statements) or any(name not in rest[-1].captured for name in names):
        return None
    if not _gives(here.body.exit, rest[-1].found, [rest[-1].captured[name] for name in names]):
        return None
    failed = here.orelse.exit
    if not isinstance(failed, Fall) or not isinstance(failed.values[0], Literal) or failed.values[0].value is not False:
        return None
    decided, *values = here.targets
    captured = {**first.captured, **dict(zip(names, values, strict=True))}
    return [first, *rest[:-1], Read(rest[-1].pattern, decided, captured)]


def captured_by(pattern: Any) -> list[str]:
    """The names that a pattern captures, in order."""
    found: dict[str, None] = {}
    for node in gast.walk(pattern):
        given = getattr(node, "rest", None) if isinstance(node, gast.MatchMapping) else getattr(node, "name", None)
        if isinstance(node, gast.MatchAs | gast.MatchStar | gast.MatchMapping) and given is not None:
            found[_text(given)] = None
    return list(found)


# --- parts -----------------------------------------------------------------------------------------------------------
def _is_wildcard(pattern: Any) -> bool:
    return isinstance(pattern, gast.MatchAs | gast.MatchStar) and getattr(pattern, "pattern", None) is None and (
        pattern.name is None
    )


def _parts(
    reader: Reader,
    found: Operand,
    items: Callable[[Reader], tuple[Operand, Operand] | None] | None,
    patterns: Sequence[Any],
    node: gast.AST,
    subject: Operand | None = None,
) -> tuple[list[Any], Read] | None:
    """The patterns of parts, and what all of them say."""
    parts: list[Operand] = [ALWAYS]
    star = next((j for j, inner in enumerate(patterns) if isinstance(inner, gast.MatchStar)), len(patterns))

    def take(at: Reader) -> Read | None:
        assert items is not None
        got = items(at)
        if got is None:
            return None
        parts[0] = got[1]
        return Read(None, got[0], {})

    def part(place: int) -> Test:
        def test(at: Reader) -> Read | None:
            whole = parts[0] if subject is None else subject
            index: Operand | None = None
            if subject is not None and place > star:
                length, minus = at.next(ir.Call, node), at.next(ir.Operator, node)
                if length is None or minus is None or minus[0].operands[0] is not length[1][0]:
                    return None
                if not _is_literal(length[0].function, len) or length[0].positional != (subject,):
                    return None
                if minus[0].symbol != "-" or not _is_literal(minus[0].operands[1], len(patterns) - place):
                    return None
                index = minus[1][0]
            taken = at.next(ir.GetItem, node)
            if taken is None or taken[0].base is not whole:
                return None
            if not (taken[0].index is index if index is not None else _is_literal(taken[0].index, place)):
                return None
            return read(at, patterns[place], taken[1][0])

        return test

    asked = [j for j, inner in enumerate(patterns) if not _is_wildcard(inner)]
    first: list[Test] = [lambda _: Read(None, found, {}), *([] if items is None else [take])]
    captures = [gast.MatchAs(None, None)] * (len(first) - 1) + [patterns[j] for j in asked]
    got = _all(reader, [*first, *map(part, asked)], captures, node)
    if got is None:
        return None
    made = {place: each.pattern for place, each in zip(asked, got[len(first) :], strict=True)}
    return [made.get(j, inner) for j, inner in enumerate(patterns)], got[-1]


def _is_literal(given: Operand | None, value: object) -> bool:
    return isinstance(given, Literal) and type(given.value) is type(value) and given.value == value


def _sequence(reader: Reader, pattern: Any, patterns: list[Any], subject: Operand) -> Read | None:
    stars = [j for j, inner in enumerate(patterns) if isinstance(inner, gast.MatchStar)]
    asked = reader.next(ir.MatchSequence, pattern)
    if asked is None or asked[0].subject is not subject:
        return None
    if asked[0].count != len(patterns) - len(stars) or asked[0].at_least != bool(stars):
        return None
    found = asked[1][0]
    if all(map(_is_wildcard, patterns)):
        return Read(gast.MatchSequence(patterns), found, {})

    def items(at: Reader) -> tuple[Operand, Operand] | None:
        unpacked, made = at.next(ir.Unpack, pattern), at.next(ir.Make, pattern)
        if unpacked is None or made is None or unpacked[0].source is not subject or made[0].elements != unpacked[1]:
            return None
        same = unpacked[0].count == len(patterns) and unpacked[0].star == (stars[0] if stars else None)
        return (ALWAYS, made[1][0]) if same else None

    by_place = bool(stars) and _is_wildcard(patterns[stars[0]])
    got = _parts(reader, found, None if by_place else items, patterns, pattern, subject if by_place else None)
    return None if got is None else Read(gast.MatchSequence(got[0]), got[1].found, got[1].captured)


def _mapping(reader: Reader, pattern: Any, subject: Operand) -> Read | None:
    asked = reader.next(ir.MatchMapping, pattern)
    if asked is None or asked[0].subject is not subject or asked[0].count != len(pattern.keys):
        return None
    keys: list[Any] = []

    def items(at: Reader) -> tuple[Operand, Operand] | None:
        got = at.values(ir.MatchKeys, pattern, lambda made: list(made.keys))
        if got is None or got[0].subject is not subject or got[0].rest != (pattern.rest is not None):
            return None
        if len(got[2]) != len(pattern.keys) or not all(_may_stand(key) or _is_singleton(key) for key in got[2]):
            return None
        keys.extend(got[2])
        return got[1][0], got[1][1]

    inner = [*pattern.patterns, *([] if pattern.rest is None else [gast.MatchAs(None, pattern.rest)])]
    got = _parts(reader, asked[1][0], items if inner else None, inner, pattern)
    if got is None:
        return None
    made = gast.MatchMapping(keys, got[0][: len(pattern.keys)], pattern.rest)
    return Read(made, got[1].found, got[1].captured)


def _is_singleton(value: Any) -> bool:
    return isinstance(value, gast.Constant) and any(value.value is given for given in (None, True, False))


def _class(reader: Reader, pattern: Any, subject: Operand) -> Read | None:
    got = reader.values(ir.MatchClass, pattern, lambda made: [made.of])
    if got is None or got[0].subject is not subject or not _is_dotted(got[2][0]):
        return None
    made, (found, parts), (kind,) = got
    if made.count != len(pattern.patterns) or len(made.names) != len(pattern.kwd_patterns):
        return None
    inner = [*pattern.patterns, *pattern.kwd_patterns]
    read_parts = _parts(reader, found, lambda _: (ALWAYS, parts), inner, pattern)
    if read_parts is None:
        return None
    patterns, whole = read_parts
    spelled = gast.MatchClass(kind, patterns[: made.count], list(made.names), patterns[made.count :])
    return Read(spelled, whole.found, whole.captured)

