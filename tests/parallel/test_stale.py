"""What changes on the client between two shards or two calls changes no result silently."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import srcgrad
from srcgrad import ArgumentError, parallel
from srcgrad.parallel import grad, hvp, jvp
from srcgrad.parallel.errors import SendingError, ShardError
from tests.parallel import stale
from tests.parallel.test_same_bits import W

OTHER = "is another one in a worker than on the client"


def refilled(count):
    buffer = np.zeros(2)
    for k in range(count):
        buffer[:] = k
        yield buffer


def weighted(w, shard):
    return np.sum(w * shard)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_an_iterator_may_fill_one_buffer_again(kind, processes):
    executor = processes if kind == "processes" else None
    gradient = grad(weighted, executor=executor)(np.ones(2), refilled(400))
    np.testing.assert_array_equal(gradient, [79800.0, 79800.0])


def test_an_iterator_may_change_the_parameters():
    w = np.ones(2)

    def shards():
        for _ in range(3):
            yield np.ones(2)
            w[:] = 5.0

    np.testing.assert_array_equal(grad(lambda v, s: np.sum(v * v * s))(w, shards()), [6.0, 6.0])


def test_a_helper_that_reads_other_data_in_a_worker_is_refused(processes, monkeypatch):
    gradient = grad(stale.counted, executor=processes)
    assert gradient(1.0, [1.5]) == 0.0
    monkeypatch.setitem(stale.TABLE, "least", 1.0)
    with pytest.raises(SendingError, match=OTHER):
        gradient(1.0, [1.5])
    monkeypatch.undo()
    assert gradient(1.0, [1.5]) == 0.0


def test_weights_reduce_and_map_are_compared(processes, monkeypatch):
    calls = [
        lambda: grad(stale.product, executor=processes, weights=stale.scaled)(1.0, [1.0, 2.0]),
        lambda: grad(stale.product, executor=processes, reduce=stale.joined)(1.0, [1.0, 2.0]),
        lambda: parallel.map(stale.scaled, [1.0], executor=processes),
    ]
    assert [call() for call in calls] == [5.0, 3.0, [1.0]]
    monkeypatch.setattr(stale, "SCALE", 10.0)
    for call in calls:
        with pytest.raises(SendingError, match=OTHER):
            call()


def test_a_helper_that_reads_an_object_is_the_same_in_a_worker(processes):
    assert grad(stale.powers, executor=processes)(1.0, [3.0]) == 9.0


def test_what_a_mapped_function_changes_is_gone_in_the_next_call(processes):
    assert parallel.map(stale.notes, [1], executor=processes) == [1]
    assert parallel.map(stale.notes, [2], executor=processes) == [1]


def test_a_mapped_gradient_refuses_what_a_gradient_refuses():
    with pytest.raises(ArgumentError, match="argument x is the integer 1"):
        parallel.map(srcgrad.grad(lambda x: x * x), [1, 2])


def test_truth_values_are_not_added():
    with pytest.raises(ShardError, match="truth values are not added"):
        jvp(lambda w, s: (w * s, w > 0.0))(1.0, [1.0, 2.0], 1.0)


def test_directions_beside_a_shard_in_variable_arguments_are_refused():
    with pytest.raises(ArgumentError, match=r"the shard stands in \*args"):
        hvp(lambda w, *args: w * w * args[0] * args[1] ** 2, 2)(2.0, [1.0], 3.0, 1.0)


def test_a_shard_may_raise_what_ends_a_program_or_a_time_limit():
    with pytest.raises(ShardError, match="shard 0 raised SystemExit: 3"):
        parallel.map(sys.exit, [3])

    def slow():
        raise TimeoutError("of a socket")

    with pytest.raises(ShardError, match="shard 0 raised TimeoutError: of a socket"):
        grad(weighted, timeout=60.0)(W, [slow])


@pytest.mark.parametrize(
    "chosen", [{"chunks": 2.0}, {"chunks": "2"}, {"weights": 2.0}, {"weights": "12"}, {"in_flight": "2"}], ids=str
)
def test_choices_of_another_type_are_named(chosen):
    (name,) = chosen
    with pytest.raises(ArgumentError, match=f"^{name} is "):
        grad(weighted, **chosen)(np.ones(2), np.ones((4, 2)) if "chunks" in chosen else [np.ones(2)])


def test_weights_are_closed():
    closed = []

    def weights():
        try:
            yield 1.0
            yield 1.0
        finally:
            closed.append(True)

    with pytest.raises(ShardError):
        grad(lambda w, s: w / s[0], weights=weights())(1.0, [[1.0], []])
    assert closed
