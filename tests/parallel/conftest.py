"""Executors that all tests of the folder share, started once: each costs about a second."""

from __future__ import annotations

import importlib.util
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

SPAWN = multiprocessing.get_context("spawn")
FORKSERVER = multiprocessing.get_context("forkserver")  # its processes start in a tenth of the time
FORKSERVER.set_forkserver_preload(["srcgrad.parallel.work", "tests.parallel.losses"])


class Shuffled(Executor):
    """Workers that share nothing with the client but the process, and finish in random order."""

    def __init__(self, workers: int, seed: int) -> None:
        self._max_workers = workers
        self._threads = ThreadPoolExecutor(workers)
        self._random = random.Random(seed)
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.futures.append(self._threads.submit(self._late, self._random.random() * 0.004, fn, *args, **kwargs))
        return self.futures[-1]

    @staticmethod
    def _late(delay: float, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        time.sleep(delay)
        return fn(*args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)


def missing(module: str) -> bool:
    return importlib.util.find_spec(module) is None


@pytest.fixture(scope="session")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes."""
    with ProcessPoolExecutor(2, mp_context=SPAWN) as pool:
        yield pool


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A client of two worker processes."""
    if missing("distributed"):
        pytest.skip("Dask is not installed: pip install 'srcgrad[dask]'")
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set({"distributed.worker.daemon": True, "distributed.admin.tick.interval": "1s"}):
        with LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
            yield client
