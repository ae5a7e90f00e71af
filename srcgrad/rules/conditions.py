"""Conditions on the arguments of a call that several rules choose their formulas by."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from srcgrad.rules.template import Argument


def other_than(**usual: object) -> Callable[[Mapping[str, Argument]], bool]:
    """The condition that one of these arguments may be another than this literal: what the plain formula leaves out."""

    def holds(arguments: Mapping[str, Argument]) -> bool:
        return not all(is_literally(arguments[p], value) for p, value in usual.items())

    return holds


def is_literally(argument: Argument, value: object) -> bool:
    """Whether an argument is known to be a literal, of its type."""
    return argument.is_literal and type(argument.literal) is type(value) and argument.literal == value
