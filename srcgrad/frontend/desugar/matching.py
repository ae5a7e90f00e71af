"""``match`` as a chain of ``if``: tests of what a pattern asks, and assignments of what it names.

::

    match f(x):                      subject = f(x)
        case "a" | "b": s = x        if subject == "a" or subject == "b": s = x
        case (u, 0): s = u     ->    elif is_sequence(subject) and len(subject) == 2 and subject[1] == 0:
        case _: s = 0.0                  u = subject[0]; s = u
                                     else: s = 0.0

A name in a guard is read where it is taken from, so that nothing is bound before the guard holds.  Python binds the
names before, and keeps them where the guard fails: where they are mentioned elsewhere, or the guard may change
anything, so does this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import gast

from srcgrad import runtime
from srcgrad.errors import InternalError
from srcgrad.frontend.desugar.build import (
    assign,
    branch,
    call,
    call_builtin,
    compare,
    constant,
    load,
    placed,
    subscript,
)
from srcgrad.frontend.names import bound_by
from srcgrad.language import effects
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import GlobalReference, of_runtime, reference
from srcgrad.syntax.parse import walk

_SEQUENCE = of_runtime(runtime.is_sequence)
_MAPPING = of_runtime(runtime.is_mapping)
_ASKING = frozenset({"isinstance", "len", "callable", "abs", "float", "int", "bool", "type"})  # if nobody renames them


@dataclass
class _Taken:
    """What a pattern asks, in order, and what it binds."""

    tests: list[gast.expr] = field(default_factory=list)
    names: dict[str, gast.expr] = field(default_factory=dict)


def match_as_if(
    statement: gast.Match, fresh: Callable[[str], str], mentioned: Mapping[str, int]
) -> list[gast.stmt]:
    """The chain; the subject is evaluated once.  ``mentioned`` counts how often the function mentions names.  Requires
    that the fence has admitted the patterns."""
    made: list[gast.stmt] = []
    bound = {name for case in statement.cases for name in captures(case.pattern)}
    may_change = any(_may_change(case.guard) for case in statement.cases)  # what the subject's name means
    if isinstance(statement.subject, gast.Name) and statement.subject.id not in bound and not may_change:
        subject = statement.subject.id
    else:
        subject = fresh("subject")
        made.append(assign(subject, statement.subject, statement))
    rest: list[gast.stmt] = []
    for case in reversed(statement.cases):
        taken = _Taken()
        _take(case.pattern, load(subject, case.pattern), taken)
        binds = [assign(name, value, case.pattern) for name, value in taken.names.items()]
        here = mentions(case) if case.guard is not None and binds else {}
        if here and (_may_change(case.guard) or any(mentioned[name] > here[name] for name in taken.names)):
            rest = _binding_first(case, taken.tests, binds, rest, fresh)
            continue
        if case.guard is not None:
            taken.tests.append(_with_names(case.guard, taken.names))
        body = [*binds, *case.body]
        match taken.tests:
            case []:
                rest = body
            case [test]:
                rest = [branch(test, body, rest, case.pattern)]
            case tests:
                rest = [branch(placed(gast.BoolOp(gast.And(), tests), case.pattern), body, rest, case.pattern)]
    return made + rest


def _binding_first(
    case: gast.match_case, tests: list[gast.expr], binds: list[gast.stmt], rest: list[gast.stmt],
    fresh: Callable[[str], str],
) -> list[gast.stmt]:  # fmt: skip
    """A case whose names are bound where its pattern holds, whether its guard does or not."""
    at = case.guard
    if not tests:
        return [*binds, branch(at, case.body, rest, at)]
    holds = fresh("holds")
    tested = tests[0] if len(tests) == 1 else placed(gast.BoolOp(gast.And(), tests), case.pattern)
    return [
        assign(holds, constant(False, at), at),
        branch(tested, [*binds, branch(at, [assign(holds, constant(True, at), at)], [], at)], [], case.pattern),
        branch(load(holds, at), case.body, rest, at),
    ]


def _may_change(guard: gast.expr | None) -> bool:
    """Whether a guard may bind a name, or change what a pattern has taken apart, as far as its text tells."""
    for node in () if guard is None else walk(guard):
        match node:
            case gast.NamedExpr():
                return True
            case gast.Call(func=gast.Name(id=name)) if name not in _ASKING:
                return True
            case gast.Call(func=gast.Attribute(value=gast.Name(id="np" | "numpy" | "math"), attr=attr)):
                if attr in effects.updating():
                    return True
            case gast.Call(func=gast.Attribute()):
                return True
    return False


def mentions(*roots: gast.AST) -> Counter[str]:
    """How often names are read or bound."""
    found: Counter[str] = Counter()
    for node in walk(*roots):
        found.update([node.id] if isinstance(node, gast.Name) else bound_by(node))
    return found


def captures(pattern: gast.AST) -> list[str]:
    """The names that a pattern binds."""
    found: list[str] = []
    for node in gast.walk(pattern):
        name = getattr(node, "rest", None) if isinstance(node, gast.MatchMapping) else getattr(node, "name", None)
        if isinstance(node, gast.MatchAs | gast.MatchStar | gast.MatchMapping) and name is not None:
            found.append(str(getattr(name, "id", name)))
    return found


def _with_names(guard: gast.expr, names: dict[str, gast.expr]) -> gast.expr:
    def taken(node: gast.AST) -> gast.expr | None:
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
            return names.get(node.id)
        return None

    made: gast.expr = rebuilt(guard, taken)
    return made


def _take(pattern: gast.AST, subject: gast.expr, taken: _Taken) -> None:
    match pattern:
        case gast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _take(inner, subject, taken)
            if name is not None:
                taken.names[str(getattr(name, "id", name))] = subject
        case gast.MatchSequence(patterns=patterns):
            _sequence(pattern, patterns, subject, taken)
        case gast.MatchMapping(keys=keys, patterns=patterns):
            taken.tests.append(call(reference(_MAPPING), [subject], pattern))
            taken.tests += [compare(key, gast.In(), subject, pattern) for key in keys]
            for key, inner in zip(keys, patterns, strict=True):
                _take(inner, subscript(subject, key, pattern), taken)
        case gast.MatchClass(cls=kind, kwd_attrs=names, kwd_patterns=patterns):
            taken.tests.append(call_builtin("isinstance", [subject, kind], pattern))
            for inner in pattern.patterns:  # of the builtin kinds that the fence admits: the subject itself
                _take(inner, subject, taken)
            for name, inner in zip(names, patterns, strict=True):
                _take(inner, placed(gast.Attribute(subject, str(name), gast.Load()), pattern), taken)
        case _:
            test = _test(pattern, subject)
            if test is not None:
                taken.tests.append(test)


def _sequence(at: gast.AST, patterns: list[gast.AST], subject: gast.expr, taken: _Taken) -> None:
    taken.tests.append(call(reference(_SEQUENCE), [subject], at))
    stars = [j for j, inner in enumerate(patterns) if isinstance(inner, gast.MatchStar)]
    length = call_builtin("len", [subject], at)
    count = constant(len(patterns) - len(stars), at)
    taken.tests.append(compare(length, gast.GtE() if stars else gast.Eq(), count, at))
    for j, inner in enumerate(patterns):
        after = len(patterns) - j - 1
        if isinstance(inner, gast.MatchStar):
            if inner.name is not None:
                end = placed(gast.UnaryOp(gast.USub(), constant(after, at)), at) if after else None
                part = subscript(subject, placed(gast.Slice(constant(j, at), end, None), at), at)
                taken.names[str(getattr(inner.name, "id", inner.name))] = call_builtin("list", [part], at)
            continue
        place: gast.expr = constant(j, at)
        if stars and j > stars[0]:
            place = placed(gast.UnaryOp(gast.USub(), constant(after + 1, at)), at)
        _take(inner, subscript(subject, place, at), taken)


def _test(pattern: gast.AST, subject: gast.expr) -> gast.expr | None:
    """The test of a pattern that binds nothing; None if it always matches."""
    match pattern:
        case gast.MatchValue(value=value):
            return compare(subject, gast.Eq(), value, pattern)
        case gast.MatchSingleton(value=value):
            return compare(subject, gast.Is(), constant(value, pattern), pattern)
        case gast.MatchOr(patterns=patterns):
            tests: list[gast.expr] = []
            for inner in patterns:
                taken = _Taken()
                _take(inner, subject, taken)
                if not taken.tests:
                    return None
                every = taken.tests
                tests.append(every[0] if len(every) == 1 else placed(gast.BoolOp(gast.And(), every), pattern))
            return placed(gast.BoolOp(gast.Or(), tests), pattern)
    raise InternalError(f"a pattern of class {type(pattern).__name__} passed the fence")
