"""The transpose of Einstein's sum, which is one again: the cotangent takes the place of an operand.

>>> transposed_subscripts("ij,jk", 0, 2)
'ik,jk->ij'
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.refusals import RefusedMode

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MANY = 50_000  # multiplications from which a search for a good order of contraction pays


def written_subscripts(subscripts: Any) -> str:
    """The subscripts of an einsum where they are a string; as lists beside the operands they must be literals."""
    if not isinstance(subscripts, str):
        raise RefusedMode(
            "E0708",
            "np.einsum: the derivative needs subscripts that are a string, or lists written as literals in the call",
        )
    return subscripts


def explicit_subscripts(subscripts: str, count: int) -> tuple[list[str], str]:
    """The subscripts of each operand and of the result, spaces dropped and the result written out."""
    left, arrow, out = written_subscripts(subscripts).replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise ValueError(f"np.einsum: the subscripts {subscripts!r} do not fit {count} operands")
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        out = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return terms, out


def transposed_subscripts(subscripts: str, position: int, count: int) -> str:
    """Subscripts that take the cotangent of an einsum's result, then the other operands, to operand ``position``."""
    terms, out = explicit_subscripts(subscripts, count)
    others = terms[:position] + terms[position + 1 :]
    return ",".join([out, *others]) + "->" + terms[position]


@dataclass(frozen=True)
class _Plan:
    """An einsum that NumPy takes, and what must be done to its result."""

    subscripts: str
    optimize: bool
    summed: tuple[int, ...]  # axes of size 1 in the result that were repeated in the sum
    missing: tuple[int, ...]  # axes that no operand has
    shape: tuple[int, ...] | None  # what the result is repeated up to
    diagonal: str  # the subscripts of a result with an index twice, to the view of its diagonal


@lru_cache(maxsize=4096)
def _plan(subscripts: str, like: tuple[int, ...], shapes: tuple[tuple[int, ...], ...]) -> _Plan:
    terms, out = explicit_subscripts(subscripts, len(shapes))
    *terms, out = _lettered([*terms, out], [*shapes, like])
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for c, n in zip(term, shape, strict=True):
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]
    target = dict(zip(out, like, strict=True))
    unique = "".join(dict.fromkeys(out))
    reached = "".join(c for c in unique if c in sizes)
    summed = tuple(axis for axis, c in enumerate(unique) if target[c] == 1 and sizes.get(c, 1) != 1)
    missing = tuple(axis for axis, c in enumerate(unique) if c not in sizes)
    whole = tuple(target[c] for c in unique)
    grows = any(target[c] != sizes.get(c) and target[c] != 1 for c in unique)
    return _Plan(
        ",".join(terms) + "->" + reached,
        math.prod(sizes.values()) > _MANY and len(terms) > 1,
        summed,
        missing,
        whole if grows or (missing and unique != out) else None,
        "" if unique == out else f"{out}->{unique}",
    )


def _lettered(terms: list[str], shapes: list[tuple[int, ...]]) -> list[str]:
    """The ellipses as letters, aligned at the right."""
    if not any("..." in term for term in terms):
        return terms
    spare = [c for c in _LETTERS if not any(c in term for term in terms)]
    widths = [len(shape) - len(term) + 3 for term, shape in zip(terms, shapes, strict=True)]
    width = max(w for w, term in zip(widths, terms, strict=True) if "..." in term)
    dots = "".join(spare[:width])
    return [term.replace("...", dots[width - w :]) for w, term in zip(widths, terms, strict=True)]


def uneinsum(subscripts: str, like: Any, *operands: Any) -> Any:
    """``np.einsum(subscripts, *operands)`` in the shape and dtype of ``like``, where the result may have what an
    operand of einsum may have: an index that no operand has (repeated along it), one index twice (put on the
    diagonal), an axis of size 1 that is longer in the operands (summed)."""
    plan = _plan(subscripts, np.shape(like), tuple([np.shape(operand) for operand in operands]))
    result = np.einsum(plan.subscripts, *operands, optimize=plan.optimize)
    if plan.missing:
        result = np.expand_dims(result, plan.missing)
    if plan.summed:
        result = np.sum(result, axis=plan.summed, keepdims=True)
    if plan.shape is not None:
        result = np.array(np.broadcast_to(result, plan.shape))
    if plan.diagonal:
        whole = np.zeros(np.shape(like), np.result_type(result))
        np.einsum(plan.diagonal, whole)[...] = result
        result = whole
    return unbroadcast(result, like)
