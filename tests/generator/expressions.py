"""Random expressions over the names that are bound at a point of a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.generator.choices import Choices

CONSTANTS = ("0.5", "0.3", "1.2", "-0.7", "0.9", "2", "-0.4", "1.5")


@dataclass(frozen=True)
class Signature:
    """A function that may be called: parameter types and the types of its result."""

    name: str
    parameters: tuple[str, ...]
    result: str  # a type, or two types for a pair
    counted: bool = False  # its last parameter counts a recursion down


@dataclass
class Scope:
    """What is known at one point of a function."""

    types: dict[str, str]
    held: dict[str, str] = field(default_factory=dict)  # names whose type an enclosing loop relies on
    guarded: list[tuple[str, str, str]] = field(default_factory=list)  # (flag, name, type): bound where the flag is
    loops: int = 0
    depth: int = 0

    def inner(self) -> Scope:
        return Scope(dict(self.types), dict(self.held), list(self.guarded), self.loops, self.depth + 1)

    def bind(self, name: str, type_: str) -> None:
        """The name is bound from here on; the names bound last come last."""
        self.types.pop(name, None)
        self.types[name] = type_

    def named(self, type_: str) -> list[str]:
        return [name for name, known in self.types.items() if known == type_]

    def join(self, *others: Scope) -> None:
        """Keep what holds at the end of every branch that falls through."""
        first, *rest = others
        self.types = {n: t for n, t in first.types.items() if all(o.types.get(n) == t for o in rest)}
        self.guarded = [g for g in self.guarded if self.types.get(g[0]) == "flag"]


class Expressions:
    """Writes expressions of a wanted type and depth."""

    def __init__(self, choices: Choices, callable_: list[Signature]) -> None:
        self.choices = choices
        self.callable = callable_

    def expression(self, scope: Scope, type_: str, depth: int = 2) -> str:
        return {"s": self.scalar, "v": self.vector, "m": self.matrix}[type_](scope, depth)

    def atom(self, scope: Scope, type_: str) -> str:
        names = scope.named(type_)
        if not names:
            return {"s": self.choices.pick(CONSTANTS), "v": "np.ones(4)", "m": "np.eye(2)"}[type_]
        if self.choices.chance(50):  # what was bound last
            return self.choices.pick(names[-2:])
        return self.choices.pick(names)

    def scalar(self, scope: Scope, depth: int) -> str:
        c = self.choices
        if depth <= 0:
            return self.atom(scope, "s") if c.chance(85) else self.scalar_leaf(scope)
        s: Callable[[], str] = lambda: self.scalar(scope, depth - 1)
        v: Callable[[], str] = lambda: self.vector(scope, depth - 2)
        m: Callable[[], str] = lambda: self.matrix(scope, depth - 2)
        forms: list[Callable[[], str]] = [
            lambda: self.atom(scope, "s"),
            lambda: self.scalar_leaf(scope),
            lambda: f"np.sin({s()})",
            lambda: f"{s()} * {factor(s())}",
            lambda: f"{s()} + {s()}",
            lambda: f"{s()} - {factor(s())}",
            lambda: f"np.tanh({s()})",
            lambda: f"0.6 * {factor(s())}",
            lambda: f"-{factor(s())}",
            lambda: f"{factor(s())} / (2.0 + np.sin({s()}))",
            lambda: f"np.exp(-{factor(s())} ** 2)",
            lambda: f"math.sin({s()})",
            lambda: f"({s()} if {self.condition(scope)} else {s()})",
            lambda: f"{factor(s())} ** 2",
            lambda: f"np.sum({v()})",
            lambda: f"np.sum({m()})",
            lambda: f"np.max({v()})",
            lambda: f"{factor(v())} @ {factor(v())}",
            lambda: f"abs({s()})",
            lambda: f"min({s()}, {s()})",
            lambda: f"{self.atom(scope, 'v')}[1:3].sum()",
            lambda: self.called(scope, "s", depth) or s(),
            lambda: self.closure(scope, s()) or s(),
        ]
        return c.pick(forms)()

    def scalar_leaf(self, scope: Scope) -> str:
        c = self.choices
        vectors, matrices, integers = scope.named("v"), scope.named("m"), scope.named("i")
        forms = [lambda: c.pick(CONSTANTS)]
        if vectors:
            forms.append(lambda: f"{c.pick(vectors)}[{c.integer(0, 3)}]")
            if integers:
                forms.append(lambda: f"{c.pick(vectors)}[{c.pick(integers)} % 4]")
        if matrices:
            forms.append(lambda: f"{c.pick(matrices)}[{c.integer(0, 1)}, {c.integer(0, 1)}]")
            if integers:
                forms.append(lambda: f"{c.pick(matrices)}[{c.pick(integers)} % 2, 0]")
        if integers:
            forms.append(lambda: f"0.3 * {c.pick(integers)}")
        return c.pick(forms)()

    def vector(self, scope: Scope, depth: int) -> str:
        c = self.choices
        if depth <= 0:
            return self.atom(scope, "v")
        s: Callable[[], str] = lambda: self.scalar(scope, depth - 1)
        v: Callable[[], str] = lambda: self.vector(scope, depth - 1)
        m: Callable[[], str] = lambda: self.matrix(scope, depth - 1)
        forms: list[Callable[[], str]] = [
            lambda: self.atom(scope, "v"),
            lambda: f"np.sin({v()})",
            lambda: f"{factor(s())} * {factor(v())}",
            lambda: f"{v()} + {v()}",
            lambda: f"{factor(v())} * {factor(v())}",
            lambda: f"{v()} - {factor(s())}",
            lambda: f"np.tanh({v()})",
            lambda: f"{self.atom(scope, 'v')}[::-1]",
            lambda: f"np.where({v()} > {s()}, {v()}, {v()})",
            lambda: f"np.concatenate([{self.atom(scope, 'v')}[:2], {self.atom(scope, 'v')}[2:]])",
            lambda: f"np.array([{s()}, {s()}, {s()}, {s()}])",
            lambda: f"{self.atom(scope, 'v')}[[0, 0, 1, 3]]",
            lambda: f"{factor(m())}.reshape(4)",
            lambda: f"np.maximum({v()}, {v()})",
            lambda: f"np.cumsum({v()})",
            lambda: "np.zeros(4)",
            lambda: f"np.repeat({self.atom(scope, 'm')} @ {self.atom(scope, 'v')}[1:3], 2)",
            lambda: self.called(scope, "v", depth) or v(),
        ]
        return c.pick(forms)()

    def matrix(self, scope: Scope, depth: int) -> str:
        c = self.choices
        if depth <= 0:
            return self.atom(scope, "m")
        s: Callable[[], str] = lambda: self.scalar(scope, depth - 1)
        v: Callable[[], str] = lambda: self.vector(scope, depth - 1)
        m: Callable[[], str] = lambda: self.matrix(scope, depth - 1)
        forms: list[Callable[[], str]] = [
            lambda: self.atom(scope, "m"),
            lambda: f"np.sin({m()})",
            lambda: f"{factor(s())} * {factor(m())}",
            lambda: f"{m()} + {m()}",
            lambda: f"0.7 * {factor(m())} @ {factor(m())}",
            lambda: f"{self.atom(scope, 'm')}.T",
            lambda: f"{factor(v())}.reshape(2, 2)",
            lambda: f"np.outer({self.atom(scope, 'v')}[:2], {self.atom(scope, 'v')}[2:])",
            lambda: f"{m()} - {self.atom(scope, 'v')}[:2]",
            lambda: f"np.array([[{s()}, {s()}], [{s()}, {s()}]])",
            lambda: self.called(scope, "m", depth) or m(),
        ]
        return c.pick(forms)()

    def called(self, scope: Scope, type_: str, depth: int) -> str | None:
        found = [signature for signature in self.callable if signature.result == type_]
        if not found:
            return None
        return self.call(scope, self.choices.pick(found), depth)

    def call(self, scope: Scope, signature: Signature, depth: int) -> str:
        given = signature.parameters[:-1] if signature.counted else signature.parameters
        arguments = [self.expression(scope, type_, min(1, depth - 1)) for type_ in given]
        if signature.counted:
            arguments.append(str(self.choices.integer(0, 3)))
        return f"{signature.name}({', '.join(arguments)})"

    def closure(self, scope: Scope, argument: str) -> str | None:
        found = scope.named("f")
        return f"{self.choices.pick(found)}({argument})" if found else None

    def condition(self, scope: Scope) -> str:
        c = self.choices
        one = f"{self.scalar(scope, 1)} {c.pick(('>', '<'))} {self.scalar(scope, 0)}"
        forms: list[Callable[[], str]] = [
            lambda: one,
            lambda: f"{one} and {self.scalar(scope, 0)} < {c.pick(CONSTANTS)}",
            lambda: f"{one} or {self.scalar(scope, 0)} > {c.pick(CONSTANTS)}",
            lambda: f"not {one}",
        ]
        integers, flags = scope.named("i"), scope.named("flag")
        if integers:
            forms.append(lambda: f"{c.pick(integers)} % 2 == {c.integer(0, 1)}")
            forms.append(lambda: f"{c.pick(integers)} > {c.integer(0, 2)}")
        if flags:
            forms.append(lambda: c.pick(flags))
        return c.pick(forms)()


def factor(text: str) -> str:
    """Parentheses around what is not an atom, a call or an index."""
    depth = 0
    for position, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth == 0 and (character == " " or character == "-" and position == 0):
            return f"({text})"
    return text
