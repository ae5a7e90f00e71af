"""Functions of a module that are alike are kept once."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad import grad
from srcgrad.optimize.twins import without_twins
from srcgrad.syntax.globals import importable, reference
from srcgrad.syntax.parse import quote_statements


class Box:
    def __init__(self, v):
        self.v = v

    def squared(self):
        self.last = self.v * self.v
        return self.last


def asked_twice(x):
    box = Box(x[0])
    return box.squared() * box.squared()


def test_a_method_that_is_called_twice_is_written_once():
    derivative = grad(asked_twice)
    np.testing.assert_allclose(derivative(np.array([2.0, 1.0])), [4.0 * 2.0**3, 0.0])
    assert derivative.source.count("def squared_fwd") == 1
    assert "squared_fwd2" not in derivative.source


def functions(text: str) -> list[gast.FunctionDef]:
    return quote_statements(text)  # type: ignore[return-value]


def names(found: list[gast.FunctionDef]) -> list[str]:
    return [function.name for function in found]


def test_what_calls_copies_calls_the_one_that_is_kept():
    made = functions("""
def entry(x): return outer(x) + outer2(x)
def outer(x): return inner(x)
def outer2(x): return inner2(x)
def inner(x): return 2.0 * x
def inner2(x): return 2.0 * x
""")
    kept = without_twins(made, {"entry"})
    assert names(kept) == ["entry", "outer", "inner"]
    called = [node.func.id for node in gast.walk(kept[0]) if isinstance(node, gast.Call)]
    assert called == ["outer", "outer"]


def test_functions_that_call_themselves_are_alike():
    made = functions("""
def down(n): return down(n - 1)
def down2(n): return down2(n - 1)
""")
    assert names(without_twins(made, set())) == ["down"]


def test_numbers_of_other_types_are_no_copies():
    made = functions("""
def one(x): return x * 1
def real(x): return x * 1.0
def true(x): return x * True
def minus(x): return x * -0.0
def nought(x): return x * 0.0
""")
    assert names(without_twins(made, set())) == ["one", "real", "true", "minus", "nought"]


def test_texts_that_are_the_functions_own_names_are_no_copies():
    made = functions("""
def one(x): return x["one"]
def other(x): return x["other"]
""")
    assert names(without_twins(made, set())) == ["one", "other"]


def test_what_another_global_of_the_same_name_does_is_no_copy():
    made = functions("""
def one(x): return f(x)
def other(x): return f(x)
""")
    for function, meant in zip(made, (np.sin, np.cos), strict=True):
        function.body[0].value.func = reference(importable("f", meant))
    assert names(without_twins(made, set())) == ["one", "other"]


def test_lines_of_the_user_s_that_look_alike_keep_their_places():
    made = functions("""
def one(x): return x
def other(x): return x
""")
    for number, function in enumerate(made):
        function.body[0].span = number
    assert names(without_twins(made, set())) == ["one", "other"]


def test_what_the_module_is_made_for_stays():
    made = functions("""
def forward(x): return x
def entry(x): return x
""")
    assert names(without_twins(made, {"entry"})) == ["forward", "entry"]
