"""Dask: its futures and collections, its faults; the same bits."""

from __future__ import annotations

import os
import threading
import time
import warnings

import numpy as np
import pytest

from srcgrad.errors import ArgumentError
from srcgrad.parallel import (
    SendingError,
    ShardError,
    ShardTimeout,
    WorkerLost,
    grad,
    hvp,
    map,  # noqa: A004
    report,
    value_and_grad,
)
from tests.parallel.conftest import missing
from tests.parallel.losses import bits, made_of, only_positive, product, shards_of, squares
from tests.parallel.test_errors import RAISES, Unpicklable, message, slow
from tests.parallel.test_faults import DiesOnce, Late, killed_calls
from tests.parallel.test_same_bits import SHARDS, V, W, everything, serial

pytestmark = pytest.mark.skipif(missing("distributed"), reason="Dask is not installed: pip install 'srcgrad[dask]'")


def test_the_same_bits(dask_client):
    assert everything(dask_client) == serial()
    assert bits(value_and_grad(squares, executor=dask_client, in_flight=3)(W, iter_once())) == serial()[0]


def iter_once():
    class Again:
        def __iter__(self):
            return iter(SHARDS)

    return Again()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.costly(1)
def test_any_number_of_workers(workers):
    from distributed import Client, LocalCluster

    with LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        assert everything(client) == serial()


def arrays():
    x, y = np.concatenate([s[0] for s in SHARDS]), np.concatenate([s[1] for s in SHARDS])
    return x, y


def expected():
    return bits(value_and_grad(squares)(W, SHARDS))


@pytest.mark.parametrize("persisted", [False, True])
@pytest.mark.costly(1, first=1)
def test_arrays_stay_where_they_are(dask_client, persisted):
    import dask.array as da

    x, y = (da.from_array(part, chunks=(7, *part.shape[1:])) for part in arrays())
    if persisted:
        x, y = dask_client.persist([x, y])
    assert bits(value_and_grad(squares, executor=dask_client)(W, (x, y))) == expected()
    assert report().sent < 20_000  # the program and the parameters, not the data
    assert bits(hvp(squares, executor=dask_client)(W, (x, y), V)) == bits(hvp(squares)(W, SHARDS, V))
    z = da.from_array(np.arange(12.0).reshape(4, 3), chunks=(2, 2))
    assert grad(total, executor=dask_client)(2.0, z) == 66.0


def total(w, shard):
    return w * np.sum(shard)


def test_delayed_values_bags_and_futures(dask_client):
    import dask
    import dask.bag as db

    delayed = [dask.delayed(shard) for shard in SHARDS]
    assert bits(value_and_grad(squares, executor=dask_client)(W, delayed)) == expected()
    futures = dask_client.scatter(SHARDS, hash=False)
    assert bits(value_and_grad(squares, executor=dask_client)(W, futures)) == expected()
    pairs = [(dask.delayed(x), y) for x, y in SHARDS]
    assert bits(value_and_grad(squares, executor=dask_client)(W, pairs)) == expected()
    bag = db.from_sequence([1.0, 2.0, 3.0, 4.0], npartitions=2)
    assert grad(listed, executor=dask_client)(2.0, bag) == 10.0


def listed(w, shard):
    return w * sum(shard)


def test_shards_of_several_kinds(dask_client):
    import dask

    ones = dask.delayed(np.ones)
    mixed = [1.0, ones(3), 2.0, ones((2, 2)), Late(np.float32(0.5)), Late(np.zeros(0))]
    assert grad(total, executor=dask_client)(2.0, mixed) == 10.5
    assert report().compiled == 4 and report().shards == 6
    assert grad(total, executor=dask_client, weights=[1.0, 2.0, 1.0, 1.0, 1.0, 1.0])(2.0, mixed) == 13.5


def test_no_two_tasks_share_a_name(dask_client, monkeypatch):
    """A shard of a kind that was not known runs again: under its old name the scheduler could give the old result."""
    names = []
    map_tasks, submit = dask_client.map, dask_client.submit

    def map_named(*args, key, **kwargs):
        names.extend(key)
        return map_tasks(*args, key=key, **kwargs)

    def submit_named(*args, key, **kwargs):
        names.append(key)
        return submit(*args, key=key, **kwargs)

    monkeypatch.setattr(dask_client, "map", map_named)
    monkeypatch.setattr(dask_client, "submit", submit_named)
    assert grad(total, executor=dask_client)(2.0, [Late(1.0), Late(np.ones(3)), Late(np.ones((2, 2)))]) == 8.0
    assert report().again >= 2 and len(names) > 5
    assert len(set(names)) == len(names)


def test_closures_lambdas_and_maps(dask_client):
    offset = np.linspace(0.0, 1.0, 7)
    here = value_and_grad(made_of(2.0, offset), reduce=lambda a, b: a if a[0] > b[0] else b)(W, SHARDS)
    there = value_and_grad(made_of(2.0, offset), executor=dask_client, reduce=lambda a, b: a if a[0] > b[0] else b)
    assert bits(here) == bits(there(W, SHARDS))
    assert map(lambda x: x + 1, range(30), executor=dask_client) == list(range(1, 31))
    assert map(lambda x: x + 1, [], executor=dask_client) == []
    assert bits(grad(squares, executor=dask_client, weights=lambda s: 2.0, reduce="mean")(W, SHARDS)) == bits(
        grad(squares, weights=lambda s: 2.0, reduce="mean")(W, SHARDS)
    )


def test_large_parameters_are_scattered(dask_client):
    big = np.linspace(0.0, 1.0, 300_000)
    assert bits(grad(summed_squares, executor=dask_client)(big, [1.0, 2.0, 3.0])) == bits(
        grad(summed_squares)(big, [1.0, 2.0, 3.0])
    )
    assert report().sent < 2 * big.nbytes


def summed_squares(w, shard):
    return np.sum(w * w) * shard


def test_tasks_have_names_of_their_own(dask_client):
    from distributed.utils import key_split

    names, is_done = set(), threading.Event()

    def record(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks]

    def watch():
        while not is_done.wait(0.02):
            names.update(dask_client.run_on_scheduler(record))

    watching = threading.Thread(target=watch)
    watching.start()
    grad(product, executor=dask_client)(2.0, [Late(1.0)] * 60)
    is_done.set()
    watching.join()
    assert {"grad_product", "srcgrad_step"} <= {key_split(name) for name in names}


# --- faults ----------------------------------------------------------------------------------------------------------
def living(client):
    """The processes of the workers that have joined: a nanny gives up one that dies while it starts."""
    joined = set(client.cluster.scheduler.workers)
    nannies = [nanny for nanny in client.cluster.workers.values() if nanny.worker_address in joined]
    processes = [nanny.process and nanny.process.process for nanny in nannies]
    return [process.pid for process in processes if process is not None]


def refilled(client):
    """Two workers again: a nanny gives up after many restarts, and a call without any worker waits for one."""
    for _ in range(300):
        client.cluster.scale(2)
        if len(living(client)) == 2:
            return
        time.sleep(0.1)
    pytest.fail("the cluster has lost its workers")


@pytest.mark.slow
@pytest.mark.parametrize("calls", [2, pytest.param(200, marks=pytest.mark.nightly)])
def test_workers_that_are_killed_at_random_moments(calls):
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 10, "distributed.comm.timeouts.connect": "5s"}
    with dask.config.set(settings):
        with LocalCluster(2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
            with Client(cluster) as client:
                killed, _ = killed_calls(client, lambda: living(client), calls, calls, 0.3, lambda: refilled(client))
    assert killed >= calls // 2


def test_a_shard_that_kills_its_workers_is_named(tmp_path):
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        with LocalCluster(1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
            with Client(cluster) as client:
                with pytest.raises(WorkerLost) as caught:
                    grad(product, executor=client, in_flight=1)(2.0, [1.0, DiesOnce(tmp_path, 9)])
    assert str(caught.value).startswith("workers died again and again while shard 1 ran, and Dask gave up: ")
    assert "hint: distributed.scheduler.allowed-failures says how often" in str(caught.value)


def test_a_shard_that_raises(dask_client):
    shards = [(x, np.abs(y)) for x, y in shards_of(9)]
    shards[5] = (shards[5][0], -shards[5][1])
    with pytest.raises(ShardError) as caught:
        grad(only_positive, executor=dask_client)(W, shards)
    text = str(caught.value).replace(f"{os.getcwd()}/", "")
    assert text.startswith("shard 5 raised ValueError: a target is negative\n  tests/parallel/losses.py:")
    assert f":{RAISES}, in only_positive" in text
    assert type(caught.value.__cause__) is ValueError and caught.value.shard == 5


def refuses(w, shard):
    if shard > 0:
        raise Unpicklable("one", "two")
    return w * shard


def test_an_exception_that_does_not_pickle(dask_client):
    with pytest.raises(ShardError, match="^shard 1 raised Unpicklable: one and two\n  tests/parallel/test_dask.py:"):
        grad(refuses, executor=dask_client)(2.0, [0.0, 1.0])


def test_a_loader_that_raises_before_anything_is_compiled(dask_client):
    kind, text = message(lambda: grad(product, executor=dask_client)(2.0, [lambda: 1 / 0]))
    assert kind is ShardError and text.startswith("shard 0 raised ZeroDivisionError: division by zero")


def test_a_slow_shard(dask_client):
    assert message(lambda: grad(slow, executor=dask_client, timeout=0.5)(2.0, [1.0, 2.0, 1e12, 1.0])) == (
        ShardTimeout,
        "shard 2 took longer than its time limit of 0.5 s",
    )


def test_what_cannot_be_sent(dask_client):
    lock = threading.Lock()
    kind, text = message(lambda: map(abs, [1, lock], executor=dask_client))
    assert kind is SendingError and text.startswith("shard 1 cannot be sent to a worker: cannot pickle")
    kind, text = message(lambda: map(lambda x: lock, [1], executor=dask_client))
    assert kind is SendingError and text.startswith("the function cannot be sent to a worker: cannot pickle")


def test_no_shards(dask_client):
    kind, text = message(lambda: grad(product, executor=dask_client)(2.0, []))
    assert kind is ArgumentError and text.startswith("there are no shards: a sum of nothing has no value")


def test_collections_need_a_client_and_chunks_that_fit(dask_client):
    import dask
    import dask.array as da

    x, y = da.ones(4, chunks=2), da.ones((4, 4), chunks=2)
    for shards in (x, (x, x), [dask.delayed(1.0)]):
        assert message(lambda: grad(product)(2.0, shards)) == (
            ArgumentError,
            "shards are Dask's: only a Client of Dask can run them\n  hint: executor=client",
        )
    g = grad(product, executor=dask_client)
    assert "have blocks of (2, 2) along several axes" in message(lambda: g(2.0, (x, y)))[1]
    assert "have chunks of rows [(2, 2), (4,)]" in message(lambda: g(2.0, (x, x.rechunk(4))))[1]
    assert "holds arrays alone" in message(lambda: g(2.0, (x, 3.0)))[1]
    assert "has chunks of its own" in message(lambda: grad(product, executor=dask_client, chunks=2)(2.0, x))[1]


@pytest.mark.nightly  # on a machine that is busy the scheduler may take long to forget
def test_a_failing_call_leaves_no_tasks_behind(dask_client):
    with pytest.raises(ShardError):
        grad(refuses, executor=dask_client, in_flight=30)(2.0, [0.0, 1.0] + [Late(0.0)] * 200)
    for _ in range(600):
        left = dask_client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        if not left:
            return
        time.sleep(0.05)
    pytest.fail(f"tasks are left on the cluster: {left}")


def test_nothing_warns(dask_client):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(squares, executor=dask_client)(W, SHARDS)

