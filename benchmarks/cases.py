"""What is timed: every program with its arguments, the arguments differentiated, and its hand-written adjoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import handwritten, programs
from srcgrad.inspect.lynx_hare import START, pelts

MARCHES = (1_000, 10_000, 100_000)


@dataclass(frozen=True)
class Case:
    """One row of the table; ``argnums`` is an int for one gradient, a tuple for several.

    ``bound``: how many times the hand-written adjoint's time the gradient may take.
    """

    name: str
    program: Callable[..., Any]
    handwritten: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: int | tuple[int, ...]
    bound: float = 1.15


def cases() -> list[Case]:
    """The rows, with the same numbers on every run."""
    _, hare, lynx = pelts()
    rng = np.random.default_rng(1900)
    return [
        Case("scalar loop, 1000 steps", programs.scalar_loop, handwritten.grad_scalar_loop, (0.01, 1000), 0),
        Case(
            "Runge-Kutta fit, 400 steps",
            programs.squared_log_error,
            handwritten.grad_squared_log_error,
            (np.log(START), hare, lynx),
            0,
        ),
        _rnn(rng, hidden=8),
        _rnn(rng, hidden=256),
        _mlp(rng, batch=32),
        _lu(rng, n=60),
        _heat(rng, points=1000, steps=1000),
        _kalman(rng, states=6, steps=200),
        _lstm(rng, layers=2, characters=14, steps=60),
        _ode(rng, components=20, steps=200),
        _gmm(rng, n=1000, d=10, k=25),
        _determinant(rng, n=7),
        *map(_march, MARCHES),
    ]


def _march(steps: int) -> Case:
    return Case(f"y[i + 1] = g(y[i]), {steps} steps", programs.march, handwritten.grad_march, (0.1, steps), 0, 1.5)


def _rnn(rng: np.random.Generator, hidden: int, steps: int = 100, inputs: int = 4) -> Case:
    w = rng.normal(size=(hidden, hidden)) * 0.9 / np.sqrt(hidden)
    u = rng.normal(size=(hidden, inputs))
    b = 0.1 * rng.normal(size=hidden)
    xs = rng.normal(size=(steps, inputs))
    targets = 0.3 * rng.normal(size=(steps, hidden))
    name = f"RNN, hidden {hidden}, {steps} steps"
    return Case(name, programs.rnn, handwritten.grad_rnn, (w, u, b, xs, targets), (0, 1, 2))


def _mlp(rng: np.random.Generator, batch: int, sizes: tuple[int, ...] = (64, 128, 128, 1)) -> Case:
    parameters: list[Any] = []
    for inputs, outputs in zip(sizes, sizes[1:], strict=False):
        parameters += [rng.normal(size=(inputs, outputs)) / np.sqrt(inputs), 0.1 * rng.normal(size=outputs)]
    data = rng.normal(size=(batch, sizes[0])), rng.normal(size=(batch, sizes[-1]))
    name = f"MLP {'-'.join(map(str, sizes))}, batch {batch}"
    return Case(name, programs.mlp, handwritten.grad_mlp, (*parameters, *data), tuple(range(len(parameters))))


def _lu(rng: np.random.Generator, n: int) -> Case:
    a = rng.normal(size=(n, n)) + n * np.eye(n)  # dominant enough to need no pivots
    return Case(f"LU by rows in place, n = {n}", programs.lu, handwritten.grad_lu, (a, rng.normal(size=(n, n))), 0)


def _heat(rng: np.random.Generator, points: int, steps: int) -> Case:
    start = np.exp(-(np.linspace(-3.0, 3.0, points) ** 2)) + 0.1 * rng.random(points)
    name = f"heat equation in place, {steps} steps"
    return Case(name, programs.heat, handwritten.grad_heat, (start, 0.3, steps), (0, 1))


def _kalman(rng: np.random.Generator, states: int, steps: int, observed: int = 2) -> Case:
    f = 0.95 * np.linalg.qr(rng.normal(size=(states, states)))[0]
    q, r = 0.1 * np.eye(states), 0.2 * np.eye(observed)
    h = rng.normal(size=(observed, states))
    ys = rng.normal(size=(steps, observed))
    arguments = (f, q, h, r, ys, np.zeros(states), np.eye(states))
    return Case(f"Kalman filter, {steps} steps", programs.kalman, handwritten.grad_kalman, arguments, (0, 1, 3))


def _lstm(rng: np.random.Generator, layers: int, characters: int, steps: int) -> Case:
    weights, biases = rng.normal(size=(2, layers, 4, characters))
    ends = rng.normal(size=(3, characters))
    state = rng.normal(size=(layers, 2, characters))
    sequence = np.eye(characters)[rng.integers(characters, size=steps + 1)]
    name = f"LSTM, {layers} layers of {characters}, {steps} steps"
    return Case(name, programs.lstm, handwritten.grad_lstm, (weights, biases, ends, state, sequence), (0, 1, 2), 1.3)


def _gmm(rng: np.random.Generator, n: int, d: int, k: int) -> Case:
    arguments = rng.normal(size=k), rng.random((k, d)), rng.normal(size=(k, d * (d + 1) // 2)), rng.random((n, d)), 1.0
    name = f"Gaussian mixture, {n} points, d = {d}, k = {k}"
    return Case(name, programs.gmm, handwritten.grad_gmm, arguments, (0, 1, 2), 1.05)


def _ode(rng: np.random.Generator, components: int, steps: int) -> Case:
    name = f"ODE with array steps, {components} components, {steps} steps"
    return Case(name, programs.ode, handwritten.grad_ode, (rng.random(components), steps), 0, 1.2)


def _determinant(rng: np.random.Generator, n: int) -> Case:
    name = f"determinant by minors, n = {n}"
    return Case(name, programs.determinant, handwritten.grad_determinant, (rng.random((n, n)),), 0, 4.0)
