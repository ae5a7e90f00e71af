"""What each statement of a program becomes: its operation, what is fixed while compiling, what is refused and how."""

from __future__ import annotations

import functools
import itertools
import math
import random
import sys
import types

import numpy as np
import pytest

import srcgrad
from srcgrad.analysis.cfg import walk
from srcgrad.errors import LanguageError, UnresolvedName, UnsupportedSyntax
from srcgrad.ir.as_python import text_of, unparse
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Bind,
    Pop,
)
from tests.normal_forms import normal_form

G = 3.0
TABLE = [1.0, 2.0]
CONFIG = types.SimpleNamespace(rate=0.5)






def helper(a, b=2.0):
    return a * b


def apply(function, x):
    return function(x)


def normal(function, **statics):
    return normal_form(function)


def operations(function, **statics):
    """``target: operation`` of every binding, in order."""
    found = []
    for statement in walk(normal(function, **statics).body):
        if isinstance(statement, Bind):
            found.append(f"{statement.target}: {type(statement.operation).__name__}")
    return found


# --- one operation per statement -------------------------------------------------------------------------------------
def test_every_kind_of_operation():
    def f(x, n):
        a = x
        b = x.shape[0] + n
        c = (a, [b, G], {"k": 1.0})
        d = c[0] @ c[1][0]
        e = helper(d, b=n)
        return e

    assert operations(f) == [
        "a: Copy",
        "t: Fixed",
        "b: Apply",
        "t2: Fixed",
        "t3: Pack",
        "t4: Pack",
        "c: Pack",
        "t5: Index",
        "t6: Index",
        "t7: Index",
        "d: Apply",
        "e: Call",
    ]


def test_a_method_is_its_function_and_prints_as_written():
    def f(x):
        return x.sum(axis=0).T

    binds = [s for s in walk(normal(f).body) if isinstance(s, Bind)]
    assert [s.operation.function for s in binds] == [np.sum, np.transpose]
    assert [unparse(s.expression) for s in binds] == ["x.sum(axis=0)", "t.T"]
    assert unparse(binds[0].operation.arguments["a"]) == "x"


def test_generated_code_keeps_tapes_and_buffers():
    def grad_f(x, n, s_bar):
        from_tape = []
        for i in reversed(range(n)):
            from_tape.append((x, i))
            from_tape.append(x)
        x_bar = np.zeros_like(x)
        for i in range(n):
            a = from_tape.pop()
            b, c = from_tape.pop()
            x_bar[c] += a * b
            x_bar += s_bar
        return x_bar

    with open(__file__) as file:
        grad_f.__srcgrad_source__ = file.read()
    function = normal(grad_f)
    kinds = [type(s) for s in walk(function.body)]
    assert function.generated
    assert [kinds.count(kind) for kind in (Append, Pop, AddAt)] == [2, 2, 1]
    pops = [s for s in walk(function.body) if isinstance(s, Pop)]
    assert [(s.targets, s.tupled) for s in pops] == [(("a",), False), (("b", "c"), True)]
    assert not any(isinstance(s, Bind) and s.inplace for s in walk(function.body))


# --- augmented assignment --------------------------------------------------------------------------------------------
def in_place(function):
    return [s.target for s in walk(normal(function).body) if isinstance(s, Bind) and s.inplace]


@pytest.mark.parametrize(
    "body",
    [
        "y = x",
        "y = x[1:]",
        "y = x.T",
        "y = np.ravel(x)",
        "y = x * 2; z = y",
        "y = x * 2; z = y[1:]",
        "y = x * 2; z = [y]",
        "y = x * 2; z = (x, y)[1]",
        "y = x * 2; z = y if x is None else x",
        "y = x * 2; z = helper(y)",
        "y = helper(x)",
        "y = W",
        "y, z = x",
        "for y in x: pass",
        "y = x * 2\n    z = [y for _ in x]",
        "y = max(x, x * 2)",
        "y = (z := x * 2)",
    ],
)
def test_augmented_assignment_is_left_to_be_proved_where_memory_may_be_shared(body, program):
    f = program(f"W = np.ones(3)\ndef f(x):\n    {body}\n    y += 1.0\n    return y", helper=helper)
    assert in_place(f) == ["y"]


def test_augmented_assignment_on_a_parameter_is_left_to_be_proved():
    def f(x):
        x += 1.0
        return x

    assert in_place(f) == ["x"]


# --- doors -----------------------------------------------------------------------------------------------------------
def test_a_function_that_falls_off_the_end_returns_none():
    def f(x):
        x = x * 2

    assert normal(f).body.statements[-1].value.value is None


def test_the_parameters_of_every_kind():
    def f(a, /, b=1, *rest, c, d=2.0, **options):
        return a

    function = normal(f)
    assert function.parameters == ("a", "b", "rest", "c", "d", "options")
    assert (function.variadic, function.keywords, function.keyword_only) == ("rest", "options", {"c", "d"})
    assert text_of(function).startswith("def f(a, b=1, *rest, c, d=2.0, **options):")


def test_temporaries_are_told_apart_from_the_users_names():
    def f(t, x):
        t2 = t * x + (x if t > 0 else t) * 3
        return t2 * 2

    function = normal(f)
    assert function.temporaries and not function.temporaries & {"t", "t2", "x"}


@pytest.mark.parametrize(
    "body",
    [
        "return " + " + ".join(["x"] * 1000),
        "return " + " * 2 - ".join(["np.sin(x)"] * 1000),
        "if " + " + ".join(["x"] * 1000) + " > 1: pass\n    return x",
        "s = 0.0\n" + "    s += x\n" * 1000 + "    return s",
    ],
)
@pytest.mark.costly(1, first=3)
def test_thousands_of_terms_are_a_program_like_any_other(body, program):
    normal(program(f"def f(x):\n    {body}"))


# --- refusals --------------------------------------------------------------------------------------------------------
NAMES = dict(
    TABLE=TABLE, functools=functools, itertools=itertools, helper=helper, math=math, random=random, sys=sys
)
REFUSED = [
    ("x.byteswap(True); return x", "the method 'byteswap': it reads the bytes"),
    ("x.resize(3); return x", "the method 'resize': it changes its array in place"),
    ("TABLE[0] = x; return x", "this may store into the global or closure variable 'TABLE'"),
    ("TABLE.append(x); return x", "this may store into the global or closure variable 'TABLE'"),
    ("np.add(x, 1, out=TABLE); return x", "a call that stores"),
    ("return x.frobnicate()", "which method is called here is not known"),
    ("return x.alpha", "the attribute 'alpha'"),
    ("g = x.sum; return g()", "the attribute 'sum'"),
    ("np.fft.hfft(x, 3, out=x); return x", "a call that stores into an array"),
    ("np.copyto(*x); return x", "a call with stars"),
    ("np.add(x, x, **x); return x", "a dict that is updated by what is not known"),
    ("return np.sum(x, axis=0, **{'axis': 0})", "a call with stars"),
    ("np.multiply.at(x, 0, 2.0); return x", "repeats its operation where an index is repeated"),
    ("random.shuffle(x); return x", "stores into an array"),
    ("return helper(x, 1, 2)", "does not fit helper(): too many positional arguments"),
    ("return helper()", "does not fit helper(): missing a required argument: 'a'"),
    ("return helper(x, c=2)", "does not fit helper(): got an unexpected keyword argument 'c'"),
    ("return helper(x, a=2)", "does not fit helper(): multiple values for argument 'a'"),
    ("return map(math.sin, x)", "this use of an iterator"),
    ("return eval('x')", "eval() reaches names"),
    ("return np.maximum(x)", "its derivative needs the argument 'x2'"),
    ("return np.sum(x, no=1)", "the argument 'no' is not supported"),
    ("return x.view(int)", "the method 'view': it reads the bytes"),
]


@pytest.mark.parametrize(("body", "reason"), REFUSED, ids=[body for body, _ in REFUSED])
def test_what_is_refused_is_pointed_at(body, reason, program):
    f = program(f"def f(x):\n    {body}", **NAMES)
    with pytest.raises(UnsupportedSyntax) as caught:
        srcgrad.grad(f).source_for(np.ones(3)) if "frobnicate" not in body and "alpha" not in body else normal(f)
    assert reason in caught.value.reason
    assert caught.value.span.line == 3


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return undefined_name(x)", "the name 'undefined_name' is not defined"),
        ("if missing: x = x * 2\n    return x", "the name 'missing' is not defined"),
    ],
)
def test_names_that_mean_nothing(body, reason, program):
    with pytest.raises(UnresolvedName) as caught:
        normal(program(f"def f(x):\n    {body}"))
    assert caught.value.reason == reason


def test_refusals_are_language_errors_with_a_caret(program):
    f = program("def f(x):\n    y = x.frobnicate(1)\n    return y\n")
    with pytest.raises(LanguageError) as caught:
        normal(f)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("which method is called here is not known")
    assert "^^^^^^^^" in lines[3]


@pytest.fixture
def program(tmp_path, request):
    """A function from its text, in a module with a file."""

    def load(text, **names):
        path = tmp_path / "written.py"
        path.write_text("import numpy as np\n" + text)
        namespace = {**names, "__name__": "written"}
        exec(compile(path.read_text(), str(path), "exec"), namespace)
        return namespace["f"]

    return load


