"""Programs that store into lists by slices, join lists, and call methods of several objects of one class."""

from __future__ import annotations

from collections import deque
from types import FunctionType

import numpy as np

LOG = [1.0]


class Part:
    def __init__(self, value):
        self.value = value

    def doubled(self):
        self.value = [self.value]
        return self.value

    def swapped(self, other):
        self.value, other.value = other.value, self.value
        return self


class Going:
    """Its method of iteration changes a global."""

    def __iter__(self):
        LOG.append("text")
        return iter([1.0])


class Declining:
    """It declines to be multiplied, and changes a global where NumPy asks it for an array."""

    def __mul__(self, other):
        return NotImplemented

    def __array__(self, dtype=None, copy=None):
        LOG.append(2)
        return np.ones(3)


class Scaling:
    def __mul__(self, other):
        LOG.append(b"bytes")
        return [other]


class Key:
    def __hash__(self):
        LOG.append(3j)
        return 1

    def __eq__(self, other):
        LOG.append("equal")
        return True


# --- slices of lists -------------------------------------------------------------------------------------------------
def stored_into_a_slice(x):
    held = [1.0, None, 2]
    held[:2] = [x, "text"]
    return held


def stored_into_a_slice_of_another_length(x):
    held = [1.0, None]
    held[1:1] = (x, "text", 3)
    return held[-1], held[1], len(held)


def stored_into_a_slice_with_steps(x):
    held = [1.0, None, 2, "text"]
    held[::-2] = [x, b"bytes"]
    return held


def stored_into_a_slice_that_does_not_fit(x):
    held = [1.0, None, 2]
    try:
        held[::2] = [x]
    except ValueError:
        return held
    return []


def stored_into_a_slice_with_bounds_that_are_not_known(x):
    held = [1.0, None, 2]
    held[int(x[0]) :] = ["text"]
    return held, held[-1]


def stored_into_a_slice_of_itself(x):
    held = [1.0, x]
    held[1:] = held
    return held


def stored_into_a_slice_by_a_method_of_iteration(x):
    held = [1.0, x]
    held[1:] = Going()
    return held, LOG


def stored_into_slices_in_a_loop(x):
    held = [1.0]
    for i in range(3):
        held[i:] = [held, i]
    return held


def a_slice_that_is_called(x):
    bounds = slice(1, None)
    held = ["text", x, 1.0]
    return held[bounds], x[bounds], bounds.start, held[slice(2)], held[slice(0, 3, 2)]


def a_slice_of_one_of_two(x):
    bounds = slice(1, None) if x[0] > 5.0 else slice(None, 1)
    return ["text", x][bounds]


def a_slice_that_another_list_holds(x):
    held = [slice(0, 1)]
    held[0] = slice(None, None, 2)
    return x[held[0]], ["text", 1.0, x][held[0]]


# --- lists that are joined -------------------------------------------------------------------------------------------
def joined_lists(x):
    held = [x, 1.0][1:] + ["text"]
    return held[0], held[-1], held * 2, 2 * held


def joined_in_place(x):
    held = [x]
    other = held
    held += ["text"]
    held *= 2
    return other[-1], other[2], len(other)


def joined_in_place_with_itself(x):
    held = [x, 1]
    held += held
    return held[3]


def joined_in_a_loop(x):
    held = [x]
    for i in range(3):
        held = held + [[i], held]
    return held


def repeated_by_what_is_not_known(x):
    held = [x, "text"] * int(x[0])
    return [*held, 1.0]


def joined_with_objects(x):
    parts = [Part(x), Part(1.0)]
    parts = parts[1:] + [Part("text")]
    parts += [Part(None)]
    return [part.value for part in parts], parts[0].value


def inserted(x):
    held = [1.0, x]
    held.insert(-1, "text")
    held.insert(9, None)
    held.insert(-9, 2)
    held.insert(int(x[0] * 0.0), 3j)
    return held, held[1]


def inserted_where_it_is_known(x):
    held = [1.0, x]
    held.insert(-1, "text")
    held.insert(9, None)
    held.insert(-9, 2)
    held.reverse()
    return held[0], held[1], held[2], held[3], held[4]


def reversed_now_and_then(x):
    held = [1.0, x]
    if x[0] > 0.0:
        held.reverse()
    return held[0]


# --- what asks nothing of what it is given ---------------------------------------------------------------------------
def a_dict_of_objects_that_is_copied(x):
    parts = {"p": Part(x), "q": Part(1.0)}
    other = dict(parts, r=Part(None))
    other["p"].value = "text"
    return parts["p"].value, other["r"].value


def a_dict_with_keys_that_run_code(x):
    made = dict({Key(): x})
    return made[Key()], LOG


def pairs_of_objects(x):
    found = []
    for i, (one, other) in enumerate(zip([Part(x), Part(1.0)], deque([Part("text")]), strict=False)):
        found.append(one.value)
        one.value = other.value
        found.append([i, one.value])
    return found


def a_zip_that_runs_code(x):
    return [*zip(Going(), [x], strict=False)], LOG


def errors_that_call_something(x):
    held = [1.0]

    def noted(kind, flag):
        held.append("text")

    before = np.seterrcall(noted)
    try:
        with np.errstate(all="call"):
            y = x / np.zeros(np.shape(x))
    finally:
        np.seterrcall(before)
    return held[-1], y


def errors_inside_of_a_loop(x):
    held = [x]
    for i in range(2):
        with np.errstate(under="ignore", over=None):
            place = (0, 0)
            held.append(x[place[0]] + i)
            if x[0] > 5.0:
                break
    return held, place


def errors_that_are_caught_outside(x):
    held = [1.0]
    try:
        with np.errstate(divide="raise"):
            held[0] = "text"
            np.ones(2) / np.zeros(2)
    except FloatingPointError:
        return held[0]
    return 2


def several_kinds_of_exceptions(x):
    held = [1.0]
    try:
        raise ValueError(held)
    except (ValueError, IndexError) as raised:
        raised.args[0].append("text")
    return held[-1]


def several_kinds_of_exceptions_that_hold_keys(x):
    held = (x, [1.0])
    try:
        {}[held]
    except (ValueError, TypeError, KeyError):
        return held
    return 2


def numbers_and_arrays_in_place(x):
    y = 2.0 if x[0] > 5.0 else x
    y *= x
    z = 2 if x[0] > 5.0 else np.ones(3)
    z += 0.5
    w = np.float64(2.0) if x[0] > 0.0 else np.ones(3)
    w += x[0]
    return y, z, w, x


# --- methods of several objects --------------------------------------------------------------------------------------
def a_method_of_two_objects(x):
    one, other = Part(x), Part("text")
    part = one if x[0] > 5.0 else other
    return part.doubled(), one.value, other.value


def a_method_of_objects_in_a_list(x):
    parts = [Part(x), Part(1.0)]
    made = [part.doubled() for part in parts]
    return made, parts[0].value


def methods_that_take_each_other(x):
    one, other = Part(x), Part("text")
    for _ in range(3):
        one, other = other.swapped(one), one
    return one.value, other.value


def an_operator_that_declines_arrays(x):
    return Declining() * x, LOG


def an_operator_that_takes_arrays(x):
    return Scaling() * x, LOG


class Adding:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Adding([self.value, other])

    def __radd__(self, other):
        return Adding((other, self.value))

    def __iadd__(self, other):
        self.value = other
        return self if isinstance(other, str) else "text"


def operators_of_several_objects(x):
    one = Adding(x) if x[0] > 5.0 else Adding(1.0)
    made = [one + 2, 2 + one, one + one, x[0] + one]
    other = one
    other += "text"
    other += 3j
    return made[0].value, made[1].value, made[2].value, made[3], other, one.value


def operators_in_a_loop(x):
    one = Adding(x)
    for i in range(3):
        one = one + i
    return one.value


class Reflecting:
    __array_ufunc__ = None

    def __rmul__(self, other):
        LOG.append(None)
        return "text"


def methods_in_place(x):
    y = x
    z = y.__imul__(2.0)
    w = y.__iadd__(np.ones(3))
    made = y.__imul__(Reflecting())
    z[0] = 7.0
    return x, w, made, LOG


# --- views in lists --------------------------------------------------------------------------------------------------
def parts_of_an_array(x):
    parts = np.split(x[:2], 2)
    parts[0][0] = 7.0
    return parts[1], parts[0], x, np.array_split(x, [1])[1]


def parts_of_what_is_not_known(x):
    n = 2 if x[0] > 5.0 else 1
    return np.array_split(x, n), np.hsplit(np.ones((2, 4)), 2)[1]


def more_indices_than_axes(x):
    y = np.sum(x) if x[0] > 0.0 else x
    try:
        return y[:1]
    except (IndexError, TypeError):
        return "text"


# --- dicts -----------------------------------------------------------------------------------------------------------
def keys_apart_from_values(x):
    d = {}
    for i, v in enumerate(x):
        d[i] = [v, str(i)]
    e = {len(row): key for key, row in d.items()}
    f = {**e, **d, "k": 2.0}
    g, h = d | {"z": d}, dict(e, y=None)
    h |= f
    h.update([(1.5, "t")])
    key, row = d.popitem()
    del e[2]
    return d, e, f, g, h, key, row, [*f], list(g.values()), next(iter(h.items()))


def keys_of_several_classes(x):
    d = {None: x}
    d[x[0], 1] = "a tuple"
    d.setdefault(2.0, []).append(d)
    for key in d:
        d[key] = key
    it = iter(d)
    return next(it), d, {v: k for k, v in enumerate("abcdef")}, dict(zip("ab", x))


PROGRAMS = [
    made for made in list(globals().values())
    if isinstance(made, FunctionType) and made.__module__ == __name__ and made.__code__.co_varnames[:1] == ("x",)
]  # fmt: skip
