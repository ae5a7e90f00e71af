"""What reads a whole list that changes afterwards is reversed with the list as it was."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad


def largest_before_a_change(y):
    """Once wrong: the reverse sweep looked for the largest item in the list as it is at the end."""
    t = [e * e for e in y]
    t += [max(t)]
    t[1] *= 2.0
    return sum(t)


def largest_of_two(y):
    t = [y[0] * 2.0, y[1] * 3.0]
    u = max(t)
    t[1] *= 2.0
    return sum(t) + u * y[2]


def smallest_under_another_name(y):
    t = [e * e for e in y]
    s = t
    u = min(t)
    s[0] = 3.0 * s[1]
    return sum(t) + u


def sines_of_a_list(y):
    t = [e * e for e in y]
    s = np.sin(t)
    t[1] = 3.0 * y[1]
    t[0] *= 2.0
    return sum(t) + np.sum(s)


def product_with_a_list(y):
    t = [e * e for e in y]
    s = t * np.exp(y)
    t[2] = y[0]
    t[0] *= 2.0
    return sum(t) + np.sum(s)


class Scaled:
    def __init__(self, w):
        self.w = w

    def __mul__(self, factor):
        return Scaled(self.w * factor)

    def __rmul__(self, factor):
        return self * factor

    def step(self, y):
        self.w = self.w * np.sum(y)
        return self


def changed_after_a_callee_gave_it_on(y):
    """Once wrong: ``__rmul__`` only hands its object to ``__mul__``, and the object has another field afterwards."""
    m = Scaled(y * y)
    return np.sum((2.0 * m).w) + np.sum(m.step(y).w)


def made(y):
    pair = [y[0] * y[0], y[1] * y[2]]
    return pair, sum(pair), max(pair)


def changed_where_it_was_not_made(y):
    """Once an IndexError, or wrong: what the callee keeps for its reverse sweep is the list that changes here."""
    pair, total, largest = made(y)
    pair[0] = y[0] ** 3
    pair.append(y[1] * 3.0)
    return total * total + sum(pair) * largest


class Recorder:
    def __init__(self):
        self.history = []

    def run(self, v):
        self.history.append(v * v)
        return sum(self.history)


def recorded_by_a_method(y):
    """Once zero: what a method appends to a list in a field was not seen to change the object."""
    recorder = Recorder()
    recorder.run(y[0])
    return sum(recorder.history) * y[1]


def recorder_of(y):
    recorder = Recorder()
    recorder.run(y[0])
    return recorder


def recorded_before_it_was_returned(y):
    recorder = recorder_of(y)
    return recorder.run(y[1]) * recorder.run(y[2])


class Slow:
    def speed(self, v):
        return 2.0 * v


class Fast(Slow):
    def speed(self, v):
        return v * v


class Car:
    def __init__(self):
        self.gear = Slow()


def asked_before_a_field_is_set(y):
    """Once the first class for ever: the test was decided before the store that stands below it was known."""
    car = Car()
    total = 0.0
    for v in y:
        if isinstance(car.gear, Fast):
            total += v * v
        else:
            car.gear = Fast()
            total += v
    return total


def asked_before_an_item_is_set(y):
    gears = [Slow()]
    total = 0.0
    for v in y:
        if gears[0] is None:
            total += v * v
        else:
            gears[0] = None
            total += v
    return total


def travelled(car, v):
    if isinstance(car.gear, Fast):
        return v * v
    return 2.0 * v


def called_before_a_field_is_set(y):
    """Once wrong: the callee was written for what the field held at first."""
    car = Car()
    total = 0.0
    for v in y:
        total += travelled(car, v)
        car.gear = Fast()
    return total


def repeated(y):
    return [y] * 2


def with_another(y, z):
    return [y] + [z]


def a_callee_repeated_what_is_changed(y):
    """Once wrong in silence: the adjoint of what a callee returned was read after its caller had changed it."""
    u, z = repeated(y), y * 3.0
    u.insert(0, z)
    z[0] *= y[1]
    return np.sum(z * z) * u[1][2]


def a_callee_joined_what_is_changed(y):
    u, z = with_another(y, y * 2.0), y * 3.0
    u.pop()
    u.append(z)
    z[1] = y[0] * y[2]
    return np.sum(z) * u[0][0]


class Graded:
    grade = 2.0

    def __init__(self, v):
        self.v = v


def graded_above_its_class(y):
    """Once a KeyError in forward mode: one object has a field of its own where the other has its class's."""
    first, second = Graded(y[0]), Graded(y[1])
    first.grade += y[2]
    return first.v * first.grade + second.grade * second.v


PROGRAMS = (
    a_callee_repeated_what_is_changed,
    a_callee_joined_what_is_changed,
    graded_above_its_class,
    asked_before_a_field_is_set,
    asked_before_an_item_is_set,
    called_before_a_field_is_set,
    recorded_by_a_method,
    recorded_before_it_was_returned,
    changed_after_a_callee_gave_it_on,
    changed_where_it_was_not_made,
    largest_before_a_change,
    largest_of_two,
    smallest_under_another_name,
    sines_of_a_list,
    product_with_a_list,
)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.costly(2, first=1)
def test_a_list_is_reversed_as_it_was(f):
    y = np.array([0.7, 1.2, 1.4])
    expected = [(f(y + step) - f(y - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(f)(y), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(srcgrad.vjp(f, y)[1](1.0)[0], expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose([srcgrad.jvp(f, (y,), (step,))[1] for step in np.eye(3)], expected, rtol=1e-7, atol=1e-8)


def test_getattr_of_what_varies():
    """Once a number without a derivative."""

    def read(x):
        car = Car()
        car.load = x
        return getattr(car, "load", 1.0) * x

    assert srcgrad.grad(read)(3.0) == 6.0


class Site:
    def __init__(self, weight):
        self.weight = weight


def by_sites(x, k):
    a, b = Site(x[0]), Site(x[1])
    held = {a: k, b: k * k}
    at, total = a, 0.0
    for v in x:
        held[at] += v * k
        total += held[at] * at.weight
        at = b
    return total


def test_objects_that_are_keys_of_a_display_are_refused() -> None:
    """Once a wrong gradient, in silence: the objects were copied, and the keys were not."""
    with pytest.raises(srcgrad.UnsupportedSyntax, match="methods of class Site, which are not followed"):
        srcgrad.grad(by_sites, argnums=(0, 1))(np.array([0.5, 1.2]), 0.7)


def by_sites_with_arrays(x, k):
    a = Site(x.copy())
    held = {a: k}
    for i in range(2):
        held[a] += a.weight[i]
        a.weight[0] += held[a] * k
    return held[a] * a.weight[0]


def test_objects_that_hold_arrays_are_no_keys_beside_stores() -> None:
    with pytest.raises(srcgrad.UnsupportedSyntax, match="methods of class Site, which are not followed"):
        srcgrad.grad(by_sites_with_arrays)(np.array([0.5, 1.2]), 0.7)


def one_name_for_a_number_and_a_copy(a, b, early, earlier):
    u = [a, b]
    p = np.sin(a)
    p = u.copy()
    if early:
        if earlier:
            return p
    return p


@pytest.mark.parametrize("flags", [(True, True), (True, False), (False, False)])
def test_a_copy_of_a_list_is_no_number_whatever_its_name_held(flags) -> None:
    """Once an exception in the reverse sweep, which joined two lists: its name had held a number."""
    _, pullback = srcgrad.vjp(one_name_for_a_number_and_a_copy, 1.5, 2.5, *flags, argnums=(0, 1))
    assert pullback([1.0, 10.0]) == (1.0, 10.0)


class Noted:
    def __init__(self):
        self.kept = []

    def put(self, t):
        self.last = t


def repeated_under_a_manager(b, y, m):
    noted = Noted()
    noted.put(np.sum)
    w = sum(noted.kept)
    with np.errstate(all="ignore"):
        m[:] = np.ones(2)
        z = [y] * 2
    return b + w + np.sum(z[0] * z[1])


def test_lists_that_are_repeated_under_a_manager_are_lists_in_second_derivatives() -> None:
    """Once refused when the program ran: our own output binds the list to None before.  Found by the hunt."""
    y, m = np.array([1.0, 2.0]), np.array([0.5, 0.6])
    _, pullback = srcgrad.vjp(srcgrad.grad(repeated_under_a_manager, argnums=(0, 1, 2)), 1.5, y, m)
    b_change, y_change, m_change = pullback((1.0, np.array([1.0, 3.0]), np.zeros(2)))
    np.testing.assert_allclose(y_change, [2.0, 6.0])
    assert b_change == 0.0 and not m_change.any()
