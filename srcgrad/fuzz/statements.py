"""Random statements: assignments, exits, branches, loops, local functions."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.choices import Choices
from srcgrad.fuzz.expressions import CONSTANTS
from srcgrad.fuzz.idioms import Idioms
from srcgrad.fuzz.scope import CONTAINERS, PARAMETERS, Scope, Signature, factor, indent

NAMES = ("s", "t", "u", "w", "z", "p", "q", "k", "n")
Simple = Callable[[Scope], list[str]]


class Writer(Idioms):
    """Writes one function."""

    def __init__(
        self,
        choices: Choices,
        callables: list[Signature],
        result: str,
        budget: int,
        features: frozenset[str],
        met: set[str],
    ) -> None:
        super().__init__(choices, callables, features, met)
        self.result = result
        self.budget = budget
        self.flags = 0
        self.counters = 0
        self.functions = 0

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

    def simple(self) -> list[Simple]:
        """The simple statements, as often as they should come."""
        plain: list[Simple] = [self.assign, self.assign, self.assign, self.assign]
        plain += [self.carried, self.carried, self.augmented, self.swap, self.alias, self.pair]
        plain += [self.define_under_a_flag, self.use_under_a_flag, self.local_function, self.nothing_but_a_constant]
        if self.has("stores"):
            plain = plain[3:] + [self.store] * 6 + [self.writer] * 2 + [self.overlap, self.augmented_name]
            plain += [self.read_then_stored, self.tested_then_stored] + [self.called_then_stored] * 2
            plain += [self.read_then_stored] * 2
            plain += [self.augmented_name, self.filled, self.number_or_vector, self.call_for_its_effect]
        if self.has("views"):
            plain += [self.aliased] * 4
        if self.has("containers"):
            plain += [self.made] * 3 + [self.changed] * 5
        plain += self.idioms()
        if self.has("control"):
            plain += [self.deleted]
        return plain

    def statement(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        self.budget -= 1
        compound: list[Callable[[Scope], tuple[list[str], bool]]] = [self.branch, self.loop, self.while_loop]
        if self.has("control"):
            compound += [self.branch, self.loop, self.protected, self.in_a_context]
        if self.has("stores"):
            compound += [self.loop_over_rows]
        if scope.depth < 4 and self.budget > 0 and c.chance(30):
            return c.pick(compound)(scope)
        if c.chance(22 if scope.depth else 8):
            return self.exit(scope)
        return c.pick(self.simple())(scope), True

    def target(self, scope: Scope, kind: str) -> str:
        free = [n for n in NAMES if scope.held.get(n, kind) == kind and (not scope.loops or n not in scope.held)]
        same = [n for n, t in scope.types.items() if t == kind and n not in PARAMETERS] + free
        if self.choices.chance(25):
            same = [n for n, t in scope.types.items() if t == kind] or same
        return self.choices.pick(same) if same else "s_new"

    def value(self, scope: Scope, kind: str, depth: int = 2) -> str:
        made = self.expression(scope, kind, depth)
        if scope.loops and self.choices.chance(60):
            return f"np.{self.choices.pick(('sin', 'tanh'))}({made})"
        return made

    def assign(self, scope: Scope) -> list[str]:
        kinds = ("s", "s", "v", "s", "m", "v") + (("p", "v", "c") if self.has("views") else ())
        kind = self.choices.pick(kinds)
        made = self.value(scope, kind, 3 if self.choices.chance(20) else 2)
        name = self.target(scope, kind)
        if name in scope.types:
            self.met("name rebound", None)
        scope.bind(name, kind)
        return [f"{name} = {made}"]

    def carried(self, scope: Scope) -> list[str]:
        """A name is rebound from its own value."""
        types = [(n, t) for n, t in scope.types.items() if t in ("s", "v", "m")]
        if not types:
            return self.assign(scope)
        name, kind = self.choices.pick(types)
        other = self.expression(scope, kind, 1)
        forms = (
            f"{name} * {factor(other)}",
            f"{name} + {other}",
            f"np.tanh({name} + {other})",
            f"0.8 * {name} - {factor(other)}",
        )
        made = self.choices.pick(forms)
        if scope.loops > 1 or (scope.loops and self.choices.chance(40)):
            made = f"np.sin({made})"
        scope.bind(name, kind)
        return [self.met("name rebound from itself", f"{name} = {made}")]

    def augmented(self, scope: Scope) -> list[str]:
        scalars = scope.named("s")
        if not scalars:
            return self.assign(scope)
        operator = self.choices.pick(("+=", "-=", "*="))
        return [self.met("augmented number", f"{self.choices.pick(scalars)} {operator} {self.value(scope, 's', 1)}")]

    def swap(self, scope: Scope) -> list[str]:
        for kind in ("s", "v", "m"):
            names = scope.named(kind)
            if len(names) >= 2 and self.choices.chance(60):
                one = self.choices.pick(names)
                other = self.choices.pick([n for n in names if n != one])
                right = f"{other}, {one}" if self.choices.chance(50) else f"{other}, {self.value(scope, kind, 1)}"
                return [self.met("names swapped", f"{one}, {other} = {right}")]
        return self.carried(scope)

    def alias(self, scope: Scope) -> list[str]:
        kind = self.choices.pick(("s", "v", "m"))
        names = scope.named(kind)
        if not names:
            return self.assign(scope)
        source, name = self.choices.pick(names), self.target(scope, kind)
        scope.bind(name, kind)
        if self.choices.chance(20):
            other = self.target(scope, kind)
            scope.types[other] = kind
            return [self.met("chained assignment", f"{name} = {other} = {self.value(scope, kind, 1)}")]
        return [self.met("alias", f"{name} = {source}")]

    def pair(self, scope: Scope) -> list[str]:
        pairs = [callee for callee in self.callables if len(callee.result) == 2 and callee.result[0] in "svm"]
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
        return [self.met("pair returned", f"{first}, {second} = {made}")]

    def call_for_its_effect(self, scope: Scope) -> list[str]:
        """A callee is called and its result is not used."""
        if not self.callables:
            return self.store(scope)
        return [self.met("call for its effect", self.call(scope, self.choices.pick(self.callables), 2))]

    def define_under_a_flag(self, scope: Scope) -> list[str]:
        self.flags += 1
        flag, name = f"flag{self.flags}", f"only{self.flags}"
        kind = self.choices.pick(("s", "v"))
        lines = [f"{flag} = {self.condition(scope)}", f"if {flag}:", f"    {name} = {self.value(scope, kind)}"]
        scope.types[flag] = "flag"
        scope.guarded.append((flag, name, kind))
        return lines

    def use_under_a_flag(self, scope: Scope) -> list[str]:
        usable = [g for g in scope.guarded if scope.named(g[2])]
        if not usable:
            return self.assign(scope)
        flag, only, kind = self.choices.pick(usable)
        name = self.choices.pick(scope.named(kind))
        return [f"if {flag}:", self.met("bound under a flag", f"    {name} = np.sin({name} * {only})")]

    def local_function(self, scope: Scope) -> list[str]:
        if scope.loops or scope.depth:
            return self.carried(scope)
        self.functions += 1
        name = f"fun{self.functions}"
        inner = scope.inner()
        if self.has("closures") and self.choices.chance(65):
            return self.closure_definition(scope, inner, name)
        inner.types = {n: t for n, t in scope.types.items() if t in ("s", "v")}
        inner.types["r"] = "s"
        made = self.scalar(inner, 2)
        scope.types[name] = "f"
        return [self.met("lambda", f"{name} = lambda r: np.sin(r * {factor(made)})")]

    def closure_definition(self, scope: Scope, inner: Scope, name: str) -> list[str]:
        """A local function that reads its surroundings, stores into them, or has statements of its own."""
        c = self.choices
        inner.types = {n: t for n, t in scope.types.items() if t not in ("f", "flag", "i")}
        inner.types["r"] = "s"
        arrays = inner.named("v")
        body: list[str] = []
        if arrays and c.chance(50):
            body.append(self.met("closure that stores", f"{c.pick(arrays)}[{c.integer(0, 3)}] = np.sin(r)"))
        elif c.chance(50):
            body += [f"g = {self.scalar(inner, 1)}", f"if g > {c.pick(CONSTANTS)}:", "    return np.sin(g * r)"]
        made = self.scalar(inner, 2)
        scope.types[name] = "f"
        return [self.met("local function", f"def {name}(r):"), *indent([*body, f"return np.sin(r * {factor(made)})"])]

    def nothing_but_a_constant(self, scope: Scope) -> list[str]:
        name = self.target(scope, "s")
        scope.types[name] = "s"
        return [f"{name} = {self.choices.pick(CONSTANTS)}"]

    def deleted(self, scope: Scope) -> list[str]:
        names = [n for n in scope.types if n in NAMES and n not in scope.held]
        if not names or scope.depth:
            return self.assign(scope)
        name = self.choices.pick(names)
        del scope.types[name]
        scope.guarded = [g for g in scope.guarded if g[0] != name]
        scope.types = {n: t for n, t in scope.types.items() if t != "f"}  # a closure may read it
        return [self.met("del of a name", f"del {name}")]

    # --- exits -------------------------------------------------------------------------------------------------------
    def exit(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        kind = c.pick(["break", "continue", "return"] if scope.loops else ["return"])
        inner = scope.inner()
        before, reachable = self.block(inner, 2) if c.chance(30) else ([], True)
        if not reachable:
            lines = before
        else:
            if kind == "return" and scope.loops:
                self.met("return out of a loop", None)
            lines = before + [self.result_statement(inner) if kind == "return" else self.met(kind, kind)]
        return [f"if {self.condition(scope)}:", *indent(lines)], True

    def result_statement(self, scope: Scope) -> str:
        if len(self.result) == 2 and self.result[0] in "svm":
            return f"return ({self.ending(scope, self.result[0])}, {self.ending(scope, self.result[1])})"
        return f"return {self.ending(scope, self.result)}"

    def ending(self, scope: Scope, kind: str) -> str:
        """A result that many names contribute to, nonlinearly; or a reference."""
        if kind in CONTAINERS:
            names = scope.named(kind)
            return self.met("container returned", self.choices.pick(names) if names else self.container(scope, kind))
        if kind != "s" and self.has("views") and self.choices.chance(45):
            return self.met("reference returned", self.reference(scope, kind) or self.fresh(kind))
        if kind not in ("s", "v", "m"):
            made, numbers = self.expression(scope, kind, 1), scope.named("s")
            return f"{factor(made)} * {numbers[-1]}" if numbers and self.choices.chance(50) else made
        names = [n for n, t in scope.types.items() if t in ("s", "v", "m", "p", "c", "n", "u", *CONTAINERS)][-6:]
        chosen = [self.converted(scope, n, kind) for n in names if self.choices.chance(75)]
        terms = [term for term in chosen if term]
        return " + ".join(terms) if terms else self.expression(scope, kind, 1)

    def converted(self, scope: Scope, name: str, kind: str) -> str:
        held = scope.types[name]
        if held in ("p", "c", "n", "u", *CONTAINERS):
            sums = {
                "[v]": "sum(np.sum(e * e) for e in {})",
                "[s]": "sum({})",
                "<v>": "np.sum({}[0] * {}[-1])",
                "{}": 'np.sum({}["p"] * {}["q"])',
                "()": "np.sum({}[0]) * {}[1]",
                "o": "np.sum({}.v * {}.s)",
                "t": "np.sum({}.v * {}.s)",
            }
            number = sums.get(held, "np.sum({} * {})").replace("{}", name) if kind == "s" else ""
            return number
        match held, kind:
            case one, other if one == other:
                return name
            case "v" | "m", "s":
                return f"np.sum({name} * {name})" if self.choices.chance(60) else f"np.sum({name})"
            case "s", _:
                return f"{name} * {self.atom(scope, kind)}"
            case "m", _:
                return f"{name}.reshape(4)"
            case _:
                return f"{name}.reshape(2, 2)"

    # --- compound statements -----------------------------------------------------------------------------------------
    def branch(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        lines = [self.met("branch", f"if {self.condition(scope)}:")]
        ends: list[Scope] = []
        for heading, chance, longest in (("", 100, 3), ("elif", 25, 2), ("else:", 55, 3)):
            if not c.chance(chance):
                if heading == "else:":
                    ends.append(scope.inner())
                continue
            if heading:
                lines.append(f"elif {self.condition(scope)}:" if heading == "elif" else heading)
            inner = scope.inner()
            body, reachable = self.block(inner, longest)
            lines += indent(body)
            if reachable:
                ends.append(inner)
        if not ends:
            return lines, False
        scope.join(*ends)
        return lines, True

    def body(self, scope: Scope, bound: dict[str, str], first: list[str], longest: int = 4) -> list[str]:
        """The body of a loop; afterwards the scope knows what it knew before (the loop may not run)."""
        inner = scope.inner()
        inner.loops += 1
        if inner.loops > 1:
            self.met("nested loops", None)
        inner.held = dict(scope.types) | scope.held
        inner.types.update(bound)
        # A target that hides an outer name of another kind: the outer name is not known in the loop or after it.
        for name, kind in bound.items():
            if scope.types.get(name, kind) != kind:
                del scope.types[name]
            inner.held[name] = kind
        lines, _ = self.block(inner, longest)
        return indent(first + lines)

    def loop(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        index = ("i", "j", "l", "o")[min(scope.loops, 3)]
        vectors, matrices = scope.named("v"), scope.named("m")
        certain = True
        kind = c.integer(0, 9)
        one, other = "e" + index, "d" + index
        if kind in (5, 6) and vectors:
            head, bound = f"for {one} in {c.pick(vectors)}:", {one: "s"}
        elif kind == 7 and vectors:
            head, bound = f"for {index}, {one} in enumerate({c.pick(vectors)}):", {index: "i", one: "s"}
        elif kind == 8 and vectors:
            head, bound = f"for {one}, {other} in zip({c.pick(vectors)}, {c.pick(vectors)}):", {one: "s", other: "s"}
        elif kind == 9 and matrices:
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
        self.met("loop over a vector" if "s" in bound.values() else "counted loop", None)
        first = []
        if "i" in bound.values() and c.chance(8):
            first = [self.met("loop index rebound", f"{index} = {index} + 1")]
        lines = [head, *self.body(scope, bound, first)]
        if certain and c.chance(70):
            scope.types.update(bound)
        lines += self.otherwise(scope)
        return lines, True

    def loop_over_rows(self, scope: Scope) -> tuple[list[str], bool]:
        """Rows are views."""
        matrices = scope.named("m")
        if not matrices or "row" in scope.held:
            return self.loop(scope)
        head = f"for row in {self.choices.pick(matrices)}:"
        if self.choices.chance(30):
            head = f"for row in {self.choices.pick(matrices)}.T:"
        first = [f"row[{self.choices.integer(0, 1)}] = {self.scalar(scope, 1)}"] if self.choices.chance(60) else []
        lines = [self.met("loop over rows", head), *self.body(scope, {"row": "p"}, first, 3)]
        scope.types.pop("row", None)
        return lines, True

    def while_loop(self, scope: Scope) -> tuple[list[str], bool]:
        c = self.choices
        self.counters += 1
        counter = f"count{self.counters}"
        limit = c.integer(0, 4)
        if c.chance(25):
            lines = [f"{counter} = 0", self.met("endless loop", "while True:")]
            first = [f"{counter} += 1", f"if {counter} > {limit}:", "    break"]
            lines += self.body(scope, {counter: "i"}, first)
            scope.types[counter] = "i"
            return lines, True
        extra = f" and ({self.condition(scope)})" if c.chance(40) else ""
        lines = [f"{counter} = 0", self.met("while loop", f"while {counter} < {limit}{extra}:")]
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
        # What held before still holds after, if the kinds of the names that were rebound are the same.
        if reachable:
            scope.types = {n: t for n, t in scope.types.items() if inner.types.get(n) == t}
        return [self.met("else of a loop", "else:"), *indent(body)]

    def protected(self, scope: Scope) -> tuple[list[str], bool]:
        """``try`` around statements that may raise what is caught."""
        c = self.choices
        inner = scope.inner()
        self.budget -= 1
        body, _ = self.block(inner, 2)
        if c.chance(50):
            body.append(f"if {self.condition(inner)}:")
            body.append("    raise ValueError")
        lines = [self.met("try", "try:"), *indent(body)]
        other = scope.inner()
        if c.chance(70):
            handler, _ = self.block(other, 2)
            lines += ["except ValueError:", *indent(handler)]
        else:
            handler, _ = self.block(other, 1)
            lines += ["except ValueError:", "    pass", self.met("finally", "finally:"), *indent(handler)]
        scope.types = {n: t for n, t in scope.types.items() if inner.types.get(n) == t and other.types.get(n) == t}
        return lines, True

    def in_a_context(self, scope: Scope) -> tuple[list[str], bool]:
        inner = scope.inner()
        body, reachable = self.block(inner, 3)
        lines = [self.met("with", 'with np.errstate(under="ignore"):'), *indent(body)]
        if reachable:
            scope.types, scope.guarded = inner.types, inner.guarded
        return lines, reachable
