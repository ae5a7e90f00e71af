"""What the compiler emits is a legal, fully ruled program: it goes down the road again."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types

import pytest

from srcgrad.api.derivative import Derivative
from tests.corpus import CASES, OF_DATA, REFUSED_TWICE
from tests.parameters import cases, some_by_day

pytestmark = pytest.mark.slow

TWICE = [case for case in OF_DATA if case.order >= 2 and case.function.__name__ not in REFUSED_TWICE]
ALLOWED = (
    ast.FunctionDef, ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Return, ast.Pass,
    ast.Break, ast.Continue, ast.Import, ast.ImportFrom, ast.With, ast.Assert, ast.Raise, ast.Delete,
)  # fmt: skip


@pytest.mark.parametrize("case", some_by_day(TWICE, 15))
@pytest.mark.costly(4)
def test_the_text_of_the_gradient_is_a_plain_program(case):
    """Fenced statements only, no closures, every name defined or imported at the top."""
    for mode in ("split", "forward"):
        text = Derivative(case.function, case.argnums, mode=mode).source
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt):
                assert isinstance(node, ALLOWED), ast.unparse(node)
        for function in (n for n in tree.body if isinstance(n, ast.FunctionDef)):
            nested = [n for n in ast.walk(function) if isinstance(n, ast.FunctionDef) and n is not function]
            assert not nested, ast.unparse(nested[0])
        bound = set(re.findall(r"^# (\w+): .* bound when compiled$", text, re.MULTILINE))
        unknown = _free_names(text) - set(dir(importlib.import_module("builtins"))) - bound
        assert not unknown, unknown


def _free_names(text: str) -> set[str]:
    """Globals that the functions of a module read and the module does not bind."""
    code = compile(text, "<emitted>", "exec")
    bound = set(code.co_names) if not code.co_consts else set()
    read: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Assign):
            bound.update(n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name))
    stack = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    while stack:
        inner = stack.pop()
        stack += [constant for constant in inner.co_consts if isinstance(constant, types.CodeType)]
        read.update(
            i.argval
            for i in __import__("dis").get_instructions(inner)
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME") and isinstance(i.argval, str)
        )
    return read - bound


@pytest.mark.parametrize("case", some_by_day(TWICE, 120))
@pytest.mark.costly(2)
def test_the_gradient_goes_down_the_road_again(case):
    """Both halves of a pair in one function, and the tangent, are differentiated in both modes; nothing is known."""
    for mode in ("reverse", "forward"):
        first = Derivative(case.function, case.argnums, mode=mode).program(None).entry
        taken = tuple(list(inspect.signature(first).parameters)[k] for k in case.argnums)
        assert Derivative(first, taken, mode="split").source
        assert Derivative(first, taken, mode="forward").source


def test_the_tangent_of_a_tangent_has_names_of_its_own_in_an_attempt():
    """Both were once called ``x_dot``, which is no program."""
    (case,) = cases([case for case in CASES if case.name == "try_ok"])[0].values
    first = Derivative(case.function, ("x",), mode="forward").program(None).entry
    assert list(inspect.signature(first).parameters)[:2] == ["x", "x_dot"]
    assert "x_dot2" in Derivative(first, ("x",), mode="forward").source


THIRD = ("cube", "design_page", "branch_in_a_loop", "simple_break", "nested_loops", "call_of_a_call")


@pytest.mark.parametrize("case", some_by_day([case for case in CASES if case.name in THIRD], 3))
@pytest.mark.costly(1)
def test_three_times(case):
    """The third derivative compiles, and its text does not explode."""
    lines = []
    function = case.function
    for _ in range(3):
        derivative = Derivative(function, case.argnums, mode="reverse")
        lines.append(len(derivative.source.splitlines()))
        function = derivative.program(None).entry
    assert lines[2] < 60 * lines[0]


@pytest.mark.parametrize("case", some_by_day(TWICE, 40))
def test_the_text_is_as_black_would_write_it(case):
    import black

    text = Derivative(case.function, case.argnums, mode="reverse").source
    assert black.format_str(text, mode=black.Mode()) == text
