"""Whether a function or class is the same in two processes: a digest of what it computes with.

A program in text imports the functions that it calls without a derivative.  In a worker the same name may mean another
function: an older file, or one that the client has bound again since it was imported.  Digests are compared, and what
differs is refused.

>>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1), fingerprint(lambda x: x + 2) == fingerprint(abs)
(True, False)
"""

from __future__ import annotations

import dis
import hashlib
import pickle
from collections.abc import Iterator
from enum import Enum
from functools import cached_property, partial
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from srcgrad.parallel.errors import SendingError
from srcgrad.runtime.objects import LIBRARIES, fields_of, is_object

_DESCRIPTORS = GetSetDescriptorType | MemberDescriptorType | MethodDescriptorType | WrapperDescriptorType
#: Names of a module that a script has otherwise in the processes that it starts.
_OF_MODULES = frozenset({"__name__", "__file__", "__spec__", "__loader__", "__package__", "__cached__", "__builtins__"})


def fingerprint(value: object) -> str:
    """The digest of a function, class or callable object, of what it calls and of the data that it reads.

    Raises ``SendingError`` for data that cannot be compared: what has no fields and cannot be pickled."""
    return hashlib.sha256("\n".join(_parts(value, set())).encode()).hexdigest()


def is_of_library(value: object) -> bool:
    """Whether an object comes from Python, NumPy, SciPy or srcgrad, whose versions are compared instead."""
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0] in LIBRARIES


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    """What a digest is made of.  ``seen``: functions and classes that are in it, and the data around the value."""
    value = getattr(value, "__func__", value) if isinstance(value, classmethod | staticmethod) else value
    value = value.fget if isinstance(value, property) else value
    if isinstance(value, bool | int | float | complex | str | bytes | type(None)):
        yield repr(value)
    elif id(value) in seen:
        yield "again"
    else:
        seen.add(id(value))
        yield from _inside(value, seen)
        if not isinstance(value, FunctionType | type):  # equal data may or may not be one object
            seen.discard(id(value))


def _inside(value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        yield f"{value.dtype} {np.shape(value)} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, np.ndarray) and value.dtype.kind == "O":
        yield f"{value.shape}"
        yield from _parts(value.tolist(), seen)
    elif isinstance(value, tuple | list):
        yield type(value).__name__
        for item in value:
            yield from _parts(item, seen)
    elif isinstance(value, dict):
        yield type(value).__name__
        for key, item in value.items():
            yield from _parts(key, seen)
            yield from _parts(item, seen)
    elif isinstance(value, set | frozenset):
        yield from sorted(" ".join(_parts(item, seen)) for item in value)
    elif isinstance(value, partial):
        yield from _parts((value.func, value.args, value.keywords), seen)
    elif isinstance(value, MethodType):
        yield from _parts((value.__func__, value.__self__), seen)
    elif isinstance(value, FunctionType) and not is_of_library(value):
        yield from _of_function(value, seen)
    elif isinstance(value, type) and not is_of_library(value):
        yield from _of_class(value, seen)
    elif isinstance(value, Enum):
        yield f"{type(value).__qualname__}.{value.name}"
    elif isinstance(value, cached_property):
        yield from _parts(value.func, seen)
    elif hasattr(value, "__wrapped__") and not isinstance(value, FunctionType | type):  # a cache around a function
        yield from _parts(value.__wrapped__, seen)
    elif isinstance(value, ModuleType | type | FunctionType | BuiltinFunctionType | np.ufunc | _DESCRIPTORS):
        yield f"{_home(value)} {getattr(value, '__qualname__', '')}"
    elif is_object(value):
        yield from _parts(type(value), seen)
        for name, item in fields_of(value).items():
            yield name
            yield from _parts(item, seen)
    else:
        yield f"{_home(type(value))}.{type(value).__qualname__} {_pickled(value)}"


def _home(value: Any) -> str:
    """The module of an object; the script is called otherwise in the processes that it starts."""
    home = str(getattr(value, "__module__", None) or getattr(value, "__name__", ""))
    return "__main__" if home == "__mp_main__" else home


def _pickled(value: object) -> str:
    try:
        return hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
    except Exception as error:
        raise SendingError(
            f"a {type(value).__name__} that a function reads cannot be compared with a worker's: {error}",
            hint="pass it as an argument, or make it inside of the function",
        ) from error


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
    read = set(_globals_read(function.__code__))
    for name in sorted(read & function.__globals__.keys() - _OF_MODULES):
        value = function.__globals__[name]
        yield name
        if isinstance(value, ModuleType) and not is_of_library(value):
            yield from _of_module(value, set(_names(function.__code__)), seen)
        else:
            yield from _parts(value, seen)


def _of_module(module: ModuleType, names: set[str], seen: set[int]) -> Iterator[str]:
    """What of a module of the user's a function may read: the attributes whose names stand in its code."""
    for name in sorted(names & vars(module).keys() - _OF_MODULES):
        yield name
        yield from _parts(getattr(module, name), seen)


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


def _globals_read(code: CodeType) -> Iterator[str]:
    yield from (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_read(constant)


def _of_class(kind: type, seen: set[int]) -> Iterator[str]:
    yield kind.__qualname__
    for base in kind.__bases__:
        yield from _parts(base, seen)
    for name, value in sorted(vars(kind).items()):
        written = isinstance(value, FunctionType | classmethod | staticmethod | property)
        if written or not name.startswith("__") and name != "_abc_impl":
            yield name
            yield from _parts(value, seen)
