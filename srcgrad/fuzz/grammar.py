"""Random programs as text: stores, views, aliases, containers, objects, closures, callees, loops, branches, exits.

Every program is ``def f(a, b, x, y, m, ...)``: a and b numbers, x and y vectors of length 4, m a 2 x 2 matrix, and now
and then c a 2 x 2 x 2 array, h a list of two vectors, d a dict, o an object; with up to three functions that it calls.
A name is read only where it is certainly bound.  Numbers stay tame: what is assigned in a loop is bounded by sin or
tanh most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

from srcgrad.fuzz.choices import Choices
from srcgrad.fuzz.containers import changed_list, outgrown
from srcgrad.fuzz.expressions import LETTERS, argument, expression
from srcgrad.fuzz.idioms import OUTSIDE
from srcgrad.fuzz.scope import PARAMETERS, USUAL, Scope, Signature, indent
from srcgrad.fuzz.statements import result_statement, statement
from srcgrad.fuzz.stores import small_function, store
from srcgrad.fuzz.writer import Writer

FEATURES = ("stores", "views", "containers", "objects", "closures", "control")
#: Programs that only bind names: no store, no view with a name, no container that changes.
FUNCTIONAL: frozenset[str] = frozenset()
WHOLE = frozenset(FEATURES)


@dataclass(frozen=True)
class Program:
    """A module that defines ``f``, and the constructs that it was written with."""

    text: str
    constructs: frozenset[str]


def program(choices: Choices, features: frozenset[str] = WHOLE, longest: int = 9) -> Program:
    """A module with the function ``f`` and the functions that it calls."""
    met: set[str] = set()
    texts: list[str] = []
    signatures: list[Signature] = []
    for k in range(choices.pick((0, 1, 1, 2)) if choices.chance(90) else 3):
        made, signature = _callee(choices, f"g{k}", signatures, features, met)
        texts.append(made)
        signatures.append(signature)
    results: tuple[str, ...] = ("s", "s", "v", "s", "sv")
    if "views" in features:
        results = ("s", "s", "s", "s", "v", "m", "p", "sv")
    if "containers" in features and choices.chance(12):
        results = ("[v]", "{}", "()", "[s]")
    names = list(USUAL)
    if "views" in features and choices.chance(15):
        names.append("c")
    if "containers" in features:
        names += [name for name in ("h", "d") if choices.chance(18)]
    if "objects" in features and choices.chance(10):
        names.append("o")
    for name in names[5:]:
        met.add(f"argument {name}")
    writer = Writer(choices, signatures, choices.pick(results), choices.integer(2, longest), features, met)
    texts.append(_function(writer, "f", {name: PARAMETERS[name] for name in names}))
    return Program(_module("\n\n".join(texts), choices, met), frozenset(met))


def _function(writer: Writer, name: str, parameters: dict[str, str]) -> str:
    """One function as text; one that is called stores into what it is given more often than not."""
    scope = Scope(dict(parameters))
    lines: list[str] = []
    if "h" in parameters and writer.choices.chance(60):  # the list that was given is another in the end
        lines += changed_list(writer, scope, "h")
    if name != "f" and writer.has("stores") and writer.choices.chance(50):
        lines += store(writer, scope)
    while writer.budget > 0:
        made, reachable = statement(writer, scope)
        lines += made
        if not reachable:
            break
    else:
        reachable = True
    if reachable or not lines:
        if writer.has("containers"):
            lines += outgrown(writer, scope)
        lines.append(result_statement(writer, scope))
    return "\n".join([f"def {name}({', '.join(parameters)}):", *indent(lines)]) + "\n"


def _callee(
    choices: Choices, name: str, others: list[Signature], features: frozenset[str], met: set[str]
) -> tuple[str, Signature]:
    kinds: tuple[str, ...] = ("s", "v", "s", "m")
    results: tuple[str, ...] = ("s", "v", "s", "m", "ss", "sv")
    if "views" in features:
        kinds = ("s", "v", "v", "m", "p", "v", "c")
        results = ("s", "v", "p", "s", "m", "ss", "sv", "p")
    if "containers" in features:
        kinds = (*kinds, "[v]", "{}", "()", "v")
    if "objects" in features:
        kinds = (*kinds, "o")
    taken = [choices.pick(kinds) for _ in range(choices.integer(1, 3))]
    parameters = {f"{LETTERS[kind]}{i}": kind for i, kind in enumerate(taken)}
    result = choices.pick(results)
    recursive = choices.chance(12) and len(result) == 1 and result != "p"
    writer = Writer(choices, others, result, choices.integer(1, 4), features, met)
    if "stores" in features and choices.chance(20):
        return small_function(writer, name)
    if recursive:
        return _recursive(writer, name, parameters), Signature(name, (*taken, "i"), result, counted=True)
    return _function(writer, name, parameters), Signature(name, tuple(taken), result)


def _recursive(writer: Writer, name: str, parameters: dict[str, str]) -> str:
    """A function that calls itself with its counter lowered."""
    scope = Scope(dict(parameters) | {"deep": "i"})
    lines = ["if deep <= 0:", f"    {result_statement(writer, scope.inner())}"]
    heading = f"def {name}({', '.join([*parameters, 'deep'])}):"
    while writer.budget > 0:
        made, reachable = statement(writer, scope)
        lines += made
        if not reachable:
            return "\n".join([heading, *indent(lines)]) + "\n"
    # What a parameter is called may hold something else, or nothing, by now: give what has the right kind.
    arguments = [n if scope.types.get(n) == k else argument(writer, scope, k, 1) for n, k in parameters.items()]
    again = f"{name}({', '.join([*arguments, 'deep - 1'])})"
    lines.append(f"return np.sin({again}) * 0.9 + {expression(writer, scope, writer.result, 1)}")
    return "\n".join([heading, *indent(lines)]) + "\n"


def _module(text: str, choices: Choices, met: set[str]) -> str:
    """The imports and classes that the functions use, before them."""
    imports = ["import math"]
    if "deque(" in text:
        imports.append("from collections import deque")
    classes = ""
    if "Pair(" in text:
        imports.append("from collections import namedtuple")
        classes += 'Pair = namedtuple("Pair", "v s")\n\n\n'
    if "Box(" in text or any(".total()" in line or "o" in _parameters(line) for line in text.splitlines()):
        made = _class(choices, met)
        if "@dataclass" in made:
            imports.append("from dataclasses import dataclass")
        classes += made + "\n\n"
    classes += "".join(made for marks, made in OUTSIDE if any(mark in text for mark in marks))
    return "\n".join(imports) + "\n\nimport numpy as np\n\n\n" + classes + text


def _parameters(line: str) -> set[str]:
    """The first letters of the parameters of a function's heading."""
    if not line.startswith("def "):
        return set()
    return {word[0] for word in line[line.index("(") + 1 : -2].split(", ")}


def _class(choices: Choices, met: set[str]) -> str:
    """The class of the objects: the same fields and methods always, with bodies of many kinds."""
    build = choices.pick(("plain", "plain", "inherited", "dataclass"))
    met.add(f"class: {build}")
    held = choices.pick(("v", "v", "v.copy()", "v * 1.5"))
    setting = ["def __init__(self, v, s):", f"    self.v = {held}", "    self.s = s"]
    step = choices.pick(
        (
            ["self.v[0] = t"],
            ["self.v[1:3] *= np.cos(t)", "self.s = self.s + t"],
            ["self.v += t"],
            ["self.v = self.v * np.cos(t)"],
            ["self.s = np.sin(self.s * t)", "self.v[-1] += self.s"],
            ["w = self.v", "self.v = self.v + t", "w[2] = t"],
        )
    )
    shift = choices.pick(
        (
            ["self.v = self.v + self.s", "return self"],
            ["self.v[:] = self.v[::-1] * self.s", "return self"],
            ["return Box(self.v * self.s, self.s)"],
            ["return Box(self.v, self.s * 0.5)"],
        )
    )
    methods = [
        ["def total(self):", "    return np.sum(self.v * self.s)"],
        ["def step(self, t):", *indent(step), "    return self.s"],
        ["def shift(self):", *indent(shift)],
        ["def part(self):", f"    return self.v[{choices.pick(('1:3', '::2', '::-2'))}]"],
        ["@property", "def norm(self):", "    return np.sum(self.v ** 2) * 0.5"],
        ["def __call__(self, t):", "    return np.sin(self.s * t) * self.v[1]"],
        ["def __add__(self, other):", "    return Box(self.v + other, self.s)"],
    ]
    if build == "dataclass":
        return _laid_out("Box", ["v: np.ndarray", "s: float"], methods, "@dataclass\n")
    if build == "plain":
        return _laid_out("Box", [], [setting, *methods])
    base = _laid_out("Base", [], [setting, *methods[:4]])
    own = [["def __init__(self, v, s):", "    super().__init__(v, s)", "    self.s = s * 0.9"], *methods[4:]]
    return base + "\n\n" + _laid_out("Box", [], own).replace("class Box:", "class Box(Base):")


def _laid_out(name: str, fields: list[str], methods: list[list[str]], decorator: str = "") -> str:
    parts = ["\n".join(indent(fields))] if fields else []
    parts += ["\n".join(indent(method)) for method in methods]
    return f"{decorator}class {name}:\n" + "\n\n".join(parts) + "\n"
