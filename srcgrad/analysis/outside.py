"""What a function reads of its globals: which of it can be stored into, and what makes a copy of it.

Enters: values that globals, closure variables, and attributes of modules and classes hold while the function is
compiled.  Leaves: answers for ``analysis.memory``, which refuses stores into them::

    w = WEIGHTS.copy()      new memory, if WEIGHTS is an array, or a container of numbers
    w[0] = x[0]
    WEIGHTS[0] = x[0]       refused
"""

from __future__ import annotations

import copy
import operator
from collections import Counter, deque
from dataclasses import dataclass
from enum import Enum

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.ir.normal_form import Bind, Copy, Fixed, Function, Held, Texts
from srcgrad.rules.formula import object_of
from srcgrad.runtime.objects import is_object

#: What makes a container of the items that it is given: memory of its own where the items have none.
_REMADE = (
    list, tuple, dict, deque, sorted, operator.add, operator.mul, runtime.joined, runtime.repeated, runtime.merged,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Outside:
    """What a global, a closure variable, or an attribute of a module or class holds, and its name."""

    name: str
    value: object


def may_change(value: object) -> bool:
    """Whether a value has memory that can be stored into."""
    if isinstance(value, tuple):
        return any(map(may_change, value))
    # What a local function that is a value has captured stands beside its text, as an operand.
    plain = bool | int | float | complex | str | bytes | None | range | slice | type | np.generic | np.dtype | Enum
    if isinstance(value, plain | Held | Texts):
        return False
    is_code = callable(value) and not is_object(value)
    return not (is_code or type(value).__name__ in ("module", "ellipsis"))


def held_by_names(function: Function) -> dict[str, object]:
    """For the names that are bound once, to what a global holds: that value."""
    found: dict[str, object] = {}
    bound = Counter(function.parameters)
    for statement in walk(function.body):
        bound.update(bound_here(statement))
        match statement:
            case Bind(operation=Fixed(), target=target, expression=expression):
                found[target] = object_of(expression)
            case Bind(operation=Copy(source=source), target=target):
                found[target] = found.get(source)
    return {name: value for name, value in found.items() if value is not None and bound[name] == 1}


def is_copied(value: object, function: object, name: str | None, call: gast.expr) -> bool:
    """Whether a call returns memory of its own when it is given ``value``; ``name`` is that of the method if it is one.

    >>> call = gast.parse("np.array(w, copy=None)", mode="eval").body
    >>> is_copied(np.ones(3), np.array, None, call), is_copied(np.ones(3), None, "copy", call)
    (False, True)
    """
    if isinstance(value, np.ndarray) or holds_no_memory(value):
        if name == "copy" or function is copy.copy:
            return True
    if holds_no_memory(value) and function in _REMADE:
        return True
    if not isinstance(value, np.ndarray | list | tuple):
        return False
    # An array is made, unless ``copy=`` says otherwise, which the fifth argument of the method says as well.
    asks = not isinstance(call, gast.Call) or any(keyword.arg in ("copy", None) for keyword in call.keywords)
    return (function is np.array or name == "astype") and not asks and len(call.args) <= 2


def holds_no_memory(value: object) -> bool:
    """Whether a value is a container of what cannot be stored into: what is read of it is plain, or made new."""
    if isinstance(value, dict):
        return not any(map(may_change, value.values()))
    return isinstance(value, list | tuple | deque) and not any(map(may_change, value))
