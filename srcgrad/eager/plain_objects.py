"""The caller's values as a plain program gets them: copies of its own, in which numbers and arrays are followed.

Containers and objects are copied with what they hold, each once, so that what is one object for the program stays one.
An object of a class of the program becomes an object of a *twin* of the class, whose methods run followed as functions
do.  Two arrays that share memory without being one are copied apart, and a store into either is refused.
"""

from __future__ import annotations

import contextlib
from abc import ABC, ABCMeta
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from types import MemberDescriptorType, SimpleNamespace
from typing import Any, Generic
from weakref import WeakKeyDictionary

import numpy as np

from srcgrad.eager.plain_memory import private
from srcgrad.eager.plain_values import Followed, followed
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime.objects import fields_of, has_fields, slot_of

_MAPPINGS = (dict, OrderedDict, defaultdict)
_AT_ONCE = ("__module__", "__qualname__", "__doc__", "__annotations__")
_ITS_OWN = ("__dict__", "__weakref__", "__slots__", "__abstractmethods__", "_abc_impl")
Translate = Callable[[Any], Any]
_OVERLAP = "a store into an array that shares memory with another argument or global of the program is not followed"


def is_floating(value: Any) -> bool:
    """Whether a derivative is taken with respect to it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def has_twin(kind: Any) -> bool:
    """Whether a class is one of the program, of plain objects with fields."""
    if type(kind) not in (type, ABCMeta) or issubclass(kind, Followed | SimpleNamespace) or not has_fields(kind):
        return False
    if any(slot_of(held, name) is not held for name, held in vars(kind).items()):
        return False
    return all(base is object or base in (ABC, Generic) or has_twin(base) for base in kind.__bases__)


def twin(kind: type, translated: Translate, entered: Callable[[type], None]) -> type:
    """A class like ``kind`` whose functions run followed; ``entered`` is told of it before they are translated."""
    members = dict(vars(kind))
    slots = [name for name, item in members.items() if isinstance(item, MemberDescriptorType)]
    first = {name: members[name] for name in _AT_ONCE if name in members}
    if "__slots__" in members:
        first["__slots__"] = tuple(slots)
    bases = tuple(map(translated, kind.__bases__))
    with _unasked(bases):
        made = type(kind)(kind.__name__, bases, first)
    entered(made)
    for name, item in members.items():
        if name in first or name in slots or name in _ITS_OWN:
            continue
        own = _member(item, translated)
        setattr(made, name, own)
        if own is not item and hasattr(own, "__set_name__"):
            own.__set_name__(made, name)
    _STANDS_FOR[made] = kind
    if type(kind) is ABCMeta and not hasattr(_asked_for(kind), "__func__"):
        made.__subclasshook__ = classmethod(_is_registered)  # type: ignore[assignment]
    return made


_STANDS_FOR: WeakKeyDictionary[type, type] = WeakKeyDictionary()  # the class that each twin is one of


def _asked_for(kind: type) -> Any:
    """What the class itself answers of its subclasses, before what was registered with it."""
    return next(vars(base)["__subclasshook__"] for base in kind.__mro__ if "__subclasshook__" in vars(base))


def _is_registered(asked: type, other: type) -> Any:
    """Whether a class, or the one that it stands for, is a subclass of an abstract one: by ``register``, too."""
    kind = _STANDS_FOR.get(asked)
    return NotImplemented if kind is None else issubclass(_STANDS_FOR.get(other, other), kind)


@contextlib.contextmanager
def _unasked(bases: tuple[type, ...]) -> Iterator[None]:
    """``__init_subclass__`` of the bases has done what it does, for the class that the twin stands for."""
    asked = [base for each in bases for base in each.__mro__ if base is not object and _INIT in vars(base)]
    kept = [(base, vars(base)[_INIT]) for base in dict.fromkeys(asked) if base.__flags__ & _CHANGEABLE]
    for base, _ in kept:
        delattr(base, _INIT)
    try:
        yield
    finally:
        for base, member in kept:
            setattr(base, _INIT, member)


_INIT = "__init_subclass__"
_CHANGEABLE = 1 << 9  # a class made by a class statement


def _member(item: Any, translated: Translate) -> Any:
    if isinstance(item, staticmethod | classmethod):
        return type(item)(translated(item.__func__))
    if isinstance(item, property):
        get, put, delete = (f and translated(f) for f in (item.fget, item.fset, item.fdel))
        return property(get, put, delete, item.__doc__)
    if type(item).__name__ == "cached_property":
        return type(item)(translated(item.func))
    return translated(item)


class Private:
    """One run's copies of what the caller owns."""

    def __init__(self, translated: Translate) -> None:
        self._translated = translated
        self._made: dict[int, Any] = {}
        self._held: list[Any] = []
        self._arrays: list[tuple[Any, Followed]] = []

    def of(self, value: Any, leaves: list[Tensor] | None = None) -> Any:
        """A copy; with ``leaves``, each floating-point number in it becomes a leaf of the graph, put there in order."""
        if is_floating(value) and leaves is not None:
            return self._leaf(value, leaves)
        if isinstance(value, np.ndarray | list | tuple | set | frozenset | deque | dict) or is_object(value):
            if id(value) not in self._made:
                self._held.append(value)
                self._copy(value, leaves)
            return self._made[id(value)]
        return self._translated(value)

    def _leaf(self, value: Any, leaves: list[Tensor]) -> Followed:
        is_array = isinstance(value, np.ndarray)
        leaf = Tensor.of(value.copy(order="K") if is_array else np.asarray(value)[()], requires_grad=True)
        leaves.append(leaf)
        if not is_array:
            return Followed(leaf, python=not isinstance(value, np.generic))
        return self._entered(value, Followed(leaf, array=private(value)))

    def _entered(self, array: Any, made: Followed) -> Followed:
        """Remember a copy; of two that share memory neither may be stored into."""
        for other, copy in self._arrays:
            if np.may_share_memory(array, other):
                made.memory.refusal = copy.memory.refusal = _OVERLAP
        self._arrays.append((array, made))
        self._held.append(array)
        return made

    def _copy(self, value: Any, leaves: list[Tensor] | None) -> None:
        made: Any
        key = id(value)
        if isinstance(value, np.ndarray):
            simple = value.dtype.kind in "fciub" and type(value) is np.ndarray
            self._made[key] = self._entered(value, followed(private(value))) if simple else value
        elif isinstance(value, _MAPPINGS):
            self._made[key] = made = type(value)()
            if isinstance(value, defaultdict):
                made.default_factory = self._translated(value.default_factory)
            made.update((name, self.of(item, leaves)) for name, item in value.items())
        elif isinstance(value, list | deque):
            self._made[key] = made = deque(maxlen=value.maxlen) if isinstance(value, deque) else type(value)()
            made.extend([self.of(item, leaves) for item in value])
        elif isinstance(value, tuple | set | frozenset):
            items = [self.of(item, leaves) for item in value]
            self._made[key] = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        else:
            self._made[key] = made = object.__new__(self._translated(type(value)))
            for name, item in fields_of(value).items():
                object.__setattr__(made, name, self.of(item, leaves))


def is_object(value: Any) -> bool:
    """Whether a value is an object of a class of the program."""
    return type(value) is SimpleNamespace or has_twin(type(value))


def gathered(value: Any, grads: Iterator[Any]) -> Any:
    """The gradients of an argument's leaves in its structure, None where there is none."""
    if is_floating(value):
        g = next(grads)
        return None if g is None else np.conjugate(g.array)
    if isinstance(value, list | tuple | deque):
        items = [gathered(item, grads) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: gathered(item, grads) for key, item in value.items()}
    if is_object(value):
        return {name: gathered(item, grads) for name, item in fields_of(value).items()}
    return None
