"""Shapes, axes and methods of arrays through the compiler: memory orders, several arrays at a time, call forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp, vjp
from srcgrad.errors import MissingRule, SrcgradError, UnsupportedSyntax
from srcgrad.runtime import memory_axes
from srcgrad.runtime.refusals import RefusedType
from tests.rules.orders import check_orders, to_the_third

x = np.random.default_rng(41).standard_normal((3, 4))
w = np.arange(1.0, 13.0)
table = w.reshape(3, 4)


# --- the order of elements in memory ---------------------------------------------------------------------------------
def raveled_as_it_lies(x):
    return np.sum(np.ravel(np.asfortranarray(x), "K") ** 2 * w) + np.sum(x.T.ravel("A") ** 2 * w)


def flattened(x):
    return np.sum(x.flatten() ** 2 * w) + np.sum(x.T.flatten("K") ** 3 * w) + np.sum(x.flatten(order="F") ** 2 * w)


def reshaped_as_it_lies(x):
    y = np.reshape(x.T, (2, 6), order="A") * w.reshape(2, 6)
    return np.sum(y**2) + np.sum(x.reshape(6, 2, order="F")[0] ** 2)


def raveled_by_an_order_known_later(x, order="K"):
    return np.sum(np.ravel(x.T, order) ** 2 * w) + np.sum(np.reshape(x, 12, order="C" if order == "K" else order) * w)


@pytest.mark.parametrize(
    "f", [raveled_as_it_lies, flattened, reshaped_as_it_lies, raveled_by_an_order_known_later], ids=lambda f: f.__name__
)
@pytest.mark.costly(2, first=1)
def test_orders_in_memory(f: Callable[..., Any]) -> None:
    check_orders(f, x, 2)


@pytest.mark.parametrize("order", "CFAK")
def test_the_axes_of_an_order_are_those_of_ravel(order: Any) -> None:
    base = np.arange(120.0).reshape(2, 3, 4, 5)
    turned = base.transpose(2, 0, 3, 1)[:, ::-1]
    for a in (base, base.T, np.asfortranarray(base), base[::-1, :, ::2], turned, base[0, :1]):
        np.testing.assert_array_equal(np.ravel(np.transpose(a, memory_axes(a, order))), np.ravel(a, order))


# --- methods and attributes ------------------------------------------------------------------------------------------
def starred_shape(x):
    shape = (4, 3)
    return np.sum(x.reshape(*shape) ** 2 * w.reshape(4, 3)) + np.sum(x.transpose(*(1, 0)) ** 2 * table.T)


def shape_from_numbers(x):
    n = 2
    return np.sum(x.reshape(n, 6)[0] ** 2) + np.sum(x.reshape(n, -1)[1] ** 3) + np.sum(x.reshape((n, 6))[:, 0] ** 2)


def methods_of_shapes(x):
    y = x.swapaxes(0, 1).T.mT * x.T
    return np.sum(y.squeeze() ** 2) + np.sum(x.transpose() ** 2 * table.T) + np.sum(x.transpose((1, 0))[0] ** 3)


def elements_in_a_row(x):
    s = x.flat[3] * x.flat[-1]
    for v in x.flat:
        s = s + v**3
    return s + np.sum(x.flat[2:5] ** 2) + len(x.flat)


def elements_as_numbers(x):
    return x.item(5) ** 2 + x.item(1, 2) * x.item((0, 1)) * x.item(-1) + x[0, 0].item() ** 3


def elements_as_lists(x):
    rows = x.tolist()
    return rows[0][1] * rows[1][2] ** 2 + x[0, 0].tolist() ** 2 + sum(x[2].tolist())


def choosing_methods(x):
    picked = x.compress([True, False, True], axis=0) * x.take([2, 0], axis=0, mode="clip")
    return np.sum(picked) + np.sum(np.array([0, 2, 1, 0]).choose([x[0], x[1], x[2] ** 2]) ** 2)


def copying_methods(x):
    return np.sum(x.copy("F") ** 2) + np.sum(x.astype(float, "C", copy=False) ** 3) + np.sum(x.repeat(2, axis=0) ** 2)


@pytest.mark.parametrize(
    "f",
    [
        starred_shape,
        shape_from_numbers,
        methods_of_shapes,
        elements_in_a_row,
        elements_as_numbers,
        elements_as_lists,
        choosing_methods,
        copying_methods,
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.costly(2)
def test_methods(f: Callable[..., Any]) -> None:
    check_orders(f, x, 2)


def test_the_method_compress_takes_its_array_first() -> None:
    """np.compress takes the condition first: read that way, the array was taken for a condition."""

    def f(x):
        return np.sum(x.compress([False, True]) ** 2)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [0.0, 4.0])


def test_an_item_of_complex_numbers_is_complex() -> None:
    def f(z):
        return abs(z.item(1) * 2.0) ** 2

    np.testing.assert_allclose(grad(f)(np.array([1.0, 2.0 + 1.0j])), [0.0, 8.0 * (2.0 - 1.0j)])


# --- what is handed out ----------------------------------------------------------------------------------------------
def test_a_gradient_that_is_a_view_belongs_to_who_asked_for_it() -> None:
    def f(x, y):
        return np.sum(np.concatenate([x, y]) * w[:8]) + np.sum(x * y.T.T)

    gradient = grad(f, argnums=(0, 1))
    at = (x[0].copy(), x[1].copy())
    first = gradient(*at)
    expected = [part.copy() for part in first]
    for part in first:
        assert not any(np.shares_memory(part, other) for other in (*at, w))
        part[...] = np.nan
    assert not np.shares_memory(*first)
    np.testing.assert_array_equal(gradient(*at), expected)


def test_a_cotangent_is_no_view_of_its_seed() -> None:
    _, pullback = vjp(lambda x: np.reshape(x.T, 12), x)
    seed = w.copy()
    for _ in range(2):
        (part,) = pullback(seed)
        np.testing.assert_array_equal(part, w.reshape(4, 3).T)
        part[...] = 0.0
    np.testing.assert_array_equal(seed, w)


# --- several arrays at a time ----------------------------------------------------------------------------------------
def at_least_so_many_axes(x):
    a, b = np.atleast_2d(x[0], x[1, 1])
    (c,) = np.atleast_1d(x[2, 2], 3.0)[:1]
    return np.sum(a * b * b) * c[0] + np.sum(np.atleast_3d(x[0]) ** 2)


def broadcast_together(x):
    a, b, c = np.broadcast_arrays(x[0], x[:, :1], 2.0)
    return np.sum(a * b * b * c) + np.sum(np.broadcast_to(x[1], (2, 4), subok=True) ** 2)


def grids(x):
    a, b = np.meshgrid(x[0], x[:, 1])
    c, d = np.meshgrid(x[0], x[:, 1], indexing="ij", sparse=True, copy=False)
    (e, _, g) = np.meshgrid(x[0, :2], np.arange(3), x[1, :2])
    return np.sum(a * b * b) + np.sum(c * c * d) + np.sum(e * g)


def open_grids(x):
    i, j = np.ix_(x[0], x[1, :2])
    return np.sum(x[np.ix_([0, 2], [True, False, True, True])] ** 2) + np.sum(i * j * j)


@pytest.mark.parametrize(
    ("f", "order"), to_the_third([at_least_so_many_axes, broadcast_together, grids, open_grids], third=[open_grids])
)
@pytest.mark.costly(2, first=1)
def test_several_arrays(f: Callable[..., Any], order: int) -> None:
    check_orders(f, x, order)


def test_an_index_that_is_a_tuple_is_kept_as_one() -> None:
    """Copied into a list, ``x[i, j]`` was read as ``x[[i, j]]`` where a third derivative saved the index."""

    def f(x):
        places = np.nonzero(table > 4.0)
        return np.sum(x[places] ** 4)

    check_orders(f, x)


# --- axes ------------------------------------------------------------------------------------------------------------
def axes_moved(x):
    y = np.moveaxis(x[None], [0, 1], [1, 2])
    return np.sum(y**2 * w.reshape(4, 1, 3)) + np.sum(np.rollaxis(x, -1) ** 3) + np.sum(np.expand_dims(x, (0, 2)) ** 2)


def elements_moved(x):
    turned = np.rot90(x, 3, axes=(-1, 0)) ** 2 * w.reshape(4, 3)
    return np.sum(turned) + np.sum(np.roll(x, (1, -2), (0, 1)) ** 2 * table) + np.sum(np.flip(x, -1) ** 2 * table)


@pytest.mark.parametrize(("f", "order"), to_the_third([axes_moved, elements_moved]))
@pytest.mark.costly(1)
def test_axes(f: Callable[..., Any], order: int) -> None:
    check_orders(f, x, order)


@pytest.mark.parametrize(("axis", "start"), [(a, s) for a in (-3, -1, 0, 1, 2) for s in range(-3, 4)])
def test_an_axis_rolled_is_put_back(axis: int, start: int) -> None:
    from srcgrad.runtime import unrollaxis

    a = np.zeros((2, 3, 4))
    assert unrollaxis(np.rollaxis(a, axis, start), axis, start).shape == a.shape


# --- conversions -----------------------------------------------------------------------------------------------------
def test_nothing_passes_through_integers() -> None:
    def f(x):
        whole = x.astype(int) + np.array(x, dtype=np.int64) + np.asarray(x, int) + np.full(3, x[0], dtype=int)
        return np.sum(whole * 2.5) + np.sum(np.concatenate([x, x], dtype=int, casting="unsafe") * 1.5)

    at = np.array([1.3, 2.6, -0.4])
    np.testing.assert_array_equal(grad(f)(at), np.zeros(3))
    assert jvp(f, (at,), (np.ones(3),))[1] == 0.0


def test_a_cotangent_comes_back_in_the_dtype_of_its_argument() -> None:
    def f(x):
        return np.sum(np.real(x.astype(complex) * (1.0 + 2.0j))) + np.sum(x.astype("float64") ** 2)

    gradient = grad(f)(np.array([1.0, 2.0], np.float32))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, [3.0, 5.0])


def test_an_array_of_objects_is_refused_where_it_is_met() -> None:
    """Its dtype is not floating, and nothing passed through it."""

    def f(x):
        return np.sum(np.array([x[0], x[1]], dtype=object))

    for derivative in (lambda: grad(f)(x[0]), lambda: jvp(f, (x[0],), (x[1],))):
        with pytest.raises((MissingRule, RefusedType), match="where its dtype is object|array of dtype object"):
            derivative()


# --- refusals --------------------------------------------------------------------------------------------------------
def of_bytes(x):
    return np.sum(x.view(np.int64))


def of_its_owner(x):
    return np.sum(x.base)


def of_fields(x):
    return np.sum(x.getfield(np.float32))


def of_a_matrix(x):
    return np.sum(np.matrix(x))


def along_an_axis(x):
    return np.sum(np.apply_along_axis(np.sum, 0, x))


def found(x):
    return np.sum(np.union1d(x, x))


def enumerated(x):
    s = 0.0
    for _, v in np.ndenumerate(x):
        s = s + v
    return s


def in_pieces(x):
    return np.sum(np.piecewise(x, [x < 0.0], [lambda t: t**2, np.sin]))


def on_indices(x):
    return np.sum(np.fromfunction(lambda i, j: i * np.sin(x[0, 0]), (2, 3)))


def on_many_indices(x):
    return np.sum(np.fromfunction(lambda i, j, k, m: i * x[0, 0], (2, 3, 1, 1)))


squared = np.vectorize(lambda t: t * t)


def vectorized(x):
    return np.sum(squared(x))


def vectorized_here(x):
    return np.sum(np.vectorize(np.sin)(x))


def vectorized_by_a_signature(x):
    return np.sum(np.vectorize(np.sum, signature="(n)->()")(x))


def over_axes(x):
    return np.sum(np.apply_over_axes(np.sum, x, [0, 1]))


ON_PARTS = [along_an_axis, enumerated, in_pieces, on_indices, vectorized, vectorized_here]


@pytest.mark.parametrize(("f", "order"), to_the_third(ON_PARTS))
@pytest.mark.costly(2)
def test_functions_on_parts_of_an_array_are_read(f: Callable[..., Any], order: int) -> None:
    check_orders(f, x, order)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (on_many_indices, "not followed with what it is given"),
        (of_bytes, "reads the bytes"),
        (of_its_owner, "owns the memory"),
        (of_fields, "reads the bytes"),
        (of_a_matrix, "matrix makes an array of a class that decides"),
        (over_axes, "calls a function on parts"),
        (vectorized_by_a_signature, "not followed with what it is given"),
        (found, "changes by jumps"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_refused_says_why(f: Callable[..., Any], message: str) -> None:
    with pytest.raises((SrcgradError, UnsupportedSyntax), match=message) as refusal:
        grad(f)(x)
    assert "hint" in str(refusal.value)
