"""Whether the forward half of a program gives the same when it runs again on the same arguments.

Enters: a program.  Leaves: the answer, by its text: it reads nothing outside, and each call in it is of a function that
is known to depend on its arguments alone.  Then a pullback that is called once need not keep what its backward half
stores into: should it be called again, the forward half is run again.

>>> namespace = {"np": np, "__builtins__": builtins}
>>> is_known("def f(x): return np.sin(x.sum())", namespace), is_known("def f(x): return np.random.rand()", namespace)
(True, False)
"""

from __future__ import annotations

import ast
import builtins
from collections import deque
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.programs import Compiled

_BUILTINS = frozenset(
    "abs all any bool complex dict divmod enumerate float frozenset int isinstance len list max min pow range "
    "reversed round set slice sorted str sum tuple type zip".split()
)
#: Of values that programs are given by doors: of numbers, texts, arrays and Python's containers.
_METHODS = frozenset(
    name for kind in (float, complex, str, tuple, list, dict, set, deque, np.ndarray) for name in dir(kind)
) - {"tofile", "dump"}  # fmt: skip
_READ_FILES = frozenset("load fromfile loadtxt genfromtxt fromregex memmap".split())
#: Modules all functions of which depend on their arguments alone.
_PURE = ("math", "cmath", "_operator", "collections", "scipy.special", "scipy.fft", "scipy._lib._array_api")
_FIXED = (int, float, complex, str, bytes, np.generic, np.dtype, slice, range, type(None), type(Ellipsis), ModuleType)
_NAME = "__srcgrad_runs_alike__"
_UNKNOWN = object()  # what a name stands for that is none of the namespace


def runs_alike(compiled: Compiled) -> bool:
    """Whether the forward half of a program may be run again in place of keeping what it saved."""
    kept: bool | None = vars(compiled.entry).get(_NAME)
    if kept is None:
        emission = compiled.emission
        is_closed = not compiled.reads_outside and all(binding.cell is None for _, binding in emission.bindings)
        kept = is_closed and is_known(emission.text, compiled.entry.__globals__)
        vars(compiled.entry)[_NAME] = kept
    return kept


def is_known(text: str, namespace: Mapping[str, Any]) -> bool:
    """Whether all functions that a text calls, or hands on, depend on their arguments alone."""
    nodes = list(ast.walk(ast.parse(text)))
    named = (node for node in nodes if isinstance(node, ast.Name | ast.Attribute))
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    return all(_is_fixed(node, namespace) for node in named) and all(_is_called(node, namespace) for node in called)


def _is_fixed(node: ast.expr, namespace: Mapping[str, Any]) -> bool:
    meant = _meant(node, namespace)
    return meant is _UNKNOWN or isinstance(meant, _FIXED) or _depends_on_arguments(meant, namespace)


def _is_called(node: ast.expr, namespace: Mapping[str, Any]) -> bool:
    """What is called is one of the functions that are looked at by name, or a method of a value."""
    if _meant(node, namespace) is not _UNKNOWN:
        return True
    return isinstance(node, ast.Attribute) and node.attr in _METHODS


def _meant(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What a global name, or an attribute of what it stands for, stands for; ``_UNKNOWN`` for a value of the program.
    """
    if isinstance(node, ast.Name):
        return namespace.get(node.id, vars(builtins).get(node.id, _UNKNOWN))
    if isinstance(node, ast.Attribute):
        holder = _meant(node.value, namespace)
        return _UNKNOWN if holder is _UNKNOWN else getattr(holder, node.attr, _UNKNOWN)
    return _UNKNOWN


def _depends_on_arguments(function: Any, namespace: Mapping[str, Any]) -> bool:
    if isinstance(function, FunctionType) and function.__globals__ is namespace:
        return True
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    name, home = getattr(function, "__name__", None), getattr(function, "__module__", None) or ""
    if home == "builtins":
        return name in _BUILTINS or isinstance(function, type) and issubclass(function, BaseException)
    if home.partition(".")[0] == "numpy":
        return not home.startswith("numpy.random") and name not in _READ_FILES
    return home.startswith(("srcgrad.runtime", *_PURE))
