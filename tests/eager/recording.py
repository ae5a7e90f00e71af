"""Small programs with what PyTorch printed for them, and a runner for them.

A program's expression statements are printed where they are not None; an exception ends it.  ``torch`` means this
module, in import statements too.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import srcgrad.eager as torch

ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def recorded(theme: str) -> dict[str, Any]:
    """The programs of one theme: name, program, what was printed, type and text of the exception."""
    path = Path(__file__).parent / "recorded" / f"{theme}.json"
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@contextlib.contextmanager
def imported_as_torch() -> Iterator[None]:
    """``import torch`` means this module inside, whether or not another is installed."""
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
    for name in before:
        del sys.modules[name]
    ours = {name: module for name, module in sys.modules.items() if f"{name}.".startswith("srcgrad.eager.")}
    sys.modules.update({f"torch{name.removeprefix('srcgrad.eager')}": module for name, module in ours.items()})
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
            del sys.modules[name]
        sys.modules.update(before)


def reset() -> None:
    """The module as it is when it is imported."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default", sci_mode=None)
    torch.autograd.set_detect_anomaly(False)


def run(program: str) -> tuple[str, list[str] | None]:
    """What a program prints, and type and text of the exception that ends it."""
    names: dict[str, Any] = {"torch": torch, "np": np, "math": math, "__name__": "__probe__"}
    printed, error = io.StringIO(), None
    reset()
    with (
        imported_as_torch(),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("always")
        warnings.showwarning = lambda *_, **__: None  # type: ignore[assignment]
        try:
            for statement in ast.parse(program).body:
                if isinstance(statement, ast.Expr):
                    value = eval(compile(ast.Expression(statement.value), "<program>", "eval"), names)
                    if value is not None:
                        print(repr(value))
                else:
                    exec(compile(ast.Module([statement], []), "<program>", "exec"), names)
        except Exception as raised:
            error = [type(raised).__name__, masked(str(raised))]
        finally:
            reset()
    return masked(printed.getvalue()), error


def masked(text: str) -> str:
    """Addresses differ from run to run."""
    return ADDRESS.sub("0xADDR", text)
