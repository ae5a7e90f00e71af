"""Derivatives by numbers alone: complex step where a program is analytic, else extrapolated central differences.

Nothing here knows the compiler.  Arguments and results may be nested tuples, lists, deques and dicts; a *point* is the
vector of all their floating-point numbers, in order.  Ints, bools, strings, None and functions stay as they are.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

Vector = np.ndarray
STEP = 1e-25  # the complex step: no subtraction, hence no cancellation


def is_inexact(leaf: Any) -> bool:
    """True for floats, complex numbers and arrays of them."""
    if isinstance(leaf, np.ndarray | np.generic):
        return bool(np.issubdtype(leaf.dtype, np.inexact))
    return isinstance(leaf, float | complex)


def leaves(tree: Any) -> list[Any]:
    """The leaves of nested tuples, lists, deques and dicts, dicts in the order of their keys' insertion."""
    if isinstance(tree, Mapping):
        return [leaf for item in tree.values() for leaf in leaves(item)]
    if isinstance(tree, tuple | list | deque):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


def rebuild(tree: Any, make: Callable[[Any], Any]) -> Any:
    """The same structure with ``make(leaf)`` at each leaf."""
    if isinstance(tree, Mapping):
        items_made = {key: rebuild(item, make) for key, item in tree.items()}
        if isinstance(tree, defaultdict):
            return defaultdict(tree.default_factory, items_made)
        return OrderedDict(items_made) if isinstance(tree, OrderedDict) else items_made
    if isinstance(tree, tuple):
        items = [rebuild(item, make) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if isinstance(tree, list):
        return [rebuild(item, make) for item in tree]
    if isinstance(tree, deque):
        return deque((rebuild(item, make) for item in tree), tree.maxlen)
    return make(tree)


def ravel(tree: Any) -> Vector:
    """All floating-point numbers of the tree as one vector (float64, or complex128 when any is complex)."""
    parts = [np.asarray(leaf).ravel() for leaf in leaves(tree) if is_inexact(leaf)]
    if not parts:
        return np.zeros(0)
    joined = np.concatenate(parts)
    return joined.astype(np.complex128 if np.iscomplexobj(joined) else np.float64)


def unravel(tree: Any, point: Vector) -> Any:
    """The tree with its floating-point numbers replaced by those of the point, in the precision of the point.

    A Python float becomes a NumPy scalar when the point is complex, because NumPy orders complex scalars by their
    real parts and Python does not order them at all.
    """
    position = 0

    def make(leaf: Any) -> Any:
        nonlocal position
        if not is_inexact(leaf):
            return leaf
        shape = np.shape(leaf)
        size = int(np.prod(shape))
        values = point[position : position + size]
        position += size
        if isinstance(leaf, np.ndarray):
            return values.reshape(shape).copy()
        return values[0] if np.iscomplexobj(point) else float(values[0])

    return rebuild(tree, make)


def seed_like(tree: Any, seed: int = 0) -> Any:
    """Random numbers at the floating-point leaves, None at the others; kinds and dtypes of the leaves are kept."""
    generator = np.random.default_rng(seed)

    def make(leaf: Any) -> Any:
        if not is_inexact(leaf):
            return None
        values = generator.uniform(0.3, 1.0, np.shape(leaf)) * generator.choice((-1.0, 1.0), np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            return np.asarray(values, dtype=leaf.dtype)
        return leaf.dtype.type(values) if isinstance(leaf, np.generic) else float(values)

    return rebuild(tree, make)


@dataclass(frozen=True, eq=False)
class Measured:
    """A numeric derivative with a bound on its own error."""

    value: Vector
    error: float


def complex_step(function: Callable[[Vector], Vector], point: Vector, direction: Vector) -> Measured:
    """d/dt function(point + t * direction) by one complex evaluation (Squire & Trapp, SIAM Review 40, 1998)."""
    result = function(point + 1j * STEP * direction)
    return Measured(np.imag(result) / STEP, 0.0)


def differences(function: Callable[[Vector], Vector], point: Vector, direction: Vector) -> Measured:
    """d/dt function(point + t * direction) by Ridders' extrapolation (Press et al., Numerical Recipes, 5.7)."""
    shrink, step, best, error = 1.6, 0.004, np.zeros(0), np.inf
    columns: list[Vector] = []
    for _ in range(12):
        upper, lower = function(point + step * direction), function(point - step * direction)
        current = [(upper - lower) / (2.0 * step)]
        factor = shrink * shrink
        for older in columns:
            current.append((current[-1] * factor - older) / (factor - 1.0))
            factor *= shrink * shrink
            change = max(_largest(current[-1] - current[-2]), _largest(current[-1] - older))
            if change < error:
                best, error = current[-1], change
        if not columns:
            best = current[0]
        elif _largest(current[-1] - columns[-1]) > 2.0 * error and error < np.inf:
            break
        columns = current
        step /= shrink
    return Measured(best, float(error))


def _largest(values: Vector) -> float:
    worst = np.max(np.abs(values), initial=0.0)
    return float(worst) if np.isfinite(worst) else np.inf


def as_vector_function(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    argnums: Sequence[int],
    keywords: Mapping[str, Any] | None = None,
) -> tuple[Callable[[Vector], Vector], Vector]:
    """(F, point): F maps the numbers of the differentiated arguments to the numbers of the result."""
    chosen = tuple(arguments[k] for k in argnums)
    expected = [is_inexact(leaf) for leaf in leaves(function(*deepcopy(arguments), **deepcopy(keywords or {})))]

    def vector_function(point: Vector) -> Vector:
        values = list(deepcopy(arguments))  # the function may store into them
        for k, value in zip(argnums, unravel(chosen, point), strict=True):
            values[k] = value
        with np.errstate(all="ignore"):
            results = leaves(function(*values, **deepcopy(keywords or {})))
        return ravel([leaf for leaf, wanted in zip(results, expected, strict=True) if wanted])

    return vector_function, ravel(chosen)


def directional(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    tangents: Any,
    argnums: Sequence[int],
    *,
    keywords: Mapping[str, Any] | None = None,
    analytic: bool = False,
) -> Measured:
    """The derivative of the result along ``tangents`` (a tuple, one per differentiated position)."""
    vector_function, point = as_vector_function(function, arguments, argnums, keywords)
    measure = complex_step if analytic else differences
    return measure(vector_function, point, ravel(tangents))


def jacobian(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    argnums: Sequence[int],
    *,
    keywords: Mapping[str, Any] | None = None,
    analytic: bool = False,
) -> Measured:
    """The Jacobian, a row for each number of the result and a column for each number of the arguments."""
    vector_function, point = as_vector_function(function, arguments, argnums, keywords)
    measure = complex_step if analytic else differences
    columns = [measure(vector_function, point, direction) for direction in np.eye(point.size)]
    matrix = np.stack([column.value for column in columns], axis=1)
    return Measured(matrix, max((column.error for column in columns), default=0.0))


def assert_close(actual: Any, expected: Vector, *, tolerance: float = 1e-7, error: float = 0.0, what: str = "") -> None:
    """Agreement relative to the largest entry; ``error`` is what the numeric side knows about itself."""
    got = ravel(actual)
    if got.shape != expected.shape:
        raise AssertionError(f"{what}: {got.size} numbers where {expected.size} are expected")
    scale = max(1.0, _largest(expected))
    if error > 10.0 * tolerance * scale:
        raise AssertionError(f"{what}: the numeric derivative itself is only good to {error:.1e}; change the example")
    worst = _largest(got - expected)
    if not worst <= tolerance * scale + 2.0 * error:
        raise AssertionError(f"{what}: off by {worst:.3e} (scale {scale:.3g})\n  got      {got}\n  expected {expected}")
