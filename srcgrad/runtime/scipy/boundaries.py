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


def places(n: int, before: int, after: int, mode: str) -> Any:
    """Which of ``n`` elements stands at each place from ``-before`` to ``n + after``."""
    place = np.arange(-before, n + after)
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


def extended(x: Any, before: int, after: int, mode: str, cval: Any = 0.0, axis: int = -1) -> Any:
    """``x`` with elements before and after it along an axis."""
    if is_constant(mode):
        widths = [(0, 0)] * x.ndim
        widths[axis] = (before, after)
        return np.pad(x, widths, constant_values=cval)
    return np.take(x, places(x.shape[axis], before, after, mode), axis)


def folded(g: Any, before: int, after: int, mode: str, axis: int = -1) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``extended(x, before, after, mode, axis=axis)``."""
    g = np.moveaxis(g, axis, 0)
    n = g.shape[0] - before - after
    result = g[before : before + n]
    if not is_constant(mode) and before + after and n:
        result = np.array(result)
        place = places(n, before, after, mode)
        np.add.at(result, place[:before], g[:before])
        np.add.at(result, place[before + n :], g[before + n :])
    return np.moveaxis(result, 0, axis)
