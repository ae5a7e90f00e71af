"""The programs with long loops as a user of JAX writes them: unrolled, they take XLA minutes to compile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from benchmarks.cases import Case
from benchmarks.peers import with_jax


def with_scans(case: Case) -> Callable[[], Any]:
    """JAX's gradient of a program, jitted; raises RecursionError for the determinant, which has no loop to scan."""
    if case.name == "det":
        raise RecursionError("XLA takes minutes over the unrolled recursion")
    written = {"ode": ode, "lstm": lstm}
    return with_jax(dataclasses.replace(case, program=written.get(case.name, case.program)))


def ode(x, s):
    import jax.numpy as jnp
    from jax import lax

    h = 2.0 / s

    def rate(y):
        return jnp.concatenate((x[:1], x[1:] * y[:-1]))

    def step(y, _):
        k1 = rate(y)
        k2 = rate(y + h / 2.0 * k1)
        k3 = rate(y + h / 2.0 * k2)
        k4 = rate(y + h * k3)
        return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

    return lax.scan(step, jnp.zeros(len(x)), None, length=s)[0][-1]


def lstm(main, extra, state, sequence):
    import jax.numpy as jnp
    from jax import lax, nn

    def step(carried, given):
        hidden, cell = carried
        now, following = given
        x = now * extra[0]
        hiddens, cells = [], []
        for layer in range(len(main)):
            weight, bias = main[layer]
            forget = nn.sigmoid(x * weight[0] + bias[0])
            into = nn.sigmoid(hidden[layer] * weight[1] + bias[1])
            out = nn.sigmoid(x * weight[2] + bias[2])
            change = jnp.tanh(hidden[layer] * weight[3] + bias[3])
            cells.append(cell[layer] * forget + into * change)
            x = out * jnp.tanh(cells[-1])
            hiddens.append(x)
        y = x * extra[1] + extra[2]
        gain = jnp.sum(following * (y - jnp.log(2.0 + jnp.sum(jnp.exp(y)))))
        return (jnp.stack(hiddens), jnp.stack(cells)), gain

    _, gains = lax.scan(step, (state[::2], state[1::2]), (sequence[:-1], sequence[1:]))
    return -jnp.sum(gains) / ((len(sequence) - 1) * len(sequence[0]))
