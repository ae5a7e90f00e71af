"""The emitted text of named functions, compared exactly; ``pytest tests/test_golden.py --bless`` rewrites it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from srcgrad.api.derivative import Derivative
from tests.corpus import BY_NAME
from tests.directed.program import collected
from tests.directed.worked_example import model, relax

GOLDEN = Path(__file__).parent / "golden"
PAGE = Path(__file__).parent.parent / "ARCHITECTURE.md"

NAMES = {
    # name: the mode of the program that is kept
    "cube": "reverse",
    "reused_subexpression": "reverse",
    "affine_layer": "split",
    "broadcasting": "reverse",
    "piecewise": "reverse",
    "nested_branches": "reverse",
    "match_on_strings": "reverse",
    "design_page": "reverse",
    "running_product": "reverse",
    "nested_loops": "reverse",
    "branch_in_a_loop": "reverse",
    "while_on_a_value": "reverse",
    "break_and_continue": "reverse",
    "return_from_a_loop": "reverse",
    "loop_else": "reverse",
    "every_exit_at_once": "reverse",
    "call_of_a_call": "reverse",
    "mutual_recursion": "reverse",
    "quadrature_of_a_closure": "reverse",
    "tuple_swap": "reverse",
    "list_of_layers": "reverse",
    "generator_in_sum": "reverse",
    "stencil_by_loop": "reverse",
    "rk4_lotka_volterra": "reverse",
    "rnn": "value",
    "mlp_mean_squared_error": "reverse",
    "kalman_filter": "reverse",
    "mandelbrot": "forward",
    "return_out_of_nested_loops": "split",
}


def source(name: str, mode: str) -> str:
    """The program of one corpus function that assumes nothing about its arguments."""
    case = BY_NAME[name]
    return Derivative(case.function, case.argnums, mode=mode).source


def test_there_are_enough():
    assert len(NAMES) >= 25


@pytest.mark.parametrize("name", NAMES)
def test_golden(name, expect_text):
    expect_text(GOLDEN / f"{name}.txt", source(name, NAMES[name]))


def worked_example() -> str:
    """The program of the example in ARCHITECTURE.md, for the kinds of its arguments."""
    program = next(one for one in collected() if one.function is model)
    derivative = Derivative(model, program.argnums, mode="reverse")
    values = derivative.parameters.bind(program.arguments, {})
    return derivative.program(values).emission.text


def test_the_page_shows_the_worked_example(expect_text, bless):
    text = worked_example()
    expect_text(GOLDEN / "worked_example.txt", text)
    page = PAGE.read_text(encoding="utf-8")
    if bless:
        start = page.index("```python\n", page.index("Its gradient for an array")) + len("```python\n")
        page = page[:start] + text + page[page.index("```", start) :]
        PAGE.write_text(page, encoding="utf-8")
    assert f"```python\n{text}```" in page
    for function in (relax, model):
        assert "def" + inspect.getsource(function).partition("def")[2] in page


def test_no_golden_file_is_orphaned():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {*NAMES, "worked_example"}
