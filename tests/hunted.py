"""Random programs of the hunt, by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from srcgrad.fuzz.hunt import Hunt, written
from srcgrad.fuzz.numbers import forget, load, point_of


@contextmanager
def random_program(number: int) -> Iterator[tuple[FunctionType, tuple[Any, ...]]]:
    """A function and the arguments that it is called with; its module is forgotten at the end."""
    function = load(written(Hunt(0.0), number).text)
    assert isinstance(function, FunctionType)
    try:
        yield function, point_of(function)
    finally:
        forget(function)
