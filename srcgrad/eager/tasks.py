"""Backward passes that are going on, one inside another where a hook or a function starts one, per thread."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from srcgrad.eager.graph import Node
from srcgrad.eager.modes import state

Root = tuple[Node, int, Any]
_tasks = itertools.count()


class Task:
    """One backward pass that is going on in a thread."""

    __slots__ = ("callbacks", "captures", "handed", "needed", "number", "waiting")

    def __init__(self, waiting: dict[Node, int], needed: Any, captures: Any) -> None:
        self.number = next(_tasks)
        self.waiting = waiting
        self.needed = needed
        self.captures = captures
        self.handed: set[int] = set()  # ids of arrays that others hold
        self.callbacks: list[Callable[[], None]] = []

    def reaches(self, node: Node) -> bool:
        """Whether a node is part of this pass."""
        return node in self.waiting and (self.needed is None or node in self.needed)


def current_task() -> Task | None:
    """The backward pass that this thread is in."""
    return state.__dict__.get("task")


def queue_callback(callback: Callable[[], None]) -> None:
    """Call a function of no arguments at the end of the backward pass that is going on."""
    task = current_task()
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)
