"""One function of an installed package with arguments, and what is differentiated.

A function is named by its module and its path in it, so that nothing is imported before it is judged; where the public
name is a wrapper that dispatches on types (NumPy's protocols, SciPy's treatment of axes and missing values), the path
says ``.__wrapped__`` and means the formula inside.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Entry:
    """``wrt``: the positions that are differentiated."""

    module: str
    path: str
    arguments: tuple[Any, ...]
    wrt: tuple[int, ...] = (0,)
    keywords: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.module}:{self.path}"

    def function(self) -> Callable[..., Any]:
        """The function as it is installed; raises ImportError where its package is not."""
        try:
            found: Any = reduce(getattr, self.path.split("."), importlib.import_module(self.module))
        except AttributeError as error:
            raise ImportError(f"this version has no {self.name}") from error
        while isinstance(found, staticmethod):
            found = found.__func__
        return found  # type: ignore[no-any-return]


def entries(module: str, *rows: tuple[Any, ...]) -> list[Entry]:
    """Rows are ``(path, arguments[, wrt[, keywords]])``; ``wrt`` is a position or a tuple of them."""
    made = []
    for path, arguments, *rest in rows:
        wrt = rest[0] if rest else 0
        keywords = rest[1] if len(rest) > 1 else {}
        made.append(Entry(module, path, tuple(arguments), (wrt,) if isinstance(wrt, int) else wrt, keywords))
    return made


def numbers(*shape: int, low: float = 0.3, high: float = 1.7, seed: int = 0) -> np.ndarray:
    """Positive numbers without ties, the same on every run."""
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape)


def signed(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers of both signs, none near zero."""
    generator = np.random.default_rng((seed, 7, *shape))
    return generator.uniform(0.3, 1.2, shape) * generator.choice((-1.0, 1.0), shape)


def rising(n: int, low: float = 0.1, high: float = 2.1) -> np.ndarray:
    """Increasing numbers at uneven distances."""
    return np.linspace(low, high, n) + 0.05 * np.sin(np.arange(n) * 2.0)


def weights(n: int) -> np.ndarray:
    """Positive numbers whose sum is 1."""
    found = numbers(n, seed=3)
    return found / found.sum()
