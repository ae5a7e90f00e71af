"""The one tree in which partial results are combined, whoever computes them and in whichever order they arrive.

Shards are counted from 0.  Block (k, j) is the result of shards j * 2**k up to (j + 1) * 2**k; it is made of its two
halves, the earlier one on the left, as soon as both are there.  What is left at the end, blocks of falling sizes, is
combined from the right.  So the tree over n shards has the largest power of two below n on the left, and depends on n
alone: floating-point sums are not associative, and this fixes their order (Higham, *Accuracy and Stability of
Numerical Algorithms*, ch. 4, pairwise summation; its error grows with log n).

>>> forest = Forest(lambda a, b: f"({a}{b})")
>>> forest.take(Block(0, shard, 1.0, str(shard)) for shard in (4, 1, 0, 3, 2))
>>> [(block.first, block.end) for block in forest.blocks]
[(0, 4), (4, 5)]
>>> forest.root(5).result
'(((01)(23))4)'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from srcgrad.errors import InternalError
from srcgrad.parallel.errors import ShardError

Combine = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Block:
    """The combined result of ``2**level`` shards, and the sum of their weights."""

    level: int
    index: int
    weight: float
    result: Any

    @property
    def first(self) -> int:
        return self.index << self.level

    @property
    def end(self) -> int:
        return (self.index + 1) << self.level


class Forest:
    """The blocks that have arrived, each combined with its neighbour as far as that goes.

    Of shards that arrive in order it holds one block per binary digit of their number.  A block may come twice, as
    when a worker was taken for dead: the second is not counted.
    """

    def __init__(self, combine: Combine) -> None:
        self._combine = combine
        self._blocks: dict[tuple[int, int], Block] = {}

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks in the order of their shards."""
        return tuple(sorted(self._blocks.values(), key=lambda block: block.first))

    def add(self, block: Block) -> bool:
        """Take a block in; False if its shards were counted before.  Blocks that overlap in part are a fault."""
        overlapping = [one for one in self._blocks.values() if one.first < block.end and block.first < one.end]
        if overlapping:
            if overlapping[0].first <= block.first and block.end <= overlapping[0].end:
                return False
            raise InternalError(f"shards {block.first} to {block.end - 1} were counted in part", stage="parallel")
        while (block.level, block.index ^ 1) in self._blocks:
            other = self._blocks.pop((block.level, block.index ^ 1))
            left, right = (other, block) if block.index & 1 else (block, other)
            block = self._joined(left, right, block.level + 1, block.index >> 1, right.end)
        self._blocks[block.level, block.index] = block
        return True

    def take(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self.add(block)

    def missing(self, count: int) -> list[int]:
        """The shards below ``count`` that are not in."""
        there = {shard for block in self._blocks.values() for shard in range(block.first, block.end)}
        return [shard for shard in range(count) if shard not in there]

    def root(self, count: int) -> Block:
        """The result of all ``count`` shards."""
        blocks = self.blocks
        ends = [0, *(block.end for block in blocks)]
        if ends[:-1] != [block.first for block in blocks] or ends[-1] != count:
            raise InternalError(f"{count} shards were asked for, and the sum holds others", stage="parallel")
        *rest, whole = blocks
        for block in reversed(rest):
            whole = self._joined(block, whole, block.level + 1, block.index >> 1, count)
        return whole

    def _joined(self, left: Block, right: Block, level: int, index: int, end: int) -> Block:
        try:
            result = self._combine(left.result, right.result)
        except Exception as failure:
            reason = f"{_shards(left.first, left.end)} and {_shards(left.end, end)} cannot be combined: {failure}"
            raise ShardError(reason) from failure
        return Block(level, index, left.weight + right.weight, result)


def _shards(first: int, end: int) -> str:
    return f"shard {first}" if end - first == 1 else f"shards {first} to {end - 1}"
