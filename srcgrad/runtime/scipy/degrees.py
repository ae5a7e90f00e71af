"""Degrees of orthogonal polynomials, as their slopes lower them."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.refusals import RefusedValue


def lower_degree(n: Any) -> Any:
    """The degree below ``n``, and 0 below 0, where the slope has a factor zero.

    >>> lower_degree(np.array([0, 1, 3], np.uint8)), lower_degree(0.5)
    (array([0, 0, 2]), np.float64(-0.5))

    Raises ``RefusedValue`` of a negative degree: SciPy continues each family in its own way.
    """
    degrees = np.asarray(n)
    if degrees.dtype.kind in "biu":
        degrees = degrees.astype(np.int64)
    if np.any(degrees < 0):
        raise RefusedValue("E0707", "a polynomial of negative degree has no derivative here")
    return np.where(degrees == 0, degrees, degrees - 1)[()]
