"""What is known about the arguments of a call, and the conditions on it by which rules choose their formulas.

Each condition is certain: of an argument of which nothing is known none of them holds, but ``other_than``, by which the
plain formula is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from srcgrad.rules import facts
from srcgrad.rules.facts import WEAK, Array, Fact, is_floating


@dataclass(frozen=True)
class Argument:
    """What is known about one argument of a call when a variant of a rule is chosen."""

    is_literal: bool
    literal: object
    fact: Fact
    count: int | None = None  # of a variadic display

    @property
    def rank(self) -> int | None:
        return self.fact.rank if isinstance(self.fact, Array) else None

    @property
    def dtype(self) -> str | None:
        return self.fact.dtype if isinstance(self.fact, Array) else None


Condition = Callable[[Argument], bool]
Joint = Callable[[Mapping[str, Argument]], bool]


def rank(*ranks: int) -> Condition:
    """The condition that an argument is an array or number of one of these ranks."""
    return lambda argument: argument.rank in ranks


def alike(*parameters: str) -> Joint:
    """The condition that arguments have one known floating dtype, so that no product of them needs to be narrowed."""

    def holds(arguments: Mapping[str, Argument]) -> bool:
        dtypes = {arguments[p].dtype for p in parameters}
        return len(dtypes) == 1 and is_floating(*dtypes)

    return holds


def has_axes(argument: Argument) -> bool:
    """Whether an argument is an array that is no single number."""
    return bool(argument.rank)


def is_real(argument: Argument) -> bool:
    """Whether an argument is no complex number; a power of a Python float may be one, whatever else is known of it."""
    return facts.is_real(argument.dtype)


def is_complex(argument: Argument) -> bool:
    """Whether an argument is a complex number, or an array of them."""
    return argument.dtype is not None and argument.dtype.startswith("complex")


def is_python(argument: Argument) -> bool:
    """Whether an argument is one of Python's own numbers, whose quotients by zero raise."""
    return argument.dtype in WEAK


def is_numpy(argument: Argument) -> bool:
    """Whether an argument is an array, or a number of NumPy's."""
    return argument.dtype is not None and argument.dtype not in WEAK


def other_than(**usual: object) -> Joint:
    """The condition that one of these arguments may be another than this literal, for which the plain formula holds."""

    def says(argument: Argument, value: object) -> bool:
        return argument.is_literal and type(argument.literal) is type(value) and argument.literal == value

    return lambda arguments: not all(says(arguments[p], value) for p, value in usual.items())
