"""From the IR back to Python as its author wrote it."""

from __future__ import annotations

from typing import Any

from srcgrad.ir.regions import Function
from srcgrad.ir.restoring.functions import definition
from srcgrad.syntax.depth import unless_too_deep
from srcgrad.syntax.parse import located


def restored(function: Function) -> Any:
    """The definition of a function, as a gast tree; a lambda is one again."""
    return unless_too_deep(lambda: located(definition(function), function.node))
