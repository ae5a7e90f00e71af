"""``torch.compile``: a function of NumPy becomes one node by ``srcgrad.compile``; everything else runs as it is.

A function of tensors is PyTorch's program, which this module runs; one that calls NumPy is a program for the compiler,
which the package hands on: the two never import each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

_HERE = "srcgrad.eager"


def compile(
    model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: Any = "inductor", mode: str | None = None, options: Any = None, disable: bool = False,
) -> Any:  # fmt: skip
    """A function of NumPy as one compiled node of the graph; any other function, and a module, as it is."""
    if model is None:
        return lambda f: compile(f, disable=disable)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    compiler = getattr(sys.modules.get("srcgrad"), "compile", None)
    return compiler(model) if compiler is not None and not disable and _is_of_numpy(model) else model


def _is_of_numpy(f: Any) -> bool:
    """Whether a function calls NumPy by its globals, and nothing of this module's."""
    if not isinstance(f, FunctionType) or f.__closure__:
        return False
    values = [f.__globals__.get(name) for name in f.__code__.co_names]
    homes = [_home(value) for value in values]
    return "numpy" in homes and not any(f"{home}.".startswith((f"{_HERE}.", "torch.")) for home in homes)


def _home(value: Any) -> str:
    """The package that a module or a function is from, as far as it matters here."""
    if isinstance(value, np.ufunc):
        return "numpy"
    if not isinstance(value, ModuleType | FunctionType | BuiltinFunctionType | type):
        return ""
    name = str(value.__name__ if isinstance(value, ModuleType) else value.__module__)
    return "numpy" if name.partition(".")[0] == "numpy" else name
