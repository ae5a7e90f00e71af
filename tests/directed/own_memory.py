"""Stores into memory of a function's own: copies of globals, one of several results, arguments of inner derivatives;
and augmented assignments of what only seems to be its name's own."""

import copy
import functools
import operator
from dataclasses import dataclass

import numpy as np

import srcgrad
from tests.corpus.example import vector
from tests.directed.program import directed

WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])
STIFFNESS = np.diag([2.0, 3.0, 4.0, 5.0])
TABLE = [1.5, 2.5, 3.5]
RATES = {"a": 1.0, "b": 2.0}


class Defaults:
    scale = np.array([1.0, 0.5, 0.25, 2.0])


# --- copies of globals: refused once, as stores into the globals -----------------------------------------------------
@directed(vector(4))
def a_copy_of_a_global_array(x):
    w = WEIGHTS.copy()
    w[0] = x[0] * w[1]
    w *= x
    return np.sum(w * WEIGHTS)


@directed(vector(4))
def a_matrix_made_of_a_global_one(x):
    k = np.array(STIFFNESS)
    for i in range(3):
        k[i, i + 1] += x[i] * k[i, i]
        k[i + 1, i] += x[i + 1]
    return np.sum(k @ k) * k[0, 1]


@directed(vector(4))
def other_copies_of_globals(x):
    a, b, c = copy.copy(WEIGHTS), WEIGHTS.astype(float), Defaults.scale.copy()
    a[1:3] = x[:2]
    b[0] = a[1] * x[3]
    c[::2] *= x[::2]
    return np.sum(a * b * c)


@directed(vector(4))
def copies_of_global_containers_of_numbers(x):
    listed, kept, rates = list(TABLE), TABLE[:2], {**RATES}
    listed[0] = x[0] * x[1]
    listed.append(x[2])
    kept[1] = x[3]
    rates["a"] = listed[0] * rates["b"]
    return sum(listed) * kept[0] * kept[1] + rates["a"] ** 2


# --- one of several results ------------------------------------------------------------------------------------------
@directed(vector(4) + 2.0)
def the_remainder_is_stored_into(x):
    """Once wrong in silence, in forward mode: the tangent of the remainder was that of what had been divided."""
    whole, rest = divmod(x, 1.0)
    rest[0] *= rest[1]
    return np.sum(x * x) + np.sum(rest * whole)


@directed(vector(4) + 2.0)
def a_fraction_is_stored_into(x):
    total = np.cumsum(x)
    rest, whole = np.modf(total)
    rest[1:] -= total[0] * whole[1:]
    return np.sum(total * rest)


@directed(vector(4))
def eigenvalues_are_cut_off(x):
    """The tangent of the eigenvalues could not be written to once, in forward mode."""
    values, vectors = np.linalg.eigh(np.outer(x, x) + STIFFNESS)
    values[values < 2.5] = 0.1
    values[-1] *= x[0]
    return np.sum(vectors @ np.diag(values) @ vectors.T * STIFFNESS)


@directed(vector(4))
def views_of_a_grid_are_scaled(x):
    p, q = np.meshgrid(x, x**2, sparse=True, copy=False)
    p *= 2.0
    return np.sum(p * q) + np.sum(x)


# --- derivatives inside: what their functions store into stays as it is outside --------------------------------------
def scaled(a, b):
    b[0] = b[0] * 2.0
    return a * b[0]


@directed(vector(4), order=1, without={"eager": "is a Followed"})
def an_inner_gradient_of_what_stores_into_another_argument(x):
    """Once wrong in silence, value and gradient: the store was seen outside."""
    y = x * 1.0
    g = srcgrad.grad(scaled)(x[2], y)
    return g * y[0]


def doubled(y):
    y *= 2.0
    return np.sum(y * y)


def appended(items):
    items.append(items[0] * items[1])
    items[0] = items[2] * items[2]
    return items[0]


@directed(vector(4), order=1, without={"eager": "is a Followed"})
def inner_gradients_of_what_stores_into_arguments(x):
    y, items = x * 1.0, [x[0], x[1]]
    g = srcgrad.grad(doubled)(y)
    value, bars = srcgrad.value_and_grad(appended)(items)
    return np.sum(g * y * y) + value * bars[1] * items[0] * len(items)


# --- what a container holds that is joined, repeated or comprehended: once wrong in silence, value and gradient ------
@directed(vector(4))
def a_history_of_states_that_change_in_place(x):
    history, rows, y = [], [], x * 1.0
    for _ in range(3):
        history = history + [y]
        rows += [y]
        y += x
    return np.sum(history[0] ** 2) + np.sum(rows[1] * x)


@directed(vector(4))
def arrays_in_tuples_and_dicts_that_are_joined(x):
    y, z = x * 1.0, np.sin(x)
    pair = (y,) + (z,)
    kept = {} | {"a": y}
    made = {k: v for k, v in zip("ab", [y, z], strict=True)}
    y += x
    z *= y
    return np.sum(pair[1] * kept["a"]) + np.sum(made["a"] * made["b"] * pair[0])


@directed(vector(4))
def items_of_joined_containers_change_in_place(x):
    y, z, kept = x * 1.0, x * 2.0, {"a": np.cos(x)}
    for p in [y] + [z]:
        p += 1.0
    (q,) = [y] * 1
    q *= x
    v = ([y] + [z])[-1]
    v *= y
    w = kept.copy()["a"]
    w += z
    return np.sum(y * y) + np.sum(z * kept["a"])


@directed(vector(4))
def an_array_in_a_list_joined_by_operator_add(x):
    y = x * 1.0
    rows = operator.add([y], [x])
    y += x
    return np.sum(rows[0] * rows[1])


# --- forward mode: the tangent of a list that a callee makes, of what has none --------------------------------------
def listed(kept, name, value):
    kept.setdefault(name, []).append(value)


@directed(vector(4))
def a_list_begun_with_nothing_that_varies(x):
    """Once wrong in silence: the tangents of the list were put on another one than those of the dict that holds it."""
    kept = {}
    listed(kept, "a", None)
    listed(kept, "a", x[0] * x[1])
    listed(kept, "a", x[2] * x[2])
    return kept["a"][1] * x[3]


# --- forward mode: one array given twice to what makes new memory of it and stores into it -------------------------
def mixed(one, other):
    one = one + 0.5
    for i in range(3):
        other[i] = one[i] * other[i]
    return np.sum(one[1:3] * other[:2])


def overwritten(one, other):
    a, b = one * 1.0, one.reshape(-1) + 0.0
    other[0] = 5.0 * other[1]
    return np.sum(a * b)


@directed(vector(4))
def one_array_given_twice(x):
    """Once wrong in silence: the tangent of ``one + 0.5`` was that of ``one``, and so of ``other``."""
    y, z = x * 1.0, np.sin(x)
    return mixed(y, y) * y[0] + overwritten(z, z) * z[0] + overwritten(z[:2], z[1:3])


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def arrays_that_lambdas_hold_by_default(x):
    """Once wrong in silence, the value too: ``w *= x`` made a new array, which the default did not see."""
    w = x * 1
    f = lambda y, w=w: y * w[0]
    g = functools.partial(lambda a, y: a[1] * y, w)
    kept = {"h": lambda y, *, t=(w, 2.0): y * t[0][2] * t[1]}
    w *= x
    fs = []
    for _ in range(2):
        fs.append(lambda y, v=w: y * v[0])
        w += x
    return f(x[1]) + g(x[2]) + kept["h"](x[3]) + fs[0](x[0]) * fs[1](x[1])


def in_rows(v):
    return v.reshape(2, 2)


def twice(v):
    return v, v


def in_halves(v):
    return v[:2], v[2:]


@directed(np.array([0.7, 1.3, -0.4, 2.1]))
def items_of_what_a_call_makes_of_an_array(x):
    """Once wrong in silence, the value too: ``w *= x[0]`` made a new array, though ``u`` is a view of ``w``.

    The call had been evaluated when the statement was written, and nothing said any more that w was given to it."""
    w = x * 1.0
    u = in_rows(w)[0]
    w *= x[0]
    v = x * 2.0
    a = twice(v)[0]
    b = in_halves(v)[1]
    v *= x[1]
    v += 1.0
    return np.sum(u * u) + np.sum(w**3) + np.sum(a * x) * np.sum(b)


# --- methods that run without being called, which keep or return what they are given ----------------------------------
class Held:
    def __init__(self, values):
        self.values = values

    def __enter__(self):
        return self.values

    def __exit__(self, *error):
        return False

    def __add__(self, other):
        return self.values

    def __neg__(self):
        return self.values

    def __invert__(self):
        return [self.values]

    def __matmul__(self, other):
        return other

    def __mul__(self, other):
        return np.sum(self.values) * other

    def keep(self, kept):
        kept.append(self)


WHOLE = Held(1.0)


@directed(vector(4))
def what_a_context_entered_as_is_scaled(x):
    y = x * 1
    with Held(y) as v:
        v *= 3
    held = Held(y)
    with held as w:
        y *= x
    return np.sum(y * y * v) + np.sum(w)


@directed(vector(4))
def what_an_operator_returns_is_scaled(x):
    y, z = x * 1, x * x
    v = Held(y) + 1
    v *= 3
    w = -Held(z)
    w += y
    u = (~Held(y))[0]
    u *= z
    return np.sum(y * y * z)


@directed(vector(4))
def what_an_operator_was_given_is_scaled(x):
    y = x * 1
    v = WHOLE @ y
    v *= 3
    w = Held(0) @ y[1:]
    w *= x[0]
    return np.sum(y * y)


@directed(vector(4))
def what_an_operator_returned_in_the_last_pass_is_scaled(x):
    y, v = x * 1, x * 2
    for i in range(3):
        v *= 2
        v = Held(y) + i
    return np.sum(y * y * v)


@directed(vector(4))
def an_object_made_to_call_its_method_keeps_an_array(x):
    y, kept = x * 1, []
    Held(y).keep(kept)
    y *= x
    return np.sum(kept[0].values * y)


@directed(vector(4))
def numbers_that_operators_of_objects_give_are_added_up(x):
    total, held = 0.0, Held(x * 1)
    for k in range(3):
        total += held * x[k]
    return total


class Named:
    """Methods with names of methods of arrays, which hand out what the object holds."""

    def __init__(self, values):
        self.values = values

    def __iadd__(self, other):
        self.values = other
        return self

    def __abs__(self):
        return self.values

    def copy(self):
        return self.values

    @property
    def size(self):
        return self.values

    @classmethod
    def made(cls, values):
        return cls(values)

    def keep(self, kept):
        kept.append(self.values)


@directed(vector(4))
def methods_named_like_those_of_arrays_hand_out_what_is_held(x):
    y, z, kept = x * 1, x * x, []
    v = Named(y).copy()
    v *= 3
    w = Named(z).size
    w *= x
    u = abs(Named(y))
    u += z
    Named.made(z).keep(kept)
    z *= 2
    return np.sum(y * y * z * kept[0])


@directed(vector(4))
def an_operator_in_place_keeps_what_it_is_given(x):
    y, named = x * 1, Named(x * x)
    named += y
    y *= 3
    return np.sum(named.values * y)


# --- the shape of an array of one's own, set in place ----------------------------------------------------------------
@directed(vector(4))
def a_shape_set_in_place(x):
    y = np.zeros(4)
    y[:] = x**2
    part = y[1:3]
    y.shape = 2, 2
    row = y[0]
    row *= x[:2]
    part *= x[3]
    y[1, 0] = x[3] * y[0, 1]
    return np.sum(y * y * np.arange(4.0).reshape(2, 2)) + np.sum(row)


@directed(vector(4))
def a_shape_set_again_and_again(x):
    y = np.empty((2, 2))
    for k in range(3):
        y.shape = (4,)
        y[:] = x * (k + 1.0)
        y.shape = (2, -1)
        y[0] *= y[1]
    return np.sum(y * y)


class Sheet:
    def __init__(self, x):
        self.shape = 3.0
        self.content = x

    def grow(self):
        self.shape = self.shape * 2.0
        return self.content * self.shape


@directed(vector(3))
def a_field_that_is_called_shape(x):
    sheet = Sheet(x)
    sheet.shape = x[0] * sheet.shape
    return np.sum(sheet.grow() ** 2)


@dataclass
class Weibull:
    shape: tuple
    scale: float

    def mean(self):
        return self.shape[0] * self.scale + self.shape[1] ** 2


@directed(vector(3))
def a_field_called_shape_that_is_indexed(x):
    made = Weibull((x[0], x[2]), x[1])
    before = made.mean() * made.shape[0]
    made.shape = [x[1], x[0] * x[2], x[2]]
    return before + made.mean() * Weibull(x * x, 2.0).shape[1:][0]


@directed(vector(4), order=1)
def items_that_change_as_they_are_joined(x):
    q = [x[0], x[1] ** 2, x[2]]
    joined = np.r_[q.pop(), 0 : len(q), q.pop(), q[0], len(q)]
    return np.sum(joined**2 * np.arange(1.0, 7.0))
