"""Results of a derivative that is computed inside a function share no memory: a store is seen in one of them only."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hessian, hvp, jacobian, jvp, options, value_and_grad, vjp

V = np.array([0.7, -0.4, 1.3])


def added(a, b):
    return (a + b).sum()


def unpacked(p):
    a, b = p
    return (a + b).sum()


def twice_or_not(a, b):
    if a[0] > 0.0:
        return (a + b).sum()
    return (a - b).sum()


def layer(a, b):
    return added(a, b) * 2.0


def two_gradients(x):
    g, h = grad(added, argnums=(0, 1))(x, x * 2)
    g *= x
    return h.sum() + g @ g


def one_place(x):
    g, h = grad(added, argnums=(0, 1))(x, x * x)
    g[0] = 5.0 * x[0]
    return h.sum() + g.sum()


def clipped_in_place(x):
    g, h = grad(lambda a, b: 3.0 * (a + b).sum(), argnums=(0, 1))(x, x * 2)
    np.clip(g, -1.0, 1.0, out=g)
    return h @ x + g.sum()


def step_of_descent(x):
    w, b = x * 1.0, x * 0.5
    _, (gw, gb) = value_and_grad(lambda w, b: ((w + b - x) ** 2).sum(), argnums=(0, 1))(w, b)
    gw *= 0.1
    w -= gw
    b -= gb
    return w @ b


def gradient_of_a_tuple(x):
    g, h = grad(unpacked)((x, x * 2))
    g *= x
    return h.sum() + g @ g


def several_returns(x):
    g, h = grad(twice_or_not, argnums=(0, 1))(x, x * 2)
    g *= x
    return h.sum() + g @ g


def gradient_of_a_call(x):
    g, h = grad(layer, argnums=(0, 1))(x, x * 2)
    g *= x
    return h.sum() + g @ g


def tangent_of_the_identity(x):
    s = x * 1.0
    _, t = jvp(lambda a: a, (x,), (s,))
    t[0] = 3.0
    return s @ x + t.sum()


def tangent_of_a_view(x):
    s = x * 1.0
    _, t = jvp(lambda a: a[::-1], (x,), (s,))
    t[0] = 3.0
    return s @ x + t.sum()


def tangents_of_a_tuple(x):
    s = x * 1.0
    _, t = jvp(lambda a: (a, a), (x,), (s,))
    t[0][0] = 3.0
    return t[1] @ x + s @ x


def tangents_of_a_dict(x):
    s = x * 1.0
    _, t = jvp(lambda a: {"u": a, "v": a[1:]}, (x,), (s,))
    t["u"][1] = 3.0
    return t["v"].sum() + s @ x


def second_order(x):
    g, h = grad(lambda a, b: grad(lambda u, v: (u * u * v).sum(), argnums=(0, 1))(a, b)[0].sum(), argnums=(0, 1))(x, x)
    g *= x
    return h.sum() + g @ g


def forward_over_reverse(x):
    _, (s, t) = jvp(grad(lambda a, b: (a + b).sum() ** 2, argnums=(0, 1)), (x, x * 2), (x * x, x))
    s *= x
    return t.sum() + s @ s


def hessian_vector_product(x):
    s = x * 1.0
    t = hvp(lambda a: 0.5 * (a @ a))(x, s)
    t[0] = 3.0
    return s @ x + t.sum()


def dense(x):
    g, h = jacobian(lambda a: a * x)(x), hessian(lambda a: (a * a * x).sum())(x)
    g[0] = 5.0
    h[0] *= x
    return (g @ x).sum() + h.sum()


def value_beside_the_gradient(x):
    v, g = value_and_grad(lambda a: a @ a)(x)
    g *= v
    return g @ x


def lists_joined(x):
    def joined(a, b):
        return [a] + [b]

    s = x * 1.0
    _, t = jvp(joined, (x, x * 2), (s, s))
    t[0][0] = 3.0
    return t[1].sum() + s @ x


def list_grown(x):
    def grown(a):
        found = []
        for _ in range(2):
            found.append(a)
        return found

    s = x * 1.0
    _, t = jvp(grown, (x,), (s,))
    t[0][0] = 3.0
    return t[1].sum() + s @ x


def view_on_one_path(x):
    def part(a):
        b = a
        if a[0] > 0.0:
            b = a[1:]
        return b

    s = x * 1.0
    _, t = jvp(part, (x,), (s,))
    t[0] = 3.0
    return s @ x


def scaled_layers(layers, x):
    for w, b in layers:
        x = x * w + b
    return x.sum()


def gradient_of_nested_containers(x):
    found = grad(scaled_layers)([(x, x * 2), (x * x, x)], x)
    found[1][1][0] = 7.0 * x[0]
    return found[0][1].sum() + found[1][1].sum()


MADE_OUTSIDE = grad(added, argnums=(0, 1))


def made_outside(x):
    g, h = MADE_OUTSIDE(x, x * 2)
    g *= x
    return h.sum() + g @ g


FUNCTIONS = [
    two_gradients, one_place, clipped_in_place, step_of_descent, gradient_of_a_tuple, several_returns,
    gradient_of_a_call, tangent_of_the_identity, tangent_of_a_view, tangents_of_a_tuple, tangents_of_a_dict,
    lists_joined, list_grown, view_on_one_path, gradient_of_nested_containers, made_outside,
    second_order, forward_over_reverse, hessian_vector_product, dense, value_beside_the_gradient,
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [{}, {"specialise": False}]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("chosen", OPTIONS, ids=str)
@pytest.mark.costly(3)
def test_a_store_into_a_result_is_seen_there_only(function: Any, chosen: dict[str, Any]) -> None:
    want, dot = function(V.copy()), np.array([0.3, 1.1, -0.8])
    slope = (function(V + 1e-6 * dot) - function(V - 1e-6 * dot)) / 2e-6
    with options(**chosen):
        value, gradient = value_and_grad(function)(V)
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(gradient @ dot, slope, rtol=1e-6, atol=1e-8)
        value, tangent = jvp(function, (V,), (dot,))
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(tangent, slope, rtol=1e-6, atol=1e-8)
        value, pullback = vjp(function, V)
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(pullback(1.0)[0] @ dot, slope, rtol=1e-6, atol=1e-8)


def test_a_constant_call_keeps_its_results_apart() -> None:
    """The derivative is of what does not vary, and has no derivative of its own."""

    def scaled(x, c):
        g, h = grad(added, argnums=(0, 1))(c, c * 2.0)
        g *= 3.0
        return (h * x).sum()

    value, gradient = value_and_grad(scaled)(V, np.ones(3))
    np.testing.assert_allclose(value, V.sum())
    np.testing.assert_allclose(gradient, np.ones(3))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (added, (V, V * 2)),
        (twice_or_not, (V, V * 2)),
        (twice_or_not, (-V, V * 2)),
        (layer, (V, V * 2)),
        (lambda a, b: (a @ b + (a + b).sum()) * 2.0, (V, V * 2)),
    ],
)
def test_a_saved_gradient_keeps_its_results_apart(function: Any, arguments: Any, tmp_path: Any) -> None:
    for number, make in enumerate((grad, value_and_grad)):
        made = make(function, argnums=(0, 1))
        made.save(tmp_path / f"saved{number}.py")
        spec = importlib.util.spec_from_file_location(f"saved{number}", tmp_path / f"saved{number}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        (found,) = (f for name, f in vars(module).items() if name.startswith(("grad", "value_and_grad")))
        got, want = found(*arguments), made(*arguments)
        got, want = (got, want) if make is grad else (got[1], want[1])
        np.testing.assert_allclose(got, want)
        assert not np.shares_memory(*got)
        assert not any(np.shares_memory(g, a) for g, a in itertools.product(got, arguments))


def test_what_is_seen_to_be_apart_is_not_copied() -> None:
    def product(a, b):
        return (a * b).sum()

    def summed(a, b):
        return np.sum(np.sin(a)) + np.sum(b)

    for function in (product, summed):
        assert "unshared" not in grad(function, argnums=(0, 1)).source
    assert "unshared" not in grad(added).source
    assert grad(added, argnums=(0, 1)).source.count("unshared(") == 1


def test_unshared() -> None:
    a = np.arange(3.0)
    made = srcgrad.runtime.unshared((a, [a[1:], {"k": a}], None, 2.0))
    assert isinstance(made, tuple) and made[2:] == (None, 2.0)
    made[0][1] = 7.0
    made[1][0][0] = 8.0
    np.testing.assert_array_equal(made[1][1]["k"], np.arange(3.0))
    np.testing.assert_array_equal(a, np.arange(3.0))


def test_a_function_that_names_no_module_is_called():
    """``np.multiply.outer`` has None in place of one."""

    def f(x, held, m):
        held[1] = np.multiply.outer(2, m)
        return x * 0.5

    with options(specialise=False):
        assert value_and_grad(f)(2.0, [1.0, 2.0], np.ones(2)) == (1.0, 0.5)
