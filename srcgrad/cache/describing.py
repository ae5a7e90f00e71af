"""What a program may depend on of an object, in terms that mean the same in another process.

Enters: an object.  Leaves: nested tuples of text, bytes and integers, which are equal only where the objects are alike.
Functions, classes, modules, cells and namespaces get numbers as they are met, and are named by these when they are met
again: so two processes that describe the same things in the same order get equal descriptions only if the same places
hold the same objects in both.  What cannot be described raises ``Unportable``, and the program is not kept.

>>> here, there = Describing(), Describing()
>>> here.of([min, min, 2.0], exact=True) == there.of([min, min, 2.0], exact=True)
True
>>> here.of([min, max, 2.0], exact=True) == there.of([min, min, 2.0], exact=True)
False
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import gc
import os
import sys
import types
from abc import ABCMeta
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from enum import Enum
from inspect import Parameter
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

import numpy as np

from srcgrad.cache.digests import sha256
from srcgrad.frontend.guards import content
from srcgrad.frontend.held import ABSENT
from srcgrad.runtime.binding import cached_function
from srcgrad.runtime.exact import is_sparse
from srcgrad.runtime.objects import LIBRARIES, Itself, defines, fields_of, is_object, package_of

Description = tuple[Any, ...]

_HEAP_TYPE = 1 << 9
_DEEPEST, _LONGEST, _MOST = 30, 50, 20_000
_THE: dict[int, tuple[object, str]] = {
    id(one): (one, name)
    for name, one in {
        "None": None, "Ellipsis": ..., "NotImplemented": NotImplemented, "absent": ABSENT, "no value": np._NoValue,
        "empty": Parameter.empty,
    }.items()
}  # fmt: skip
#: Classes whose objects are told apart in one process alone: what a program does with one it does with any.
_OPAQUE = frozenset({("_thread", "lock"), ("_thread", "RLock"), ("logging", "Logger"), ("logging", "RootLogger")})
_SCALARS = (bool, int, float, complex, str, bytes)
_SEQUENCES = (list, tuple, deque)
_SETS = (set, frozenset)
_MAPPINGS = (dict, OrderedDict, Counter, defaultdict, MappingProxyType)
_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType,
                types.ClassMethodDescriptorType)  # fmt: skip
#: Where functions of C are looked up that do not say where they come from.
_HOMES = ("numpy", "numpy.random", "scipy.special", "builtins", "math", "operator")


class Unportable(Exception):
    """A program depends on something that another process could not recognise."""


class Describing:
    """Descriptions in one process; ``objects`` holds what has a number, ``values`` all that was described."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.values: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self.space(sys.modules)
        self.space(vars(sys.modules["builtins"]))

    # --- numbers -----------------------------------------------------------------------------------------------------
    def number(self, value: object) -> int | None:
        """The number of an object that was met."""
        return self._numbers.get(identity(value))

    def place(self, value: object) -> int | None:
        """Where an object stands among ``values``."""
        return self._places.get(id(value))

    def space(self, namespace: Any) -> int:
        """The number of a namespace or cell, which has one from now on."""
        found = self.number(namespace)
        if found is None:
            found = self._numbers[identity(namespace)] = len(self.objects)
            self.objects.append(namespace)
        return found

    def met(self, value: Any, content: Callable[[], Description]) -> Any:
        """The number of an object, with its content where it is met for the first time."""
        known = self.number(value)
        return ("met", known) if known is not None else ("new", self.space(value), content())

    def opaque(self, value: Any) -> Any:
        """An object of which no more is known than its class."""
        return "opaque", type(value).__module__, type(value).__qualname__

    # --- descriptions ------------------------------------------------------------------------------------------------
    def of(self, value: Any, *, exact: bool, depth: int = 0) -> Any:
        """A description of a value: of its kind, as programs are compiled for kinds of values; ``exact``: with what
        numbers and texts it is."""
        if len(self.values) > _MOST or depth > _DEEPEST:
            raise Unportable("too much is read from outside")
        self._places.setdefault(id(value), len(self.values))
        self.values.append(value)
        if (single := _THE.get(id(value))) is not None:
            return "the", single[1]
        kind: Any = type(value)
        if kind in _SCALARS:
            return (kind.__name__, _spelled(value)) if exact else (kind.__name__,)
        if kind is Itself:
            return "itself", self.of(value.value, exact=True, depth=depth + 1)
        if isinstance(value, np.generic) and kind.__module__ == "numpy" and not value.dtype.hasobject:
            return ("number", value.dtype.str, value.tobytes()) if exact else ("number", value.dtype.str)
        if isinstance(value, FunctionType):
            return self.met(value, lambda: self._function(value, depth))
        if isinstance(value, ModuleType):
            return self.met(value, lambda: self._module(value))
        if kind in (types.GenericAlias, types.UnionType) or package_of(kind) == "typing":
            return "annotation", repr(value)
        if isinstance(value, type):
            return self.met(value, lambda: self._class(value, depth))
        if isinstance(value, Enum):
            return self._member(value, depth)
        made = self._of_container(value, exact, depth) or self._of_library(value, exact, depth)
        if made is not None:
            return made
        if is_object(value):
            parts = [(name, self.of(held, exact=exact, depth=depth + 1)) for name, held in fields_of(value).items()]
            return "object", self.of(kind, exact=True, depth=depth + 1), *parts
        raise Unportable(f"a {kind.__module__}.{kind.__qualname__} is read from outside")

    def _all(self, values: Iterable[Any], exact: bool, depth: int) -> Description:
        return tuple([self.of(value, exact=exact, depth=depth + 1) for value in values])

    def _function(self, function: FunctionType, depth: int) -> Description:
        code, namespace = function.__code__, function.__globals__
        if is_of_library(function):
            captured = self._all(map(content, function.__closure__ or ()), True, depth)
            behind = self._all([vars(function).get("__wrapped__", ABSENT)], True, depth)
            return "library", namespace["__name__"], code.co_qualname, digest_of_code(code), captured, behind
        spaces = [self.space(namespace), self.space(vars(function))]
        spaces += [self.space(function.__kwdefaults__)] if function.__kwdefaults__ else []
        cells = [self.space(cell) for cell in function.__closure__ or ()]
        where = str(function.__module__), function.__qualname__, code.co_filename
        return "function", *where, digest_of_code(code), *spaces, "cells", *cells

    def _module(self, module: ModuleType) -> Description:
        if sys.modules.get(module.__name__) is not module:
            raise Unportable(f"a module {module.__name__} is read that cannot be imported")
        return "module", module.__name__, self.space(vars(module))

    def _class(self, kind: type, depth: int) -> Description:
        where: Description = str(kind.__module__), kind.__qualname__
        if isinstance(kind, ABCMeta):
            where = *where, "registered", *registered(kind)
        if not kind.__flags__ & _HEAP_TYPE or package_of(kind) in LIBRARIES:
            return "library", *where
        return "class", *where, self.space(vars(kind)), self.of(type(kind), exact=True, depth=depth + 1)

    def _member(self, value: Enum, depth: int) -> Description:
        kind = type(value)
        if kind.__members__.get(str(value.name)) is not value:
            raise Unportable(f"a combination of members of {kind.__qualname__} is read")
        return "member", self.of(kind, exact=True, depth=depth + 1), value.name

    def _of_container(self, value: Any, exact: bool, depth: int) -> Any:
        kind: Any = type(value)
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject or (kind is not np.ndarray and getattr(value, "__dict__", None)):
                raise Unportable("an array of objects is read")
            dtype = value.dtype.str if value.dtype.fields is None else repr(value.dtype.descr)
            return "array", self.of(kind, exact=True, depth=depth + 1), dtype, value.ndim
        is_named = issubclass(kind, tuple) and hasattr(kind, "_fields")
        if kind in _SEQUENCES or is_named:
            texts = kind is tuple and len(value) < _LONGEST and {*map(type, value)} == {str}  # names, as a rule
            name = self.of(kind, exact=True, depth=depth + 1) if is_named else kind.__name__
            if exact or len(value) <= _LONGEST:
                return name, len(value), *self._all(value, exact or texts, depth)
            return name, "many", self._each_once(value, depth)
        if kind in _SETS:
            return kind.__name__, self._each_once(value, depth, exact)
        if kind in _MAPPINGS:
            made = self.met(value, lambda: ()) if kind is defaultdict else ()
            made = kind.__name__, made, self.of(getattr(value, "default_factory", None), exact=True, depth=depth + 1)
            if exact or all(type(key) in (str, int) for key in value):
                entries = [(self.of(key, exact=True, depth=depth + 1), self.of(held, exact=exact, depth=depth + 1))
                           for key, held in value.items()]  # fmt: skip
                return *made, len(value), *entries
            return *made, "many", self._each_once(value, depth), self._each_once(value.values(), depth)
        return None

    def _each_once(self, values: Iterable[Any], depth: int, exact: bool = False) -> Description:
        return tuple(sorted({*self._all(values, exact, depth)}, key=repr))

    def _of_library(self, value: Any, exact: bool, depth: int) -> Any:
        """Objects of classes of Python's and of NumPy's."""
        kind: Any = type(value)

        def inside(held: Any) -> Any:
            return self.of(held, exact=True, depth=depth + 1)

        match value:
            case MethodType():
                return "method", inside(value.__func__), self.of(value.__self__, exact=exact, depth=depth + 1)
            case staticmethod() | classmethod():
                return kind.__name__, inside(value.__func__)
            case property():
                return "property", inside(value.fget), inside(value.fset), inside(value.fdel)
            case slice() if kind is slice:
                return "slice", *self._all((value.start, value.stop, value.step), exact, depth)
            case np.dtype():
                return "dtype", repr(value)
            case dataclasses.Field():
                told = value.name, value.init, value.repr, value.hash, value.compare, value.kw_only, value.metadata
                types_ = annotation(value.type), repr(getattr(value, "_field_type", None))
                return "field", *types_, *map(inside, told), inside(value.default), inside(value.default_factory)
        if kind.__module__ in ("numpy.random._generator", "numpy.random.mtrand") and not callable(value):
            return (kind.__name__,)
        if kind is range or (kind.__module__, kind.__name__) in (("decimal", "Decimal"), ("fractions", "Fraction")):
            return (kind.__name__, repr(value)) if exact else (kind.__name__,)
        if kind is functools.partial and not vars(value):
            return self.met(value, lambda: (
                "partial", inside(value.func), inside(value.args), self.space(value.keywords), inside(value.keywords)
            ))  # fmt: skip
        if kind is functools.cached_property:
            return self.met(value, lambda: ("cached property", inside(value.func), inside(value.attrname)))
        if kind is np.vectorize:
            held = (value.pyfunc, value.otypes, value.signature, value.excluded, value.cache)
            return self.met(value, lambda: ("vectorize", *map(inside, held)))
        if isinstance(value, functools._lru_cache_wrapper):
            behind = cached_function(value)
            if behind is None:
                raise Unportable("a cached function is read whose __wrapped__ is another one")
            return self.met(value, lambda: ("cached", inside(behind)))
        if isinstance(value, _DESCRIPTORS):
            return "descriptor", kind.__name__, value.__objclass__.__qualname__, value.__name__
        if (kind.__module__, kind.__qualname__) in _OPAQUE:
            return self.opaque(value)
        if kind.__module__ == "_abc":
            return (kind.__qualname__,)
        if kind.__module__ == "dataclasses" and kind.__qualname__.startswith("_"):  # marks, and what was asked for
            return kind.__qualname__, repr(value) if kind.__qualname__ == "_DataclassParams" else ""
        if kind.__qualname__ == "_tuplegetter":  # of a field of a named tuple
            return kind.__qualname__, inside(value.__reduce__()[1][0])
        if package_of(kind) == "srcgrad" and defines(kind, "__srcgrad_derived__"):
            return self.met(value, lambda: self._derivative(value, depth))
        if is_sparse(kind):
            return "sparse", inside(kind), value.ndim, value.dtype.str
        owner = getattr(value, "__self__", None)
        if kind is BuiltinFunctionType and isinstance(owner, type) and getattr(owner, value.__name__, None) == value:
            return "of class", inside(owner), value.__name__  # ``int.__new__``
        if callable(value) and not is_object(value):
            home = home_of(value)
            return self.met(value, lambda: ("library", *home))
        return None

    def _derivative(self, value: Any, depth: int) -> Description:
        told = type(value).__srcgrad_derived__(value)
        if told is None:
            raise Unportable("a derivative without a text is read")
        mode, function, argnums = told
        return "derivative", mode, self.of(function, exact=True, depth=depth + 1), repr(argnums)


class Live(Describing):
    """Descriptions that are compared in the process that made them: what would have a number is there itself."""

    def met(self, value: Any, content: Callable[[], Description]) -> Any:
        return Itself(value)

    def opaque(self, value: Any) -> Any:
        return Itself(value)


def kind_here(value: Any) -> object:
    """What a loaded program depends on of a value that it reads from outside, as ``infer.entry.described`` says it."""
    return Live().of(value, exact=False)


def identity(value: Any) -> int:
    """What tells objects apart; each read of a class's ``__dict__`` makes another proxy of the same one."""
    return id(gc.get_referents(value)[0]) if type(value) is MappingProxyType else id(value)


def _spelled(value: Any) -> Any:
    return value if type(value) in (str, bytes) else f"{value:x}" if type(value) is int else repr(value)


def is_of_library(function: FunctionType) -> bool:
    """Whether the code of a function stands in a module of Python's, NumPy's, SciPy's or srcgrad's."""
    return is_space_of_library(function.__globals__)


def is_space_of_library(namespace: Any) -> bool:
    """Whether a namespace is that of a module of such a library, whose version says what it holds."""
    name = namespace.get("__name__")
    if not isinstance(name, str) or name.partition(".")[0] not in LIBRARIES:
        return False
    return getattr(sys.modules.get(name), "__dict__", None) is namespace


def home_of(value: Any) -> tuple[str, str]:
    """The module of a library that holds an object, and its name there."""
    name, owner = getattr(value, "__name__", None), getattr(value, "__self__", None)
    module = getattr(value, "__module__", None)
    around = type(owner).__module__ if owner is not None and not isinstance(owner, ModuleType) else None
    for home in (module, around, *_HOMES):
        if isinstance(home, str) and isinstance(name, str):
            if vars(sys.modules[home]).get(name) is value if home in sys.modules else False:
                return home, name
    raise Unportable(f"a {type(value).__module__}.{type(value).__qualname__} is read from outside")


def annotation(value: Any) -> str:
    """An annotation, of which no more counts than how it reads."""
    return f"{value.__module__}.{value.__qualname__}" if isinstance(value, type) else repr(value)


def registered(kind: type) -> Description:
    """The user's classes that were made subclasses of an abstract class, or of one that derives from it."""
    dump = vars(abc)["_get_dump"]
    found: set[tuple[str, str]] = set()
    pending: list[Any] = [kind]
    seen: set[type] = set()
    while pending:
        one = pending.pop()
        if one in seen or not isinstance(one, ABCMeta):
            continue
        seen.add(one)
        pending += type.__subclasses__(one)
        for each in (reference() for reference in dump(one)[0]):
            if each is not None:
                pending.append(each)
                if package_of(each) not in LIBRARIES:
                    found.add((str(each.__module__), each.__qualname__))
    return tuple(sorted(found))


def digest_of_code(code: CodeType) -> str:
    """A digest of all that a code object says, the places of its instructions included."""
    made = sha256()
    pending: list[Any] = [code]
    while pending:
        one = pending.pop()
        if not isinstance(one, CodeType):
            made.update(_constant(one).encode())
            continue
        counts = one.co_argcount, one.co_posonlyargcount, one.co_kwonlyargcount, one.co_flags, one.co_firstlineno
        names = one.co_name, one.co_qualname, one.co_names, one.co_varnames, one.co_freevars, one.co_cellvars
        made.update(repr((counts, names, len(one.co_consts))).encode())
        for part in (one.co_code, one.co_linetable, one.co_exceptiontable):
            made.update(f"{len(part)}:".encode() + part)
        pending += one.co_consts
    return made.hexdigest()


def _constant(value: Any) -> str:
    if isinstance(value, tuple | frozenset):
        parts = [_constant(part) for part in value]
        return f"{type(value).__name__}({','.join(sorted(parts) if isinstance(value, frozenset) else parts)})"
    return f"{type(value).__name__} {_spelled(value)!r};"


def version_of_file(module: str) -> tuple[str, int, int] | None:
    """The file of a loaded module, with its size and its time: another version has another one."""
    name = getattr(sys.modules.get(module), "__file__", None)
    if name is None:
        return None
    told = os.stat(name)
    return name, told.st_size, told.st_mtime_ns
