"""Operations and exits with other operands.

>>> from srcgrad.ir.operations import Literal, Operator, Version
>>> x, y = Version("x"), Version("y")
>>> with_operands(Operator("+", (x, Literal(1))), {x: y}.get).operands
(y, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import Any, TypeVar

from srcgrad.ir.operations import Literal, Version

Part = TypeVar("Part")


def with_operands(part: Part, other: Callable[[Any, Any], Any]) -> Part:
    """An operation or exit, in which ``other(operand, operand)`` stands in place of each operand."""
    made = {name: new for name, value in vars(part).items() if (new := _changed(value, other)) is not value}
    return replace(part, **made) if made else part  # type: ignore[type-var]


def _changed(value: Any, other: Callable[[Any, Any], Any]) -> Any:
    kind = value.__class__
    if kind is Version or kind is Literal:
        return other(value, value)
    if kind is tuple:
        made = [_changed(item, other) for item in value]
        return value if all(map(is_, made, value)) else tuple(made)
    return value
