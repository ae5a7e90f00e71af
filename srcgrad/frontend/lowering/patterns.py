"""Patterns of ``match`` as tests, in the order of *The Python Language Reference*, 8.6.4.

``match`` gives an operand that says whether the pattern holds, and what it captures, which is bound only where all of
the pattern holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import gast

from srcgrad.frontend.lowering.context import NOTHING, Context
from srcgrad.frontend.lowering.expressions import truth, value_of
from srcgrad.ir.operations import (
    Call,
    Compare,
    GetItem,
    Literal,
    Make,
    MatchClass,
    MatchKeys,
    MatchMapping,
    MatchSequence,
    Operand,
    Operator,
    Unpack,
)

Captured: TypeAlias = dict[str, Operand]
Test: TypeAlias = Callable[[], tuple[Operand, Captured]]


def match(ctx: Context, pattern: gast.AST, subject: Operand) -> tuple[Operand, Captured]:
    """Whether a pattern holds of a subject, and what it captures."""
    match pattern:
        case gast.MatchValue(value=value):
            return truth(ctx, ctx.bind(Compare("==", subject, value_of(ctx, value)), pattern), pattern), {}
        case gast.MatchSingleton(value=value):
            return ctx.bind(Compare("is", subject, Literal(value)), pattern), {}
        case gast.MatchAs(pattern=inner, name=name):
            found, captured = (Literal(True), {}) if inner is None else match(ctx, inner, subject)
            return found, captured if name is None else {**captured, _name(name): subject}
        case gast.MatchStar(name=name):
            return Literal(True), {} if name is None else {_name(name): subject}
        case gast.MatchOr(patterns=patterns):
            return _any(ctx, patterns, subject, pattern)
        case gast.MatchSequence():
            return _sequence(ctx, pattern, subject)
        case gast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            found = ctx.bind(MatchMapping(subject, len(keys)), pattern)

            def items() -> tuple[Operand, Operand]:
                asked = tuple(value_of(ctx, key) for key in keys)
                return _taken(ctx, MatchKeys(subject, asked, rest is not None), pattern)

            inner = [*patterns, *([] if rest is None else [gast.MatchAs(None, rest)])]
            return _parts(ctx, found, items if inner else None, inner, pattern)
        case gast.MatchClass(cls=kind, patterns=patterns, kwd_attrs=names, kwd_patterns=others):
            made = MatchClass(subject, value_of(ctx, kind), len(patterns), tuple(map(_name, names)))
            found, parts = _taken(ctx, made, pattern)
            return _parts(ctx, found, lambda: (Literal(True), parts), [*patterns, *others], pattern)
    raise ctx.refuse("E0105", pattern, f"{type(pattern).__name__} is not lowered")


def _name(name: object) -> str:
    return str(getattr(name, "id", name))


def _taken(ctx: Context, made: MatchKeys | MatchClass, node: gast.AST) -> tuple[Operand, Operand]:
    """Whether an operation finds the parts of a subject, and the parts."""
    found, parts = ctx.version(), ctx.version()
    ctx.assign((found, parts), made, node)
    return found, parts


def _sequence(ctx: Context, pattern: gast.MatchSequence, subject: Operand) -> tuple[Operand, Captured]:
    patterns = pattern.patterns
    stars = [j for j, inner in enumerate(patterns) if isinstance(inner, gast.MatchStar)]
    found = ctx.bind(MatchSequence(subject, len(patterns) - len(stars), bool(stars)), pattern)
    if all(map(_is_wildcard, patterns)):
        return found, {}
    if stars and _is_wildcard(patterns[stars[0]]):  # its items are not looked at: the others are read by their places
        return _parts(ctx, found, None, patterns, pattern, subject)
    unpack = Unpack(subject, len(patterns), stars[0] if stars else None)

    def items() -> tuple[Operand, Operand]:
        targets = tuple(ctx.version() for _ in patterns)
        ctx.assign(targets, unpack, pattern)
        return Literal(True), ctx.bind(Make("tuple", targets), pattern)

    return _parts(ctx, found, items, patterns, pattern)


def _parts(
    ctx: Context,
    found: Operand,
    items: Callable[[], tuple[Operand, Operand]] | None,
    patterns: Sequence[gast.AST],
    node: gast.AST,
    subject: Operand | None = None,
) -> tuple[Operand, Captured]:
    """The patterns of parts: of those that ``items`` takes out once the subject is ``found``, or of those of the
    ``subject`` that stand before and after a star."""
    parts: list[Operand] = [NOTHING]
    star = next((j for j, inner in enumerate(patterns) if isinstance(inner, gast.MatchStar)), len(patterns))

    def take() -> tuple[Operand, Captured]:
        assert items is not None
        also, parts[0] = items()
        return also, {}

    def part(place: int) -> Test:
        def test() -> tuple[Operand, Captured]:
            whole = parts[0] if subject is None else subject
            index: Operand = Literal(place)
            if subject is not None and place > star:
                length = ctx.bind(Call(Literal(len), (subject,)), node)
                index = ctx.bind(Operator("-", (length, Literal(len(patterns) - place))), node)
            return match(ctx, patterns[place], ctx.bind(GetItem(whole, index), node))

        return test

    asked = [j for j, inner in enumerate(patterns) if not _is_wildcard(inner)]
    first: list[Test] = [lambda: (found, {}), *([] if items is None else [take])]
    captures = [gast.MatchAs(None, None)] * (len(first) - 1) + [patterns[j] for j in asked]
    return _all(ctx, [*first, *map(part, asked)], captures, node)


def _is_wildcard(pattern: gast.AST) -> bool:
    return isinstance(pattern, gast.MatchAs | gast.MatchStar) and getattr(pattern, "pattern", None) is None and (
        pattern.name is None
    )


def _all(
    ctx: Context, tests: Sequence[Test], captures: Sequence[gast.AST], node: gast.AST
) -> tuple[Operand, Captured]:
    """Whether all tests hold, each made only where those before it hold.

    ``captures`` are the patterns of all tests but the first."""
    found, captured = tests[0]()
    if len(tests) == 1:
        return found, captured
    names = [name for inner in captures for name in captured_by(inner)]

    def rest() -> tuple[Operand, ...]:
        also, more = _all(ctx, tests[1:], captures[1:], node)
        return also, *(more[name] for name in names)

    def failed() -> tuple[Operand, ...]:
        return Literal(False), *(NOTHING for _ in names)

    decided, *values = ctx.branch(found, rest, failed, node, 1 + len(names))
    return decided, {**captured, **dict(zip(names, values, strict=True))}


def captured_by(pattern: gast.AST) -> list[str]:
    """The names that a pattern captures, in order; the alternatives of one capture the same."""
    found: dict[str, None] = {}
    for node in gast.walk(pattern):
        name = getattr(node, "rest", None) if isinstance(node, gast.MatchMapping) else getattr(node, "name", None)
        if isinstance(node, gast.MatchAs | gast.MatchStar | gast.MatchMapping) and name is not None:
            found[_name(name)] = None
    return list(found)


def _any(ctx: Context, patterns: Sequence[gast.AST], subject: Operand, node: gast.AST) -> tuple[Operand, Captured]:
    """Whether one of the patterns holds; all capture the same names."""
    found, captured = match(ctx, patterns[0], subject)
    if len(patterns) == 1:
        return found, captured
    names = list(captured)

    def same() -> tuple[Operand, ...]:
        return Literal(True), *(captured[name] for name in names)

    def other() -> tuple[Operand, ...]:
        also, more = _any(ctx, patterns[1:], subject, node)
        return also, *(more[name] for name in names)

    decided, *values = ctx.branch(found, same, other, node, 1 + len(names))
    return decided, dict(zip(names, values, strict=True))
