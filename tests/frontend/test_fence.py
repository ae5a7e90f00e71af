"""The fence: a row for each node class, what is admitted, and where; refusals read as tests/refusals shows them."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import textwrap
from typing import Any

import gast
import pytest

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.fence import ROWS, Refusal, admit
from srcgrad.frontend.source import source_of

ABSTRACT = {gast.mod, gast.stmt, gast.expr, gast.expr_context, gast.slice, gast.boolop, gast.operator, gast.unaryop}
ABSTRACT |= {gast.cmpop, gast.excepthandler, gast.pattern, gast.type_param, gast.TypeIgnore, gast.AST}


def function(text: str, name: str = "f", filename: str = "fenced.py", **names: object) -> Any:
    """The function ``name`` that ``text`` defines."""
    text = textwrap.dedent(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = dict(names)
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace[name]


def test_every_node_class_has_a_row() -> None:
    classes = {kind for _, kind in inspect.getmembers(gast, inspect.isclass) if issubclass(kind, ast.AST)} - ABSTRACT
    assert classes == set(ROWS)


def test_every_class_that_this_python_parses_has_a_row() -> None:
    here = {name for name, kind in inspect.getmembers(ast, inspect.isclass) if issubclass(kind, ast.AST)}
    concrete = {name for name in here if not getattr(ast, name).__subclasses__() and not name.startswith("_")}
    constants = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis"}  # spelled Constant since 3.8
    assert concrete - constants - {"ExtSlice", "Index", "arg", "TypeIgnore"} <= {kind.__name__ for kind in ROWS}


def test_every_refusal_has_words() -> None:
    for kind, row in ROWS.items():
        if isinstance(row, Refusal):
            assert row.reason and row.hint, kind


ADMITTED = {
    "names": "a = x\n(b, *c), d = (a, a, a), a\na, d = d, a\ne = g = a\nh: float = a\nk: float\nreturn (m := a) + h",
    "operators": "return -x + +x - ~1 * x / 2 @ x // 3 % 4 ** x + (1 << 2 >> 1 | 3 & 5 ^ 2)",
    "tests": "return x if 0 < x <= 2 != 3 and not x or x is not None and x in (1, 2) and x not in {1, 2} else 0",
    "branches": "if x > 0:\n    return x\nelif x < -1:\n    pass\nelse:\n    x = -x\nreturn x",
    "match": "match x:\n    case 1 | -2 | 'a' | 1 + 2j:\n        return x\n    case None if x:\n        pass\n"
    "    case _:\n        x = 2\nreturn x",
    "match_dotted": "match x:\n    case math.pi:\n        return 1.0\nreturn x",
    "loops": "for i, (a, b) in enumerate(zip(x, x)):\n    if i: continue\n    break\nelse:\n    x = 1\n"
    "while x > 0:\n    x -= 1\nreturn x",
    "lists": "return [a * b for a in x if a for b in [1, *x]], (x, *x), {'a': x}, x[1:, ..., ::2, None], x['a'][-1]",
    "generators": "return sum(a for a in x) + max((a for a in x), default=0) + math.prod(*(a for a in x))\n"
    "return next(a for a in x)",
    "text": 'print(f"{x:>{8}} {x!r} {x=}")\nassert x > 0, f"{x}"\nif x: raise ValueError("no") from None\nreturn x',
    "with": "with np.errstate(all='ignore'), np.errstate(divide='raise'):\n    return x / 0",
    "calls": "return f(x, *x, k=1, **x) + x.T.sum(axis=0) + (lambda a, *b, c=1, **d: a * c)(x)",
    "nested": "def inner(a: int, b=x, *, c=2) -> 'text':\n    'Inner.'\n    return a * b * x\nreturn inner(x)",
    "stores": "x[0] = a = x[1:, None] = x[x > 0]\nx[0][1] += 1\nx.T[0], (b, x[a]) = x\nfor x[a] in x:\n    x[0] @= x\n"
    "x[1]: float = 2.0\nreturn [x for x in x]",
    "nothing": '"""Docstring."""\n...\nreturn',
}


@pytest.mark.parametrize("name", ADMITTED)
def test_the_language_is_admitted(name: str) -> None:
    admit(source_of(function("def f(x):\n" + textwrap.indent(ADMITTED[name], "    "))))


def test_defaults_and_annotations_of_the_function_are_values_and_not_judged() -> None:
    admit(source_of(function("def f(x: {1}, y={1, 2}, *, z={a: a for a in ()}) -> {2}:\n    return x\n")))
    admit(source_of(function("f = lambda x, y={1, 2}: x")))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs type parameters")
def test_type_parameters_are_admitted_and_type_aliases_are_not() -> None:
    admit(source_of(function("def f[T: float, *S, **P](x: T) -> T:\n    return x\n")))
    with pytest.raises(UnsupportedSyntax, match="a type alias is no computation"):
        admit(source_of(function("def f(x):\n    type Vector = list[float]\n    return x\n")))


@pytest.mark.skipif(sys.version_info < (3, 14), reason="needs template strings")
def test_template_strings_are_refused() -> None:
    with pytest.raises(UnsupportedSyntax, match="a template string"):
        admit(source_of(function("def f(x):\n    y = t'{x}'\n    return x\n")))


@pytest.mark.parametrize(
    "statement",
    [
        "g = (a for a in x)",
        "return np.array(a for a in x)",
        "return sum(x, (a for a in x))",
        "return max(x, key=(a for a in x))",
    ],
)
def test_a_generator_expression_is_admitted_only_where_it_is_used_up(statement: str) -> None:
    with pytest.raises(UnsupportedSyntax, match="a generator expression"):
        admit(source_of(function(f"def f(x):\n    {statement}\n")))


def test_reflection_is_judged_by_what_the_name_means() -> None:
    text = "def f(x):\n    return vars(x)\n"
    with pytest.raises(UnsupportedSyntax, match=r"vars\(\) reaches names"):
        admit(source_of(function(text)))
    admit(source_of(function(text, vars=lambda x: x)))


def test_the_first_offence_in_the_text_is_shown() -> None:
    text = "def f(x):\n    y = [(v for v in x), x]\n    del y\n    return (v for v in x)\n"
    with pytest.raises(UnsupportedSyntax) as caught:
        admit(source_of(function(text)))
    assert "fenced.py:2" in str(caught.value)


GENERATED = """
def f(x, x_bar):
    tape = []
    tape.append((x, x))
    a, b = tape.pop()
    x_bar[a:b] += x
    return x_bar
"""


def test_generated_code_may_accumulate_into_its_buffers() -> None:
    admit(source_of(function(GENERATED, filename="<srcgrad demo.f:adjoint 0a1b2c3d>")))


def test_deep_and_long_programs_need_no_recursion() -> None:
    text = "def f(x):\n    y = " + "+".join(["x"] * 900) + "\n"
    text += "    if x > 0:\n        y = y\n" + "".join(f"    elif x > {i}:\n        y = {i}\n" for i in range(300))
    text += "    y = y * x\n" * 2000 + "    return y\n"
    admit(source_of(function(text)))
