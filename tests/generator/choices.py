"""Where a random program takes its decisions from: hypothesis (which shrinks them) or a plain random generator (fast).

The simplest outcome is the first: the low end of an interval, False, the first option.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

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


class DrawnChoices:
    """Decisions by hypothesis: each is an integer that shrinks towards the simplest outcome."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def chance(self, percent: int) -> bool:
        return int(self.draw(st.integers(0, 99))) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.draw(st.integers(0, len(options) - 1)))]
