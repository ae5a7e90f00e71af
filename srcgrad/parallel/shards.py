"""What may be given as shards, and how a shard is made of it where it runs.

Enters: a list, an iterator, arrays with ``chunks``, paths, callables.  Leaves: items in order, of which each is either
the shard or says how it is loaded; and how many there are, if that is known.  Dask's collections are ``dask_shards``'s.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from srcgrad.errors import ArgumentError
from srcgrad.parallel.layout import copied

Chunks = int | Sequence[int]


@dataclass(frozen=True)
class Source:
    """The items, which may be pulled one at a time, and their number where it is known."""

    items: Iterator[Any]
    count: int | None
    close: Callable[[], None] = lambda: None


def source_of(shards: Any, chunks: Chunks | None) -> Source:
    """The shards of a call, in order; raises ``ArgumentError`` for what cannot be one."""
    if chunks is not None:
        pieces = chunked(shards, chunks)
        return Source(iter(pieces), len(pieces))
    if isinstance(shards, np.ndarray):
        raise ArgumentError(
            "shards is an array, which may be cut in many ways", hint="give chunks=, or a list"
        )
    if isinstance(shards, str | bytes | dict | set | frozenset | os.PathLike) or not isinstance(shards, Iterable):
        raise ArgumentError(
            f"shards is a {type(shards).__name__}: a list or an iterator of shards is expected",
            hint="one shard is [shard]",
        )
    items = iter(shards) if isinstance(shards, list | tuple) else map(_as_it_is_now, shards)
    return Source(items, len(shards) if isinstance(shards, Sized) else None, _closing(shards))


def _as_it_is_now(item: Any) -> Any:
    """An item that an iterator has made, which may make the next one in the same arrays."""
    return item if callable(item) or is_held(item) else copied(item)


def _closing(shards: Any) -> Callable[[], None]:
    close = getattr(shards, "close", None)
    return close if isinstance(shards, Iterator) and callable(close) else lambda: None


def is_part(value: object) -> bool:
    """Whether a value is a future of Dask's or a collection, asked without importing Dask."""
    if "dask" not in sys.modules:
        return False
    from dask.base import is_dask_collection

    distributed = sys.modules.get("distributed")
    return is_dask_collection(value) or distributed is not None and isinstance(value, distributed.Future)


def is_held(item: object) -> bool:
    """Whether Dask holds a shard, or a part of it."""
    if isinstance(item, tuple | dict):
        return any(map(is_part, item.values() if isinstance(item, dict) else item))
    return is_part(item)


# --- arrays in chunks ------------------------------------------------------------------------------------------------
def chunked(arrays: Any, chunks: Chunks) -> list[Any]:
    """Rows of an array, or of arrays in a tuple, list or dict: ``chunks`` is how many rows a shard has, or lists it."""
    leaves = list(_arrays(arrays))
    lengths = {len(leaf) for leaf in leaves}
    if len(lengths) != 1:
        raise ArgumentError(f"with chunks= all arrays have as many rows, not {sorted(lengths)}")
    return [_rows(arrays, begin, end) for begin, end in _bounds(chunks, lengths.pop())]


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)
    elif isinstance(value, np.ndarray) and value.ndim:
        yield value
    else:
        kind = "array without dimensions" if isinstance(value, np.ndarray) else type(value).__name__
        raise ArgumentError(f"with chunks= shards are arrays, or a tuple, list or dict of them, not a {kind}")


def _bounds(chunks: Chunks, rows: int) -> list[tuple[int, int]]:
    if isinstance(chunks, int | np.integer) and not isinstance(chunks, bool):
        if chunks < 1:
            raise ArgumentError(f"chunks is {chunks}: a shard has at least one row")
        size = operator.index(chunks)
        return [(begin, min(begin + size, rows)) for begin in range(0, rows, size)]
    if not isinstance(chunks, Sequence | np.ndarray) or isinstance(chunks, str | bytes):
        raise ArgumentError(f"chunks is {chunks!r}: a number of rows, or a list of them, is expected")
    sizes = [operator.index(size) for size in chunks]
    if min(sizes, default=1) < 1 or sum(sizes) != rows:
        raise ArgumentError(f"chunks adds up to {sum(sizes)} rows, the arrays have {rows}")
    ends = list(accumulate(sizes))
    return list(zip([0, *ends], ends, strict=False))


def _rows(value: Any, begin: int, end: int) -> Any:
    """The rows of all arrays; of a file that is mapped into memory how they are read where they are needed."""
    if isinstance(value, np.ndarray):
        return _mapped(value, begin, end) or np.asarray(value[begin:end])
    items = value.values() if isinstance(value, dict) else value
    parts = [_rows(item, begin, end) for item in items]
    keys = tuple(value) if isinstance(value, dict) else None
    if any(isinstance(part, Rows | Together) for part in parts):
        return Together(tuple(parts), type(value) if keys is None else dict, keys)
    return dict(zip(keys, parts, strict=True)) if keys is not None else type(value)(parts)


def _mapped(array: np.ndarray[Any, Any], begin: int, end: int) -> Rows | None:
    """None for what no file holds as it is: a view, whose start is unknown, and a private copy (mode c)."""
    if not isinstance(array, np.memmap) or array.filename is None or isinstance(array.base, np.ndarray):
        return None
    if not array.flags.c_contiguous or array.mode == "c":
        return None
    shape = (end - begin, *array.shape[1:])
    return Rows(os.fspath(array.filename), array.offset + begin * array.strides[0], shape, array.dtype.str)


@dataclass(frozen=True)
class Rows:
    """Rows of an array in a file."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str

    def __call__(self) -> np.ndarray[Any, Any]:
        count = int(np.prod(self.shape, dtype=np.intp))
        return np.fromfile(self.path, self.dtype, count, offset=self.offset).reshape(self.shape)


@dataclass(frozen=True)
class Together:
    """Parts of a shard of which some are read from files."""

    parts: tuple[Any, ...]
    kind: type
    keys: tuple[Any, ...] | None

    def __call__(self) -> Any:
        values = [part() if isinstance(part, Rows | Together) else part for part in self.parts]
        return dict(zip(self.keys, values, strict=True)) if self.keys is not None else self.kind(values)


# --- where a shard runs ----------------------------------------------------------------------------------------------
def loaded(item: Any) -> Any:
    """The shard: a path is read with ``np.load``, a callable is called, everything else is the shard itself."""
    if isinstance(item, os.PathLike):
        return _read(Path(item))
    return item() if callable(item) else item


def _read(path: Path) -> Any:
    if path.suffix not in (".npy", ".npz"):
        raise ArgumentError(
            f"{path.name} is no file of NumPy's, which end in .npy and .npz",
            hint="pass a function that reads it: functools.partial(read, path)",
        )
    found = np.load(path, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return found
    with found:
        return dict(found)
