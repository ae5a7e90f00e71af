"""Functions that carry what they captured, kept in containers and fields: right against numbers, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.specialise.serving import check_refused, check_right

X = np.array([0.7, 1.3, 0.4, 1.9])


class Held:
    def __init__(self, f, k=1.0):
        self.f = f
        self.k = k

    def go(self, v):
        return self.f(v) * self.k


class Shifted(Held):
    def go(self, v):
        return self.f(v) + self.k


def scaled(a):
    def inner(v):
        return v * a

    return inner


def squared(a):
    b = a * a

    def inner(v, c=2.0):
        return v * b + c * a

    return inner


def of_several_calls_and_texts(x):
    y = x[3]
    for o in [Held(scaled(x[0])), Held(scaled(x[1])), Shifted(squared(x[2])), Held(np.sin), Held(np.tanh)]:
        y = o.go(y)
    return y


def a_variable_that_is_bound_again(x):
    fs = []
    for k in range(3):
        w = x[k]
        fs.append(lambda v: v * w)
    return fs[0](x[3]) * fs[1](x[0])


def what_was_captured_is_stored_into(x):
    a = np.array([1.0, 2.0]) * x[0]
    fs = [lambda v, k=k: a[0] * v * x[k] for k in range(3)]
    a[0] = x[1]
    total = 0.0
    for f in fs:
        total = total * x[3] + f(x[2])
    return total


def defaults_are_stored_into(x):
    fs = []
    for k in range(3):
        w = x * 1.0
        fs.append(lambda v, w=w: w[0] * v)
        w[0] = x[1] * k
    total = 0.0
    for f in fs:
        total = total * x[3] + f(x[2])
    return total


def defaults_by_keyword(x):
    fs = []
    for k in range(2):
        fs.append(lambda v, *, s=x[k], t=3.0: v * s * t)
    return fs[0](x[2]) * fs[1](x[3], t=x[0]) * fs[0](x[1], s=2.0)


def functions_captured_by_functions(x):
    def composed(f, g):
        return lambda v: f(g(v))

    y = x[0]
    fs = [composed(scaled(x[0]), np.sin), composed(np.sin, scaled(x[1])), composed(scaled(x[2]), squared(x[3]))]
    for f in fs:
        y = f(y)
    return y


def made_inside_of_what_is_made(x):
    def outer(a):
        def mid(b):
            return lambda v: v * a + b

        return mid

    y = 1.0
    for f in [outer(x[0])(x[1]), outer(x[1])(x[2])]:
        y = f(y) * x[3]
    return y


def replaced_in_a_field(x):
    o = Held(None)
    for k in range(3):
        old = o.f
        o.f = scaled(x[k]) if old is None else squared(x[k])
        if old is not None:
            o.k = old(x[3])
    return o.go(x[0])


def captured_objects_change(x):
    o, fs = Held(np.sin), []

    def changing(held, j):
        def inner(v):
            held.k = held.k * v
            return held.go(x[j])

        return inner

    for j in range(3):
        fs.append(changing(o, j))
    o = Held(np.cos)
    total = 0.0
    for f in fs:
        total = total * x[3] + f(x[2])
    return total * o.go(x[1])


def an_array_here_and_a_number_there(x):
    total = 0.0
    for a in (x, x[1]):
        total = total + np.sum(Held(scaled(a)).go(x[2]))
    return total


def in_two_lists(x):
    fs = [scaled(x[0]), scaled(x[1])]
    gs = list(fs)
    gs.append(fs[0])
    fs[0] = fs[1]
    y = x[3]
    for f in gs + fs:
        y = f(y)
    return y


def made_of_what_it_gives(x):
    f, y = scaled(x[0]), x[1]
    for _ in range(3):
        g = f
        f = scaled(g(y))
        y = g(y) + x[2]
    return f(x[3]) * y


def none_at_times(x):
    total = 0.0
    for f in [scaled(x[0]), None, scaled(x[1])]:
        if f:
            total = total * x[3] + f(x[2])
    return total


RIGHT = [
    of_several_calls_and_texts, a_variable_that_is_bound_again, what_was_captured_is_stored_into,
    defaults_are_stored_into, defaults_by_keyword, functions_captured_by_functions, made_inside_of_what_is_made,
    replaced_in_a_field, captured_objects_change, an_array_here_and_a_number_there, in_two_lists,
    made_of_what_it_gives, none_at_times,
]  # fmt: skip


@pytest.mark.parametrize("function", RIGHT)
@pytest.mark.costly(2, first=1)
def test_functions_that_carry_what_they_captured_are_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


def variables_that_they_bind(x):
    def counter(n):
        def inner(v):
            nonlocal n
            n = n * v
            return n

        return inner

    total = 0.0
    for f in [counter(x[0]), counter(x[1])]:
        total = total * x[3] + f(x[2]) * f(x[1])
    return total


def told_from_one_another(x):
    fs = [scaled(x[0]), scaled(x[1])]
    return (2.0 if fs[0] is fs[1] else x[2]) * fs[0](x[3])


def iterators_captured(x):
    it = iter([x[0], x[1], x[2]])
    y = x[3]
    for f in [lambda v: v * next(it), lambda v: v + next(it)]:
        y = f(y)
    return y


@pytest.mark.parametrize("function", [variables_that_they_bind, told_from_one_another, iterators_captured])
def test_functions_that_cannot_carry_it_are_refused(function, monkeypatch):
    check_refused(function, monkeypatch, X)


# --- calls that are not of one kind --------------------------------------------------------------------------------
class Node:
    def __init__(self, v, behind=None):
        self.v = v
        self.behind = behind

    def total(self):
        return self.v if self.behind is None else self.v * self.behind.total() + 1.0


class Layer:
    def __init__(self, w, act=None):
        self.w = w
        self.act = act

    def __call__(self, v):
        y = self.w * v
        return y if self.act is None else self.act(y)


class Residual(Layer):
    def __call__(self, v):
        return super().__call__(v) + self.w


def none_in_the_first_call(x):
    head = None
    for v in x:
        head = Node(v * x[0], head)
    head.behind.v = head.v * 2.0
    return head.total() * head.behind.total()


def linked_from_behind(x):
    head = last = None
    for k in range(4):
        node = Node(x[k])
        if last is None:
            head = node
        else:
            last.behind = node
        last = node
    return head.total()


def objects_of_several_classes_are_called(x):
    y = x
    for layer in [Layer(x[0]), Layer(x, np.sin), Residual(x[1]), Layer(x[2], lambda v: np.tanh(v * x[3]))]:
        y = layer(y)
    return np.sum(y)


def one_of_two_objects_is_called(x):
    a, b = Layer(x[0]), Layer(x[1], np.sin)
    chosen = a if x[0] > 0.0 else b
    a.w = x[2]
    return chosen(x[3]) * b(a(x[1]))


@pytest.mark.parametrize("function", [
    none_in_the_first_call, linked_from_behind, objects_of_several_classes_are_called, one_of_two_objects_is_called,
])  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_calls_of_what_may_be_none_and_of_several_objects_are_right(function, monkeypatch):
    check_right(function, monkeypatch, X)
