"""Random statements: blocks of those that are written elsewhere, exits, branches, loops."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.assignments import (
    alias,
    assign,
    augmented,
    carried,
    define_under_a_flag,
    deleted,
    local_function,
    nothing_but_a_constant,
    pair,
    swap,
    use_under_a_flag,
)
from srcgrad.fuzz.containers import built, changed
from srcgrad.fuzz.expressions import atom, call, condition, container, expression, fresh, scalar
from srcgrad.fuzz.idioms import idioms
from srcgrad.fuzz.scope import CONTAINERS, Scope, factor, indent
from srcgrad.fuzz.stores import (
    aliased,
    augmented_name,
    called_then_stored,
    filled,
    number_or_vector,
    overlap,
    read_then_stored,
    store,
    tested_then_stored,
    writing_call,
)
from srcgrad.fuzz.views import reference
from srcgrad.fuzz.writer import Simple, Writer


def block(writer: Writer, scope: Scope, longest: int) -> tuple[list[str], bool]:
    """(lines, whether the end can be reached)."""
    lines: list[str] = []
    for _ in range(writer.choices.integer(1, longest)):
        if writer.budget <= 0 and lines:
            break
        made, reachable = statement(writer, scope)
        lines += made
        if not reachable:
            return lines, False
    return lines, True


def simple(writer: Writer) -> list[Simple]:
    """The simple statements, as often as they should come."""
    plain: list[Simple] = [assign, assign, assign, assign]
    plain += [carried, carried, augmented, swap, alias, pair]
    plain += [define_under_a_flag, use_under_a_flag, local_function, nothing_but_a_constant]
    if writer.has("stores"):
        plain = plain[3:] + [store] * 6 + [writing_call] * 2 + [overlap, augmented_name]
        plain += [read_then_stored, tested_then_stored] + [called_then_stored] * 2
        plain += [read_then_stored] * 2
        plain += [augmented_name, filled, number_or_vector, call_for_its_effect]
    if writer.has("views"):
        plain += [aliased] * 4
    if writer.has("containers"):
        plain += [built] * 3 + [changed] * 5
    plain += idioms(writer)
    if writer.has("control"):
        plain += [deleted]
    return plain


def statement(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    c = writer.choices
    writer.budget -= 1
    compound: list[Callable[[Writer, Scope], tuple[list[str], bool]]] = [branch, loop, while_loop]
    if writer.has("control"):
        compound += [branch, loop, protected, in_a_context]
    if writer.has("stores"):
        compound += [loop_over_rows]
    if scope.depth < 4 and writer.budget > 0 and c.chance(30):
        return c.pick(compound)(writer, scope)
    if c.chance(22 if scope.depth else 8):
        return leaving(writer, scope)
    return c.pick(simple(writer))(writer, scope), True


def call_for_its_effect(writer: Writer, scope: Scope) -> list[str]:
    """A callee is called and its result is not used."""
    if not writer.callables:
        return store(writer, scope)
    return [writer.met("call for its effect", call(writer, scope, writer.choices.pick(writer.callables), 2))]


def leaving(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    c = writer.choices
    kind = c.pick(["break", "continue", "return"] if scope.loops else ["return"])
    inner = scope.inner()
    before, reachable = block(writer, inner, 2) if c.chance(30) else ([], True)
    if not reachable:
        lines = before
    else:
        if kind == "return" and scope.loops:
            writer.met("return out of a loop", None)
        lines = before + [result_statement(writer, inner) if kind == "return" else writer.met(kind, kind)]
    return [f"if {condition(writer, scope)}:", *indent(lines)], True


def result_statement(writer: Writer, scope: Scope) -> str:
    if len(writer.result) == 2 and writer.result[0] in "svm":
        return f"return ({ending(writer, scope, writer.result[0])}, {ending(writer, scope, writer.result[1])})"
    return f"return {ending(writer, scope, writer.result)}"


def ending(writer: Writer, scope: Scope, kind: str) -> str:
    """A result that many names contribute to, nonlinearly; or a reference."""
    if kind in CONTAINERS:
        names = scope.named(kind)
        return writer.met("container returned", writer.choices.pick(names) if names else container(writer, scope, kind))
    if kind != "s" and writer.has("views") and writer.choices.chance(45):
        return writer.met("reference returned", reference(writer, scope, kind) or fresh(writer, kind))
    if kind not in ("s", "v", "m"):
        made, numbers = expression(writer, scope, kind, 1), scope.named("s")
        return f"{factor(made)} * {numbers[-1]}" if numbers and writer.choices.chance(50) else made
    names = [n for n, t in scope.types.items() if t in ("s", "v", "m", "p", "c", "n", "u", *CONTAINERS)][-6:]
    chosen = [converted(writer, scope, n, kind) for n in names if writer.choices.chance(75)]
    terms = [term for term in chosen if term]
    return " + ".join(terms) if terms else expression(writer, scope, kind, 1)


def converted(writer: Writer, scope: Scope, name: str, kind: str) -> str:
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
            return f"np.sum({name} * {name})" if writer.choices.chance(60) else f"np.sum({name})"
        case "s", _:
            return f"{name} * {atom(writer, scope, kind)}"
        case "m", _:
            return f"{name}.reshape(4)"
        case _:
            return f"{name}.reshape(2, 2)"


def branch(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    c = writer.choices
    lines = [writer.met("branch", f"if {condition(writer, scope)}:")]
    ends: list[Scope] = []
    for heading, chance, longest in (("", 100, 3), ("elif", 25, 2), ("else:", 55, 3)):
        if not c.chance(chance):
            if heading == "else:":
                ends.append(scope.inner())
            continue
        if heading:
            lines.append(f"elif {condition(writer, scope)}:" if heading == "elif" else heading)
        inner = scope.inner()
        body, reachable = block(writer, inner, longest)
        lines += indent(body)
        if reachable:
            ends.append(inner)
    if not ends:
        return lines, False
    scope.join(*ends)
    return lines, True


def loop_body(writer: Writer, scope: Scope, bound: dict[str, str], first: list[str], longest: int = 4) -> list[str]:
    """The body of a loop; afterwards the scope knows what it knew before (the loop may not run)."""
    inner = scope.inner()
    inner.loops += 1
    if inner.loops > 1:
        writer.met("nested loops", None)
    inner.held = dict(scope.types) | scope.held
    inner.types.update(bound)
    # A target that hides an outer name of another kind: the outer name is not known in the loop or after it.
    for name, kind in bound.items():
        if scope.types.get(name, kind) != kind:
            del scope.types[name]
        inner.held[name] = kind
    lines, _ = block(writer, inner, longest)
    return indent(first + lines)


def loop(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    c = writer.choices
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
    writer.met("loop over a vector" if "s" in bound.values() else "counted loop", None)
    first = []
    if "i" in bound.values() and c.chance(8):
        first = [writer.met("loop index rebound", f"{index} = {index} + 1")]
    lines = [head, *loop_body(writer, scope, bound, first)]
    if certain and c.chance(70):
        scope.types.update(bound)
    lines += otherwise(writer, scope)
    return lines, True


def loop_over_rows(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    """Rows are views."""
    matrices = scope.named("m")
    if not matrices or "row" in scope.held:
        return loop(writer, scope)
    head = f"for row in {writer.choices.pick(matrices)}:"
    if writer.choices.chance(30):
        head = f"for row in {writer.choices.pick(matrices)}.T:"
    first = [f"row[{writer.choices.integer(0, 1)}] = {scalar(writer, scope, 1)}"] if writer.choices.chance(60) else []
    lines = [writer.met("loop over rows", head), *loop_body(writer, scope, {"row": "p"}, first, 3)]
    scope.types.pop("row", None)
    return lines, True


def while_loop(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    c = writer.choices
    writer.counters += 1
    counter = f"count{writer.counters}"
    limit = c.integer(0, 4)
    if c.chance(25):
        lines = [f"{counter} = 0", writer.met("endless loop", "while True:")]
        first = [f"{counter} += 1", f"if {counter} > {limit}:", "    break"]
        lines += loop_body(writer, scope, {counter: "i"}, first)
        scope.types[counter] = "i"
        return lines, True
    extra = f" and ({condition(writer, scope)})" if c.chance(40) else ""
    lines = [f"{counter} = 0", writer.met("while loop", f"while {counter} < {limit}{extra}:")]
    lines += loop_body(writer, scope, {counter: "i"}, [f"{counter} += 1"])
    scope.types[counter] = "i"
    lines += otherwise(writer, scope)
    return lines, True


def otherwise(writer: Writer, scope: Scope) -> list[str]:
    """An ``else`` of a loop, now and then."""
    if not writer.choices.chance(12):
        return []
    inner = scope.inner()
    body, reachable = block(writer, inner, 2)
    # What held before still holds after, if the kinds of the names that were rebound are the same.
    if reachable:
        scope.types = {n: t for n, t in scope.types.items() if inner.types.get(n) == t}
    return [writer.met("else of a loop", "else:"), *indent(body)]


def protected(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    """``try`` around statements that may raise what is caught."""
    c = writer.choices
    inner = scope.inner()
    writer.budget -= 1
    body, _ = block(writer, inner, 2)
    if c.chance(50):
        body.append(f"if {condition(writer, inner)}:")
        body.append("    raise ValueError")
    lines = [writer.met("try", "try:"), *indent(body)]
    other = scope.inner()
    if c.chance(70):
        handler, _ = block(writer, other, 2)
        lines += ["except ValueError:", *indent(handler)]
    else:
        handler, _ = block(writer, other, 1)
        lines += ["except ValueError:", "    pass", writer.met("finally", "finally:"), *indent(handler)]
    scope.types = {n: t for n, t in scope.types.items() if inner.types.get(n) == t and other.types.get(n) == t}
    return lines, True


def in_a_context(writer: Writer, scope: Scope) -> tuple[list[str], bool]:
    inner = scope.inner()
    body, reachable = block(writer, inner, 3)
    lines = [writer.met("with", 'with np.errstate(under="ignore"):'), *indent(body)]
    if reachable:
        scope.types, scope.guarded = inner.types, inner.guarded
    return lines, reachable
