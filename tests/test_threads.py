"""Threads: one makes a tree at a time, as CPython 3.11 needs it; what is compiled runs meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import srcgrad
from srcgrad.syntax.depth import alone


def test_what_is_compiled_runs_while_another_thread_compiles() -> None:
    ready = srcgrad.grad(lambda x: x * x)
    other = srcgrad.grad(lambda x: x * x * x)
    held, done = threading.Event(), threading.Event()

    @alone
    def compiles() -> None:
        held.set()
        done.wait(60.0)

    with ThreadPoolExecutor(3) as threads:
        for v in (2.0, 3.0):  # the first call may load rules, after which programs are compiled again
            assert threads.submit(ready, v).result(60.0) == 2.0 * v
        threads.submit(compiles)
        held.wait(60.0)
        try:
            assert threads.submit(ready, 4.0).result(60.0) == 8.0
            waiting = threads.submit(other, 2.0)
            assert not waiting.done()
        finally:
            done.set()
        assert waiting.result(60.0) == 12.0


def test_threads_that_compile_for_the_first_time_at_once() -> None:
    def made(k: float) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            return np.sum(np.sin(x) * k) + srcgrad.grad(lambda v: np.sum(v**3))(x)[0]

        return f

    x = np.array([0.5, 1.2])
    gradients = [srcgrad.grad(made(float(k))) for k in range(8)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda gradient: gradient(x), gradients))
    for k, gradient in enumerate(found):
        np.testing.assert_allclose(gradient, k * np.cos(x) + [6.0 * x[0], 0.0])
