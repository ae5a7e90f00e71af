"""What a program was compiled from, written so that another process can ask whether it would compile the same.

Enters, where a program is kept: its ``Guards`` and the bindings of its text.  Leaves: *facts*, in an order in which
each speaks of objects that those before it have met: what stands under a name, what a cell holds, which code and text
a function has.  Enters, where it is asked for: the facts.  Leaves: ``Guards`` and bindings of the objects that are
there now, or None as soon as one fact is another.

The graph of objects that the guards speak of is walked from the function and its arguments in both processes.  Numbers
are given as objects are met (``describing``), so equal facts mean graphs of one shape: a name that means the same
function as another one in the first process does so in the second.
"""

from __future__ import annotations

import importlib
import linecache
import os
import sys
from abc import get_cache_token
from collections.abc import Callable, Iterator
from functools import partial, reduce
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

from srcgrad.cache.describing import (
    Describing,
    Description,
    Unportable,
    annotation,
    identity,
    is_of_library,
    is_space_of_library,
    kind_here,
    version_of_file,
)
from srcgrad.cache.digests import sha256
from srcgrad.frontend.guards import Guards, content, derived_from, itself
from srcgrad.frontend.held import ABSENT
from srcgrad.runtime.binding import OfDefault
from srcgrad.runtime.objects import LIBRARIES, package_of
from srcgrad.syntax.bindings import GlobalBinding, OfCell, OfNamespace

Fact = tuple[Any, ...]
Binding = tuple[Any, ...]

#: What a class holds that no program depends on, or that says no more than its methods do.
_IGNORED = frozenset({"__doc__", "__static_attributes__", "__dict__", "__weakref__"})
_OF_ANNOTATIONS = frozenset({"__annotations__", "__orig_bases__", "__parameters__", "__type_params__",
                             "__annotations_cache__", "__annotate_func__", "__annotate__"})  # fmt: skip
#: Libraries of which another version compiles, or computes, something else.
_VERSIONS = ("gast", "astor", "scipy")
_LITERALS = (bool, int, float, complex, str, bytes, type(None))
_SCALARS = (float, int, bool, complex, str, bytes, type(None))


# --- writing ---------------------------------------------------------------------------------------------------------
def facts_of(guards: Guards, met: Describing) -> tuple[Fact, ...]:
    """The facts of a program; ``met`` has described its function and its arguments."""
    facts: list[Fact] = []
    pending = [*_rows(guards)]
    is_going = True
    while pending and is_going:
        waiting = []
        for kind, row in pending:
            fact = _WRITTEN[kind](row, met)
            facts += [] if fact is None else [(kind, *fact)]
            waiting += [(kind, row)] if fact is None else []
        is_going = len(waiting) < len(pending)
        pending = waiting
    own = _OfLibraries(guards)
    for kind, row in pending:
        if not own.holds(kind, row):
            raise Unportable(f"nothing leads to what a program depends on: {kind} of {str(row[:2]):.200}")
    versions = [(name, version_of_file(name)) for name in _VERSIONS if name in sys.modules]
    return (*facts, *(("version", name, version) for name, version in versions))


def _rows(guards: Guards) -> Iterator[tuple[str, Any]]:
    known = {*_WRITTEN}
    for kind in Guards.__dataclass_fields__:
        if kind not in known:
            raise Unportable(f"nothing is known of guards of {kind}")
        yield from ((kind, row) for row in getattr(guards, kind))


def _names(row: Any, met: Describing) -> Fact | None:
    space, name, value = row
    owner = met.number(space)
    return None if owner is None else (owner, name, _held(space, name, value, met))


def _held(space: Any, name: str, value: Any, met: Describing) -> Any:
    if space is sys.modules and value is ABSENT:
        return "missing", _is_installed(name)
    if type(space) is MappingProxyType:
        if name in _IGNORED:
            return "ignored"
        if name in _OF_ANNOTATIONS and value is not ABSENT:
            return _annotations(value)
    return met.of(value, exact=True)


def _annotations(value: Any) -> Description:
    if isinstance(value, dict):
        return tuple((name, annotation(held)) for name, held in value.items())
    return (annotation(value) if not isinstance(value, FunctionType) else "a function",)


def _is_installed(name: str) -> bool:
    """Whether a module that is not loaded could be."""
    import importlib.util

    try:
        return importlib.util.find_spec(name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def _codes(row: Any, met: Describing) -> Fact | None:
    owner = met.number(row[0])
    return None if owner is None else (owner,)


def _texts(row: Any, met: Describing) -> Fact | None:
    function, text = row
    owner = met.number(function)
    if owner is None:
        return None
    if text is None:
        raise Unportable(f"{function.__qualname__} was edited after it was imported, or has no file")
    if not hasattr(function, "__srcgrad_source__") and not os.path.exists(function.__code__.co_filename):
        raise Unportable(f"the text of {function.__qualname__} stands in no file")
    return owner, text


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _defaults(row: Any, met: Describing) -> Fact | None:
    function, positional, keywords = row
    owner = met.number(function)
    return None if owner is None else (owner, met.of(positional, exact=True), met.of(keywords, exact=True))


def _cells(row: Any, met: Describing) -> Fact | None:
    owner = met.number(row[0])
    return None if owner is None else (owner, met.of(row[1], exact=True))


def _bases(row: Any, met: Describing) -> Fact | None:
    owner = met.number(row[0])
    return None if owner is None else (owner, *(met.of(kind, exact=True) for kind in row[1]))


def _sizes(row: Any, met: Describing) -> Fact | None:
    owner = met.number(row[0])
    return None if owner is None else (owner, row[1])


def _of_holder(row: Any, met: Describing) -> Fact | None:
    owner = met.number(row[0])
    return None if owner is None else (owner, row[1], met.of(row[2], exact=True))


def _data(row: Any, met: Describing) -> Fact | None:
    read, kind, describe, described = row
    if read is get_cache_token:
        return ("registered",)
    value = read()
    if type(value) is not kind or describe is not None and describe(value) != described:
        raise Unportable("what the program reads changed while it was compiled")
    function, arguments = _taken_apart(read)
    if function is content:
        form: tuple[Any, ...] = "content", met.number(arguments[0])
    elif function is itself:
        form = "same", met.place(arguments[0])
    elif function is derived_from:
        form = "derived", met.number(arguments[0])
    elif getattr(function, "__name__", "") == "get" and len(arguments) == 2:
        form = "get", met.number(function.__self__), arguments[0]
    else:
        raise Unportable("nothing is known of what reads a value")
    return None if form[1] is None else (*form, met.of(value, exact=False))


def _taken_apart(read: Any) -> tuple[Any, tuple[Any, ...]]:
    """What reads a value, as a function and its arguments."""
    return getattr(read, "func", None), getattr(read, "args", ())


def _fixed(row: Any, met: Describing) -> Fact | None:
    space, name, value = row
    owner = met.number(space)
    return None if owner is None else (owner, name, _of_module(space, name, value, met))


def _of_module(space: Any, name: str, value: Any, met: Describing) -> Any:
    """What a module of a library holds: data of classes of its own is the same in each process."""
    try:
        return _held(space, name, value, met)
    except Unportable:
        kind = type(value)
        if package_of(kind) not in LIBRARIES or hasattr(kind, "__len__"):
            raise
        return "constant", kind.__module__, kind.__qualname__


_WRITTEN: dict[str, Callable[[Any, Describing], Fact | None]] = {
    "names": _names, "codes": _codes, "defaults": _defaults, "cells": _cells, "bases": _bases, "sizes": _sizes,
    "held": _of_holder, "data": _data, "texts": _texts, "fixed": _fixed,
}  # fmt: skip


class _OfLibraries:
    """What the guards say of functions, classes and modules of libraries, which their versions tell."""

    def __init__(self, guards: Guards) -> None:
        functions = [row[0] for row in guards.codes if is_of_library(row[0])]
        self.functions = {*map(id, functions)}
        self.cells = {id(cell) for function in functions for cell in function.__closure__ or ()}
        self.spaces = {id(space) for function in functions for space in (vars(function), function.__kwdefaults__)}
        self.own = {id(kind) for kind, _ in guards.bases if str(kind.__module__).startswith("srcgrad.")}
        self.classes = {identity(vars(kind)) for kind, _ in guards.bases if id(kind) in self.own}
        self.defaults = {id(value) for function in functions for value in function.__defaults__ or ()}

    def holds(self, kind: str, row: Any) -> bool:
        match kind:
            case "codes" | "defaults" | "texts":
                return id(row[0]) in self.functions
            case "cells":
                return id(row[0]) in self.cells
            case "bases":
                return id(row[0]) in self.own
            case "names" | "fixed" | "sizes":
                return self._is_space(row[0])
            case "data":
                function, arguments = _taken_apart(row[0])
                if function is content:
                    return id(arguments[0]) in self.cells
                if function is itself:
                    return id(arguments[0]) in self.defaults
                return getattr(function, "__name__", "") == "get" and self._is_space(function.__self__)
        return False

    def _is_space(self, space: Any) -> bool:
        if id(space) in self.spaces or identity(space) in self.classes:
            return True
        return type(space) is dict and (is_space_of_library(space) or "__srcgrad_source__" in space)


# --- asking ----------------------------------------------------------------------------------------------------------
def guards_here(facts: tuple[Fact, ...], met: Describing) -> Guards | None:
    """The guards of the objects that are there now; None where they are not those of which a fact speaks."""
    rows: dict[str, list[Any]] = {kind: [] for kind in Guards.__dataclass_fields__}
    texts: dict[str, str] = {}
    for kind, *fact in facts:
        if kind == "version":
            if not _is_version(*fact):
                return None
            continue
        row = _text_here(fact, met, texts) if kind == "texts" else _HERE[kind](fact, met)
        if row is None:
            return None
        rows[kind].append(row)
    return Guards(**{kind: tuple(found) for kind, found in rows.items()})


def _is_version(name: str, version: tuple[str, int, int] | None) -> bool:
    if version is None:
        return False
    try:
        told = os.stat(version[0])
    except OSError:
        return False
    loaded = getattr(sys.modules.get(name), "__file__", version[0])
    return (told.st_size, told.st_mtime_ns) == version[1:] and loaded == version[0]


def _name_here(fact: Any, met: Describing) -> Any:
    owner, name, held = fact
    space = met.objects[owner]
    if held == "ignored":
        return (space, name, space[name]) if name in space else None
    value = _under(space, name) if held[0] not in ("missing", "the") else space.get(name, ABSENT)
    return (space, name, value) if _held(space, name, value, met) == held else None


def _under(space: Any, name: str) -> Any:
    """What a namespace holds; modules that a program imports are loaded, as compiling it loads them."""
    value = space.get(name, ABSENT)
    if value is not ABSENT:
        return value
    if space is sys.modules:
        return importlib.import_module(name)
    module = sys.modules.get(str(space.get("__name__"))) if is_space_of_library(space) else None
    return ABSENT if module is None else getattr(module, name, ABSENT)  # libraries load their parts when asked


def _code_here(fact: Any, met: Describing) -> Any:
    function = met.objects[fact[0]]
    return function, function.__code__


def _text_here(fact: Any, met: Describing, texts: dict[str, str]) -> Any:
    function = met.objects[fact[0]]
    text = getattr(function, "__srcgrad_source__", None)
    if not isinstance(text, str):
        filename = function.__code__.co_filename
        if filename not in texts:
            linecache.checkcache(filename)
            texts[filename] = "".join(linecache.getlines(filename, function.__globals__))
        text = texts[filename]
    return (function, fact[1]) if _digest(text) == fact[1] else None


def _default_here(fact: Any, met: Describing) -> Any:
    function = met.objects[fact[0]]
    row = function, function.__defaults__, function.__kwdefaults__
    return row if _defaults(row, met) == tuple(fact) else None


def _cell_here(fact: Any, met: Describing) -> Any:
    row = met.objects[fact[0]], content(met.objects[fact[0]])
    return row if _cells(row, met) == tuple(fact) else None


def _bases_here(fact: Any, met: Describing) -> Any:
    row = met.objects[fact[0]], met.objects[fact[0]].__mro__
    return row if _bases(row, met) == tuple(fact) else None


def _size_here(fact: Any, met: Describing) -> Any:
    space, size = met.objects[fact[0]], fact[1]
    return (space, size) if len(space) == size else None


def _holder_here(fact: Any, met: Describing) -> Any:
    holder, name, held = met.objects[fact[0]], fact[1], fact[2]
    value = getattr(holder, name, ABSENT)
    return (holder, name, value) if met.of(value, exact=True) == held else None


def _data_here(fact: Any, met: Describing) -> Any:
    read: Callable[[], object]
    match fact:
        case ["registered"]:
            return get_cache_token, int, itself, get_cache_token()
        case ["content", number, _]:
            read = partial(content, met.objects[number])
        case ["same", place, _]:
            read = partial(itself, met.values[place])
        case ["derived", number, _]:
            read = partial(derived_from, met.objects[number])
        case ["get", number, name, _]:
            read = partial(met.objects[number].get, name, ABSENT)
        case _:
            return None
    value = read()
    if met.of(value, exact=False) != fact[-1]:
        return None
    is_plain = type(value) in _SCALARS
    return read, type(value), None if is_plain else kind_here, None if is_plain else kind_here(value)


def _fixed_here(fact: Any, met: Describing) -> Any:
    owner, name, held = fact
    space = met.objects[owner]
    value = _under(space, name) if held[0] != "missing" else space.get(name, ABSENT)
    return (space, name, value) if _of_module(space, name, value, met) == held else None


_HERE: dict[str, Callable[[Any, Describing], Any]] = {
    "names": _name_here, "codes": _code_here, "defaults": _default_here, "cells": _cell_here, "bases": _bases_here,
    "sizes": _size_here, "held": _holder_here, "data": _data_here, "fixed": _fixed_here,
}  # fmt: skip


# --- bindings --------------------------------------------------------------------------------------------------------
def binding_of(binding: GlobalBinding, met: Describing) -> Binding:
    """What a name of emitted text means, in terms of the facts or of what can be imported."""
    how: tuple[Any, ...]
    match binding.cell:
        case None:
            how = _object(binding, met)
        case OfNamespace(namespace, name) if met.number(namespace) is None and is_space_of_library(namespace):
            how = "library", str(namespace["__name__"]), name, met.of(binding.cell(), exact=False)
        case OfNamespace(namespace, name):
            how = "namespace", met.number(namespace), name
        case OfCell(cell, name):
            how = "cell", met.number(cell), name
        case OfDefault(function, name):
            how = "default", met.number(function), name
        case _:
            raise Unportable("nothing is known of what reads a variable")
    if how[1] is None and how[0] != "literal":
        raise Unportable(f"nothing leads to what {binding.preferred} means")
    return binding.preferred, binding.module, binding.attribute, how


def _object(binding: GlobalBinding, met: Describing) -> tuple[Any, ...]:
    value, module = binding.value, binding.module
    if type(value) in _LITERALS:
        return "literal", value
    if module is not None and module.partition(".")[0] in LIBRARIES and _imported(module, binding.attribute) is value:
        return "import", module
    if isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value:
        return "module", value.__name__
    return "object", met.number(value)


def _imported(module: str, attribute: str | None) -> Any:
    found = importlib.import_module(module)
    return found if attribute is None else reduce(getattr, attribute.split("."), found)


def binding_here(made: Binding, met: Describing) -> GlobalBinding:
    """The binding in this process; raises ``Unportable`` where a library has something else there."""
    preferred, module, attribute, how = made
    cell: Callable[[], object] | None = None
    match how:
        case ["literal", value]:
            pass
        case ["import", str()]:
            value = _imported(module, attribute)
        case ["object", number]:
            value = met.objects[number]
        case ["module", str() as name]:
            value = importlib.import_module(name)
        case ["library", str() as home, name, held]:
            cell = OfNamespace(vars(importlib.import_module(home)), name)
            if met.of(cell(), exact=False) != held:
                raise Unportable(f"{home}.{name} is something else")
        case ["namespace", number, name]:
            cell = OfNamespace(met.objects[number], name)
        case ["cell", number, name]:
            cell = OfCell(met.objects[number], name)
        case ["default", number, name]:
            cell = OfDefault(met.objects[number], name)
    return GlobalBinding(preferred, value if cell is None else cell(), module, attribute, cell)
