"""Stores cost what they touch, forwards and backwards: processor time and memory grow with the stores, not with the
arrays that they are made into."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pytest

import srcgrad
from benchmarks.programs import march

pytestmark = pytest.mark.slow


def in_a_callee(x, n):
    y = np.zeros(n + 1)
    y[0] = x
    for i in range(n):
        advance(y, i)
    return np.mean(y * y)


def advance(y, i):
    y[i + 1] = y[i] + 0.01 * y[i] * (1.0 - y[i])


def by_slices(x, n):
    y = np.zeros(n + 2) + x
    for i in range(n):
        y[i + 1 : i + 3] += 0.1 * y[i] * y[i + 1 : i + 3]
        y[i] = np.sin(y[i])
    return np.mean(y)


def in_a_list(x, n):
    y = [0.0] * (n + 1)
    y[0] = x
    for i in range(n):
        y[i + 1] = y[i] + 0.01 * y[i] * (1.0 - y[i])
    return y[n] * y[n // 2]


def by_appending(x, n):
    y = [x]
    for i in range(n):
        y.append(y[i] + 0.01 * y[i] * (1.0 - y[i]))
    return y[n] * y[n // 2]


PROGRAMS = [march, in_a_callee, by_slices, in_a_list, by_appending]


def reverse(program: Callable[..., Any]) -> Callable[[int], Any]:
    gradient = srcgrad.grad(program)
    return lambda n: gradient(0.1, n)


def forward(program: Callable[..., Any]) -> Callable[[int], Any]:
    return lambda n: srcgrad.jvp(program, (0.1, n), (1.0, None))


@pytest.fixture(autouse=True)
def nothing_else_to_collect() -> None:
    """What earlier tests left is not looked through again at each of the collections here."""
    gc.freeze()


def seconds(call: Callable[[int], Any], n: int) -> float:
    gc.collect()
    begin = process_time()
    call(n)
    return process_time() - begin


def peak(call: Callable[[int], Any], n: int) -> int:
    """The least of three: threads of other tests in this process allocate now and then."""
    return min(_peak(call, n) for _ in range(3))


def _peak(call: Callable[[int], Any], n: int) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        call(n)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mode", [reverse, forward])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_time_grows_with_the_number_of_stores(program, mode):
    call = mode(program)
    call(10)  # compiles
    few, many = seconds(call, 200), seconds(call, 1_600)
    for _ in range(2):  # in turns, so that a machine that slows down slows both
        few, many = min(few, seconds(call, 200)), min(many, seconds(call, 1_600))
    assert many < 24 * max(few, 1e-4)  # 8 when linear, 64 when quadratic


@pytest.mark.parametrize("mode", [reverse, forward])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.costly(2, first=1)
def test_memory_grows_with_the_number_of_stores(program, mode):
    call = mode(program)
    call(10)
    # 8 when linear, 64 when quadratic; of some KiB other threads allocate a part, and n squared floats are 20 MiB
    assert peak(call, 1_600) < 16 * max(peak(call, 200), 1 << 15)


def test_the_adjoint_of_a_list_is_not_copied_for_each_of_its_items():
    assert "as_list" not in srcgrad.grad(by_appending).source  # once 0.3 s of 16,000 items, growing by the square


def scattered(y, n):
    y = 1.0 * y
    for i in range(n):
        y[i + 1] = y[i] * y[i + 1]
        y[i : i + 3] += 0.5
    return y[n]


def test_a_store_does_not_cost_the_length_of_its_array():
    gradient = srcgrad.grad(scattered)
    short, long = np.full(2_000, 0.5), np.full(200_000, 0.5)
    gradient(short, 10)
    small = min(seconds(lambda n: gradient(short, n), 1_000) for _ in range(3))
    large = min(seconds(lambda n: gradient(long, n), 1_000) for _ in range(3))
    assert large < 4 * small + 0.05  # a copy of the array for each of the stores takes 0.1 s and more


def test_the_memory_of_a_store_is_not_that_of_its_array():
    gradient = srcgrad.grad(scattered)
    long = np.full(100_000, 0.5)
    gradient(long, 10)
    assert peak(lambda n: gradient(long, n), 500) < 12 * long.nbytes  # 500 when a store keeps the array
