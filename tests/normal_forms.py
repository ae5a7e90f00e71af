"""The normal form of a program, as the compiler makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcgrad.frontend.journal import Journal
from srcgrad.infer.entry import described
from srcgrad.ir.normal_form import Callee, Function
from srcgrad.pipeline import Module
from srcgrad.specialise.entry import callee_for
from srcgrad.syntax.depth import deep_enough


def normal_form(function: Callable[..., Any], *arguments: Any) -> Function:
    """For a call with arguments of these kinds; without any, for every call with data."""
    made = Callee(function)  # type: ignore[arg-type]
    if arguments:
        made = callee_for(made, (arguments, {}), Journal(described))
    return normal_form_of(made)


@deep_enough
def normal_form_of(callee: Callee) -> Function:
    return Module().normalized(callee)
