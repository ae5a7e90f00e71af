"""What changes on the client between two shards or two calls changes no result silently."""

from __future__ import annotations

import collections
import collections.abc
import enum
import sys
import time
from collections import defaultdict, deque
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from srcgrad import ArgumentError, parallel
from srcgrad.parallel import grad, hvp, jvp
from srcgrad.parallel.errors import SendingError, ShardError
from srcgrad.parallel.fingerprints import fingerprint
from tests.parallel import inner_settings, settings, stale
from tests.parallel.test_same_bits import W

OTHER = "differs between the client and a worker"


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


class Point:
    def __init__(self, v):
        self.v = v


def test_what_is_read_by_name_in_data_is_compared(processes, monkeypatch):
    """Of loaders, of the classes of objects, and of functions in containers."""
    calls = [
        lambda: grad(stale.by_object, executor=processes)(1.0, [2.0]),
        lambda: grad(stale.by_argument, executor=processes)(1.0, [2.0], stale.Level()),
        lambda: grad(stale.by_table, executor=processes)(1.0, [2.0]),
        lambda: grad(stale.product, executor=processes)(1.0, [partial(stale.loaded, 2.0)]),
        lambda: parallel.map(partial(stale.scaled), [2.0], executor=processes)[0],
        lambda: grad(stale.product, executor=processes, weights=partial(stale.scaled))(1.0, [2.0]) / 2.0,
        lambda: parallel.map(np.vectorize(stale.scaled), [np.array(2.0)], executor=processes)[0],
    ]
    assert [float(call()) for call in calls] == [2.0] * len(calls)
    monkeypatch.setattr(stale, "SCALE", 10.0)
    for call in calls:
        with pytest.raises(SendingError, match=OTHER):
            call()
    monkeypatch.undo()
    assert [float(call()) for call in calls] == [2.0] * len(calls)


@pytest.mark.parametrize(
    "helper, module, name, other",
    [
        (stale.inner_read, inner_settings, "SHIFT", 5.0),
        (stale.imported, inner_settings, "SHIFT", 5.0),
        (stale.by_name, settings, "FACTOR", 5.0),
        (stale.chosen, stale, "CHOSEN", stale.second),
    ],
    ids=["a module in a module", "an import inside", "a name in a text", "one of two functions that are read"],
)
def test_what_a_helper_reads_otherwise_is_compared(processes, monkeypatch, helper, module, name, other):
    call = lambda: parallel.map(helper, [2.0], executor=processes)
    expected = call()
    assert expected == [helper(2.0)]
    monkeypatch.setattr(module, name, other)
    assert expected != [helper(2.0)]
    with pytest.raises(SendingError, match=OTHER):
        call()


def test_what_a_digest_tells_apart(monkeypatch):
    class Kind(enum.Enum):
        ONE = 1

    class Other(enum.Enum):
        ONE = 2

    pairs = [
        ([stale.first, stale.second, stale.first], [stale.first, stale.second, stale.second]),
        (Kind.ONE, Other.ONE),
        (deque([stale.first]), deque([stale.second])),
        (defaultdict(int), defaultdict(float)),
        (property(stale.first, stale.first), property(stale.first, stale.second)),
        (np.vectorize(stale.first), np.vectorize(stale.second)),
    ]
    Other.__qualname__ = Kind.__qualname__
    for one, other in pairs:
        assert fingerprint(one) == fingerprint(one) != fingerprint(other), one
    attributes = lambda: fingerprint(stale.joined)
    before = attributes()
    monkeypatch.setattr(stale.joined, "scale", 3.0, raising=False)
    assert attributes() != before


def test_shards_of_two_kinds_have_their_own_closures():
    def times(k):
        return lambda w: w * k

    def both(w, shard):
        return shard[0](w) * shard[1]

    two, thirty = times(2.0), times(30.0)
    assert grad(both)(1.0, [(two, 1.0), (thirty, 1.0), (two, 1.0)]) == 34.0


@pytest.mark.parametrize("kind", [list, iter], ids=["list", "iterator"])
def test_what_is_one_object_stays_one(kind):
    point = Point(1.0)
    one = grad(lambda w, shard, a, b: w * shard * (2.0 if a is b else 1.0))
    assert one(1.0, kind([1.0]), point, point) == 2.0


class Named(dict):
    pass


def test_what_an_iterator_makes_keeps_its_class():
    assert parallel.map(lambda item: type(item).__name__, iter([Named(), [1]])) == ["Named", "list"]
    point = Point(1.0)
    assert parallel.map(lambda item: item, {0: point}.values())[0] is point
    with pytest.raises(ArgumentError, match="a memoryview cannot be"):
        parallel.map(len, iter([memoryview(b"12")]))


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("what", ["parameters", "direction", "buffers"])
def test_an_iterator_may_change_anything(what, executor, processes):
    chosen = processes if executor == "processes" else None
    w, v = np.ones(2), np.ones(2)

    def shards():
        for k in range(6):
            yield np.ones(2, [np.float64, np.float32][k % 2])
            (w if what == "parameters" else v)[:] = 5.0

    if what == "parameters":
        np.testing.assert_array_equal(grad(lambda w, s: np.sum(w * w * s), executor=chosen)(w, shards()), [12.0, 12.0])
    elif what == "direction":
        tangent = jvp(lambda w, s: np.sum(w * w * s), executor=chosen, in_flight=1)(w, shards(), v)[1]
        assert tangent == 24.0
    else:

        def buffers():
            held, kept = bytearray(1), set()
            for k in range(4):
                held[0] = k
                kept.clear()
                kept.add(k)
                yield {"held": held, "kept": kept}

        found = parallel.map(stale.read_buffers, buffers(), executor=chosen)
        assert found == [0, 2, 4, 6]


def test_a_reduction_may_work_in_place():
    def into(left, right):
        left[0][...] += right[0]
        left[1][...] += right[1]
        return left

    value, tangent = jvp(lambda w, s: w, reduce=into)(np.ones(2), [1.0] * 8, np.ones(2))
    np.testing.assert_array_equal(value, [8.0, 8.0])
    np.testing.assert_array_equal(tangent, [8.0, 8.0])


def test_relative_paths_are_those_of_the_client(processes, tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.full(2, 3.0))
    parallel.map(len, ["warm", "up"], executor=processes)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(grad(weighted, executor=processes)(np.ones(2), [Path("a.npy")]), [3.0, 3.0])


@pytest.mark.parametrize(
    "weights, text",
    [({0: 1.0}, "^weights is "), ({1.0}, "^weights is "), (["2"], "^weights holds '2'"), ([None], "holds None")],
)
def test_weights_are_numbers_in_order(weights, text):
    with pytest.raises(ArgumentError, match=text):
        grad(weighted, weights=weights)(np.ones(2), [np.ones(2)])


def test_chunks_keep_the_class_of_arrays():
    for array in (np.ma.MaskedArray(np.ones(4), [0, 1, 0, 1]), np.matrix(np.ones((4, 1)))):
        with pytest.raises(ArgumentError):
            grad(lambda w, s: w * np.sum(s), chunks=2)(1.0, array)
    pair = collections.namedtuple("pair", "x y")(np.ones(4), np.ones(4))
    assert grad(lambda w, s: w * np.sum(s.x * s.y), chunks=2)(1.0, pair) == 4.0


class Quiet(BaseException):
    def __str__(self):
        raise ValueError("no text")


def test_whatever_a_shard_raises_names_it():
    def fails(item):
        raise Quiet

    with pytest.raises(ShardError, match=r"shard 0 raised Quiet: \(its text raises ValueError\)"):
        parallel.map(fails, [1])


def test_a_time_limit_may_be_endless():
    assert grad(lambda w, s: w * s, timeout=float("inf"))(1.0, [1.0, 2.0]) == 3.0
    with pytest.raises(ArgumentError, match="^timeout is '5'"):
        grad(weighted, timeout="5")


def test_a_counter_keeps_its_counts():
    counts = collections.Counter(a=3)
    for shards in ([1.0], iter([1.0])):
        loss = grad(lambda w, s, c: w * s * c["a"], weights=iter([1.0]))
        assert loss(1.0, shards, counts) == 3.0


class Lazy(collections.abc.Mapping):
    """A mapping that gives one buffer for each key."""

    def __init__(self):
        self.buffer = np.zeros(1)

    def __getitem__(self, key):
        self.buffer[0] = key
        return self.buffer

    def __iter__(self):
        return iter(range(6))

    def __len__(self):
        return 6


class Refilling(list):
    def __iter__(self):
        return refilled(6)


@pytest.mark.parametrize("shards", [Lazy().values(), Refilling([0] * 6)], ids=["view", "list"])
def test_what_runs_code_when_it_is_iterated_is_an_iterator(shards):
    assert grad(lambda w, s: w * s[0])(1.0, shards) == 15.0


class Adding:
    def __init__(self):
        self.buffer = np.zeros(1)

    def __call__(self, item=0.0):
        return float(item + self.buffer[0])


def test_functions_and_callable_items_are_kept_as_they_are():
    adding = Adding()

    def changing(give):
        for k in range(6):
            adding.buffer[0] = k * give
            yield adding if give else k
            adding.buffer[0] = 10.0

    assert parallel.map(adding, changing(0)) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    adding.buffer[0] = 0.0
    assert parallel.map(lambda model: model(), changing(1)) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


POINT, VIEW = Point(1.0), np.ones((4, 6))[:, ::2]
MARK = object()


class Own:
    """An object that says that it is its own copy."""

    def __init__(self, x):
        self.x = x

    def __copy__(self):
        return self


class Fixed:
    __slots__ = ("x",)

    def __init__(self, x):
        object.__setattr__(self, "x", x)

    def __setattr__(self, name, value):
        raise AttributeError("fixed")


def test_copies_are_of_their_own_and_alike():
    found = grad(lambda w, s, p: w * s * (2.0 if p is POINT else 1.0) + 0.0 * np.sum(VIEW))
    assert found(1.0, [1.0], POINT) == 2.0
    assert parallel.map(lambda item: item is MARK, iter([MARK])) == [True]
    own = Own(np.ones(2))
    before = own.x
    assert parallel.map(lambda item: item is own, iter([own])) == [False]
    assert own.x is before
    view = Fixed(np.ones((4, 6))[:, ::2])
    assert grad(lambda w, s, c: w * s * np.sum(c.x))(1.0, [1.0], view) == 12.0

    class Pair(tuple):
        pass

    kinds = parallel.map(lambda item: (type(item).__name__, item[0]), iter([Pair([np.ones(1)]), time.localtime()]))
    assert [kind for kind, _ in kinds] == ["Pair", "struct_time"]


def test_graphs_of_objects_are_looked_through_once(processes):
    nested = [1.0]
    for _ in range(40):
        nested = [nested, nested]
    assert parallel.map(len, [nested]) == [2]
    assert parallel.map(stale.of_nodes, [2.0], executor=processes) == [2.0]
    assert parallel.map(stale.of_node, [stale.Node()], executor=processes) == [1.0]


def test_what_python_keeps_in_a_class_is_no_difference(processes):
    assert stale.Mode.ONE | stale.Mode.TWO
    assert parallel.map(type, [stale.Mode.ONE], executor=processes) == [stale.Mode]
    assert parallel.map(stale.dispatched, [2.0], executor=processes) == [4.0]


def test_fields_beside_a_wrapped_function_or_items_are_compared(processes, monkeypatch):
    assert parallel.map(stale.of_attributes, [1.0], executor=processes) == [2.0]
    before = fingerprint(stale.wrapped)
    monkeypatch.setattr(stale.wrapped, "scale", 5.0)
    assert fingerprint(stale.wrapped) != before
    monkeypatch.setattr(stale.ATTRIBUTES, "scale", 5.0)
    with pytest.raises(SendingError, match=OTHER):
        parallel.map(stale.of_attributes, [1.0], executor=processes)


def test_long_chains_of_calls_have_a_digest():
    space = {"f0": lambda x: x}
    for k in range(1, 2000):
        exec(f"def f{k}(x): return f{k - 1}(x)", space)
    assert fingerprint(space["f1999"]) == fingerprint(space["f1999"])


def test_modules_that_a_function_without_a_module_reads_are_compared(monkeypatch):
    loky = pytest.importorskip("loky")
    read = lambda item: item * stale.SCALE
    with loky.ProcessPoolExecutor(1) as pool:
        assert parallel.map(read, [2.0], executor=pool) == [2.0]
        monkeypatch.setattr(stale, "SCALE", 10.0)
        with pytest.raises(SendingError, match=OTHER):
            parallel.map(read, [2.0], executor=pool)
