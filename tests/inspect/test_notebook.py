"""``%load_ext srcgrad`` and ``%%grad``, in a shell of IPython."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell

CELL = """\
def loss(x, w):
    return np.sum(np.sin(w * x))
"""


@pytest.fixture
def shell():
    shell = InteractiveShell(history_load_length=0)
    shell.history_manager.enabled = False
    shell.run_line_magic("load_ext", "srcgrad")
    shell.run_cell("import numpy as np")
    return shell


def test_a_call_shows_value_gradient_and_the_text_for_its_arguments(shell):
    shown = shell.run_cell_magic("grad", "-a 0,w loss(np.ones(3), w=2.0)", CELL)
    assert shown.value == pytest.approx(3.0 * np.sin(2.0))
    np.testing.assert_allclose(shown.gradient[0], np.full(3, 2.0 * np.cos(2.0)))
    assert shown.gradient[1] == pytest.approx(3.0 * np.cos(2.0))
    text = repr(shown)
    assert text.startswith("value ") and "\ngradient " in text and "def grad_loss(x, w, value_bar=1.0):" in text
    assert ".loss (cell:1) with respect to x," in text and "# cell:2   return np.sum" in text
    assert "<th>gradient</th>" in shown._repr_html_() and "highlight" in shown._repr_html_()


def test_without_a_call_the_last_function_of_the_cell_is_shown(shell):
    shown = shell.run_cell_magic("grad", "", "def first(x):\n    return x\n\n\n" + CELL)
    assert not shown.called and shown.source.count("def grad_loss") == 1 and repr(shown) == shown.source
    assert shell.user_ns["first"](2.0) == 2.0, "what the cell defines stays defined"


def test_a_call_may_use_what_other_cells_define(shell):
    shell.run_cell("def square(x):\n    return x * x\n")
    assert shell.run_cell_magic("grad", "square(start)", "start = 3.0\n").gradient == 6.0


def test_a_refusal_is_printed_with_its_place(shell, capsys):
    assert shell.run_cell_magic("grad", "", "def f(x):\n    global y\n    y = x\n    return x\n") is None
    printed = capsys.readouterr().err
    assert printed.startswith("UnsupportedSyntax: ") and "  cell:3, in f\n" in printed and "hint: " in printed


@pytest.mark.parametrize(
    ("line", "said"),
    [("1 + 1", "expected a call"), ("-a 0;1 loss(1.0)", "positions and names"), ("", "defines no function")],
)
def test_a_wrong_line_is_one_message(shell, line, said):
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match=said):
        shell.run_cell_magic("grad", line, "z = 1\n")


def test_a_cell_that_fails_shows_nothing_of_ours(shell, capsys):
    assert shell.run_cell_magic("grad", "loss(1.0)", "1 / 0\n") is None
    assert "ZeroDivisionError" in capsys.readouterr().out
