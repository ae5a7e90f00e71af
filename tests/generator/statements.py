"""Random statements: assignments, exits, branches, loops."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator.choices import Choices
from tests.generator.expressions import CONSTANTS, Expressions, Scope, Signature, factor

PARAMETERS = {"a": "s", "b": "s", "x": "v", "y": "v", "m": "m"}
NAMES = ("s", "t", "u", "w", "z", "p", "q", "k", "n")


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


class Writer(Expressions):
    """Writes one function."""

    def __init__(self, choices: Choices, callable_: list[Signature], result: str, budget: int) -> None:
        super().__init__(choices, callable_)
        self.result = result
        self.budget = budget
        self.flags = 0
        self.counters = 0
        self.lambdas = 0

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
            f"{name} * {factor(other)}",
            f"{name} + {other}",
            f"np.tanh({name} + {other})",
            f"0.8 * {name} - {factor(other)}",
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
        name = f"fun{self.lambdas}"
        inner = scope.inner()
        inner.types = {n: t for n, t in scope.types.items() if t in ("s", "v")}
        inner.types["r"] = "s"
        made = self.scalar(inner, 2)
        scope.types[name] = "f"
        return [f"{name} = lambda r: np.sin(r * {factor(made)})"]

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
