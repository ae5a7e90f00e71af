"""The same bits from threads, processes, loky, Dask and MPI, for any number of workers and any order of arrival."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial

import numpy as np
import pytest

import srcgrad
from srcgrad.parallel import grad, hvp, jvp, map, report, value_and_grad  # noqa: A004
from srcgrad.parallel.structure import added
from tests.parallel.conftest import SPAWN, Shuffled, missing
from tests.parallel.losses import (
    Model,
    bits,
    made_of,
    nested,
    nested_params,
    residuals,
    shards_of,
    squares,
    with_options,
)

W = np.linspace(-1.0, 1.0, 4)
V = np.array([1.0, -2.0, 0.5, 3.0])
SHARDS = shards_of(37)


def everything(executor, shards=SHARDS, **chosen):
    """Value, gradient and Hessian times a vector; of nested parameters and objects too."""
    params = nested_params()
    return [
        bits(result)
        for result in (
            value_and_grad(squares, executor=executor, **chosen)(W, shards),
            grad(squares, executor=executor, reduce="mean", **chosen)(W, shards),
            hvp(squares, executor=executor, **chosen)(W, shards, V),
            jvp(residuals, executor=executor, **chosen)(W, shards, V),
            value_and_grad(nested, executor=executor, **chosen)(params, shards, 3),
            hvp(nested, executor=executor, **chosen)(params, shards, 3, params),
        )
    ]


@cache
def serial():
    """By the tree's definition and the derivatives of one shard."""

    def tree(results):
        if len(results) == 1:
            return results[0]
        left = 1 << ((len(results) - 1).bit_length() - 1)
        return added(tree(results[:left]), tree(results[left:]))

    def over_shards(derivative, *arguments):
        return tree([derivative(arguments[0], shard, *arguments[1:]) for shard in SHARDS])

    params = nested_params()
    return [
        bits(result)
        for result in (
            over_shards(srcgrad.value_and_grad(squares), W),
            over_shards(srcgrad.grad(squares), W) / len(SHARDS),
            over_shards(srcgrad.hvp(squares), W, V),
            tree([srcgrad.jvp(residuals, (W, shard), (V, None)) for shard in SHARDS]),
            over_shards(srcgrad.value_and_grad(nested), params, 3),
            over_shards(srcgrad.hvp(nested), params, 3, params),
        )
    ]


def test_threads():
    assert everything(None) == serial()


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.costly(1, first=2)
def test_any_number_of_threads(workers):
    with ThreadPoolExecutor(workers) as threads:
        assert everything(threads) == serial()


@pytest.mark.parametrize("workers", [1, 2, 4, 50])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.costly(1, first=2)
def test_any_order_of_arrival(workers, seed):
    with Shuffled(workers, seed) as executor:
        assert everything(executor) == serial()
        assert report().sent > 0


@pytest.mark.parametrize("in_flight", [1, 3, 64])
@pytest.mark.costly(1, first=1)
def test_any_number_in_flight(in_flight):
    with Shuffled(4, 3) as executor:
        assert everything(executor, iter_again(SHARDS), in_flight=in_flight) == serial()


def iter_again(shards):
    """A list that is no sequence: each call iterates over it once more."""

    class Again:
        def __iter__(self):
            return iter(shards)

    return Again()


def test_processes(processes):
    assert everything(processes) == serial()
    assert report().received > 0


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.costly(1)
def test_any_number_of_processes(workers):
    with ProcessPoolExecutor(workers, mp_context=SPAWN) as pool:
        assert everything(pool) == serial()


@pytest.mark.skipif(missing("loky"), reason="loky is not installed: pip install 'srcgrad[parallel]'")
@pytest.mark.parametrize("workers", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))])
@pytest.mark.costly(1)
def test_loky(workers):
    import loky

    assert everything(loky.get_reusable_executor(workers)) == serial()


def test_closures_weights_and_reductions(processes):
    offset = np.linspace(0.0, 1.0, 7)
    weights = [0.5 + number % 3 for number in range(len(SHARDS))]
    means = {"weights": weights, "reduce": "mean"}
    for chosen in ({}, {"weights": weights}, means, {"reduce": larger}, {"weights": rows}):
        here = value_and_grad(made_of(2.0, offset), **chosen)(W, SHARDS)
        there = value_and_grad(made_of(2.0, offset), executor=processes, **chosen)(W, SHARDS)
        assert bits(here) == bits(there)


def larger(left, right):
    return left if left[0] >= right[0] else right


def rows(shard):
    return len(shard[1])


def test_weights_and_means_are_what_they_say():
    one = srcgrad.value_and_grad(squares)
    each = [one(W, shard) for shard in SHARDS]
    values, gradients = np.array([v for v, _ in each]), np.array([g for _, g in each])
    weights = np.arange(1.0, 38.0)
    total, slope = value_and_grad(squares, weights=weights)(W, SHARDS)
    assert total == pytest.approx(weights @ values) and slope == pytest.approx(weights @ gradients)
    mean, slope = value_and_grad(squares, weights=weights, reduce="mean")(W, SHARDS)
    assert mean == pytest.approx(np.average(values, weights=weights))
    assert slope == pytest.approx(np.average(gradients, axis=0, weights=weights))
    assert grad(squares, reduce="mean")(W, SHARDS) == pytest.approx(gradients.mean(axis=0))
    value, slope = value_and_grad(squares, reduce=larger)(W, SHARDS)
    assert value == values.max() and slope.tolist() == gradients[values.argmax()].tolist()


def test_methods_named_arguments_and_other_arguments_than_the_first(processes):
    model = Model(W)
    of_method, of_both, of_third = (
        srcgrad.grad(model.loss), srcgrad.grad(with_options, ("w", "shift")), srcgrad.grad(with_options, 2),
    )  # fmt: skip
    for executor in (None, processes):
        shift = grad(model.loss, executor=executor)(0.5, SHARDS)
        assert shift == pytest.approx(sum(of_method(0.5, shard) for shard in SHARDS))
        both = grad(with_options, ("w", "shift"), executor=executor)(W, SHARDS, 2.0, shift=0.25)
        each = [of_both(W, shard, 2.0, shift=0.25) for shard in SHARDS]
        assert both[0] == pytest.approx(sum(w for w, _ in each)) and both[1] == pytest.approx(sum(s for _, s in each))
        third = grad(with_options, 2, executor=executor)(W, SHARDS, 2.0)
        assert third == pytest.approx(sum(of_third(W, shard, 2.0) for shard in SHARDS))


def test_map(processes):
    points = [np.full(3, 0.1 * k) for k in range(9)]
    for executor in (None, processes):
        assert map(abs, range(-5, 5), executor=executor) == [abs(k) for k in range(-5, 5)]
        assert map(abs, [], executor=executor) == [] == map(abs, iter(()), executor=executor)
        assert bits(map(srcgrad.value_and_grad(cubes), points, executor=executor)) == bits(
            [srcgrad.value_and_grad(cubes)(x) for x in points]
        )
        assert report().compiled == 1


def cubes(x):
    return np.sum(x**3)


def test_shards_of_several_kinds_have_a_program_each(processes):
    mixed = [1.0, np.ones(3), 2.0, np.ones((2, 2)), np.float32(0.5), np.zeros(0)]
    for executor in (None, processes):
        assert grad(scaled, executor=executor)(2.0, mixed) == 3.0 + 3.0 + 4.0 + 0.5
        assert report().compiled == 4
        assert grad(scaled, executor=executor)(2.0, [loader(k) for k in (1, 2, 3)]) == 6.0


def loader(k):
    return partial(np.full, k, 1.0)


def scaled(w, shard):
    return w * np.sum(shard)
