"""Random expressions over the names that are bound at a point of a function.

Every production says what it is by ``self.met(...)``: that is what the coverage of a hunt counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from srcgrad.fuzz.choices import Choices
from srcgrad.fuzz.scope import Scope, Signature, factor

CONSTANTS = ("0.5", "0.3", "1.2", "-0.7", "0.9", "2", "-0.4", "1.5")
T = TypeVar("T")


class Expressions:
    """Writes expressions of a wanted kind and depth."""

    def __init__(self, choices: Choices, callables: list[Signature], features: frozenset[str], met: set[str]) -> None:
        self.choices = choices
        self.callables = callables
        self.features = features
        self.constructs = met

    def met(self, construct: str, made: T) -> T:
        """``made``, a use of this construct."""
        self.constructs.add(construct)
        return made

    def has(self, feature: str) -> bool:
        return feature in self.features

    def one(self, forms: Sequence[Callable[[], str]]) -> str:
        return self.choices.pick(forms)()

    def expression(self, scope: Scope, kind: str, depth: int = 2) -> str:
        writers = {"s": self.scalar, "v": self.vector, "m": self.matrix, "p": self.short, "c": self.cube, "n": self.dot}
        return writers[kind](scope, depth)

    def atom(self, scope: Scope, kind: str) -> str:
        """A name, or a part of something, that has the kind; what it names may be shared."""
        if self.has("views") and self.choices.chance(12):
            return self.reference(scope, kind) or self.fresh(kind)
        names = scope.named(kind)
        if not names:
            return self.fresh(kind)
        if self.choices.chance(50):  # what was bound last
            return self.choices.pick(names[-2:])
        return self.choices.pick(names)

    def fresh(self, kind: str) -> str:
        if kind == "s":
            return self.choices.pick(CONSTANTS)
        made = {"v": "np.ones(4)", "m": "np.eye(2)", "p": "np.ones(2)", "c": "np.ones((2, 2, 2))", "n": "np.array(0.5)"}
        return made[kind]

    def reference(self, scope: Scope, kind: str) -> str | None:
        """An expression for memory that exists already; overridden where views are written."""
        names = scope.named(kind)
        return self.choices.pick(names) if names else None

    # --- numbers -----------------------------------------------------------------------------------------------------
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
            lambda: self.met("conditional expression", f"({s()} if {self.condition(scope)} else {s()})"),
            lambda: f"{factor(s())} ** 2",
            lambda: f"np.sum({v()})",
            lambda: f"np.sum({m()})",
            lambda: self.met("maximum", f"np.max({v()})"),
            lambda: f"{factor(v())} @ {factor(v())}",
            lambda: f"abs({s()})",
            lambda: self.met("smaller number", f"min({s()}, {s()})"),
            lambda: f"{self.atom(scope, 'v')}[1:3].sum()",
            lambda: self.called(scope, "s", depth) or s(),
            lambda: self.closure(scope, s()) or s(),
        ]
        if scope.named("n", "p", "c", "u") or self.has("views"):
            forms += [
                lambda: f"np.sum({self.short(scope, depth - 2)})",
                lambda: f"np.sum({factor(self.cube(scope, 0))} ** 2)",
                lambda: f"np.sum({self.choices.pick(scope.named('u') or ['0.5'])})",
                lambda: f"{self.dot(scope, 0)}.item()" if c.chance(10) else f"np.sin({self.dot(scope, 0)})[()]",
            ]
        forms += [lambda: self.from_container(scope, "s") or s()] * 2
        return c.pick(forms)()

    def from_container(self, scope: Scope, kind: str) -> str | None:
        """A value computed from a container; overridden where containers are written."""
        return None

    def scalar_leaf(self, scope: Scope) -> str:
        c = self.choices
        vectors, matrices, integers = scope.named("v"), scope.named("m"), scope.named("i")
        shorts, cubes = scope.named("p"), scope.named("c")
        forms = [lambda: c.pick(CONSTANTS)]
        if vectors:
            forms += [lambda: f"{c.pick(vectors)}[{c.integer(0, 3)}]"] * 2
            forms.append(lambda: f"{c.pick(vectors)}[{-c.integer(1, 4)}]")
            if integers:
                forms.append(lambda: f"{c.pick(vectors)}[{c.pick(integers)} % 4]")
        if matrices:
            forms.append(lambda: f"{c.pick(matrices)}[{c.integer(0, 1)}, {c.integer(0, 1)}]")
            forms.append(lambda: f"{c.pick(matrices)}[{c.integer(0, 1)}][{c.integer(0, 1)}]")
            if integers:
                forms.append(lambda: f"{c.pick(matrices)}[{c.pick(integers)} % 2, 0]")
        if shorts:
            forms.append(lambda: f"{c.pick(shorts)}[{c.integer(-1, 1)}]")
        if cubes:
            forms.append(lambda: f"{c.pick(cubes)}[{c.integer(0, 1)}, {c.integer(0, 1)}, -1]")
        if integers:
            forms.append(lambda: f"0.3 * {c.pick(integers)}")
        return c.pick(forms)()

    # --- arrays ------------------------------------------------------------------------------------------------------
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
            lambda: self.met("where", f"np.where({v()} > {s()}, {v()}, {v()})"),
            lambda: f"np.concatenate([{self.atom(scope, 'v')}[:2], {self.atom(scope, 'v')}[2:]])",
            lambda: f"np.array([{s()}, {s()}, {s()}, {s()}])",
            lambda: self.met("duplicate gather", f"{self.atom(scope, 'v')}[[0, 0, 1, 3]]"),
            lambda: f"{factor(m())}.reshape(4)",
            lambda: self.met("maximum", f"np.maximum({v()}, {v()})"),
            lambda: f"np.cumsum({v()})",
            lambda: "np.zeros(4)",
            lambda: f"np.repeat({self.atom(scope, 'm')} @ {self.atom(scope, 'v')}[1:3], 2)",
            lambda: self.called(scope, "v", depth) or v(),
        ]
        if self.has("stores"):
            forms += [
                lambda: self.met("copy", f"{factor(v())}.copy()"),
                lambda: self.met("zeros_like", f"np.zeros_like({self.atom(scope, 'v')})"),
                lambda: self.met("copy", f"np.array({self.atom(scope, 'v')})"),
                lambda: self.met("flatten", f"{self.atom(scope, 'm')}.flatten()"),
                lambda: self.met("sorted copy", f"np.sort({v()})"),
                lambda: self.from_container(scope, "v") or v(),
                lambda: self.from_container(scope, "v") or v(),
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
        if self.has("stores"):
            forms += [
                lambda: "np.zeros((2, 2))",
                lambda: self.met("copy", f"{factor(m())}.copy()"),
                lambda: self.met("stack", f"np.stack([{self.atom(scope, 'p')}, {self.short(scope, depth - 1)}])"),
                lambda: self.met("transposed product", f"{self.atom(scope, 'm')} * {self.atom(scope, 'm')}.T"),
            ]
        return c.pick(forms)()

    def short(self, scope: Scope, depth: int) -> str:
        if depth <= 0:
            return self.atom(scope, "p")
        s: Callable[[], str] = lambda: self.scalar(scope, depth - 1)
        forms: list[Callable[[], str]] = [
            lambda: self.atom(scope, "p"),
            lambda: f"np.sin({self.short(scope, depth - 1)})",
            lambda: f"{factor(s())} * {self.atom(scope, 'p')}",
            lambda: f"{self.atom(scope, 'p')} + {self.short(scope, depth - 1)}",
            lambda: f"{self.atom(scope, 'm')} @ {self.atom(scope, 'p')}",
            lambda: f"np.array([{s()}, {s()}])",
            lambda: self.met("fancy copy", self.atom(scope, "v") + self.choices.pick(("[[2, 0]]", "[(1, 1),]"))),
            lambda: self.met("diagonal", f"{self.atom(scope, 'm')}.diagonal()"),
            lambda: self.met("diagonal", f"np.diag({self.atom(scope, 'm')})"),
            lambda: f"np.sum({self.atom(scope, 'm')}, axis={self.choices.integer(0, 1)})",
            lambda: self.called(scope, "p", depth) or self.atom(scope, "p"),
        ]
        return self.one(forms)

    def cube(self, scope: Scope, depth: int) -> str:
        if depth <= 0:
            return self.atom(scope, "c")
        forms: list[Callable[[], str]] = [
            lambda: self.atom(scope, "c"),
            lambda: f"np.tanh({self.atom(scope, 'c')})",
            lambda: f"{self.atom(scope, 'c')} * {self.atom(scope, 'm')}",
            lambda: f"{self.atom(scope, 'c')} * {factor(self.scalar(scope, depth - 1))}",
            lambda: self.met("stack", f"np.stack([{self.atom(scope, 'm')}, {self.matrix(scope, depth - 1)}])"),
            lambda: "np.zeros((2, 2, 2))",
            lambda: f"np.multiply.outer({self.atom(scope, 'p')}, {self.atom(scope, 'm')})",
        ]
        return self.one(forms)

    def dot(self, scope: Scope, depth: int) -> str:
        """A 0-d array."""
        if scope.named("n") and self.choices.chance(60):
            return self.choices.pick(scope.named("n"))
        return self.met("0-d array", f"np.array({self.scalar(scope, max(depth - 1, 0))})")

    # --- calls and tests ---------------------------------------------------------------------------------------------
    def called(self, scope: Scope, kind: str, depth: int) -> str | None:
        found = [signature for signature in self.callables if signature.result == kind]
        if not found:
            return None
        return self.call(scope, self.choices.pick(found), depth)

    def call(self, scope: Scope, signature: Signature, depth: int) -> str:
        given = signature.parameters[:-1] if signature.counted else signature.parameters
        arguments = [self.argument(scope, kind, depth) for kind in given]
        if len(set(arguments)) < len(arguments):
            self.met("one argument given twice", None)
        if signature.counted:
            arguments.append(str(self.choices.integer(0, 3)))
            self.met("recursion", None)
        if self.choices.chance(15) and arguments and not signature.counted:
            letters = [f"{LETTERS[kind]}{k}" for k, kind in enumerate(given)]
            arguments[-1] = self.met("keyword argument", f"{letters[-1]}={arguments[-1]}")
        return self.met("call", f"{signature.name}({', '.join(arguments)})")

    def argument(self, scope: Scope, kind: str, depth: int) -> str:
        """An argument: mostly a name, so that what the callee stores is seen."""
        names = scope.named(kind)
        if kind not in ("s", "v", "m", "p", "c", "n"):
            return self.choices.pick(names[-2:]) if names else self.container(scope, kind)
        if self.has("stores") and names and kind != "s" and self.choices.chance(60):
            return self.choices.pick(names[-3:])
        return self.expression(scope, kind, min(1, depth - 1))

    def container(self, scope: Scope, kind: str) -> str:
        """A display of a container; overridden where containers are written."""
        raise AssertionError(f"no expression makes {kind}")

    def closure(self, scope: Scope, argument: str) -> str | None:
        found = scope.named("f")
        return self.met("closure called", f"{self.choices.pick(found)}({argument})") if found else None

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


#: The first letter of a parameter of a callee, by its kind.
LETTERS = {"s": "c", "v": "r", "m": "h", "p": "w", "c": "k", "n": "z", "[v]": "l", "[s]": "e", "<v>": "q", "{}": "d",
           "()": "t", "o": "o", "t": "n"}  # fmt: skip
