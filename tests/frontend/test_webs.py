"""Webs of a name: which definitions belong together, and that names of their own change nothing that a program does."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad import value_and_grad
from srcgrad.ir.as_python import unparse
from srcgrad.frontend.webs import split
from srcgrad.fuzz import numbers
from srcgrad.fuzz.choices import RandomChoices
from srcgrad.fuzz.grammar import WHOLE, program
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import parameters_of, parse, walk
from tests.parameters import at_night

APART = {
    "one after the other": ("x = f(x); x = g(x)", "x2 = f(x); x3 = g(x2)"),
    "branches": (
        "if c:\n    x = f(x)\n    y = x\nelse:\n    y = x",
        "if c:\n    x2 = f(x)\n    y = x2\nelse:\n    y2 = x",
    ),
    "branches that meet": ("if c:\n    x = f(x)\ny = x", "if c:\n    x = f(x)\ny = x"),
    "an item that is stored": ("x = f(x); x[0] = x.a", "x2 = f(x); x2[0] = x2.a"),
    "added to": ("x = f(x); x += 1; return x", "x2 = f(x); x2 += 1; return x2"),
    "inside a loop": (
        "for k in c:\n    s = x[k]\n    s = g(s)\n    t = s.a",
        "for k in c:\n    s = x[k]\n    s2 = g(s)\n    t = s2.a",
    ),
    "carried by a loop": ("for k in c:\n    x = g(x)\nreturn x", "for k in c:\n    x = g(x)\nreturn x"),
    "carried past a break": (
        "while c:\n    x = g(x)\n    if x:\n        break\n    x = h(x)\nreturn x",
        "while c:\n    x = g(x)\n    if x:\n        break\n    x = h(x)\nreturn x",
    ),
    "forgotten": ("del x; x = f(c); return x", "del x; x2 = f(c); return x2"),
    "seen by a handler": (
        "s = 1\ntry:\n    s = f(x)\n    s = g(s)\nexcept E:\n    return s",
        "s = 1\ntry:\n    s = f(x)\n    s = g(s)\nexcept E:\n    return s",
    ),
    "after an attempt": (
        "try:\n    s = f(x)\nexcept E:\n    s = c\ns = g(s)\nreturn s.a",
        "try:\n    s = f(x)\nexcept E:\n    s = c\ns2 = g(s)\nreturn s2.a",
    ),
    "what a manager may swallow": (
        "s = 1\nwith c:\n    s = f(x)\n    s = g(x)\nreturn s",
        "s = 1\nwith c:\n    s = f(x)\n    s = g(x)\nreturn s",
    ),
    "read by a function inside": ("x = f(x); g = lambda: x", "x = f(x); g = lambda: x"),
    "bound by a comprehension": ("s = [x for x in c]; x = f(x)", "s = [x for x in c]; x2 = f(x)"),
    "consumed at once": ("x = f(x); s = sum(x * v for v in c)", "x2 = f(x); s = sum((x2 * v for v in c))"),
    "a generator that is kept": ("x = f(x); s = (x * v for v in c)", "x = f(x); s = (x * v for v in c)"),
    "a parameter of a function inside": ("g = lambda x: x; x = f(x)", "g = lambda x: x; x2 = f(x)"),
    "a default, evaluated at once": ("x = f(x); g = lambda v=x: v", "x2 = f(x); g = lambda v=x2: v"),
    "bound in an expression": ("s = x + (x := f(x)) + x; return x", "s = x + (x2 := f(x)) + x2; return x2"),
    "bound perhaps": ("s = c and (x := f(x)); return x", "s = c and (x := f(x)); return x"),
    "bound in one choice": ("s = (x := f(x)) if c else x", "s = (x2 := f(x)) if c else x"),
    "bound where a comparison goes on": ("s = c < x < (x := f(x)); return x", "s = c < x < (x := f(x)); return x"),
    "an index, then its value": ("x[x] += (x := f(x))", "x[x] += (x2 := f(x))"),
    "what is left by a return": (
        "s = 1\ntry:\n    return (s := f(x)) + g(x)\nexcept E:\n    return s",
        "s = 1\ntry:\n    return (s := f(x)) + g(x)\nexcept E:\n    return s",
    ),
    "an exception": (
        "try:\n    s = f(x)\nexcept E as s:\n    y = str(s)\n",
        "try:\n    s = f(x)\nexcept E as s2:\n    y = str(s2)",
    ),
    "in every case": (
        "match c:\n    case 1:\n        x = f(x)\n        y = x\n    case _:\n        y = x",
        "match c:\n    case 1:\n        x2 = f(x)\n        y = x2\n    case _:\n        y2 = x",
    ),
}


def _apart(body: list[Any], parameters: set[str]) -> list[Any]:
    names = {node.id for node in walk(*body) if isinstance(node, gast.Name)}
    return split(body, parameters, {"sum": sum}.get, Namer(names | parameters).fresh)[0]


@pytest.mark.parametrize("before, after", APART.values(), ids=APART)
def test_webs(before, after):
    text = "def fun(x, c):\n" + textwrap.indent(before.replace("; ", "\n"), "    ")
    made = _apart(parse(text).body[0].body, {"x", "c"})
    assert "\n".join(unparse(statement).strip() for statement in made) == after.replace("; ", "\n")


def _outcome(text: str) -> Any:
    """The result and the arguments afterwards, or the class of what was raised."""
    function = numbers.load(text)
    arguments = numbers.point_of(function)
    try:
        with np.errstate(all="ignore"):
            result = function(*arguments)
    except Exception as error:
        return type(error).__name__
    return [part.tolist() for part in (numbers.ravel(result), numbers.ravel(arguments))]


@pytest.mark.parametrize("count", [50, at_night(150)])
def test_random_programs_do_the_same(count):
    changed = 0
    for number in range(count):
        text = program(RandomChoices(number), WHOLE, 20).text
        tree = gast.parse(text)
        for function in walk(tree):
            if isinstance(function, gast.FunctionDef):
                before = function.body
                function.body = _apart(before, parameters_of(function.args))
                changed += any(a is not b for a, b in zip(before, function.body, strict=True))
        apart = ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(tree)))
        assert repr(_outcome(apart)) == repr(_outcome(text)), apart
    assert changed > count * 2 // 3


def none_in_a_branch(x, d):
    a = d.pop("q")
    if x is None:
        x = None
    w = 1.0 if x is None else 2.0
    return w * a * np.sum(x * x)


def test_a_parameter_that_a_branch_binds_to_none_is_not_taken_for_none():
    """Beside a dict the test was decided when it was compiled: value and gradient were silently wrong."""
    value, (x_bar, d_bar) = value_and_grad(none_in_a_branch, argnums=(0, 1))(np.array([1.0, 3.0]), {"q": 2.0})
    assert value == 40.0 and d_bar == {"q": 20.0}
    np.testing.assert_array_equal(x_bar, [8.0, 24.0])
