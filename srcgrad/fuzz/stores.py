"""Statements that change memory: stores by every kind of index, augmented ones, NumPy's functions that write."""

from __future__ import annotations

import re

from srcgrad.fuzz.assignments import assign, target
from srcgrad.fuzz.expressions import argument, atom, call, condition, expression, scalar
from srcgrad.fuzz.scope import ARRAYS, Scope, Signature, factor, indent
from srcgrad.fuzz.views import reference
from srcgrad.fuzz.writer import Writer

#: Indices into an array of a kind: (construct, index, kind of what fits there besides a number).
INDICES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "v": (
        ("integer store", "0", "s"),
        ("integer store", "-1", "s"),
        ("integer store", "2", "s"),
        ("slice store", "1:3", "p"),
        ("slice store", ":2", "p"),
        ("step store", "::2", "p"),
        ("negative step store", "::-2", "p"),
        ("slice store", ":", "v"),
        ("negative step store", "::-1", "v"),
        ("ellipsis store", "...", "v"),
        ("fancy store", "[0, 2]", "p"),
        ("fancy store", "np.array([3, 1])", "p"),
        ("duplicate store", "[1, 1]", "p"),
        ("duplicate store", "(2, 2),", "p"),
        ("duplicate store", "[0, 2, 0, 2]", "v"),
        ("newaxis store", "None, 1:3", "p"),
    ),
    "m": (
        ("integer store", "0, 1", "s"),
        ("integer store", "1, -1", "s"),
        ("row store", "1", "p"),
        ("column store", ":, 0", "p"),
        ("slice store", ":", "m"),
        ("slice store", ":", "p"),
        ("ellipsis store", "...", "m"),
        ("negative step store", "::-1", "m"),
        ("fancy store", "[0, 1], [1, 0]", "p"),
        ("fancy store", ":, [1, 0]", "m"),
        ("duplicate store", "[0, 0], [1, 1]", "p"),
        ("duplicate store", "(0, 0), (1, 1)", "p"),
        ("duplicate store", "[1, 1]", "m"),
        ("row store", "0, ::-1", "p"),
        ("ellipsis store", "..., 1", "p"),
    ),
    "p": (
        ("integer store", "0", "s"),
        ("integer store", "-1", "s"),
        ("slice store", ":", "p"),
        ("negative step store", "::-1", "p"),
        ("fancy store", "[1, 0]", "p"),
        ("duplicate store", "[1, 1]", "p"),
        ("ellipsis store", "...", "p"),
    ),
    "c": (
        ("integer store", "0, 1, 0", "s"),
        ("row store", "1", "m"),
        ("row store", "0, 1", "p"),
        ("column store", ":, 0", "m"),
        ("ellipsis store", "..., 1", "m"),
        ("slice store", ":", "c"),
        ("ellipsis store", "...", "p"),
        ("fancy store", "[1, 0]", "c"),
        ("fancy store", "0, [1, 0]", "m"),
    ),
    "n": (("0-d store", "...", "s"), ("0-d store", "()", "s"), ("0-d store", "...", "n")),
}
#: Stores of a part of an array into another part of it: texts in the array's name.
OVERLAPS: dict[str, tuple[str, ...]] = {
    "v": ("{0}[1:3] = {0}[0:2]", "{0}[1:] = {0}[:-1]", "{0}[:2] = {0}[1:3] * {0}[2:]", "{0}[::-1] = {0}",
          "{0}[1:] += {0}[:-1]", "{0}[:3] *= {0}[1:]", "{0}[[0, 1]] = {0}[[1, 0]]", "{0}[:] = np.cumsum({0})",
          "{0}[0], {0}[1] = {0}[1], {0}[0]"),
    "m": ("{0}[:] = {0}.T", "{0}[0] = {0}[1]", "{0}[0] += {0}[:, 1]", "{0}[:, 1] = {0}[0]", "{0}[::-1] = {0}",
          "{0}[...] += {0}.T"),
    "p": ("{0}[::-1] = {0}", "{0}[0] = {0}[1]", "{0}[:1] += {0}[1:]"),
    "c": ("{0}[0] = {0}[1]", "{0}[:] = {0}[::-1]", "{0}[...] *= {0}.T"),
    "n": ("{0}[...] = {0} * {0}",),
}  # fmt: skip
#: Functions that write: (construct, text in the array {0}, a value of its kind {1}, a number {2}).
WRITERS: tuple[tuple[str, str], ...] = (
    ("out=", "np.sin({1}, out={0})"),
    ("out=", "np.add({0}, {1}, out={0})"),
    ("out=", "np.multiply({1}, {2}, out={0})"),
    ("out= and where=", "np.sin({1}, out={0}, where={0} > {2})"),
    ("copyto", "np.copyto({0}, {1})"),
    ("copyto where", "np.copyto({0}, {1}, where={0} < {2})"),
    ("fill", "{0}.fill({2})"),
    ("putmask", "np.putmask({0}, {0} > {2}, {1})"),
    ("masked store", "{0}[{0} > {2}] = {2}"),
    ("masked store", "{0}[{0} < 0.2] *= {2}"),
    ("masked store", "{0}[{0} > 0.1] = {1}[{0} > 0.1]"),
)
VECTOR_WRITERS: tuple[tuple[str, str], ...] = (
    ("sort in place", "{0}.sort()"),
    ("put", "np.put({0}, [0, 2], {2})"),
    ("put", "{0}.put([1, 3], [{2}, 0.5])"),
    ("place", "np.place({0}, {0} > 0.1, [{2}, 0.3])"),
    ("add.at", "np.add.at({0}, [0, 0, 1], {2})"),
    ("add.at", "np.subtract.at({0}, [3, 1, 3, 0], {1})"),
    ("multiply.at", "np.multiply.at({0}, [0, 2], {2})"),
    ("partition in place", "{0}.partition(1)"),
    ("cumsum out=", "np.cumsum({1}, out={0})"),
)
MATRIX_WRITERS: tuple[tuple[str, str], ...] = (
    ("fill_diagonal", "np.fill_diagonal({0}, {2})"),
    ("matmul out=", "np.matmul({1}, {1}, out={0})"),
    ("sort in place", "{0}.sort(axis=0)"),
    ("add.at", "np.add.at({0}, ([0, 0, 1], [1, 1, 0]), {2})"),
)


def tame(writer: Writer, scope: Scope, text: str) -> str:
    """Inside of loops values are bounded most of the time."""
    if scope.loops and writer.choices.chance(70):
        return f"np.{writer.choices.pick(('sin', 'tanh'))}({text})"
    return text


def stored_into(writer: Writer, scope: Scope) -> tuple[str, str] | None:
    """(place, kind) of an array that exists: a name mostly, else a view, an item or a field."""
    c = writer.choices
    kinds = [kind for kind in ARRAYS if scope.named(kind)] or ["v"]
    kind = c.pick(kinds + ["v"] * 2)
    names = scope.named(kind)
    if names and c.chance(65):
        place: str | None = c.pick(names[-3:])
    else:
        place = reference(writer, scope, kind)
    if place is None or place not in scope.types and not keeps(place):
        return None
    return place, kind


def keeps(place: str) -> bool:
    """Whether a store through this expression is allowed and seen (not into a read-only or a fresh array)."""
    return "diag" not in place and not place.startswith("np.ones")


def value_for(writer: Writer, scope: Scope, kind: str) -> str:
    """What is stored where ``kind`` fits; a number fits anywhere."""
    c = writer.choices
    if kind == "s" or c.chance(25):
        return tame(writer, scope, scalar(writer, scope, 1))
    return tame(writer, scope, expression(writer, scope, kind, 1))


def store(writer: Writer, scope: Scope) -> list[str]:
    c = writer.choices
    found = stored_into(writer, scope)
    if found is None:
        return assign(writer, scope)
    place, kind = found
    if place not in scope.types:
        writer.met("store through an expression", None)
    construct, index, fits = c.pick(INDICES[kind])
    integers = scope.named("i")
    if kind in "vp" and integers and c.chance(35):
        size = 4 if kind == "v" else 2
        index, fits, construct = f"{c.pick(integers)} % {size}", "s", "loop index store"
    if c.chance(35):
        return [augmented_store(writer, scope, f"{place}[{index}]", fits)]
    return [writer.met(construct, f"{place}[{index}] = {value_for(writer, scope, fits)}")]


def augmented_store(writer: Writer, scope: Scope, place: str, fits: str) -> str:
    c = writer.choices
    operator = c.pick(("+=", "-=", "*=", "+=", "-=", "*=", "/=", "**="))
    writer.met(f"augmented {operator}", None)
    if operator == "**=":
        return f"{place} **= 2"
    if operator == "/=":
        return f"{place} /= 2.0 + np.sin({scalar(writer, scope, 1)})"
    value = value_for(writer, scope, fits)
    if operator == "*=" and scope.loops:
        value = f"np.cos({value})"
    return f"{place} {operator} {value}"


def overlap(writer: Writer, scope: Scope) -> list[str]:
    found = stored_into(writer, scope)
    if found is None:
        return assign(writer, scope)
    place, kind = found
    return [writer.met("overlapping store", writer.choices.pick(OVERLAPS[kind]).format(place))]


def writing_call(writer: Writer, scope: Scope) -> list[str]:
    """A call that writes into an array."""
    found = stored_into(writer, scope)
    if found is None or found[1] == "n":
        return store(writer, scope)
    place, kind = found
    forms = WRITERS + (VECTOR_WRITERS if kind == "v" else MATRIX_WRITERS if kind == "m" else ())
    construct, text = writer.choices.pick(forms)
    value = factor(tame(writer, scope, expression(writer, scope, kind, 1)))
    return [writer.met(construct, text.format(place, value, scalar(writer, scope, 0)))]


def augmented_name(writer: Writer, scope: Scope) -> list[str]:
    """``y += e`` on an array that other names may hold, against ``y = y + e``."""
    c = writer.choices
    kinds = [kind for kind in (*ARRAYS, "u") if scope.named(kind)]
    if not kinds:
        return assign(writer, scope)
    kind = c.pick(kinds)
    name = c.pick(scope.named(kind)[-3:])
    fits = "s" if kind in "nu" else kind
    if kind != "n" and c.chance(25):
        added = f"{name} + {value_for(writer, scope, fits)}"
        return [writer.met("y = y + e", f"{name} = np.sin({added})" if scope.loops else f"{name} = {added}")]
    writer.met(f"augmented name of kind {kind}", None)
    if kind == "m" and c.chance(10):
        return [writer.met("augmented @=", f"{name} @= {expression(writer, scope, 'm', 1)}")]
    return [augmented_store(writer, scope, name, fits)]


def aliased(writer: Writer, scope: Scope) -> list[str]:
    """A second name for memory that exists."""
    c = writer.choices
    kind = c.pick(ARRAYS[:4] + ("v", "p", "v", "n"))
    names = scope.named(kind)
    source = c.pick(names[-3:]) if names and c.chance(35) else reference(writer, scope, kind)
    if source is None:
        return assign(writer, scope)
    name = target(writer, scope, kind)
    writer.met("alias" if source in scope.types else "named view", None)
    others = scope.named(kind)
    if c.chance(12) and others:
        source = writer.met("alias chosen", f"{source} if {condition(writer, scope)} else {c.pick(others)}")
    scope.bind(name, kind)
    lines = [f"{name} = {source}"]
    if c.chance(45) and keeps(source):  # what one name stores the other sees
        place = name if c.chance(60) or source not in scope.types else source
        construct, index, fits = c.pick(INDICES[kind])
        writer.met("store right after an alias", None)
        lines.append(writer.met(construct, f"{place}[{index}] = {value_for(writer, scope, fits)}"))
    return lines


def filled(writer: Writer, scope: Scope) -> list[str]:
    """An array made of zeros and filled in a loop."""
    c = writer.choices
    name = target(writer, scope, "v")
    fresh = c.pick(("np.zeros(4)", "np.empty(4)", "np.ones(4)", "np.full(4, 0.3)"))
    inner = scope.inner()
    inner.bind("j", "i")
    made = scalar(writer, inner, 1)
    if re.search(rf"\b{name}\b", made):  # it reads what it fills: no memory that nobody has written
        fresh = fresh.replace("empty", "zeros")
    lines = [f"{name} = {fresh}"]
    if "empty" in fresh or c.chance(50):
        lines += ["for j in range(4):", f"    {name}[j] = np.sin({made})"]
    else:
        lines += [f"{name}[0] = {scalar(writer, scope, 1)}", "for j in range(3):",
                  f"    {name}[j + 1] = np.sin({name}[j] + {made})"]  # fmt: skip
    writer.met("filled in a loop", None)
    scope.bind(name, "v")
    if scope.types.get("j", "i") != "i":
        del scope.types["j"]
    return lines


def read_then_stored(writer: Writer, scope: Scope) -> list[str]:
    """What an array holds is used nonlinearly, then changed: by a store, or by a callee that may store."""
    c = writer.choices
    names = scope.named("v", "m")
    if not names:
        return assign(writer, scope)
    name = c.pick(names[-3:])
    kind = scope.types[name]
    total = target(writer, scope, "s")
    lines = [f"{total} = np.sin(np.sum({name} * {name}))" if scope.loops else f"{total} = np.sum(np.sin({name}))"]
    scope.bind(total, "s")
    callees = [callee for callee in writer.callables if kind in callee.parameters and not callee.counted]
    if callees and c.chance(75):
        storing = [callee for callee in callees if callee.parameters == ("v", "s")]
        callee = c.pick(storing or callees)
        given = [name if k == kind else argument(writer, scope, k, 1) for k in callee.parameters]
        return [*lines, writer.met("read, then given to a callee", f"{callee.name}({', '.join(given)})")]
    _, index, fits = c.pick(INDICES[kind])
    return [*lines, writer.met("read, then stored into", f"{name}[{index}] = {value_for(writer, scope, fits)}")]


def called_then_stored(writer: Writer, scope: Scope) -> list[str]:
    """What a callee returns, which may be a part of what it was given, is stored into."""
    c = writer.choices
    callees = [callee for callee in writer.callables if callee.result in ("v", "m", "p") and not callee.counted]
    if not callees:
        return read_then_stored(writer, scope)
    callee = c.pick(callees)
    made = call(writer, scope, callee, 2)
    kind = callee.result
    given = [n for n in scope.named(kind) if n in made and scope.held.get(n, kind) == kind]
    name = c.pick(given) if given and c.chance(30) else target(writer, scope, callee.result)
    scope.bind(name, callee.result)
    _, index, fits = c.pick(INDICES[callee.result])
    store = f"{name}[{index}] = {value_for(writer, scope, fits)}"
    return [f"{name} = {made}", writer.met("store into what a callee returned", store)]


def small_function(writer: Writer, name: str) -> tuple[str, Signature]:
    """A callee of one or two lines: it stores and its result tells nothing, or it returns what it was given."""
    c = writer.choices
    if c.chance(65):
        index = c.pick(("0", "-1", "1:3", "::2", ":"))
        operator = c.pick(("=", "=", "=", "+=", "*="))
        writer.met("callee that only stores", None)
        lines = [f"r0[{index}] {operator} {c.pick(('c1', '0.5', 'np.sin(c1)', 'c1 * r0[1]'))}",
                 f"return {c.pick(('c1', 'c1 * 2', '0.5', 'np.cos(c1)'))}"]  # fmt: skip
        return f"def {name}(r0, c1):\n" + "\n".join(indent(lines)) + "\n", Signature(name, ("v", "s"), "s")
    made = c.pick(("r0", "r0[::-1]", "r0[:]", "r0 + 0.5", "r0 - 1", "np.asarray(r0)", "r0.reshape(4)", "+r0"))
    writer.met("callee that returns what it was given", None)
    lines = [f"r0[{c.integer(0, 3)}] = 0.3"] if c.chance(25) else []
    return f"def {name}(r0):\n" + "\n".join(indent([*lines, f"return {made}"])) + "\n", Signature(name, ("v",), "v")


def tested_then_stored(writer: Writer, scope: Scope) -> list[str]:
    """A test of what an array holds is used after a store."""
    c = writer.choices
    names = scope.named("v")
    if not names:
        return assign(writer, scope)
    name, place = c.pick(names[-3:]), c.integer(0, 3)
    total = target(writer, scope, "s")
    first = f"{total} = {scalar(writer, scope, 1)}"
    scope.bind(total, "s")
    if c.chance(50):  # in the branch itself
        return [
            first,
            f"if {name}[{place}] {c.pick('<>')} {c.pick(('0.1', '-0.3', '0.5'))}:",
            f"    {total} = np.sin({total} * {name}[{c.integer(0, 3)}])",
            writer.met("stored into where it was tested", f"    {name}[{place}] = 0.9 * np.cos({total})"),
        ]
    return [
        first,
        f"late = {name}[{place}] > {c.pick(('0.1', '-0.3', '0.5'))}",
        f"{name}[{place}] = {tame(writer, scope, scalar(writer, scope, 1))}",
        "if late:",
        writer.met("tested, then stored into", f"    {total} = np.sin({total} * {name}[{place}])"),
    ]


def number_or_vector(writer: Writer, scope: Scope) -> list[str]:
    """A name that holds a number or a vector."""
    name = target(writer, scope, "u")
    scope.bind(name, "u")
    writer.met("a number or a vector", None)
    return [f"{name} = {atom(writer, scope, 's')} if {condition(writer, scope)} else {atom(writer, scope, 'v')}"]
