"""Programs whose ranks, generators and iterators were taken for others: right."""

from __future__ import annotations

import numpy as np
import pytest

from tests.roads import right

X = np.array([1.0, 2.0, 3.0])


def squares(x, n):
    if n == 0:
        return
    for v in x:
        yield v * v


def left_before_its_loop(x):
    y = np.zeros(3)
    i = 0
    for v in squares(x, 0):
        y[i] = v
        i = i + 1
    return np.sum(y) + 7.0 * x[0]


def pairs(x):
    yield x[0]
    yield x[1] * x[2]


def returned_beside_what_is_read_behind_the_loop(x):
    s = 0.0
    for v in pairs(x):
        s = s + v * v
        if s > 0.5:
            return s * x[1]
    return s


def one_buffer(x):
    buffer = np.zeros(2)
    for v in x:
        buffer[0] = v
        buffer[1] = v * v
        yield buffer


def summed_buffers(x):
    return np.sum(sum(one_buffer(x)))


def a_zip_at_its_end(x):
    a, b, s = [x[0], x[1], x[1], x[0]], [x[0]], 0.0
    z = zip(a, b)
    for u, v in z:
        s = s + u * v
    b.append(x[1])
    b.append(x[1])
    for u, v in z:
        s = s + 10.0 * u * v
    return s


def a_shape_that_is_an_array(x):
    return np.sum(x * x) if np.ones(np.array([2, 1, 1])).ndim == 3 else np.sum(x)


def a_shape_of_unknown_length(x):
    shape = []
    for _ in range(int(x.size > 1)):
        shape.append(3)
    return np.sum(x * x) if np.zeros(tuple(shape)).ndim == 1 else np.sum(x)


def a_number_of_axes(x, n=int(len(X) > 2)):
    z = np.outer(x, x)
    z = np.tensordot(z, z, n)
    return np.sum(z) if z.ndim == 2 else np.sum(x)


def axes_that_may_stay(x, k=int(len(X) > 9)):
    z = np.sum(x, axis=0, keepdims=k)
    return np.sum(x * x) if z.ndim == x.ndim else np.sum(x)


def a_list_of_places_that_is_empty(x):
    places = []
    for i in range(int(x.size > 9)):
        places.append([i, i])
    y = x[places]
    return np.sum(y * y) if y.ndim == 2 else np.sum(x)


def a_number_times_a_list(x):
    n = 2
    n *= [x[0], x[1]]
    return n[0] * n[3]


def an_axis_of_nothing(x):
    nothing = []
    if x[0] > 100.0:
        return np.sum(np.squeeze(nothing[0]))
    return np.sum(x * x)


@pytest.mark.parametrize(
    "function",
    [
        a_zip_at_its_end, a_shape_that_is_an_array, a_shape_of_unknown_length, a_number_of_axes, axes_that_may_stay,
        a_list_of_places_that_is_empty, a_number_times_a_list, an_axis_of_nothing, left_before_its_loop,
        summed_buffers, returned_beside_what_is_read_behind_the_loop,
    ],
)  # fmt: skip
@pytest.mark.parametrize("road", ["inferred", "generic"])
def test_what_depends_on_numbers_is_not_taken_for_known(function, road):
    right(function, road, X)
