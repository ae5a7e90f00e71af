"""Objects of several classes, indices that lists hold, arrays that are changed in place where exceptions are caught."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from tests.specialise.serving import check_refused, check_right
from tests.specialise.test_specialise import text

X = np.array([0.7, 1.3, 0.4, 0.9])


class Wave:
    def __init__(self, v):
        self.v = v

    def value(self):
        return np.sin(self.v) * 1.5

    def grow(self, t):
        self.v = self.v * t
        return self


class Cube:
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v**3 / (1.0 + self.v * self.v)

    def grow(self, t):
        self.v = self.v + t * t
        return self


@dataclass
class Box:
    v: Any
    s: float

    def __add__(self, other):
        return Box(self.v + other, self.s)

    def __mul__(self, other):
        return np.sin(other * self.s)


# --- objects of several classes --------------------------------------------------------------------------------------
def of_a_queue(x):
    parts = deque([Wave(np.sum(x)), Cube(x[0] + x[1])])
    parts[0], parts[1] = parts[1], parts[0]
    return sum([(0.5 if isinstance(part, Wave) else 0.8) * part.value() for part in parts])


def of_several_of_one_class(x):
    parts = deque([Wave(x[0]), Cube(x[1])])
    parts.append(Wave(x[2] * x[3]))
    parts.append(Cube(2.0))
    parts.rotate(1)
    return parts[0].value() * parts[1].value() + parts[-1].value() * x[0]


def that_are_changed(x):
    parts = deque([Wave(x[0]), Cube(x[1]), Wave(x[2])])
    for i in range(3):
        parts[i].grow(x[3])
        parts[0].grow(x[i])
    return parts[0].value() * parts[1].value() + parts[2].value()


def that_are_joined(x):
    parts = [Wave(x[0]), Cube(x[1])]
    parts = parts[1:] + [Wave(x[2])]
    parts += [Cube(x[3])]
    parts.insert(1, Wave(x[0] * x[3]))
    parts.reverse()
    return parts[0].value() + parts[1].value() * parts[-1].value() + parts[-2].value() ** 2


def that_a_copied_dict_holds(x):
    parts = {"p": Wave(x[0]), "q": Cube(x[1])}
    other = dict(parts)
    other["p"].v *= x[2]
    parts["q"].v = np.sin(x[3])
    return parts["p"].value() * other["q"].value() + other["q"].v


def with_an_array_on_the_right(x):
    box = Box(x, 0.7)
    for _ in range(2):
        box = box + x * 0.5
    return np.sum(box * x) + np.sum((Box(x[0], x[1]) * x) * box.v)


# --- indices ---------------------------------------------------------------------------------------------------------
def slices_in_a_list(x):
    y = x * 1.0
    at = [slice(1, 2)]
    y[at[0]] = x[3] * x[0]
    at[0] = slice(None, None, 2)
    y[at[0]] *= x[1]
    at.append(slice(3))
    return np.sum(y[at[0]] ** 2) + np.sum(y[at[-1]] * y[at[1]])


def slices_in_a_dict(x):
    at = {"k": slice(1, 3), "n": 0}
    y = np.sin(x[at["k"]]) * x[at["n"]]
    at["k"] = slice(2)
    return np.sum(y * x[at["k"]])


def lists_in_slices_of_lists(x):
    held = [x * 1.0, x, x * 3.0]
    held[:2] = [np.sin(x), np.cos(x)]
    held[0][2] = x[0] * x[1]
    held[1][...] = x**2
    return sum(np.sum(e * e) for e in held)


def parts_of_an_array(x):
    y = x * x
    np.split(y, 2)[1][[0, 0]] += x[0]
    first, second = np.split(y, 2)
    second[0] *= x[1]
    return np.sum(np.split(y, 2)[1] ** 2) + first @ second


def a_number_that_has_no_items(x):
    y = np.sin(x)
    try:
        if x[0] > 5.0:
            y = np.sum(y)
            y[-1] = 0.5
        if x[1] > 1.0:
            raise ValueError
    except ValueError:
        y = y * x[2]
    return np.sum(y[::2] ** 2)


# --- in place, where exceptions are caught ---------------------------------------------------------------------------
def changed_by_name(x):
    y = x * 1.0
    z = y
    try:
        y *= x[::-1]
        y += x[:2]
    except ValueError:
        y *= x[0]
    return np.sum(z * y)


def changed_in_items(x):
    y = x * 1.0
    try:
        y[x > 0.8] *= x[0]
        y[[0, 2]] += x[1] * y[1:3]
        y[1:] *= np.sin(y[1:])
        y[None, 1:3] += x[:3]
        y[0] = 100.0
    except ValueError:
        y[0] *= x[3]
    return np.sum(y**2)


def changed_in_a_list(x):
    held = [np.sin(x), np.cos(x)]
    s = x[0]
    for i in range(4):
        try:
            held[i] *= x[i]
            held[i] += x[:i]
        except (ValueError, IndexError):
            s = s * np.sum(held[0] * held[1])
    return s


def numbers_or_arrays_that_are_changed(x):
    y = np.sin(x)
    if x[0] > 0.5:
        y = y[1] * x[0]
    try:
        y *= x[:3]
        y += x[:2]
    except ValueError:
        y *= x[3]
    return np.sum(y)


def changed_before_another_try_is_left(x):
    y = x * 1.0
    s = x[0]
    try:
        try:
            y *= x
            y -= x[1:]
        except KeyError:
            s = 100.0
        finally:
            y *= x[1]
    except ValueError:
        s = s * np.sum(y)
    return s + np.sum(y)


def with_errors_ignored(x):
    y = x * 1.0
    s = 0.0
    for i in range(3):
        with np.errstate(under="ignore"):
            at = [(i, 0)]
            m = np.outer(y, x)
            try:
                m[at[0]] *= y[i]
                y[:i] += m[i, :2]
            except ValueError:
                s = s + m[i, 0]
                continue
        s = s + np.sum(m)
    return s + np.sum(y)


def generators_where_exceptions_are_caught(x):
    held = [x, np.sin(x)]
    try:
        s = sum(np.sum(e * e) for e in held)
        s = s * np.sum(x[:2] * x)
    except ValueError:
        s = s * max(e[0] for e in held)
    finally:
        s = s + sum(e[1] for e in reversed(held))
    for i in reversed(range(2)):
        try:
            s = s * x[i + 3]
        except IndexError:
            s = s + x[i]
    return s


# --- last blocks -----------------------------------------------------------------------------------------------------
def a_last_block_that_may_return(x):
    s = x[0]
    for i in range(3):
        try:
            s = s * x[i + 2]
        except IndexError:
            s = s + x[0]
            if x[1] > 5.0:
                return s
        finally:
            if s > 0.5:
                return s * x[1]
            s = s + x[3]
    return s


def a_last_block_that_returns(x):
    s = x[0]
    try:
        s = s * x[1]
        if x[2] > 0.2:
            return s * 100.0
        s = s * x[7]
    finally:
        return s * x[2]


def a_last_block_that_returns_what_was_raised_in(x):
    s = x[0]
    try:
        try:
            s = s * x[1]
            s = s * x[7]
        finally:
            if x[3] > 0.2:
                return s * x[2]
    finally:
        s = s + 1.0
    return s


def a_last_block_that_ends_a_loop(x):
    s = x[0]
    for i in range(4):
        try:
            s = s * x[i]
            if x[i] > 1.0:
                return s * 100.0
        finally:
            s = s + x[1]
            break
    return s * x[2]


SERVED = [
    of_a_queue, of_several_of_one_class, that_are_changed, that_are_joined, that_a_copied_dict_holds,
    with_an_array_on_the_right, slices_in_a_list, slices_in_a_dict, lists_in_slices_of_lists, parts_of_an_array,
    a_number_that_has_no_items, changed_by_name, changed_in_items, changed_in_a_list,
    numbers_or_arrays_that_are_changed, changed_before_another_try_is_left, with_errors_ignored,
    generators_where_exceptions_are_caught, a_last_block_that_may_return, a_last_block_that_returns,
    a_last_block_that_returns_what_was_raised_in, a_last_block_that_ends_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("x", [X, X[::-1] * 0.5, X + 0.9], ids=["x", "reversed", "larger"])
@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(6)
def test_right(function: Callable[..., Any], x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    check_right(function, monkeypatch, x)


# --- refused ---------------------------------------------------------------------------------------------------------
def item_of_a_tuple_that_is_changed(x):
    held = (x * 1.0, x)
    try:
        held[0] *= x[0]
    except TypeError:
        pass
    return np.sum(held[0])


def list_that_is_extended(x):
    held = [x]
    try:
        held += 3
    except TypeError:
        held += [x * 2.0]
    return np.sum(held[-1])


@pytest.mark.parametrize("function", [item_of_a_tuple_that_is_changed, list_that_is_extended])
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check_refused(function, monkeypatch, X)


def changed_before_it_raises(x):
    y = x * 1.0
    try:
        with np.errstate(divide="raise"):
            y /= x - x[0]
    except FloatingPointError:
        pass
    return np.sum(y * y)


def test_what_is_changed_before_it_raises_is_refused():
    with pytest.raises(UnsupportedSyntax):
        srcgrad.grad(changed_before_it_raises)(X)


def test_one_branch_for_each_class():
    assert text(of_several_of_one_class, X).count("if type(") == 3


# --- operations that are spelled as methods --------------------------------------------------------------------------
def put(q, v):
    return q.__setitem__(0, v * v)


def multiplied(q, v):
    return q.__imul__(v)


def stored_by_a_method(x):
    y, held, named = x * 1.0, [x[0], x[1]], {0: x[2]}
    put(held, x[3])
    put(named, x[0])
    return np.sum(y) * held[0] * named[0] if put(y, x[1]) is None else x[0]


def changed_by_a_method(x):
    y = x * 1.0
    z = multiplied(y, x[0])
    z[1] = x[2]
    y.__iadd__(x)
    return np.sum(y * multiplied(z, 2.0))


def stored_by_a_method_where_exceptions_are_caught(x):
    y = x * 1.0
    try:
        y.__setitem__(slice(2), x[2:] * x[0])
        y.__imul__(x)
        y.__setitem__(slice(2), x)
    except ValueError:
        y[3] = x[1]
    return np.sum(y**2)


# --- what is not reached ---------------------------------------------------------------------------------------------
def number_that_is_sliced(x):
    if x[0] > 5.0:
        y = np.sum(x)
        y[0] = x[1]
        for i in range(2):
            y = y * x[i]
        return np.tanh(y[::-1].reshape(2, 2).copy())[0, 0]
    return np.sum(x**2)


def number_that_is_sliced_where_exceptions_are_caught(x):
    s = x[0]
    for i in range(3):
        try:
            if x[i] > 0.6:
                y = 0.25
                s = s * x[1]
                z = y[::-1]
                s = s * np.sum(z.reshape(2, 2))
        except TypeError:
            s = s + x[i]
    return s


@pytest.mark.parametrize("function", [
    stored_by_a_method, changed_by_a_method, stored_by_a_method_where_exceptions_are_caught, number_that_is_sliced,
    number_that_is_sliced_where_exceptions_are_caught,
])  # fmt: skip
@pytest.mark.costly(2)
def test_right_as_well(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check_right(function, monkeypatch, X)


def unbound(x, n):
    s = x[0]
    if n > 1:
        t = t * s  # noqa: F821
        for i in range(2):
            t = t * x[i]
    return s * x[1]


def test_what_raises_before_what_is_not_reached_raises() -> None:
    assert srcgrad.grad(unbound)(X, 1.0).tolist() == [1.3, 0.7, 0.0, 0.0]
    with pytest.raises(NameError):
        srcgrad.grad(unbound)(X, 2.0)
    with pytest.raises((TypeError, IndexError)):
        srcgrad.grad(number_that_is_sliced)(X + 5.0)
