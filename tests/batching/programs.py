"""Functions of one example, with the arguments of a batch; those of ``LOOPED`` have no program over one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

#: By name: the function, ``in_axes``, and the arguments.
CASES: dict[str, tuple[Callable[..., Any], Any, tuple[Any, ...]]] = {}
LOOPED: dict[str, tuple[Callable[..., Any], Any, tuple[Any, ...]]] = {}

_draw = np.random.default_rng(7)
N = 3  # examples


def batch(*shape: int) -> Any:
    return _draw.standard_normal((N, *shape))


def single(*shape: int) -> Any:
    return _draw.standard_normal(shape)


def case(in_axes: Any, *arguments: Any, looped: bool = False) -> Callable[[Any], Any]:
    def enter(function: Any) -> Any:
        (LOOPED if looped else CASES)[function.__name__] = function, in_axes, arguments
        return function

    return enter


A, B = (0, 0), (0, None)


# --- elementwise -----------------------------------------------------------------------------------------------------
@case(A, batch(4), batch())
def scaled(x, s):
    return np.exp(-s * x) + x / (1.0 + s * s) - 2.0


@case(A, batch(), batch(4, 2))
def scalar_and_matrix(s, m):
    return s * m - m**2 + np.where(m > s, m, s)


@case(B, batch(), single(2, 3))
def scalar_and_one_matrix(s, m):
    return np.maximum(m, s) - np.arctan2(m, s)


@case((None, 0), single(2, 3), batch(3))
def matrix_and_rows(m, x):
    return (m + x) * (x - m)


@case(A, batch(4), batch())
def stored_after_a_mask(x, s):
    y = x * 1.0
    positive = y > 0.0
    positive[0] = True
    y[0] = s
    return np.where(positive, y * y, 2.0 * x)


@case(A, batch(4), batch(4))
def chosen(x, y):
    return np.clip(x, -0.5, 0.5) + np.where(x < y, x, y * 2.0) + np.abs(x) + np.sign(y)


@case(0, batch())
def by_math(x):
    return math.sin(x) + math.exp(x) * math.sqrt(abs(x)) + math.atan2(x, 2.0)


@case(A, batch(), batch())
def by_builtins(x, y):
    return max(x, y, 0.1) - min(x, y) + abs(x) + pow(y, 2)


# --- reductions ------------------------------------------------------------------------------------------------------
@case(0, batch(4, 2))
def reduced(m):
    return np.sum(m) + np.mean(m, axis=0) * np.max(m, axis=-1).sum() - m.min() + np.prod(m, axis=(0, 1))


@case(0, batch(4, 2))
def kept(m):
    return m - np.sum(m, axis=1, keepdims=True) + m.mean(0, keepdims=True) * m.std()


@case(0, batch(4))
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@case(0, batch(4, 2))
def cumulated(m):
    return np.cumsum(m, axis=0) + np.cumsum(m).reshape(4, 2) + np.sort(m, axis=0) - m[np.argsort(m[:, 0])]


@case(0, batch(4))
def extremes(x):
    return x[np.argmax(x)] - x[np.argmin(x)] + np.median(x) + np.var(x, ddof=1)


# --- places ----------------------------------------------------------------------------------------------------------
@case(0, batch(4, 3))
def parts(m):
    return m[1:, 0] * m[:-1, -1] + m[..., 1][1:] - m[2, None, 0] + m[-1][0]


@case(0, batch(4, 3))
def gathered(m):
    return m[[0, 2, 2]] + m[np.array([1, 0, 3]), :] + m[[0, 1], [1, 2]].sum()


@case((0, 0), batch(5), np.array([0, 3, 4]))
def labelled(x, label):
    return x[label] - np.log(np.sum(np.exp(x)))


@case((0, 0), batch(5, 2), np.array([[0, 1], [3, 3], [4, 0]]))
def rows_chosen(m, places):
    return m[places] * 2.0 + m[places[0], 1]


@case((None, 0), single(5, 2), np.array([0, 3, 4]))
def table_row(table, place):
    return table[place] ** 2


@case(0, batch(3))
def unpacked(x):
    a, b, c = x
    return a * b - c


@case(0, batch(3, 2))
def looped_rows(m):
    total = np.zeros(2)
    for row in m:
        total = total + row * row[0]
    return total


@case(0, batch(4))
def by_index(x):
    s = 0.0
    for i in range(1, len(x)):
        s = s * 0.5 + x[i] * x[i - 1]
    return s


# --- shapes ----------------------------------------------------------------------------------------------------------
@case(0, batch(4, 2))
def shaped(m):
    flat = m.ravel() + m.reshape(-1) + np.reshape(m, (2, 4)).flatten()
    return flat.reshape(m.shape[0], m.shape[1]) + m.T.T + np.transpose(m, (1, 0)).T


@case(0, batch(4, 2, 3))
def moved(a):
    return np.swapaxes(a, 0, 2) + np.moveaxis(a, 0, -1).transpose(1, 0, 2) + np.expand_dims(a[0], 0).sum()


@case(0, batch(4))
def sized(x):
    return x * x.size + x.shape[0] + x.ndim + len(x) + np.sum(np.ones(x.shape)) + np.size(x)


@case(A, batch(3), batch(3))
def joined(x, y):
    return np.concatenate([x, y, np.zeros(2)]) * np.hstack((y, x, [1.0, 2.0]))


@case(0, np.array([[1.5, -0.4, 0.3], [0.6, 2.0, 1.1], [0.2, -1.0, 0.7]]))
def joined_to_as_many_numbers_as_there_are_examples(x):
    return np.hstack((x, [1.0, 2.0, 5.0])) * np.concatenate([[3.0, 4.0, 7.0], x])


@case(A, batch(), batch())
def displayed(x, y):
    m = np.array([[x, y], [1.0, x * y]])
    return np.stack([m, m.T]) + np.array([x, 2.0])


@case(A, batch(3), batch(3))
def stacked(x, y):
    return np.vstack([x, y]) @ np.stack([y, x], axis=1)


# --- products --------------------------------------------------------------------------------------------------------
@case(A, batch(3, 4), batch(4))
def both(m, x):
    return m @ x + np.dot(m, x) + x @ m.T


@case((None, 0), single(3, 4), batch(4))
def one_matrix(m, x):
    return m @ x - x @ m.T + np.dot(m, x)


@case(B, batch(3, 4), single(4, 2))
def matrices(m, w):
    return m @ w


@case((None, 0), single(3, 4), batch(4, 2))
def matrices_turned(w, m):
    return w @ m


@case(A, batch(4), batch(4))
def vectors(x, y):
    return x @ y + np.dot(x, y) + np.inner(x, y) + np.outer(x, y).sum()


@case(B, batch(4), single(4))
def vectors_of_one(x, y):
    return np.outer(x, y) + np.outer(y, x) + x @ y


@case(A, batch(3, 3), batch(3))
def by_einsum(m, x):
    return np.einsum("ij,j->i", m, x) + np.einsum("ii", m) + np.einsum("i,j->j", x, x) + np.trace(m)


@case(A, batch(3, 3), batch(3))
def solved(m, b):
    a = m @ m.T + 3.0 * np.eye(3)
    return np.linalg.solve(a, b) + np.linalg.inv(a) @ b + np.linalg.det(a) + np.linalg.cholesky(a)[0]


@case(A, batch(3), batch(3))
def vector_products(x, y):
    return np.cross(x, y) * x + np.cross([1.0, 0.5, 2.0], np.cross(y, x))


@case(B, batch(3), single(3))
def vector_products_with_one_axis(x, axis):
    return np.cross(axis, x) + np.cross(x * x, axis) * np.cross(axis, axis * 2.0)


@case(A, batch(2), batch(2))
def vector_products_in_the_plane(x, y):
    return x[0] * y[1] - x[1] * y[0] + np.linalg.cross(np.concatenate([x, [1.0]]), y[[0, 1, 0]])


@case(A, batch(3), batch(3))
def signals(x, y):
    waves = np.fft.fft(x * y)
    return np.real(np.fft.ifft(waves * waves)) + np.fft.irfft(np.fft.rfft(y), 3)


@case(A, batch(5), batch())
def along_a_line(x, t):
    return np.trapezoid(x * x, dx=0.5) + np.trapezoid(np.cos(x), np.arange(5.0) ** 2) + np.polyval([2.0, -1.0, 0.5], t)


# --- stores ----------------------------------------------------------------------------------------------------------
@case(0, batch(5))
def stepped(u):
    u = u.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


@case((0, None), batch(), single(4))
def made_and_filled(s, x):
    out = np.zeros(4)
    view = out[1:]
    for i in range(3):
        view[i] = s * x[i]
    out[0] += s
    return out * 2.0


@case(0, batch(4))
def number_before_store(x):
    y = x * 1.0
    first = y[0]
    y[0] = 5.0
    return first * y


@case((None, 0), single(4), batch())
def argument_filled(x, s):
    x[1] = s
    return x * x


@case((0, 0), batch(4), np.array([1, 3, 0]))
def stored_at(x, place):
    y = x * 1.0
    y[place] = 7.0
    y[place] += x[0]
    return y


# --- containers ------------------------------------------------------------------------------------------------------
@case(B, batch(N, N), single(N, N))
def one_part_shared_in_a_loop(a, b):
    total = np.zeros(N)
    for y in (a, b):
        total = total + np.sum(y, axis=0)
    return total


@case(B, batch(N, N), single(N, N))
def one_part_shared_in_a_comprehension(a, b):
    x, y = [u[0] for u in (a, b)]
    return x * y


@case((None, 0), single(N, N), batch(N, N))
def one_part_shared_by_places(a, b):
    t, places = [a, b], (0, 1)
    total = t[places[1]][0] * t[places[0]][1]
    for i in range(2):
        total = total + t[i][0]
    return total


@case(B, batch(N, N), single(N, N))
def one_part_shared_and_popped(a, b):
    t, d = [a, b], {"x": a, "y": b}
    u = t.pop()
    total = u[0] * t[0][1]
    for k in d:
        total = total + d[k][0]
    return total


@case(B, batch(N, N), single(N, N))
def one_part_shared_of_a_list_that_is_repeated(a, b):
    t = [a, b] * 2
    return t[3][0] + t[2][1]



@case(0, batch())
def numbers_in_a_list_that_is_stored_into(w):
    v = [w, 1.0]
    v[0] = v[0] * 2.0
    u = v
    for _ in range(2):
        u[1] += v[0] * 0.5
        v[0], u[1] = v[1], v[0] * w
    return v[0] * v[1]



@case(({"w": None, "x": 0},), {"w": single(3), "x": batch(3)})
def of_dict(p):
    return {"sum": p["w"] + p["x"], "both": (p["x"], p["w"] * 2.0)}


@case(((0, None), 0), (batch(3), single(3)), batch())
def of_tuple(pair, s):
    a, b = pair
    return [a * s, b]


@case(0, batch(4))
def listed(x):
    rows = []
    for i in range(3):
        rows.append(x * i)
    rows[1] = rows[0] + 1.0
    return np.array(rows) + rows[2][0]


@case(0, batch(3))
def swapped(x):
    a, b = x[0], 1.0
    for _ in range(3):
        a, b = b, a + b
    return a * b


def _inner(x, k):
    x[0] = x[0] * k
    return np.sum(x)


@case((0, None), batch(3), 2.0)
def calling(x, k):
    y = x * 1.0
    s = _inner(y, k) + _inner(y, 0.5)
    return y * s


@case((None, 0), single(3), batch())
def callee_stores_batch(x, k):
    y = x * 1.0
    s = _inner(y, k)
    return y * s


def _fibonacci(n, x):
    return x if n < 2 else _fibonacci(n - 1, x) + x * _fibonacci(n - 2, 1.0)


@case(0, batch())
def recursive(x):
    return _fibonacci(5, x)


@case((None, 0), 3, batch(2))
def passed_through(n, x):
    return n, x


# --- example by example ----------------------------------------------------------------------------------------------
@case(0, np.array([1.0, 2.0, 3.0]), looped=True)
def polynomials_with_coefficients_in_rows(x):
    return np.polyval(np.array([[1.0, 2.0], [3.0, 4.0]]), x)


@case(0, batch(2, 2), looped=True)
def integrated_along_lines_of_their_own(y):
    return np.trapezoid(y, np.array([[0.0, 1.0], [2.0, 5.0]]), axis=0)


@case(0, batch(4), looped=True)
def integrated_with_steps_of_their_own(y):
    return np.trapezoid(y, dx=np.array([[1.0], [2.0], [3.0]]))



@case(0, batch(), looped=True)
def tested(x):
    if x > 0.0:
        return x * 2.0
    return -x


@case(0, np.array([1, 3, 2]), looped=True)
def counted(n):
    s = 1.0
    for _ in range(n):
        s = s * 0.5
    return s


@case(0, batch(4), looped=True)
def masked(x):
    return np.sum(x[x > 0.0])


@case(0, np.array([0.5, 0.0, 2.0]), looped=True)
def looked_up(x):
    return {0.5: 1.0, 0.0: 2.0}.get(x, x)


@case(0, batch(), looped=True)
def caught(x):
    try:
        return math.log(x)
    except ValueError:
        return 0.0
