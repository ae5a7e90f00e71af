"""Names that are not local: what they mean, and the leaf that stands for one in a tree.

Enters: an object, and where it can be imported from or read again.  Leaves: a ``GlobalReference``, a ``gast.Name`` that
no pass mistakes for a local name.  The printer decides how it is spelled.

>>> leaf = reference(builtin("range"))
>>> leaf.id, leaf.binding.value is range, leaf.binding.cell
('range', True, None)
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from enum import Enum
from itertools import takewhile
from typing import Any

import gast

from srcgrad.syntax.bindings import GlobalBinding

LOAD, STORE = gast.Load(), gast.Store()  # they have no contents: trees may share them


class GlobalReference(gast.Name):
    """A read of a global, closure variable or builtin; a leaf that trees may share."""

    binding: GlobalBinding

    def __init__(self, binding: GlobalBinding) -> None:
        # Trees are full of these, and gast's constructors set one field after the other.
        self.__dict__.update(id=binding.preferred, ctx=LOAD, annotation=None, type_comment=None, binding=binding)


def reference(binding: GlobalBinding) -> GlobalReference:
    """A leaf that reads ``binding``."""
    return GlobalReference(binding)


def builtin(name: str) -> GlobalBinding:
    """The binding of a builtin."""
    return GlobalBinding(name, getattr(builtins, name), "builtins", name)


def of_runtime(function: Callable[..., object]) -> GlobalBinding:
    """The binding of a function of the runtime."""
    name = function.__name__
    return GlobalBinding(name, function, "srcgrad.runtime", name)


def call_runtime(function: Callable[..., object], *arguments: gast.expr) -> gast.Call:
    """A call of a function of the runtime."""
    return gast.Call(reference(of_runtime(function)), list(arguments), [])


def public_home(value: object, name: str) -> tuple[str, str] | None:
    """The public module that hands an object on and its name there: ``scipy.special`` before ``scipy.special._basic``.

    A ufunc names no module, an instance no name of its own: ``scipy.stats.norm`` is found by ``name``.
    """
    module = getattr(value, "__module__", None)
    if isinstance(module, str):
        homes = ["srcgrad.runtime"] if module.startswith("srcgrad.runtime.") else []
        homes += [".".join(takewhile(lambda part: not part.startswith("_"), module.split("."))), module]
    else:
        homes = ["numpy", "scipy.special"] if type(value).__name__ == "ufunc" else []
    own = getattr(value, "__name__", None)
    for home in homes:
        for attribute in (own, name):
            if isinstance(attribute, str) and getattr(sys.modules.get(home), attribute, _ABSENT) is value:
                return home, attribute
    return None


_ABSENT = object()


def importable(name: str, value: object) -> GlobalBinding:
    """A binding for a callable that came as an argument: importable if it has a home, else only by its object."""
    home = public_home(value, name)
    return GlobalBinding(name, value) if home is None else GlobalBinding(home[1], value, *home)


def spelling(value: Any) -> gast.expr:
    """What reads an object that is known: its name, or that of its enumeration and its own in it."""
    if isinstance(value, Enum) and type(value).__members__.get(value.name) is value:
        kind = type(value)
        return gast.Attribute(reference(importable(kind.__name__, kind)), value.name, LOAD)
    return reference(importable(getattr(value, "__name__", "f"), value))
