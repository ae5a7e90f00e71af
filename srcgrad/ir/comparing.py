"""Equality of what holds others of its kind, in many places.

What is passed to a callee may be the result of a callee to which results were passed, and so on: two such trees share
most of their parts, and comparing them part by part takes every way down.  Two that were found equal are one here from
then on.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property


class ComparedOnce:
    """The equality of a frozen dataclass, by its fields."""

    @cached_property
    def _key(self) -> tuple[object, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComparedOnce) or type(other) is not type(self):
            return NotImplemented
        if self._key is other._key:
            return True
        if self._hash != other._hash or self._key != other._key:
            return False
        vars(other)["_key"] = self._key
        return True
