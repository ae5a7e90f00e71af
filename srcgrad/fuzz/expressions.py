"""Random expressions over the names that are bound at a point of a function.

Every production says what it is by ``self.met(...)``: that is what the coverage of a hunt counts.
"""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.scope import Scope, Signature, factor
from srcgrad.fuzz.views import reference
from srcgrad.fuzz.writer import Writer

CONSTANTS = ("0.5", "0.3", "1.2", "-0.7", "0.9", "2", "-0.4", "1.5")

#: What is computed from a whole container: (construct, kind of the container, text with a value {1} of the same kind).
COMPUTED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "s": (
        ("sum of a list", "[s]", "sum({})"),
        ("array of a list", "[s]", "np.sum(np.sin(np.array({})))"),
        ("largest of a list", "[s]", "max({})"),
        ("generator expression", "[s]", "sum(e * e for e in {})"),
        ("generator expression", "[v]", "sum(np.sum(e * e) for e in {})"),
        ("method", "o", "{}.total()"),
        ("method that stores", "o", "{}.step({1})"),
        ("property", "o", "{}.norm"),
        ("object called", "o", "{}({1})"),
    ),
    "v": (
        ("sum of a list", "[v]", "sum({})"),
        ("stack of a list", "[v]", "np.stack({}).sum(axis=0)"),
        ("stack of a list", "<v>", "np.stack({}).sum(axis=0)"),
        ("method that returns a field", "o", "{}.shift().v"),
        ("operator of a class", "o", "({} + {1}).v"),
    ),
}
#: The first letter of a parameter of a callee, by its kind.
LETTERS = {"s": "c", "v": "r", "m": "h", "p": "w", "c": "k", "n": "z", "[v]": "l", "[s]": "e", "<v>": "q", "{}": "d",
           "()": "t", "o": "o", "t": "n"}  # fmt: skip


def expression(writer: Writer, scope: Scope, kind: str, depth: int = 2) -> str:
    writers = {"s": scalar, "v": vector, "m": matrix, "p": short, "c": cube, "n": dot}
    return writers[kind](writer, scope, depth)


def atom(writer: Writer, scope: Scope, kind: str) -> str:
    """A name, or a part of something, that has the kind; what it names may be shared."""
    if writer.has("views") and writer.choices.chance(12):
        return reference(writer, scope, kind) or fresh(writer, kind)
    names = scope.named(kind)
    if not names:
        return fresh(writer, kind)
    if writer.choices.chance(50):  # what was bound last
        return writer.choices.pick(names[-2:])
    return writer.choices.pick(names)


def fresh(writer: Writer, kind: str) -> str:
    if kind == "s":
        return writer.choices.pick(CONSTANTS)
    made = {"v": "np.ones(4)", "m": "np.eye(2)", "p": "np.ones(2)", "c": "np.ones((2, 2, 2))", "n": "np.array(0.5)"}
    return made[kind]


def scalar(writer: Writer, scope: Scope, depth: int) -> str:
    c = writer.choices
    if depth <= 0:
        return atom(writer, scope, "s") if c.chance(85) else scalar_leaf(writer, scope)
    s: Callable[[], str] = lambda: scalar(writer, scope, depth - 1)
    v: Callable[[], str] = lambda: vector(writer, scope, depth - 2)
    m: Callable[[], str] = lambda: matrix(writer, scope, depth - 2)
    forms: list[Callable[[], str]] = [
        lambda: atom(writer, scope, "s"),
        lambda: scalar_leaf(writer, scope),
        lambda: scalar_leaf(writer, scope),
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
        lambda: writer.met("conditional expression", f"({s()} if {condition(writer, scope)} else {s()})"),
        lambda: f"{factor(s())} ** 2",
        lambda: f"np.sum({v()})",
        lambda: f"np.sum({m()})",
        lambda: writer.met("maximum", f"np.max({v()})"),
        lambda: f"{factor(v())} @ {factor(v())}",
        lambda: f"abs({s()})",
        lambda: writer.met("smaller number", f"min({s()}, {s()})"),
        lambda: f"{atom(writer, scope, 'v')}[1:3].sum()",
        lambda: called(writer, scope, "s", depth) or s(),
        lambda: closure(writer, scope, s()) or s(),
    ]
    if scope.named("n", "p", "c", "u") or writer.has("views"):
        forms += [
            lambda: f"np.sum({short(writer, scope, depth - 2)})",
            lambda: f"np.sum({factor(cube(writer, scope, 0))} ** 2)",
            lambda: f"np.sum({writer.choices.pick(scope.named('u') or ['0.5'])})",
            lambda: f"{dot(writer, scope, 0)}.item()" if c.chance(10) else f"np.sin({dot(writer, scope, 0)})[()]",
        ]
    forms += [lambda: from_container(writer, scope, "s") or s()] * 2
    return c.pick(forms)()


def scalar_leaf(writer: Writer, scope: Scope) -> str:
    c = writer.choices
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


def vector(writer: Writer, scope: Scope, depth: int) -> str:
    c = writer.choices
    if depth <= 0:
        return atom(writer, scope, "v")
    s: Callable[[], str] = lambda: scalar(writer, scope, depth - 1)
    v: Callable[[], str] = lambda: vector(writer, scope, depth - 1)
    m: Callable[[], str] = lambda: matrix(writer, scope, depth - 1)
    forms: list[Callable[[], str]] = [
        lambda: atom(writer, scope, "v"),
        lambda: f"np.sin({v()})",
        lambda: f"{factor(s())} * {factor(v())}",
        lambda: f"{v()} + {v()}",
        lambda: f"{factor(v())} * {factor(v())}",
        lambda: f"{v()} - {factor(s())}",
        lambda: f"np.tanh({v()})",
        lambda: f"{atom(writer, scope, 'v')}[::-1]",
        lambda: writer.met("where", f"np.where({v()} > {s()}, {v()}, {v()})"),
        lambda: f"np.concatenate([{atom(writer, scope, 'v')}[:2], {atom(writer, scope, 'v')}[2:]])",
        lambda: f"np.array([{s()}, {s()}, {s()}, {s()}])",
        lambda: writer.met("duplicate gather", f"{atom(writer, scope, 'v')}[[0, 0, 1, 3]]"),
        lambda: f"{factor(m())}.reshape(4)",
        lambda: writer.met("maximum", f"np.maximum({v()}, {v()})"),
        lambda: f"np.cumsum({v()})",
        lambda: "np.zeros(4)",
        lambda: f"np.repeat({atom(writer, scope, 'm')} @ {atom(writer, scope, 'v')}[1:3], 2)",
        lambda: called(writer, scope, "v", depth) or v(),
    ]
    if writer.has("stores"):
        forms += [
            lambda: writer.met("copy", f"{factor(v())}.copy()"),
            lambda: writer.met("zeros_like", f"np.zeros_like({atom(writer, scope, 'v')})"),
            lambda: writer.met("copy", f"np.array({atom(writer, scope, 'v')})"),
            lambda: writer.met("flatten", f"{atom(writer, scope, 'm')}.flatten()"),
            lambda: writer.met("sorted copy", f"np.sort({v()})"),
            lambda: from_container(writer, scope, "v") or v(),
            lambda: from_container(writer, scope, "v") or v(),
        ]
    return c.pick(forms)()


def matrix(writer: Writer, scope: Scope, depth: int) -> str:
    c = writer.choices
    if depth <= 0:
        return atom(writer, scope, "m")
    s: Callable[[], str] = lambda: scalar(writer, scope, depth - 1)
    v: Callable[[], str] = lambda: vector(writer, scope, depth - 1)
    m: Callable[[], str] = lambda: matrix(writer, scope, depth - 1)
    forms: list[Callable[[], str]] = [
        lambda: atom(writer, scope, "m"),
        lambda: f"np.sin({m()})",
        lambda: f"{factor(s())} * {factor(m())}",
        lambda: f"{m()} + {m()}",
        lambda: f"0.7 * {factor(m())} @ {factor(m())}",
        lambda: f"{atom(writer, scope, 'm')}.T",
        lambda: f"{factor(v())}.reshape(2, 2)",
        lambda: f"np.outer({atom(writer, scope, 'v')}[:2], {atom(writer, scope, 'v')}[2:])",
        lambda: f"{m()} - {atom(writer, scope, 'v')}[:2]",
        lambda: f"np.array([[{s()}, {s()}], [{s()}, {s()}]])",
        lambda: called(writer, scope, "m", depth) or m(),
    ]
    if writer.has("stores"):
        forms += [
            lambda: "np.zeros((2, 2))",
            lambda: writer.met("copy", f"{factor(m())}.copy()"),
            lambda: writer.met("stack", f"np.stack([{atom(writer, scope, 'p')}, {short(writer, scope, depth - 1)}])"),
            lambda: writer.met("transposed product", f"{atom(writer, scope, 'm')} * {atom(writer, scope, 'm')}.T"),
        ]
    return c.pick(forms)()


def short(writer: Writer, scope: Scope, depth: int) -> str:
    if depth <= 0:
        return atom(writer, scope, "p")
    s: Callable[[], str] = lambda: scalar(writer, scope, depth - 1)
    forms: list[Callable[[], str]] = [
        lambda: atom(writer, scope, "p"),
        lambda: f"np.sin({short(writer, scope, depth - 1)})",
        lambda: f"{factor(s())} * {atom(writer, scope, 'p')}",
        lambda: f"{atom(writer, scope, 'p')} + {short(writer, scope, depth - 1)}",
        lambda: f"{atom(writer, scope, 'm')} @ {atom(writer, scope, 'p')}",
        lambda: f"np.array([{s()}, {s()}])",
        lambda: writer.met("fancy copy", atom(writer, scope, "v") + writer.choices.pick(("[[2, 0]]", "[(1, 1),]"))),
        lambda: writer.met("diagonal", f"{atom(writer, scope, 'm')}.diagonal()"),
        lambda: writer.met("diagonal", f"np.diag({atom(writer, scope, 'm')})"),
        lambda: f"np.sum({atom(writer, scope, 'm')}, axis={writer.choices.integer(0, 1)})",
        lambda: called(writer, scope, "p", depth) or atom(writer, scope, "p"),
    ]
    return writer.choices.pick(forms)()


def cube(writer: Writer, scope: Scope, depth: int) -> str:
    if depth <= 0:
        return atom(writer, scope, "c")
    forms: list[Callable[[], str]] = [
        lambda: atom(writer, scope, "c"),
        lambda: f"np.tanh({atom(writer, scope, 'c')})",
        lambda: f"{atom(writer, scope, 'c')} * {atom(writer, scope, 'm')}",
        lambda: f"{atom(writer, scope, 'c')} * {factor(scalar(writer, scope, depth - 1))}",
        lambda: writer.met("stack", f"np.stack([{atom(writer, scope, 'm')}, {matrix(writer, scope, depth - 1)}])"),
        lambda: "np.zeros((2, 2, 2))",
        lambda: f"np.multiply.outer({atom(writer, scope, 'p')}, {atom(writer, scope, 'm')})",
    ]
    return writer.choices.pick(forms)()


def dot(writer: Writer, scope: Scope, depth: int) -> str:
    """A 0-d array."""
    if scope.named("n") and writer.choices.chance(60):
        return writer.choices.pick(scope.named("n"))
    return writer.met("0-d array", f"np.array({scalar(writer, scope, max(depth - 1, 0))})")


def called(writer: Writer, scope: Scope, kind: str, depth: int) -> str | None:
    found = [signature for signature in writer.callables if signature.result == kind]
    if not found:
        return None
    return call(writer, scope, writer.choices.pick(found), depth)


def call(writer: Writer, scope: Scope, signature: Signature, depth: int) -> str:
    given = signature.parameters[:-1] if signature.counted else signature.parameters
    arguments = [argument(writer, scope, kind, depth) for kind in given]
    if len(set(arguments)) < len(arguments):
        writer.met("one argument given twice", None)
    if signature.counted:
        arguments.append(str(writer.choices.integer(0, 3)))
        writer.met("recursion", None)
    if writer.choices.chance(15) and arguments and not signature.counted:
        letters = [f"{LETTERS[kind]}{k}" for k, kind in enumerate(given)]
        arguments[-1] = writer.met("keyword argument", f"{letters[-1]}={arguments[-1]}")
    return writer.met("call", f"{signature.name}({', '.join(arguments)})")


def argument(writer: Writer, scope: Scope, kind: str, depth: int) -> str:
    """An argument: mostly a name, so that what the callee stores is seen."""
    names = scope.named(kind)
    if kind not in ("s", "v", "m", "p", "c", "n"):
        return writer.choices.pick(names[-2:]) if names else container(writer, scope, kind)
    if writer.has("stores") and names and kind != "s" and writer.choices.chance(60):
        return writer.choices.pick(names[-3:])
    return expression(writer, scope, kind, min(1, depth - 1))


def closure(writer: Writer, scope: Scope, argument: str) -> str | None:
    found = scope.named("f")
    return writer.met("closure called", f"{writer.choices.pick(found)}({argument})") if found else None


def condition(writer: Writer, scope: Scope) -> str:
    c = writer.choices
    one = f"{scalar(writer, scope, 1)} {c.pick(('>', '<'))} {scalar(writer, scope, 0)}"
    forms: list[Callable[[], str]] = [
        lambda: one,
        lambda: f"{one} and {scalar(writer, scope, 0)} < {c.pick(CONSTANTS)}",
        lambda: f"{one} or {scalar(writer, scope, 0)} > {c.pick(CONSTANTS)}",
        lambda: f"not {one}",
    ]
    integers, flags = scope.named("i"), scope.named("flag")
    if integers:
        forms.append(lambda: f"{c.pick(integers)} % 2 == {c.integer(0, 1)}")
        forms.append(lambda: f"{c.pick(integers)} > {c.integer(0, 2)}")
    if flags:
        forms.append(lambda: c.pick(flags))
    return c.pick(forms)()


def container(writer: Writer, scope: Scope, kind: str) -> str:
    """A display of a container or an object."""
    c = writer.choices
    s: Callable[[], str] = lambda: scalar(writer, scope, 1)
    v: Callable[[], str] = lambda: atom(writer, scope, "v") if c.chance(60) else vector(writer, scope, 1)
    again = scope.named(kind)
    forms: dict[str, list[Callable[[], str]]] = {
        "[v]": [
            lambda: writer.met("list display", f"[{v()}, {v()}]"),
            lambda: writer.met("list display", f"[{v()}, {v()}, {v()}]"),
            lambda: writer.met("list comprehension", f"[{factor(v())} * {c.pick(('0.5', 'k'))} for k in range(2)]"),
            lambda: writer.met("list of rows", f"list(np.stack([{v()}, {v()}]))"),
            lambda: writer.met("list times number", f"[{v()}] * 2"),
        ],
        "[s]": [
            lambda: writer.met("list display", f"[{s()}, {s()}]"),
            lambda: writer.met("list comprehension", f"[{factor(s())} * k for k in range(3)]"),
            lambda: writer.met("list of items", f"[e * e for e in {atom(writer, scope, 'v')}]"),
        ],
        "<v>": [
            lambda: writer.met("deque", f"deque([{v()}, {v()}])"),
            lambda: writer.met("bounded deque", f"deque([{v()}, {v()}], maxlen=2)"),
        ],
        "{}": [
            lambda: writer.met("dict display", f'{{"p": {v()}, "q": {s()}}}'),
            lambda: writer.met("dict of keywords", f"dict(p={v()}, q={s()})"),
        ],
        "()": [lambda: writer.met("tuple display", f"({v()}, {s()})")],
        "o": [lambda: writer.met("object built", f"Box({v()}, {s()})")],
        "t": [lambda: writer.met("named tuple", f"Pair({v()}, {s()})")],
    }
    options = forms[kind]
    if again:
        name = c.pick(again)
        copies: dict[str, list[Callable[[], str]]] = {
            "[v]": [
                lambda: writer.met("copy of a list", f"list({name})"),
                lambda: writer.met("slice of a list", f"{name}[:2]"),
                lambda: writer.met("sum of lists", f"{name} + [{v()}]"),
                lambda: writer.met("list comprehension", f"[e * 0.5 for e in {name}]"),
                lambda: writer.met("reversed list", f"{name}[::-1]"),
            ],
            "[s]": [
                lambda: writer.met("copy of a list", f"{name}.copy()"),
                lambda: writer.met("sorted list", f"sorted({name})"),
            ],
            "{}": [
                lambda: writer.met("copy of a dict", f"dict({name})"),
                lambda: writer.met("dict display of a dict", f'{{**{name}, "q": {s()}}}'),
            ],
            "t": [lambda: writer.met("named tuple replaced", f"{name}._replace(s={s()})")],
        }
        options = options + copies.get(kind, [])
    return c.pick(options)()


def from_container(writer: Writer, scope: Scope, kind: str) -> str | None:
    """A number or a vector computed from a whole container."""
    c = writer.choices
    if not writer.has("containers"):
        return None
    possible = [form for form in COMPUTED[kind] if scope.named(form[1])]
    if not possible:
        return None
    construct, held, text = c.pick(possible)
    given = scalar(writer, scope, 0) if kind == "s" else atom(writer, scope, "v")
    return writer.met(construct, text.replace("{}", c.pick(scope.named(held))).replace("{1}", given))
