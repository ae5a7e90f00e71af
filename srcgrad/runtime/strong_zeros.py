"""Zeros that stay zero where IEEE arithmetic gives nan: ``0 * inf`` and ``0 / 0``.

A term is a multiple of its seed: where that is zero, the term is zero too, or undefined.  Only what is undefined is
replaced, so that the derivative of a term by a seed that happens to be zero is kept:

>>> where_nonzero(np.array([0.0, 1.0]), np.array([np.nan, 2.0]))
array([0., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.cotangents import zeros_like


def where_nonzero(seed: Any, value: Any) -> Any:
    """``value``, but zero at the elements where ``seed`` is zero and it is undefined."""
    return where_defined(seed, value, value)


def where_defined(seed: Any, term: Any, value: Any) -> Any:
    """``value``, but zero at the elements where ``seed`` is zero and ``term`` is undefined."""
    if not isinstance(value, np.ndarray) and not isinstance(seed, np.ndarray) and not isinstance(term, np.ndarray):
        return value if seed != 0 or term == term else type(value)(0)
    return np.where(np.equal(seed, 0) & np.isnan(term), np.asarray(value).dtype.type(0), value)


def if_nonzero(seed: Any, value: Any) -> Any:
    """``value``, or zeros like it where no number of ``seed`` differs from zero and one of it is undefined."""
    return if_defined(seed, value, value)


def if_defined(seed: Any, term: Any, value: Any) -> Any:
    """``value``, or zeros like it where no number of ``seed`` differs from zero and one of ``term`` is undefined."""
    return zeros_like(value) if not _any(seed, _differs) and _any(term, np.isnan) else value


def _differs(x: Any) -> Any:
    return np.not_equal(x, 0)


def _any(x: Any, holds: Any) -> bool:
    """Whether something holds of a number in nested containers."""
    if isinstance(x, dict):
        return any(_any(item, holds) for item in x.values())
    if isinstance(x, tuple | list):
        return any(_any(item, holds) for item in x)
    return x is not None and bool(np.any(holds(x)))
