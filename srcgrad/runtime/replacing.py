"""Arrays with some elements replaced, and which of several values for one place is kept.

>>> replaced_at(np.zeros(3), [0, 2, 0], np.array([1.0, 2.0, 3.0]))
array([3., 0., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np


def replaced_at(x: Any, index: Any, value: Any) -> Any:
    """A copy of ``x`` with ``value`` at ``index``; a place that is met twice keeps the last."""
    result = np.array(x)
    result[index] = value
    return result


def lasting(x: Any, index: Any) -> Any:
    """One for every place of ``x[index]`` whose value is kept by a store there, zero where a later one replaces it."""
    order = np.arange(np.asarray(x)[index].size).reshape(np.asarray(x)[index].shape)
    last = np.full(np.shape(x), -1)
    last[index] = order
    return np.asarray(last[index] == order, np.asarray(x).dtype)[()]
