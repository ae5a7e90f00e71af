"""Linear systems and least squares: right sides that are vectors, residuals that are not there, ranks that are less."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.refusals import RefusedMode


def as_columns(x: Any, b: Any) -> Any:
    """Solutions or their cotangents as matrices, where ``b`` is the right side of ``np.linalg.solve``: a vector means
    columns."""
    return np.asarray(x)[..., None] if np.ndim(b) == 1 else x


def from_columns(x: Any, b: Any) -> Any:
    """Matrices as what ``np.linalg.solve`` gives for the right side ``b``."""
    return x[..., 0] if np.ndim(b) == 1 else x


def axes_at_end(ndim: int, axes: Any) -> tuple[int, ...]:
    """The order of axes in which ``np.linalg.tensorsolve`` reads its first argument: ``axes`` moved to the end."""
    order = list(range(ndim))
    for axis in axes or ():
        order.remove(axis)
        order.append(axis)
    return tuple(order)


def column_sums(x: Any, like: Any) -> Any:
    """The sum over rows, in the shape of the residuals of ``np.linalg.lstsq``, of which there may be none."""
    if not np.size(like):
        return np.zeros_like(like)
    return np.reshape(np.sum(x, axis=0), np.shape(like))


def uncolumn_sums(g: Any, x: Any) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``column_sums(x, like)``."""
    if not np.size(g):
        return np.zeros_like(x)
    return np.array(np.broadcast_to(g if np.ndim(x) > 1 else np.reshape(g, ()), np.shape(x)))


def least_squares_cutoff(rcond: Any, a: Any) -> Any:
    """The part of the greatest singular value below which ``np.linalg.lstsq`` counts one as zero."""
    if rcond is None or rcond < 0:
        dtype = np.result_type(a, np.float32 if np.asarray(a).dtype.kind in "fc" else np.float64)
        return np.finfo(dtype).eps * max(np.shape(a))
    return rcond


def whole_inverse(p: Any, a: Any) -> Any:
    """``p`` itself, a pseudoinverse of ``a``, where no singular value was left out of it but zeros.

    With a cutoff that leaves out more, the formula of Golub and Pereyra is not the derivative.
    """
    scale = np.abs(a).max(initial=0.0)
    left_out = np.abs(a - a @ p @ a).max(initial=0.0)
    if left_out > 1e4 * np.finfo(p.dtype).eps * max(p.shape[-2:]) * scale:
        raise RefusedMode(
            "E0707",
            "np.linalg.pinv, np.linalg.lstsq: the derivative where a cutoff leaves out singular values that are not"
            " zero is not known; write the sum over singular vectors with np.linalg.svd",
        )
    return p


def of_distinct(w: Any, s: Any) -> Any:
    """``w`` itself, weights of singular values ``s`` that may vary only where no two of those are equal."""
    return w


def require_distinct(g: Any, s: Any) -> Any:
    """``g`` itself, what comes back to weights of singular values; refused where it counts and two values are equal.

    There the vectors of equal values turn into each other at once, and what the weights forget of them is not known.
    """
    if len(s) > 1 and np.any(np.equal(s[1:], s[:-1])) and np.any(g):
        raise RefusedMode(
            "E0707", "np.linalg.lstsq: a second derivative by singular values that are equal is not known;"
            " take them from np.linalg.svdvals, or x from np.linalg.pinv(a) @ b"
        )
    return g
