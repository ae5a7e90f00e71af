"""Derivatives of order three: every nest of reverse and forward, through programs with loops and some ninety rules.

Each program is a function of one number, which moves a vector along a direction; the third derivative is compared with
extrapolated differences of the second one.
"""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.api.derivative import Derivative

POINT, ALONG = np.array([0.6, 0.4, 0.8]), np.array([0.3, -0.5, 0.7])
MATRIX = np.array([[1.5, 0.2, 0.1], [0.3, 2.0, 0.4], [0.1, 0.5, 1.8]])
AT = 0.1
EVERY = ["".join(modes) for modes in itertools.product("rf", repeat=3)]
SOME = ["rrr", "rrf", "rff"]


def waves(t):
    x = POINT + t * ALONG
    s = 0.0
    for k in range(3):
        s = np.sin(s * x[k]) + np.exp(x[k]) * np.cos(s)
    return s


def numbers(t):
    s = t + 0.5
    for _ in range(3):
        s = math.sin(s) * math.exp(-s) + math.log1p(s * s) + math.atan2(s, 2.0) + s**2.5
    return s


def turning(t):
    z = t * (1 + 0.5j) + 0.3
    s = 0.0
    for _ in range(3):
        s = s * z + np.exp(1j * z) * abs(z)
    return abs(s) + s.real * s.imag + np.angle(z)


def elementary(t):
    x = POINT + t * ALONG
    s = 0.5
    for v in x:
        s = np.tanh(s * v) + np.log(v + 1.0) / np.sqrt(v + s) + np.arctan(s) + np.square(v)
    return s + np.sum(np.arcsin(x * 0.5) * np.arccos(x * 0.3) + np.cbrt(x) * np.exp2(x) * np.log2(x + 1.0))


def two_operands(t):
    x = POINT + t * ALONG
    s = 0.0
    for k in range(2):
        s = s + np.logaddexp(x, s)[0] * np.hypot(x, 1.0)[1] + np.arctan2(x, s + 1.0)[k] + np.power(x, x)[k]
    return s * s


def statistics(t):
    x = POINT + t * ALONG
    s = 0.0
    for _ in range(2):
        s = s + np.prod(x) * np.linalg.norm(x) + np.var(x) * np.std(x * s + x) + np.cumprod(x)[2] * np.mean(x)
        x = x + np.diff(x)[0] * np.cumsum(x) * 0.1
    return s


def systems(t):
    x = POINT + t * ALONG
    for _ in range(2):
        x = np.linalg.solve(MATRIX + np.outer(x, x), x) + np.dot(x, x) * 0.1
    return np.linalg.det(np.diag(x)) + np.trace(np.linalg.inv(MATRIX + np.outer(x, x)))


def choices(t):
    x = POINT + t * ALONG
    s = 0.0
    for k in range(3):
        s = s + np.max(x * k) * np.maximum(x, 0.5)[k] ** 2 * np.clip(x, 0.1, 0.7)[k]
        s = s + np.abs(x - 1.0)[k] + max(x[0], x[1]) * min(x[2], s) + np.sort(x)[0] ** 2
        x = np.where(x > 0.5, x * x, np.sinh(x))
    return s


def places(t):
    x = POINT + t * ALONG
    s = 0.0
    for k in range(2):
        s = s + np.take(x, [0, 2])[1] * np.roll(x, 1)[k] * np.flip(x)[k] * np.pad(x, 1)[k + 1]
        s = s + np.tile(x, 2)[k + 2] ** 3 * np.repeat(x, 2)[k] * x[[2, 0]][k] * x[1:][k] + np.median(x) ** 2
    return s * s


def joined(t):
    x = POINT + t * ALONG
    squares = np.array([v * v for v in x])
    b, c = np.stack([squares, x]), np.concatenate([squares, x])
    s = 0.0
    for _ in range(2):
        s = s + np.sum(np.einsum("ij,jk->ik", b, MATRIX) ** 2) * np.sum(c * c) * 0.1 + np.tensordot(b, b, 2)
    return s * np.sum(np.kron(squares, x).reshape(3, 3).T[0])


def containers(t):
    x = POINT + t * ALONG
    d = {"a": x, "b": (x * x, x + 1.0)}
    s = 0.0
    while s < 2.0:
        s = s + np.sum(d["a"] * d["b"][0]) + d["b"][1][0] ** 2
        if s > 1.5:
            break
    return s**3


def recursive(t):
    def deeper(u, n):
        return u if n == 0 else np.tanh(deeper(u * u, n - 1)) + u

    return np.sum(deeper(POINT + t * ALONG, 3) ** 2)


def spectral(t):
    x = POINT + t * ALONG
    f = np.fft.fft(x * x)
    s = 0.0
    for k in range(2):
        s = s + np.abs(f[k]) ** 2 * np.real(f * np.conj(f[0]))[k] * 0.1
    return s


def decomposed(t):
    x = POINT + t * ALONG
    lower = np.linalg.cholesky(MATRIX @ MATRIX.T + np.outer(x, x))
    s = 0.0
    for i in range(3):
        s = s + lower[i, i] ** 3
    values, vectors = np.linalg.eigh(MATRIX + MATRIX.T + np.outer(x, x))
    return s + np.sum(values**3) + np.sum(vectors[:, 0] ** 4)


PROGRAMS = [
    *((program, modes) for program in (waves, turning) for modes in EVERY),
    *((program, modes) for program in (numbers, containers, spectral) for modes in SOME),
    *((program, "rrr") for program in (recursive, systems, joined)),
    *((program, "rrf") for program in (elementary, statistics, choices, decomposed)),
    *((program, "frr") for program in (two_operands, places)),
]


def forward(function):
    """t -> the tangent of ``function`` along 1, as a function that can be differentiated again."""
    entry = Derivative(function, 0, mode="forward").program((AT,)).entry

    def tangent(t):
        _, dot = entry(t, 1.0)
        return dot

    return tangent


def nested(function, modes):
    for mode in modes:
        function = grad(function) if mode == "r" else forward(function)
    return function


_numeric: dict[object, tuple[float, float]] = {}


def numeric(program):
    """The third derivative by Ridders' extrapolation of central differences, and an estimate of its error."""
    if program not in _numeric:
        second = nested(program, "rf")
        best, error, columns, h = 0.0, math.inf, [], 0.05
        for _ in range(8):
            current = [(second(AT + h) - second(AT - h)) / (2.0 * h)]
            factor = 1.96
            for older in columns:
                current.append((current[-1] * factor - older) / (factor - 1.0))
                factor *= 1.96
                change = max(abs(current[-1] - current[-2]), abs(current[-1] - older))
                if change < error:
                    best, error = current[-1], change
            columns = current
            h /= 1.4
        _numeric[program] = best, error
    return _numeric[program]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "modes"),
    [pytest.param(*entry, marks=pytest.mark.nightly if k % 12 else ()) for k, entry in enumerate(PROGRAMS)],
    ids=lambda part: getattr(part, "__name__", part),
)
@pytest.mark.costly(1, first=2)
def test_the_third_derivative(program, modes):
    expected, error = numeric(program)
    scale = max(1.0, abs(expected))
    assert error < 1e-8 * scale, "change the example"
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        assert abs(nested(program, modes)(AT) - expected) <= 1e-8 * scale + 3.0 * error
