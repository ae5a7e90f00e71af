"""Programs know which sizes of the arguments are equal, 0 or 1: a batch may be as large as any of them, and another one
at the next call of the same derivative."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import ExampleByExample, grad, hessian, jacfwd, jacobian, jvp, runtime, vjp, vmap

#: How many examples, and the sizes of w (n, m), x (n,), b (m,): equal ones, ones, and others again.
SIZES = [(3, 3, 2), (3, 3, 3), (3, 2, 3), (2, 3, 3), (1, 3, 2), (3, 1, 1), (1, 1, 1), (4, 3, 2), (3, 3, 3)]
FEW = [(3, 3, 2), (1, 3, 2), (3, 1, 3), (4, 3, 2)]


def layer(w: Any, x: Any, b: Any) -> Any:
    return np.tanh(x @ w + b)


def outer(w: Any, x: Any, b: Any) -> Any:
    return w * x[:, None] + b


def loss(w: Any, x: Any, b: Any) -> Any:
    hidden = layer(w, x, b)
    return np.sum((hidden - b) ** 2) + np.mean(x * x) * np.sum(outer(w, x, b) / (1.0 + b * b))


def normalised(w: Any, x: Any, b: Any) -> Any:
    rows = w - np.mean(w, axis=0)
    scaled = rows / np.sqrt(1.0 + np.sum(rows * rows, axis=1, keepdims=True))
    return np.reshape(scaled, -1).reshape(b.shape[0], x.shape[0]) @ x + b


def stored(w: Any, x: Any, b: Any) -> Any:
    made = np.zeros(x.shape[0])
    for i in range(len(x)):
        made[i] = np.sum(w[i] * b) * x[i]
    return np.sum(made * x)


def given(n: int, m: int, batch: int | None = None) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(7)
    first = () if batch is None else (batch,)
    shapes = (n, m), (*first, n), (*first, m)
    w, x, b = (random.standard_normal(shape) for shape in shapes)
    return w, x, b


def products(w: Any, x: Any, b: Any) -> Any:
    """Cotangents of factors that are repeated: by batches, and by what is the same for every example."""
    sides = np.sin(w) * b + w * x[:, None]
    rows = np.mean(w, axis=1, keepdims=True)
    return np.sum(sides * (x[:, None] * b)) + np.sum(np.cos(b) * w) + np.sum(w * np.sum(b)) + np.mean(rows * b)


AXES = None, 0, 0


def by_loop(f: Callable[..., Any], w: Any, x: Any, b: Any) -> Any:
    made = [f(w, one, other) for one, other in zip(x, b, strict=True)]
    if isinstance(made[0], tuple):
        return tuple(map(np.stack, zip(*made, strict=True)))
    return np.stack(made)


def assert_same(got: Any, wanted: Any) -> None:
    got, wanted = (each if isinstance(each, tuple) else (each,) for each in (got, wanted))
    for one, other in zip(got, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.fixture(autouse=True)
def _all_at_once() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExampleByExample)
        yield


FUNCTIONS = [layer, outer, loss, normalised, stored]
SCALARS = [loss, stored, products]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_a_function(f: Callable[..., Any]) -> None:
    batched = vmap(f, AXES)
    for count, n, m in SIZES:
        w, x, b = given(n, m, count)
        assert_same(batched(w, x, b), by_loop(f, w, x, b))


@pytest.mark.parametrize("f", SCALARS)
def test_gradients(f: Callable[..., Any]) -> None:
    gradient = grad(f, argnums=(0, 1, 2))
    batched = vmap(gradient, AXES)
    for count, n, m in SIZES:
        w, x, b = given(n, m, count)
        assert_same(batched(w, x, b), by_loop(gradient, w, x, b))


def test_the_jacobian_of_gradients() -> None:
    second = hessian(loss)
    of_batch = jacobian(vmap(grad(loss), AXES))
    for count, n, m in FEW:
        w, x, b = given(n, m, count)
        assert_same(of_batch(w, x, b), by_loop(second, w, x, b))


@pytest.mark.costly(1)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_of_a_batch(f: Callable[..., Any]) -> None:
    batched, alone = vmap(f, AXES), jacobian(f, argnums=(0, 1, 2))
    of_batch = jacobian(batched)
    for count, n, m in FEW:
        w, x, b = given(n, m, count)
        slopes = by_loop(alone, w, x, b)
        assert_same(of_batch(w, x, b), slopes[0])
        value, pullback = vjp(batched, w, x, b, argnums=(0, 1, 2))
        seed = np.cos(np.arange(value.size).reshape(value.shape))
        rank = value.ndim - 1
        wanted = [np.stack([np.tensordot(s, j, rank) for s, j in zip(seed, slope, strict=True)]) for slope in slopes]
        assert_same(pullback(seed), (np.sum(wanted[0], axis=0), wanted[1], wanted[2]))
        _, moved = jvp(batched, (w, x, b), (w, None, None))
        assert_same(moved, np.tensordot(slopes[0], w, 2))


@pytest.mark.costly(1)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_jacobians_in_one_sweep(f: Callable[..., Any]) -> None:
    """Here the outputs, or the inputs, are the batch: as many as the sizes of the arguments or not."""
    backwards, forwards = jacobian(f, argnums=(1, 2)), jacfwd(f, argnums=(1, 2))
    for _, n, m in SIZES:
        w, x, b = given(n, m)
        step = 1e-6
        wanted = tuple(
            np.stack([(f(*_moved(w, x, b, k, step * e)) - f(*_moved(w, x, b, k, -step * e))) / (2.0 * step)
                      for e in np.eye(size)], axis=-1)
            for k, size in ((1, n), (2, m))
        )  # fmt: skip
        assert_same(backwards(w, x, b), forwards(w, x, b))
        for one, other in zip(forwards(w, x, b), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def _moved(w: Any, x: Any, b: Any, place: int, by: Any) -> Any:
    return (w, x + by, b) if place == 1 else (w, x, b + by)


@pytest.mark.costly(1)
@pytest.mark.parametrize("f", SCALARS)
def test_hessians(f: Callable[..., Any]) -> None:
    whole, slope = hessian(f, argnums=1), grad(f, argnums=1)
    for _, n, m in SIZES:
        w, x, b = given(n, m)
        wanted = [(slope(w, x + e, b) - slope(w, x - e, b)) / 2e-6 for e in 1e-6 * np.eye(n)]
        np.testing.assert_allclose(whole(w, x, b), np.stack(wanted, axis=-1), rtol=1e-6, atol=1e-7)


def summed(w: Any, xs: Any, bs: Any) -> Any:
    return np.sum(vmap(loss, in_axes=(None, 0, 0))(w, xs, bs) ** 2)


def summed_by_loop(w: Any, xs: Any, bs: Any) -> Any:
    total = 0.0
    for x, b in zip(xs, bs, strict=True):
        total = total + loss(w, x, b) ** 2
    return total


def test_inside_of_a_differentiated_function() -> None:
    got, wanted = grad(summed, argnums=(0, 1, 2)), grad(summed_by_loop, argnums=(0, 1, 2))
    for count, n, m in FEW:
        assert_same(got(*given(n, m, count)), wanted(*given(n, m, count)))


def test_no_examples_and_nothing_in_them() -> None:
    batched, gradient = vmap(layer, AXES), vmap(grad(loss, argnums=(0, 1)), AXES)
    for count, n, m in [(0, 3, 3), (3, 0, 3), (0, 0, 3), (3, 3, 0), (2, 3, 3), (0, 3, 1), (3, 1, 1)]:
        w, x, b = given(n, m, count)
        assert batched(w, x, b).shape == (count, m)
        if n:
            first, second = gradient(w, x, b)
            assert (first.shape, second.shape) == ((count, n, m), (count, n))
            if count:
                assert_same((first, second), by_loop(grad(loss, argnums=(0, 1)), w, x, b))


def unproduct(g: Any, b: Any, like: Any) -> Any:
    return runtime.unproduct(g, b, like)


def triangle(a: Any, b: Any) -> Any:
    return runtime.solve_triangle(np.tril(a) + 9.0 * np.eye(3), b)


def factor(a: Any) -> Any:
    return np.sum(np.linalg.cholesky(a @ a.T + 9.0 * np.eye(3)) ** 3)


@pytest.mark.parametrize(
    "shapes",
    [((2, 1, 1), (4, 3), (2, 4, 1)), ((2, 3), (3,), (3,)), ((3,), (3, 3), (3, 1)), ((), (3, 3), (3,)),
     ((100, 100), (100,), (100,))],
    ids=str,
)  # fmt: skip
def test_cotangents_of_repeated_factors(shapes: tuple[tuple[int, ...], ...]) -> None:
    random = np.random.default_rng(3)
    for axes in [(0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0), (0, None, 0)]:
        batched = vmap(unproduct, axes)
        for count in (3, 1):
            given = [random.standard_normal((count,) * (a == 0) + s) for a, s in zip(axes, shapes, strict=True)]
            assert_same(batched(*given), each(unproduct, axes, given))


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_triangular_systems(axes: tuple[int | None, int | None]) -> None:
    random = np.random.default_rng(3)
    given = [random.standard_normal((3,) * (a == 0) + s) for a, s in zip(axes, [(3, 3), (3, 2)], strict=True)]
    batched = vmap(triangle, axes)
    assert_same(batched(*given), each(triangle, axes, given))
    slopes = jacobian(batched, argnums=(0, 1))(*given)
    for i in range(3):
        one = [x[i] if a == 0 else x for a, x in zip(axes, given, strict=True)]
        alone = jacobian(triangle, argnums=(0, 1))(*one)
        assert_same(tuple(s[i, :, :, i] if a == 0 else s[i] for a, s in zip(axes, slopes, strict=True)), alone)


def test_gradients_of_triangular_factors() -> None:
    a = np.random.default_rng(3).standard_normal((3, 3, 3))
    assert_same(vmap(grad(factor))(a), np.stack([grad(factor)(one) for one in a]))
    whole = jacobian(vmap(grad(factor)))(a)
    assert_same(np.stack([whole[i, :, :, i] for i in range(3)]), np.stack([hessian(factor)(one) for one in a]))


def each(f: Callable[..., Any], axes: tuple[Any, ...], given: list[Any]) -> Any:
    count = next(len(x) for a, x in zip(axes, given, strict=True) if a == 0)
    return np.stack([f(*(x[i] if a == 0 else x for a, x in zip(axes, given, strict=True))) for i in range(count)])
