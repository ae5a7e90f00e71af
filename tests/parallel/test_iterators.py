"""Shards that are pulled one at a time: how many at once, and what is closed and cancelled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from srcgrad.parallel import ShardError, grad, report
from tests.parallel.conftest import Shuffled

ROOT = Path(__file__).parent.parent.parent


class Watched:
    """An iterator that knows how many of its items are not done."""

    def __init__(self, count: int) -> None:
        self.items = iter(range(count))
        self.lock = threading.Lock()
        self.flying = self.most = self.pulled = 0
        self.closed = False

    def __iter__(self):
        return self

    def __next__(self):
        number = next(self.items)
        with self.lock:
            self.flying += 1
            self.pulled += 1
            self.most = max(self.most, self.flying)
        return self.load(number)

    def load(self, number):
        def loaded():
            time.sleep(0.0005)
            with self.lock:
                self.flying -= 1
            return float(number)

        return loaded

    def close(self):
        self.closed = True


def product(w, shard):
    return w * shard


@pytest.mark.parametrize("in_flight", [1, 2, 5, 16])
def test_no_more_are_in_flight_than_may_be(in_flight):
    watched = Watched(120)
    with ThreadPoolExecutor(2) as threads:
        assert grad(product, executor=threads, in_flight=in_flight)(2.0, watched) == 120 * 119 / 2
    assert watched.most <= in_flight and watched.closed


def test_without_a_bound_it_is_a_few_for_each_worker():
    watched = Watched(2000)
    with ThreadPoolExecutor(2) as threads:
        grad(product, executor=threads)(2.0, watched)
    assert 2 < watched.most <= 5 * 64 and report().tasks < 500  # groups of at most 30 ms


def test_a_generator_is_closed_where_a_shard_fails():
    closed = []

    def shards():
        try:
            for number in range(1000):
                yield number if number == 3 else float(number)
        finally:
            closed.append(True)

    with pytest.raises(ShardError, match="^shard 3 raised ValueError: three"):
        grad(not_three, in_flight=2)(2.0, shards())
    assert closed == [True]


def not_three(w, shard):
    if shard == 3:
        raise ValueError("three")
    return w * shard


def test_an_iterator_that_raises_raises_as_it_is():
    def shards():
        yield 1.0
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="^the disk is gone$"):
        grad(product)(2.0, shards())


def test_what_has_not_started_is_cancelled_where_a_shard_fails():
    with Shuffled(1, 1) as executor:
        with pytest.raises(ShardError):
            grad(not_three, executor=executor, in_flight=50)(2.0, iter([3.0] + [1.0] * 100))
        assert sum(future.cancelled() for future in executor.futures) > 30


def test_memory_does_not_grow_with_the_number_of_shards(processes):
    """Shards of 8 MB, of which no more than two are on the way."""
    import tracemalloc

    tracemalloc.start()
    total = grad(summed, executor=processes, in_flight=2)(2.0, (np.full(1_000_000, 1.0 * k) for k in range(12)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 66.0 and peak < 60_000_000


def summed(w, shard):
    return w * np.mean(shard)


SCRIPT = """
import signal, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from srcgrad.parallel import grad

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started without

def product(w, shard):
    return w * shard

class Slow:
    def __call__(self):
        time.sleep(0.05)
        return 1.0

def shards():
    try:
        for k in range(10_000):
            if k == 4:
                print("running", flush=True)
            yield Slow()
    finally:
        print("closed", flush=True)

if __name__ == "__main__":
    executor = None if sys.argv[1] == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    try:
        grad(product, executor=executor)(2.0, shards())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        if executor is not None:
            executor.shutdown(cancel_futures=True)
"""


@pytest.mark.parametrize("kind", ["threads", "processes"])
@pytest.mark.costly(1, first=1)
def test_ctrl_c_ends_a_call(kind, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(script), kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as run:
        assert run.stdout.readline() == "running\n"
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        begin = time.monotonic()
        try:
            out, _ = run.communicate(timeout=30)
        finally:
            run.kill()
    assert out.split() == ["closed", "interrupted"] and time.monotonic() - begin < 10.0
