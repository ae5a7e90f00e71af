"""Stores of every kind, and views of every kind that are stored through."""

import numpy as np

from tests.corpus.example import matrix, positive, vector
from tests.directed.program import directed


# --- indices ----------------------------------------------------------------------------------------------------------
@directed(vector(5))
def negative_index_and_negative_step(x):
    y = np.sin(x)
    y[-1] = y[0] * x[1]
    y[::-2] = y[:3] * 2.0
    y[-3:-1] *= y[-1]
    return np.sum(y * y * x)


@directed(matrix(3, 4))
def mixed_basic_indices(m):
    k = np.sin(m)
    k[1] = k[0] * m[2]
    k[:, 2] = k[:, 0] * 1.5
    k[0, 1:3] += k[2, :2]
    k[-1, ::2] = k[1, 3] * k[0, 0]
    k[None, 1, 2, ...] = m[0, 0]
    return np.sum(k * k)


@directed(vector(4), (1,), 2)
def index_held_in_a_name(x, place, j):
    y = np.sin(x)
    part = slice(j, None)
    y[place] = y[0] * x[1]
    y[part] = y[place] * x[2]
    y[j - 2] += y[j]
    return np.sum(y * y)


@directed(vector(5))
def fancy_store(x):
    y = np.sin(x)
    y[[0, 3]] = y[[1, 2]] * x[0]
    y[np.array([4, 1])] = x[1]
    return np.sum(y * y)


@directed(vector(5))
def fancy_store_with_duplicates_last_write_wins(x):
    y = np.sin(x)
    y[[0, 2, 0]] = x[[1, 2, 3]] * 2.0
    y[np.array([1, 1, 1])] = x[:3]
    return np.sum(y * y)


@directed(vector(5))
def fancy_augmented_store_with_duplicates(x):
    y = np.sin(x)
    y[[0, 2, 0]] += x[:3]
    y[[1, 1]] *= x[3:]
    return np.sum(y * y)


@directed(matrix(3, 3), vector(3))
def fancy_store_in_two_dimensions(m, x):
    k = np.sin(m)
    k[[0, 1], [1, 2]] = x[:2]
    k[[2, 0]] = k[[0, 1]] * 1.5
    k[:, [0, 0]] = m[:, 1:]
    k[np.ix_([0, 2], [1, 2])] += x[0]
    return np.sum(k * k)


@directed(matrix(3, 3), analytic=False)
def masked_store_in_two_dimensions(m):
    k = np.sin(m)
    k[k < 0.0] *= 2.0
    k[m > 0.2] = m[m > 0.2] ** 2
    k[np.array([True, False, True])] = m[1]
    return np.sum(k * k)


@directed(vector(4), analytic=False)
def mask_that_the_store_itself_changes(x):
    y = np.sin(x)
    mask = y > 0.0
    y[mask] = -y[mask]
    mask = y < -0.2
    y[mask] = x[0]
    return np.sum(y * x)


@directed(vector(4))
def index_of_a_read_element_of_an_integer_array(x):
    order = np.argsort(np.array([3, 1, 2, 0]))
    y = np.zeros(4)
    for i in range(4):
        y[order[i]] = x[i] * (i + 1)
    return np.sum(y * y * x)


@directed(vector(4))
def broadcasting_store(x):
    k = np.zeros((3, 4))
    k[:] = x
    k[1] = x[0]
    k[:, 1:2] = x[1:].reshape(3, 1)
    k[2:] *= x
    return np.sum(k * k)


@directed(vector(4))
def store_of_a_list_of_numbers(x):
    y = np.zeros(4)
    y[:2] = [x[0] * x[1], 2.0]
    y[2:] = (x[2], x[3] * x[0])
    return np.sum(y * y)


@directed(vector(4))
def chained_assignment_of_stores(x):
    y = np.sin(x)
    y[0] = z = y[1] = x[2] * x[3]
    y[2], y[3] = y[3], z
    return np.sum(y * y * x) + z


@directed(vector(4))
def swap_of_slices(x):
    y = np.sin(x)
    y[:2], y[2:] = y[2:].copy(), y[:2].copy()
    return np.sum(y * y * x)


@directed(vector(4))
def swap_of_views_without_copies(x):
    y = np.sin(x)
    y[:2], y[2:] = y[2:], y[:2]
    return np.sum(y * y * x)


@directed(vector(4))
def loop_target_is_an_element(x):
    y = np.zeros(3)
    s = 0.0
    for y[0] in x:
        s = s + y[0] * y[0]
    return s * y[0]


@directed(vector(4))
def index_with_a_side_effect_is_evaluated_once(x):
    y = np.sin(x)
    places = [0, 1, 2]
    y[places.pop()] += x[0]
    y[places.pop()] *= x[1]
    return np.sum(y * y) * len(places)


# --- views ------------------------------------------------------------------------------------------------------------
@directed(matrix(2, 3))
def store_through_a_transpose(m):
    k = np.sin(m)
    t = k.T
    t[0, 1] = m[0, 2] * t[1, 1]
    t[2] *= m[1, 1]
    return np.sum(k * k)


@directed(matrix(2, 3))
def store_through_reshape_and_ravel(m):
    k = np.sin(m)
    flat = k.reshape(6)
    flat[4] = flat[1] * m[0, 0]
    k.ravel()[0] = m[1, 1]
    np.reshape(k, (3, 2))[2] = flat[:2]
    return np.sum(k * k)


@directed(matrix(2, 3))
def store_through_a_reshape_that_copies(m):
    k = np.sin(m)
    flat = k.T.reshape(6)
    flat[4] = m[0, 0]
    k.T.ravel()[0] = 5.0
    return np.sum(k * k) + np.sum(flat * flat)


@directed(matrix(3, 3))
def store_through_rows_and_columns(m):
    k = np.sin(m)
    for row in k:
        row[0] = row[1] * row[2]
    for column in k.T:
        column[1] += column[0]
    first, second, third = k
    second[2] = m[0, 0]
    return np.sum(k * k)


@directed(matrix(3, 3))
def store_through_enumerated_and_zipped_rows(m):
    k = np.sin(m)
    w = np.cos(m)
    for i, row in enumerate(k):
        row[i] = m[i, 0]
    for one, other in zip(k, w):
        one[0] = other[1] * one[2]
        other[:] = one * 2.0
    return np.sum(k * w)


@directed(matrix(3, 3))
def store_through_squeeze_newaxis_and_swapaxes(m):
    k = np.sin(m)
    k[:, None][1, 0, 2] = m[0, 0]
    np.squeeze(k[None])[0, 1] = m[1, 1] * k[0, 0]
    np.swapaxes(k, 0, 1)[2] = m[0]
    k.swapaxes(0, 1)[0, 1:] *= 2.0
    np.expand_dims(k, 0)[0, 0, 0] += m[2, 2]
    np.moveaxis(k, 0, 1)[1, 2] = m[0, 1]
    return np.sum(k * k * m)


@directed(matrix(3, 3))
def store_through_flip_diagonal_and_atleast(m):
    k = np.sin(m)
    np.flip(k)[0, 0] = m[0, 0] * k[0, 1]
    np.flipud(k)[1] *= m[1]
    np.atleast_2d(k)[0, 2] = k[1, 1] * m[2, 2]
    np.asarray(k)[2, 0] = m[1, 2]
    np.rot90(k)[0, 0] = m[0, 1]
    return np.sum(k * k * m)


@directed(vector(6))
def view_of_a_view_of_a_view(x):
    y = np.sin(x)
    v = y[1:]
    w = v[::2]
    u = w[1:]
    u[0] = w[0] * v[1]
    v[3] = u[0] * x[0]
    return np.sum(y * y) + np.sum(u * w[:2])


@directed(vector(6))
def view_taken_before_and_read_after_the_store(x):
    y = np.sin(x)
    v = y[2:5]
    s = np.sum(v * v)
    y[3] = x[0] * s
    return s * np.sum(v * x[:3])


@directed(vector(6))
def copy_taken_before_the_store(x):
    y = np.sin(x)
    v = y[2:5].copy()
    w = np.array(y)
    y[3] = x[0]
    return np.sum(v * v) + np.sum(w * y)


@directed(vector(6), 2)
def view_by_an_index_that_changes(x, k):
    y = np.sin(x)
    for i in range(3):
        v = y[i : i + k]
        v[0] = v[1] * x[i]
        k = 4 - k
    return np.sum(y * y)


@directed(vector(4))
def split_parts_are_views(x):
    y = np.sin(x)
    left, right = np.split(y, 2)
    left[0] = right[1] * x[0]
    right[:] = left
    return np.sum(y * y * x)


@directed(vector(4))
def real_part_of_a_real_array_is_the_array(x):
    y = np.sin(x)
    y.real[1] = x[0] * 2.0
    return np.sum(y * y)


@directed(vector(4))
def flat_store(x):
    k = np.sin(x).reshape(2, 2).T
    k.flat[1] = x[0] * x[1]
    k.flat[2:] = x[:2]
    return np.sum(k * k * x.reshape(2, 2))


# --- filling ----------------------------------------------------------------------------------------------------------
@directed(vector(4))
def zeros_filled_in_a_loop(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] ** (i + 1)
    return y * x[0]


@directed(vector(4))
def empty_filled_in_a_loop(x):
    y = np.empty(4)
    y[0] = 1.0
    for i in range(1, 4):
        y[i] = y[i - 1] * x[i]
    return y


@directed(matrix(2, 3))
def zeros_like_and_empty_like_filled(m):
    k = np.zeros_like(m)
    w = np.empty_like(m)
    o = np.ones_like(m)
    f = np.full_like(m, 0.5)
    for i in range(2):
        for j in range(3):
            k[i, j] = m[i, j] * m[0, 0]
            w[i, j] = k[i, j] + m[1, j]
            o[i, j] *= w[i, j]
            f[i, 2 - j] -= o[i, j]
    return k * w * o + f


@directed(vector(4))
def constant_array_keeps_its_constants(x):
    y = np.ones(6)
    y[1] = x[0]
    y[4:] = x[1:3]
    y[5] = 2.0
    return np.sum(y * y * y) * y[0]


@directed(vector(3), 5)
def recurrence_of_rows(x, n):
    rows = np.zeros((n, 3))
    rows[0] = x
    for i in range(n - 1):
        rows[i + 1] = np.sin(rows[i]) * x[::-1]
    return rows


@directed(vector(5))
def prefix_sums_in_place(x):
    y = x * x
    for i in range(1, 5):
        y[i] += y[i - 1]
    return np.sum(y * x)


@directed(vector(6))
def bubble_of_an_inner_loop(x):
    y = np.sin(x)
    for i in range(6):
        for j in range(5 - i):
            y[j], y[j + 1] = y[j] * 0.5 + y[j + 1], y[j + 1] * y[j]
    return np.sum(y * y)


@directed(positive(9).reshape(3, 3) + 3.0 * np.eye(3), analytic=False)
def gauss_elimination(m):
    k = m * 1.0
    for j in range(3):
        for i in range(j + 1, 3):
            k[i, j] /= k[j, j]
            k[i, j + 1 :] -= k[i, j] * k[j, j + 1 :]
    return np.sum(np.log(np.abs(np.diagonal(k)))) + k[2, 0] * k[1, 2]


@directed(vector(8), 0.2)
def heat_equation_by_slices(u, c):
    u = u * 1.0
    for step in range(3):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[-2]
    return np.sum(u * u)


@directed(vector(8), 0.2)
def heat_equation_augmented(u, c):
    for step in range(3):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@directed(vector(8), 0.2)
def heat_equation_in_two_buffers(u, c):
    old = u * 1.0
    new = np.empty_like(old)
    for step in range(4):
        new[1:-1] = old[1:-1] + c * (old[2:] - 2.0 * old[1:-1] + old[:-2])
        new[0] = old[0] * old[1]
        new[-1] = c * c
        old, new = new, old
    return np.sum(old * old) + np.sum(new)


# --- arguments --------------------------------------------------------------------------------------------------------
@directed(vector(4), 0.3)
def the_argument_itself_is_stored_into(x, a):
    x[0] = x[1] * a
    x[2:] *= x[0]
    return np.sum(x * x)


@directed(matrix(2, 3))
def the_argument_is_stored_into_through_a_view(m):
    t = m.T
    t[1] = t[0] * t[2]
    return np.sum(m * m)


@directed(vector(4), vector(4, 1))
def one_argument_is_stored_into_the_other_read(x, y):
    x[:] = x * y
    y = y * x
    y[0] = x[1]
    return np.sum(x * y)


@directed(vector(4))
def the_stored_argument_is_returned(x):
    x[1] = x[0] * x[2]
    return x


@directed(vector(4))
def a_view_is_returned(x):
    y = np.sin(x)
    y[1] = x[0]
    return y[::2]


@directed(vector(4))
def the_same_array_is_returned_twice(x):
    y = np.sin(x)
    y[1] = x[0] * y[2]
    return y, y


@directed(vector(4))
def overlapping_views_are_returned(x):
    y = np.sin(x)
    y[1] = x[0] * y[2]
    return y[:3], (y[1:], y[1])


@directed(vector(8)[::-1])
def argument_of_negative_stride(x):
    x[0] = x[1] * x[2]
    x.ravel()[3] = 2.0
    return np.sum(x * x)


@directed(np.asfortranarray(matrix(3, 2)))
def argument_in_fortran_order(m):
    m.T.reshape(6)[1] = m[0, 0] * m[2, 1]
    m.ravel()[0] = 7.0
    return np.sum(m * m)


@directed(matrix(4, 4)[::2, 1::2])
def argument_that_is_not_contiguous(m):
    flat = m.reshape(4)
    flat[0] = 3.0
    m[0, 1] = m[1, 0] * flat[1]
    m[1] *= flat[2]
    return np.sum(m * m) + np.sum(flat)


@directed(vector(4))
def an_argument_and_a_view_of_it_within(x):
    v = x[1:3]
    y = x
    y[1] = v[1] * 2.0
    v[0] *= x[3]
    return np.sum(x * y) + np.sum(v)


# --- activity ---------------------------------------------------------------------------------------------------------
@directed(vector(4))
def inactive_store_over_an_active_element(x):
    y = np.sin(x)
    s = y[0] * y[1]
    y[0] = 3.0
    y[1] = len(x)
    return s + np.sum(y * y)


@directed(vector(4))
def active_store_into_an_array_that_is_not_used(x):
    y = np.zeros(4)
    y[0] = x[0] * x[1]
    z = np.sin(x)
    y[1] = z[0]
    return np.sum(z)


@directed(vector(4))
def a_store_that_is_read_for_its_shape_only(x):
    y = np.zeros(4)
    y[0] = x[0]
    return np.sum(x * x) * len(y) * y.shape[0]


@directed(vector(4))
def a_store_that_decides_a_branch(x):
    y = np.zeros(2)
    y[0] = x[0]
    if y[0] > 10.0:
        return x[1]
    y[0] = x[1]
    return y[0] * y[1] + x[2] * y[0]


@directed(vector(4))
def nonlinear_after_every_store(x):
    y = x * 1.0
    for i in range(3):
        y[i] = np.exp(y[i + 1])
        y = np.tanh(y)
        y[3] = y[0]
        y = y / (1.0 + y * y)
    return np.sum(y)


@directed(vector(4))
def division_whose_result_is_stored_over(x):
    y = x + 3.0
    z = x / y
    z[0] *= 2.0
    y[1] = z[1]
    return np.sum(z / y)


@directed(vector(4))
def sqrt_whose_result_is_stored_over(x):
    y = np.sqrt(x + 3.0)
    s = np.sum(y * x)
    y[:] = 1.0
    y[0] = s
    return np.prod(y) * s


@directed(vector(5), 0.5)
def marks_that_are_joined_beside_stores(x, a):
    done = np.zeros(5, dtype=bool)
    y = x.copy()
    for _ in range(2):
        y[~done] -= a * y[~done] ** 2
        newly = np.abs(y) < 0.3
        done = done | newly
    return y @ y


def coarse(u, f):
    if len(u) <= 3:
        u[1] = 0.5 * (u[0] + u[2] + f[1] ** 2)
        return u
    r = np.zeros(len(u))
    r[1:-1] = f[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2] + 1.0)
    restricted = r[::2].copy()
    restricted[1:-1] = 0.25 * r[1:-3:2] + 0.5 * r[2:-2:2] + 0.25 * r[3:-1:2]
    u[::2] += coarse(np.zeros_like(restricted), restricted)
    return u


@directed(vector(9))
def a_recursion_over_grids_with_views_that_interleave(x):
    u = coarse(np.sin(x), x * 2.0)
    return np.sum(u * u) + u[4]


@directed(vector(4))
def whole_powers_of_negative_numbers_beside_a_store(x):
    y = x.copy()
    y[1:] *= np.array([2.0, -3.0, 0.5])
    y[0] -= 1.5
    return np.sum(y ** np.array([2, 3, 2, 1])) * y[0] ** 3


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def views_at_places_that_change_afterwards(x):
    """Once wrong in silence: the reverse sweep made the shadow of a view again, at the places of the end."""
    c = [0]
    y = x * 1.0
    for i in range(3):
        c[0] = i
        y[c[0] : c[0] + 2] *= y[3]
    h = y[0] * 3 + y[1] * y[2]
    v = y[c[0] :]
    v **= 2
    c[0] = 0
    top = [2]
    y[: top[-1]] *= 2
    top.pop()
    at = np.array([1])
    y[at[0] : at[0] + 1] *= x[0]
    at[0] = 3
    return h * y[1] + np.sum(y)


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def lists_of_places_that_change_afterwards(x):
    """Once wrong in silence: what was gathered at the items of a list was scattered at those of the end."""
    m = np.outer(x, x)
    act = [0, 2]
    s = m[act]
    s *= 2
    act[1] = 3
    mask = [True, False, True, False]
    t = m[mask]
    t **= 2
    mask[1] = True
    both = (0, [1, 2])
    u = m[both]
    u *= x[0]
    both[1][0] = 2
    r = x * 1.0
    held = []
    for j in range(3):
        held.append(j)
        w = x[held]
        w *= 0.5
        r[held] -= w * x[3]
    return np.sum(s * s[0, 1]) + np.sum(t) * x[2] + np.sum(u) * np.sum(r * r)


class Cursor:
    def __init__(self):
        self.at = 0


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def views_at_places_that_objects_and_closures_hold(x):
    """Once wrong in silence, like ``views_at_places_that_change_afterwards``."""
    cursor = Cursor()
    y = x * 1.0
    y[cursor.at : cursor.at + 1] *= 2
    cursor.at = 2
    kept = np.zeros((4, 2))
    n = 0

    def put(v):
        nonlocal n
        kept[n] = v
        n += 1
        return kept[:n]

    s = y[0] * 3
    for t in range(3):
        s += np.sum(put(x[t : t + 2]) ** 2) * y[t]
    place = {"i": 0}
    while place["i"] < 3:
        v = y[place["i"] :]
        v *= x[0]
        place["i"] += 1
    return s * np.sum(y)


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def masks_of_select_that_change_afterwards(x):
    """Once wrong in silence at second order, and where no types are known: the list of the masks was kept, not they."""
    high = x > 1
    y = np.select([high, x < 0], [x**3, x * x[0]], x * x)
    high[:] = False
    s = np.sum(y)
    for k in range(2):
        low = x < 1.0 + k
        s += np.sum(np.select([low], [x**2], y**3))
        low[k] = not low[k]
    return s


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def masks_of_a_loop_that_are_stored_into(x):
    """Once wrong in silence: the mask was computed again in the reverse sweep, without what was stored into it."""
    s = 0.0
    for k in range(2):
        low = x < 1.0 + k
        low[k] = not low[k]
        s += np.sum(np.where(low, x**2, x**3))
        part = low[1:]
        part[k] = not part[k]
        s += np.sum(np.where(low, x, x**2))
    return s


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def masks_in_containers_that_are_stored_into(x):
    """Once wrong in silence: the list held one mask, and the store was undone in another."""
    s, k = 0.0, 0
    while k < 2:
        low = x < 1.0 + k
        masks, named = [low], {"m": low}
        s += np.sum(np.select(masks, [x**2], x**3)) + np.sum(np.where(named["m"], x, x**2))
        low[k] = not low[k]
        k += 1
    return s


def flipped(mask, k):
    mask[k] = not mask[k]


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def masks_that_a_callee_stores_into(x):
    s = 0.0
    for k in range(3):
        low = x < 1.0
        flipped(low, k)
        for j in range(2):
            s += np.sum(np.where(low, x, x**3)) * (j + 1)
            flipped(low, j)
        places = np.argsort(x)
        places[k] = 3
        s += np.sum(x[places] ** 2)
    return s


def one_more(v):
    return v + 1.0


def two_of(v):
    t = v * 1.0
    return t, t + 2.0


def by_another(v):
    return one_more(v)


class Shift:
    def __init__(self, by):
        self.by = by

    def __add__(self, other):
        return self.by + other


def stores_at(v, factor):
    v[2] *= factor
    return 0.5


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def what_callees_make_is_apart_from_what_they_are_given(x):
    """Once wrong in silence in forward mode: the tangent of ``v + 1.0`` was that of ``v``, which is stored into.

    Found by the hunt: ``(o + x, g0(x, b))``."""
    w = x * 1.0
    y = one_more(w)
    z = by_another(w)
    a, b = two_of(w)
    u = Shift(np.ones(4)) + w
    made = {"one": one_more}
    t = made["one"](w)
    pair = (Shift(np.ones(4)) + w, stores_at(w, x[0]))
    w[0] *= 3.0
    a[1] *= x[2]
    y[3] *= x[1]
    total = np.sum(y * y) + np.sum(z * w) + np.sum(a * b) + np.sum(u**2) + np.sum(t * u)
    return total + np.sum(pair[0] ** 2) * pair[1]
