"""The schedule against theory: how often passes are run, and how many states are kept, at most."""

from __future__ import annotations

from functools import cache

import pytest

import srcgrad
from benchmarks.checkpointing import LOOPS, X, counted
from benchmarks.checkpointing import fewest as by_formula
from srcgrad.runtime.checkpoints import advances, checkpointed, reversal, stretches


@cache
def fewest(passes: int, snapshots: int) -> int:
    """The fewest passes that are run without a record, by dynamic programming (Griewank & Walther 2000, eq. 3)."""
    if passes <= 1:
        return 0
    if snapshots == 1:
        return passes * (passes - 1) // 2
    splits = range(1, passes)
    return min(m + fewest(passes - m, snapshots - 1) + fewest(m, snapshots) for m in splits)


def carried_out(passes: int, snapshots: int, recorded: int = 1, *, is_known: bool = True) -> tuple[int, int]:
    """How many passes are run without a record, of these the last stretch of the first run; each is reversed once."""
    kept: list[tuple[int, int]] = []
    runs = state = 0
    for first, last in stretches(kept, passes if is_known else None, snapshots, recorded):
        assert first == state
        kept.append((first, state))
        assert len(kept) <= snapshots
        state = min(last, passes)
        runs += state - first
        if state == passes:
            break
    stretch, backwards = passes - kept[-1][0] if kept else 0, []
    for action, first, last in reversal(kept, passes, snapshots, recorded):
        if action == "restore":
            state = kept[-1][1]
        assert state == first
        if action == "advance":
            runs, state = runs + last - first, last
        elif action == "keep":
            kept.append((first, state))
            assert len(kept) <= snapshots
        elif action == "reverse":
            assert last - first <= recorded
            backwards += reversed(range(first, last))
    assert backwards == [*reversed(range(passes))] and not kept
    return runs, stretch


@pytest.mark.parametrize("snapshots", range(1, 10))
def test_no_schedule_runs_fewer_passes(snapshots):
    for passes in range(1, 50):
        assert advances(passes, snapshots) == fewest(passes, snapshots)
        runs, stretch = carried_out(passes, snapshots)
        assert runs == fewest(passes, snapshots) + stretch  # the first run goes to the end, for the result


def test_the_formula():
    assert [advances(n, 3) for n in (1, 2, 3, 4, 5, 10)] == [0, 1, 2, 3, 5, 15]
    assert advances(10**5, 20) == 534_220
    assert carried_out(10**5, 20) == (534_226, 6)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_derivatives_run_as_many_passes(loop):
    for recorded in (1, 3):
        found = counted(srcgrad.grad(loop.kept), X, 150, 4, recorded)
        theory = recorded * by_formula(150 // recorded, 4)
        assert found.states == 4 and found.first_run == 150
        beyond = found.first_run + found.again - theory
        assert beyond == found.last_stretch if loop.is_known else 0 <= beyond <= 150


@pytest.mark.parametrize("snapshots", range(1, 10))
def test_a_loop_of_unknown_length_costs_at_most_one_run_more(snapshots):
    for passes in range(50):
        runs, _ = carried_out(passes, snapshots, is_known=False)
        assert runs <= fewest(passes, snapshots) + passes


@pytest.mark.parametrize("recorded", [1, 2, 3, 7, 100])
def test_blocks_of_passes_are_scheduled_as_passes_are(recorded):
    for passes in range(40):
        for snapshots in (1, 2, 5):
            blocks = -(-passes // recorded)
            runs, stretch = carried_out(passes, snapshots, recorded)
            assert runs <= recorded * fewest(blocks, snapshots) + stretch
            carried_out(passes, snapshots, recorded, is_known=False)


def test_where_nothing_is_derived_the_loop_is_the_loop():
    passes = range(3)
    assert checkpointed(passes, snapshots=2) is passes


@pytest.mark.parametrize(
    ("snapshots", "recorded", "error"), [(0, None, ValueError), (2, 0, ValueError), (1.5, None, TypeError)]
)
def test_numbers_that_mean_nothing(snapshots, recorded, error):
    with pytest.raises(error, match="number of"):
        checkpointed(range(3), snapshots=snapshots, recorded=recorded)
    with pytest.raises(error, match="number of"):
        list(stretches([], 3, snapshots, recorded))
