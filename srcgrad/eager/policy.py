"""Where PyTorch answers otherwise than the rules at points that have no derivative: one table.

A row names a node, the points, and what PyTorch's gradient of an input is there; everywhere else, and in every other
node, the rules are followed.  ``following`` makes an operation's nodes look up their rows after the rule has run.
What PyTorch decides by choosing other functions is not here: extrema along a dimension pick one element, because the
operations say so; ``clamp`` passes no gradient at bounds that are numbers (PyTorch 2.15; it did before), and passes
it at bounds that are tensors, by the rule of ``np.clip``; ``hardtanh`` and ``relu6`` pass none by rules of their own;
forward mode follows the same; ``logsumexp`` has the gradient nan at infinities that are its result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from srcgrad.eager.dispatch import Operation
from srcgrad.eager.formulas import INPUT, RESULT, Formula
from srcgrad.eager.graph import Node
from srcgrad.eager.lifted_arrays import as_array, is_lifted
from srcgrad.eager.tensor import SavedResult, Tensor


@dataclass(frozen=True)
class Difference:
    """One row: at the points where ``where`` holds, the gradient of each parameter in ``gradient`` is that number."""

    node: str
    points: str  # in words, with the parameters' names
    where: Callable[[Mapping[str, Any]], Any] = field(repr=False)
    gradient: Mapping[str, float]
    because: str
    reads: tuple[str, ...] = ()


def _alike_and_infinite(v: Mapping[str, Any]) -> Any:
    return (v["x1"] == v["x2"]) & np.isinf(v["x1"])


TABLE: tuple[Difference, ...] = (
    Difference(
        "AbsBackward0", "x is nan", lambda v: v["x"] != v["x"], {"x": 0.0},
        "the sign of nan is 0 in PyTorch, nan in NumPy", ("x",),
    ),
    Difference(
        "HypotBackward0", "x1 = x2 = 0", lambda v: v["z"] == 0, {"x1": math.nan, "x2": math.nan},
        "PyTorch divides by the result; the rules take the subgradient 0", ("z",),
    ),
    Difference(
        "LogaddexpBackward0", "x1 = x2, both infinite", _alike_and_infinite, {"x1": math.nan, "x2": math.nan},
        "PyTorch subtracts the result, inf - inf; the rules share evenly", ("x1", "x2"),
    ),
    Difference(
        "Logaddexp2Backward0", "x1 = x2, both infinite", _alike_and_infinite, {"x1": math.nan, "x2": math.nan},
        "PyTorch subtracts the result, inf - inf; the rules share evenly", ("x1", "x2"),
    ),
    Difference(
        "XlogyBackward0", "x = y = 0", lambda v: (v["x"] == 0) & (v["y"] == 0), {"y": math.nan},
        "PyTorch divides 0 by 0; the rules take 0, as the function is 0 for x = 0", ("x", "y"),
    ),
    Difference(
        "SincBackward0", "x = 0", lambda v: v["x"] == 0, {"x": 0.0},
        "the same number with the other sign of zero", ("x",),
    ),
    Difference(
        "LinalgDetBackward0", "a is singular", lambda v: np.linalg.det(v["a"])[..., None, None] == 0, {"a": 0.0},
        "PyTorch solves with the factors and multiplies by the determinant; the rules give the cofactors", ("a",),
    ),
)  # fmt: skip


class _Following(Node):
    """A node that looks up its rows after the rule has run."""

    rows: ClassVar[tuple[Difference, ...]] = ()

    def apply(self, g: Any) -> Any:
        changes = self._changes()
        made = super().apply(g)
        if not changes:
            return made
        made = list(made)
        for place, mask, number in changes:
            if made[place] is not None:
                fitted = _fitted(mask, np.shape(made[place]))
                made[place] = np.where(fitted, made[place].dtype.type(number), made[place])[()]
        return made

    def apply_to_tensors(self, g: Any) -> Any:
        from srcgrad.eager.lifting import lifted

        changes = self._changes()
        made = list(super().apply_to_tensors(g))
        for place, mask, number in changes:
            if made[place] is not None:
                array = made[place].array
                instead = Tensor.of(array.dtype.type(number))
                made[place] = lifted(np.where)(_fitted(mask, array.shape), instead, made[place])
        return made

    def _changes(self) -> list[tuple[int, Any, float]]:
        """(place among the partials, where, number) of the rows that hold somewhere."""
        saved = self.saved
        if saved is None:
            return []
        found = []
        for row, reads, partials in plan(self.formula, self.rows):
            if any(type(saved[i]) not in _PLAINLY_SAVED for _, i in reads):
                continue  # what hooks have packed is unpacked once, by the rule
            mask = row.where({p: saved[i].array for p, i in reads})
            if is_lifted(mask) or mask.any():
                found += [(place, mask, number) for place, number in partials]
        return found


_PLAINLY_SAVED = (Tensor, SavedResult)
Plan = list[tuple[Difference, list[tuple[str, int]], list[tuple[int, float]]]]
_plans: dict[int, tuple[Formula, Plan]] = {}


def plan(formula: Formula, rows: tuple[Difference, ...]) -> Plan:
    """For each row that a formula can answer: what it reads among the saved values, which partials it changes."""
    known = _plans.get(id(formula))
    if known is None:
        reads = [(p, i) for i, (kind, p) in enumerate(formula.sources) if kind in (INPUT, RESULT)]
        made = []
        for row in rows:
            partials = [(formula.outputs.index(p), n) for p, n in row.gradient.items() if p in formula.outputs]
            if partials and set(row.reads) <= {p for p, _ in reads}:
                made.append((row, reads, partials))
        known = _plans[id(formula)] = formula, made
    return known[1]


def _fitted(mask: Any, shape: tuple[int, ...]) -> Any:
    """A mask of the result as one of an input: where any of the results that an element is part of is meant."""
    mask = as_array(mask)
    while mask.ndim > len(shape):
        mask = mask.any(0)
    if mask.ndim < len(shape):
        return mask.reshape(mask.shape + (1,) * (len(shape) - mask.ndim)) if mask.ndim else mask
    narrow = tuple(i for i, n in enumerate(shape) if n == 1 and mask.shape[i] != 1)
    return mask.any(narrow, keepdims=True) if narrow else mask


def following(operation: Operation) -> Operation:
    """The operation with nodes that follow the table, where the table has rows for them."""
    kind = operation.node
    rows = tuple(row for row in TABLE if row.node == kind.__name__)
    if rows:
        operation.node = type(kind.__name__, (_Following, kind), {"rows": rows, "__module__": kind.__module__})
    return operation
