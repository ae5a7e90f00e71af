"""Programs that the tests of ``observe`` look at."""

from __future__ import annotations

import math

import numpy as np


def root(x):
    y = x * 2.0
    return y * math.sqrt(y)


def roots(x):
    y = x * 2.0
    z = np.sqrt(y)
    return np.sum(z)


def logarithms(x, n):
    s = x
    best = np.inf
    for i in range(n):
        s = s * s
        s = np.log(s - 0.5 * i)
        best = min(best, s)
    return s + best


def stored(w):
    h = np.zeros(4)
    for i in range(4):
        h[i] = 1.0 / w[i]
    return np.sum(h)


def helper(v):
    return np.sqrt(np.sum(v**2) - 4.0)


def calls(v):
    total = 0.0
    for k in range(3):
        total = total + helper(v * (3 - k))
    return total


class Spring:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return 0.5 * self.k * x**2


def springs(x):
    total = 0.0
    for spring in [Spring(1.0), Spring(2.0)]:
        total = total + spring.energy(x)
    return total


def heat(u, steps, alpha):
    """Explicit Euler steps of the heat equation; what is lost is the square of what remains."""
    for step in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + alpha * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = new
    return np.sum(u**2)


def layers(w, x, n):
    h = x
    for step in range(n):
        h = np.tanh(w @ h)
    return np.sum(h**2)
