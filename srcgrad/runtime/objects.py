"""Objects of the user's classes as derivatives see them: their fields by name.

A cotangent or tangent inside a program is a dict of the fields'; what leaves a derivative has the class of the object
where that is a dataclass, else it is a ``types.SimpleNamespace``.

>>> fields_of(SimpleNamespace(w=2.0, b=1.0))
{'w': 2.0, 'b': 1.0}
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache, wraps
from types import FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any, TypeGuard, TypeVar

import numpy as np

from srcgrad.runtime.refusals import RefusedMode, RefusedType

T = TypeVar("T")
LIBRARIES = (sys.stdlib_module_names | {"numpy", "scipy", "srcgrad", "torch", "uarray"}) - {"__main__", "statistics"}
_HEAP_TYPE = 1 << 9
_OF_ITEMS = ("__getitem__", "__iter__", "__len__", "__missing__", "__reversed__", "__array__", "__array_ufunc__")
_ASKED = frozenset("__round__ __floor__ __ceil__ __trunc__ __float__ __complex__ __divmod__ __rdivmod__".split())
_NEVER = (type, BaseException, tuple, list, dict, set, frozenset, str, bytes, int, float, complex)


@cache
def has_fields(kind: type) -> bool:
    """Whether objects of a class are looked into."""
    if kind is SimpleNamespace:
        return True
    if not kind.__flags__ & _HEAP_TYPE or issubclass(kind, _NEVER) or defines(kind, "__array__"):
        return False
    return not any(package_of(base) in ("torch", "srcgrad") for base in kind.__mro__) and (
        package_of(kind) not in LIBRARIES
    )


def defines(kind: type, name: str) -> bool:
    """Whether a class or one of its bases holds a name; nothing that the class or its metaclass defines is run."""
    return any(name in base.__dict__ for base in kind.__mro__)


class Itself:
    """Stands for an object in a key, equal to nothing but what stands for the same object."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class SlotOfAnother:
    """Stands for a slot that a class holds under another name than the slot's own: two names of one field."""

    def __get__(self, instance: object, owner: object = None) -> Any:
        raise AttributeError

    def __set__(self, instance: object, value: object) -> None:
        raise AttributeError

    def __delete__(self, instance: object) -> None:
        raise AttributeError


OTHER_SLOT = SlotOfAnother()


def slot_of(held: Any, name: str) -> Any:
    """What a class holds under a name; ``OTHER_SLOT`` where that is the slot of another name."""
    is_other = isinstance(held, MemberDescriptorType) and held.__name__ != name
    return OTHER_SLOT if is_other else held


def package_of(kind: type) -> str:
    """The package that a class comes from; none where the class says something else by ``__module__``, as one does that
    ``exec`` has made, and of what programs have in place of a class of Python's."""
    if "__srcgrad_stands_for__" in vars(kind):
        return ""
    module = kind.__module__
    is_made = module == "builtins" and kind.__flags__ & _HEAP_TYPE and vars(builtins).get(kind.__name__) is not kind
    if not isinstance(module, str) or is_made:
        return ""
    return module.partition(".")[0]


def is_object(x: Any) -> bool:
    """Whether ``x`` is an object of a user's class, whose fields are looked into.  A member of an enumeration is a
    constant, and itself alone: no copy of it finds what stands under it in a dict."""
    kind: Any = type(x)
    return has_fields(kind) and not isinstance(x, Enum)


@cache
def slots_of(kind: type) -> tuple[tuple[str, Any], ...]:
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        listed = base.__dict__.get("__slots__", ())
        for name in (listed,) if isinstance(listed, str) else tuple(listed):
            if name not in ("__dict__", "__weakref__"):
                mangled = f"_{base.__name__.lstrip('_')}{name}" if name[:2] == "__" and name[-2:] != "__" else name
                found[mangled] = base.__dict__[mangled]
    return tuple(found.items())


def fields_of(x: Any) -> dict[str, Any]:
    """The fields of an object, slots first; those that are not set are absent."""
    found: dict[str, Any] = {}
    kind: Any = type(x)
    for name, member in slots_of(kind):
        try:
            found[name] = member.__get__(x)
        except AttributeError:
            continue
    try:
        held = object.__getattribute__(x, "__dict__")  # the object's own, whatever its class answers
    except AttributeError:
        return found
    if isinstance(held, dict):
        found.update(held)
    return found


def kept_by_class(function: Callable[[type], T]) -> Callable[[type], T]:
    """Compute the result for a class once, and again where it or a base holds something else than before."""
    kept: dict[type, tuple[list[object], T]] = {}
    of_fixed = cache(function)

    @wraps(function)
    def asked(kind: type) -> T:
        if not kind.__flags__ & _HEAP_TYPE:
            return of_fixed(kind)
        held: list[object] = []
        for base in kind.__mro__:
            if base.__flags__ & _HEAP_TYPE:
                held += (base, *base.__dict__, *base.__dict__.values())
        known = kept.get(kind)
        if known is None or len(known[0]) != len(held) or not all(map(operator.is_, known[0], held)):
            known = kept[kind] = held, function(kind)
        return known[1]

    return asked


@kept_by_class
def has_operators(kind: type) -> bool:
    """Whether a class of the user's that is not looked into, of tuples say, has an operator of its own."""
    if not kind.__flags__ & _HEAP_TYPE:
        return False
    if has_fields(kind) or defines(kind, "__array_finalize__") or package_of(kind) in LIBRARIES:
        return False
    if issubclass(kind, Enum):  # in which the standard library writes methods of its own: ``exact.overrides`` tells
        return False
    own = (n for base in kind.__mro__ for n in base.__dict__ if isinstance(_held(kind, n), FunctionType))
    return any(hasattr(operator, n) or hasattr(operator, n.replace("__r", "__", 1)) or n in _ASKED for n in own)


def _held(kind: type, name: str) -> Any:
    """What a class, or the first of its bases that does, holds under a name, as it is."""
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def made(kind: type, fields: Mapping[str, Any]) -> Any:
    """An object of a class with these fields; nothing that the class defines is run."""
    if kind is SimpleNamespace:
        return SimpleNamespace(**fields)
    result: Any = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(result, name, value)
    return result


def mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """An object like ``x`` whose fields are changed."""
    return made(type(x), {name: change(value) for name, value in fields_of(x).items()})


def mirrored(x: Any, fields: Mapping[str, Any]) -> Any:
    """What a derivative with respect to the object ``x`` is handed out as."""
    if defines(type(x), "__dataclass_fields__"):
        return made(type(x), fields)
    return SimpleNamespace(**fields)


def cotangents_of(g: Any, x: Any) -> dict[str, Any]:
    """The cotangents of the fields of ``x`` by name, from a dict or from an object with such fields."""
    parts = g if isinstance(g, dict) else fields_of(g) if is_object(g) else None
    if parts is None:
        raise TypeError(f"the cotangent of a {type(x).__name__} is a {type(g).__name__}")
    unknown = [name for name in parts if name not in fields_of(x)]
    if unknown:
        raise TypeError(f"a {type(x).__name__} has no field {unknown[0]!r}")
    return parts


def attribute(x: Any, name: str) -> Any:
    """``x.name``, where the name alone would mean something else in generated text, or the class holds under it what$
    can be stored into.  Other objects see that: an array of the class is read, and not stored into."""
    value = getattr(x, name)
    if not is_seen_by_others(value) or _held(type(x), name) is not value:
        return value
    if type(value) is not np.ndarray:
        kind = type(x).__name__
        raise RefusedType(
            "E0307",
            f"the class {kind} holds {name!r}, a {type(value).__name__}, for an object that has none; give it its own",
        )
    shown = value.view()
    shown.flags.writeable = False
    return shown


def is_seen_by_others(value: object) -> bool:
    """Whether a value that a class holds can be stored into by each of its objects."""
    return isinstance(value, np.ndarray | list | dict | set | deque) or is_object(value) and bool(fields_of(value))


def bound(x: Any, name: str) -> Any:
    """A method of ``x``, which keeps it in a field: its derivative is that of a call of the method by its name."""
    return getattr(x, name)


def require_fields(x: Any, names: tuple[str, ...]) -> None:
    """Refuse an object whose ``vars`` holds other names than those, or in another order."""
    if tuple(vars(x)) != names:
        raise RefusedMode("E0109", f"vars() of an object of class {type(x).__name__} holds {[*vars(x)]} when it runs")


def require_assigned(x: Any, name: str = "") -> None:
    """Read a variable, so that Python raises where nothing has bound it; one with a ``name`` begins as None in a
    derivative."""
    if name and x is None:
        raise RefusedType("E0704", f"{name} is None, or has no value yet; give it a value first")


def require_given(items: Any, count: int, name: str, is_rest: bool = False, takes_more: bool = False) -> None:
    """Raise what Python raises where a star gives a function fewer items than it has parameters left, or more; where
    ``is_rest``, it takes more; where ``takes_more``, these would be options, which are not followed."""
    if is_object(items):
        raise RefusedType("E0206", f"a star of a {type(items).__name__}, whose __iter__ says how many items there are")
    given = len(items) if hasattr(items, "__len__") else count  # an iterator is taken apart where it is unpacked
    if given < count:
        raise TypeError(f"{name}() missing {count - given} required positional argument{'s' * (count - given > 1)}")
    if given > count and takes_more:
        raise RefusedType("E0206", f"a star that gives {name}() {given} arguments, where it needs {count}")
    if given > count and not is_rest:
        raise TypeError(f"{name}() takes {count} positional arguments from * but {given} were given")


def never(x: Any, name: str) -> Any:
    """In place of ``x.name`` where ``x`` is an item of a list that had none when this was compiled."""
    raise RefusedType("E0203", f"{name!r} of a {type(x).__name__}, which lay in a list that was taken to be empty")


def require_hashed(*given: Any) -> None:
    """Raise what ``functools.cache`` raises of arguments, and refuse objects: it returns for them what it returned when
    they held something else.

    >>> require_hashed(2.0, (3, "a"))
    >>> require_hashed(np.zeros(2))
    Traceback (most recent call last):
        ...
    TypeError: unhashable type: 'numpy.ndarray'
    """
    for value in given:
        hash(value)
        if isinstance(value, tuple | frozenset):
            require_hashed(*value)
        elif is_object(value):
            told = f"functools.cache remembers what it returned for a {type(value).__name__}"
            raise RefusedType("E0212", f"{told}, which may hold other values now")


def _require_reflected(x: Any, kind: str, is_sequence: bool = False) -> None:
    """Refuse ``x + object`` where ``x`` is an array, which adds the object to each of its elements; a number of NumPy's
    does so too where the object is a sequence, which it makes an array of.  An object would have been asked itself."""
    if is_object(x):
        raise RefusedType(
            "E0413",
            f"an operator between a {type(x).__name__} and a {kind}, where what is on the left is not always an object;"
            " give a sum an object to start with, or use two names",
        )
    if is_sequence and hasattr(x, "dtype"):
        raise RefusedType(
            "E0413", f"NumPy makes an array of the {kind} in an operator; swap the operands, or give it float(...)"
        )
    if hasattr(x, "__array_ufunc__") and not hasattr(type(x), "dtype") or hasattr(x, "dtype") and x.ndim:
        raise RefusedType(
            "E0413", f"an operator between an array and a {kind} goes to every element; swap the operands"
        )


def handed(x: Any, kind: str) -> Any:
    """A number on the left of an object, as the reflected method of the object gets it: one of NumPy's as Python's own.

    >>> handed(np.float64(2.0), "Point"), handed(3, "Point")
    (2.0, 3)
    """
    _require_reflected(x, kind)
    if not isinstance(x, bool | int | float | complex | np.generic):
        raise RefusedType("E0413", f"an operator between a {type(x).__name__} and a {kind}; swap the operands")
    return x.item() if isinstance(x, np.generic) else x


def require_same(key: Any) -> None:
    """Refuse a key that is not found, if it is an object: it is the copy of one, in what was saved."""
    if is_object(key):
        raise RefusedType(
            "E0603", f"an object of class {type(key).__name__} is a key of a dict that changes, whose derivative is"
            " differentiated once more; take what tells the objects apart for keys"
        )


def is_users(owner: object) -> TypeGuard[ModuleType | type]:
    """Whether a value is a module or a class of the user's, whose attributes are looked at."""
    if isinstance(owner, ModuleType):
        return owner.__name__.partition(".")[0] not in LIBRARIES
    return isinstance(owner, type) and has_fields(owner)
