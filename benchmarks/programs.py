"""The programs that are timed, as a user writes them; peers run this same text with their own ``np`` and ``math``."""

from __future__ import annotations

import numpy as np

from srcgrad.inspect.lynx_hare import squared_log_error

__all__ = ["mlp", "rnn", "scalar_loop", "squared_log_error"]


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
