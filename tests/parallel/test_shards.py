"""What may be given as shards."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from srcgrad.errors import ArgumentError
from srcgrad.parallel import value_and_grad
from srcgrad.parallel.shards import Rows, Together, chunked, loaded, source_of
from tests.parallel.losses import bits, shards_of, squares

W = np.linspace(-1.0, 1.0, 4)
SHARDS = shards_of(11)


def expected():
    return bits(value_and_grad(squares)(W, SHARDS))


def test_rows_of_arrays_are_shards():
    x, y = np.concatenate([s[0] for s in SHARDS]), np.concatenate([s[1] for s in SHARDS])
    assert bits(value_and_grad(squares, chunks=7)(W, (x, y))) == expected()
    assert bits(value_and_grad(squares, chunks=[7] * 11)(W, (x, y))) == expected()


def test_the_last_chunk_may_be_short_and_chunks_may_differ():
    x = np.arange(10.0)
    assert [c.tolist() for c in chunked(x, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [c["a"].tolist() for c in chunked({"a": x}, (9, 1))] == [list(range(9)), [9]]


def test_paths_and_callables_load_where_they_run(tmp_path, processes):
    for number, (x, y) in enumerate(SHARDS):
        np.savez(tmp_path / f"{number}.npz", x=x, y=y)
    calls = [partial(read, tmp_path / f"{number}.npz") for number in range(11)]
    assert bits(value_and_grad(squares)(W, calls)) == expected()
    assert bits(value_and_grad(squares, executor=processes)(W, iter(calls))) == expected()
    paths = sorted(tmp_path.glob("*.npz"), key=lambda path: int(path.stem))
    assert bits(value_and_grad(by_name, executor=processes)(W, paths)) == expected()


def read(path):
    with np.load(path) as found:
        return found["x"], found["y"]


def by_name(w, shard):
    e = np.tanh(shard["x"] @ w) - shard["y"]
    return np.mean(e * e) * 0.5


def test_a_mapped_file_is_read_in_the_workers(tmp_path, processes):
    x, y = np.concatenate([s[0] for s in SHARDS]), np.concatenate([s[1] for s in SHARDS])
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    pieces = chunked((mapped, y), 7)
    assert all(isinstance(piece, Together) and isinstance(piece.parts[0], Rows) for piece in pieces)
    assert all(bits(loaded(piece)) == bits(shard) for piece, shard in zip(pieces, SHARDS))
    assert bits(value_and_grad(squares, chunks=7, executor=processes)(W, (mapped, y))) == expected()


@pytest.mark.parametrize("make", [lambda m: m[7:], lambda m: m[:, ::-1], lambda m: m[::2]])
def test_a_view_of_a_mapped_file_is_taken_as_it_is(tmp_path, make):
    np.save(tmp_path / "x.npy", np.arange(40.0).reshape(20, 2))
    view = make(np.load(tmp_path / "x.npy", mmap_mode="r"))
    pieces = chunked(view, 3)
    assert all(type(piece) is np.ndarray for piece in pieces) and np.array_equal(np.concatenate(pieces), view)


def test_a_private_copy_of_a_mapped_file_is_no_file(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(4.0))
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    private[0] = 9.0
    assert loaded(chunked(private, 2)[0]).tolist() == [9.0, 1.0]


@pytest.mark.parametrize(
    ("shards", "chunks", "text"),
    [
        (np.ones(3), None, "shards is an array, which may be cut in many ways\n  hint: give chunks=, or a list"),
        ({"a": 1}, None, "shards is a dict: a list or an iterator of shards is expected\n  hint: one shard is [shard]"),
        (1.0, None, "shards is a float: a list or an iterator of shards is expected\n  hint: one shard is [shard]"),
        ((np.ones(3), np.ones(4)), 2, "with chunks= all arrays have as many rows, not [3, 4]"),
        ([1.0], 2, "with chunks= shards are arrays, or a tuple, list or dict of them, not a float"),
        (np.ones(3), 0, "chunks is 0: a shard has at least one row"),
        (np.ones(3), (1, 1), "chunks adds up to 2 rows, the arrays have 3"),
    ],
)
def test_what_is_refused(shards, chunks, text):
    with pytest.raises(ArgumentError) as caught:
        source_of(shards, chunks)
    assert str(caught.value) == text


def test_a_path_of_another_format_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match=r"^data.csv is no file of NumPy's, which end in .npy and .npz"):
        loaded(tmp_path / "data.csv")
