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
