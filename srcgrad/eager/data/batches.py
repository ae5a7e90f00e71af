"""``DataLoader``: examples of a dataset, put together to batches, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.data.datasets import IterableDataset
from srcgrad.eager.data.samplers import BatchSampler, RandomSampler, SequentialSampler, drawn_seed
from srcgrad.eager.operations.creation import as_tensor, tensor
from srcgrad.eager.operations.joining import stack
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.warned import warn_once

WORKERS = (
    "num_workers: torch here is srcgrad.eager, which loads data in this process. The batches are the same; they do not "
    "wait for you."
)


def default_convert(data: Any) -> Any:
    """Arrays in nested containers as tensors."""
    if isinstance(data, np.ndarray) and data.dtype in dtypes.OF_NUMPY:
        return as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(item) for key, item in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return [default_convert(item) for item in data]
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """Examples as one: tensors stacked, numbers made tensors, containers of them joined part by part."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray | np.generic):
        if first.dtype not in dtypes.OF_NUMPY:
            raise _unknown(first.dtype)
        return stack([as_tensor(item) for item in batch]) if isinstance(first, np.ndarray) else as_tensor(list(batch))
    if isinstance(first, float):
        return tensor(list(batch), dtype=dtypes.float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([item[key] for item in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise _unknown(type(first))


def _unknown(kind: Any) -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"
    )


class DataLoader:
    """Batches of a dataset, in order, shuffled, or as a sampler says.

    For the same seed the order is PyTorch's.  ``num_workers`` and ``pin_memory`` change nothing.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
        multiprocessing_context: Any = None, generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.iterates = isinstance(dataset, IterableDataset)
        if self.iterates and (shuffle or sampler is not None or batch_sampler is not None):
            what = "shuffle option" if shuffle else "sampler option" if sampler is not None else "batch_sampler option"
            value = shuffle if shuffle else sampler if sampler is not None else batch_sampler
            name = what.split()[0]
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {what}, but got {name}={value}"
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None and not self.iterates:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None and not self.iterates:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        joins = batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate if joins else default_convert)

    def __iter__(self) -> Iterator[Any]:
        drawn_seed(self.generator)  # the seed of PyTorch's workers: whoever draws next gets PyTorch's numbers
        return self._iterated() if self.iterates else self._indexed()

    def _indexed(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        several = getattr(self.dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            found = several(indices) if several else [self.dataset[index] for index in indices]
            yield self.collate_fn(found)

    def _iterated(self) -> Iterator[Any]:
        if self.batch_size is None:
            yield from map(self.collate_fn, self.dataset)
            return
        batch: list[Any] = []
        for example in self.dataset:
            batch.append(example)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if self.iterates:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if not num_workers and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent and not num_workers:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if num_workers:
        warn_once(WORKERS, depth=4)
