"""Tables of hooks, and the handles that take hooks out of them again."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_ids = itertools.count()
Table = OrderedDict[int, Callable[..., Any]]


class RemovableHandle:
    """A registered hook; ``remove()`` takes it out, as does leaving it as a context manager."""

    def __init__(self, table: Table, hook: Callable[..., Any] | None = None) -> None:
        self.id = next(_ids)
        self.table = weakref.ref(table)  # a handle keeps no hook alive
        if hook is not None:
            table[self.id] = hook

    def remove(self) -> None:
        """Take the hook out."""
        table = self.table()
        if table is not None:
            table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


RemovableHandle.__module__ = "torch.utils.hooks"
