"""The tree of sums: one shape for a number of shards, whatever arrives when."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srcgrad.errors import InternalError
from srcgrad.parallel.errors import ShardError
from srcgrad.parallel.tree import Block, Forest


def spelled(left: str, right: str) -> str:
    return f"({left}{right})"


def shape(count: int, first: int = 0) -> str:
    """The tree as its definition says it: the largest power of two below the number of shards on the left."""
    if count == 1:
        return chr(ord("a") + first)
    left = 1 << ((count - 1).bit_length() - 1)
    return spelled(shape(left, first), shape(count - left, first + left))


@pytest.mark.parametrize("count", range(1, 24))
def test_the_tree_has_the_largest_power_of_two_on_the_left(count):
    forest = Forest(spelled)
    forest.take(Block(0, shard, 1.0, chr(ord("a") + shard)) for shard in range(count))
    assert forest.root(count).result == shape(count)
    assert forest.root(count).weight == count


@given(st.integers(1, 23), st.randoms(use_true_random=False))
def test_neither_the_order_of_arrival_nor_the_grouping_changes_the_tree(count: int, chance: random.Random):
    cuts = sorted({0, count, *(chance.randrange(count + 1) for _ in range(chance.randrange(4)))})
    groups = [range(begin, end) for begin, end in zip(cuts, cuts[1:])]
    arrived = []
    for group in groups:
        forest = Forest(spelled)
        shards = list(group)
        chance.shuffle(shards)
        forest.take(Block(0, shard, 1.0, chr(ord("a") + shard)) for shard in shards)
        arrived.append(forest.blocks)
    chance.shuffle(arrived)
    whole = Forest(spelled)
    for blocks in arrived:
        whole.take(blocks)
    assert whole.root(count).result == shape(count)


def test_a_sum_in_another_order_has_other_bits():
    """Else the tests of equal bits could not fail."""
    numbers = np.random.default_rng(1).normal(size=50) * 10.0 ** np.arange(50)
    forest = Forest(lambda a, b: a + b)
    forest.take(Block(0, j, 1.0, number) for j, number in enumerate(numbers))
    assert forest.root(50).result != sum(numbers[::-1]) and forest.root(50).result == pytest.approx(sum(numbers))


def test_of_shards_in_order_a_forest_holds_few_blocks():
    forest = Forest(lambda a, b: a + b)
    for shard in range(1000):
        forest.add(Block(0, shard, 1.0, 1))
        assert len(forest.blocks) <= 10


def test_what_arrives_twice_is_counted_once():
    forest = Forest(spelled)
    assert [forest.add(Block(0, shard, 1.0, "abc"[shard])) for shard in (0, 1, 1, 0, 2, 2)] == [
        True, True, False, False, True, False,
    ]  # fmt: skip
    assert forest.root(3).result == "((ab)c)"


def test_blocks_that_overlap_in_part_are_a_fault():
    forest = Forest(spelled)
    forest.add(Block(0, 1, 1.0, "b"))
    with pytest.raises(InternalError, match="shards 0 to 1 were counted in part"):
        forest.add(Block(1, 0, 1.0, "ab"))


def test_a_sum_of_other_shards_than_were_asked_for_is_a_fault():
    forest = Forest(spelled)
    forest.take([Block(0, 0, 1.0, "a"), Block(0, 2, 1.0, "c")])
    assert forest.missing(4) == [1, 3]
    for count in (2, 3, 4):
        with pytest.raises(InternalError, match="holds others"):
            forest.root(count)


def test_what_cannot_be_combined_is_named_by_its_shards():
    def refuse(left, right):
        raise ValueError("no")

    forest = Forest(refuse)
    forest.add(Block(1, 0, 2.0, "ab"))
    forest.add(Block(0, 2, 1.0, "c"))
    with pytest.raises(ShardError, match="^shards 0 to 1 and shard 2 cannot be combined: no$"):
        forest.root(3)
