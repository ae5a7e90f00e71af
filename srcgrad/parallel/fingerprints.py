"""Whether a function or class is the same in two processes: a digest of what it computes with.

What is pickled or printed by its name means what a worker imports under that name: perhaps an older file, or a function
that the client has bound again since.  Digests are compared, and what differs is refused (``references``).

>>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1), fingerprint(lambda x: x + 2) == fingerprint(abs)
(True, False)
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from enum import Enum
from functools import cache, cached_property, partial
from logging import Logger
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary, ref

import numpy as np

from srcgrad.parallel.errors import SendingError
from srcgrad.runtime.binding import cached_function
from srcgrad.runtime.objects import LIBRARIES, fields_of, is_object

_CACHE: Any = type(cache(len))
_METHODS = (FunctionType, classmethod, staticmethod, property)
#: Objects that hold no data, or none that another process shares.
_WITHOUT_DATA = (Logger, ContextVar, WeakSet, WeakKeyDictionary, WeakValueDictionary, ref, Iterator)
_DESCRIPTORS = GetSetDescriptorType | MemberDescriptorType | MethodDescriptorType | WrapperDescriptorType
#: Names of a module that a script has otherwise in the processes that it starts.
_OF_MODULES = frozenset({"__name__", "__file__", "__spec__", "__loader__", "__package__", "__cached__", "__builtins__"})
_INSTALLED = ("site-packages", "dist-packages")


def fingerprint(value: object) -> str:
    """The digest of a function, class or callable object, of what it calls and of the data that it reads.

    Installed packages other than that of ``value`` count by their versions.  Raises ``SendingError`` for data that
    cannot be compared.
    """
    return _Parts(package_of(value)).digest(value, frozenset())


def fingerprint_of_names(module: ModuleType, names: frozenset[str]) -> str:
    """The digest of what code with these names may read of a module."""
    return _Parts(package_of(module)).digest(module, names)


def modules_read(function: FunctionType) -> list[tuple[ModuleType, frozenset[str]]]:
    """The user's modules that a function reads, with the names in its code."""
    code = function.__code__
    names = frozenset(_names(code))
    found = [function.__globals__.get(name) for name in set(_globals_read(code))]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            pass
    found += _imported(code, function.__globals__).values()
    return [(module, names) for module in found if isinstance(module, ModuleType) and not is_of_library(module)]


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
    if package in ("", "__main__", "__mp_main__"):
        return False
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(part in place for place in places for part in _INSTALLED)


@cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", ""))


class _Parts:
    """What a digest is made of, while it is collected.

    Functions, classes and data are numbered as they are met.  Functions and classes wait until what names them is
    through, so that a chain of calls is no chain of recursion.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self._numbers: dict[int, int] = {}
        self._alive: list[object] = []  # so that no other object gets the identity of one of them
        self._waiting: deque[tuple[Any, frozenset[str]]] = deque()

    def digest(self, value: Any, names: frozenset[str]) -> str:
        made = hashlib.sha256()
        parts = self.of(value, names)
        while True:
            for part in parts:
                made.update(f"{part}\n".encode())
            if not self._waiting:
                return made.hexdigest()
            parts = self._inside(*self._waiting.popleft())

    def _number(self, value: object) -> int:
        self._numbers[id(value)] = len(self._alive)
        self._alive.append(value)
        return self._numbers[id(value)]

    def of(self, value: Any, names: frozenset[str]) -> Iterator[str]:
        """The parts of a value; ``names`` stand in the code that reads it, which of a module reads no others."""
        value = getattr(value, "__func__", value) if isinstance(value, classmethod | staticmethod) else value
        if isinstance(value, bool | int | float | complex | str | bytes | type(None)) and not isinstance(value, Enum):
            yield f"{type(value).__name__} {value!r}"
        elif id(value) in self._numbers:
            yield f"part {self._numbers[id(value)]}"
        elif isinstance(value, np.ndarray | np.generic):  # equal ones may or may not be one object
            yield from self._inside(value, names)
        else:
            number = self._number(value)
            if isinstance(value, FunctionType | type):
                self._waiting.append((value, names))
                yield f"part {number}"
            else:
                yield from self._inside(value, names)

    def _inside(self, value: Any, names: frozenset[str]) -> Iterator[str]:
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            yield f"{_named(type(value))} {value.dtype} {np.shape(value)} {hashlib.sha256(value.tobytes()).hexdigest()}"
        elif isinstance(value, np.ndarray):
            yield f"{value.shape}"
            yield from self.of(value.tolist(), names)
        elif isinstance(value, Enum):
            yield value.name
            yield from self.of(type(value), names)
        elif isinstance(value, tuple | list | deque | dict | set | frozenset | MappingProxyType):
            yield from self._of_container(value, names)
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
            yield f"{_named(value)} {'' if not package or is_of_library(value) else _version(package)}"
        elif is_object(value):
            yield from self.of(type(value), names)
            for name, item in fields_of(value).items():
                yield name
                yield from self.of(item, names)
        elif isinstance(value, _CACHE):
            called = cached_function(value)
            if called is None:
                raise SendingError(
                    f"what {getattr(value, '__name__', 'a cached function')} calls cannot be compared with what it "
                    "calls in workers: its __wrapped__ is another function",
                    hint="decorate the function before it is cached",
                )
            yield from self.of(called, names)
        elif isinstance(value, _WITHOUT_DATA) or type(value).__module__ in ("_thread", "threading", "queue", "_queue"):
            yield _named(type(value))
        else:
            yield from self._taken_apart(value, names)

    def _of_container(self, value: Any, names: frozenset[str]) -> Iterator[str]:
        more = (getattr(value, "default_factory", None), getattr(value, "maxlen", None))
        own = getattr(value, "__dict__", None) or None
        yield from self._all((type(value), *more, own), names)
        if isinstance(value, set | frozenset):
            yield from sorted(self._branch().digest(item, names) for item in value)
        elif isinstance(value, dict | MappingProxyType):
            yield f"{len(value)}"
            for key, item in value.items():
                yield from self.of(key, names)
                yield from self.of(item, names)
        else:
            yield from self._all(tuple(value), names)

    def _branch(self) -> _Parts:
        """For one of several values that come in no order."""
        made = _Parts(self.package)
        made._numbers, made._alive = dict(self._numbers), list(self._alive)
        return made

    def _all(self, values: tuple[Any, ...], names: frozenset[str]) -> Iterator[str]:
        yield f"{len(values)}"
        for value in values:
            yield from self.of(value, names)

    def _is_followed(self, value: object) -> bool:
        package = package_of(value)
        return not is_of_library(value) and (package == self.package or not is_installed(package))

    def _taken_apart(self, value: Any, names: frozenset[str]) -> Iterator[str]:
        """An object of a library's, by what it would be pickled of."""
        try:
            reduce = copyreg.dispatch_table.get(type(value))
            made = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as error:
            raise SendingError(
                f"a {_named(type(value))}, which a function reads or a class holds that workers import, "
                f"cannot be compared with theirs: {error}",
                hint="pass it as an argument, or make it inside of the function",
            ) from error
        if isinstance(made, str):
            yield made
        else:
            yield from self._all(tuple(list(part) if isinstance(part, Iterator) else part for part in made), names)

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
        for name, module in _imported(code, function.__globals__).items():
            yield name
            yield from self.of(module, names)

    def _of_module(self, module: ModuleType, names: frozenset[str]) -> Iterator[str]:
        """What of a module of the user's a function may read: the attributes whose names stand in its code."""
        yield _home(module)
        for name in sorted(names & vars(module).keys() - _OF_MODULES):
            yield name
            yield from self.of(getattr(module, name), names)
        self._numbers.pop(id(module), None)  # another function reads other names

    def _of_class(self, kind: type, names: frozenset[str]) -> Iterator[str]:
        yield kind.__qualname__
        yield from self._all((type(kind), *kind.__bases__), names)
        held = vars(kind).items()
        if issubclass(kind, Enum):  # the class itself keeps combinations of flags as they are made
            yield from self._all(tuple((m.name, m.value) for m in kind), names)
            held = {name: value for name, value in held if isinstance(value, _METHODS)}.items()
        codes = [m.__code__ for _, m in held if isinstance(m, FunctionType)]
        names = names.union(*map(_names, codes))
        for name, value in sorted(held):
            if isinstance(value, _METHODS) or not name.startswith("__") and name != "_abc_impl":
                yield name
                yield from self.of(value, names)


def _named(value: Any) -> str:
    return f"{_home(value)}.{getattr(value, '__qualname__', '')}"


def _home(value: Any) -> str:
    """The module of an object; the script is called otherwise in the processes that it starts."""
    home = str(getattr(value, "__module__", None) or getattr(value, "__name__", ""))
    return "__main__" if home in ("__mp_main__", "__worker__") else home


def _imported(code: CodeType, namespace: Mapping[str, Any]) -> dict[str, ModuleType | None]:
    """The modules that a function imports when it runs, None where that fails, which the function may catch.

    All of them are there before one is looked at: a module is an attribute of its package from then on.  What is
    installed is not imported for this.
    """
    found: dict[str, ModuleType | None] = {}
    for name in sorted(set(_imports(code, namespace.get("__package__") or ""))):
        top = name.partition(".")[0]
        if top in LIBRARIES or is_installed(top) and name not in sys.modules:
            continue
        try:
            found[name] = importlib.import_module(name)
        except Exception:
            found[name] = None
    return found


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
