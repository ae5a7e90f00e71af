"""Whether a function or class is the same in two processes: a digest of what it computes with.

What is pickled or printed by its name means what a worker imports under that name: perhaps an older file, or a function
that the client has bound again since.  Digests are compared, and what differs is refused (``references``).

>>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1), fingerprint(lambda x: x + 2) == fingerprint(abs)
(True, False)
"""

from __future__ import annotations

import dis
import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
from collections import defaultdict, deque
from collections.abc import Iterator
from enum import Enum
from functools import cache, cached_property, partial
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
from srcgrad.parallel.pickling import noted
from srcgrad.runtime.objects import LIBRARIES, fields_of, is_object

_DESCRIPTORS = GetSetDescriptorType | MemberDescriptorType | MethodDescriptorType | WrapperDescriptorType
#: Names of a module that a script has otherwise in the processes that it starts.
_OF_MODULES = frozenset({"__name__", "__file__", "__spec__", "__loader__", "__package__", "__cached__", "__builtins__"})
_INSTALLED = ("site-packages", "dist-packages")


def fingerprint(value: object) -> str:
    """The digest of a function, class or callable object, of what it calls and of the data that it reads.

    Installed packages other than that of ``value`` count by their versions.  Raises ``SendingError`` for data that
    cannot be compared: what has no fields and cannot be pickled.
    """
    return hashlib.sha256("\n".join(_Parts(package_of(value)).of(value, frozenset())).encode()).hexdigest()


def version_of(value: object) -> str:
    """What stands for the digest of a function or class of an installed package: its version."""
    return f"version {_version(package_of(value))}"


def package_of(value: object) -> str:
    """The first part of the name of the module that defines a function or class, or of a module."""
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return home.partition(".")[0] if isinstance(home, str) else ""


def is_of_library(value: object) -> bool:
    """Whether Python, NumPy, SciPy or srcgrad, whose versions are compared instead, define a function, class or module.

    Functions of C that do not say where they come from count as theirs; objects are never theirs, for they may hold
    what is the user's, as ``functools.partial`` does.
    """
    if isinstance(value, FunctionType | type | ModuleType):
        return package_of(value) in LIBRARIES
    return isinstance(value, BuiltinFunctionType | np.ufunc | _DESCRIPTORS)


@cache
def is_installed(package: str) -> bool:
    """Whether a package lies where installers put them, rather than where somebody works on it."""
    spec = getattr(sys.modules.get(package), "__spec__", None)
    places = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec is not None else []
    return any(part in place for place in places for part in _INSTALLED)


@cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", ""))


class _Parts:
    """What a digest is made of, while it is collected."""

    def __init__(self, package: str) -> None:
        self.package = package
        self._numbers: dict[int, int] = {}  # of the functions and classes that are in it, and of the data around a part
        self._alive: list[object] = []  # so that no other object gets the identity of one of them

    def of(self, value: Any, names: frozenset[str]) -> Iterator[str]:
        """The parts of a value; ``names`` stand in the code that reads it, which of a module reads no others."""
        value = getattr(value, "__func__", value) if isinstance(value, classmethod | staticmethod) else value
        if isinstance(value, bool | int | float | complex | str | bytes | type(None)) and not isinstance(value, Enum):
            yield f"{type(value).__name__} {value!r}"
        elif id(value) in self._numbers:
            yield f"the part {self._numbers[id(value)]}"
        else:
            self._numbers[id(value)] = len(self._alive)
            self._alive.append(value)
            yield from self._inside(value, names)
            if not isinstance(value, FunctionType | type):  # equal data may or may not be one object
                del self._numbers[id(value)]

    def _inside(self, value: Any, names: frozenset[str]) -> Iterator[str]:
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
            yield f"{value.dtype} {np.shape(value)} {hashlib.sha256(value.tobytes()).hexdigest()}"
        elif isinstance(value, np.ndarray) and value.dtype.kind == "O":
            yield f"{value.shape}"
            yield from self.of(value.tolist(), names)
        elif isinstance(value, Enum):
            yield value.name
            yield from self._all((type(value), value.value), names)
        elif isinstance(value, tuple | list | deque):
            yield from self._all((type(value), *value), names)
        elif isinstance(value, dict):
            factory = value.default_factory if isinstance(value, defaultdict) else None
            yield from self._all((type(value), factory), names)
            for key, item in value.items():
                yield from self._all((key, item), names)
        elif isinstance(value, set | frozenset):
            yield from self.of(type(value), names)
            yield from sorted(" ".join(self._branch().of(item, names)) for item in value)
        elif isinstance(value, partial):
            yield from self._all((type(value), value.func, value.args, value.keywords), names)
        elif isinstance(value, property):
            yield from self._all((value.fget, value.fset, value.fdel), names)
        elif isinstance(value, MethodType):
            yield from self._all((value.__func__, value.__self__), names)
        elif isinstance(value, FunctionType | type | ModuleType) and self._is_followed(value):
            if isinstance(value, FunctionType):
                yield from self._of_function(value)
            elif isinstance(value, type):
                yield from self._of_class(value, names)
            else:
                yield from self._of_module(value, names)
        elif isinstance(value, cached_property):
            yield from self.of(value.func, names)
        elif isinstance(value, ModuleType | type | FunctionType | BuiltinFunctionType | np.ufunc | _DESCRIPTORS):
            package = package_of(value)
            version = "" if not package or is_of_library(value) else _version(package)
            yield f"{_home(value)} {getattr(value, '__qualname__', '')} {version}"
        elif hasattr(value, "__wrapped__"):  # a cache around a function
            yield from self._all((type(value), value.__wrapped__), names)
        elif is_object(value):
            yield from self.of(type(value), names)
            for name, item in fields_of(value).items():
                yield name
                yield from self.of(item, names)
        elif type(value).__module__ in ("_thread", "threading"):  # locks hold no data
            yield type(value).__qualname__
        else:
            yield from self._pickled(value, names)

    def _all(self, values: tuple[Any, ...], names: frozenset[str]) -> Iterator[str]:
        yield f"{len(values)}"
        for value in values:
            yield from self.of(value, names)

    def _branch(self) -> _Parts:
        """For one of several values that come in no order."""
        made = _Parts(self.package)
        made._numbers, made._alive = dict(self._numbers), list(self._alive)
        return made

    def _is_followed(self, value: object) -> bool:
        package = package_of(value)
        return not is_of_library(value) and (package == self.package or not is_installed(package))

    def _pickled(self, value: object, names: frozenset[str]) -> Iterator[str]:
        try:
            data, named = noted(value)
        except Exception as error:
            raise SendingError(
                f"a {type(value).__name__} that a function reads cannot be compared with a worker's: {error}",
                hint="pass it as an argument, or make it inside of the function",
            ) from error
        yield f"{_home(type(value))}.{type(value).__qualname__} {hashlib.sha256(data).hexdigest()}"
        yield from self._all(tuple(named), names)

    def _of_function(self, function: FunctionType) -> Iterator[str]:
        code = function.__code__
        names = frozenset(_names(code))
        yield from _of_code(code)
        yield from self.of(function.__defaults__, names)
        kept = {name: value for name, value in vars(function).items() if not name.startswith("__srcgrad")}
        for values in (function.__kwdefaults__ or {}, kept):
            for name, value in sorted(values.items()):
                yield name
                yield from self.of(value, names)
        for cell in function.__closure__ or ():
            try:
                yield from self.of(cell.cell_contents, names)
            except ValueError:
                yield "empty"
        for name in sorted(set(_globals_read(code)) & function.__globals__.keys() - _OF_MODULES):
            yield name
            yield from self.of(function.__globals__[name], names)
        package = function.__globals__.get("__package__") or ""
        imports = {name: _imported(name) for name in sorted(set(_imports(code, package)))}
        for name, module in imports.items():  # all of them are there: a module is an attribute of its package
            yield name
            yield from self.of(module, names)

    def _of_module(self, module: ModuleType, names: frozenset[str]) -> Iterator[str]:
        """What of a module of the user's a function may read: the attributes whose names stand in its code."""
        yield _home(module)
        for name in sorted(names & vars(module).keys() - _OF_MODULES):
            yield name
            yield from self.of(getattr(module, name), names)

    def _of_class(self, kind: type, names: frozenset[str]) -> Iterator[str]:
        yield kind.__qualname__
        yield from self._all((type(kind), *kind.__bases__), names)
        for name, value in sorted(vars(kind).items()):
            written = isinstance(value, FunctionType | classmethod | staticmethod | property)
            if written or not name.startswith("__") and name != "_abc_impl":
                yield name
                yield from self.of(value, names)


def _home(value: Any) -> str:
    """The module of an object; the script is called otherwise in the processes that it starts."""
    home = str(getattr(value, "__module__", None) or getattr(value, "__name__", ""))
    return "__main__" if home == "__mp_main__" else home


def _imported(name: str) -> ModuleType | None:
    """A module that a function imports when it runs; None where that fails, which the function may catch."""
    if name.partition(".")[0] in LIBRARIES:
        return None
    try:
        return importlib.import_module(name)
    except Exception:
        return None


# --- code ------------------------------------------------------------------------------------------------------------
def _of_code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant)
        else:
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _names(code: CodeType) -> Iterator[str]:
    """The names in the code, and its texts, which ``getattr`` may be given."""
    for inner in _nested(code):
        yield from inner.co_names
        yield from (constant for constant in inner.co_consts if isinstance(constant, str))


def _globals_read(code: CodeType) -> Iterator[str]:
    for inner in _nested(code):
        yield from (i.argval for i in dis.get_instructions(inner) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))


def _imports(code: CodeType, package: str) -> Iterator[str]:
    """The names of the modules that the code imports, and of what it imports from them, which may be modules too."""
    for inner in _nested(code):
        constants: list[Any] = [0, None]
        for instruction in dis.get_instructions(inner):
            if instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
                constants = [constants[-1], instruction.argval]
            elif instruction.opname == "IMPORT_NAME":
                level, listed = constants
                try:
                    name = importlib.util.resolve_name("." * level + instruction.argval, package)
                except ImportError:
                    continue
                yield name
                yield from (f"{name}.{part}" for part in listed or ())
