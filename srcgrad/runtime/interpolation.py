"""Between which knots numbers lie: the integers that a piecewise linear interpolation depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.refusals import RefusedValue


def knots_around(x: Any, xp: Any, period: Any = None) -> tuple[Any, Any]:
    """The numbers of the knots of ``np.interp`` before and after ``x``; the knot that x meets is the one before it.

    Beyond the ends they are the nearest two, without a period; with one, the last and the first.
    """
    if period is None:
        count = len(xp)
        if np.any(np.less(xp[1:], xp[:-1])):
            raise RefusedValue("E0707", "np.interp needs knots that increase; for others it is no line between two")
        before = np.clip(np.searchsorted(xp, x, "right") - 1, 0, max(count - 2, 0))
        return before, np.minimum(before + 1, count - 1)
    period = abs(period)
    places = np.remainder(xp, period)
    order = np.argsort(places)
    rank = np.searchsorted(places[order], np.remainder(x, period), "right")
    return order[rank - 1], order[rank % len(order)]


def laps(x: Any, xp: Any, period: Any) -> tuple[Any, Any]:
    """How many periods lie between ``x`` and the knots before and after it, each taken within its period: 0 or 1."""
    before, after = knots_around(x, xp, period)
    here, places = np.remainder(x, abs(period)), np.remainder(xp, abs(period))
    return np.greater(places[before], here) * -1.0, np.less_equal(places[after], here) * 1.0


def is_between(x: Any, xp: Any) -> Any:
    """Where ``x`` lies between the first and the last knot, both included."""
    return np.logical_and(np.greater_equal(x, xp[0]), np.less_equal(x, xp[-1]))


def is_replaced(x: Any, xp: Any, left: Any, right: Any) -> Any:
    """Where ``np.interp`` gives ``left`` or ``right`` itself."""
    below = np.less(x, xp[0]) if left is not None else np.False_
    return np.logical_or(below, np.greater(x, xp[-1])) if right is not None else below
