"""Patterns of ``match`` as tests, in the order of *The Python Language Reference*, 8.6.4.

``match`` gives an operand that says whether the pattern holds, and what it captures, which is bound only where all of
the pattern holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import gast

from srcgrad.frontend.lowering.context import NOTHING, Context
from srcgrad.frontend.lowering.expressions import value_of
from srcgrad.ir.operations import Compare, GetItem, Literal, Match, Operand

Captured: TypeAlias = dict[str, Operand]
Test: TypeAlias = Callable[[], tuple[Operand, Captured]]


def match(ctx: Context, pattern: gast.AST, subject: Operand) -> tuple[Operand, Captured]:
    """Whether a pattern holds of a subject, and what it captures."""
    match pattern:
        case gast.MatchValue(value=value):
            return ctx.bind(Compare("==", subject, value_of(ctx, value)), pattern), {}
        case gast.MatchSingleton(value=value):
            return ctx.bind(Compare("is", subject, Literal(value)), pattern), {}
        case gast.MatchAs(pattern=inner, name=name):
            found, captured = (Literal(True), {}) if inner is None else match(ctx, inner, subject)
            return found, captured if name is None else {**captured, _name(name): subject}
        case gast.MatchStar(name=name):
            return Literal(True), {} if name is None else {_name(name): subject}
        case gast.MatchOr(patterns=patterns):
            return _any(ctx, patterns, subject, pattern)
        case gast.MatchSequence(patterns=patterns):
            stars = [j for j, inner in enumerate(patterns) if isinstance(inner, gast.MatchStar)]
            made = Match("sequence", subject, len(patterns), stars[0] if stars else None)
            return _parts(ctx, made, patterns, pattern)
        case gast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            asked = tuple(value_of(ctx, key) for key in keys)
            inner = [*patterns, *([] if rest is None else [gast.MatchAs(None, rest)])]
            return _parts(ctx, Match("mapping", subject, len(inner), keys=asked), inner, pattern)
        case gast.MatchClass(cls=kind, patterns=patterns, kwd_attrs=names, kwd_patterns=others):
            of = value_of(ctx, kind)
            named = tuple(ctx.mangled(_name(name)) for name in names)
            made = Match("class", subject, len(patterns), names=named, of=of)
            return _parts(ctx, made, [*patterns, *others], pattern)
    raise ctx.refuse(pattern, f"{type(pattern).__name__} is not lowered")


def _name(name: object) -> str:
    return str(getattr(name, "id", name))


def _parts(
    ctx: Context, made: Match, patterns: Sequence[gast.AST], node: gast.AST
) -> tuple[Operand, Captured]:
    """The patterns of the parts that an operation takes out of the subject, if it does."""
    found, parts = ctx.version(), ctx.version()
    ctx.assign((found, parts), made, node)

    def part(place: int) -> Test:
        def test() -> tuple[Operand, Captured]:
            item = ctx.bind(GetItem(parts, Literal(place)), node)
            return match(ctx, patterns[place], item)

        return test

    asked = [j for j, inner in enumerate(patterns) if not _is_wildcard(inner)]
    return _all(ctx, [lambda: (found, {}), *map(part, asked)], [patterns[j] for j in asked], node)


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
        return found, *(NOTHING for _ in names)

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
        return found, *(captured[name] for name in names)

    def other() -> tuple[Operand, ...]:
        also, more = _any(ctx, patterns[1:], subject, node)
        return also, *(more[name] for name in names)

    decided, *values = ctx.branch(found, same, other, node, 1 + len(names))
    return decided, dict(zip(names, values, strict=True))
