"""A derivative of any function against difference quotients: first order in both directions, second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad


def directions(arguments: tuple[Any, ...], rng: np.random.Generator) -> list[Any]:
    """A random direction for each argument, complex where the argument is."""
    made = []
    for a in arguments:
        v = rng.standard_normal(np.shape(a))
        made.append(v + 1j * rng.standard_normal(np.shape(a)) if np.iscomplexobj(a) else v)
    return made


def paired(cotangents: Any, tangents: Any) -> float:
    """The real part of the sum of products."""
    return float(sum(np.sum(np.real(g * v)) for g, v in zip(cotangents, tangents, strict=True)))


def quotient(f: Callable[..., Any], arguments: tuple[Any, ...], along: list[Any], h: float = 1e-3) -> Any:
    """The derivative of ``f`` along a direction, by central differences of fourth order."""

    def at(step: float) -> Any:
        return f(*[a + step * v for a, v in zip(arguments, along, strict=True)])

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def check(f: Callable[..., Any], *arguments: Any, second: bool = True, seed: int = 0) -> None:
    """``f``, a real function of arrays, in reverse, forward, and its gradient forward."""
    along = directions(arguments, np.random.default_rng(seed))
    expected = quotient(f, arguments, along)
    gradient = srcgrad.grad(f, tuple(range(len(arguments))))
    cotangents = gradient(*arguments)
    for g, a in zip(cotangents, arguments, strict=True):
        assert g.shape == a.shape and g.dtype == a.dtype
    np.testing.assert_allclose(paired(cotangents, along), expected, rtol=1e-6, atol=1e-7)
    _, tangent = srcgrad.jvp(f, arguments, tuple(along))
    np.testing.assert_allclose(tangent, expected, rtol=1e-6, atol=1e-7)
    if second:
        _, moved = srcgrad.jvp(gradient, arguments, tuple(along))
        for place, found in enumerate(moved):
            wanted = quotient(lambda *a, place=place: gradient(*a)[place], arguments, along)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * (1 + np.max(np.abs(wanted))))
