"""Tables, durations, the progress line, and excerpts of generated code."""

from __future__ import annotations

import io

import pytest

from srcgrad.inspect.report import Progress, adjoint_excerpt, duration, median_seconds, print_code, table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_table_aligns_its_columns_and_rounds_floats():
    text = table(("name", "value", "note"), [("a", 0.123456, ""), ("longer", 12, "x")], digits=3)
    assert text == "name    value  note\na       0.123\nlonger     12     x"


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0184, "18.4 ms"), (0.000371, "371 us"), (4.4e-8, "44 ns"), (0.0, "0 ns")]
)
def test_duration_chooses_its_unit(seconds, text):
    assert duration(seconds) == text


def test_median_seconds_calls_at_least_once_per_round():
    calls = []
    assert median_seconds(lambda: calls.append(1), rounds=3, budget=0.0) > 0.0
    assert len(calls) == 4


def test_progress_rewrites_one_line_on_a_terminal():
    stream = Terminal()
    progress = Progress(stream)
    progress.show("step 1")
    progress.show("step 2")
    progress.close()
    assert stream.getvalue() == "\r\x1b[Kstep 1\r\x1b[Kstep 2\n"


def test_progress_prints_a_line_now_and_then_elsewhere():
    stream = io.StringIO()
    progress = Progress(stream, seconds=3600.0)
    for step in range(5):
        progress.show(f"step {step}")
    progress.close()
    assert stream.getvalue() == "step 0\nstep 4\n"


GENERATED = '''\
import numpy as np


def grad_f(x, n, s_bar=1.0):
    """Gradient of demo.f."""
    tape = []
    s = x
    for i in range(n):
        tape.append(s)
        s = s * s

    x_bar = 0.0
    for i in reversed(range(n)):
        s = tape.pop()
        # demo.py:4   s = s * s
        s_bar = s_bar * 2 * s
    # demo.py:2   s = x
    return s_bar
'''


def test_excerpt_shows_the_head_and_where_the_reverse_sweep_begins():
    assert adjoint_excerpt(GENERATED, lines=4) == (
        "def grad_f(x, n, s_bar=1.0):\n"
        "    ...  # 7 lines: the forward sweep\n"
        "    x_bar = 0.0\n"
        "    for i in reversed(range(n)):\n"
        "        s = tape.pop()\n"
        "        # demo.py:4   s = s * s\n"
        "    ...  # 3 more lines"
    )


def test_excerpt_of_a_function_without_quoted_lines_is_its_beginning():
    assert adjoint_excerpt("def grad_f(x):\n    return 1.0\n") == "def grad_f(x):\n    return 1.0"


def test_code_is_printed_as_it_is_where_the_output_is_no_terminal():
    stream = io.StringIO()
    print_code("x = 1\n\n", stream)
    assert stream.getvalue() == "x = 1\n"
