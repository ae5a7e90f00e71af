"""Arrays extended beyond their ends as filters of scipy.ndimage see them, and the transpose, which folds back.

>>> extended(np.array([1.0, 2.0, 3.0]), 2, 1, "reflect")
array([2., 1., 1., 2., 3., 3.])
>>> folded(np.ones(6), 2, 1, "reflect")
array([2., 2., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: The names under which scipy.ndimage and np.pad know the same extension.
_SYNONYMS = {
    "grid-mirror": "reflect",
    "grid-wrap": "wrap",
    "grid-constant": "constant",
    "symmetric": "reflect",
    "symm": "reflect",
    "fill": "constant",
}


def places(n: int, start: int, stop: int, mode: str) -> Any:
    """Which of ``n`` elements stands at each place from ``start`` to ``stop``, counted from the first."""
    place = np.arange(start, stop)
    match _SYNONYMS.get(mode, mode):
        case "wrap":
            return place % n
        case "reflect":
            place = place % (2 * n)
            return np.minimum(place, 2 * n - 1 - place)
        case "mirror":
            period = max(2 * n - 2, 1)
            place = place % period
            return np.minimum(place, period - place) if n > 1 else place
        case "nearest":
            return np.clip(place, 0, n - 1)
    raise ValueError(f"boundary mode {mode!r} is not known")


def is_constant(mode: str) -> bool:
    """Whether what is beyond the ends is one value."""
    return _SYNONYMS.get(mode, mode) == "constant"


def _first(x: Any, axis: int) -> Any:
    """``x`` with an axis first."""
    return x if axis == 0 or x.ndim == 1 else np.moveaxis(x, axis, 0)


def extended(x: Any, before: int, after: int, mode: str, cval: Any = 0.0, axis: int = -1) -> Any:
    """``x`` with elements before and after it along an axis."""
    rows = _first(x, axis)
    n = len(rows)
    alone = is_constant(mode) or not n
    result = np.empty((before + n + after, *rows.shape[1:]), np.result_type(x, cval) if alone else x.dtype)
    result[before : before + n] = rows
    if alone:
        result[:before] = cval
        result[before + n :] = cval
    else:
        result[:before] = rows[places(n, -before, 0, mode)]
        result[before + n :] = rows[places(n, n, n + after, mode)]
    return result if rows is x else np.moveaxis(result, 0, axis)


def folded(g: Any, before: int, after: int, mode: str, axis: int = -1) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``extended(x, before, after, mode, axis=axis)``."""
    rows = _first(g, axis)
    n = len(rows) - before - after
    result = rows[before : before + n]
    if not is_constant(mode) and before + after and n:
        result = result.copy()
        if before:
            _add(result, places(n, -before, 0, mode), rows[:before])
        if after:
            _add(result, places(n, n, n + after, mode), rows[before + n :])
    return result if rows is g else np.moveaxis(result, 0, axis)


def _add(result: Any, place: Any, g: Any) -> None:
    if len(place) == 1:
        result[place[0]] += g[0]
    else:
        np.add.at(result, place, g)
