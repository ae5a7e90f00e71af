"""Bessel functions and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from tests.rules.samples.calls import Call, Draws, call

draws = Draws(42)
u, n, c = draws.u, draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

for name in "j0 j1 i0 i1 i0e i1e".split():
    SAMPLES[getattr(special, name)] = [call(u(2, 3)), call(0.4), call(-0.7), call(np.array([0.3, -4.0, 12.0]))]
for name in "y0 y1 k0 k1 k0e k1e".split():
    SAMPLES[getattr(special, name)] = [call(u(2, 3)), call(0.4), call(np.array([0.3, 4.0, 12.0]))]
for name in "j1 i1".split():
    SAMPLES[getattr(special, name)].append(call(np.array([0.0, 1e-4])))

orders = np.array([[0.0], [0.7], [2.0]])
for name in "jv jve yv yve iv ive kv kve hankel1 hankel2 hankel1e hankel2e".split():
    SAMPLES[getattr(special, name)] = [call(orders, u(3)), call(1, 0.4), call(1.3, u(2)), call(0.4, c(3) + 2)]
for name in "jve yve ive".split():
    SAMPLES[getattr(special, name)].append(call(0.4, 2 - 0.3j * u(2)))
for name in "yn kn".split():
    SAMPLES[getattr(special, name)] = [call(np.array([[0], [1], [3]]), u(3)), call(0, 0.4), call(2, u(2))]
for name in "jvp yvp ivp kvp h1vp h2vp".split():
    SAMPLES[getattr(special, name)] = [call(1, u(3)), call(0.4, 0.7, 2), call(0, u(2), n=0)]
for name in "spherical_jn spherical_yn spherical_in spherical_kn".split():
    SAMPLES[getattr(special, name)] = [call(0, u(3)), call(2, 0.7), call(1, u(2), True), call(0, 0.7, derivative=True)]
    SAMPLES[getattr(special, name)].append(call(2, c(2) + 2))
SAMPLES[special.spherical_jn].append(call(np.array([0, 1, 2]), np.array([0.0, 1e-3, 0.0])))
SAMPLES |= {
    special.struve: [call(orders, u(3)), call(1, 0.4)],
    special.modstruve: [call(orders, u(3)), call(1, 0.4)],
    special.airy: [call(n(3)), call(0.4), call(c(2))],
    special.pbdv: [call(0.7, n(3)), call(1.0, 0.4)],
    special.pbvv: [call(0.7, u(3)), call(1.0, 0.4)],
}

ANALYTIC: set[Callable[..., Any]] = set()
