"""``@example(arguments...)`` records a function of the corpus and gives it back untouched."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Case:
    """One function at one point, and how it may be judged."""

    name: str
    theme: str
    function: Function
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    argnums: tuple[int, ...] = ()
    analytic: bool = True
    order: int = 2
    tolerance: float = 1e-7

    def __repr__(self) -> str:
        return f"Case({self.theme}.{self.name})"


_CASES: list[Case] = []


def collected() -> tuple[Case, ...]:
    """Every case recorded so far."""
    return tuple(_CASES)


def is_differentiable(value: Any) -> bool:
    """True when a floating-point number occurs somewhere in the value."""
    if isinstance(value, float | np.floating):
        return True
    if isinstance(value, np.ndarray):
        return bool(np.issubdtype(value.dtype, np.floating))
    if isinstance(value, Mapping):
        return any(is_differentiable(item) for item in value.values())
    if isinstance(value, tuple | list | deque):
        return any(is_differentiable(item) for item in value)
    return False


def example(
    *arguments: Any,
    keywords: Mapping[str, Any] | None = None,
    argnums: tuple[int, ...] | None = None,
    analytic: bool = True,
    order: int = 2,
    tolerance: float = 1e-7,
) -> Callable[[Function], Function]:
    """Record the decorated function with one list of arguments.  Decorate twice for two points.

    ``analytic``: the program runs unchanged on complex numbers (complex step applies).  ``order``: the highest order
    of derivative that exists at the point.
    """

    def record(function: Function) -> Function:
        name = function.__name__
        again = sum(case.function is function for case in _CASES)
        if again:
            name = f"{name}_{again + 1}"
        if any(case.name == name for case in _CASES):
            raise ValueError(f"two corpus functions are called {name}")
        positions = argnums
        if positions is None:
            positions = tuple(k for k, value in enumerate(arguments) if is_differentiable(value))
        _CASES.append(
            Case(
                name=name,
                theme=function.__module__.rpartition(".")[2],
                function=function,
                arguments=arguments,
                keywords=dict(keywords or {}),
                argnums=positions,
                analytic=analytic,
                order=order,
                tolerance=tolerance,
            )
        )
        return function

    return record


def vector(n: int, seed: int = 0) -> np.ndarray:
    """A vector of n numbers in (-1, 1), the same each time."""
    return np.random.default_rng(1000 + seed).uniform(-1.0, 1.0, n).round(3)


def matrix(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """A matrix of numbers in (-1, 1), the same each time."""
    return np.random.default_rng(2000 + seed).uniform(-1.0, 1.0, (rows, columns)).round(3)


def positive(n: int, seed: int = 0) -> np.ndarray:
    """A vector of n numbers in (0.5, 2)."""
    return np.random.default_rng(3000 + seed).uniform(0.5, 2.0, n).round(3)
