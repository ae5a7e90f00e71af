"""Gauss's hypergeometric function in the dtype of its argument: SciPy prefers double where parameters are Python's.

>>> round(float(hyp2f1(1.0, 1.0, 2.0, -1.0)), 12)
0.69314718056
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special


def hyp2f1(a: float, b: float, c: float, z: Any) -> Any:
    """``scipy.special.hyp2f1`` of numbers ``a``, ``b``, ``c``."""
    value = special.hyp2f1(a, b, c, z)
    dtype = getattr(z, "dtype", None)
    return value.astype(dtype) if dtype in (np.float32, np.complex64) else value
