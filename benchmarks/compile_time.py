"""How long compiling takes, and what ``import srcgrad`` adds to ``import numpy``."""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from types import FunctionType

import srcgrad


def straight_line(statements: int) -> str:
    """The text of a function of two scalars with so many assignments, no two of which are alike."""
    forms = ("np.sin({a}) * {b}", "{a} + {c} * {b}", "np.exp(-{a} * {a}) - {b}", "{a} / (2.0 + {b} * {b})")
    lines = ["import numpy as np", "", "", "def f(x, y):", "    v0 = x * y", "    v1 = x - y"]
    for number in range(2, statements):
        form = forms[number % len(forms)]
        lines.append(f"    v{number} = " + form.format(a=f"v{number - 1}", b=f"v{number - 2}", c=f"{number}.5"))
    return "\n".join([*lines, f"    return v{statements - 1}", ""])


def load(text: str, name: str, folder: Path) -> FunctionType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function: FunctionType = module.f
    return function


def compile_seconds(statements: int, rounds: int = 3) -> float:
    """The median time from a function to its first gradient, the rules being loaded already."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        srcgrad.grad(load(straight_line(8), "warm", Path(folder)))(0.5, 0.25)
        for number in range(rounds):
            function = load(straight_line(statements), f"straight_{statements}_{number}", Path(folder))
            begin = perf_counter()
            srcgrad.grad(function, (0, 1))(0.5, 0.25)
            times.append(perf_counter() - begin)
    return statistics.median(times)


_IMPORT = """
from time import perf_counter
begin = perf_counter()
import numpy
middle = perf_counter()
import srcgrad
print(perf_counter() - middle)
"""


def import_seconds(rounds: int = 7) -> float:
    """The median over fresh interpreters of what ``import srcgrad`` takes after ``import numpy``."""
    command = [sys.executable, "-c", _IMPORT]
    return statistics.median(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(rounds)
    )
