"""Integrals of log-concave densities away from their bulk, and what differentiates them by their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

Function = Callable[[Any], Any]


@cache
def _nodes() -> tuple[Any, Any]:
    """Gauss-Legendre nodes and weights of [0, 1], in two panels: more of them near zero, where densities bend."""
    x, w = np.polynomial.legendre.leggauss(32)
    x, w = (1 + x) / 2, w / 2
    return np.concatenate([0.2 * x, 0.2 + 0.8 * x]), np.concatenate([0.2 * w, 0.8 * w])


def integrated(fall: Function, steep: Function, polynomial: Function, bound: Any) -> Any:
    """The integral over w > 0 of ``exp(-fall(w)) * polynomial(w)``, elementwise over one axis.

    ``fall`` is convex with derivative ``steep``, zero at zero and at least 45 at ``bound``; Newton's method brings the
    bound near the place where it is 45, beyond which nothing is left in double precision.
    """
    end = bound
    for _ in range(12):
        excess = fall(end) - 45.0
        if not np.any(excess > 5.0):
            break
        end = end - np.maximum(excess, 0.0) / steep(end)
    nodes, weights = _nodes()
    if end.size <= 512:
        w = end * nodes[:, None]
        return np.dot(weights, np.exp(-fall(w)) * polynomial(w)) * end
    total: Any = 0.0  # memory stays that of the operands
    for node, weight in zip(nodes, weights, strict=True):
        w = end * node
        total = total + weight * np.exp(-fall(w)) * polynomial(w)
    return total * end


def logarithmic_derivatives(slopes: Sequence[Any]) -> list[Any]:
    """f'/f, f''/f, ... after 1, from the derivatives of log f: the complete Bell polynomials."""
    made: list[Any] = [1.0]
    for m in range(len(slopes)):
        made.append(sum(math.comb(m, i) * slopes[i] * made[m - i] for i in range(m + 1)))
    return made


def stirling(x: Any) -> Any:
    """log gamma(x) less Stirling's formula, for x > 15 (DLMF 5.11.1)."""
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188))))) / x


def result_dtype(*values: Any) -> np.dtype[Any]:
    """The floating dtype in which a function of ``values`` answers."""
    dtype = np.result_type(*(np.asarray(value) if isinstance(value, list | tuple) else value for value in values))
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)
