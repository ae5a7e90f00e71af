"""``@directed(arguments...)`` records a program of a theme and gives it back untouched; twice for two points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.corpus.example import Case, is_differentiable, vector

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False, repr=False)
class Program(Case):
    """One directed program at one point, and why a mode cannot run it, by the name of the mode."""

    without: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Program({self.theme}.{self.name})"


_PROGRAMS: list[Program] = []


def collected() -> tuple[Program, ...]:
    """Every program recorded so far."""
    return tuple(_PROGRAMS)


def directed(
    *arguments: Any,
    argnums: tuple[int, ...] | None = None,
    analytic: bool = True,
    order: int = 2,
    tolerance: float = 1e-7,
    without: dict[str, str] | None = None,
) -> Callable[[Function], Function]:
    """Record the decorated program with one list of arguments, judged as ``tests.corpus.example`` says.

    ``without``: what cannot be asked of the program, ``{"forward": "why"}``.
    """

    def record(function: Function) -> Function:
        name = function.__name__
        again = sum(program.function is function for program in _PROGRAMS)
        if again:
            name = f"{name}_{again + 1}"
        if any(program.name == name for program in _PROGRAMS):
            raise ValueError(f"two directed programs are called {name}")
        positions = argnums
        if positions is None:
            positions = tuple(k for k, value in enumerate(arguments) if is_differentiable(value))
        theme = function.__module__.rpartition(".")[2]
        _PROGRAMS.append(
            Program(name, theme, function, arguments, {}, positions, analytic, order, tolerance, without or {})
        )
        return function

    return record


__all__ = ["Program", "collected", "directed", "vector"]
