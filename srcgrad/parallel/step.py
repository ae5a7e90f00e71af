"""What is the same for all shards of one call, and what comes back from those that ran together.

Both travel: a ``Step`` to the workers, once for each of them; an ``Outcome`` back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from srcgrad.parallel.environment import Environment
from srcgrad.parallel.errors import Failure
from srcgrad.parallel.program import Program
from srcgrad.parallel.tree import Block

#: The programs of a call by the kind of the shard.
Programs = Mapping[object, Program]


@dataclass(frozen=True)
class Step:
    """The arguments, one per parameter with None where the shard belongs (``place``: a position, and one inside
    ``*args``), and what the programs read besides (``outside``, in their order).

    ``dots`` are the tangents of ``jvp`` and ``hvp``; ``function`` is what ``map`` calls in place of a program;
    ``weigh`` gives the weight of a shard where that is not known on the client; ``combine`` joins two results.
    """

    values: tuple[Any, ...]
    place: tuple[int, int | None]
    outside: Sequence[Mapping[str, Any]]
    combine: Callable[[Any, Any], Any]
    dots: tuple[Any, ...] = ()
    function: Callable[[Any], Any] | None = None
    weigh: Callable[[Any], float] | None = None
    timeout: float | None = None
    listed: bool = False  # results are listed in order, not added
    loads: bool = True  # paths and callables among the shards stand for what they load
    call: str = ""  # one call of the user's: workers keep nothing that functions have changed in another

    def with_shard(self, shard: Any) -> tuple[Any, ...]:
        """All arguments."""
        position, inner = self.place
        value = shard
        if inner is not None:
            items = self.values[position]
            value = (*items[:inner], shard, *items[inner + 1 :])
        return (*self.values[:position], value, *self.values[position + 1 :])


@dataclass(frozen=True)
class Outcome:
    """What shards that ran together gave: their blocks, and what could not be run.

    ``unmet``: shards of kinds for which there is no program yet, with a specimen of each; ``missing``: addresses of
    what the worker was not sent.  ``computing`` and ``loading`` are seconds.
    """

    blocks: tuple[Block, ...] = ()
    failure: Failure | None = None
    unmet: tuple[tuple[int, Any], ...] = ()
    missing: tuple[str, ...] = ()
    environments: frozenset[tuple[str, Environment]] = frozenset()
    computing: float = 0.0
    loading: float = 0.0
    received: int = 0  # its size in bytes, once it is back
    whole: Block | None = None  # the combined result of all shards, where it was made on a worker
