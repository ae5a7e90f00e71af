"""The programs that are timed, as a user writes them; peers run this same text with their own ``np`` and ``math``."""

from __future__ import annotations

import numpy as np

from srcgrad.inspect.lynx_hare import squared_log_error

__all__ = ["heat", "kalman", "lu", "march", "mlp", "rnn", "scalar_loop", "squared_log_error"]


def scalar_loop(x, n):
    """Growth in proportion to ``x`` until a threshold, then a setback: one branch per step."""
    s = x
    for _ in range(n):
        if s < 1.0:
            s = s + x * s
        else:
            s = 0.3 * s
    return s


def rnn(w, u, b, xs, targets):
    """Squared error of an Elman network (hidden state ``h``) over a sequence."""
    h = np.tanh(b)
    loss = 0.0
    for t in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[t] + b)
        e = h - targets[t]
        loss = loss + e @ e
    return loss


def mlp(w1, b1, w2, b2, w3, b3, x, y):
    """Mean squared error of a three-layer perceptron over a batch."""
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    e = h2 @ w3 + b3 - y
    return np.mean(e * e)


def lu(a, w):
    """A weighted sum of the factors that Gaussian elimination without pivoting leaves in place, row by row."""
    n = len(a)
    u = 1.0 * a
    for k in range(n - 1):
        for i in range(k + 1, n):
            m = u[i, k] / u[k, k]
            u[i, k] = m
            for j in range(k + 1, n):
                u[i, j] = u[i, j] - m * u[k, j]
    return np.sum(w * u)


def heat(start, rate, steps):
    """Energy of a rod after explicit steps of the heat equation, its ends held."""
    u = 1.0 * start
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def kalman(f, q, h, r, ys, m, p):
    """Negative log-likelihood (less constants) of observations, and how far the filtered means wander."""
    means = np.zeros((len(ys), len(m)))
    loss = 0.0
    for t in range(len(ys)):
        m = f @ m
        p = f @ p @ f.T + q
        v = ys[t] - h @ m
        hp = h @ p
        s = hp @ h.T + r
        inverse = np.linalg.inv(s)
        gain = hp.T @ inverse
        m = m + gain @ v
        p = p - gain @ hp
        p = 0.5 * (p + p.T)
        means[t] = m
        loss = loss + np.log(np.linalg.det(s)) + v @ inverse @ v
    return loss + np.mean(means * means)


def march(x, n):
    """Mean square of a logistic growth from ``x``, every state kept in an array."""
    y = np.zeros(n + 1)
    y[0] = x
    for i in range(n):
        y[i + 1] = y[i] + 0.01 * y[i] * (1.0 - y[i])
    return np.mean(y * y)
