"""Every way of asking the compiler for a derivative, behind plain functions: what the judges call.

Seeds and results are tuples with one entry per differentiated position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import srcgrad
import srcgrad.programs
from srcgrad.api.derivative import Derivative
from tests.corpus.example import Case
from tests.layouts import fresh
from tests.oracle import is_inexact, leaves, unravel

Tree = Any


@contextmanager
def settings(name: str) -> Iterator[None]:
    """The compiler's options by name: ``optimised``, ``plain`` (no optimizer), ``generic`` (no facts), ``sizeless``."""
    chosen = {
        "optimised": {},
        "plain": {"optimise": False},
        "generic": {"specialise": False},
        "sizeless": {"sizes": False},
        "generic-plain": {"optimise": False, "specialise": False},
    }[name]
    with srcgrad.programs.options(**chosen):
        yield


def chosen(case: Case) -> tuple[Any, ...]:
    """The differentiated arguments."""
    return tuple(case.arguments[k] for k in case.argnums)


def numbers_like(result: Tree, like: Tree) -> list[Any]:
    """The leaves of ``result`` at the floating-point leaves of ``like``, which must have the same structure."""
    assert_same_structure(result, like)
    pairs = zip(leaves(result), leaves(like), strict=True)
    return [got for got, leaf in pairs if is_inexact(leaf)]


def assert_same_structure(result: Tree, like: Tree) -> None:
    """Same containers; same shape and dtype at the floating-point leaves."""
    if isinstance(like, Mapping):
        assert isinstance(result, Mapping) and list(result) == list(like), (result, like)
        for key in like:
            assert_same_structure(result[key], like[key])
    elif isinstance(like, tuple | list):
        assert type(result) is type(like) and len(result) == len(like), (result, like)
        for got, item in zip(result, like, strict=True):
            assert_same_structure(got, item)
    elif is_inexact(like):
        assert np.shape(result) == np.shape(like), f"shape {np.shape(result)}, not {np.shape(like)}"
        expected = np.asarray(like).dtype
        assert np.asarray(result).dtype == expected, f"dtype {np.asarray(result).dtype}, not {expected}"
        assert isinstance(result, np.ndarray) == isinstance(like, np.ndarray), (type(result), type(like))


def tangents_of(case: Case, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """One tangent for each argument: None where none is differentiated."""
    by_position = dict(zip(case.argnums, tangents, strict=True))
    return tuple(by_position.get(k) for k in range(len(case.arguments)))


def reverse(case: Case, seed: Tree) -> tuple[Any, tuple[Any, ...]]:
    """(value, cotangents) by ``vjp``; its pullback is called twice, and agrees with itself."""
    value, pullback = srcgrad.vjp(case.function, *fresh(case.arguments), argnums=case.argnums, **case.keywords)
    first = pullback(fresh(seed))
    second = pullback(fresh(seed))
    for one, other in zip(leaves(first), leaves(second), strict=True):
        np.testing.assert_array_equal(one, other, err_msg="the second call of the pullback differs")
    return value, first


def joint(case: Case) -> tuple[Any, tuple[Any, ...]]:
    """(value, gradient) by ``value_and_grad``, for a scalar result."""
    return srcgrad.value_and_grad(case.function, argnums=case.argnums)(*fresh(case.arguments), **case.keywords)


def forward(case: Case, tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """(value, tangent) by ``jvp``."""
    return srcgrad.jvp(case.function, fresh(case.arguments), tangents_of(case, tangents))


def hessian_vector(case: Case, direction: tuple[Any, ...]) -> tuple[Any, ...]:
    """The public ``hvp``: forward over reverse."""
    return srcgrad.hvp(case.function, argnums=case.argnums)(*fresh(case.arguments), direction)


def one_or_all(values: tuple[Any, ...]) -> Any:
    """A tuple of one becomes its entry: ``argnums=0`` is what people write, not ``argnums=(0,)``."""
    return values[0] if len(values) == 1 else values


def reverse_over_reverse(case: Case, direction: tuple[Any, ...]) -> tuple[Any, ...]:
    """The adjoint of the gradient's text."""
    gradient = srcgrad.grad(case.function, argnums=one_or_all(case.argnums))
    _, pullback = srcgrad.vjp(gradient, *fresh(case.arguments), argnums=case.argnums)
    return pullback(one_or_all(direction))


def forward_over_reverse(case: Case, direction: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tangent of the gradient's text."""
    gradient = srcgrad.grad(case.function, argnums=one_or_all(case.argnums))
    change = srcgrad.jvp(gradient, fresh(case.arguments), tangents_of(case, direction))[1]
    return (change,) if len(case.argnums) == 1 else change


def reverse_over_forward(case: Case, direction: tuple[Any, ...]) -> tuple[Any, ...]:
    """The adjoint of the tangent's text, seeded at the tangent."""
    forward = Derivative(case.function, case.argnums, mode="forward")
    values = forward.parameters.bind(fresh(case.arguments), {})
    tangent, taken = forward.program(values).entry, forward.arguments(values)
    value, pullback = srcgrad.vjp(tangent, *taken, *direction, argnums=forward.wanted)
    return pullback((value[0] * 0.0, 1.0))


SECOND_ORDER: dict[str, Callable[[Case, tuple[Any, ...]], tuple[Any, ...]]] = {
    "reverse-over-reverse": reverse_over_reverse,
    "forward-over-reverse": forward_over_reverse,
    "reverse-over-forward": reverse_over_forward,
}


def gradient_at(case: Case) -> Callable[[np.ndarray], np.ndarray]:
    """point -> gradient, by the compiler, as vectors: what numeric second derivatives are taken of."""
    compiled = srcgrad.grad(case.function, argnums=case.argnums)

    def at(point: np.ndarray) -> np.ndarray:
        arguments = list(case.arguments)
        for k, value in zip(case.argnums, unravel(chosen(case), point), strict=True):
            arguments[k] = value
        gradient = compiled(*arguments)
        return np.concatenate([np.ravel(leaf) for leaf in numbers_like(gradient, chosen(case))]).astype(float)

    return at
