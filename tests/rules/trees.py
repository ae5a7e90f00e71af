"""Numbers, arrays and containers as vectors: what the numeric tests of the rules need."""

from __future__ import annotations

from typing import Any

import numpy as np


def leaves(x: Any) -> list[Any]:
    """The floating leaves of a value, in order; None in a cotangent is no leaf."""
    if isinstance(x, tuple | list):
        return [leaf for item in x for leaf in leaves(item)]
    if isinstance(x, dict):
        return [leaf for item in x.values() for leaf in leaves(item)]
    return [x] if is_floating(x) else []


def is_floating(x: Any) -> bool:
    return isinstance(x, float | complex) or (isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc")


def map_leaves(f: Any, x: Any) -> Any:
    """``x`` with ``f`` of every floating leaf."""
    if isinstance(x, tuple | list):
        return _same(x, [map_leaves(f, item) for item in x])
    if isinstance(x, dict):
        return {key: map_leaves(f, item) for key, item in x.items()}
    return f(x) if is_floating(x) else x


def _same(x: Any, items: list[Any]) -> Any:
    """A list, a tuple, a named tuple as ``x`` is."""
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


def random_like(x: Any, rng: np.random.Generator) -> Any:
    """A random value of the kind of ``x``."""

    def draw(leaf: Any) -> Any:
        number: Any = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            number = number + 1j * rng.standard_normal(np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            return np.asarray(number, leaf.dtype)
        return leaf.dtype.type(number) if isinstance(leaf, np.generic) else type(leaf)(number)

    return map_leaves(draw, x)


def moved(x: Any, direction: Any, step: complex) -> Any:
    """``x + step * direction``, leaf by leaf."""
    steps = iter(leaves(direction))

    def move(leaf: Any) -> Any:
        made = leaf + step * next(steps)
        return np.asarray(made) if isinstance(leaf, np.ndarray) else made

    return map_leaves(move, x)


def pairing(a: Any, b: Any) -> float:
    """<a, b> of cotangents and tangents: the real part of the sum of products, without conjugation."""
    return float(np.real(np.dot(vector(a), vector(b))))


def vector(x: Any) -> Any:
    """All floating leaves in one array."""
    parts = [np.ravel(leaf) for leaf in leaves(x)]
    return np.concatenate(parts) if parts else np.zeros(0)


def poisoned(x: Any) -> Any:
    """A value of the same kinds, shapes and dtypes with no number of ``x`` in it."""
    if isinstance(x, tuple | list):
        return _same(x, [poisoned(item) for item in x])
    if isinstance(x, dict):
        return {key: poisoned(item) for key, item in x.items()}
    if isinstance(x, np.ndarray):
        return np.full_like(x, np.nan if x.dtype.kind in "fc" else True if x.dtype.kind == "b" else 77)
    if isinstance(x, np.generic):
        return x.dtype.type(np.nan) if x.dtype.kind in "fc" else x
    return float("nan") if isinstance(x, float) else 77 if type(x) is int else x
