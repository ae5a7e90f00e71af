"""Programs whose branches nest so deep that the compiler needs more frames than Python grants by default."""

import linecache
import sys

import numpy as np
import pytest

from srcgrad import grad


def test_attempts_in_attempts_of_many_statements():
    lines = ["def program(x):", "    s = x"]
    lines += [f"{'    ' * (k + 1)}try:" for k in range(3)]
    lines += [f"{' ' * 16}s = s * 1.01 + x[{k % 3}]" for k in range(12)]
    for k in reversed(range(3)):
        lines += [f"{'    ' * (k + 1)}except IndexError:", f"{'    ' * (k + 2)}s = s * {k}.5"]
    lines.append("    return np.sum(s * s)")
    text = "\n".join(lines) + "\n"
    linecache.cache["<nested attempts>"] = (len(text), None, text.splitlines(keepends=True), "<nested attempts>")
    names = {"np": np}
    exec(compile(text, "<nested attempts>", "exec"), names)
    program, x = names["program"], np.array([0.1, 0.2, 0.3])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)  # as if there were more of them
    try:
        gradient = grad(program)(x)
        assert sys.getrecursionlimit() == 300
    finally:
        sys.setrecursionlimit(limit)
    h = 1e-6
    for k, direction in enumerate(np.eye(3)):
        slope = (program(x + h * direction) - program(x - h * direction)) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-6)


def twice_inside(x):
    t = 1.0
    try:
        try:
            t = t * x[0]
            t = t / x[1]
            t = t + x[2] * t
        except ZeroDivisionError:
            t = t + 1.0
        finally:
            t = t * x[0]
    except ValueError:
        t = t * 2.0
    return t


def test_what_stands_in_several_is_attempted_once():
    """Once each attempt was attempted again: the text grew by the depth's power, and took minutes to compile."""
    text = grad(twice_inside).source_for(np.array([1.5, 0.5, 2.0]))
    assert text.count("attempt(") == 5
    np.testing.assert_allclose(grad(twice_inside)(np.array([1.5, 0.5, 2.0])), [18.0, -27.0, 4.5])
