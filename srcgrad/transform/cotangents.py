"""The adjoints that the reverse sweep holds at one point: which are set, and which buffers are its own.

Enters: nothing.  Leaves: ``Cotangents``, the state that the sweep carries from the end of a function to its start.  A
name that is absent has the adjoint zero and no variable.  *Owned* means that the buffer was made here and nobody else
holds it, so that it may be added to in place; a seed, a view or a second name for one array is never owned.
*Pending* adjoints exist on one path only: where an exit was taken they are ``None`` until that exit's own adjoint runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Cotangents:
    owned: dict[str, bool] = field(default_factory=dict)  # name -> owned; its keys are the adjoints that are set
    pending: set[str] = field(default_factory=set)

    def copy(self) -> Cotangents:
        return Cotangents(dict(self.owned), set(self.pending))

    def __contains__(self, name: str) -> bool:
        return name in self.owned

    def assign(self, name: str, *, owned: bool) -> None:
        self.owned[name] = owned
        self.pending.discard(name)

    def drop(self, name: str) -> None:
        self.owned.pop(name, None)
        self.pending.discard(name)

    def share(self, name: str) -> None:
        if name in self.owned:
            self.owned[name] = False
