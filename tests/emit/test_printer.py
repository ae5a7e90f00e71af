"""Trees become text that means the same."""

from __future__ import annotations

import ast
import math
import textwrap

import gast
import numpy as np
import pytest

from srcgrad.emit.printer import emit
from srcgrad.errors import InternalError, Span
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import builtin, reference
from srcgrad.syntax.parse import parse
from tests.emit.samples import Sample


def helper(x):
    return x


NP = GlobalBinding("np", np, "numpy")


def function(text: str, **bindings: GlobalBinding) -> gast.FunctionDef:
    """A function in which the given names are global references and ``"# ..."`` statements are comments."""

    class Reader(gast.NodeTransformer):
        def visit_Name(self, node):
            return reference(bindings[node.id]) if node.id in bindings else node

        def visit_Expr(self, node):
            match node.value:
                case gast.Constant(value=str() as line) if line.startswith("#"):
                    return Comment(line[1:].strip())
            return self.generic_visit(node)

    return Reader().visit(parse(textwrap.dedent(text).strip() + "\n").body[0])


def dedented(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def test_imports_comments_and_blank_lines():
    made = function(
        '''
        def f(x):
            """Says so."""
            "#"
            y = NP.sin(x)
            "#"
            "# model.py:3   y = np.sin(x)"
            if y:
                "#"
                "# nothing else"
            else:
                z = H(y)
            "#"
        ''',
        NP=NP,
        H=GlobalBinding("helper", helper, "demo", "helper"),
    )
    assert emit([made]).text == dedented(
        '''
        import numpy as np
        from demo import helper


        def f(x):
            """Says so."""
            y = np.sin(x)

            # model.py:3   y = np.sin(x)
            if y:
                # nothing else
                pass
            else:
                z = helper(y)
        '''
    )


def test_names_that_clash():
    first, second = function("def f(np, sum):\n    return A.sin(np) + B(sum) + C(sum)", A=NP, B=builtin("sum"),
        C=GlobalBinding("f", helper, "demo", "f")), function("def g(x):\n    return f(x)")  # fmt: skip
    assert emit([first, second]).text == dedented(
        """
        import numpy as np2
        from builtins import sum as sum2
        from demo import f as f2


        def f(np, sum):
            return np2.sin(np) + sum2(sum) + f2(sum)


        def g(x):
            return f(x)
        """
    )


def test_one_name_for_one_object():
    live = GlobalBinding("np", np, "numpy")
    one = GlobalBinding("G", 1.0, "demo", "G", lambda: 1.0)
    other = GlobalBinding("H", 1.0, "demo", "H", lambda: 1.0)
    made = function("def f(x):\n    return A.sin(x) + B.cos(x) + C + D", A=NP, B=live, C=one, D=other)
    emission = emit([made])
    assert emission.text.startswith("import numpy as np\nfrom demo import G, H\n")
    assert [name for name, _ in emission.bindings] == ["np", "G", "H"]


def test_what_cannot_be_imported():
    made = function(
        "def f(x):\n    return A * B * C",
        A=GlobalBinding("rate", 0.5),
        B=GlobalBinding("shape", (2, -3)),
        C=GlobalBinding("table", np.ones(2)),
    )
    text = emit([made], header="# Made by hand.").text
    assert text.startswith(
        "# Made by hand.\n\nrate = 0.5\nshape = (2, -3)\n# table: a value of type numpy.ndarray, bound when compiled\n"
    )


def test_many_imports_are_wrapped():
    names = [f"a_function_with_a_long_name{i}" for i in range(4)]
    bindings = {name.upper(): GlobalBinding(name, lambda: 0, "demo.functions", name) for name in names}
    made = function(f"def f(x):\n    return ({', '.join(name.upper() for name in names)})", **bindings)
    black = pytest.importorskip("black")
    text = emit([made]).text
    assert text.count("\n    a_function") == 4
    assert black.format_str(text, mode=black.Mode()) == text


@pytest.mark.parametrize(
    "value",
    [
        *(-2, -0.0, 1e300, math.inf, -math.inf, (1, (-2,)), "it's", 'a "b"', b"c", None, ..., True),
        *(1 + 2j, 1 - 2j, -1j, 1j, complex(0.0, -1.0), complex(-0.0, 1.0), complex(-1.0, -0.0)),
    ],
)
def test_constants(value):
    made = function("def f():\n    return x ** 2")
    made.body[0].value.left = gast.Constant(value, None)
    namespace: dict[str, object] = {}
    emitted = emit([made]).text.replace(" ** 2", "").replace("**2", "")
    exec(emitted, namespace)
    assert repr(namespace["f"]()) == repr(value)


def test_nan():
    made = function("def f():\n    return x")
    made.body[0].value = gast.Constant(math.nan, None)
    namespace: dict[str, object] = {}
    exec(emit([made]).text, namespace)
    assert math.isnan(namespace["f"]())


def test_no_literal():
    made = function("def f():\n    return x")
    made.body[0].value = gast.Constant(np.float64(2.0), None)
    with pytest.raises(InternalError, match="is no literal"):
        emit([made])


@pytest.mark.parametrize("seed", range(100, 160))
def test_the_text_means_the_tree(seed):
    text = Sample(seed).function(5)
    assert ast.dump(ast.parse(emit([parse(text).body[0]]).text)) == ast.dump(ast.parse(text))


def test_what_astor_does_not_print_right():
    text = dedented(
        """
        def f(x, y):
            a = f"{x!r:>{y}} {{}} {y['k']}" + f'{"q"}'
            b = x[(1, 2):(3, y)]
            match x:
                case [1, *rest] if rest:
                    a = rest
                case {"k": z}:
                    a = z
            return (yield a), b
        """
    )
    assert ast.dump(ast.parse(emit([parse(text).body[0]]).text)) == ast.dump(ast.parse(text))


def test_spans_of_lines():
    made = function("def f(x):\n    '# r'\n    y = [\n        x]\n    for i in x:\n        y = i\n    return y")
    spans = lambda node: Span("m.py", "f", node.lineno, 0, 0, 0, "") if hasattr(node, "lineno") else None
    emission = emit([made], header="# top", spans=spans)
    lines = emission.text.split("\n")
    assert {lines[line - 1].strip(): span.line for line, span in emission.line_map.items()} == {
        "def f(x):": 1,
        "# r": 1,
        "y = [x]": 3,
        "for i in x:": 5,
        "y = i": 6,
        "return y": 7,
    }


def test_deep_and_long():
    chain = parse("def f(x):\n    return " + " + ".join(["x"] * 2000)).body[0]
    assert len(emit([chain]).text.split("\n")) > 100
    branches = "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(400))
    text = emit([parse(f"def f(x):\n    if x:\n        y = x\n{branches}    return y").body[0]]).text
    assert text.count("    elif x ==") == 400


def test_the_same_text_each_time():
    text = Sample(3).function(30)
    assert len({emit([parse(text).body[0]]).text for _ in range(3)}) == 1


def test_a_long_comment_is_cut_where_lines_end():
    made = function('def f(x):\n    "# C"\n    if x:\n        "# C"\n        return x')
    for node in gast.walk(made):
        if isinstance(node, Comment):
            node.text = "model.py:7   y = " + "some_name+" * 20
    lines = [line for line in emit([made]).text.split("\n") if "#" in line]
    assert [len(line) for line in lines] == [88, 88]
    assert all(line.lstrip().startswith("# model.py:7   y = some_name+") and line.endswith(" …") for line in lines)


def test_a_long_docstring_is_filled():
    made = function("def f(x):\n    return x")
    text = f"Gradient of demo.f (demo.py:1) with respect to {', '.join(f'parameter_{n}' for n in range(20))}."
    made.body.insert(0, gast.Expr(gast.Constant(text + "\nMade by hand.", None)))
    printed = emit([made]).text
    assert all(len(line) <= 88 for line in printed.split("\n"))
    assert " ".join(text.split()) in " ".join(printed.split())
    assert '\n    Made by hand."""\n' in printed
