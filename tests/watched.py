"""Arrays that note what is computed with them: every array that a program makes of them, and its dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

Made = list[tuple[str, np.dtype[Any], int]]  # function, dtype and rank of a result
_made: Made | None = None


class Watched(np.ndarray):
    """An ndarray whose results, computed by ufuncs and by NumPy's functions, are watched too."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, Watched) else x for x in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(np.asarray(x) if isinstance(x, Watched) else x for x in kwargs["out"])
        result = getattr(ufunc, method)(*plain, **kwargs)
        return tuple(map(noted(ufunc.__name__), result)) if isinstance(result, tuple) else noted(ufunc.__name__)(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return noted(func.__name__)(super().__array_function__(func, types, args, kwargs))


def noted(name: str) -> Callable[[Any], Any]:
    """What writes a result down and watches it."""

    def note(result: Any) -> Any:
        if not isinstance(result, np.ndarray):
            return result
        if _made is not None:
            _made.append((name, result.dtype, result.ndim))
        return result.view(Watched)

    return note


@contextmanager
def watching() -> Iterator[Made]:
    """What is made inside the ``with`` block."""
    global _made
    outer, _made = _made, []
    try:
        yield _made
    finally:
        _made = outer


def watched(x: Any) -> Any:
    """The same arrays, watched."""
    return x.view(Watched) if isinstance(x, np.ndarray) else x


def wider(made: Made, than: Any) -> list[tuple[str, str]]:
    """The arrays of more than ``than``'s precision, by the function that made them; single numbers do not count."""
    bits = np.finfo(than).bits
    return [(name, str(dtype)) for name, dtype, rank in made if rank and dtype.kind in "fc" and _bits(dtype) > bits]


def _bits(dtype: np.dtype[Any]) -> int:
    return int(np.finfo(dtype).bits)
