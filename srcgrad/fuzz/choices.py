"""Where a random program takes its decisions from.

The simplest outcome is the first: the low end of an interval, False, the first option.  The tests have a second
implementation, whose decisions hypothesis draws and shrinks.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """The decisions of a program."""

    def integer(self, low: int, high: int) -> int: ...

    def chance(self, percent: int) -> bool: ...

    def pick(self, options: Sequence[T]) -> T: ...


class RandomChoices:
    """Decisions by ``random.Random(seed)``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def pick(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]
