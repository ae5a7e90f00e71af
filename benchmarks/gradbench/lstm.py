"""lstm: the loss of a network of LSTM cells whose matrices are diagonal, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def objective(main, extra, state, sequence):
    """``main`` holds, for each layer, weights and biases of the forget, in, out and change gates: (layers, 2, 4, b)."""
    layers = len(main)
    hidden = [state[2 * layer] for layer in range(layers)]
    cell = [state[2 * layer + 1] for layer in range(layers)]
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for layer in range(layers):
            weight, bias = main[layer]
            forget = sigmoid(x * weight[0] + bias[0])
            into = sigmoid(hidden[layer] * weight[1] + bias[1])
            out = sigmoid(x * weight[2] + bias[2])
            change = np.tanh(hidden[layer] * weight[3] + bias[3])
            cell[layer] = cell[layer] * forget + into * change
            hidden[layer] = out * np.tanh(cell[layer])
            x = hidden[layer]
        y = x * extra[1] + extra[2]
        total = total + np.sum(sequence[t + 1] * (y - np.log(2.0 + np.sum(np.exp(y)))))
    return -total / ((len(sequence) - 1) * len(sequence[0]))


gradient = srcgrad.grad(objective, (0, 1))


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    main, *others = (
        np.array(message[name], dtype=np.float64) for name in ("main_params", "extra_params", "state", "sequence")
    )
    return main.reshape(len(main) // 2, 2, 4, -1), *others


def flat(bars: tuple[np.ndarray, np.ndarray]) -> Any:
    return plain(np.concatenate([bar.ravel() for bar in bars]))


FUNCTIONS = {"objective": Served(objective, arguments, plain), "jacobian": Served(gradient, arguments, flat)}
TIMED = Timed(objective, gradient, objective, (0, 1))


def sample(small: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(31337)
    layers, count, b = (2, 5, 3) if small else (2, 300, 14)
    return {
        "main_params": rng.uniform(-1.0, 1.0, (2 * layers, 4 * b)).tolist(),
        "extra_params": rng.uniform(-1.0, 1.0, (3, b)).tolist(),
        "state": rng.uniform(-1.0, 1.0, (2 * layers, b)).tolist(),
        "sequence": rng.integers(0, 2, (count, b)).astype(np.float64).tolist(),
    }
