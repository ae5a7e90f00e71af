"""``check_grads``: a function's derivatives in every mode, against numbers and against each other.

Enters: a function and arguments to check it at.  Leaves: nothing, or ``GradientMismatch`` that names the mode, the
argument and the two numbers.  The numeric side is a central difference in a random direction, extrapolated to zero step
(Richardson; Press et al., *Numerical Recipes*, §5.7), so that its own error is far below the tolerance.  Directions of
complex arguments are complex; of a complex value a random combination of real and imaginary parts is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.api.arguments import is_floating, leaves_of
from srcgrad.api.dense import Slope
from srcgrad.api.derivative import Derivative
from srcgrad.api.transforms import directed, jvp, vjp
from srcgrad.errors import ArgumentError, SrcgradError

MODES = ("reverse", "forward")


class GradientMismatch(SrcgradError, AssertionError):
    """A derivative disagrees with the numeric one, or with another mode."""


@dataclass(frozen=True)
class Disagreement:
    """One comparison: the derivative along a random direction by two methods."""

    mode: str
    order: int
    left: float
    right: float

    @property
    def relative(self) -> float:
        scale = max(abs(self.left), abs(self.right), 1.0)
        return abs(self.left - self.right) / scale


def check_grads(
    f: Callable[..., Any],
    *args: Any,
    order: int = 2,
    modes: Sequence[str] = MODES,
    tolerance: float | None = None,
    seed: int = 0,
) -> tuple[Disagreement, ...]:
    """Compare the derivatives of ``f`` at ``args`` with numeric ones, in every mode, up to ``order`` (1 or 2).

    All floating arguments, containers of them included, are differentiated along random directions, complex ones along
    complex directions; the value of f may have any structure.  Returns the comparisons made; raises
    ``GradientMismatch`` if one differs by more than ``tolerance`` relative to the larger of the two numbers and 1.  By
    default that is 1e-6, or what the coarsest dtype among the arguments and the value can do.  Numbers are computed
    with arguments of double precision.
    """
    if order not in (1, 2):
        raise ArgumentError(f"order is 1 or 2, not {order!r}")
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        raise ArgumentError(f"there is no mode {unknown[0]!r}", hint=f"the modes are {', '.join(MODES)}")
    random = np.random.default_rng(seed)
    moving = tuple(j for j, a in enumerate(args) if _has_floats(a))
    if not moving:
        raise ArgumentError("no argument is a floating-point number or an array of them")
    directions = tuple(_random_like(args[j], random) for j in moving)
    value, pullback = vjp(f, *args, argnums=moving)
    weights = _random_like(value, random)
    if tolerance is None:
        tolerance = max(1e-6, 100.0 * _coarsest((value, *(args[j] for j in moving))))

    def along(t: float) -> float:
        moved = list(args)
        for j, direction in zip(moving, directions, strict=True):
            moved[j] = _moved(args[j], direction, t)
        return _inner(weights, f(*moved))

    numeric = _slope(along)
    found: list[Disagreement] = []
    if "reverse" in modes:
        cotangents = pullback(weights)
        found.append(Disagreement("reverse", 1, _inner_all(cotangents, directions), numeric))
    if "forward" in modes:
        tangents: list[Any] = [None] * len(args)
        for j, direction in zip(moving, directions, strict=True):
            tangents[j] = direction
        _, tangent = jvp(f, tuple(args), tuple(tangents))
        found.append(Disagreement("forward", 1, _inner(weights, tangent), numeric))
    is_number = isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if order == 2 and is_number and not np.iscomplexobj(value):
        found += _second(f, args, moving, directions)
    for comparison in found:
        if not comparison.relative <= tolerance:
            raise GradientMismatch(
                f"order {comparison.order} in {comparison.mode} mode gives {comparison.left!r} where numbers give"
                f" {comparison.right!r}: a relative difference of {comparison.relative:.1e}",
                hint="a kink, a jump or noise at this point makes the numeric side wrong: try another point",
            )
    return tuple(found)


def _second(
    f: Callable[..., Any], args: tuple[Any, ...], moving: tuple[int, ...], directions: tuple[Any, ...]
) -> list[Disagreement]:
    """The Hessian along the direction: forward over reverse against the numeric slope of the gradient."""
    gradient = Derivative(f, moving, mode="reverse")
    values = gradient.parameters.bind(args, {})
    named = zip(moving, directions, strict=True)
    change = Slope(gradient).along(values, tuple(directed(v, args[j], f"argument {j}") for j, v in named))

    def along(t: float) -> float:
        moved = list(args)
        for j, direction in zip(moving, directions, strict=True):
            moved[j] = _moved(args[j], direction, t)
        return _inner_all(gradient(*moved), directions)

    return [Disagreement("forward over reverse", 2, _inner_all(change, directions), _slope(along))]


def _slope(along: Callable[[float], float], step: float = 1e-2, levels: int = 6) -> float:
    """The derivative at 0 by Richardson extrapolation; the entry of the table with the least estimated error."""
    table: list[list[float]] = []
    best, error = np.nan, np.inf
    for level in range(levels):
        h = step / 2**level
        row = [(along(h) - along(-h)) / (2 * h)]
        for k in range(level):
            row.append(row[k] + (row[k] - table[-1][k]) / (4 ** (k + 1) - 1))
            estimate = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - table[-1][k]))
            if estimate < error:
                best, error = row[k + 1], estimate
        table.append(row)
    return float(best)


def _has_floats(value: Any) -> bool:
    return any(is_floating(leaf) for leaf, _ in leaves_of(value, ""))


def _coarsest(value: Any) -> float:
    """The greatest rounding unit of the floating-point numbers in a value."""
    dtypes = (np.asarray(leaf).dtype for leaf, _ in leaves_of(value, "") if is_floating(leaf))
    return max((float(np.finfo(dtype).eps) for dtype in dtypes), default=0.0)


def _mapped(value: Any, change: Callable[[Any, Any], Any], other: Any) -> Any:
    """The structure of ``value`` with ``change`` of each floating-point leaf and its counterpart in ``other``."""
    if isinstance(value, tuple | list):
        items = [_mapped(item, change, part) for item, part in zip(value, other, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _mapped(item, change, other[key]) for key, item in value.items()}
    return change(value, other) if is_floating(value) else value


def _random_like(value: Any, random: np.random.Generator) -> Any:
    """A random direction in the structure of ``value``; what has no derivative is left as it is."""

    def draw(leaf: Any, _: Any) -> Any:
        drawn: Any = random.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            drawn = drawn + 1j * random.standard_normal(np.shape(leaf))
        return np.asarray(drawn, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(drawn)

    return _mapped(value, draw, value)


def _moved(value: Any, direction: Any, t: float) -> Any:
    """``value + t * direction``, in double precision where it is less."""

    def move(leaf: Any, along: Any) -> Any:
        if isinstance(leaf, np.ndarray | np.generic):
            moved: Any = np.asarray(leaf) + np.asarray(along, np.result_type(leaf, np.float64)) * t
            return np.asarray(moved) if isinstance(leaf, np.ndarray) else moved
        return leaf + t * along

    return _mapped(value, move, direction)


def _inner(a: Any, b: Any) -> float:
    if isinstance(b, tuple | list):
        return sum(_inner(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(b, dict):
        return sum(_inner(a[key], item) for key, item in b.items())
    if a is None or b is None or not (_has_floats(a) and _has_floats(b)):
        return 0.0
    return float(np.real(np.sum(np.asarray(a) * np.asarray(b))))


def _inner_all(a: Any, b: Any) -> float:
    return sum(_inner(x, y) for x, y in zip(a, b, strict=True))
