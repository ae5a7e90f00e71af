"""What a module of a program tells about its functions, and how one is run for a message."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Served:
    """A function that messages ask for: ``arguments`` makes its arguments of an input, ``output`` what is sent back."""

    function: Callable[..., Any]
    arguments: Callable[[Any], tuple[Any, ...]]
    output: Callable[[Any], Any]

    def run(self, given: Any) -> dict[str, Any]:
        """The output, and how long each run took: at least ``min_runs`` of them, for at least ``min_seconds``."""
        arguments = self.arguments(given)
        asked = given if isinstance(given, dict) else {}  # a number is the input of hello
        least, seconds = asked.get("min_runs", 1), asked.get("min_seconds", 0.0)
        timings: list[dict[str, Any]] = []
        total = 0
        while not timings or len(timings) < least or total < seconds * 1e9:
            begin = time.perf_counter_ns()
            result = self.function(*arguments)
            timings.append({"name": "evaluate", "nanoseconds": time.perf_counter_ns() - begin})
            total += timings[-1]["nanoseconds"]
        return {"output": self.output(result), "timings": timings}


@dataclass(frozen=True)
class Timed:
    """What the table compares, at the arguments of a sample.  Where the derivative is the gradient of one function,
    ``program`` is that function, and other libraries differentiate its text for ``argnums``."""

    primal: Callable[..., Any]
    derivative: Callable[..., Any]
    program: Callable[..., Any] | None = None
    argnums: int | tuple[int, ...] = 0


def plain(result: Any) -> Any:
    """A result as JSON has it: arrays as nested lists."""
    if isinstance(result, tuple | list):
        return [plain(item) for item in result]
    return result.tolist() if isinstance(result, np.ndarray | np.generic) else result
