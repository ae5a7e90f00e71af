"""The density of Student's distribution.

>>> round(float(student_density(0.5, 3.0)), 12)
0.313180709081
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

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
