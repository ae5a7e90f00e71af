"""Student's distribution: its density, and its distribution function by the degrees of freedom.

>>> round(float(student_density(0.5, 3.0)), 12), round(float(student_slope(0.5, 3.0)), 12)
(0.313180911009, 0.00529909273)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from srcgrad.runtime.scipy.beta import betainc_slope
from srcgrad.runtime.scipy.quadrature import result_dtype


def student_density(t: Any, df: Any) -> Any:
    """(1 + t**2 / df)**(-(df + 1) / 2) gamma((df + 1) / 2) / (gamma(df / 2) sqrt(pi df)), normal for df = inf."""
    half = 0.5 * np.asarray(df, np.float64)
    point = np.asarray(t, np.float64)
    with np.errstate(all="ignore"):
        value = special.poch(half, 0.5) / np.sqrt(2 * np.pi * half)
        value = value * np.exp(-(half + 0.5) * np.log1p(point * point / (2 * half)))
        if np.any(np.isinf(half)):
            value = np.where(np.isinf(half), np.exp(-0.5 * point * point) / np.sqrt(2 * np.pi), value)
    return np.asarray(value, result_dtype(t, df))[()]


def student_slope(t: Any, df: Any) -> Any:
    """The derivative of the distribution function by ``df``.

    The distribution function is 1/2 + sign(t) I(t**2 / (df + t**2); 1/2, df / 2) / 2: the parameter of the incomplete
    beta function moves, and its point, of which the density is known.
    """
    point, degrees = np.asarray(t, np.float64), np.asarray(df, np.float64)
    with np.errstate(all="ignore"):
        ratio = point * point / degrees
        place = np.where(np.isinf(ratio), 1.0, ratio / (1 + ratio))
        moved = 0.5 * point * np.asarray(student_density(point, degrees)) / degrees
        value = 0.25 * np.sign(point) * betainc_slope(0.5, 0.5 * degrees, place, 0, 1)
        value = value - np.where(np.isinf(point) | np.isinf(degrees), 0.0, moved)
    return np.asarray(value, result_dtype(t, df))[()]
