"""Workers that die: what was not done runs again, and every result has the same bits."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from srcgrad.parallel import WorkerLost, grad, map, report, value_and_grad  # noqa: A004
from srcgrad.parallel.executors import _replaced
from tests.parallel.conftest import FORKSERVER, Shuffled, missing
from tests.parallel.losses import bits, shards_of, squares

W = np.linspace(-1.0, 1.0, 4)
SHARDS = shards_of(40)


class Late:
    """A shard that is loaded slowly, so that there is something to kill."""

    def __init__(self, shard):
        self.shard = shard

    def __call__(self):
        time.sleep(0.004)
        return self.shard


class Killer(threading.Thread):
    """Kills one process of a pool after so many seconds."""

    def __init__(self, processes, after: float, seed: int) -> None:
        super().__init__(daemon=True)
        self.processes, self.after, self.choice = processes, after, random.Random(seed)
        self.killed = 0

    def run(self) -> None:
        time.sleep(self.after)
        living = self.processes()
        if living:
            try:
                os.kill(self.choice.choice(living), signal.SIGKILL)
                self.killed = 1
            except ProcessLookupError:
                pass


def killed_calls(pool, processes, calls: int, seed: int, longest: float, ready=lambda: None) -> tuple[int, int]:
    """Calls, in each of which one process is killed at a random moment; how many were, and how many shards reran."""
    chance = random.Random(seed)
    g = value_and_grad(squares, executor=pool)
    expected = bits(value_and_grad(squares)(W, SHARDS))
    killed = again = 0
    for call in range(calls):
        ready()
        killer = Killer(processes, chance.random() * longest, seed + call)
        killer.start()
        assert bits(g(W, [Late(shard) for shard in SHARDS])) == expected
        killer.join()
        assert report().shards == len(SHARDS)  # nothing is counted twice
        killed, again = killed + killer.killed, again + report().again
    return killed, again


@pytest.mark.parametrize("calls", [4, pytest.param(200, marks=pytest.mark.nightly)])
def test_processes_that_are_killed_at_random_moments(calls):
    pool = ProcessPoolExecutor(2, mp_context=FORKSERVER)

    def living():
        return list(_replaced(pool)._processes or ())

    map(abs, range(4), executor=pool)
    killed, again = killed_calls(pool, living, calls, calls, 0.09)
    assert killed >= calls // 2
    assert 0 < again < killed * len(SHARDS) / 2  # what was done is not done again
    _replaced(pool).shutdown()


@pytest.mark.nightly
@pytest.mark.parametrize("calls", [200])
@pytest.mark.skipif(missing("loky"), reason="loky is not installed: pip install 'srcgrad[parallel]'")
def test_processes_of_loky_that_are_killed(calls):
    import loky

    pool = loky.ProcessPoolExecutor(2)
    map(abs, range(4), executor=pool)
    killed, _ = killed_calls(pool, lambda: list(_replaced(pool)._processes or ()), calls, calls, 0.09)
    assert killed >= calls // 2
    _replaced(pool).shutdown(kill_workers=True)


def dies_once(w, shard):
    return w * shard


class DiesOnce:
    """Kills its process the first time that it is loaded, of all processes."""

    def __init__(self, mark: Path, times: int = 1) -> None:
        self.mark, self.times = mark, times

    def __call__(self):
        for number in range(self.times):
            try:
                (self.mark / str(number)).touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return 2.0


def test_a_pool_is_replaced_once_and_stays(tmp_path):
    with ProcessPoolExecutor(2, mp_context=FORKSERVER) as pool:
        g = grad(dies_once, executor=pool)
        assert g(3.0, [1.0, DiesOnce(tmp_path), 3.0]) == 6.0
        assert report().rebuilt == 1 and 1 <= report().again <= 3
        assert g(3.0, [1.0, DiesOnce(tmp_path), 3.0]) == 6.0
        assert report().rebuilt == 0 and _replaced(pool) is not pool
        _replaced(pool).shutdown()


class Breaks(Executor):
    """Its third task finds it broken; the others are done a moment later."""

    _max_workers = 2

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, fn, /, *args, **kwargs):
        self.tasks += 1
        future = Future()
        if self.tasks == 3:
            future.set_exception(BrokenExecutor("a process ended"))
        else:
            threading.Timer(0.2, lambda: future.set_result(fn(*args, **kwargs))).start()
        return future


RAN = []


def noted(number):
    RAN.append(number)
    return float(number)


def test_what_is_done_when_a_pool_breaks_is_not_run_again(monkeypatch):
    monkeypatch.setattr("srcgrad.parallel.executors._another", lambda broken: Shuffled(2, 1))
    RAN.clear()
    assert grad(dies_once, executor=Breaks())(3.0, [partial(noted, number) for number in range(12)]) == 66.0
    assert report().rebuilt == 1 and report().again == 1 and report().shards == 12
    assert sorted(RAN) == [0, *range(12)]  # a worker looks at the first one again, once it has a program for its kind


def test_a_worker_that_dies_again_is_given_up(tmp_path):
    with ProcessPoolExecutor(1, mp_context=FORKSERVER) as pool:
        with pytest.raises(WorkerLost) as caught:
            grad(dies_once, executor=pool)(3.0, [1.0, DiesOnce(tmp_path, 9)])
        text = str(caught.value)
        assert text.startswith("a worker died twice in one call, with shard 1 not done: BrokenProcessPool: ")
        assert "hint: it may have run out of memory" in str(caught.value)
        assert isinstance(caught.value.__cause__, BrokenExecutor)


def test_a_worker_that_does_not_return_is_killed(monkeypatch):
    monkeypatch.setattr("srcgrad.parallel.scheduling.GRACE", 0.5)
    with ProcessPoolExecutor(1, mp_context=FORKSERVER) as pool:
        map(abs, [1], executor=pool)
        begin = time.monotonic()
        with pytest.raises(TimeoutError, match="^shard 0 took longer than its time limit of 0.2 s, and does not stop"):
            map(time.sleep, [60.0], executor=pool, timeout=0.2)
        assert time.monotonic() - begin < 20.0
