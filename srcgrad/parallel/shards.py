"""What may be given as shards, and how a shard is made of it where it runs.

Enters: a list, an iterator, arrays with ``chunks``, paths, callables.  Leaves: items in order, of which each is either
the shard or says how it is loaded; and how many there are, if that is known.  Dask's collections are ``dask_shards``'s.
"""

from __future__ import annotations

import operator
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np

from srcgrad.api.arguments import require_exact_type
from srcgrad.errors import ArgumentError
from srcgrad.parallel.layout import snapshot

Chunks = int | Sequence[int]


@dataclass(frozen=True)
class Shards:
    """Shards that run together: neighbours from ``first`` on, with their weights where those are known."""

    first: int
    items: Sequence[Any]
    weights: Sequence[float] | None = None


@dataclass
class Source:
    """The items, which may be pulled one at a time, and their number where it is known, with their weights.

    ``runs``: pulling runs the user's code, which may change what it has handed out, the arguments included.
    """

    items: Iterator[Any]
    count: int | None
    runs: bool = False
    close: Callable[[], None] = lambda: None
    weights: Iterator[float] | None = None
    pulled: int = 0

    def pull(self, size: int) -> Shards | None:
        """The next shards, ``size`` or less; None where there are no more.  Of what Dask holds each is by itself."""
        items: list[Any] = []
        for item in islice(self.items, size):
            items.append(item)
            if is_held(item):
                break
        weights = None if self.weights is None else list(islice(self.weights, max(1, len(items))))
        first, self.pulled = self.pulled, self.pulled + len(items)
        if weights is not None and len(weights) != len(items):
            known, more = ("shards", "weights") if not items else ("weights", "shards")
            raise ArgumentError(f"there are {first + min(len(items), len(weights))} {known}, and more {more}")
        return Shards(first, items, None if weights is None else [*map(_weight, weights)]) if items else None


def source_of(shards: Any, chunks: Chunks | None, loads: bool = True) -> Source:
    """The shards of a call, in order; raises ``ArgumentError`` for what cannot be one.  ``loads``: callables among them
    stand for what they load."""
    if chunks is not None:
        pieces = chunked(shards, chunks)
        return Source(iter(pieces), len(pieces))
    if isinstance(shards, np.ndarray):
        hint = "give chunks=, or a list" if loads else "give a list"
        raise ArgumentError("shards is an array, which may be cut in many ways", hint=hint)
    if isinstance(shards, str | bytes | dict | set | frozenset | os.PathLike) or not isinstance(shards, Iterable):
        raise ArgumentError(
            f"shards is a {type(shards).__name__}: a list or an iterator of shards is expected",
            hint="one shard is [shard]",
        )
    count = len(shards) if isinstance(shards, Sized) else None
    if is_stored(shards):
        return Source(iter(shards), count)
    return Source((_copy_of(item, loads) for item in shards), count, runs=True, close=_closing(shards))


def is_stored(shards: object) -> bool:
    """Whether iterating runs no code of the user's: of lists and tuples, of dicts' views, of arrays."""
    kind: Any = type(shards)
    if isinstance(shards, list | tuple | deque):
        return kind.__iter__ in (list.__iter__, tuple.__iter__, deque.__iter__)
    return kind in (type({}.keys()), type({}.values()), type({}.items()), np.ndarray)


def _copy_of(item: Any, loads: bool) -> Any:
    """A copy of an item that an iterator has made, since it may make the next one in the same memory."""
    if loads and callable(item) or is_held(item):
        return item
    if isinstance(item, memoryview):
        raise ArgumentError("items of an iterator are copied, and a memoryview cannot be", hint="make it an array")
    return snapshot()(item)


def weights_of(weights: Any) -> Iterator[float] | None:
    """The weights, where they are numbers and no function; raises ``ArgumentError`` for what cannot be some."""
    if weights is None or callable(weights):
        return None
    if isinstance(weights, str | bytes | dict | set | frozenset) or not isinstance(weights, Iterable):
        raise ArgumentError(
            f"weights is {weights!r}: a list of numbers is expected, one for each shard, or a function of the shard"
        )
    return iter(weights)


def _weight(weight: Any) -> float:
    try:
        if isinstance(weight, str | bytes):
            raise TypeError
        return float(weight)
    except (TypeError, ValueError):
        raise ArgumentError(f"weights holds {weight!r}, which is no number") from None


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
        require_exact_type(value, "shards")
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
    try:
        if isinstance(chunks, str | bytes | set | frozenset | dict):
            raise TypeError
        sizes = [operator.index(size) for size in chunks]  # type: ignore[union-attr]
    except TypeError:
        raise ArgumentError(f"chunks is {chunks!r}: a number of rows, or a list of them, is expected") from None
    if min(sizes, default=1) < 1 or sum(sizes) != rows:
        raise ArgumentError(f"chunks adds up to {sum(sizes)} rows, the arrays have {rows}")
    ends = list(accumulate(sizes))
    return list(zip([0, *ends], ends, strict=False))


def _rows(value: Any, begin: int, end: int) -> Any:
    """The rows of all arrays; of a file that is mapped into memory how they are read where they are needed."""
    if isinstance(value, np.memmap):
        return _mapped(value, begin, end) or np.asarray(value[begin:end])
    if isinstance(value, np.ndarray):
        return value[begin:end]
    items = value.values() if isinstance(value, dict) else value
    parts = [_rows(item, begin, end) for item in items]
    keys = tuple(value) if isinstance(value, dict) else None
    if any(isinstance(part, Rows | Together) for part in parts):
        return Together(tuple(parts), type(value) if keys is None else dict, keys)
    return dict(zip(keys, parts, strict=True)) if keys is not None else _remade(type(value), parts)


def _remade(kind: type, parts: list[Any]) -> Any:
    make: Callable[[list[Any]], Any] = getattr(kind, "_make", kind)
    return make(parts)


def _mapped(array: np.ndarray[Any, Any], begin: int, end: int) -> Rows | None:
    """None for what no file holds as it is: a view, whose start is unknown, and a private copy (mode c)."""
    if not isinstance(array, np.memmap) or array.filename is None or isinstance(array.base, np.ndarray):
        return None
    if not array.flags.c_contiguous or array.mode == "c":
        return None
    shape = (end - begin, *array.shape[1:])
    return Rows(os.fspath(array.filename), array.offset + begin * array.strides[0], shape, array.dtype)


@dataclass(frozen=True)
class Rows:
    """Rows of an array in a file."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

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
        return dict(zip(self.keys, values, strict=True)) if self.keys is not None else _remade(self.kind, values)


# --- where a shard runs ----------------------------------------------------------------------------------------------
def located(item: Any) -> Any:
    """A path as it is meant here: the directory of a worker may be another."""
    return Path(os.path.abspath(item)) if isinstance(item, os.PathLike) else item


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
