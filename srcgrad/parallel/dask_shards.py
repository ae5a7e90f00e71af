"""Shards that Dask holds: arrays, bags and delayed values, block by block.

Enters: a collection, or arrays of equally many blocks in a tuple or dict, or a list of delayed values and futures.
Leaves: items in order, each a future, a delayed value, or a tuple or dict of such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from srcgrad.errors import ArgumentError
from srcgrad.parallel.shards import Chunks, Source, is_held, is_part, source_of


def as_futures(client: Any, item: Any) -> Any:
    """A shard with futures in the place of delayed values; the cluster starts to make them."""
    if isinstance(item, dict):
        return dict(zip(item, as_futures(client, tuple(item.values())), strict=True))
    parts = item if isinstance(item, tuple) else (item,)
    made = iter(client.compute([part for part in parts if is_part(part) and not is_future(part)]))
    parts = tuple(next(made) if is_part(part) and not is_future(part) else part for part in parts)
    return parts if isinstance(item, tuple) else parts[0]


def is_future(item: object) -> bool:
    """Whether a shard that Dask holds is a future, or has nothing but futures in the place of blocks."""
    from distributed import Future

    if isinstance(item, tuple | dict):
        parts = item.values() if isinstance(item, dict) else item
        return all(is_future(part) for part in parts if is_part(part))
    return isinstance(item, Future)


def source_on_dask(shards: Any, chunks: Chunks | None, loads: bool = True) -> Source:
    """The shards of a call on a cluster; raises ``ArgumentError`` for what cannot be one."""
    if not is_held(shards) or is_future(shards):
        return source_of(shards, chunks, loads)
    if _is_delayed(shards):
        raise ArgumentError("shards is one delayed value", hint="a list holds shards, each of which may be one")
    if chunks is not None:
        raise ArgumentError("a Dask collection has chunks of its own", hint="shards.rechunk(...) makes other ones")
    blocks = list(_blocks(shards))
    return Source(iter(blocks), len(blocks))


def _blocks(shards: Any) -> Iterator[Any]:
    if not isinstance(shards, tuple | dict):
        yield from _of_one(shards)
        return
    parts = list(shards.values() if isinstance(shards, dict) else shards)
    if not all(_is_array(part) and part.ndim for part in parts):
        raise ArgumentError(
            "a tuple or dict of Dask collections holds arrays alone, of at least one axis", hint="a list holds shards"
        )
    rows = [part.chunks[0] for part in parts]
    wide = [part.numblocks for part in parts if any(count > 1 for count in part.numblocks[1:])]
    if len(set(rows)) != 1 or wide:
        reason = f"blocks of {wide[0]} along several axes" if wide else f"chunks of rows {rows}"
        raise ArgumentError(
            f"arrays that are cut together have {reason}", hint="rechunk them along their first axis alone, alike"
        )
    for items in zip(*map(_of_one, parts), strict=True):
        yield dict(zip(shards, items, strict=True)) if isinstance(shards, dict) else items


def _is_array(value: Any) -> bool:
    from dask.base import is_dask_collection

    return is_dask_collection(value) and hasattr(type(value), "numblocks")  # a delayed value has any attribute


def _is_delayed(value: Any) -> bool:
    from dask.delayed import Delayed

    return isinstance(value, Delayed)


def _of_one(collection: Any) -> list[Any]:
    """The blocks of a collection: futures where it is on the cluster (``persist``), delayed values otherwise."""
    from dask.core import flatten
    from distributed import futures_of

    there = {future.key: future for future in futures_of(collection)}  # type: ignore[no-untyped-call,unused-ignore]
    keys = list(flatten(collection.__dask_keys__()))  # type: ignore[no-untyped-call,unused-ignore]
    if there and all(key in there for key in keys):
        return [there[key] for key in keys]
    if not hasattr(collection, "to_delayed"):
        return [collection]
    found: list[Any] = np.ravel(np.asarray(collection.to_delayed(), dtype=object)).tolist()
    return found
