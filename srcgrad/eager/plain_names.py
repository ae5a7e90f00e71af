"""The names that a plain program reads, when it runs eagerly: NumPy, ``math`` and its own functions, followed.

A function is run again from its own code with another mapping of globals, in which every name is translated as it is
read: modules hand out translated members, ruled functions record themselves, functions of the program are rebound in
their turn, and so are the methods of its classes.  Arrays, containers and objects among the globals, in closures and in
default values are copies of the run's own: a run changes nothing of the caller's.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import inspect
import math
from collections import deque, namedtuple
from collections.abc import Callable, Iterator, KeysView, ValuesView
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcgrad.eager import plain_objects
from srcgrad.eager.plain_operators import NotFollowed
from srcgrad.eager.plain_values import Followed, applied, followed, unfollowed
from srcgrad.rules.table import is_constant, lookup
from srcgrad.runtime import join_columns, join_rows
from srcgrad.runtime.binding import cached_function
from srcgrad.runtime.objects import has_operators
from srcgrad.runtime.written import VECTORIZED, apply_along_axis

_OF_CLASSES = (dataclasses.dataclass, dataclasses.field, dataclasses.make_dataclass, namedtuple)
_TYPES = (np.ndarray, np.generic, float, complex, int, bool)


class FollowedModule:
    """A module with translated members."""

    def __init__(self, module: ModuleType, names: Names) -> None:
        self._module, self._names = module, names

    def __getattr__(self, name: str) -> Any:
        return self._names.translated(getattr(self._module, name))


#: Of objects their functions call methods: ``abs``, ``operator.add``, ``math.floor``.
_ASKING = ("builtins", "_operator", "math")


_READ_ONCE = (Iterator, ValuesView, KeysView)


def _is_asked(x: Any) -> bool:
    if isinstance(x, list | tuple | deque) and any(map(_is_asked, x)):  # ``sum(objects)``
        return True
    kind: Any = type(x)
    return plain_objects.is_object(x) or has_operators(kind)


class JoinedByIndex:
    """``np.r_`` or ``np.c_``, whose index is what is joined."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __getitem__(self, index: Any) -> Any:
        items = index if isinstance(index, tuple) else (index,)
        if any(isinstance(item, str) for item in items):
            raise NotFollowed("directives in an index of np.r_ or np.c_ are not followed")
        return applied(self._function, (tuple(map(_written_out, items)),), {})


def _written_out(item: Any) -> Any:
    """The array that a list, or a slice, means in such an index; anything else itself."""
    if isinstance(item, list | tuple):
        return applied(np.array, (item,), {})
    if not isinstance(item, slice):
        return item
    start = 0 if item.start is None else item.start
    if isinstance(item.step, complex):
        return applied(np.linspace, (start, item.stop, int(abs(item.step))), {})
    return applied(np.arange, (start, item.stop, 1 if item.step is None else item.step), {})


class FollowedFunction:
    """A function outside the program, called on followed values; ``np.add.reduce`` and its like are found on it."""

    def __init__(self, function: Callable[..., Any], names: Names) -> None:
        self.followed_type = function  # what stands for it where it is an argument
        self._names = names

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        home = getattr(self.followed_type, "__module__", "")
        if self.followed_type in (sum, max, min, sorted):
            args = tuple(list(each) if isinstance(each, _READ_ONCE) else each for each in args)
        if home in _ASKING and any(map(_is_asked, args)):
            return self.followed_type(*args, **kwargs)
        if home == "_operator" and any(isinstance(each, list | tuple | dict | deque) for each in args):
            return self.followed_type(*args, **kwargs)  # which add, repeat or index them as they are
        return applied(self.followed_type, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return self._names.translated(getattr(self.followed_type, name))


class FollowedType(type):
    """What stands for a type of numbers or arrays: a class, as patterns need one, of which nothing is ever made.

    Calls convert, and followed values are instances of what they stand for.
    """

    followed_type: Any
    _names: Any

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
        if any(isinstance(base, FollowedType) for base in bases):
            raise NotFollowed(f"the class {name} of numbers or arrays, made by a program, is not followed")
        return super().__new__(cls, name, bases, members)

    @staticmethod
    def of(kind: type, names: Names) -> FollowedType:
        """The one for a type, of which it is a subclass where the type allows any."""
        members = {"followed_type": kind, "_names": names}
        for base in (kind, *kind.__mro__[1:]):
            try:
                return FollowedType(kind.__name__, (base,), dict(members))  # type: ignore[no-any-return]
            except TypeError:  # not a type that has subclasses, as bool
                continue
        raise AssertionError(kind)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        kind = cls.followed_type
        if lookup(kind) is None:
            if issubclass(kind, np.ndarray) and args:
                raise NotFollowed(f"arrays made by calling {kind.__name__} are not followed")
            return followed(kind(*map(unfollowed, args), **kwargs))
        return applied(kind, args, kwargs)

    def __getattribute__(cls, name: str) -> Any:
        of = functools.partial(type.__getattribute__, cls)
        if name in ("followed_type", "_names") or (name.startswith("__") and name.endswith("__")):
            return of(name)
        return of("_names").translated(getattr(of("followed_type"), name))

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(unfollowed(value), cls.followed_type)

    def __subclasscheck__(cls, kind: Any) -> bool:
        return issubclass(getattr(kind, "followed_type", kind), cls.followed_type)

    def __or__(cls, other: Any) -> Any:
        return (cls, *other) if isinstance(other, tuple) else (cls, other)

    __ror__ = __or__

    def __eq__(cls, other: object) -> bool:
        return cls.followed_type is getattr(other, "followed_type", other)

    def __hash__(cls) -> int:
        return hash(cls.followed_type)


class _Globals(dict[str, Any]):
    """The globals of a module, translated as they are read."""

    def __init__(self, real: dict[str, Any], names: Names) -> None:
        super().__init__()
        self.real, self.names = real, names

    def __getitem__(self, name: str) -> Any:
        if name in self.real:
            return self.names.translated(self.real[name])
        try:
            return self.names.translated(getattr(builtins, name))
        except AttributeError:
            raise KeyError(name) from None


class Names:
    """One run's translations; functions are rebound once each."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._held: list[Any] = []  # what an identity in the table belongs to
        self.originals: dict[type, type] = {}  # the classes of the program by their twins
        self.private = plain_objects.Private(self.translated)

    def translated(self, value: Any) -> Any:
        """What the program gets in place of ``value``."""
        if isinstance(value, Followed):
            return value
        if isinstance(value, np.ndarray | list | tuple | dict | set | deque) or plain_objects.is_object(value):
            return self.private.of(value)
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return followed(value)
        if value is np.r_ or value is np.c_:
            return JoinedByIndex(join_rows if value is np.r_ else join_columns)
        if not (callable(value) or isinstance(value, ModuleType)):
            return value
        if id(value) not in self._made:
            self._held.append(value)
            self._made[id(value)] = made = self._translation(value)
            self._held.append(made)
        return self._made[id(value)]

    def _translation(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            return FollowedModule(value, self)
        if value is type:
            return lambda of, *more: self.translated(type(unfollowed(of))) if not more else type(of, *more)
        if value is np.ndenumerate:
            return _elements
        if value is np.vectorize:
            return self._vectorized
        if isinstance(value, np.vectorize):
            options = {"signature": value.signature, "excluded": value.excluded}
            return self._vectorized(self.translated(value.pyfunc), value.otypes, **options)
        if isinstance(value, type):
            if plain_objects.has_twin(value):
                return self._twin(value)
            ruled = value is not deque and lookup(value) is not None
            if isinstance(value, FollowedType):
                return value
            if value in (np.finfo, np.iinfo):
                return FollowedFunction(value, self)
            numeric = issubclass(value, _TYPES) or value is np.dtype or ruled
            return FollowedType.of(value, self) if numeric else value
        if value in _OF_CLASSES or hasattr(value, "__mro_entries__"):  # as NamedTuple has: it makes classes
            return value
        if value in (copy.copy, copy.deepcopy):  # which ask what they are given
            return value
        if lookup(value) is not None:
            return FollowedFunction(value, self)
        if isinstance(value, BuiltinFunctionType) and value.__module__ == "builtins":
            return value
        if is_constant(value):
            return FollowedFunction(value, self)
        if value is np.apply_along_axis:
            assert isinstance(apply_along_axis, FunctionType)
            return self.rebound(apply_along_axis)
        if isinstance(value, FunctionType):
            home = value.__module__ or ""
            outside = home.split(".")[0] in ("numpy", "scipy", "srcgrad") and not home.startswith("srcgrad.eager")
            return FollowedFunction(value, self) if outside else self.rebound(value)
        if isinstance(value, MethodType) and isinstance(value.__func__, FunctionType):
            return MethodType(self.rebound(value.__func__), self.translated(value.__self__))
        if isinstance(value, functools.partial):
            named = {name: self.translated(item) for name, item in value.keywords.items()}
            return functools.partial(self.translated(value.func), *map(self.translated, value.args), **named)
        home = str(getattr(value, "__module__", None)).split(".")[0]
        if isinstance(value, np.ufunc) or home in ("numpy", "scipy"):
            return FollowedFunction(value, self)
        if isinstance(value, functools._lru_cache_wrapper) and cached_function(value) is None:
            return _Refused(value)
        inner = getattr(value, "__wrapped__", None)  # a cached or a compiled function
        if inner is not None and not hasattr(value, "mode"):
            return self.translated(inner)
        if hasattr(value, "mode"):
            return _Refused(value)
        if isinstance(value, BuiltinFunctionType) and value.__module__ == math.__name__:
            return FollowedFunction(value, self)
        return value

    def _vectorized(self, function: Callable[..., Any], otypes: Any = None, **options: Any) -> Callable[..., Any]:
        """``np.vectorize(function)``, of floats where that is asked for."""
        kinds = [np.dtype(getattr(kind, "followed_type", kind)) for kind in otypes or ()]
        if any(options.values()) or kinds not in ([], [np.dtype(float)]):
            raise NotFollowed("np.vectorize with options is not followed eagerly")
        as_float, made = self.translated(float), function
        if kinds:
            made = lambda *row: as_float(function(*row))
        return lambda *arrays: self.rebound(VECTORIZED[len(arrays) - 1])(made, *arrays, typed=bool(kinds))

    def _twin(self, kind: type) -> type:
        """A class of the program whose methods run followed, and which keeps the class that it stands for."""

        def entered(made: type) -> None:
            self._made[id(kind)] = made
            self.originals[made] = kind

        return plain_objects.twin(kind, self.translated, entered)

    def rebound(self, function: FunctionType) -> FunctionType:
        """A function of the program with its globals, and the functions that it encloses, translated."""
        known = self._made.get(id(function))
        if isinstance(known, FunctionType):
            return known
        cells = tuple(CellType() for _ in function.__closure__ or ())
        names = _Globals(function.__globals__, self)
        for name in _read_by_classes(function.__code__):
            if name in names.real:
                dict.__setitem__(names, name, names[name])
        made = FunctionType(
            function.__code__,
            names,
            function.__name__,
            None,
            cells or None,
        )
        self._held += [function, made]
        self._made[id(function)] = made
        if function.__defaults__:
            made.__defaults__ = tuple(map(self.translated, function.__defaults__))
        if function.__kwdefaults__:
            made.__kwdefaults__ = {name: self.translated(item) for name, item in function.__kwdefaults__.items()}
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.translated(original.cell_contents)
            except ValueError:  # not bound yet
                pass
        return made


def _elements(array: Any) -> Iterator[Any]:
    """``np.ndenumerate`` of what may be followed."""
    held = applied(np.asarray, (array,), {})
    return ((place, held[place]) for place in np.ndindex(held.shape))


def _read_by_classes(code: CodeType) -> Iterator[str]:
    """The names that the bodies of classes inside of a function read, which Python looks for past ``__getitem__``."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if not inner.co_flags & inspect.CO_OPTIMIZED:
                yield from inner.co_names
            yield from _read_by_classes(inner)


class _Refused:
    """A compiled derivative inside a program, or what does not tell which function it calls."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotFollowed(f"{self._value!r} inside a program is not followed eagerly")
