"""Derivatives of derivatives: the text of a derivative is written from what is inferred of it, as a user's is."""

from __future__ import annotations

import contextlib
import copy
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import srcgrad

POINT = np.array([0.7, 1.1, -0.4])


def branches_in_a_loop(x):
    s = 0.3
    for i in range(len(x)):
        s = s + x[i] ** 2 * np.sin(x[i]) if x[i] > 0.0 else s * x[i]
    return s


def stores_in_a_loop(x):
    y = np.zeros(4)
    for i in range(3):
        y[i] = x[i] * y[i - 1] + np.exp(x[i])
        y[i] *= x[0]
    return np.sum(y[:3] * y[1:])


def stops_early(x):
    s = 1.0
    for i in range(3):
        s = s * x[i] + np.cos(x[i])
        if s > 1.9:
            return s * s
    return s + x[0]


def a_list_that_grows_and_shrinks(x):
    kept = [x[0]]
    for i in range(3):
        kept.append(x[i] * kept[-1])
    last = kept.pop()
    return last * kept[1] + sum(kept)


def rows_in_a_dict(x):
    rows = {"a": x * x, "b": np.sin(x)}
    rows["a"][1] = x[2] ** 3
    return np.sum(rows["a"] * rows["b"])


def scaled(y, by):
    y[0] = y[0] * by
    return y[1] * by


def a_callee_that_stores(x):
    y = x * x
    s = scaled(y, x[2])
    return s * np.sum(y)


@dataclass
class Pair:
    left: Any
    right: Any

    def product(self):
        return self.left * self.right


def an_object_whose_field_changes(x):
    pair = Pair(x[0], x[1])
    pair.left = pair.product() + x[2]
    return pair.product() ** 2


def a_value_put_back_where_it_was_read(x):
    y = np.cos(x)
    y[1] += y[0] * y[1]
    y[0] = y[1] * x[2]
    return y[0] * y[1]


def until_it_is_large(x):
    s = x[0]
    while s < 3.0:
        s = s * 1.5 + x[1] ** 2
    return s * x[2]


def stores_under_a_manager(x):
    """Variables that are bound there are read where they are used: a buffer was added to under another name, and what
    was added was lost."""
    y = np.exp(x)
    with np.errstate(divide="ignore"):
        y[0] = np.sqrt(y[1]) * y[2]
        y[1:] /= y[0]
    return np.sum(y * y)


def attempts_that_store(x):
    y = np.sin(x)
    s = 1.0
    for i in range(5):
        try:
            y[i] = y[i - 1] * x[i] + 1.0
            s = s * y[i]
        except IndexError:
            s = s + x[0] * y[1]
    return s * s


def attempts_of_a_callee(x):
    s = x[0]
    for i in range(3):
        try:
            s = s * doubled_where_positive(x, i)
        except ValueError:
            s = s + x[1] * s
    return s * s


def doubled_where_positive(x, i):
    if x[i] < 0.0:
        raise ValueError(i)
    return 2.0 * x[i]


def raises_what_it_handles(x):
    """What was raised is of any class of exceptions: it was taken for one of none of those that are handled."""
    s, place = x[0], 0
    while True:
        try:
            if not place < len(x):
                raise StopIteration
            s = s * x[place] + np.cos(x[place])
            place += 1
        except StopIteration:
            break
    return s * s


def tuples_of_several_kinds(x):
    s = 0.3
    for i in range(3):
        taken = (x[i], (x[0], i)) if i > 1 else (x[1], (x[i], x[2]))
        a, (b, c) = taken
        s = s + a * b * c
    return s * s


def keys_of_a_dict(x):
    held = {"a": x[0], "b": x[1]}
    for key in list(held.keys()):
        held[key] = held[key] * x[2]
    return sum(held.values()) ** 3


def a_dict_that_makes_what_is_missing(x):
    """The items that it is made of were left out."""
    held = defaultdict(lambda: 2.0, {"a": x[0] * x[1]})
    y = held["b"] * x[2] + held["a"]
    held["a"] += y
    return held["a"] * held["b"] * y


def what_an_assertion_leaves(x):
    """A variable that is bound under a test is read again under the same test."""
    s = x[0] * x[1]
    try:
        assert s < 50.0
        assert s > 50.0, "small"
        s = s * 100.0
    except AssertionError:
        s = s * x[2]
    return s * s


class Stop(Exception):
    pass


def raises_exceptions_of_its_own(x):
    s = x[0]
    try:
        for k in range(5):
            s = s * x[1] * 1.5
            if s > 1.3:
                raise Stop if k % 2 else Stop()
    except Stop:
        s = s * x[2] ** 2
    return s * s


def reads_the_text_of_what_was_raised(x):
    s = x[0]
    for i in range(3):
        try:
            s = s * doubled_where_positive(x, i)
            if s > 1.5:
                raise ValueError("large")
        except ValueError as error:
            s = s + x[1] * s * len(str(error))
    return s * s


class Layer:
    def __init__(self, w):
        self.w, self.seen = w, None

    def __call__(self, y):
        self.seen = y
        return self.w * np.sin(y)


class Stack:
    def __init__(self, x):
        self.layers = []
        for i in range(2):
            self.layers.append(Layer(x[i]))


def objects_in_a_list_of_an_object(x):
    """The shadow of the list was taken to hold what the list holds."""
    stack = Stack(x)
    y = x[2]
    for _ in range(2):
        for layer in stack.layers:
            y = layer(y) + x[0]
    return y * stack.layers[1].seen


def shadows_of_a_deque(x):
    """What of shadows is of no known class: lists, deques and what is taken out of them."""
    queue = deque([x[0], x[1] * 2.0, x[2]])
    queue.rotate(1)
    queue.extend([x[0] * x[1]])
    queue.extendleft([x[2] ** 2, x[0]])
    queue.reverse()
    last = queue.popleft()
    return queue[0] * queue[1] + last * queue[-1] + queue[2] ** 3


@contextlib.contextmanager
def counted(k):
    ENTERED.append("in")
    yield k + 1.0
    ENTERED.append("out")


class Counting:
    def __enter__(self):
        ENTERED.append("in")
        return self

    def __exit__(self, *given):
        ENTERED.append("out")


ENTERED: list[str] = []


def managers_of_the_forward_sweep(x):
    s = x[0]
    for i in range(3):
        with counted(2.0) as scale:
            s = s * scale * x[i]
        with Counting(), contextlib.nullcontext(i) as place:
            if place == 1:
                continue
            s = s + x[1] ** 2
    return s * s


class Doubling:
    def __init__(self, x):
        self.x, self.y = x, 0.0

    def __enter__(self):
        self.y = self.x * 2.0
        return self

    def __exit__(self, *given):
        self.y = self.y + self.x**2


def managers_that_keep_what_varies(x):
    held, s = Doubling(x[0]), 1.0
    for i in range(3):
        with held as entered:
            entered.y = entered.y * x[i] + s
            if i == 1:
                continue
            s = s * held.y
    return s * held.y


class Spring:
    def __init__(self, k):
        self.k = k

    def pull(self, y):
        return self.k * np.sin(y)


def objects_by_their_group(x):
    """What a dict holds beside its keys was taken to be asked where a key is looked for."""
    groups = {}
    for i in range(4):
        if i % 2 not in groups:
            groups[i % 2] = []
        groups[i % 2].extend([Spring(x[i % 3])])
    y = x[1]
    for key in groups:
        for spring in groups[key]:
            y = y * spring.pull(y) + x[key]
    return y * y


def objects_in_a_copy_of_a_dict(x):
    table = {"a": Spring(x[0]), "b": Spring(x[1])}
    other = dict(table)
    other["b"] = other["a"]
    y = x[2]
    for key in ("a", "b"):
        y = table[key].pull(y) * other[key].pull(y + x[0])
    return y * y


def what_cannot_be_iterated(x):
    s = x[0]
    for given in ([x[1], x[2]], 3.0):
        try:
            for v in given:
                s = s * v + np.cos(s)
        except TypeError:
            s = s * s * x[1]
    return s * s


PROGRAMS = (
    objects_by_their_group, objects_in_a_copy_of_a_dict, what_cannot_be_iterated,
    managers_that_keep_what_varies, managers_of_the_forward_sweep,
    raises_exceptions_of_its_own, reads_the_text_of_what_was_raised, objects_in_a_list_of_an_object, shadows_of_a_deque,
    a_dict_that_makes_what_is_missing, what_an_assertion_leaves, stores_under_a_manager, attempts_that_store,
    attempts_of_a_callee, raises_what_it_handles, tuples_of_several_kinds,
    keys_of_a_dict, branches_in_a_loop, stores_in_a_loop, stops_early, a_list_that_grows_and_shrinks, rows_in_a_dict,
    a_callee_that_stores, an_object_whose_field_changes, a_value_put_back_where_it_was_read, until_it_is_large,
)  # fmt: skip


def differences(function: Callable[..., Any], at: np.ndarray, step: float = 1e-5) -> np.ndarray:
    moved = step * np.eye(at.size)
    return np.array([(function(at + d) - function(at - d)) / (2 * step) for d in moved])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.costly(2, first=1)
def test_the_text_of_a_gradient_is_inferred(program: Callable[..., Any]) -> None:
    """The Hessian by both ways, against differences of the gradient."""
    gradient = srcgrad.grad(program)
    expected = differences(gradient, POINT)
    for found in (srcgrad.jacobian(gradient)(POINT.copy()), srcgrad.hessian(program)(POINT.copy())):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_a_second_derivative_enters_a_manager_once() -> None:
    """However often it is differentiated, only the forward sweep enters it, as the function does."""
    gradient = srcgrad.grad(managers_of_the_forward_sweep)
    ENTERED.clear()
    managers_of_the_forward_sweep(POINT)
    expected = list(ENTERED)
    for called in (lambda: gradient(POINT), lambda: srcgrad.hvp(managers_of_the_forward_sweep)(POINT, POINT)):
        ENTERED.clear()
        called()
        assert expected == ENTERED


def test_a_third_derivative_is_inferred() -> None:
    def f(t):
        s = t
        for _ in range(2):
            s = s * s + np.sin(t)
        return s

    second = srcgrad.grad(srcgrad.grad(f))
    expected = (second(0.6 + 1e-5) - second(0.6 - 1e-5)) / 2e-5
    np.testing.assert_allclose(srcgrad.grad(srcgrad.grad(srcgrad.grad(f)))(0.6), expected, rtol=1e-6)


def test_what_is_added_to_an_item_is_added_when_it_is_known() -> None:
    """The item of a buffer was read before the branch that computes what is added, and stored as a name of its own,
    which is no buffer: TypeError."""

    def f(x):
        y = np.cos(x)
        if y[1] > -9.0:
            k = int(y[2] > 9.0)
            return y[k] * y[1] + np.sum(y)
        return y[2]

    found = srcgrad.jacobian(srcgrad.grad(f))(POINT)
    np.testing.assert_allclose(found, differences(srcgrad.grad(f), POINT), rtol=1e-6, atol=1e-8)


def test_buffers_under_a_manager_without_facts() -> None:
    with srcgrad.options(specialise=False):
        gradient = srcgrad.grad(stores_under_a_manager)
        found = srcgrad.jacobian(gradient)(POINT)
        np.testing.assert_allclose(found, differences(gradient, POINT), rtol=1e-6, atol=1e-8)


class Turning:
    """Holds a method of its own, bound: its shadow holds itself."""

    def __init__(self, a):
        self.h, self.step = a, self.doubled

    def doubled(self, y):
        return y * y * self.h


def test_a_shadow_that_holds_itself_is_met_once() -> None:
    """Once a RecursionError, reverse over reverse."""

    def f(x):
        turning = copy.deepcopy(Turning(x[0]))
        turning.h = x[1] * turning.h
        return turning.step(x[1]) * turning.step(x[2]) * turning.h

    gradient = srcgrad.grad(f)
    expected = differences(gradient, POINT) @ POINT
    for found in (srcgrad.vjp(gradient, POINT.copy())[1](POINT)[0], srcgrad.hvp(f)(POINT.copy(), POINT)):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
