"""Finding the source of functions, wherever and however they were written, and resolving their names."""

from __future__ import annotations
import __future__

import ast
import doctest
import functools
import importlib
import importlib.util
import linecache
import math
import os
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad.errors import SourceChanged, SourceUnavailable, UnresolvedName
from srcgrad.frontend.locate import parsed
from srcgrad.frontend.source import Source, source_of
from srcgrad.syntax.parse import walk

SCALE = 2.0


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Callable[..., ModuleType]]:
    """A function that writes a module and imports it."""
    made: list[str] = []

    def write(text: str, name: str = "written_model") -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        made.append(name)
        spec.loader.exec_module(module)
        return module

    yield write
    for name in made:
        sys.modules.pop(name, None)


def cell(text: str, filename: str = "<ipython-input-1-abc>", **names: object) -> dict[str, Any]:
    """The names that a notebook's cell binds."""
    text = textwrap.dedent(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "__main__", **names}
    exec(compile(text, filename, "exec"), namespace)
    return namespace


def body(source: Source) -> str:
    return source.text.splitlines()[-1].strip()


# --- finding ---------------------------------------------------------------------------------------------------------
def test_a_function_of_a_module() -> None:
    source = source_of(body)
    assert isinstance(source.node, gast.FunctionDef) and source.node.name == "body"
    assert source.filename == __file__ and source.qualname == source.name == "body"
    assert source.node.lineno == body.__code__.co_firstlineno
    assert source.line(source.node.lineno) == "def body(source: Source) -> str:"
    assert source.line(0) == source.line(10**6) == ""
    assert (
        str(source)
        == source.text
        == "def body(source: Source) -> str:\n    return source.text.splitlines()[-1].strip()"
    )
    assert not source.generated and source.receiver is None


def test_a_function_with_assertions_is_found_although_pytest_rewrites_it() -> None:
    def asserting(x):
        assert x > 0, "positive"
        return x * x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert body(source_of(asserting)) == "return x * x"


def test_lambdas_on_one_line_are_told_apart() -> None:
    f, g, h = lambda x: x * x, lambda x: x * 3.0, lambda y: y + 1
    assert [source_of(each).text for each in (f, g, h)] == ["lambda x: x * x", "lambda x: x * 3.0", "lambda y: y + 1"]


def test_a_lambda_inside_a_lambda_on_one_line() -> None:
    outer = lambda x: (lambda y: x + y) if x > 0 else (lambda y: x - y)
    assert source_of(outer).text.startswith("lambda x: (lambda y: x + y)")
    assert source_of(outer(1)).text == "lambda y: x + y"
    assert source_of(outer(-1)).text == "lambda y: x - y"


def test_lambdas_with_the_same_text_and_other_closures() -> None:
    f, g = (lambda a: lambda x: a * x)(2.0), (lambda a: lambda x: a * x)(3.0)
    assert source_of(f).text == source_of(g).text == "lambda x: a * x"
    values = [source_of(each).resolve("a").value for each in (f, g)]
    assert values == [2.0, 3.0]


def test_equal_lambdas_on_one_line_have_places_of_their_own() -> None:
    f, g = lambda x: x * x, lambda x: x * x
    assert source_of(f).text == source_of(g).text
    assert source_of(f).span().line == source_of(g).span().line


def test_a_lambda_over_several_lines_and_as_an_argument() -> None:
    fs = list(
        map(
            lambda scale: (
                lambda x: (
                    scale * x  # deep
                )
            ),
            [1.0],
        )
    )
    assert source_of(fs[0]).text.replace("\n", "").replace(" ", "") == "lambdax:(scale*x#deep)"


def test_lambdas_that_were_compiled_without_columns_are_told_apart_by_what_they_do() -> None:
    text = "f, g = lambda x: x * 2, lambda x: x * 3\n"
    namespace = cell(text, "<two>")
    for name, expected in (("f", "lambda x: x * 2"), ("g", "lambda x: x * 3")):
        namespace[name].__code__ = namespace[name].__code__.replace(co_linetable=b"")
        assert source_of(namespace[name]).text == expected


def test_lambdas_that_cannot_be_told_apart_are_refused() -> None:
    function = cell("f, g = lambda x: x * 2, lambda x: x * 3\n", "<two>")["f"]
    function.__code__ = function.__code__.replace(co_linetable=b"")
    cell("f, g = lambda x: x * 4, lambda x: x * 5\n", "<two>")
    with pytest.raises(
        SourceUnavailable, match=r"2 functions on line 1 cannot be told apart \[E0215\]\n  hint: .*lines of their own"
    ):
        source_of(function)


def test_a_nested_function_and_its_name_in_messages() -> None:
    def outer():
        def inner(x):
            return x * SCALE

        return inner

    source = source_of(outer())
    assert source.name == "inner" and source.qualname.endswith("outer.<locals>.inner")
    assert body(source) == "return x * SCALE"


class Model:
    __rate = 0.5

    def step(self, x):
        return x * self.__rate

    @staticmethod
    def still(x):
        return x

    @classmethod
    def made(cls, x):
        return x + 1

    @property
    def area(self):
        return 1.0


def test_methods() -> None:
    model = Model()
    bound, plain = source_of(model.step), source_of(Model.step)
    assert bound.receiver is model and plain.receiver is None
    assert [name.id for name in bound.node.args.args] == ["self", "x"]
    assert bound.name == "Model.step"
    assert source_of(Model.still).name == "Model.still"
    assert source_of(Model.made).receiver is Model
    assert source_of(Model.area.fget).name == "Model.area"


def test_private_names_are_those_of_the_class() -> None:
    source = source_of(Model().step)
    attribute = next(node for node in walk(source.node) if isinstance(node, gast.Attribute))
    assert attribute.attr == "_Model__rate"
    assert source.span(attribute).code == "self.__rate"


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2.0 * f(*args)

    return wrapper


def unchanged(f):
    return f


@unchanged
@unchanged
def decorated(x):
    return x * x


@doubled
def wrapped(x):
    return x * x * x


def test_decorators_are_stripped() -> None:
    source = source_of(decorated)
    assert source.node.decorator_list == [] and source.text.startswith("def decorated(x):")
    assert source.span().line == decorated.__code__.co_firstlineno + 2


def test_a_wrapper_is_the_function_that_runs() -> None:
    source = source_of(wrapped)
    assert source.name == "wrapper" and body(source) == "return 2.0 * f(*args)"
    assert source_of(source.resolve("f").value).text.startswith("def wrapped(x):")


def test_async_functions_and_generators_are_found() -> None:
    async def waits(x):
        return x

    def yields(x):
        yield x

    assert isinstance(source_of(waits).node, gast.AsyncFunctionDef)
    assert isinstance(source_of(yields).node, gast.FunctionDef)


def test_a_function_that_is_defined_twice_under_one_name() -> None:
    functions = []
    for sign in (1, -1):
        if sign > 0:

            def step(x):
                return x + 1.0

        else:

            def step(x):
                return x - 1.0

        functions.append(step)
    assert [body(source_of(step)) for step in functions] == ["return x + 1.0", "return x - 1.0"]


def test_a_function_made_global_inside_another() -> None:
    namespace = cell("def make():\n    global f\n    def f(x):\n        return x\nmake()\n", "<makes-global>")
    assert body(source_of(namespace["f"])) == "return x"


def test_a_notebook_cell() -> None:
    first = cell("def f(x):\n    return x * x\n", "<ipython-input-1>")
    second = cell("# run again\ndef f(x):\n    return x * x * x\n", "<ipython-input-2>")
    assert body(source_of(first["f"])) == "return x * x"
    source = source_of(second["f"])
    assert body(source) == "return x * x * x"
    assert source.span(source.node.body[0]).place == "<ipython-input-2>:3"


def test_a_cell_that_awaits_at_top_level() -> None:
    text = "async def g(): pass\nif False: await g()\ndef f(x):\n    return x\n"
    namespace = cell("def g(): pass\nif False: g()\nawaited = 1\ndef f(x):\n    return x\n", "<cell-await>")
    linecache.cache["<cell-await>"] = (len(text), None, text.splitlines(keepends=True), "<cell-await>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert body(source_of(namespace["f"])) == "return x"


def test_emitted_code_carries_its_text() -> None:
    text = "def grad_f(x):\n    return 2.0 * x\n"
    namespace: dict[str, Any] = {}
    exec(compile(text, "<srcgrad demo.f:adjoint 0a1b2c3d>", "exec"), namespace)
    function = namespace["grad_f"]
    function.__srcgrad_source__ = text
    source = source_of(function)
    assert source.generated and source.text == text.rstrip()


def test_emitted_code_in_linecache_is_generated() -> None:
    assert source_of(cell("def f(x):\n    return x\n", "<srcgrad demo.f:adjoint 1>")["f"]).generated


def test_a_file_is_parsed_once() -> None:
    assert source_of(body).file is source_of(cell).file
    assert parsed.cache_info().hits > 0


def test_each_source_has_a_tree_of_its_own() -> None:
    assert source_of(body).node is not source_of(body).node


@pytest.mark.parametrize("name", ["argparse", "fractions", "statistics", "numpy.lib._function_base_impl"])
@pytest.mark.costly(2, first=1)
def test_every_function_of_a_module_is_found_and_unedited(name: str) -> None:
    module = importlib.import_module(name)
    owners = [module, *(value for value in vars(module).values() if isinstance(value, type))]
    functions = [value for owner in owners for value in vars(owner).values() if isinstance(value, FunctionType)]
    functions = [function for function in functions if not function.__code__.co_filename.startswith("<")]
    assert len(functions) > 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in functions:
            source = source_of(function)
            names = [name.id for name in (*source.node.args.posonlyargs, *source.node.args.args)]
            assert names == list(function.__code__.co_varnames[: function.__code__.co_argcount])
            assert source.qualname == function.__code__.co_qualname


@pytest.mark.parametrize("module", ["source", "locate"])
def test_the_examples_of_the_modules(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"srcgrad.frontend.{module}"))
    assert result.attempted > 0 == result.failed


# --- no source -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("function", "reason", "hint"),
    [
        (np.sin, "sin has no Python source", "srcgrad.rule"),
        (len, "len has no Python source", "srcgrad.rule"),
        (math.sin, "math.sin has no Python source", "srcgrad.rule"),
        (Model, "the class .*Model has no Python source", "function that makes the object"),
        (functools.partial(body, 1), "a partial has no Python source", "lambda"),
        (functools.lru_cache(body), "body has no Python source", "__wrapped__"),
        (Model(), "a Model has no Python source", "__call__|srcgrad.rule"),
    ],
)
def test_what_is_no_python_function_is_refused(function: Any, reason: str, hint: str) -> None:
    with pytest.raises(SourceUnavailable, match=rf"(?s){reason}.*hint: .*({hint})"):
        source_of(function)


def test_text_that_was_never_kept_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x", namespace)
    with pytest.raises(SourceUnavailable, match=r"compiled from <string> \[E0215\]\n  hint: .*put it in a file"):
        source_of(namespace["f"])


def test_python_c_and_standard_input() -> None:
    program = (
        "from srcgrad.frontend.source import source_of\n"
        "from srcgrad.errors import SourceUnavailable\n"
        "def f(x): return x * x\n"
        "try: print(source_of(f).text)\n"
        "except SourceUnavailable as error: print('unavailable', 'hint:' in str(error))\n"
    )
    for arguments, given in ((["-c", program], None), (["-"], program)):
        ran = subprocess.run(
            [sys.executable, *arguments], input=given, capture_output=True, text=True, check=True, timeout=60
        )
        assert ran.stdout in ("unavailable True\n", "def f(x): return x * x\n")


# --- edited files ----------------------------------------------------------------------------------------------------
def edit(module: ModuleType, text: str) -> None:
    path = Path(str(module.__file__))
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    later = path.stat().st_mtime + 10
    os.utime(path, (later, later))


def test_an_edited_function_warns(write: Callable[..., ModuleType]) -> None:
    module = write("def f(x):\n    return x * 2.0\n")
    assert body(source_of(module.f)) == "return x * 2.0"
    edit(module, "def f(x):\n    return x * 3.0\n")
    with pytest.warns(SourceChanged, match=r"written_model\.py:1: f was edited after it was imported"):
        assert body(source_of(module.f)) == "return x * 3.0"


@pytest.mark.parametrize("before", ["x * 2.0", "x * k", "g(x, 1)", "(lambda y: y)(x)"])
@pytest.mark.parametrize("after", ["x * -2.0", "x / 2.0", "x * q", "g(x, True)", "(lambda *y: y)(x)"])
def test_every_kind_of_edit_is_seen(before: str, after: str, write: Callable[..., ModuleType]) -> None:
    module = write(f"def f(x):\n    return {before}\n")
    edit(module, f"def f(x):\n    return {after}\n")
    with pytest.warns(SourceChanged):
        source_of(module.f)


def test_a_cell_whose_statements_were_compiled_one_by_one_was_not_edited() -> None:
    text = "import numpy as np\ndef f(x):\n    return np.sum(x)\n"  # 3.11 calls what the same text imports otherwise
    name = "<ipython-input-1-statements>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec"), namespace)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert source_of(namespace["f"]).text.endswith("np.sum(x)")


def test_a_debugger_that_gives_nodes_their_parents() -> None:
    for node in ast.walk(theirs := ast.parse("-x + (not y and z) < w or ~v")):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]  # as IPython's tracebacks do; operators are shared
    try:
        assert source_of(cell("def f(x):\n    return -x if not x and x else ~x\n", "<cell-operators>")["f"]).name == "f"
    finally:
        for node in ast.walk(theirs):
            vars(node).pop("parent", None)


def test_a_notebook_that_imports_annotations_from_the_future() -> None:
    text = "def f(x: 'a') -> b:\n    def g(y: c) -> d:\n        return y\n    return g(x)\n"
    linecache.cache["<future>"] = (len(text), None, text.splitlines(keepends=True), "<future>")
    namespace: dict[str, Any] = {}
    exec(compile(text, "<future>", "exec", __future__.annotations.compiler_flag), namespace)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert body(source_of(namespace["f"])) == "return g(x)"


def test_a_function_that_only_moved_is_found_without_a_warning(write: Callable[..., ModuleType]) -> None:
    module = write("def f(x):\n    return x * 2.0\n\ndef g(x):\n    return x\n")
    edit(module, "import math\n\ndef g(x):\n    return x\n\n# moved\ndef f(x):\n    return x * 2.0  # as before\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = source_of(module.f)
    assert source.span().line == 7 and body(source).startswith("return x * 2.0")


def test_a_function_that_is_gone_is_unavailable(write: Callable[..., ModuleType]) -> None:
    module = write("def f(x):\n    return x * 2.0\n")
    edit(module, "def other(x):\n    return x\n")
    with pytest.raises(SourceUnavailable, match=r"no function 'f' any more \[E0215\]\n  hint: import the module again"):
        source_of(module.f)


def test_a_file_that_no_longer_parses_is_unavailable(write: Callable[..., ModuleType]) -> None:
    module = write("def f(x):\n    return x * 2.0\n")
    edit(module, "def f(x:\n")
    with pytest.raises(SourceUnavailable, match=r"written_model\.py is no Python"):
        source_of(module.f)


def test_other_encodings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes("# -*- coding: latin-1 -*-\ndef f(x):\n    é = x; return é * é\n".encode("latin-1"))
    namespace: dict[str, Any] = {}
    exec(compile(path.read_bytes(), str(path), "exec"), namespace)
    source = source_of(namespace["f"])
    returned = source.node.body[-1]
    assert source.span(returned).code == "return é * é"


# --- spans -----------------------------------------------------------------------------------------------------------
def test_spans_count_characters_and_lines_of_the_file() -> None:
    def f(x):
        ü = x; y = ü + x  # fmt: skip
        return y

    source = source_of(f)
    span = source.span(source.node.body[1])
    assert (span.line, span.column, span.end_column) == (f.__code__.co_firstlineno + 1, 15, 24)
    assert span.code == "y = ü + x" and span.function.endswith("f")
    assert source.span(gast.Constant(1, None)).known is False


def test_a_compound_statement_is_placed_at_its_header() -> None:
    def f(x, n):
        for i in range(n):
            if i > 2:
                x = x * i
            elif i == 1:
                continue
        while x > 1:
            x = x / 2
        with np.errstate(all="ignore"):
            x = x + 1
        try:
            x = x + 2
        except:
            pass
        match x:
            case 1:
                pass

        def inner(y):
            return y

        return inner(x)

    source = source_of(f)
    codes = [source.span(node).code for node in walk(source.node) if isinstance(node, gast.stmt)]
    for header in (
        "def f",
        "for i in range(n)",
        "if i > 2",
        "elif i == 1",
        "while x > 1",
        'with np.errstate(all="ignore")',
        "try",
        "match x",
        "def inner",
        "return inner(x)",
    ):
        assert header in codes
    handler = next(node for node in walk(source.node) if isinstance(node, gast.ExceptHandler))
    assert source.span(handler).code == "except"


def test_nodes_without_a_place_are_placed_by_what_they_hold() -> None:
    source = source_of(lambda xs: [x * x for x in xs if x > 0])
    comprehension = next(node for node in walk(source.node) if isinstance(node, gast.comprehension))
    assert source.span(comprehension).code == "x in xs if x > 0"


# --- names -----------------------------------------------------------------------------------------------------------
def test_globals_are_fixed_or_read_again(write: Callable[..., ModuleType]) -> None:
    module = write(
        """
        import math
        import numpy as np
        from math import sin
        from srcgrad.errors import render as shown
        RATE = 2.0
        def helper(x):
            return x
        def f(x):
            return RATE * math.pi * np.exp(x) * sin(x) * helper(x) * len(shown(x))
        """
    )
    source = source_of(module.f)

    def home(name: str) -> tuple[object, ...]:
        binding = source.resolve(name)
        assert binding is not None and binding.preferred == name
        return binding.module, binding.attribute, binding.cell is None

    assert home("np") == ("numpy", None, True)
    assert home("math") == ("math", None, True)
    assert home("sin") == ("math", "sin", True)
    assert home("shown") == ("srcgrad.errors", "render", True)
    assert home("helper") == ("written_model", "helper", True)
    assert home("len") == ("builtins", "len", True)
    assert home("RATE") == ("written_model", "RATE", False)
    rate = source.resolve("RATE")
    assert rate is not None and rate.cell is not None and rate.value == 2.0
    module.RATE = 5.0
    assert rate.cell() == 5.0
    del module.RATE
    with pytest.raises(NameError, match="RATE"):
        rate.cell()


def test_closure_variables_are_read_again() -> None:
    def model():
        rate = 2.0

        def set_rate(value):
            nonlocal rate
            rate = value

        def twice(x):
            return x * 2.0

        return (lambda x: twice(x) * rate), set_rate

    f, set_rate = model()
    source = source_of(f)
    rate, twice = source.resolve("rate"), source.resolve("twice")
    assert rate is not None and rate.cell is not None and (rate.module, rate.attribute) == (None, None)
    assert twice is not None and twice.cell is None and (twice.module, twice.attribute) == (None, None)
    set_rate(7.0)
    assert rate.cell() == 7.0


def test_a_closure_hides_a_global_and_a_global_hides_a_builtin() -> None:
    namespace = cell("def len(x): return x\ndef f(x): return len(x)\n", "<hides>")
    assert source_of(namespace["f"]).resolve("len").value is namespace["len"]
    SCALE = 3.0

    def f(x):
        return x * SCALE

    assert source_of(f).resolve("SCALE").value == 3.0


def test_a_binding_is_the_same_object_each_time() -> None:
    source = source_of(body)
    assert source.resolve("SCALE") is source.resolve("SCALE")


def test_a_function_of_main_that_no_module_holds_has_no_import() -> None:
    namespace = cell("G = 1.0\ndef f(x): return G * x\n", "<nowhere>", __name__="no_such_module")
    binding = source_of(namespace["f"]).resolve("G")
    assert (binding.module, binding.attribute) == (None, None)


def test_an_unknown_name() -> None:
    namespace = cell(
        "import numpy as np\ndef f(x):\n    return numpi.sin(x) + helpr(x)\ndef helper(x): return x\n", "<u>"
    )
    source = source_of(namespace["f"])
    assert source.resolve("helpr") is None
    call = source.node.body[0].value.right
    with pytest.raises(UnresolvedName) as caught:
        source.resolve("helpr", source.span(call.func))
    assert str(caught.value) == (
        "the name 'helpr' is not defined [E0115]\n"
        "  <u>:3, in f\n"
        "    3 |     return numpi.sin(x) + helpr(x)\n"
        "      |                           ^^^^^ no such name\n"
        "  hint: did you mean 'helper'?"
    )


def test_a_closure_variable_without_a_value_yet() -> None:
    def model():
        def f(x):
            return x * later

        source = source_of(f)
        assert source.resolve("later") is None
        with pytest.raises(UnresolvedName, match="'later' of the enclosing function has no value yet"):
            source.resolve("later", source.span())
        later = 2.0
        assert source.resolve("later").value == later

    model()
