"""hello: a square and its derivative."""

from __future__ import annotations

from typing import Any

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def square(x):
    return x * x


double = srcgrad.grad(square)


def arguments(value: Any) -> tuple[Any, ...]:
    return (float(value),)


FUNCTIONS = {"square": Served(square, arguments, plain), "double": Served(double, arguments, plain)}
TIMED = Timed(square, double, square)


def sample(small: bool = False) -> Any:
    return 3.0
