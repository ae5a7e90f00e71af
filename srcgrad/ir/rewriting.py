"""Operations and exits with other operands.

>>> from srcgrad.ir.operations import Literal, Operator, Version
>>> x, y = Version("x"), Version("y")
>>> with_operands(Operator("+", (x, Literal(1))), {x: y}.get).operands
(y, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

from srcgrad.ir.operations import Literal, Version

Part = TypeVar("Part")


def with_operands(part: Part, other: Callable[[Any, Any], Any]) -> Part:
    """An operation or exit, in which ``other(operand, operand)`` stands in place of each operand."""
    made = {field.name: _changed(getattr(part, field.name), other) for field in fields(part)}  # type: ignore[arg-type]
    kept = all(made[name] is getattr(part, name) for name in made)
    return part if kept else replace(part, **made)  # type: ignore[type-var]


def _changed(value: Any, other: Callable[[Any, Any], Any]) -> Any:
    if isinstance(value, Version | Literal):
        return other(value, value)
    if isinstance(value, tuple) and any(isinstance(item, Version | Literal | tuple) for item in value):
        made = tuple(_changed(item, other) for item in value)
        return value if all(a is b for a, b in zip(made, value, strict=True)) else made
    return value


