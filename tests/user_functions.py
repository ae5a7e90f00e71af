"""Functions of a user with rules of his own, in a module as his would be: what ``test_user_rules`` imports from."""

from __future__ import annotations

import math

import numpy as np

import srcgrad

SHARPNESS = 2.0


def logistic(x):
    """Stands for a function of another library: only its rule is used."""
    return np.reciprocal(np.exp(-SHARPNESS * x) + 1.0)


def slope(y):
    return y * (1.0 - y)


@srcgrad.elementwise(logistic)
def logistic_rule(x, *, y, y_bar):
    """y' = s y (1 - y)."""
    return y_bar * SHARPNESS * slope(y)


def weighted(x, w, power=2, verbose=False):
    total = 0.0
    for a, b in zip(x, w):
        total += b * a**power
    return total


@srcgrad.rule(weighted)
def weighted_rule(x, w, power=2, *, y, y_bar):
    return y_bar * power * w * x ** (power - 1), y_bar * x**power, None


weighted_rule.accept(ignored=("verbose",))


@weighted_rule.tangent
def weighted_tangent(x, w, power=2, *, y, x_dot, w_dot):
    return np.sum(power * w * x ** (power - 1) * x_dot), np.sum(x**power * w_dot)


@weighted_rule.when(power=1)
def weighted_first(x, w, power=2, *, y, y_bar):
    return y_bar * w, y_bar * x, None


def smoothed(x, kernel):
    return np.array([math.fsum(x[i : i + len(kernel)] * kernel) for i in range(len(x) - len(kernel) + 1)])


@srcgrad.linear(smoothed, "x")
def smoothed_rule(x, kernel, *, y, y_bar):
    return np.convolve(y_bar, kernel)


@srcgrad.constant
def bin_of(x, edges):
    return np.searchsorted(edges, x)


HALVES = np.array([0.5, 0.25])


def program(x, w):
    return weighted(logistic(x), w) + np.sum(smoothed(x, HALVES) ** 2)
