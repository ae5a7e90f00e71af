"""Lists that are stored into arrays: NumPy takes their numbers as they are then, each by itself; and numbers
that are stored into, which stay as they are."""

from __future__ import annotations

from collections import deque
from types import FunctionType

import numpy as np
import pytest

from srcgrad import grad
from tests.roads import EVERY_ROAD, is_refused, run


class Held:
    pass


def a_text_among_them(a, b):
    y = np.array([a, b, 1.0]) ** 2
    y[:2] = ["3.5", a]
    return y[0] * b + y[1]


def a_text_alone(a, b):
    y = np.array([a, b, 1.0]) ** 2
    y[0] = "3.5"
    return y[0] * b + y[1]


def put(y, l):
    y[:2] = l


def entries_of_a_dict(a, b):
    d = {"k": [a, b]}
    y = np.array([a, b, 1.0]) ** 2
    y[:2] = d["k"]
    d["k"][0] *= 3.0
    return y[0] * b


def of_a_field(a, b):
    o = Held()
    o.l = [a, b]
    y = np.array([a, b, 1.0]) ** 2
    y[:2] = o.l
    o.l[0] *= 3.0
    return y[0] * b + o.l[0]


def a_row(a, b):
    r = [[a, b], [b, a]]
    y = np.ones((2, 2)) * a
    y[0] = r[0]
    r[0][0] *= 3.0
    return y[0, 0] * b + y[1, 1] * r[0][0]


def rows_in_a_loop(a, b):
    st = []
    x = [a, b, a * b, 2.0]
    for i in range(3):
        st.append([x[i], x[i + 1]])
    y = np.ones(3) * a
    for r in st:
        y[:2] = r
        r[1] *= x[3]
    return y[0] * b + y[1] * st[0][1]


def a_deque(a, b):
    d = {"k": deque([a, b])}
    y = np.ones(3) * a
    y[:2] = d["k"]
    d["k"].rotate(1)
    d["k"][0] *= 4.0
    return y[0] * b + y[1] * d["k"][0]


def by_a_mask(a, b):
    d = {"k": [a, b]}
    y = np.ones(3) * a
    y[np.array([True, True, False])] = d["k"]
    np.copyto(y[1:3], d["k"])
    d["k"][0] *= 4.0
    return y[0] * b + y[1] * d["k"][0]


def added_to_a_part(a, b):
    d = {"k": [a, b]}
    y = np.ones(3) * a
    y[:2] += d["k"]
    d["k"].reverse()
    return y[0] * b * d["k"][0]


def arrays_that_change_places(a, b):
    x = np.array([a, b])
    q = [x[:1] * 2, x[1:2] * 3]
    z = np.zeros((2, 1))
    d = {"q": q}
    z[:] = d["q"]
    q[0], q[1] = q[1], q[0]
    q[0] *= 2.0
    return z[0, 0] * b * q[0][0]


def added_at_places(a, b):
    l = [a, b]
    y = np.ones(3) * a
    np.add.at(y, [0, 1], l)
    l[0] = 0.0
    return y[0] * b


def of_a_name(a, b):
    l = [a, b]
    y = (np.ones(3) * a).copy()
    y[:2] = l
    l[0] = 0.0
    return y[0] * b


def in_a_callee(a, b):
    l = [a, b]
    y = (np.ones(3) * a)
    put(y, l)
    l.pop()
    l.append(a * 3.0)
    return y[0] * b + y[1] * l[1]


def cleared_later(a, b):
    d = {"k": [a, b]}
    y = np.ones(3) * a
    y[:2] = d["k"]
    d["k"].clear()
    return y[0] * b


def longer_later(a, b):
    l = [a, b]
    y = (np.ones(3) * a).copy()
    y[:2] = l
    l.append(2.0)
    return y[0] * b


def more_axes(a, b):
    x = np.array([a, b, 2.0, 3.0])
    y = x * x
    try:
        y[2:] = [[x[0], x[1]]]
    except ValueError:
        y[0] = 5.0
    return (y * x).sum()


def an_axis_too_many(a, b):
    y = np.array(a)
    try:
        y[...] = [b]
    except ValueError:
        y *= 4.0
    return float(y * b)


def too_large(a, b):
    u = np.zeros(2, np.uint8)
    x = np.array([a, b])
    try:
        u[:] = [300, x[0]]
    except OverflowError:
        u[1] = 7
    return (u * x).sum()


def a_large_integer(a, b):
    x = np.array([a, b])
    i = np.zeros(2, int)
    i[:] = [2**60 + 1, x[0]]
    return (i[0] % 8) * x[0]


def complex_items(a, b):
    x = np.array([a, b])
    y = x * x
    try:
        y[:2] = [1j, x[1]]
    except TypeError:
        y[0] = 3.0 * b
    return (y * x).sum()


def too_large_to_put(a, b):
    u = np.zeros(2, np.uint8)
    x = np.array([a, b])
    try:
        np.put(u, [0, 1], [300, x[0]])
    except OverflowError:
        u[1] = 7
    return (u * x).sum()


def too_large_to_place(a, b):
    u = np.zeros(2, np.uint8)
    x = np.array([a, b])
    try:
        np.place(u, x > 0.1, [300, x[0]])
    except OverflowError:
        u[1] = 7
    return (u * x).sum()


def too_large_to_insert(a, b):
    x = np.array([a, b, 1.0])
    try:
        u = np.insert(np.zeros(2, np.uint8), 1, [300, x[0]])
    except OverflowError:
        u = np.array([1, 3, 7])
    return (u * x).sum()


def no_number(a, b):
    i = np.zeros(2, int)
    try:
        i[:] = [np.nan, a]
    except ValueError:
        i[0] = 3
    return i[0] * a * b


def subtracted_at_places(a, b):
    l = [a, b]
    y = np.ones(3) * a
    np.subtract.at(y, [0, 1], l)
    l[0] *= 3.0
    return y[0] * b + l[0]


#: What is put into integers is brought there in another way than an array of it would be: refused where it runs.
REFUSED = (too_large_to_put, too_large_to_place, too_large_to_insert)
#: What raises where something may have been stored before, and is caught.
CAUGHT = (more_axes, an_axis_too_many, too_large, complex_items, no_number)
_OTHERS = (*REFUSED, *CAUGHT, put)
_OWN = [f for f in globals().values() if isinstance(f, FunctionType) and f.__module__ == __name__]
FUNCTIONS = [f for f in _OWN if f not in _OTHERS]


@EVERY_ROAD
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.costly(4, first=1)
def test_lists_that_are_stored(f, road):
    """Gradients were those of what the lists held later; casts and axes those of an array that was made of them."""
    run(f, road)


@EVERY_ROAD
@pytest.mark.parametrize("f", CAUGHT)
def test_stores_that_are_caught_are_right_or_refused(f, road):
    is_refused(f, road)


@EVERY_ROAD
@pytest.mark.parametrize("f", REFUSED)
@pytest.mark.costly(2, first=1)
def test_items_that_are_put_into_integers_are_refused(f, road):
    assert is_refused(f, road)


def fill_a_number(a, b):
    s = np.array([a, b])
    n = s[0]
    n.fill(b)
    return n * b


def put_into_numbers(a, b):
    total = 0.0
    for n in np.array([a, b]):
        n.put(0, b)
        total = total + n * b
    return total


def copied_into_itself(a, b):
    w = np.diag(np.array([[a, b], [b, a]]))
    np.copyto(w, w)
    return w[0] * b


def copied_into_what_is_read_only(a, b):
    w = np.diag(np.array([[a, b], [b, a]]))
    np.copyto(w, np.array([a, b]))
    return w[0] * b


@EVERY_ROAD
def test_what_may_not_be_stored_into(road):
    """NumPy does nothing where an array is copied into itself; a store raised ValueError."""
    assert is_refused(copied_into_itself, road)
    run(copied_into_what_is_read_only, road)


@EVERY_ROAD
@pytest.mark.parametrize("f", [fill_a_number, put_into_numbers])
def test_methods_that_change_a_copy_of_a_number_are_refused(f, road):
    """They were taken for stores, which raised TypeError."""
    assert is_refused(f, road)


def test_second_derivatives_beside_a_text():
    a, b = 0.7, 1.1
    assert grad(grad(a_text_among_them))(a, b) == pytest.approx(0.0)
    assert grad(grad(lambda a, b: a_text_among_them(a, b) ** 2))(a, b) == pytest.approx(2.0)
