"""Programs in which operands change what other operands of the same statement read, form by form.

A *form* is a statement with holes: ``{i}``, ``{j}`` for integers, ``{u}``, ``{v}``, ``{w}`` for numbers with a
derivative.  A *state* is something that operands read and change: a list, an attribute, a variable of the function
around.  A program is a form whose holes hold reads and changes of one state, and returns all that either leaves.
The forms follow the language reference, 6.16 (order of evaluation), 6 (expressions), 7 and 8 (statements).
"""

from __future__ import annotations

import itertools
import linecache
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


class Meter:
    """An object whose methods change what its attributes hold."""

    def __init__(self, n: int, v: Any) -> None:
        self.n = n
        self.v = v

    def tick(self) -> int:
        self.n += 1
        return self.n

    def grow(self) -> Any:
        self.v = 1.5 * self.v
        return self.v


class Box:
    """An object that is stored into."""

    def __init__(self, v: Any) -> None:
        self.v = v


def step(c):
    c[0] += 1
    return c[0]


def grow(c):
    c[0] = c[0] * 1.5
    return c[0]


def tick(d):
    d["n"] += 1
    return d["n"]


def swell(d):
    d["v"] = 1.5 * d["v"]
    return d["v"]


def scale(y):
    y *= 1.5
    return y[1]


def linear(a, b, c=0.5):
    return 2.0 * a + 3.0 * b + c * a * b


class Managed:
    """A context manager that hands out a number."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __enter__(self) -> Any:
        return 2.0 * self.value

    def __exit__(self, *raised: object) -> None:
        self.value = 0.0


@dataclass(frozen=True)
class State:
    """What is read and changed: its lines, integer reads and changes, numeric ones, and what is left of it."""

    lines: str
    integer: tuple[str, str]
    number: tuple[str, str]
    left: str


STATES = {
    "list": State(
        "q = [x[0], 2.0 * x[1], 3.0 * x[2], x[0] * x[1], x[2] * x[0], x[1]]\nr = [0, 1, 0, 2, 1, 0]",
        ("r[-1]", "r.pop()"), ("q[-1]", "q.pop()"), "len(q) * sum(q) + sum(r)",
    ),
    "length": State(
        "q = [x[0], 2.0 * x[1], 3.0 * x[2], x[0] * x[1], x[2] * x[0]]",
        ("len(q) // 2", "int(q.pop() > 9.0)"), ("len(q) * x[0]", "q.pop() ** 2"), "sum(q)",
    ),
    "cell": State("c, g = [0], [x[0]]", ("c[0]", "step(c)"), ("g[0]", "grow(g)"), "c[0] * g[0]"),
    "attribute": State("o = Meter(0, x[1])", ("o.n", "o.tick()"), ("o.v", "o.grow()"), "o.n * o.v"),
    "dict": State('d = {"n": 0, "v": x[2]}', ('d["n"]', "tick(d)"), ('d["v"]', "swell(d)"), 'd["n"] * d["v"]'),
    "nonlocal": State(
        "n, s = 0, x[0]\ndef more():\n    nonlocal n\n    n += 1\n    return n\n"
        "def larger():\n    nonlocal s\n    s = 1.5 * s\n    return s",
        ("n", "more()"), ("s", "larger()"), "n * s",
    ),
    "walrus": State("k, z = 0, x[1]", ("k", "(k := k + 1)"), ("z", "(z := 1.5 * z)"), "k * z"),
    "array": State(
        "y, m = x * x, np.zeros(2, dtype=int)",
        ("m[0]", "step(m)"), ("y[1]", "scale(y)"), "m[0] * y[0] + y[2]",
    ),
}  # fmt: skip

#: name -> statement; ``t``, ``out``, ``M``, ``L``, ``D``, ``P`` and ``B`` are what it may set.
FORMS = {
    # --- expressions --------------------------------------------------------------------------------------------------
    "difference": "t = {u} - {v}",
    "chain": "t = {u} - {v} * {w}",
    "sum from the right": "t = {u} + ({v} + {w})",
    "quotient": "t = -{u} / {v}",
    "power": "t = {u} ** 2 - {v}",
    "power of an integer": "t = {u} ** {i}",
    "matrix product": "t = np.array([{u}, {v}]) @ np.array([1.0, {w}])",
    "floor": "t = x[0] * ({i} // (1 + {j}))",
    "bits": "t = x[0] * ({i} | {j} << 2)",
    "call": "t = linear({u}, {v}, {w})",
    "call by keywords": "t = linear(b={u}, a={v}, c={w})",
    "call mixed": "t = linear({u}, c={v}, b={w})",
    "call of a star": "t = linear(*({u}, {v}), c={w})",
    "call of a starred list": "t = linear({u}, *[{v}, {w}])",
    "star after a keyword": "t = linear(c={u}, *({v}, {w}))",
    "call of two stars": "t = linear(**{{'b': {u}, 'a': {v}}}, c={w})",
    "function of NumPy": "t = np.arctan2({u}, {v})",
    "function of NumPy by keywords": "t = np.sum(a=np.array([{u}, {v}]) * 2.0, axis={i} * 0) * {w}",
    "maximum": "t = max({u}, {v}, {w})",
    "method": "t = np.array([{u}, {v}]).dot(np.array([{w}, 1.0]))",
    "argument of a method": "t = A.take({i}) - A.take({j}) * {u}",
    "tuple": "t = ({u}, {v}, {w})[1]",
    "list display": "t = [{u}, {v}, {w}][{i} * 0]",
    "starred display": "t = sum([{u}, *[{v}], {w}])",
    "dict display": "e = {{'a': {u}, 'b': {v}}}\nt = e['a'] - 2.0 * e['b']",
    "dict of computed keys": "e = {{{i}: {u}, 5 + {j}: {v}}}\nt = sum([(1 + key) * e[key] for key in e])",
    "dict comprehension": "e = {{{i} + 3 * p: {u} for p in range(2)}}\nt = sum([(1 + key) * e[key] for key in e])",
    "comprehension": "t = sum([p * {u} for p in ({v}, {w})])",
    "comprehension of two": "t = sum([{u} for p in range(1 + {i}) for r2 in range(1 + {j})])",
    "comprehension with a test": "t = sum([{u} * p for p in (1.0, 2.0) if {v} < 9.0])",
    "generator": "t = sum(p * {u} for p in [{v}, {w}])",
    "nested comprehension": "t = sum([sum([p * {u} for p in (1.0, {v})]) for r2 in range(2)])",
    "conditional": "t = {u} if {v} < {w} else -{u}",
    "operand conditional": "t = {u} * ({v} if x[0] < 9.0 else {w})",
    "and": "t = {u} and {v} and {w}",
    "or": "t = {u} - ({v} or {w})",
    "test of truth": "t = x[0] if {i} or {j} else x[1]",
    "comparison": "t = x[0] if {u} < {v} else x[1]",
    "chained comparison": "t = x[0] if {u} < {v} <= {w} else x[1]",
    "comparison as a number": "t = x[0] * ({i} == {j}) + x[1] * ({i} < {j})",
    "membership": "t = x[0] if {i} in (0, {j}) else x[1]",
    "index": "t = A[{i}] * {u}",
    "two indices": "t = M[{i}, {j}] * {u}",
    "index of an index": "t = M[{i}][{j}] * {u}",
    "index of a list": "t = L[{i}] * {u} - L[{j}]",
    "slice": "t = np.sum(A[{i}:{j} + 3]) * {u}",
    "slice with a step": "t = np.sum(A[{i}::{j} + 1]) * {u}",
    "slice of a list": "t = sum(L[{i}:{j} + 3]) * {u}",
    "index of a base that changes": "t = [L, [x[2]] * 9][{i} * 0][{j}]",
    "formatted": "t = x[0] * float(f'{{{i}}}.{{{j}}}')",
    "text of a number": "t = x[0] * len(f'{{{i}:{{3 + {j}}}}}')",
    "walrus": "t = (p := {u}) * {v} - p",
    "walrus twice": "t = (p := {u}) + (p := {v}) * p + p * {w}",
    "lambda": "t = (lambda p={u}, *, r2={v}: p - r2 * {w})()",
    "array of operands": "t = np.sum(np.array([[{u}, {v}], [{w}, 1.0]])[{i} * 0])",
    "whole array": "t = np.sum(x * {u} - np.array([{v}, {w}, 1.0]))",
    "where": "t = np.where({i} > 0, {u}, {v})",
    "unary": "t = -{u} - (+{v}) + abs({w})",
    "attribute of what is made": "t = Box({u}).v - Box({v}).v * {w}",
    # --- assignments --------------------------------------------------------------------------------------------------
    "store": "out[{i}] = {u}",
    "store of a difference": "out[{i}] = {u} - out[{j}] * {v}",
    "augmented": "out[{i}] += {u}",
    "augmented product": "out[{i}] *= {u} + {v}",
    "augmented slice": "out[{i}:{j} + 3] += {u}",
    "store into a slice": "out[{i}:{j} + 3] = {u}",
    "augmented matrix": "M[{i}, {j}] += {u}",
    "augmented item of a row": "M[{i}][{j}] -= {u}",
    "row": "M[{i}] = {u}",
    "column": "M[:, {i}] *= {u}",
    "item of a list": "L[{i}] = {u}",
    "augmented item of a list": "L[{i}] += {u}",
    "slice of a list replaced": "L[{i}:{j} + 2] = [{u}, {v}]",
    "item of a dict": "D[{i}] = {u}",
    "augmented item of a dict": "D[{i}] += {u}",
    "item of an attribute": "P.v[{i}] = {u}",
    "augmented item of an attribute": "P.v[{i}] += {u}",
    "attribute of an item": "B[{i}].v = {u}",
    "augmented attribute of an item": "B[{i}].v += {u}",
    "attribute": "B[0].v = {u} - {v}",
    "augmented attribute": "B[0].v *= {u} - {v}",
    "several names": "t, p = {u}, {v}\nt = t - 2.0 * p",
    "several places": "out[{i}], out[{j}] = {u}, {v}",
    "a place and a name": "out[{i}], t = {u}, {v}",
    "a name and a place": "t, out[{i}] = {u}, {v}",
    "places from a list": "out[{i}], out[{j}] = [2.0 * {u}, x[0]]",
    "places from a value": "pair = (x[0], x[1])\nout[{i}], out[{j}] = pair",
    "nested targets": "out[{i}], (t, out[{j}]) = {u}, ({v}, {w})",
    "nested targets of a value": "pair = (x[0], (x[1], x[2]))\nout[{i}], (t, out[{j}]) = pair",
    "starred target": "t, *rest = {u}, {v}, {w}\nt = t - sum(rest)",
    "starred place": "*rest, out[{i}] = [{u}, {v}, {w}]\nt = sum(rest)",
    "chained places": "out[{i}] = out[{j}] = {u}",
    "a name and a place, chained": "t = out[{i}] = {u}",
    "a place and a name, chained": "out[{i}] = t = {u}",
    "annotated": "t: float = {u} - {v}",
    "annotated place": "out[{i}]: float = {u}",
    "augmented name": "t += {u} - {v}",
    "augmented product of a name": "t *= {u} - t * {v}",
    "place through flat": "out.flat[{i}] = {u}",
    "augmented place through flat": "out.flat[{i}] += {u}",
    "places of a rebound base": "out[{i}], out = {u}, 2.0 * A",
    # --- methods and functions that change ----------------------------------------------------------------------------
    "insert": "L.insert({i}, {u})",
    "append": "L.append({u} - {v})",
    "extend": "L.extend([{u}, {v}])",
    "pop of a place": "t = L.pop({i}) - {u} * {v}",
    "pop of two places": "t = L.pop({i}) - L.pop({j}) * {u}",
    "setdefault": "t = D.setdefault({i} + 1, {u}) - D.setdefault({j} + 2, {v})",
    "pop of a key": "t = D.pop({i}, {u}) - {v}",
    "get": "t = D.get({i}, {u}) - D.get({j} + 4, {v})",
    "update": "D.update({{{i}: {u}, {j} + 4: {v}}})",
    "add.at": "np.add.at(out, {i}, {u})",
    "copyto": "np.copyto(out[{i}:], {u})",
    "fill": "out[{i}:].fill({u})",
    # --- other statements ---------------------------------------------------------------------------------------------
    "del": "del L[{i}], L[{j}]",
    "del of a slice": "del L[{i}:{j} + 1]",
    "branch": "if {u} < {v}:\n    t = {w}",
    "else": "if {u} > 9.0:\n    t = x[0]\nelif {v} < {w}:\n    t = {u}",
    "while": "while {u} + 2.0 < t:\n    t = t - 1.0 - {v}",
    "for": "for p in ({u}, {v}):\n    t = t * p + {w}",
    "for of a range": "for p in range({i}, {j} + 3):\n    t = t + p * {u}",
    "for with enumerate": "for p, r2 in enumerate([{u}, {v}], {i}):\n    t = t + p * r2 * {w}",
    "for with zip": "for p, r2 in zip([{u}, 1.0], [{v}, {w}]):\n    t = t + p * r2",
    "for into a place": "for out[{i}] in [{u}, {v}]:\n    t = t + out[1]",
    "for over an array": "for p in A[{i}:{j} + 2]:\n    t = t + p * {u}",
    "with": "with Managed({u}) as p, Managed({v}) as r2:\n    t = p - r2 * {w}",
    "with into a place": "with Managed({u}) as out[{i}]:\n    t = {v}",
    "defaults": "def inner(p={u}, r2={v}, *, w2={w}):\n    return p - r2 * w2\nt = inner()",
    "called default": "def inner(p={u}):\n    return p * {v}\nt = {w} * inner()",
    "return": "def inner():\n    return {u} - {v} * {w}\nt = inner()",
    "return of several": "def inner():\n    return {u}, {v}\nt, p = inner()\nt = t * p",
    "return before finally": (
        "def inner(y):\n    try:\n        return {u}\n    finally:\n        y[0] = {v}\nt = inner(out)"
    ),
    "assert": "assert {u} - {v} < 99.0\nt = {w}",
    "raise": "try:\n    raise ValueError({i}) from KeyError({j})\nexcept ValueError:\n    t = {u}",
    "try": "try:\n    t = {u} - {v}\n    out[{i}] += t\nexcept ValueError:\n    t = x[0]",
    "match": "match {i}:\n    case 0:\n        t = {u}\n    case _:\n        t = {v}",
    "match of a tuple": "match ({u}, {v}):\n    case (p, r2):\n        t = p - r2 * {w}",
    "expression": "linear({u}, {v})",
}  # fmt: skip


def holes(form: str) -> tuple[str, ...]:
    """The different holes of a form."""
    return tuple(dict.fromkeys(re.findall(r"\{([ijuvw])[\}]", form)))


@dataclass(frozen=True)
class Ordered:
    """One program: its name, its text and the function."""

    name: str
    text: str
    function: Callable[[Any], Any]


_SETS = {
    "out": "out = np.zeros(6)", "M": "M = np.outer(x, np.arange(1.0, 5.0))", "A": "A = np.arange(1.0, 7.0) * x[1]",
    "L": "L = [x[0], x[1], x[2], x[0] * x[1], x[1] * x[2], x[0] * x[2]]", "D": "D = {0: x[0], 1: x[1], 2: x[2]}",
    "P": "P = Box(np.arange(6.0) * x[2])", "B": "B = [Box(x[0]), Box(x[1]), Box(x[2])]",
}  # fmt: skip
_LEFT = {
    "out": "np.sum(out * np.arange(1.0, 7.0))", "M": "np.sum(M * np.arange(1.0, 13.0).reshape(3, 4))",
    "L": "len(L) * (L[0] - L[-1] * L[1])", "D": "sum([(key + 1) * D[key] for key in D])",
    "P": "np.sum(P.v * np.arange(1.0, 7.0))", "B": "B[0].v - B[1].v * B[2].v",
}  # fmt: skip


def program(form: str, state: str, pattern: str) -> Ordered:
    """The program of a form whose holes read (``r``) or change (``c``) a state, hole by hole."""
    kind = STATES[state]
    filled = {
        hole: (kind.integer if hole in "ij" else kind.number)["rc".index(which)]
        for hole, which in zip(holes(FORMS[form]), pattern, strict=True)
    }
    body = FORMS[form].format(**filled)
    used = [name for name in _SETS if re.search(rf"\b{name}\b", body)]
    lines = [*(_SETS[name] for name in used), *kind.lines.splitlines(), "t = x[0] * x[1]", *body.splitlines()]
    left = ["3.0 * t", kind.left, *(_LEFT[name] for name in used if name in _LEFT)]
    text = "def program(x):\n" + "".join(f"    {line}\n" for line in [*lines, f"return {' + '.join(left)}"])
    name = f"{form}, {state}, {pattern}"
    return Ordered(name, text, _function(name, text))


def patterns(form: str) -> Iterator[str]:
    """Every way to read and change in the holes of a form, with a change somewhere."""
    for made in itertools.product("rc", repeat=len(holes(FORMS[form]))):
        if "c" in made:
            yield "".join(made)


def _function(name: str, text: str) -> Callable[[Any], Any]:
    filename = f"<order: {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = {**globals(), "np": np, "__name__": "tests.evaluation_order"}
    exec(compile(text, filename, "exec"), names)
    return names["program"]
