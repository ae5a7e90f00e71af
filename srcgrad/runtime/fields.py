"""Fields of named tuples, such as the results of ``np.linalg.eigh``; their cotangents and tangents are plain sequences.

>>> from collections import namedtuple
>>> unfield(2.0, namedtuple("Point", "x y")(0.3, 0.4), "y")
[0.0, 2.0]
"""

from __future__ import annotations

from typing import Any

from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.refusals import RefusedType


def _position(x: Any, name: str) -> int:
    fields = getattr(type(x), "_fields", None)
    if not isinstance(x, tuple) or not isinstance(fields, tuple):
        raise RefusedType(
            "E0410", f"a {type(x).__name__} has no field {name!r} that a derivative is known of; named tuples have"
        )
    return fields.index(name)


def holds_field(x: object, name: str) -> bool:
    """Whether an object holds a field itself, whatever its class would answer."""
    return name in getattr(x, "__dict__", ())


def field(x: Any, name: str) -> Any:
    """``x.name`` of a named tuple."""
    return getattr(x, name)


def field_of(g: Any, x: Any, name: str) -> Any:
    """The item of ``g``, a tangent or cotangent of the named tuple ``x``, that belongs to a field."""
    return g[_position(x, name)]


def unfield(g: Any, x: Any, name: str) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``x.name``: zeros in the other fields."""
    result = zeros_like(x)
    result[_position(x, name)] = g
    return result
