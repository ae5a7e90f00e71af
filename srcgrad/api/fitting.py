"""Raw cotangents of a program in the structure of the arguments that they belong to.

Enters: what a program returned, and one value per parameter.  Leaves: gradients as they are handed out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from srcgrad.api.arguments import check_differentiable, identities
from srcgrad.api.holomorphic import check_complex
from srcgrad.errors import ArgumentError
from srcgrad.runtime import add, as_cotangent, zeros_like


@dataclass(frozen=True)
class Wanted:
    """Which of the parameters ``names`` are differentiated: ``wanted`` as the program, ``chosen`` as the user has them.

    Of ``chosen`` each has a position inside ``*args``, or None; ``tupled``: whether one gradient comes as a tuple too.
    """

    names: tuple[str, ...]
    wanted: tuple[str, ...]
    chosen: tuple[tuple[str, int | None], ...]
    tupled: bool

    @property
    def is_plain(self) -> bool:
        """Whether the program gives what is asked for, one gradient per argument."""
        return self.chosen == tuple((name, None) for name in self.wanted)

    def fitted(self, raw: Any, values: tuple[Any, ...], *, shared: bool) -> Any:
        """``raw`` in the structure, shapes and dtypes of ``values``.

        ``shared``: something besides the arguments may still hold the arrays, so that they are copied.
        """
        by_name = dict(zip(self.wanted, raw if self.tupled else (raw,), strict=True))
        held = None if shared else identities(values)
        fits = [_fit(by_name[name], values[self.names.index(name)], inner, held) for name, inner in self.chosen]
        return tuple(fits) if self.tupled else fits[0]


def check_chosen(results: Wanted, values: tuple[Any, ...], *, holomorphic: bool) -> None:
    """Refuse arguments that have no derivative."""
    for name, inner in results.chosen:
        value = values[results.names.index(name)]
        if inner is not None:
            if inner >= len(value):
                raise ArgumentError(f"{name}[{inner}] is not given", hint="pass the argument by its position")
            value = value[inner]
        check_differentiable(value, name)
        if holomorphic:
            check_complex(value, name)


def _fit(raw: Any, value: Any, inner: int | None, held: set[int] | None) -> Any:
    fit = as_cotangent(raw, value, held)
    return fit if inner is None else fit[inner]


#: A derivative that is differentiated: its mode, and how its results are fitted.
Inner = tuple[str, Wanted]


def finished(inner: Inner | None, outcome: Any, values: tuple[Any, ...]) -> Any:
    """What a differentiated function would have returned, from what its program did: a derivative fits its result."""
    if inner is None:
        return outcome
    mode, results = inner
    if mode == "value":
        return outcome[0], results.fitted(outcome[1], values, shared=True)
    return results.fitted(outcome, values, shared=True)


def spread(inner: Inner | None, seed: Any, outcome: Any) -> Any:
    """The seed of what ``finished`` returned as one of ``outcome``, what the program returned: of a gradient by a
    position inside ``*args``, zeros for the other ones."""
    if inner is None or inner[1].is_plain:
        return seed
    mode, results = inner
    gradient = outcome[1] if mode == "value" else outcome
    tupled = results.tupled
    wholes = dict(zip(results.wanted, gradient if tupled else (gradient,), strict=True))
    seeds = {name: zeros_like(whole) for name, whole in wholes.items()}
    parts = seed[1] if mode == "value" else seed
    for (name, position), part in zip(results.chosen, parts if tupled else (parts,), strict=True):
        if position is not None:
            part = tuple(part if k == position else zeros_like(one) for k, one in enumerate(wholes[name]))
        seeds[name] = add(seeds[name], part)
    whole = tuple(seeds.values()) if tupled else seeds[results.wanted[0]]
    return (seed[0], whole) if mode == "value" else whole
