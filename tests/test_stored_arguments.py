"""Arguments that a function stores into: copied with their layouts and what they share, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import programs
from srcgrad.runtime import private, require_apart
from tests import oracle

GRID = np.arange(24.0).reshape(4, 6) * 0.1 - 0.7
LINE = np.array([0.3, -0.4, 0.9])
OUTSIDE = np.array([1.0, 2.0, 3.0])


def through_views(x):
    """Which of these are views depends on the layout of x."""
    x[0] *= 2.0
    v = x.reshape(-1)
    v[1] = x.T[0, 0] * 3.0 if x.ndim == 2 else x[0] * 3.0
    r = x.ravel()
    r[-1] += v[0]
    x.T[...] = x.T * r[0]
    return np.sum(x * x) + np.sum(v) + np.sum(r * v)


LAYOUTS = {
    "compact": GRID[:3, :3].copy(),
    "by columns": np.asfortranarray(GRID[:3, :3]),
    "with gaps": GRID[::2, ::2],
    "upside down": GRID[::-1, 1:4],
    "transposed": GRID.T[1:3],
    "reversed": LINE[::-1],
    "every second": GRID[1, ::2],
}


def same_layout(x, numbers):
    made = private(x)
    made[...] = numbers
    return made


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.costly(2)
def test_views_are_views_in_every_layout(name, specialise):
    x = LAYOUTS[name]
    before = x.copy()
    expected = oracle.differences
    columns = [
        expected(
            lambda p: np.array([through_views(same_layout(x, p.reshape(x.shape)))]), x.reshape(-1).copy(), direction
        ).value[0]
        for direction in np.eye(x.size)
    ]
    with programs.options(specialise=specialise):
        gradient = srcgrad.grad(through_views)(x)
    np.testing.assert_allclose(np.ravel(gradient), columns, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(x, before)
    tangent = srcgrad.jvp(through_views, (x,), (np.ones(x.shape),))[1]
    np.testing.assert_allclose(tangent, np.sum(columns), rtol=1e-6)


def test_private_keeps_layouts_and_sharing():
    d = {"w": GRID, "parts": [GRID[::2, 1::2], GRID.T]}
    made = private({"d": d, "again": d["parts"]})
    assert made["again"] is made["d"]["parts"]
    w, (part, turned) = made["d"]["w"], made["again"]
    assert part.strides == GRID[::2, 1::2].strides and turned.strides == GRID.T.strides
    w[0, 1] = 9.0
    assert part[0, 0] == turned[1, 0] == 9.0 and GRID[0, 1] != 9.0


def scaled(x, w):
    x[0] = w[1] * 2.0
    return np.sum(x * w)


def with_global(x):
    x[0] = 2.0 * x[1]
    return np.sum(x * OUTSIDE)


@pytest.mark.parametrize(
    ("function", "arguments", "other"),
    [(scaled, (LINE, LINE), "w"), (scaled, (LINE, LINE[::-1]), "w"), (with_global, (OUTSIDE,), "OUTSIDE")],
)
def test_what_is_stored_into_must_be_apart(function, arguments, other):
    ones = tuple(np.ones(3) for _ in arguments)
    for run in (
        lambda: srcgrad.grad(function)(*arguments),
        lambda: srcgrad.vjp(function, *arguments),
        lambda: srcgrad.jvp(function, arguments, ones),
    ):
        with pytest.raises(ValueError, match=f"x is stored into and shares memory with {other}"):
            run()


def test_interleaved_arrays_are_apart():
    require_apart({"x": GRID[::2]}, {"w": GRID[1::2]})
    with pytest.raises(ValueError, match="shares memory"):
        require_apart({"x": [GRID[::2]]}, {"w": {"k": GRID[2]}})


def test_an_array_that_shows_an_element_twice_is_refused():
    windows = np.lib.stride_tricks.as_strided(np.arange(5.0), (3, 3), (8, 8))
    with pytest.raises(ValueError, match="more than once"):
        srcgrad.grad(through_views)(windows)


def test_a_read_only_argument_stays_read_only():
    x = LINE.copy()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        srcgrad.grad(through_views)(x)


def test_a_store_drops_leading_axes_of_its_value():
    def f(x):
        y = np.zeros((3, 3))
        y[0] = x[None, None]
        y[1:2] = x
        y[2, :1] = x[None, :1]
        return np.sum(y * y)

    np.testing.assert_allclose(srcgrad.grad(f)(LINE), 4.0 * LINE + [2.0 * LINE[0], 0.0, 0.0])
