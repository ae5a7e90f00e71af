"""Statements that bind names: assignments, swaps, aliases, pairs, local functions, names under a flag."""

from __future__ import annotations

from srcgrad.fuzz.expressions import CONSTANTS, call, condition, expression, scalar
from srcgrad.fuzz.scope import PARAMETERS, Scope, factor, indent
from srcgrad.fuzz.writer import Writer

NAMES = ("s", "t", "u", "w", "z", "p", "q", "k", "n")


def target(writer: Writer, scope: Scope, kind: str) -> str:
    free = [n for n in NAMES if scope.held.get(n, kind) == kind and (not scope.loops or n not in scope.held)]
    same = [n for n, t in scope.types.items() if t == kind and n not in PARAMETERS] + free
    if writer.choices.chance(25):
        same = [n for n, t in scope.types.items() if t == kind] or same
    return writer.choices.pick(same) if same else "s_new"


def value(writer: Writer, scope: Scope, kind: str, depth: int = 2) -> str:
    made = expression(writer, scope, kind, depth)
    if scope.loops and writer.choices.chance(60):
        return f"np.{writer.choices.pick(('sin', 'tanh'))}({made})"
    return made


def assign(writer: Writer, scope: Scope) -> list[str]:
    kinds = ("s", "s", "v", "s", "m", "v") + (("p", "v", "c") if writer.has("views") else ())
    kind = writer.choices.pick(kinds)
    made = value(writer, scope, kind, 3 if writer.choices.chance(20) else 2)
    name = target(writer, scope, kind)
    if name in scope.types:
        writer.met("name rebound", None)
    scope.bind(name, kind)
    return [f"{name} = {made}"]


def carried(writer: Writer, scope: Scope) -> list[str]:
    """A name is rebound from its own value."""
    types = [(n, t) for n, t in scope.types.items() if t in ("s", "v", "m")]
    if not types:
        return assign(writer, scope)
    name, kind = writer.choices.pick(types)
    other = expression(writer, scope, kind, 1)
    forms = (
        f"{name} * {factor(other)}",
        f"{name} + {other}",
        f"np.tanh({name} + {other})",
        f"0.8 * {name} - {factor(other)}",
    )
    made = writer.choices.pick(forms)
    if scope.loops > 1 or (scope.loops and writer.choices.chance(40)):
        made = f"np.sin({made})"
    scope.bind(name, kind)
    return [writer.met("name rebound from itself", f"{name} = {made}")]


def augmented(writer: Writer, scope: Scope) -> list[str]:
    scalars = scope.named("s")
    if not scalars:
        return assign(writer, scope)
    operator = writer.choices.pick(("+=", "-=", "*="))
    return [writer.met("augmented number", f"{writer.choices.pick(scalars)} {operator} {value(writer, scope, 's', 1)}")]


def swap(writer: Writer, scope: Scope) -> list[str]:
    for kind in ("s", "v", "m"):
        names = scope.named(kind)
        if len(names) >= 2 and writer.choices.chance(60):
            one = writer.choices.pick(names)
            other = writer.choices.pick([n for n in names if n != one])
            right = f"{other}, {one}" if writer.choices.chance(50) else f"{other}, {value(writer, scope, kind, 1)}"
            return [writer.met("names swapped", f"{one}, {other} = {right}")]
    return carried(writer, scope)


def alias(writer: Writer, scope: Scope) -> list[str]:
    kind = writer.choices.pick(("s", "v", "m"))
    names = scope.named(kind)
    if not names:
        return assign(writer, scope)
    source, name = writer.choices.pick(names), target(writer, scope, kind)
    scope.bind(name, kind)
    if writer.choices.chance(20):
        other = target(writer, scope, kind)
        scope.types[other] = kind
        return [writer.met("chained assignment", f"{name} = {other} = {value(writer, scope, kind, 1)}")]
    return [writer.met("alias", f"{name} = {source}")]


def pair(writer: Writer, scope: Scope) -> list[str]:
    pairs = [callee for callee in writer.callables if len(callee.result) == 2 and callee.result[0] in "svm"]
    if not pairs:
        return assign(writer, scope)
    signature = writer.choices.pick(pairs)
    made = call(writer, scope, signature, 2)
    first = target(writer, scope, signature.result[0])
    second = target(writer, scope, signature.result[1])
    if first == second:
        return [f"_, {second} = {made}"] if scope.types.get(second) == signature.result[1] else assign(writer, scope)
    scope.bind(first, signature.result[0])
    scope.bind(second, signature.result[1])
    return [writer.met("pair returned", f"{first}, {second} = {made}")]


def define_under_a_flag(writer: Writer, scope: Scope) -> list[str]:
    writer.flags += 1
    flag, name = f"flag{writer.flags}", f"only{writer.flags}"
    kind = writer.choices.pick(("s", "v"))
    lines = [f"{flag} = {condition(writer, scope)}", f"if {flag}:", f"    {name} = {value(writer, scope, kind)}"]
    scope.types[flag] = "flag"
    scope.guarded.append((flag, name, kind))
    return lines


def use_under_a_flag(writer: Writer, scope: Scope) -> list[str]:
    usable = [g for g in scope.guarded if scope.named(g[2])]
    if not usable:
        return assign(writer, scope)
    flag, only, kind = writer.choices.pick(usable)
    name = writer.choices.pick(scope.named(kind))
    return [f"if {flag}:", writer.met("bound under a flag", f"    {name} = np.sin({name} * {only})")]


def local_function(writer: Writer, scope: Scope) -> list[str]:
    if scope.loops or scope.depth:
        return carried(writer, scope)
    writer.functions += 1
    name = f"fun{writer.functions}"
    inner = scope.inner()
    if writer.has("closures") and writer.choices.chance(65):
        return closure_definition(writer, scope, inner, name)
    inner.types = {n: t for n, t in scope.types.items() if t in ("s", "v")}
    inner.types["r"] = "s"
    made = scalar(writer, inner, 2)
    scope.types[name] = "f"
    return [writer.met("lambda", f"{name} = lambda r: np.sin(r * {factor(made)})")]


def closure_definition(writer: Writer, scope: Scope, inner: Scope, name: str) -> list[str]:
    """A local function that reads its surroundings, stores into them, or has statements of its own."""
    c = writer.choices
    inner.types = {n: t for n, t in scope.types.items() if t not in ("f", "flag", "i")}
    inner.types["r"] = "s"
    arrays = inner.named("v")
    body: list[str] = []
    if arrays and c.chance(50):
        body.append(writer.met("closure that stores", f"{c.pick(arrays)}[{c.integer(0, 3)}] = np.sin(r)"))
    elif c.chance(50):
        body += [f"g = {scalar(writer, inner, 1)}", f"if g > {c.pick(CONSTANTS)}:", "    return np.sin(g * r)"]
    made = scalar(writer, inner, 2)
    scope.types[name] = "f"
    return [writer.met("local function", f"def {name}(r):"), *indent([*body, f"return np.sin(r * {factor(made)})"])]


def nothing_but_a_constant(writer: Writer, scope: Scope) -> list[str]:
    name = target(writer, scope, "s")
    scope.types[name] = "s"
    return [f"{name} = {writer.choices.pick(CONSTANTS)}"]


def deleted(writer: Writer, scope: Scope) -> list[str]:
    names = [n for n in scope.types if n in NAMES and n not in scope.held]
    if not names or scope.depth:
        return assign(writer, scope)
    name = writer.choices.pick(names)
    del scope.types[name]
    scope.guarded = [g for g in scope.guarded if g[0] != name]
    scope.types = {n: t for n, t in scope.types.items() if t != "f"}  # a closure may read it
    return [writer.met("del of a name", f"del {name}")]
