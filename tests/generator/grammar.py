"""Random programs as text: nested loops, branches, exits, calls, arrays of shapes (4,) and (2, 2), scalars.

Every program is ``def f(a, b, x, y, m)``: a and b scalars, x and y vectors of length 4, m a 2 x 2 matrix, and up to
three functions that it calls.  Types of names: "s" scalar, "v" vector, "m" matrix, "i" integer, "f" function of one
scalar.  A name is read only where it is certainly bound.  Numbers stay tame: what is assigned in a loop is bounded by
sin or tanh most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.generator.choices import Choices

PARAMETERS = {"a": "s", "b": "s", "x": "v", "y": "v", "m": "m"}
NAMES = ("s", "t", "u", "w", "z", "p", "q", "k", "n")
CONSTANTS = ("0.5", "0.3", "1.2", "-0.7", "0.9", "2", "-0.4", "1.5")
HEADER = "import math\n\nimport numpy as np\n"


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


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


class Writer:
    """Writes one function."""

    def __init__(self, choices: Choices, callable_: list[Signature], result: str, budget: int) -> None:
        self.choices = choices
        self.callable = callable_
        self.result = result
        self.budget = budget
        self.flags = 0
        self.counters = 0
        self.lambdas = 0

    # --- expressions -------------------------------------------------------------------------------------------------
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
            lambda: f"{s()} * {_factor(s())}",
            lambda: f"{s()} + {s()}",
            lambda: f"{s()} - {_factor(s())}",
            lambda: f"np.tanh({s()})",
            lambda: f"0.6 * {_factor(s())}",
            lambda: f"-{_factor(s())}",
            lambda: f"{_factor(s())} / (2.0 + np.sin({s()}))",
            lambda: f"np.exp(-{_factor(s())} ** 2)",
            lambda: f"math.sin({s()})",
            lambda: f"({s()} if {self.condition(scope)} else {s()})",
            lambda: f"{_factor(s())} ** 2",
            lambda: f"np.sum({v()})",
            lambda: f"np.sum({m()})",
            lambda: f"np.max({v()})",
            lambda: f"{_factor(v())} @ {_factor(v())}",
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
            lambda: f"{_factor(s())} * {_factor(v())}",
            lambda: f"{v()} + {v()}",
            lambda: f"{_factor(v())} * {_factor(v())}",
            lambda: f"{v()} - {_factor(s())}",
            lambda: f"np.tanh({v()})",
            lambda: f"{self.atom(scope, 'v')}[::-1]",
            lambda: f"np.where({v()} > {s()}, {v()}, {v()})",
            lambda: f"np.concatenate([{self.atom(scope, 'v')}[:2], {self.atom(scope, 'v')}[2:]])",
            lambda: f"np.array([{s()}, {s()}, {s()}, {s()}])",
            lambda: f"{self.atom(scope, 'v')}[[0, 0, 1, 3]]",
            lambda: f"{_factor(m())}.reshape(4)",
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
            lambda: f"{_factor(s())} * {_factor(m())}",
            lambda: f"{m()} + {m()}",
            lambda: f"0.7 * {_factor(m())} @ {_factor(m())}",
            lambda: f"{self.atom(scope, 'm')}.T",
            lambda: f"{_factor(v())}.reshape(2, 2)",
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

    # --- statements --------------------------------------------------------------------------------------------------
    def block(self, scope: Scope, longest: int) -> tuple[list[str], bool]:
        """(lines, whether the end can be reached)."""
        lines: list[str] = []
        for _ in range(self.choices.integer(1, longest)):
            if self.budget <= 0 and lines:
                break
            made, reachable = self.statement(scope)
            lines += made
            if not reachable:
                return lines, False
        return lines, True

    def statement(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        self.budget -= 1
        simple: list[Callable[[Scope], list[str]]] = [
            self.assign,
            self.assign,
            self.assign,
            self.assign,
            self.carried,
            self.carried,
            self.augmented,
            self.swap,
            self.alias,
            self.pair,
            self.define_under_a_flag,
            self.use_under_a_flag,
            self.local_function,
            self.nothing_but_a_constant,
        ]
        compound: list[Callable[[Scope], tuple[list[str], bool]]] = [self.branch, self.loop, self.while_loop]
        if scope.depth < 4 and self.budget > 0 and c.chance(35):
            return c.pick(compound)(scope)
        if c.chance(22 if scope.depth else 8):
            return self.exit(scope)
        return c.pick(simple)(scope), True

    def target(self, scope: Scope, type_: str) -> str:
        free = [n for n in NAMES if scope.held.get(n, type_) == type_ and (not scope.loops or n not in scope.held)]
        same = [n for n, t in scope.types.items() if t == type_ and n not in PARAMETERS] + free
        if self.choices.chance(25):
            same = [n for n, t in scope.types.items() if t == type_] or same
        return self.choices.pick(same) if same else "s_new"

    def value(self, scope: Scope, type_: str, depth: int = 2) -> str:
        made = self.expression(scope, type_, depth)
        if scope.loops and self.choices.chance(60):
            return f"np.{self.choices.pick(('sin', 'tanh'))}({made})"
        return made

    def assign(self, scope: Scope) -> list[str]:
        type_ = self.choices.pick(("s", "s", "v", "s", "m", "v"))
        made = self.value(scope, type_, 3 if self.choices.chance(20) else 2)
        name = self.target(scope, type_)
        scope.bind(name, type_)
        return [f"{name} = {made}"]

    def carried(self, scope: Scope) -> list[str]:
        """A name is rebound from its own value."""
        types = [(n, t) for n, t in scope.types.items() if t in ("s", "v", "m")]
        if not types:
            return self.assign(scope)
        name, type_ = self.choices.pick(types)
        other = self.expression(scope, type_, 1)
        forms = (
            f"{name} * {_factor(other)}",
            f"{name} + {other}",
            f"np.tanh({name} + {other})",
            f"0.8 * {name} - {_factor(other)}",
        )
        made = self.choices.pick(forms)
        if scope.loops > 1 or (scope.loops and self.choices.chance(40)):
            made = f"np.sin({made})"
        scope.bind(name, type_)
        return [f"{name} = {made}"]

    def augmented(self, scope: Scope) -> list[str]:
        scalars = scope.named("s")
        if not scalars:
            return self.assign(scope)
        operator = self.choices.pick(("+=", "-=", "*="))
        return [f"{self.choices.pick(scalars)} {operator} {self.value(scope, 's', 1)}"]

    def swap(self, scope: Scope) -> list[str]:
        for type_ in ("s", "v", "m"):
            names = scope.named(type_)
            if len(names) >= 2 and self.choices.chance(60):
                one = self.choices.pick(names)
                other = self.choices.pick([n for n in names if n != one])
                right = f"{other}, {one}" if self.choices.chance(50) else f"{other}, {self.value(scope, type_, 1)}"
                return [f"{one}, {other} = {right}"]
        return self.carried(scope)

    def alias(self, scope: Scope) -> list[str]:
        type_ = self.choices.pick(("s", "v", "m"))
        names = scope.named(type_)
        if not names:
            return self.assign(scope)
        source, name = self.choices.pick(names), self.target(scope, type_)
        scope.bind(name, type_)
        if self.choices.chance(20):
            other = self.target(scope, type_)
            scope.types[other] = type_
            return [f"{name} = {other} = {self.value(scope, type_, 1)}"]
        return [f"{name} = {source}"]

    def pair(self, scope: Scope) -> list[str]:
        pairs = [signature for signature in self.callable if len(signature.result) == 2]
        if not pairs:
            return self.assign(scope)
        signature = self.choices.pick(pairs)
        made = self.call(scope, signature, 2)
        first = self.target(scope, signature.result[0])
        second = self.target(scope, signature.result[1])
        if first == second:
            return [f"_, {second} = {made}"] if scope.types.get(second) == signature.result[1] else self.assign(scope)
        scope.bind(first, signature.result[0])
        scope.bind(second, signature.result[1])
        return [f"{first}, {second} = {made}"]

    def define_under_a_flag(self, scope: Scope) -> list[str]:
        self.flags += 1
        flag, name = f"flag{self.flags}", f"only{self.flags}"
        type_ = self.choices.pick(("s", "v"))
        lines = [f"{flag} = {self.condition(scope)}", f"if {flag}:", f"    {name} = {self.value(scope, type_)}"]
        scope.types[flag] = "flag"
        scope.guarded.append((flag, name, type_))
        return lines

    def use_under_a_flag(self, scope: Scope) -> list[str]:
        usable = [g for g in scope.guarded if scope.named(g[2])]
        if not usable:
            return self.assign(scope)
        flag, only, type_ = self.choices.pick(usable)
        name = self.choices.pick(scope.named(type_))
        return [f"if {flag}:", f"    {name} = np.sin({name} * {only})"]

    def local_function(self, scope: Scope) -> list[str]:
        if scope.loops or scope.depth:
            return self.carried(scope)
        self.lambdas += 1
        name = f"h{self.lambdas}"
        inner = scope.inner()
        inner.types = {n: t for n, t in scope.types.items() if t in ("s", "v")}
        inner.types["r"] = "s"
        made = self.scalar(inner, 2)
        scope.types[name] = "f"
        return [f"{name} = lambda r: np.sin(r * {_factor(made)})"]

    def nothing_but_a_constant(self, scope: Scope) -> list[str]:
        name = self.target(scope, "s")
        scope.types[name] = "s"
        return [f"{name} = {self.choices.pick(CONSTANTS)}"]

    # --- exits -------------------------------------------------------------------------------------------------------
    def exit(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        forms = ["return"]
        if scope.loops:
            forms = ["break", "continue", "return"]
        kind = c.pick(forms)
        inner = scope.inner()
        before, reachable = self.block(inner, 2) if c.chance(30) else ([], True)
        if not reachable:
            lines = before
        else:
            lines = before + [self.result_statement(inner) if kind == "return" else kind]
        return [f"if {self.condition(scope)}:", *indent(lines)], True

    def result_statement(self, scope: Scope) -> str:
        return "return " + ", ".join(self.outcome(scope, type_) for type_ in self.result)

    def outcome(self, scope: Scope, type_: str) -> str:
        """An expression to return: mostly a sum over names, so that little of the function is in vain."""
        if self.choices.chance(25):
            return self.expression(scope, type_, 2)
        names = [n for n, t in scope.types.items() if t in ("s", "v", "m")][-4:]
        terms = [self.converted(scope, n, type_) for n in names if self.choices.chance(75)]
        return " + ".join(terms) if terms else self.expression(scope, type_, 1)

    def converted(self, scope: Scope, name: str, type_: str) -> str:
        match scope.types[name], type_:
            case one, other if one == other:
                return name
            case "v" | "m", "s":
                return f"np.sum({name})"
            case "s", _:
                return f"{name} * {self.atom(scope, type_)}"
            case "m", _:
                return f"{name}.reshape(4)"
            case _:
                return f"{name}.reshape(2, 2)"

    # --- compound statements -----------------------------------------------------------------------------------------
    def branch(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        lines = [f"if {self.condition(scope)}:"]
        ends: list[Scope] = []
        inner = scope.inner()
        body, reachable = self.block(inner, 3)
        lines += indent(body)
        if reachable:
            ends.append(inner)
        if c.chance(25):
            inner = scope.inner()
            lines.append(f"elif {self.condition(scope)}:")
            body, reachable = self.block(inner, 2)
            lines += indent(body)
            if reachable:
                ends.append(inner)
        if c.chance(55):
            inner = scope.inner()
            lines.append("else:")
            body, reachable = self.block(inner, 3)
            lines += indent(body)
            if reachable:
                ends.append(inner)
        else:
            ends.append(scope.inner())
        if not ends:
            return lines, False
        scope.join(*ends)
        return lines, True

    def body(self, scope: Scope, bound: dict[str, str], first: list[str], longest: int = 4) -> list[str]:
        """The body of a loop; afterwards the scope knows what it knew before (the loop may not run)."""
        inner = scope.inner()
        inner.loops += 1
        inner.held = dict(scope.types) | scope.held
        inner.types.update(bound)
        # A target that hides an outer name of another type: the outer name is not known in the loop or after it.
        for name, type_ in bound.items():
            if scope.types.get(name, type_) != type_:
                del scope.types[name]
            inner.held[name] = type_
        lines, _ = self.block(inner, longest)
        return indent(first + lines)

    def loop(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        index = ("i", "j", "l", "o")[min(scope.loops, 3)]
        vectors = [n for n in scope.named("v")]
        matrices = [n for n in scope.named("m")]
        certain = True
        kind = c.integer(0, 9)
        if kind in (5, 6) and vectors:
            element = "e" + index
            head, bound = f"for {element} in {c.pick(vectors)}:", {element: "s"}
        elif kind == 7 and vectors:
            element = "e" + index
            head = f"for {index}, {element} in enumerate({c.pick(vectors)}):"
            bound = {index: "i", element: "s"}
        elif kind == 8 and vectors:
            one, other = "e" + index, "d" + index
            head = f"for {one}, {other} in zip({c.pick(vectors)}, {c.pick(vectors)}):"
            bound = {one: "s", other: "s"}
        elif kind == 9 and matrices:
            one, other = "e" + index, "d" + index
            head, bound = f"for {one}, {other} in {c.pick(matrices)}:", {one: "s", other: "s"}
        else:
            head, certain = c.pick(
                (
                    (f"for {index} in range({c.integer(1, 4)}):", True),
                    (f"for {index} in range(1, {c.integer(2, 5)}):", True),
                    (f"for {index} in reversed(range({c.integer(1, 3)})):", True),
                    (f"for {index} in range({c.integer(0, 1)}):", False),
                    (f"for {index} in range(3, -1, -2):", True),
                )
            )
            bound = {index: "i"}
        first = []
        if "i" in bound.values() and c.chance(8):
            first = [f"{index} = {index} + 1"]
        lines = [head, *self.body(scope, bound, first)]
        if certain and c.chance(70):
            scope.types.update(bound)
        lines += self.otherwise(scope)
        return lines, True

    def while_loop(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        self.counters += 1
        counter = f"count{self.counters}"
        limit = c.integer(0, 4)
        if c.chance(25):
            lines = [f"{counter} = 0", "while True:"]
            first = [f"{counter} += 1", f"if {counter} > {limit}:", "    break"]
            lines += self.body(scope, {counter: "i"}, first)
            scope.types[counter] = "i"
            return lines, True
        extra = f" and ({self.condition(scope)})" if c.chance(40) else ""
        lines = [f"{counter} = 0", f"while {counter} < {limit}{extra}:"]
        lines += self.body(scope, {counter: "i"}, [f"{counter} += 1"])
        scope.types[counter] = "i"
        lines += self.otherwise(scope)
        return lines, True

    def otherwise(self, scope: Scope) -> list[str]:
        """An ``else`` of a loop, now and then."""
        if not self.choices.chance(12):
            return []
        inner = scope.inner()
        body, reachable = self.block(inner, 2)
        # What held before still holds after, if the types of the names that were rebound are the same.
        if reachable:
            scope.types = {n: t for n, t in scope.types.items() if inner.types.get(n) == t}
        return ["else:", *indent(body)]


def _factor(text: str) -> str:
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


def function(choices: Choices, name: str, parameters: dict[str, str], result: str, others: list[Signature]) -> str:
    """One function as text."""
    budget = choices.integer(2, 12 if name == "f" else 5)
    writer = Writer(choices, others, result, budget)
    scope = Scope(dict(parameters))
    lines: list[str] = []
    while writer.budget > 0:
        made, reachable = writer.statement(scope)
        lines += made
        if not reachable:
            break
    else:
        reachable = True
    if reachable or not lines:
        lines.append(writer.result_statement(scope))
    return "\n".join([f"def {name}({', '.join(parameters)}):", *indent(lines)]) + "\n"


def program(choices: Choices) -> str:
    """A module with the function ``f`` and the functions that it calls."""
    texts = [HEADER]
    signatures: list[Signature] = []
    for k in range(choices.integer(0, 3)):
        kinds = [choices.pick(("s", "v", "s", "m")) for _ in range(choices.integer(1, 3))]
        parameters = {f"{_LETTERS[type_]}{i}": type_ for i, type_ in enumerate(kinds)}
        result = choices.pick(("s", "v", "s", "m", "ss", "sv"))
        name = f"g{k}"
        if choices.chance(15) and len(result) == 1:
            texts.append(recursive(choices, name, parameters, result, signatures))
            signatures.append(Signature(name, (*kinds, "i"), result, counted=True))
        else:
            texts.append(function(choices, name, parameters, result, signatures))
            signatures.append(Signature(name, tuple(kinds), result))
    result = choices.pick(("s", "s", "v", "s", "sv"))
    texts.append(function(choices, "f", PARAMETERS, result, signatures))
    return "\n\n".join(texts)


_LETTERS = {"s": "c", "v": "r", "m": "h"}


def recursive(choices: Choices, name: str, parameters: dict[str, str], result: str, others: list[Signature]) -> str:
    """A function that calls itself with its counter lowered."""
    writer = Writer(choices, others, result, choices.integer(1, 4))
    scope = Scope(dict(parameters) | {"deep": "i"})
    base = writer.result_statement(scope.inner())
    lines = ["if deep <= 0:", f"    {base}"]
    while writer.budget > 0:
        made, reachable = writer.statement(scope)
        lines += made
        if not reachable:
            return "\n".join([f"def {name}({', '.join([*parameters, 'deep'])}):", *indent(lines)]) + "\n"
    arguments = [writer.expression(scope, type_, 1) for type_ in parameters.values()]
    again = f"{name}({', '.join([*arguments, 'deep - 1'])})"
    lines.append(f"return np.sin({again}) * 0.9 + {writer.expression(scope, result, 1)}")
    return "\n".join([f"def {name}({', '.join([*parameters, 'deep'])}):", *indent(lines)]) + "\n"
