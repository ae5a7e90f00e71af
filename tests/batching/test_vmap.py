"""``vmap`` at the door: axes, sizes, structures, and what it is composed with."""

from __future__ import annotations

import math
import pickle
import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from srcgrad import (
    ArgumentError,
    ExampleByExample,
    UnsupportedSyntax,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jvp,
    options,
    vjp,
    vmap,
)

Pair = namedtuple("Pair", "a b")


def weighted(w: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ w) ** 2)


def spread(x: Any, y: Any) -> Any:
    return x * np.sum(y) + y


def both(x: Any) -> Any:
    return x * 2.0, np.sum(x)


def one_of(x: Any) -> Any:
    return np.ones(2)


def of_pair(p: Any) -> Any:
    return Pair(p.a * p.b, p.b)


def with_option(x: Any, *, scale: Any = 2.0) -> Any:
    return x * scale


def branching(x: Any) -> Any:
    return np.sqrt(x) if x > 0.0 else -x


def sorted_out(x: Any) -> Any:
    return np.linalg.matrix_rank(np.outer(x, x)) + np.unwrap(x)


def summed(w: Any, xs: Any) -> Any:
    return np.sum(vmap(weighted, in_axes=(None, 0))(w, xs) ** 2)


def summed_by_loop(w: Any, xs: Any) -> Any:
    total = 0.0
    for x in xs:
        total = total + weighted(w, x) ** 2
    return total


w = np.random.default_rng(1).standard_normal((4, 2))
xs = np.random.default_rng(2).standard_normal((3, 4))


def test_axes_of_arguments_and_results() -> None:
    wanted = np.stack([spread(x, 1.0 + np.arange(2.0)) for x in xs[:, 0]])
    got = vmap(spread, in_axes=(1, None), out_axes=1)(xs.T[:1], 1.0 + np.arange(2.0))
    np.testing.assert_allclose(got, np.stack([spread(x, 1.0 + np.arange(2.0)) for x in xs[:, :1]], axis=1))
    np.testing.assert_allclose(vmap(spread, (0, None), -1)(xs[:, 0], 1.0 + np.arange(2.0)), wanted.T)
    np.testing.assert_allclose(vmap(weighted, (None, -1))(w, xs.T), [weighted(w, x) for x in xs])
    first, second = vmap(both, out_axes=(1, 0))(xs)
    assert first.shape == (4, 3)
    assert second.shape == (3,)


def test_what_is_the_same_for_all() -> None:
    assert vmap(one_of)(xs).shape == (3, 2)
    assert vmap(one_of, out_axes=None)(xs).shape == (2,)
    with pytest.raises(ArgumentError, match="out_axes is None for the result.0., which differs"):
        vmap(both, out_axes=(None, 0))(xs)


def test_structures() -> None:
    got = vmap(of_pair, in_axes=(Pair(0, None),))(Pair(xs, np.arange(4.0)))
    np.testing.assert_array_equal(got.a, xs * np.arange(4.0))
    assert got.b.shape == (3, 4)


def test_what_is_passed_by_name() -> None:
    np.testing.assert_array_equal(vmap(with_option)(xs, scale=np.arange(3.0)), xs * np.arange(3.0)[:, None])
    np.testing.assert_array_equal(vmap(with_option)(xs), xs * 2.0)


@pytest.mark.parametrize(
    ("in_axes", "arguments", "message"),
    [
        ((0,), (w, xs), "in_axes has 1 entries, vmap.weighted. is called with 2"),
        ((0, 0), (w, xs), "different numbers of examples: w has 4, x has 3"),
        ((None, 2), (w, xs), "axis 2 of x, which is an array of 2 axes"),
        ((None, -3), (w, xs), "axis -3 of x"),
        ((None, 0), (w, 2.0), "axis 0 of x, which is a number"),
        ((None, None), (w, xs), "no argument has an axis"),
        ((None, "x"), (w, xs), "in_axes is an integer, None, or a tuple of such"),
        ((None, (0, 0)), (w, xs), "in_axes has several entries for x"),
        ((None, (0, 0, None)), (w, (xs, xs)), "in_axes has 3 entries for x, which has 2 parts"),
    ],
)
def test_axes_that_are_not_there(in_axes: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        vmap(weighted, in_axes)(*arguments)


def test_said_once_where_it_runs_example_by_example() -> None:
    f = vmap(branching)
    with pytest.warns(ExampleByExample, match=r"test_vmap.py:\d+: a test differs from example to example"):
        got = f(xs[:, 0])
    np.testing.assert_array_equal(got, [branching(x) for x in xs[:, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(xs[:, 0])


def test_an_operation_runs_example_by_example() -> None:
    f = vmap(sorted_out)
    with pytest.warns(ExampleByExample, match="has no batching rule; it runs example by example"):
        got = f(xs)
    assert f.ran is not None
    np.testing.assert_allclose(got, [sorted_out(x) for x in xs])


def test_no_examples() -> None:
    assert vmap(both)(np.zeros((0, 4)))[0].shape == (0, 4)
    assert vmap(grad(weighted), (None, 0))(w, np.zeros((0, 4))).shape == (0, 4, 2)


def test_arguments_and_results_are_apart() -> None:
    x = xs.copy()
    got = vmap(lambda a: a)(x)
    got[0] = 0.0
    np.testing.assert_array_equal(x, xs)


def test_what_the_function_raises() -> None:
    with pytest.raises(ValueError, match="matmul"):
        vmap(weighted, (None, 0))(w, xs[:, :2])


def test_decorator_and_pickle() -> None:
    f = vmap(in_axes=(None, 0))(weighted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(w, xs), f(w, xs))


# --- compositions ----------------------------------------------------------------------------------------------------
def test_gradients_of_examples() -> None:
    got = vmap(grad(weighted, argnums=(0, 1)), in_axes=(None, 0))(w, xs)
    for k in (0, 1):
        np.testing.assert_allclose(got[k], [grad(weighted, argnums=(0, 1))(w, x)[k] for x in xs], rtol=1e-12)


def test_derivatives_of_a_batch() -> None:
    f = vmap(weighted, (None, 0))
    gradient = np.stack([grad(weighted)(w, x) for x in xs])
    np.testing.assert_allclose(jacobian(f)(w, xs), gradient, rtol=1e-12)
    _, pullback = vjp(f, w, xs, argnums=0)
    np.testing.assert_allclose(pullback(np.arange(3.0))[0], np.tensordot(np.arange(3.0), gradient, 1))
    np.testing.assert_allclose(jvp(f, (w, xs), (w, None))[1], np.tensordot(gradient, w))


def test_inside_of_a_differentiated_function() -> None:
    np.testing.assert_allclose(grad(summed)(w, xs), grad(summed_by_loop)(w, xs), rtol=1e-12)
    np.testing.assert_allclose(hessian(summed)(w, xs), hessian(summed_by_loop)(w, xs), rtol=1e-10, atol=1e-12)


def test_batches_of_batches() -> None:
    f = vmap(vmap(spread, (0, None)), (None, 0), 1)
    x, y = xs[:, 0], np.arange(10.0).reshape(5, 2)
    np.testing.assert_array_equal(f(x, y), np.stack([[spread(a, b) for b in y] for a in x]))
    assert f.ran is not None


def test_derivative_of_gradients_of_examples() -> None:
    f = vmap(grad(weighted), (None, 0))
    got = jacobian(f)(w, xs)
    np.testing.assert_allclose(got, [hessian(weighted)(w, x) for x in xs], rtol=1e-10, atol=1e-12)


def test_sizes_are_looked_at_in_a_program_that_is_kept() -> None:
    f = vmap(spread, (0, 0))
    _, pullback = vjp(f, xs[:, 0], xs)
    with pytest.raises((ArgumentError, ValueError), match="different numbers of examples"):
        vjp(f, xs[:1, 0], xs)


def labelled(w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return np.log(np.sum(np.exp(z))) - z[y]


def labelled_mean(w: Any, xs: Any, ys: Any) -> Any:
    return np.mean(vmap(labelled, in_axes=(None, 0, 0))(w, xs, ys))


def test_integers_inside_of_a_differentiated_function() -> None:
    ys = np.array([0, 1, 1])
    wanted = np.mean([grad(labelled)(w, x, y) for x, y in zip(xs, ys, strict=True)], axis=0)
    np.testing.assert_allclose(grad(labelled_mean)(w, xs, ys), wanted, rtol=1e-12)


def test_jacobians_of_examples() -> None:
    f = jacobian(spread)
    got = vmap(f, (0, None))(xs, np.arange(4.0))
    np.testing.assert_allclose(got, [f(x, np.arange(4.0)) for x in xs], rtol=1e-12)


def drawn(x: Any) -> Any:
    return x + np.random.rand()


def noise() -> Any:
    return np.random.rand()


def drawn_in_a_callee(x: Any) -> Any:
    return x + noise()


@pytest.mark.parametrize("function", [drawn, drawn_in_a_callee])
def test_each_example_draws_its_own_numbers(function: Any) -> None:
    with pytest.warns(ExampleByExample):
        got = vmap(function)(np.zeros(3))
    assert len(set(got)) == 3


def test_a_program_is_for_the_axes_that_its_arguments_have() -> None:
    """What is passed by name has its examples along the first axis, whatever ``in_axes`` says of it by place."""
    f, xs, v = vmap(np_dot, in_axes=None), np.arange(6.0).reshape(2, 3), np.array([2.0, 3.0, 5.0])
    for _ in range(2):
        np.testing.assert_array_equal(f(v, x=xs), xs @ v)
        np.testing.assert_array_equal(f(v=np.stack([v, 2.0 * v]), x=xs), [v @ xs[0], 2.0 * v @ xs[1]])


def np_dot(v: Any, x: Any) -> Any:
    return np.sum(v * x)


def stores_and_tests(x: Any, rows: Any) -> Any:
    x[0] = 2.0 * x[1]
    rows.append(x[0])
    return x * len(rows) if x[1] > 0.0 else -x


def test_each_example_has_arguments_of_its_own() -> None:
    x, rows = xs.copy(), [1.0]
    with pytest.warns(ExampleByExample):
        got = vmap(stores_and_tests, (0, None))(x, rows)
    np.testing.assert_array_equal(got, [stores_and_tests(one, [1.0]) for one in xs.copy()])
    np.testing.assert_array_equal(x, xs)
    assert rows == [1.0]


def test_without_anything_known() -> None:
    f = vmap(spread)
    with options(specialise=False), warnings.catch_warnings():
        warnings.simplefilter("error")
        got = f(xs, xs)
    np.testing.assert_allclose(got, f(xs, xs), rtol=1e-14)
    assert f.ran is not None


def chained(theta: Any, parents: Any, base: Any) -> Any:
    """Of a skeleton: what a bone hangs on is an item of a list that grows."""
    absolutes: list[Any] = []
    positions = np.zeros((2, 2))
    for bone in range(len(parents)):
        relative = np.eye(2)
        relative[0, 1] = theta[bone]
        absolute = base[bone] @ relative
        if parents[bone] >= 0:
            absolute = absolutes[parents[bone]] @ absolute
        absolutes.append(absolute)
        positions += absolute @ base[bone]
    if len(parents) > 2:
        positions = positions * np.array([-1.0, 1.0])
        positions[0] = positions[1] * 2.0
    return positions


def test_a_chain_of_rotations_in_one_sweep() -> None:
    theta, parents, base = np.array([0.3, -0.2, 0.7]), [-1, 0, 1], np.arange(12.0).reshape(3, 2, 2) / 10.0
    forward = jacfwd(chained)
    np.testing.assert_allclose(forward(theta, parents, base), jacobian(chained)(theta, parents, base), rtol=1e-12)
    assert all(program is not None for program in forward.sweeps._kept.values())
    step = 1e-6 * np.eye(3)
    wanted = [(chained(theta + e, parents, base) - chained(theta - e, parents, base)) / 2e-6 for e in step]
    np.testing.assert_allclose(forward(theta, parents, base), np.stack(wanted, -1), rtol=1e-7, atol=1e-8)


def of_math(x: Any, y: Any) -> Any:
    return math.sin(x[0]) * x[1] + y[0] * x[0]


def test_derivatives_of_a_batch_of_functions_of_numbers() -> None:
    """The program over a batch calls ``math.sin`` for all examples, which has no rule: a loop is differentiated."""
    xs, y = np.array([[0.3, 0.7], [1.1, -0.4], [0.5, 0.2]]), np.array([0.6, 2.0])
    by_x, by_y = jacobian(vmap(of_math, (0, None)), (0, 1))(xs, y)
    for i, x in enumerate(xs):
        of_x, of_y = jacobian(of_math, (0, 1))(x, y)
        np.testing.assert_allclose(by_x[i, i], of_x, rtol=1e-12)
        np.testing.assert_allclose(by_y[i], of_y, rtol=1e-12)


def in_a_list(x: Any) -> Any:
    return [math.sin(x[0]) * x, x * x * x]


def in_a_tuple(x: Any) -> Any:
    return x * 2.0, [x * x, x]


def of_two(pair: Any) -> Any:
    return np.sum(pair[0] * pair[1] ** 2)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(
    "f",
    [
        lambda xs: np.sum(vmap(in_a_list)(xs)[0] ** 2), lambda xs: np.sum(vmap(in_a_list)(xs)[1] ** 2),
        lambda xs: np.sum(vmap(in_a_tuple)(xs)[1][0] ** 2), lambda xs: np.sum(vmap(of_two)((xs, xs + 1.0)) ** 2),
        lambda xs: np.sum(vmap(of_two)([xs, xs * xs]) ** 2),
    ],
    ids=["first of a list", "second of a list", "inside of a tuple", "of a tuple", "of a list"],
)  # fmt: skip
def test_containers_inside_of_a_differentiated_function(f: Any, size: int) -> None:
    """Their parts were taken for examples."""
    xs = np.random.default_rng(0).random((size, 2))
    numeric = [(f(xs + e.reshape(xs.shape)) - f(xs - e.reshape(xs.shape))) / 2e-6 for e in 1e-6 * np.eye(xs.size)]
    np.testing.assert_allclose(grad(f)(xs).ravel(), numeric, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda xs: np.sum(vmap(lambda p: p["a"] * 2.0)({"a": xs})), UnsupportedSyntax),
        (lambda xs: np.sum(vmap(lambda x: {"a": x * 2.0})(xs)["a"]), UnsupportedSyntax),
        (lambda xs: np.sum(vmap(lambda x, y: np.sum(x) * np.sum(y))(xs, xs[:2])), ValueError),
        (lambda xs: np.sum(vmap(lambda x: x * x, (0, None))(xs)), ValueError),
    ],
    ids=["a dict given", "a dict returned", "other numbers of examples", "too many axes"],
)
def test_what_a_differentiated_function_cannot_batch_is_refused(f: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        grad(f)(np.ones((3, 2)))
