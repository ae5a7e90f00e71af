"""Errors name the shard, the user's line, and what to do."""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from srcgrad.errors import ArgumentError, UnsupportedSyntax
from srcgrad.parallel import SendingError, ShardError, ShardTimeout, grad, hvp, jvp, map, value_and_grad  # noqa: A004
from srcgrad.parallel.deadline import Expired, within
from srcgrad.parallel.errors import Failure
from tests.parallel.losses import only_positive, residuals, shards_of, squares

W = np.linspace(-1.0, 1.0, 4)
RAISES = only_positive.__code__.co_firstlineno + 3
MULTIPLIES = squares.__code__.co_firstlineno + 2


@pytest.fixture(params=["threads", "processes"])
def executor(request, processes):
    return processes if request.param == "processes" else None


def message(call):
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), str(caught.value).replace(f"{os.getcwd()}/", "")


def test_a_shard_that_raises_is_named_with_the_users_line(executor):
    shards = [(x, np.abs(y)) for x, y in shards_of(9)]
    shards[5] = (shards[5][0], -shards[5][1])
    g = value_and_grad(only_positive, executor=executor)
    with pytest.raises(ShardError) as caught:
        g(W, shards)
    assert str(caught.value) == (
        "shard 5 raised ValueError: a target is negative\n"
        f"  tests/parallel/losses.py:{RAISES}, in only_positive\n"
        f'    {RAISES} |         raise ValueError("a target is negative")\n'
        "       |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
    )
    assert caught.value.shard == 5
    cause = caught.value.__cause__
    assert type(cause) is ValueError and str(cause) == "a target is negative"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_wrong_shapes_between_shards(executor):
    shards = [*shards_of(3), *shards_of(1, columns=5)]
    kind, text = message(lambda: grad(squares, executor=executor)(W, shards))
    assert kind is ShardError and text.startswith("shard 3 raised ValueError: matmul: Input operand 1 has a mismatch")
    assert text.endswith(
        f"  tests/parallel/losses.py:{MULTIPLIES}, in squares\n"
        f"    {MULTIPLIES} |     e = np.tanh(x @ w) - y\n"
        "       |                 ^^^^^"
    )


def test_results_of_different_shapes_are_named(executor):
    shards = [*shards_of(3), *shards_of(1, rows=5)]
    kind, text = message(lambda: jvp(residuals, executor=executor)(W, shards, W))
    assert kind is ShardError
    assert text == "shard 2 and shard 3 cannot be combined: shapes (7,) and (5,) differ at [0]['errors']"


def test_no_shards(executor):
    for shards in ([], iter(()), ()):
        assert message(lambda: value_and_grad(squares, executor=executor)(W, shards)) == (
            ArgumentError,
            "there are no shards: a sum of nothing has no value\n  hint: give at least one shard",
        )


def test_a_loader_that_raises_is_named_with_its_line(executor):
    kind, text = message(lambda: grad(squares, executor=executor)(W, [broken_loader]))
    assert kind is ShardError
    assert text == (
        "shard 0 raised ZeroDivisionError: division by zero\n"
        f"  tests/parallel/test_errors.py:{LINE}, in broken_loader\n"
        f"    {LINE} |     return 1 / 0\n"
        "       |     ^^^^^^^^^^^^"
    ).replace("       |", " " * (len(str(LINE)) + 5) + "|")


def broken_loader():
    return 1 / 0


LINE = broken_loader.__code__.co_firstlineno + 1


class Unpicklable(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.held = lambda: None


def refuses(w, shard):
    if shard > 0:
        raise Unpicklable("one", "two")
    return w * shard


def test_an_exception_that_does_not_pickle_arrives_as_text(executor):
    g = grad(refuses, executor=executor)
    text = "^shard 1 raised Unpicklable: one and two\n  tests/parallel/test_errors.py:"
    with pytest.raises(ShardError, match=text) as e:
        g(2.0, [0.0, 1.0])
    assert e.value.__cause__ is None and 'raise Unpicklable("one", "two")' in str(e.value)


def test_an_exception_that_pickles_and_cannot_be_read_arrives_as_text():
    failure = Failure(1, "shard 1 raised X", pickled=b"no pickle")
    assert failure.error().__cause__ is None and str(failure.error()) == "shard 1 raised X"


def test_a_result_that_is_no_number_is_refused_with_its_shard(executor):
    kind, text = message(lambda: grad(vector, executor=executor)(W, [1.0]))
    assert text.startswith(
        "shard 0 raised SeedError: the gradient of a function needs one real number, but it returned an array of shape"
    )


def vector(w, shard):
    return w * shard


def test_what_cannot_be_differentiated_is_refused_here(executor):
    with pytest.raises(UnsupportedSyntax):
        grad(generator, executor=executor)(2.0, [1.0])


def generator(w, shard):
    yield w


# --- what cannot be sent ---------------------------------------------------------------------------------------------
def test_a_shard_that_cannot_be_sent(processes):
    kind, text = message(lambda: grad(squares, executor=processes)(W, [*shards_of(2), lambda: None]))
    assert kind is SendingError and text.startswith("shard 2 cannot be sent to a worker: ") and "<lambda>" in text
    assert text.endswith(
        "  hint: a function of a module can be sent, and functools.partial of one; so can arrays and plain data"
    )


def test_a_function_that_cannot_be_sent(processes):
    kind, text = message(lambda: map(lambda x: x, [1], executor=processes))
    assert kind is SendingError and text.startswith("the function cannot be sent to a worker: ") and "<lambda>" in text
    kind, text = message(lambda: grad(squares, executor=processes, reduce=lambda a, b: a)(W, shards_of(2)))
    assert kind is SendingError and text.startswith("reduce cannot be sent to a worker: ")
    kind, text = message(lambda: grad(squares, executor=processes, weights=lambda s: 1.0)(W, shards_of(2)))
    assert kind is SendingError and text.startswith("weights cannot be sent to a worker: ")


def test_a_lambda_is_differentiated_and_sent_as_text(processes):
    assert grad(lambda w, shard: w * w * shard, executor=processes)(3.0, [1.0, 2.0]) == 18.0


def test_an_argument_that_cannot_be_sent(processes):
    kind, text = message(lambda: grad(with_lock, executor=processes)(2.0, [1.0], {"lock": threading.Lock()}))
    assert kind is SendingError and text.startswith("argument extra cannot be sent to a worker: ")
    assert "cannot pickle '_thread.lock' object" in text


def with_lock(w, shard, extra):
    return w * shard


def test_a_result_that_cannot_be_sent_back(processes):
    kind, text = message(lambda: map(closure, [1], executor=processes))
    assert kind is SendingError and text.startswith("the result of shard 0 cannot be sent back: ")


def closure(x):
    return lambda: x


def test_what_a_worker_cannot_import(processes, monkeypatch, tmp_path):
    (tmp_path / "only_here.py").write_text("def count(n):\n    return n + 1\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("only_here", tmp_path / "only_here.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "only_here", module)
    monkeypatch.setitem(globals(), "only_here", module)
    kind, text = message(lambda: grad(reads_module, executor=processes)(2.0, [1.0]))
    assert kind is SendingError
    assert text == (
        "a worker cannot import only_here.count: No module named 'only_here'\n"
        "  hint: install on the workers what the client imports"
    )


def reads_module(w, shard):
    return w * shard * only_here.count(1)  # noqa: F821


# --- time limits -----------------------------------------------------------------------------------------------------
def slow(w, shard):
    total = w * 0.0
    for _ in range(int(shard)):
        total = total + w * 1e-9
    return total


def test_a_slow_shard_is_named(executor):
    assert message(lambda: grad(slow, executor=executor, timeout=0.5)(2.0, [1.0, 2.0, 1e12, 1.0])) == (
        ShardTimeout,
        "shard 2 took longer than its time limit of 0.5 s",
    )
    assert grad(slow, executor=executor, timeout=60.0)(2.0, [1.0, 2.0, 3.0]) == pytest.approx(6e-9)


def test_a_timeout_of_the_users_own_is_no_time_limit():
    def loader():
        raise TimeoutError("of a socket")

    assert message(lambda: grad(slow)(2.0, [loader]))[1].startswith("shard 0 raised TimeoutError: of a socket")


def test_a_call_that_cannot_be_interrupted_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("srcgrad.parallel.scheduling.GRACE", 0.2)
    with ThreadPoolExecutor(2) as threads:
        begin = time.monotonic()
        kind, text = message(lambda: map(time.sleep, [0.0, 1.5], executor=threads, timeout=0.3))
        assert time.monotonic() - begin < 1.3
    assert kind is ShardTimeout and text == (
        "shard 1 took longer than its time limit of 0.3 s, and does not stop\n"
        "  hint: a call of a compiled function cannot be interrupted; its worker was ended if it is a process"
    )


def test_a_limit_leaves_nothing_behind():
    """No exception arrives after a call that was done in time, however close."""
    for _ in range(200):
        try:
            within(1e-4, lambda: sum(range(300)))
        except Expired:
            pass
    time.sleep(0.01)


# --- what is asked for -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: grad(squares, reduce="max"), "reduce is 'sum', 'mean' or a function of two results, not 'max'"),
        (lambda: grad(squares, in_flight=0), "in_flight is 0: at least one shard is in flight"),
        (lambda: grad(squares, timeout=0.0), "timeout is 0.0: a time limit is more than 0 seconds"),
        (
            lambda: grad(squares, 1)(W, shards_of(2)),
            "argnums names shard, the shard: its derivative would be one per shard\n"
            "  hint: srcgrad.parallel.map gives the results of all shards",
        ),
        (lambda: grad(squares, weights=[1.0])(W, shards_of(2)), "there are 1 weights, and more shards"),
        (lambda: grad(squares, weights=[1.0] * 3)(W, shards_of(2)), "there are 2 shards, and more weights"),
        (
            lambda: grad(squares, weights=[1.0, -1.0], reduce="mean")(W, shards_of(2)),
            "the weights add up to 0: there is no mean",
        ),
        (
            lambda: grad(squares, executor=3)(W, shards_of(2)),
            "executor is a int\n"
            "  hint: None for threads, an executor of concurrent.futures, loky or mpi4py.futures, or a Client of Dask",
        ),
        (lambda: grad(squares)(np.ones(4, int), shards_of(2)), None),
        (lambda: hvp(squares)(W, shards_of(2)), "the parameters, the shards and then the vector are expected"),
        (lambda: map(3, []), "map takes a function, not a int"),
        (lambda: jvp(grad_of_one), None),
    ],
)
def test_what_is_asked_for_is_looked_at(call, text):
    with pytest.raises(ArgumentError) as caught:
        call()
    assert text is None or str(caught.value) == text


def test_a_direction_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"argument w has shape \(4,\), the seed \(3,\)"):
        hvp(squares)(W, shards_of(2), np.ones(3))


def single(w):
    return w * w


grad_of_one = __import__("srcgrad").grad(single)
