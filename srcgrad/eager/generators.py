"""Random numbers as PyTorch's CPU generator draws them: MT19937, seeded and read bit for bit in the same way.

>>> seeded = Generator().manual_seed(0)
>>> uniform(seeded, 3, np.dtype(np.float32))
array([0.49625659, 0.7682218 , 0.08847743])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.batched import Batched
from srcgrad.eager.lifted_arrays import Escape
from srcgrad.eager.modes import state

_FIRST_SEED = 67280421310721  # what PyTorch starts with
_WIDE = 2**28  # ranges from here on take 64 bits


class Generator:
    """A stream of random numbers and its state."""

    def __init__(self, device: Any = "cpu") -> None:
        self._device = device
        self.manual_seed(_FIRST_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream again from a number."""
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError("Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._bits = np.random.MT19937()
        self._bits._legacy_seeding(int(self._seed % 2**32))
        self._second: float | None = None
        return self

    def initial_seed(self) -> int:
        """The number that the stream was started from."""
        return self._seed

    def seed(self) -> int:
        """Start the stream from a number that nobody knows beforehand, and return that."""
        self.manual_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1)
        return self._seed

    @property
    def device(self) -> Any:
        from srcgrad.eager.size import device

        return device(self._device)

    def get_state(self) -> Any:
        """The state, to be given to ``set_state`` later."""
        from srcgrad.eager.tensor import Tensor

        state = self._bits.state["state"]
        words = np.concatenate([state["key"].astype(np.uint64), np.array([state["pos"], self._seed], np.uint64)])
        second = np.array([math.nan if self._second is None else self._second])
        return Tensor.of(np.concatenate([words.view(np.uint8), second.view(np.uint8)]))

    def set_state(self, new_state: Any) -> Generator:
        """Go on from a state that ``get_state`` gave."""
        content = np.array(new_state.array)
        words, second = content[:-8].view(np.uint64), float(content[-8:].view(np.float64)[0])
        state = self._bits.state
        state["state"] = {"key": words[:-2].astype(np.uint32), "pos": int(words[-2])}
        self._bits.state = state
        self._seed = int(words[-1])
        self._second = None if math.isnan(second) else second
        return self

    def raw(self, count: int) -> Any:
        """The next 32-bit words."""
        if state.transform_level:
            check_draw()
        return np.asarray(self._bits.random_raw(count), np.uint64)

    def doubles(self, count: int) -> Any:
        """The next numbers of [0, 1) with 53 random bits."""
        words = self.raw(2 * count)
        return ((words[0::2] << np.uint64(32) | words[1::2]) & np.uint64(2**53 - 1)) * 2.0**-53

    def normal(self) -> float:
        """The next normal number: two are made at a time, the second is kept."""
        if state.transform_level:
            check_draw()
        if self._second is not None:
            made, self._second = self._second, None
            return made
        first, second = self.doubles(2).tolist()
        radius = math.sqrt(-2.0 * math.log1p(-second))
        angle = 2.0 * math.pi * first
        self._second = radius * math.sin(angle)
        return radius * math.cos(angle)


def check_draw() -> None:
    """Refuse to draw inside transforms where it is not said how; numbers for each example are drawn for all at once."""
    levels = [level for level in state.transforms if level.kind in ("vmap", "loop")]
    if any(level.randomness == "error" for level in levels):
        raise RuntimeError(messages.RANDOM_IN_BATCH)
    if state.drawing is None and any(level.randomness == "different" for level in levels if level.kind == "vmap"):
        raise Escape("random numbers for each example")


def drawn(draw: Callable[[tuple[int, ...]], Any], shape: tuple[int, ...]) -> Any:
    """Random numbers inside transforms: refused, the same for all examples, or different ones for each."""
    mapped = [level for level in state.transforms if level.kind in ("vmap", "batch")]
    different = [level for level in mapped if level.randomness == "different"]
    state.drawing = True
    try:
        array = draw((*(level.count for level in different), *shape))
    finally:
        state.drawing = None
    for level in different:  # the batch of the outermost transform is the first axis
        array = Batched(level.id, array)
    return array


Generator.__module__ = "torch._C"  # as PyTorch's prints
default_generator = Generator()


def uniform(generator: Generator, count: int, dtype: Any) -> Any:
    """Numbers of [0, 1), with 24 random bits, or 53 for float64."""
    if dtype == np.float64:
        return generator.doubles(count)
    return (generator.raw(count) & np.uint64(2**24 - 1)) * 2.0**-24


def normal(generator: Generator, count: int, dtype: Any) -> Any:
    """Normal numbers: one by one where they are few, else blocks of sixteen, of which the last is drawn anew."""
    if count < 16:
        return np.array([generator.normal() for _ in range(count)], np.float64)
    drawn = uniform(generator, count, dtype).astype(dtype)
    whole = count - count % 16
    blocks = [_block(drawn[:whole].reshape(-1, 16)).ravel()]
    if count % 16:
        last = _block(uniform(generator, 16, dtype).astype(dtype).reshape(1, 16)).ravel()
        return np.concatenate([blocks[0], np.empty(count - whole, dtype)])[: count - 16].tolist() + last.tolist()
    return blocks[0]


def _block(uniforms: Any) -> Any:
    """Sixteen normal numbers of sixteen uniform ones, per row."""
    radius = np.sqrt(-2 * np.log(1 - uniforms[:, :8]))
    angle = np.asarray(2 * math.pi, uniforms.dtype) * uniforms[:, 8:]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], 1)


def integers(generator: Generator, low: int, high: int, count: int) -> Any:
    """Whole numbers of [low, high)."""
    span = high - low
    if span >= _WIDE:
        words = generator.raw(2 * count)
        drawn = words[0::2] << np.uint64(32) | words[1::2]
    else:
        drawn = generator.raw(count)
    return (drawn % np.uint64(span)).astype(np.int64) + low


def all_whole(generator: Generator, count: int, dtype: Any) -> Any:
    """Whole numbers from 0 on, as many as elements of the dtype hold exactly."""
    dtype = np.dtype(dtype)
    ends = {"f": {2: 2**11 + 1, 4: 2**24 + 1, 8: 2**53 + 1}, "b": {1: 2}}.get(dtype.kind)
    end = ends[dtype.itemsize] if ends else np.iinfo(dtype).max + 1
    words = generator.raw(count if dtype.itemsize < 8 else 2 * count)
    if dtype.itemsize == 8:
        words = words[0::2] << np.uint64(32) | words[1::2]
    return words if end == 2**64 else words % np.uint64(end)


def permutation(generator: Generator, count: int) -> Any:
    """The numbers below ``count`` in random order."""
    order = list(range(count))
    for i, word in enumerate(generator.raw(max(count - 1, 0)).tolist()):
        j = i + word % (count - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)
