"""What of NumPy stores: ``out=``, ``where=``, copyto and its kin, ufunc.at, methods, shuffling."""

import array
import operator
from collections import deque
from dataclasses import dataclass

import numpy as np

from tests.corpus.example import matrix, positive, vector
from tests.directed.program import directed


@directed(vector(4))
def ufunc_with_out(x):
    y = np.zeros(4)
    np.sin(x, out=y)
    np.multiply(y, x, out=y)
    np.add(y, 1.0, y)
    return np.sum(y * y)


@directed(vector(4))
def ufunc_with_out_in_a_view(x):
    y = np.sin(x)
    z = np.multiply(y[:2], x[2:], out=y[1:3])
    z[0] += x[0]
    return np.sum(y * y)


@directed(vector(4))
def result_of_a_call_with_out_is_the_array(x):
    y = np.empty(4)
    z = np.exp(x, out=y)
    z[1] = x[0]
    y[2] *= x[3]
    return np.sum(y * z)


@directed(vector(4), analytic=False)
def ufunc_with_out_and_where(x):
    y = x * 2.0
    np.log(x, out=y, where=x > 0.0)
    np.divide(x, y, out=y, where=np.array([True, True, False, True]))
    return np.sum(y * y)


@directed(matrix(3, 2))
def reductions_with_out(m):
    s = np.zeros(2)
    np.sum(m * m, axis=0, out=s)
    t = np.zeros(3)
    np.prod(m, axis=1, out=t)
    return np.sum(s * s) + np.sum(t)


@directed(matrix(3, 3), matrix(3, 3, 1))
def products_with_out(m, k):
    p = np.zeros((3, 3))
    np.dot(m, k, out=p)
    q = np.empty((3, 3))
    np.matmul(p, m, out=q)
    p[0] = q[1]
    return np.sum(p * q)


@directed(vector(4), analytic=False)
def clip_with_out(x):
    y = x * 2.0
    np.clip(y, -0.5, 0.5, out=y)
    y[0] += x[0]
    return np.sum(y * x)


@directed(vector(4))
def cumulative_sum_with_out(x):
    y = np.sin(x)
    np.cumsum(y, out=y)
    y[1] *= x[0]
    return np.sum(y * y)


@directed(vector(4), vector(4, 1))
def copyto(x, y):
    z = np.zeros((2, 4))
    np.copyto(z, x)
    np.copyto(z[0], y * z[1])
    return np.sum(z * z)


@directed(vector(4), vector(4, 1))
def copyto_with_where(x, y):
    z = np.sin(x)
    np.copyto(z, y * 2.0, where=np.array([True, False, True, False]))
    np.copyto(z[1:], x[0], where=[False, True, True])
    return np.sum(z * z)


@directed(vector(6))
def put(x):
    y = np.sin(x)
    np.put(y, [0, 2], x[3:5] * 2.0)
    np.put(y, [1, 4, 5], [x[0]])
    y.put([3, -1], x[1])
    return np.sum(y * y)


@directed(vector(6))
def put_with_duplicates(x):
    y = np.sin(x)
    np.put(y, [0, 2, 0], x[:3])
    return np.sum(y * y)


@directed(vector(6))
def place(x):
    y = np.sin(x)
    np.place(y, np.array([True, False, True, True, False, True]), x[:2] * 2.0)
    return np.sum(y * y)


@directed(vector(6))
def putmask(x):
    y = np.sin(x)
    np.putmask(y, np.array([True, False, True, True, False, True]), x * 2.0)
    np.putmask(y, np.array([False, False, False, True, True, True]), x[:2])
    return np.sum(y * y)


@directed(matrix(3, 3), 0.4)
def fill_diagonal(m, a):
    k = np.sin(m)
    np.fill_diagonal(k, a * m[0, 1])
    w = np.cos(m)
    np.fill_diagonal(w, k[0])
    return np.sum(k * w)


@directed(matrix(3, 4))
def put_along_axis(m):
    k = np.sin(m)
    np.put_along_axis(k, np.array([[1], [0], [3]]), m[:, :1] * 2.0, axis=1)
    return np.sum(k * k)


@directed(vector(4), 0.3)
def fill_method(x, a):
    y = np.sin(x)
    s = np.sum(y)
    y.fill(a * s)
    y[1:3].fill(x[0])
    return np.sum(y * y * x)


@directed(vector(5))
def add_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 2, 0, 1, 0], x)
    np.subtract.at(y, [1, 1], x[0])
    return np.sum(y * y)


@directed(positive(5))
def multiply_at(x):
    y = np.ones(3)
    np.multiply.at(y, [0, 2, 0, 1, 0], x)
    return np.sum(y * y)


@directed(vector(5), analytic=False)
def maximum_at(x):
    y = np.zeros(3)
    np.maximum.at(y, [0, 2, 0, 1, 0], x)
    return np.sum(y * y)


@directed(vector(5), analytic=False)
def sort_in_place(x):
    y = np.sin(x)
    s = y[0] * y[1]
    y.sort()
    return np.sum(y * x) + s


@directed(matrix(3, 4), analytic=False)
def sort_in_place_along_an_axis(m):
    k = np.sin(m)
    k.sort(axis=0)
    k[1].sort()
    k.T[0].sort()
    return np.sum(k * m)


@directed(vector(5), analytic=False)
def sort_of_a_view_in_place(x):
    y = np.sin(x)
    y[::2].sort()
    y[::-1].sort()
    return np.sum(y * x)


@directed(vector(6), analytic=False)
def partition_in_place(x):
    y = np.sin(x)
    y.partition(2)
    return np.sum(y[:3] ** 2) * y[2] + np.max(y[3:])


@directed(vector(5))
def shuffle_by_a_generator(x):
    rng = np.random.default_rng(3)
    y = np.sin(x)
    rng.shuffle(y)
    y[0] *= x[0]
    return np.sum(y * x)


@directed(matrix(3, 3))
def shuffle_of_rows(m):
    rng = np.random.default_rng(5)
    k = np.sin(m)
    rng.shuffle(k)
    rng.shuffle(k, axis=1)
    return np.sum(k * m)


@directed(vector(5))
def random_numbers_in_stores_are_drawn_once(x):
    rng = np.random.default_rng(11)
    y = np.sin(x)
    for i in range(5):
        y[i] *= rng.normal()
        y[rng.integers(5)] += x[i]
    return np.sum(y * y)


@directed(vector(4), 0.8)
def what_a_call_with_out_returns_is_changed_in_place(x, a):
    y = x * a
    z = y[1:3]
    w = np.add(z, y[2:], out=z)
    w *= y[0]
    r = np.zeros(4)
    v = y.cumsum(out=r)
    v -= y * r
    u = np.clip(y, -5.0, 5.0, out=r[::-1])
    u **= 2
    return np.sum(y**3) + w[0] * z[1] + np.sum(r * v * u)


@directed(vector(4))
def an_output_of_a_product_of_views(x):
    y = np.zeros(2)
    np.multiply(x[:2], x[2:], out=y)
    return np.sum(y**3)


@directed(vector(3))
def an_array_without_axes(x):
    """Once an error: ``z += e`` was ``z = z + e``, which is a number."""
    z = np.zeros(())
    z += x[1]
    z[()] = z * x[2]
    z[...] += x[0]
    return z * z


@dataclass
class Moving:
    """An object whose methods bind its field again, so that the order of evaluation shows."""

    v: np.ndarray
    s: float

    def moved(self):
        self.v = self.v + self.s
        return self

    def doubled(self):
        self.s = self.s * 2
        return self.s


@directed(vector(3), 0.4)
def what_is_given_is_evaluated_before_the_output_is_found(y, a):
    """Once wrong in silence: the output was ``y``, which the field named before."""
    o = Moving(y * 1.0, a)
    w = o.v
    np.sin(o.moved().v, out=o.v)
    np.multiply(o.moved().v, o.doubled(), o.v)
    np.sum(np.outer(o.moved().v, o.v), axis=0, out=o.v)
    r = np.cos(o.moved().v, out=o.v) + o.v
    return np.sum(w * w) + np.sum(o.v * r)


@directed(vector(3), 0.4)
def a_receiver_and_limits_are_evaluated_before_the_output_is_found(y, a):
    """Once wrong in silence."""
    o = Moving(y * 1.0, a)
    w = o.v
    o.v.clip(o.doubled(), 2.0, out=o.moved().v)
    np.clip(o.v, a_min=o.doubled() - o.moved().s, a_max=o.v[2] + 1.0, out=o.v)
    np.sin(o.v, where=o.moved().v > 1.0, out=o.v)
    np.concatenate([o.v[:1], o.moved().v[1:]], out=o.v)
    return np.sum(w * w) + np.sum(o.v)


@directed(vector(3))
def what_is_given_is_popped_before_the_output_is_found(x):
    """Once wrong in silence."""
    rows = [x * 1.0, x * 2.0, x * 3.0]
    first = rows[0]
    np.sin(rows.pop(0), out=rows[0])
    np.multiply(rows[0], rows.pop(0)[1], out=rows[0])
    return np.sum(first * first) + np.sum(rows[0] ** 2)


def doubled_in_place(v):
    v *= 2.0
    return v


@directed(vector(3), 0.4)
def what_is_given_is_evaluated_in_the_order_of_the_text(y, a):
    o = Moving(y * 1.0, a)
    w = o.v
    np.sin(o.v, out=o.moved().v, where=o.v > 1.0)
    np.clip(o.v, out=o.moved().v, a_min=o.v[0] - 5.0, a_max=5.0)
    np.multiply(o.v, 2.0, o.moved().v, where=o.v > 1.2)
    z = y * 1.0
    np.sin(z * 3.0, out=doubled_in_place(z))
    np.nan_to_num(o.moved().v, copy=False)
    return np.sum(w * o.v) + np.sum(z * y)


@directed(np.array([0.6, 1.1, 1.7]), without={"eager twice": "of nested lists is not recorded"})
def arrays_joined_with_lists_of_numbers_and_stored_into(x):
    """Once an exception at second order: of what the pieces share with the whole the rule of joining was given None."""
    y = np.concatenate([x, [1.0]])
    y[0] = x[1]
    z = np.vstack([x, [1.0, 2.0, 3.0], x * 2.0])
    z[0, 1] = y[0] * x[2]
    z[1] *= x
    w = np.hstack([y, [0.5, 2.0]])
    w *= x[0]
    return np.sum(z * z) + np.sum(w**3)


@directed(np.array([0.6, 1.15, 1.9]))
def places_read_of_what_is_stored_into(x):
    """Once wrong in silence at second order: the tangent was added where the place was read after the addition."""
    y = x * 1.0
    y[0 if y[0] < 1 else 1] += y[1]
    y[np.argmin(y)] -= y[2] * x[0]
    y[int(y[0])] *= 2.0
    np.add.at(y, np.argsort(-y)[:2], x[1:] * y[0])
    return np.sum(y * y) * y[0]


PLACES = array.array("l", [0, 0, 3])


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def places_met_twice_in_a_tuple(x):
    """Once wrong in silence: a tuple inside of an index was taken for a place, and is a list of places."""
    m = np.outer(x, x)
    s = np.sum(m[(0, 0), (1, 1)]) + np.sum(x[(0, 0),]) + np.sum(x.reshape(2, 2)[:, (1, 1)] ** 2)
    y = x * 2.0
    y[(0, 0),] += x[1]
    m[(0, 0), (2, 3)] *= x[2]
    return s + np.sum(y**2) + np.sum(m**2)


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def places_met_twice_in_other_sequences(x):
    """The same of what NumPy takes for places without being a list or an array."""
    kept = np.array([0, 0, 2])
    y = x * 1.0
    y[PLACES] += x[:3]
    return np.sum(x[PLACES] ** 2) + np.sum(x[kept.flat] ** 3) + np.sum(x[deque([0, 3, 3])]) + np.sum(y**2)


@directed(0.4, vector(4))
def put_in_a_test_into_an_array_of_numbers_of_two_classes(b, x):
    """The store was lost: the receiver may be an array or a number, and the result is None."""
    chosen = b if abs(b) < 1.0 else x[3]
    pair = np.array([chosen, 0.5])
    if pair.put([0], chosen * chosen) is None or chosen > -9.0:
        chosen = chosen * x[0]
    return np.sum(pair * pair) + chosen


@directed(vector(4), analytic=False)
def an_output_that_a_star_gives(x):
    """The stores were lost: the star was counted as one argument, and rounding has no derivative."""
    kept, made = [x], np.exp(x)
    while len(kept) < 2:
        kept.append(made)
    np.floor(*kept)
    return np.sum(made * x)


@directed(vector(4), analytic=False)
def a_sine_into_what_a_star_gives(x):
    kept, made = [x], np.exp(x)
    while len(kept) < 2:
        kept.append(made)
    np.sin(*kept)
    return np.sum(made * x)


@directed(vector(4), analytic=False)
def an_output_beside_a_star(x):
    kept, made = [], np.exp(x)
    for row in (x, x)[:1]:
        kept.append(row)
    np.floor(*kept, out=made)
    return np.sum(made * x)


@directed(vector(4))
def dicts_that_a_star_gives(x):
    """What the operator gives was taken to carry no derivative."""
    kept = []
    for i in range(2):
        kept.append({i: x[i] * x[2]})
    return operator.or_(*kept)[1] ** 2


@directed(vector(4))
def put_into_an_array_without_axes(x):
    """It raised a ValueError of the derivative's own."""
    total = np.array(x[0])
    total.put([0], x[2] * x[1])
    return total * x[0]
