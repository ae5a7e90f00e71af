"""Every sample with one operand altered: other dimensions, memory, types, dtypes; none is silently wrong.

Samples are what the author of a rule thought of.  Here an operand becomes a number, one row, a view, an integer of few
bits, a complex number, an axis of NumPy's.  What the function itself refuses is left out, and so are points where two
steps of the differences disagree: kinks.  A refusal is right, and so is an error that tells its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules.formula import displayed
from tests.rules.samples import SAMPLES, Call
from tests.rules.test_rules import FUNCTIONS
from tests.rules.trees import is_floating, random_like

GROUPS = 40
EVERY = 7  # of the altered calls one in so many is compiled
#: Where a number may differ: what SciPy or NumPy computes is arbitrary, or wrong, there.
ARBITRARY = {
    "np.linalg.svd": "bases of null spaces, and phases, are arbitrary",
    "np.linalg.eigh": "phases are arbitrary",
    "np.linalg.eig": "phases are arbitrary",
    "np.linalg.qr": "bases of null spaces are arbitrary",
    "scipy.linalg.svd": "bases of null spaces, and phases, are arbitrary",
    "scipy.linalg.eigh": "phases are arbitrary",
    "scipy.linalg.qr": "bases of null spaces are arbitrary",
    "scipy.special.lambertw": "a tolerance of 1 ends the iteration at once",
    "scipy.linalg.solve_sylvester": "SciPy solves another equation where one side is complex",
    "scipy.linalg.solve_continuous_lyapunov": "SciPy solves another equation where one side is complex",
    "np.ravel": "the order of memory is that of the point, and not of its neighbours",
    "np.clip": "bounds that meet are a kink",
    "np.interp": "a complex period counts by its size",
    "np.gradient": "NumPy cuts off the imaginary part that a complex spacing gives",
    "scipy.special.betaincc": "at the parameter 0 the derivative is nan",
    "scipy.linalg.solve_discrete_lyapunov": "SciPy computes with integers as they are, modulo 256",
}


def altered(value: Any) -> Iterator[Any]:
    """Other operands in the place of one."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int):
        yield from (np.int64(value), np.array(value), np.uint8(abs(value) % 256), -value - 1)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        yield from (np.abs(value).astype(np.uint8), value.astype(np.int8), value.reshape(-1), value.tolist())
    elif is_floating(value):
        array = np.asarray(value)
        if array.size:
            yield from (np.array(array.flat[0]), array.flat[0], array.reshape(-1)[:1].copy())
            scaled = array.real / (np.max(np.abs(array)) + 1e-9)
            yield from (np.round(np.abs(scaled) * 200).astype(np.uint8), np.round(scaled * 120).astype(np.int8))
            yield from (np.round(scaled * 3000).astype(np.int16), np.round(np.abs(scaled) * 3).astype(np.uint64))
        if array.ndim:
            yield from (array[None].copy(), array[:1].copy(), array[::-1], array[..., None].copy(), array.tolist())
            yield array.reshape(-1)[:1].tolist()
            yield np.swapaxes(array, 0, -1)
        if array.dtype.kind == "f":
            yield from (array + 0.3j, -array, 3.0 * array + 2.0)


def altered_calls(sample: Call) -> Iterator[Call]:
    for i, value in enumerate(sample.args):
        for other in altered(value):
            yield Call((*sample.args[:i], other, *sample.args[i + 1 :]), sample.kwargs)
    several = [i for i, value in enumerate(sample.args) if is_floating(value) and np.ndim(value)]
    for i in several:  # all but one in whole numbers, of which functions may take sums and products as they are
        scaled = {j: np.round(np.abs(np.real(sample.args[j])) * 50.0) for j in several if j != i}
        narrow = {j: value.astype(np.uint8) for j, value in scaled.items()}
        if narrow:
            yield Call(tuple(narrow.get(j, value) for j, value in enumerate(sample.args)), sample.kwargs)
    for name, value in sample.kwargs.items():
        for other in altered(value):
            yield Call(sample.args, {**sample.kwargs, name: other})


def program(function: Callable[..., Any], named: dict[str, Any], weights: Any) -> Callable[..., Any]:
    def f(*given: Any) -> Any:
        return np.sum(np.real(weights * function(*given, **named)))

    return f


def _real(value: Any) -> Any:
    return np.real(value) if is_floating(value) else value


def judged(function: Callable[..., Any], call: Call, rng: np.random.Generator) -> str | None:
    """What is wrong with the derivatives of a call; None where nothing is, or where nothing can be said."""
    wanted = tuple(i for i, value in enumerate(call.args) if is_floating(value))
    try:
        y = function(*call.args, **call.kwargs)
        if not wanted or not is_floating(y) or not np.all(np.abs(y) < 1e6):
            return None
        if any(map(np.iscomplexobj, call.args)) and np.array_equal(y, function(*map(_real, call.args), **call.kwargs)):
            return None  # imaginary parts that the function cuts off, of which NumPy warns
        f = program(function, call.kwargs, random_like(y, rng))
        along = [random_like(call.args[i], rng) for i in wanted]

        def at(step: float) -> Any:
            moved = list(call.args)
            for i, direction in zip(wanted, along, strict=True):
                moved[i] = np.asarray(moved[i] + step * direction) if np.ndim(moved[i]) else moved[i] + step * direction
            np.random.seed(7)
            return f(*moved)

        slopes = []
        for h in (2e-3, 5e-4):
            d = [(at(k * h) - at(-k * h)) / (2.0 * k * h) for k in (1, 2, 3)]
            slopes.append(1.5 * d[0] - 0.6 * d[1] + 0.1 * d[2])
    except Exception:  # whatever the function itself says of such an operand
        return None
    expected = slopes[0]
    operands = [value for value in (*call.args, y) if is_floating(value)]
    single = any(np.asarray(value).dtype in (np.float32, np.complex64) for value in operands)
    tolerance = (5e-2 if single else 2e-4) * (1.0 + abs(expected))
    if not abs(slopes[0] - slopes[1]) <= tolerance:
        return None
    tangents: list[Any] = [None] * len(call.args)
    for i, direction in zip(wanted, along, strict=True):
        tangents[i] = direction
    for specialise in (True, False):
        with srcgrad.options(specialise=specialise):
            try:
                np.random.seed(7)
                bars = srcgrad.grad(f, argnums=wanted)(*call.args)
                np.random.seed(7)
                _, forward = srcgrad.jvp(f, call.args, tangents)
            except Exception:  # a refusal, or an error that says in the derivative of which call it is
                continue
        reverse = sum(np.sum(np.real(np.asarray(b) * d)) for b, d in zip(bars, along, strict=True))
        for mode, value in (("reverse", reverse), ("forward", forward)):
            if not abs(value - expected) <= tolerance:
                return f"{mode}, specialise={specialise}: {value}, not {expected}"
    return None


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", range(GROUPS))
def test_no_altered_call_is_wrong(group: int) -> None:
    rng = np.random.default_rng(group)
    wrong, number = [], 0
    for _, function in FUNCTIONS[group::GROUPS]:
        name = displayed(function)
        if name in ARBITRARY or name.startswith("srcgrad."):
            continue
        for sample in SAMPLES[function]:
            for call in altered_calls(sample):
                number += 1
                if number % EVERY == 0 and (reason := judged(function, call, rng)) is not None:
                    wrong.append(f"{name}{call.args} {call.kwargs}: {reason}")
    assert not wrong, "\n".join(wrong)
