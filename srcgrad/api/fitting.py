"""Raw cotangents of a program in the structure of the arguments that they belong to.

Enters: what a program returned, and one value per parameter.  Leaves: gradients as they are handed out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from srcgrad.api.arguments import identities
from srcgrad.runtime import as_cotangent


@dataclass(frozen=True)
class Wanted:
    """Which of the parameters ``names`` are differentiated: ``wanted`` as the program, ``chosen`` as the user has them.

    Of ``chosen`` each has a position inside ``*args``, or None; ``tupled``: whether one gradient comes as a tuple too.
    """

    names: tuple[str, ...]
    wanted: tuple[str, ...]
    chosen: tuple[tuple[str, int | None], ...]
    tupled: bool

    def fitted(self, raw: Any, values: tuple[Any, ...], *, shared: bool) -> Any:
        """``raw`` in the structure, shapes and dtypes of ``values``.

        ``shared``: something besides the arguments may still hold the arrays, so that they are copied.
        """
        by_name = dict(zip(self.wanted, raw if self.tupled else (raw,), strict=True))
        held = None if shared else identities(values)
        fits = [_fit(by_name[name], values[self.names.index(name)], inner, held) for name, inner in self.chosen]
        return tuple(fits) if self.tupled else fits[0]


def _fit(raw: Any, value: Any, inner: int | None, held: set[int] | None) -> Any:
    fit = as_cotangent(raw, value, held)
    return fit if inner is None else fit[inner]
