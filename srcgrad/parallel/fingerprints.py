"""Whether a function or class is the same in two processes: a digest of what it computes with.

A program in text imports the functions that it calls without a derivative.  In a worker the same name may mean another
function: an older file, or one that the client has bound again since it was imported.  Digests are compared, and what
differs is refused.

>>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1), fingerprint(lambda x: x + 2) == fingerprint(abs)
(True, False)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.runtime.objects import LIBRARIES


def fingerprint(value: object) -> str:
    """The digest of a function or a class, of what it calls and of the numbers and text that it reads."""
    return hashlib.sha256("\n".join(_parts(value, set())).encode()).hexdigest()


def is_of_library(value: object) -> bool:
    """Whether an object comes from Python, NumPy, SciPy or srcgrad, whose versions are compared instead."""
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0] in LIBRARIES


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    value = getattr(value, "__func__", value) if isinstance(value, classmethod | staticmethod) else value
    value = value.fget if isinstance(value, property) else value
    if id(value) in seen:
        yield "again"
    elif isinstance(value, bool | int | float | complex | str | bytes | type(None)):
        yield repr(value)
    elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        yield f"{value.dtype} {np.shape(value)} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, tuple | list):
        yield type(value).__name__
        for item in value:
            yield from _parts(item, seen)
    elif isinstance(value, FunctionType) and not is_of_library(value):
        seen.add(id(value))
        yield from _of_function(value, seen)
    elif isinstance(value, type) and not is_of_library(value):
        seen.add(id(value))
        yield from _of_class(value, seen)
    else:
        kind: Any = type(value)
        yield f"{kind.__module__}.{kind.__qualname__} {getattr(value, '__qualname__', '')}"


def _of_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield from _of_code(function.__code__)
    yield from _parts(function.__defaults__, seen)
    for name, value in sorted((function.__kwdefaults__ or {}).items()):
        yield name
        yield from _parts(value, seen)
    for cell in function.__closure__ or ():
        try:
            yield from _parts(cell.cell_contents, seen)
        except ValueError:
            yield "empty"
    for name in sorted(set(_names(function.__code__)) & function.__globals__.keys()):
        yield name
        yield from _parts(function.__globals__[name], seen)


def _of_code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant)
        else:
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _of_class(kind: type, seen: set[int]) -> Iterator[str]:
    yield kind.__qualname__
    for base in kind.__bases__:
        yield from _parts(base, seen)
    for name, value in sorted(vars(kind).items()):
        if name not in ("__module__", "__dict__", "__weakref__", "__doc__", "__static_attributes__", "__firstlineno__"):
            yield name
            yield from _parts(value, seen)
