"""Emitted text is as black would write it."""

from __future__ import annotations

import ast

import pytest

from srcgrad.emit.layout import lay_out
from srcgrad.emit.printer import emit
from srcgrad.syntax.parse import parse
from tests.emit.samples import Sample

LINES = [
    "x = y",
    "x[a+1:b, ::2, :n-1] = -(x**2) + (-2)**2 + f(x)**2 + a.b**-n",
    "for i , j in zip(x,y) :",
    "if not (a in b) and (c is not d) :",
    "f = lambda x , *y , k = 2 : x",
    "def f(x, n=3, *a, k: int = 2, **kw):",
    "return {'a': 1, **b}, [i for i in x if i], (1,), 'so', b'c'",
    "with np.errstate(all='ignore'), b as c:",
    "x_bar = unbroadcast(x_bar * weights * some_longer_name, weights) + unbroadcast(y_bar * z, z)",
    "x_bar = x_bar + unbroadcast(some_longer_name * other_name / another_one + 1.0, some_longer_name)",
    "first_name, second_name, third_name, fourth_name, fifth_name, sixth_name, seventh_name = tape.pop()",
    "tape.append((first_name, second_name, third_name, fourth_name, fifth_name, sixth_name, seventh))",
    "return first_name + second_name, third_name * fourth_name, fifth_name - sixth_name, seventh_name",
    "if first_name > second_name and third_name > fourth_name or fifth_name < sixth_name or not seventh:",
    "value = first_name_of_many if second_name > third_name + fourth_name else fifth_name * sixth_name + 1",
    "some.very_long_attribute_path.with_more_parts[index_of_the_thing].method(argument).another(argument2)",
    "def grad_of_a_function(first_name, second_name, third_name, fourth_name, fifth_name, s_bar=1.0):",
    "def grad_of_a_function_with_a_name(first_name, second_name, third_name, fourth_name, fifth_name, sixth, s=1.0):",
    "assert first_name_of_many == second_name_of_many, 'a message that makes the line longer than allowed ' + x",
    "x = np.stack([first_name_of_many + 1, second_name_of_many * 2, third_name_of_many, fourth_name], axis=0)",
    "y[first_name_of_many + second_name_of_many, :] += third_name_of_many * fourth_name_of_many + fifth_name",
    "a = b = np.where(first_name_of_many > second_name_of_many, third_name_of_many, fourth_name_of_many, five)",
    "for first_name, second_name in enumerate(zip(third_name_of_many, fourth_name_of_many, fifth_of_many_names)):",
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("depth", [0, 2])
def test_lines(line, depth):
    black = pytest.importorskip("black")
    body = "\n    pass" if line.endswith(":") else ""
    laid = "\n".join(text[4 * depth :] for text in lay_out(line, depth))
    assert ast.dump(ast.parse(line + body)) == ast.dump(ast.parse(laid + body))
    mode = black.Mode(line_length=88 - 4 * depth)
    assert laid + body + "\n" == black.format_str(laid + body + "\n", mode=mode)
    assert laid + body + "\n" == black.format_str(line + body + "\n", mode=mode)


@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed):
    black = pytest.importorskip("black")
    text = emit([parse(Sample(seed).function(6)).body[0]]).text
    assert text == black.format_str(text, mode=black.Mode())
