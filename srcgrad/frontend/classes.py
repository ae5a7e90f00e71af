"""Python's data model, as far as it is followed: what a name means on objects of a class.

Enters: a class and a name.  Leaves: what an attribute lookup finds on the class, before the object's own fields are
asked.  Nothing that the class defines is run.
"""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABCMeta
from collections.abc import Collection
from functools import cached_property
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, TypeGuard

import gast

from srcgrad.frontend.held import ABSENT, is_generated
from srcgrad.frontend.journal import note_class
from srcgrad.runtime.binding import default_objects
from srcgrad.runtime.objects import has_fields, slot_of

BINARY: dict[type, tuple[str, str]] = {
    gast.Add: ("__add__", "__radd__"),
    gast.Sub: ("__sub__", "__rsub__"),
    gast.Mult: ("__mul__", "__rmul__"),
    gast.Div: ("__truediv__", "__rtruediv__"),
    gast.FloorDiv: ("__floordiv__", "__rfloordiv__"),
    gast.Mod: ("__mod__", "__rmod__"),
    gast.Pow: ("__pow__", "__rpow__"),
    gast.MatMult: ("__matmul__", "__rmatmul__"),
    gast.BitAnd: ("__and__", "__rand__"),
    gast.BitOr: ("__or__", "__ror__"),
    gast.BitXor: ("__xor__", "__rxor__"),
    gast.LShift: ("__lshift__", "__rlshift__"),
    gast.RShift: ("__rshift__", "__rrshift__"),
}
COMPARISONS: dict[type, str] = {
    gast.Lt: "__lt__",
    gast.LtE: "__le__",
    gast.Gt: "__gt__",
    gast.GtE: "__ge__",
    gast.Eq: "__eq__",
    gast.NotEq: "__ne__",
}
UNARY: dict[type, str] = {gast.USub: "__neg__", gast.UAdd: "__pos__", gast.Invert: "__invert__"}


def found(kind: type, name: str, after: type | None = None) -> Any:
    """What the classes of an object hold under a name, those after ``after`` only; ``ABSENT`` if none does.

    A function that is the default of a dataclass's field is no method: every object has the field.
    """
    note_class(kind)
    classes = kind.__mro__ if after is None else kind.__mro__[kind.__mro__.index(after) + 1 :]
    raw = next((slot_of(vars(base)[name], name) for base in classes if name in vars(base)), ABSENT)
    return ABSENT if is_method(raw) and name in _fields_of_dataclass(kind) else raw


def is_plain_class(value: object) -> TypeGuard[type]:
    """Whether a value is a class of which no metaclass of the user's says how attributes are looked up and objects are
    made: an ordinary or an abstract one."""
    return type(value) in (type, ABCMeta)


def is_method(raw: object) -> bool:
    """Whether what a class holds is a method, which a field of the same name would hide."""
    return isinstance(raw, FunctionType | staticmethod | classmethod)


def _fields_of_dataclass(kind: type) -> Collection[str]:
    return [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else ()


#: How a class may decide itself how its objects are copied; ``__copy__`` is followed.
COPYING = ("__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")


def is_user_class(kind: object) -> bool:
    """Whether objects of a class are looked into: a class written in Python, or a named tuple."""
    return isinstance(kind, type) and (has_fields(kind) or is_named_tuple(kind))


def is_named_tuple(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple)


def is_field(raw: object) -> bool:
    """Whether what a class holds is only the place of a field (``__slots__``, ``cached_property``), or nothing."""
    return raw is ABSENT or isinstance(raw, MemberDescriptorType | GetSetDescriptorType) or is_cached(raw)


def is_cached(raw: object) -> bool:
    """Whether what a class holds computes a field when it is read first (``functools.cached_property``)."""
    return type(raw) is cached_property and isinstance(raw.func, FunctionType)


def is_computed(raw: object) -> bool:
    """Whether what a class holds is a method that runs when its name is read: of a property, too."""
    return is_cached(raw) or isinstance(raw, property) and isinstance(raw.fget, FunctionType)


def intercepts(kind: type) -> str | None:
    """The method by which a class decides itself what its attributes are."""
    return "__getattribute__" if isinstance(found(kind, "__getattribute__"), FunctionType) else None


def setter(kind: type) -> object:
    """A class's own ``__setattr__``, unless it is that of a frozen dataclass or of ``object``."""
    raw = found(kind, "__setattr__")
    return None if not isinstance(raw, FunctionType) or is_frozen(kind) else raw


def is_frozen(kind: type) -> bool:
    parameters = found(kind, "__dataclass_params__")
    return parameters is not ABSENT and bool(parameters.frozen)


def is_generated_init(kind: type) -> bool:
    """Whether ``__init__`` is the one that ``dataclass`` wrote for this very class."""
    parameters = vars(kind).get("__dataclass_params__")
    initialiser = found(kind, "__init__")
    if parameters is None or not parameters.init or initialiser is not vars(kind).get("__init__"):
        return False
    return is_generated(initialiser) and _has_defaults_of_fields(kind, initialiser)


def _has_defaults_of_fields(kind: type, initialiser: FunctionType) -> bool:
    """Whether the ``__init__`` of a dataclass has the defaults that its fields say; ``__defaults__`` may be set."""
    defaults = default_objects(initialiser)
    plain = [each for each in initial_fields(kind) if each.init and each.default_factory is dataclasses.MISSING]
    return all(defaults.get(each.name, dataclasses.MISSING) is each.default for each in plain)


def initial_fields(kind: type) -> list[dataclasses.Field[Any]]:
    return list(vars(kind)["__dataclass_fields__"].values())


def sets_default(kind: type, field: dataclasses.Field[Any]) -> bool:
    """Whether the ``__init__`` of a dataclass sets a field that it is not given to its default, for which a class with
    slots has no place."""
    return not field.init and field.default is not dataclasses.MISSING and "__slots__" in vars(kind)


def makes_plainly(kind: type) -> bool:
    """Whether ``kind(...)`` is ``object.__new__`` and ``__init__``, and nothing else."""
    callers = (vars(base).get("__call__") for base in inspect.getmro(type(kind)))
    own_call = next((caller for caller in callers if caller is not None), None)
    return own_call is vars(type)["__call__"] and found(kind, "__new__") is vars(object)["__new__"]


#: What the fields of objects of local classes are called that hold variables of the function around.
CAPTURED = "_srcgrad_"


def captured_by(kind: object) -> tuple[str, ...]:
    """The fields of the objects of a local class that hold variables of its function."""
    return getattr(kind, "__srcgrad_captured__", ()) if isinstance(kind, type) else ()


def is_local(kind: object) -> bool:
    """Whether a class was made of a class statement in a function that is compiled."""
    return isinstance(kind, type) and hasattr(kind, "__srcgrad_captured__")
