"""Decisions of random programs that hypothesis draws, and shrinks towards the simplest outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class DrawnChoices:
    """Decisions by hypothesis (``srcgrad.fuzz.Choices``): each is an integer."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def chance(self, percent: int) -> bool:
        return int(self.draw(st.integers(0, 99))) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.draw(st.integers(0, len(options) - 1)))]
