"""Loops of which few states are kept, and the schedule by which their passes are reversed.

Enters: the number of passes, the number of snapshots.  Leaves: actions in order, for emitted text to carry out.  It is
the binomial schedule of Griewank & Walther (*Algorithm 799: revolve*, ACM TOMS 26, 2000; Griewank, *Achieving
logarithmic growth of temporal and spatial complexity in reverse automatic differentiation*, Optim. Methods Softw. 1,
1992), in which a loop of n passes is run again as seldom as s snapshots allow:

>>> advances(10**5, 20)  # passes that are run again, of 100000
534220
>>> list(reversal([(0, None)], 3, 1))
[('restore', 0, 3), ('advance', 0, 2), ('reverse', 2, 3), ('restore', 0, 3), ('advance', 0, 1), ('reverse', 1, 2), \
('restore', 0, 3), ('reverse', 0, 1)]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from math import comb
from typing import Any, TypeVar

Passes = TypeVar("Passes")
Function = TypeVar("Function", bound=Callable[..., Any])


def checkpointed(passes: Passes, snapshots: int, recorded: int | None = None) -> Passes:
    """``passes``, unchanged; in a derivative by reverse mode, few states of the loop over it are kept.

    Written around what a loop runs over, or around the test of a ``while``::

        for i in srcgrad.checkpointed(range(n), snapshots=20):
            u = u + dt * f(u)
        while srcgrad.checkpointed(error > tolerance, snapshots=20):
            ...

    The reverse sweep holds at most ``snapshots`` states of the loop, and the records of at most ``recorded`` passes, by
    default as many as there are snapshots.  It runs passes again from the snapshots: a loop of n blocks of so many
    passes about r times, where n is at most the binomial coefficient of ``snapshots + r`` over r (Griewank & Walther,
    2000), and once more where it ends at a ``break`` or the length is not known before.  A state is what the body binds
    and reads again, and the arrays that it stores into.  Forward mode keeps and repeats nothing, and a derivative that
    is differentiated itself records all.

    Raises ValueError if a number is less than 1, and TypeError if it is no integer.
    """
    for name, number in (("snapshots", snapshots), ("recorded passes", snapshots if recorded is None else recorded)):
        if isinstance(number, bool) or not hasattr(type(number), "__index__"):
            raise TypeError(f"the number of {name} is an integer, not {number!r}")
        if number < 1:
            raise ValueError(f"the number of {name} is at least 1, not {number}")
    return passes


def keeping(snapshots: int, recorded: int | None) -> None:
    """What marks a loop in the normal form, as the first statement of its body."""


def remat(function: Function) -> Function:
    """A function that is run again in the reverse sweep, instead of recording what it computes; a decorator.

    Calls of it inside of a differentiated function keep their arguments alone.  The function itself is returned.
    """
    function.__srcgrad_remat__ = True  # type: ignore[attr-defined]
    return function


# --- how often passes are run ----------------------------------------------------------------------------------------
def _reach(snapshots: int, runs: int) -> int:
    """The longest loop that is reversed so that no pass is run more than ``runs`` times before it is recorded."""
    return comb(snapshots + runs, runs) if snapshots >= 0 and runs >= 0 else 0


def _runs(passes: int, snapshots: int) -> int:
    """The least number of runs with which a loop is reversed."""
    runs = 0
    while _reach(snapshots, runs) < passes:
        runs += 1
    return runs


def advances(passes: int, snapshots: int) -> int:
    """The least number of passes that are run without a record while a loop is reversed, from its first state.

    ``r n - C(s + r, r - 1)``, where ``C(s + r - 1, s) < n <= C(s + r, s)`` (Griewank & Walther 2000, eq. 4).
    """
    runs = _runs(passes, snapshots)
    return runs * passes - _reach(snapshots + 1, runs - 1)


def _split(passes: int, snapshots: int) -> int:
    """How many passes are run before the next snapshot: the longest stretch with which their number stays least."""
    runs = _runs(passes, snapshots)
    return min(_reach(snapshots, runs - 1), passes - _reach(snapshots - 1, runs - 1))


def stretches(
    kept: list[Any], passes: int | None, snapshots: int, recorded: int | None = 1
) -> Iterator[tuple[int, int]]:
    """The stretches of passes of the first run, each of which begins with a snapshot that is put on ``kept``.

    Where the number of passes is not known, they are of one length, and where ``kept`` is full every other snapshot is
    dropped and the length doubled.
    """
    size = _checked(snapshots, recorded)
    if passes is None:
        yield from _unbounded(kept, snapshots, size)
        return
    first, blocks = 0, -(-passes // size)
    while first < blocks:
        free = snapshots - len(kept)
        last = blocks if free <= 1 or blocks - first == 1 else first + _split(blocks - first, free)
        yield first * size, min(last * size, passes)
        first = last


def _checked(snapshots: int, recorded: int | None) -> int:
    """The number of passes that are recorded at once."""
    checkpointed((), snapshots, recorded)
    return snapshots if recorded is None else recorded


def _unbounded(kept: list[Any], snapshots: int, size: int) -> Iterator[tuple[int, int]]:
    if snapshots == 1:
        yield 0, sys.maxsize
        return
    first, length = 0, size
    while True:
        if len(kept) == snapshots:
            del kept[1::2]
            length *= 2
        yield first, first + length
        first += length


def _thin(kept: list[Any], blocks: int, snapshots: int, size: int) -> None:
    """Keep every first, second, fourth ... snapshot, with whichever the fewest passes are run: what is dropped makes
    room.  So a loop that ends before it was expected to costs at most one run more than one of known length."""

    def cost(step: int) -> int:
        places = [position // size for position, _ in kept[::step]]
        ends = [*places[1:], blocks][: len(places)]
        return sum(advances(b - a, snapshots - j) for j, (a, b) in enumerate(zip(places, ends, strict=True)))

    steps = [1 << k for k in range(len(kept).bit_length() + 1)]
    kept[:] = kept[:: min(steps, key=cost)]


def reversal(
    kept: list[Any], passes: int, snapshots: int, recorded: int | None = 1
) -> Iterator[tuple[str, int, int]]:
    """What is done to reverse the passes of a loop, as ``(action, first, last)``.

    restore: the state is that of the last snapshot of ``kept``; advance: passes are run from it; keep: it is put on
    ``kept``, as ``(first, state)``; reverse: passes are recorded and reversed, as many as are ``recorded`` at once (as
    there are snapshots, if that is None).  ``kept`` is empty in the end.
    """
    size = _checked(snapshots, recorded)
    blocks = -(-passes // size)
    kept[:] = [each for each in kept if each[0] < passes]
    _thin(kept, blocks, snapshots, size)
    last = blocks
    while kept:
        first = kept[-1][0] // size
        yield "restore", first * size, passes
        while last - first > 1 and len(kept) < snapshots:
            middle = first + _split(last - first, snapshots - len(kept) + 1)
            yield "advance", first * size, middle * size
            yield "keep", middle * size, passes
            first = middle
        if last - first > 1:
            yield "advance", first * size, (last - 1) * size
        last -= 1
        yield "reverse", last * size, min((last + 1) * size, passes)
        if kept[-1][0] == last * size:
            kept.pop()
