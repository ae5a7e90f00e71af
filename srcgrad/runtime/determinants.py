"""Cofactors, and their derivatives of any order, exact for singular matrices too.

>>> cofactor(np.array([[1.0, 2.0], [2.0, 4.0]]))
array([[ 4., -2.],
       [-2.,  1.]])
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np


def cofactor(a: Any, *x: Any) -> Any:
    """The matrix of ``D^(k+1) det(a)[x_1, ..., x_k, .]``: without x the cofactors, the slopes of the determinant.

    A determinant is a polynomial, so that none of this divides by it: from regular matrices ``det(a) inv(a).T``, else
    from singular values.
    """
    a = np.asarray(a)
    if a.dtype.kind not in "fc":
        a = a.astype(np.float64)
    if not x:
        return _cofactors(a)
    if len(x) == 1:
        return _slope(a, x[0])
    return _curve(a, x)


_SIGNS = np.array([[1, -1], [-1, 1]], np.int8)  # leaves every floating dtype as it is


def _cofactors(a: Any) -> Any:
    if a.shape[-2:] == (2, 2):
        return a[..., ::-1, ::-1] * _SIGNS
    try:
        result = np.linalg.det(a)[..., None, None] * np.linalg.inv(a).mT
        if np.isfinite(result).all():
            return result
    except np.linalg.LinAlgError:
        pass
    u, s, vh, sign = _decomposed(a)
    return sign * ((np.conjugate(u) * (_before(s) * _after(s))[..., None, :]) @ np.conjugate(vh))


def _before(s: Any) -> Any:
    """The product of the singular values before each one."""
    result = np.ones_like(s)
    np.cumprod(s[..., :-1], axis=-1, out=result[..., 1:])
    return result


def _after(s: Any) -> Any:
    """The product of the singular values after each one."""
    return _before(s[..., ::-1])[..., ::-1]


def _decomposed(a: Any) -> tuple[Any, Any, Any, Any]:
    """The singular value decomposition, and the determinant of its unitary factors."""
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _slope(a: Any, x: Any) -> Any:
    """The cofactors of ``a + t x``, differentiated at t = 0: products of all singular values but two."""
    if a.shape[-2:] == (2, 2):  # whose cofactors are its elements
        return _cofactors(x + np.zeros_like(a))
    u, s, vh, sign = _decomposed(a)
    m = np.conjugate(u).mT @ x @ np.conjugate(vh).mT
    n = s.shape[-1]
    before, after = _before(s), _after(s)
    others = np.zeros((*s.shape, n), s.dtype)
    for i in range(n - 1):
        between = _before(s[..., i + 1 :])
        others[..., i, i + 1 :] = others[..., i + 1 :, i] = before[..., i, None] * between * after[..., i + 1 :]
    moved = -others * m.mT
    places = np.arange(n)
    moved[..., places, places] = (others @ m[..., places, places, None])[..., 0]
    return sign * (np.conjugate(u) @ moved @ np.conjugate(vh))


def _curve(a: Any, x: tuple[Any, ...]) -> Any:
    """Higher derivatives: a mean over a circle of regular matrices around ``a``.

    A polynomial of degree below the number of points has its mean on a circle at the centre.
    """
    u, s, vh, sign = _decomposed(a)
    n = s.shape[-1]
    count = n + n % 2 + 2  # even, so that no point is the negative of a singular value
    radius = np.where(s[..., :1] > 0, s[..., :1], 1)
    framed = [np.conjugate(u).mT @ part @ np.conjugate(vh).mT for part in x]
    total: Any = 0
    for j in range(count):
        shifted = s + radius * np.exp(2j * np.pi * (j + 0.5) / count)
        inner = _mixed([m / shifted[..., :, None] for m in framed], n) / shifted[..., None, :]
        total = total + np.prod(shifted, axis=-1)[..., None, None] * inner.mT
    result = sign * (np.conjugate(u) @ (total / count) @ np.conjugate(vh))
    return np.asarray(result if a.dtype.kind == "c" else result.real, a.dtype)


def _mixed(y: list[Any], n: int) -> Any:
    """The coefficient of ``t_1 ... t_k`` in ``det(1 + t_1 y_1 + ... + t_k y_k)`` times the inverse of that matrix."""
    total: Any = 0
    for size in range(len(y) + 1):
        for chosen in combinations(range(len(y)), size):
            rest = [i for i in range(len(y)) if i not in chosen]
            for order in permutations(rest):
                term: Any = np.eye(n)
                for i in order:
                    term = term @ -y[i]
                total = total + _mixed_determinant([y[i] for i in chosen]) * term
    return total


def _mixed_determinant(y: list[Any]) -> Any:
    """The coefficient of ``t_1 ... t_k`` in ``det(1 + t_1 y_1 + ... + t_k y_k)``: signed traces of cycles."""
    total: Any = 0
    for image in permutations(range(len(y))):
        term: Any = 1
        pending = set(range(len(y)))
        while pending:
            cycle = [pending.pop()]
            while (place := image[cycle[-1]]) != cycle[0]:
                pending.discard(place)
                cycle.append(place)
            product = y[cycle[0]]
            for i in cycle[1:]:
                product = product @ y[i]
            term = term * -((-1) ** len(cycle)) * np.trace(product, axis1=-2, axis2=-1)[..., None, None]
        total = total + term
    return total
