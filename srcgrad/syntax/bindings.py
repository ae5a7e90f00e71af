"""What a name that is not local means, in emitted text too, without the trees in which it stands.

>>> rate = 2.0
>>> binding = GlobalBinding("rate", rate, "model", "rate", OfNamespace({"rate": 3.0}, "rate"))
>>> binding.value, binding.cell()
(2.0, 3.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CellType


@dataclass(frozen=True, eq=False)
class GlobalBinding:
    """What a non-local name means: an object, and how emitted code gets at it again.

    ``module`` and ``attribute`` spell the import (``from module import attribute``; ``import module`` when the
    attribute is None).  ``cell`` reads the present value of a global or closure variable that may change between
    calls; None means that the object is fixed when the function is compiled.
    """

    preferred: str
    value: object
    module: str | None = None
    attribute: str | None = None
    cell: Callable[[], object] | None = None

    def same(self, other: GlobalBinding) -> bool:
        """Whether both mean one object, now and at every later call."""
        if self is other:
            return True
        return self.cell is None and other.cell is None and self.value is other.value


class OfNamespace:
    """Reads the present value of a global variable."""

    __slots__ = __match_args__ = ("namespace", "name")

    def __init__(self, namespace: Mapping[str, object], name: str) -> None:
        self.namespace, self.name = namespace, name

    def __call__(self) -> object:
        try:
            return self.namespace[self.name]
        except KeyError:
            raise NameError(f"name {self.name!r} is not defined any more") from None


class OfCell:
    """Reads the present value of a variable that a function captured."""

    __slots__ = __match_args__ = ("cell", "name")

    def __init__(self, cell: CellType, name: str) -> None:
        self.cell, self.name = cell, name

    def __call__(self) -> object:
        try:
            return self.cell.cell_contents
        except ValueError:
            raise NameError(f"free variable {self.name!r} has no value any more") from None
