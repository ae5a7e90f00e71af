"""Chains of matrices: derivatives of ``np.linalg.multi_dot`` of any order, and blocks that carry a derivative along.

The value of a smooth matrix function at ``[[a, e], [0, a]]`` has in its corner the derivative of the function at ``a``
along ``e`` (N. Higham, *Functions of Matrices*, theorem 3.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast


# --- blocks ----------------------------------------------------------------------------------------------------------
def doubled(a: Any, e: Any) -> Any:
    """``[[a, e], [0, a]]`` of square matrices."""
    n = np.shape(a)[-1]
    result = np.zeros((*np.shape(a)[:-2], 2 * n, 2 * n), np.result_type(a, e))
    result[..., :n, :n] = result[..., n:, n:] = a
    result[..., :n, n:] = e
    return result


def undoubled(g: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``doubled(a, e)``: the sum of the blocks on the diagonal."""
    n = g.shape[-1] // 2
    return g[..., :n, :n] + g[..., n:, n:]


def corner(a: Any) -> Any:
    """The upper right quarter."""
    n = a.shape[-1] // 2
    return a[..., :n, n:]


# --- multi_dot -------------------------------------------------------------------------------------------------------
def multi_dot_slope(arrays: Sequence[Any], *directions: Sequence[Any]) -> Any:
    """The derivative of ``np.linalg.multi_dot(arrays)`` along each of the directions, one after the other."""
    result: Any = None
    for factors in _replaced(arrays, directions, range(len(arrays))):
        term = np.linalg.multi_dot(factors)
        result = term if result is None else result + term
    return 0.0 * np.linalg.multi_dot(arrays) if result is None else result


def unmulti_dot(g: Any, arrays: Sequence[Any], *directions: Sequence[Any]) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``multi_dot_slope(arrays, *directions)``."""
    made = [unbroadcast(_partial(g, arrays, directions, i), a) for i, a in enumerate(arrays)]
    return np.stack(made) if isinstance(arrays, np.ndarray) else made


def _replaced(arrays: Sequence[Any], directions: Sequence[Sequence[Any]], places: Any) -> Any:
    """The chain with a factor of each direction in one of the places, in every way."""
    for chosen in permutations(places, len(directions)):
        factors = list(arrays)
        for place, direction in zip(chosen, directions, strict=True):
            factors[place] = direction[place]
        if not any(factor is None for factor in factors):
            yield factors


def _partial(g: Any, arrays: Sequence[Any], directions: Sequence[Sequence[Any]], i: int) -> Any:
    """One cotangent: what stands before the factor, transposed, times ``g``, times what stands behind, transposed."""
    last = len(arrays) - 1
    g = np.reshape(g, (-1 if np.ndim(arrays[0]) == 2 else 1, 1 if np.ndim(arrays[last]) == 1 else np.shape(g)[-1]))
    total: Any = np.zeros(np.shape(arrays[i]))
    for factors in _replaced(arrays, directions, [place for place in range(last + 1) if place != i]):
        turned = [np.transpose(factor) for factor in factors]
        turned[0], turned[last] = np.reshape(turned[0], (-1, g.shape[0])), np.reshape(turned[last], (g.shape[1], -1))
        chain = [*turned[:i][::-1], g, *turned[i + 1 :][::-1]]
        total = total + np.reshape(np.linalg.multi_dot(chain), np.shape(arrays[i]))
    return total
