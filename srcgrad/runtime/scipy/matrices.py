"""Transposes of the matrices that scipy.linalg makes of vectors and blocks.

>>> untoeplitz_c(np.ones((3, 2)), np.zeros(3))
array([2., 2., 1.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast


def _rising_sums(g: Any) -> Any:
    """The sums over ``i + j = k`` for every k, along the last axis."""
    rows, columns = g.shape[-2:]
    batch = g.shape[:-2]
    if not rows * columns:
        return np.zeros((*batch, max(rows + columns - 1, 0)), g.dtype)
    wide = np.zeros((*batch, rows, columns + rows), g.dtype)
    wide[..., :columns] = g
    # In rows that are one shorter, what was at (i, j) stands in column i + j.
    flat = np.reshape(wide, (*batch, rows * (rows + columns)))[..., : rows * (rows + columns - 1)]
    return np.sum(np.reshape(flat, (*batch, rows, rows + columns - 1)), axis=-2)


def _fit(sums: Any, like: Any) -> Any:
    """Sums for a vector, or for what was flattened to one."""
    return unbroadcast(sums if np.shape(sums)[-1:] == np.shape(like)[-1:] else np.reshape(sums, np.shape(like)), like)


def untoeplitz_c(g: Any, c: Any) -> Any:
    """The cotangent of ``c`` where ``g`` is that of ``scipy.linalg.toeplitz(c, r)``."""
    return _fit(_rising_sums(np.asarray(g)[..., ::-1])[..., np.shape(g)[-1] - 1 :], c)


def untoeplitz_r(g: Any, r: Any) -> Any:
    """The cotangent of ``r`` where ``g`` is that of ``scipy.linalg.toeplitz(c, r)``, which does not read r[0]."""
    sums = _rising_sums(np.asarray(g)[..., ::-1, :])[..., np.shape(g)[-2] - 1 :]
    sums[..., :1] = 0
    return _fit(sums, r)


def unhankel_c(g: Any, c: Any) -> Any:
    """The cotangent of ``c`` where ``g`` is that of ``scipy.linalg.hankel(c, r)``."""
    return _fit(_rising_sums(np.asarray(g))[..., : np.shape(g)[-2]], c)


def unhankel_r(g: Any, r: Any) -> Any:
    """The cotangent of ``r`` where ``g`` is that of ``scipy.linalg.hankel(c, r)``, which does not read r[0]."""
    sums = _rising_sums(np.asarray(g))[..., np.shape(g)[-2] - 1 :]
    sums[..., :1] = 0
    return _fit(sums, r)


def uncirculant(g: Any, c: Any) -> Any:
    """The cotangent of ``c`` where ``g`` is that of ``scipy.linalg.circulant(c)``."""
    n = np.shape(g)[-1]
    sums = _rising_sums(np.asarray(g)[..., ::-1])
    result = sums[..., n - 1 :].copy()
    result[..., 1:] += sums[..., : n - 1]
    return _fit(result, c)


# --- blocks on a diagonal --------------------------------------------------------------------------------------------
def _place(like: Any, before: tuple[Any, ...]) -> tuple[Any, ...]:
    """Where ``scipy.linalg.block_diag`` puts a block after others."""
    shapes = [np.shape(np.atleast_2d(a))[-2:] for a in (*before, like)]
    row, column = (sum(shape[k] for shape in shapes[:-1]) for k in (0, 1))
    return ..., slice(row, row + shapes[-1][0]), slice(column, column + shapes[-1][1])


def block(g: Any, like: Any, *before: Any) -> Any:
    """The cotangent of ``like`` where ``g`` is that of ``scipy.linalg.block_diag(*before, like, ...)``."""
    part = np.asarray(g)[_place(like, before)]
    return unbroadcast(part if np.ndim(like) >= 2 else np.reshape(part, np.shape(like)), like)


def block_placed(g: Any, like: Any, *before: Any) -> Any:
    """Zeros in the shape of ``like``, with ``g`` as the block after others on the diagonal."""
    result = np.zeros(np.shape(like), np.result_type(g))
    result[_place(g, before)] = g
    return result
