"""Gradient descent as the programs particle and saddle prescribe it (Pearlmutter & Siskind, *Using programming language
theory to make automatic differentiation sound and efficient*, 2008): the step grows after ten that succeed, and
shrinks after one that does not."""

from __future__ import annotations

import numpy as np


def argmin(value_and_slope, x, given):
    """Where ``value_and_slope(x, given)[0]`` is smallest, near ``x``."""
    value, slope = value_and_slope(x, given)
    successes = 0
    eta = 1e-5
    while np.sqrt(np.sum(slope * slope)) > 1e-5:
        if successes == 10:
            eta = 2.0 * eta
            successes = 0
        else:
            there = x - eta * slope
            if np.sqrt(np.sum((x - there) ** 2)) <= 1e-5:
                break
            value_there, slope_there = value_and_slope(there, given)
            if value_there < value:
                x = there
                value = value_there
                slope = slope_there
                successes += 1
            else:
                eta = 0.5 * eta
                successes = 0
    return x
