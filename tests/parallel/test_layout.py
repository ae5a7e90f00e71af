"""Arrays of one content and different layouts give the same bits, however they travel."""

from __future__ import annotations

import pickle
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from srcgrad.parallel import value_and_grad
from srcgrad.parallel.layout import laid_out
from tests.parallel.losses import Layer, Pair, bits, shards_of

X = np.arange(40.0).reshape(5, 8)


def unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view()
    moved = raw[: x.nbytes].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved


VIEWS = [X, X.T, X[:, ::2], X[::2], X[::2][:1], X[:, 2:3], X[::-1], unaligned(X), np.broadcast_to(X[0], (3, 8)), X[:0]]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: f"{view.shape}{view.strides}{view.flags.aligned}")
def test_arrays_lie_as_if_they_were_pickled(view):
    found, arrived = laid_out(view), pickle.loads(pickle.dumps(view, protocol=5))
    assert found.strides == arrived.strides or not view.size
    assert found.flags.aligned and np.array_equal(found, view)
    assert laid_out(found) is found


def test_containers_and_objects():
    bad = X[:, ::2]
    objects = Pair(1.0, bad), Layer(bad, 1.0), SimpleNamespace(a=bad)
    for value in ((bad, 1.0), [bad], {"a": bad}, deque([bad], 3), *objects):
        found = laid_out(value)
        assert type(found) is type(value) and bits(found) == bits(value) and found is not value
    good = {"a": [X, Layer(X.T, 1.0)], "b": None}
    assert laid_out(good) is good
    around = [X]
    around.append(around)
    assert laid_out(around) is around


def product(params, shard, other):
    x, y = shard
    e = x @ params - y @ other
    return np.sum(e * e)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda x: np.repeat(x, 2, 1)[:, ::2], lambda x: x[::-1][::-1]])
def test_the_way_of_a_shard_changes_no_bit(change, processes):
    w = np.repeat(np.linspace(-1.0, 1.0, 33), 2)[::2]
    other = np.asfortranarray(np.random.default_rng(1).normal(size=(33, 2)))[:, 0]
    shards = [(change(x), change(x + 1.0)) for x, _ in shards_of(9, rows=50, columns=33)]
    here = value_and_grad(product)(w, shards, other)
    assert bits(here) == bits(value_and_grad(product, executor=processes)(w, shards, other))


def test_another_layout_has_other_bits():
    """Else the test above could not fail."""
    x = shards_of(1, rows=50, columns=33)[0][0]
    w = np.linspace(-1.0, 1.0, 50)
    layouts = [x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]]
    assert len({(layout.T @ w).tobytes() for layout in layouts}) > 1
