"""Other libraries on the same programs.

``PEERS`` maps a name to a function from a case to a call without arguments that computes the gradient, as NumPy arrays
or as tensors.  A peer that is not installed raises ImportError; one that cannot do a program raises what it raises.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from benchmarks import programs
from benchmarks.cases import Case

Gradient = Callable[[], Any]


def _with_arrays(program: Callable[..., Any], arrays: ModuleType) -> FunctionType:
    """The same code with another library in the place of ``np`` and ``math``, in the functions of its module too."""
    assert isinstance(program, FunctionType)
    namespace = {**program.__globals__, "np": arrays, "math": arrays}
    for name, found in program.__globals__.items():
        if isinstance(found, FunctionType) and found.__module__ == program.__module__:
            namespace[name] = FunctionType(found.__code__, namespace, name, found.__defaults__, found.__closure__)
    return FunctionType(program.__code__, namespace, program.__name__, program.__defaults__, program.__closure__)


def with_autograd(case: Case) -> Gradient:
    """HIPS autograd: a tape of NumPy calls."""
    import autograd
    import autograd.numpy as arrays

    gradient = autograd.grad(_with_arrays(case.program, arrays), case.argnums)
    return lambda: gradient(*case.arguments)


def with_tangent(case: Case) -> Gradient:
    """tangent-ad: source transformation, the ancestor of this package."""
    import tangent

    program, arguments = case.program, case.arguments
    if program is programs.squared_log_error:
        program, arguments = _squared_log_error_without_nesting, (*map(np.asarray, arguments), 20)
    argnums = (case.argnums,) if isinstance(case.argnums, int) else case.argnums
    gradient = tangent.grad(program, wrt=argnums)
    return lambda: gradient(*arguments)


def with_torch(case: Case) -> Gradient:
    """PyTorch's eager autograd on one thread, in float64."""
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    program = _with_arrays(case.program, torch)
    argnums = (case.argnums,) if isinstance(case.argnums, int) else case.argnums
    arguments = [torch.tensor(value) if isinstance(value, float | np.ndarray) else value for value in case.arguments]
    wanted = [arguments[number].requires_grad_() for number in argnums]
    return lambda: torch.autograd.grad(program(*arguments), wanted)


def with_jax(case: Case) -> Gradient:
    """JAX, jitted, in float64; a call ends when the numbers are there.  Integers and texts are static."""
    import jax

    jax.config.update("jax_enable_x64", True)
    gradient = jax.grad(_with_arrays(case.program, jax.numpy), case.argnums)
    static = tuple(place for place, value in enumerate(case.arguments) if isinstance(value, int | str))
    jitted = jax.jit(gradient, static_argnums=static)
    return lambda: jax.block_until_ready(jitted(*case.arguments))


PEERS: dict[str, Callable[[Case], Gradient]] = {
    "autograd": with_autograd,
    "tangent-ad": with_tangent,
    "torch": with_torch,
}


def _squared_log_error_without_nesting(theta, hare, lynx, steps):
    """``squared_log_error`` with the nested function written out: tangent-ad refuses nested functions."""
    a = np.exp(theta[0])
    b = np.exp(theta[1])
    c = np.exp(theta[2])
    d = np.exp(theta[3])
    u = np.exp(theta[4])
    v = np.exp(theta[5])
    dt = 1.0 / steps
    error = np.log(u / hare[0]) ** 2 + np.log(v / lynx[0]) ** 2
    for year in range(1, len(hare)):
        for _ in range(steps):
            u1 = (a - b * v) * u
            v1 = (d * u - c) * v
            us = u + dt / 2 * u1
            vs = v + dt / 2 * v1
            u2 = (a - b * vs) * us
            v2 = (d * us - c) * vs
            us = u + dt / 2 * u2
            vs = v + dt / 2 * v2
            u3 = (a - b * vs) * us
            v3 = (d * us - c) * vs
            us = u + dt * u3
            vs = v + dt * v3
            u4 = (a - b * vs) * us
            v4 = (d * us - c) * vs
            u = u + dt / 6 * (u1 + 2 * u2 + 2 * u3 + u4)
            v = v + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        error = error + np.log(u / hare[year]) ** 2 + np.log(v / lynx[year]) ** 2
    return error
