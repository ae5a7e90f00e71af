"""gmm: the log-posterior of a mixture of Gaussians with a Wishart prior, and its gradient.

The precision of component k is Q' Q with the lower triangular Q whose diagonal is exp(q[k]) and below whose diagonal
stand the numbers l[k], column by column (Srajer, Kukelova & Fitzgibbon, *A benchmark of selected algorithmic
differentiation tools on some problems in computer vision and machine learning*, 2018, 4.1).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def log_sum_exp(x):
    largest = np.max(x, axis=-1)
    return largest + np.log(np.sum(np.exp(x - largest[..., None]), axis=-1))


def objective(alpha, mu, q, l, x, places, gamma, m, constant):
    n, d = x.shape
    diagonal = np.exp(q)
    below = np.concatenate((np.zeros((len(l), 1)), l), axis=1)[:, places]
    factor = below + diagonal[:, :, None] * np.eye(d)
    log_determinant = np.sum(q, axis=1)
    centred = x[:, None, :] - mu
    scaled = np.einsum("kij,nkj->nki", factor, centred)
    terms = alpha + log_determinant - 0.5 * np.sum(scaled**2, axis=2)
    likelihood = np.sum(log_sum_exp(terms)) - n * log_sum_exp(alpha)
    frobenius = np.sum(diagonal**2) + np.sum(l**2)
    prior = m * np.sum(log_determinant) - 0.5 * gamma**2 * frobenius
    return likelihood + prior + constant


gradient = srcgrad.grad(objective, (0, 1, 2, 3))


def log_constant(n: int, d: int, k: int, gamma: float, m: int) -> float:
    """What the logarithms of the densities hold besides parameters: 2 pi of the Gaussians, and the Wishart prior's."""
    freedom = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    log_gamma += sum(math.lgamma(0.5 * (freedom - j)) for j in range(d))
    wishart = freedom * d * (math.log(gamma) - 0.5 * math.log(2.0)) - log_gamma
    return k * wishart - 0.5 * n * d * math.log(2.0 * math.pi)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    alpha, mu, q, x = (np.array(message[name], dtype=np.float64) for name in ("alpha", "mu", "q", "x"))
    d, k = message["d"], message["k"]
    l = np.array(message["l"], dtype=np.float64).reshape(k, d * (d - 1) // 2)
    columns, rows = np.triu_indices(d, 1)
    places = np.zeros((d, d), dtype=np.int64)
    places[rows, columns] = 1 + np.arange(len(rows))
    gamma, m = float(message["gamma"]), message["m"]
    return alpha, mu, q, l, x, places, gamma, m, log_constant(len(x), d, k, gamma, m)


def named(bars: tuple[np.ndarray, ...]) -> dict[str, Any]:
    return {name: plain(bar) for name, bar in zip(("alpha", "mu", "q", "l"), bars, strict=True)}


FUNCTIONS = {"objective": Served(objective, arguments, plain), "jacobian": Served(gradient, arguments, named)}
TIMED = Timed(objective, gradient, objective, (0, 1, 2, 3))


def sample(small: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(31337)
    d, k, n = (3, 2, 5) if small else (10, 25, 1000)
    return {
        "d": d,
        "k": k,
        "n": n,
        "x": rng.normal(size=(n, d)).tolist(),
        "m": 2 if small else 0,
        "gamma": 1.3 if small else 1.0,
        "mu": rng.uniform(size=(k, d)).tolist(),
        "q": rng.normal(size=(k, d)).tolist(),
        "l": rng.normal(size=(k, d * (d - 1) // 2)).tolist(),
        "alpha": rng.normal(size=k).tolist(),
    }
