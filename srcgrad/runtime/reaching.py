"""What a program may come by from a value: what the value holds and, of code, what the code reads outside.

>>> from functools import partial
>>> held = [np.ones(2)]
>>> any(value is held for value in reached([{"f": partial(len, held)}]))
True
"""

from __future__ import annotations

import dis
import gc
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache, partial
from logging import Logger
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import ref

import numpy as np

from srcgrad.runtime.objects import LIBRARIES, fields_of, package_of

#: Values that hold nothing else: numbers, text, code of C.
_CLOSED = (
    int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice, np.generic,
    np.dtype, np.ufunc, CodeType, Logger, ContextVar,
    GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType,
)  # fmt: skip
_CODE = (FunctionType, BuiltinFunctionType, type, ModuleType, type(np.sum))
_HEAP_TYPE = 1 << 9


def leads_nowhere(value: Any) -> bool:
    """Whether a value neither is memory that may change nor leads to any: a number, or what a library defines."""
    if isinstance(value, _CLOSED):
        return not _is_users(type(value))
    if isinstance(value, BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, ModuleType)
    return isinstance(value, _CODE) and _is_of_library(value)


def reached(values: Iterable[Any], seen: dict[int, Any] | None = None) -> Iterator[Any]:
    """The values, all that they hold, and what functions, methods and classes among these read of what is global or
    captured, each object once and none of those ``seen``."""
    seen = {} if seen is None else seen
    pending = list(values)
    while pending:
        value = pending.pop()
        if type(value) is float or id(value) in seen:
            continue
        seen[id(value)] = value
        yield value
        if not leads_nowhere(value):
            pending += _parts(value)


def _parts(value: Any) -> Iterator[Any]:
    kind: Any = type(value)
    if _is_users(kind):
        yield kind
        yield from fields_of(value).values() if not isinstance(value, type) else ()
    if isinstance(value, np.ndarray):
        yield from value.flat if value.dtype == object else ()
        if kind is not np.ndarray:
            yield from vars(value).values()
    elif isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list | tuple | deque | set | frozenset):
        yield from value
    elif isinstance(value, FunctionType):
        yield from read_by(value)
    elif isinstance(value, type):
        for base in value.__mro__:
            if not _is_of_library(base):
                yield from (held for name, held in vars(base).items() if name not in _OF_CLASSES)
    elif isinstance(value, ModuleType):
        yield from (held for name, held in vars(value).items() if not name.startswith("__"))
    elif isinstance(value, MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, ref):
        yield value()
    elif kind.__module__.startswith("srcgrad."):  # a derivative reads what its function does
        yield getattr(value, "__wrapped__", None)
    elif not _is_users(kind):  # of what a library defines the collector knows what it holds: of partial functions, ...
        yield from (held for held in gc.get_referents(value) if held is not kind)


_OF_CLASSES = frozenset({"__dict__", "__weakref__", "__module__", "__doc__", "_abc_impl"})


def captured(function: Any) -> Iterator[Any]:
    """What a function, or a partial one, holds itself: what it captured, its defaults, what lists and dicts among these
    hold, and what functions among these hold in turn."""
    pending, seen = [function], set[int]()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, FunctionType):
            pending += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
            pending += [cell.cell_contents for cell in value.__closure__ or () if _is_bound(cell)]
        elif isinstance(value, partial):
            pending += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, list | tuple | deque | set | frozenset):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()


def _is_bound(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def read_by(function: FunctionType) -> Iterator[Any]:
    """What a function reads that is not its own: captured, default and global values, parts of modules."""
    space, (read, names) = function.__globals__, _names(function.__code__)
    found = [space[name] for name in read if name in space]
    found += captured_by(function)
    home = space.get("__package__") or ""
    imported = (sys.modules.get(name) for name in names), (sys.modules.get(f"{home}.{name}") for name in names)
    found += [module for group in imported for module in group if module is not None]
    modules = [value for value in found if isinstance(value, ModuleType)]
    for module in modules:  # it grows: packages have modules among their attributes
        for name in names if not _is_of_library(module) else ():
            held = vars(module).get(name)
            if isinstance(held, ModuleType) and held not in modules:
                modules.append(held)
            elif held is not None:
                found.append(held)
    yield from (value for value in found if not isinstance(value, ModuleType))
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from (held for name, held in vars(function).items() if not name.startswith("__srcgrad"))


def places_read(function: FunctionType) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...], bool]]:
    """The namespaces in which ``read_by`` looks up names, with these; and whether they are looked up as attributes, of
    which few are there."""
    space, (read, names) = function.__globals__, _names(function.__code__)
    home = space.get("__package__") or ""
    yield space, (*read, "__package__"), False
    yield sys.modules, (*names, *(f"{home}.{name}" for name in names)), True
    found = [*(space.get(name) for name in read), *captured_by(function)]
    found += [sys.modules.get(name) for name in (*names, *(f"{home}.{name}" for name in names))]
    modules = [value for value in found if isinstance(value, ModuleType)]
    for module in modules:  # it grows
        if not _is_of_library(module):
            yield vars(module), names, True
            held = (vars(module).get(name) for name in names)
            modules += [inner for inner in held if isinstance(inner, ModuleType) and inner not in modules]


def captured_by(function: FunctionType) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]


def all_names(function: FunctionType) -> tuple[str, ...]:
    """The names that a function, and the functions and methods that it may call, read, attributes included."""
    found: dict[str, None] = {}
    pending: list[Any] = [function]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen or not isinstance(value, FunctionType | type) or _is_of_library(value):
            continue
        seen.add(id(value))
        if isinstance(value, type):
            pending += (held for base in value.__mro__ for held in vars(base).values())
            continue
        found.update(dict.fromkeys(_names(value.__code__)[1]))
        pending += read_by(value)
    return tuple(found)


def globals_read(function: FunctionType) -> frozenset[str]:
    """The global names that a function, and the functions of the same namespace that it may call, read."""
    space = function.__globals__
    found: set[str] = set()
    pending = [function]
    while pending:
        new = set(_names(pending.pop().__code__)[0]) - found
        found |= new
        held = (space.get(name) for name in new)
        pending += [one for one in held if isinstance(one, FunctionType) and one.__globals__ is space]
    return frozenset(found)


@lru_cache(maxsize=4096)
def _names(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The global names that code reads; all names in it, and its texts, which ``getattr`` may be given."""
    read: dict[str, None] = {}
    names: dict[str, None] = {}
    pending = [code]
    while pending:
        inner = pending.pop()
        names.update(dict.fromkeys(inner.co_names))
        for instruction in dis.get_instructions(inner):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                read[instruction.argval] = None
        for constant in inner.co_consts:
            if isinstance(constant, CodeType):
                pending.append(constant)
            elif isinstance(constant, str):
                names[constant] = None
            elif isinstance(constant, tuple):
                names.update(dict.fromkeys(part for part in constant if isinstance(part, str)))
    return tuple(read), tuple(names)


def _is_users(kind: type) -> bool:
    return bool(kind.__flags__ & _HEAP_TYPE) and not _is_of_library(kind)


def _is_of_library(value: Any) -> bool:
    """Whether Python, NumPy, SciPy, or srcgrad, but for what it has compiled, define a function, class or module."""
    if isinstance(value, FunctionType) and "__srcgrad_bindings__" in value.__globals__:
        return False
    if isinstance(value, type):
        return package_of(value) in LIBRARIES
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] in LIBRARIES
