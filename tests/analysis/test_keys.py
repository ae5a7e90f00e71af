"""Keys that vary are not read back as numbers; they find values, and those of other kinds are read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import srcgrad
from srcgrad.programs import options
from srcgrad.runtime.refusals import RefusedType
from tests.parameters import at_night

X = np.array([1.1, 0.6, 2.2])


def stored(x):
    table = {}
    for v in x:
        table[float(v)] = v * v
    return sum(t * y for t, y in table.items())


def displayed(x):
    table = {x[0]: 2.0, x[1]: x[2]}
    total = 0.0
    for t in table:
        total = total + t * table[t]
    return total


def comprehended(x):
    return sum(key[1] * v for key, v in {(i, v): v for i, v in enumerate(x)}.items())


def greatest(x):
    table = {}
    for i, v in enumerate(x):
        table[v] = i
    return sorted(table)[0] * x[1]


class Table:
    def __init__(self):
        self.rows = {}

    def put(self, key):
        self.rows[key] = key * key

    def value(self, key):
        if key not in self.rows:
            self.put(key)
        return self.rows[key]

    def moment(self):
        return sum(key * value for key, value in self.rows.items())


def put(table, key):
    table[key] = key * key


def filled(x):
    return {v: v * v for v in x}


def moment(table):
    return sum(key * value for key, value in table.items())


def filled_by_a_callee(x):
    table = {}
    for v in x:
        put(table, v)
    return moment(table)


def returned_by_a_callee(x):
    total = 0.0
    for key, value in filled(x).items():
        total = total + key * value
    return total


def read_by_a_callee(x):
    return moment({x[0]: 2.0})


def in_an_object(x):
    table = Table()
    for v in x:
        table.put(v)
    return table.moment()


def moment_of_a_copy(table):
    other = {}
    for t in table:
        other[t] = 2.0 * table[t]
    return moment(other)


def copied_by_a_callee(x):
    return moment_of_a_copy({x[0]: 2.0})


def put_in_order(x):
    table, other = {x[0]: x[1]}, {}
    found = sorted(list(table))
    for t in found:
        other[t] = table[t]
    return moment(other)


def appended_through_another_name(x):
    table, first = {}, []
    second = first
    second.append(x[0])
    for t in first:
        table[t] = x[1]
    return sum(key * value for key, value in table.items())


def appended_within_a_list(x):
    table, first = {}, []
    both = [first]
    both[0].append(x[0])
    for t in first:
        table[t] = x[1]
    return sum(key * value for key, value in table.items())


@pytest.mark.parametrize(
    "function",
    [
        stored, displayed, greatest, filled_by_a_callee, returned_by_a_callee, read_by_a_callee,
        in_an_object, copied_by_a_callee, put_in_order, appended_through_another_name, appended_within_a_list,
    ],
)  # fmt: skip
def test_keys_that_vary_are_refused_where_they_are_of_use(function: Callable[..., object]) -> None:
    for derivative in (lambda: srcgrad.grad(function)(X), lambda: srcgrad.jvp(function, (X,), (X,))):
        with pytest.raises(srcgrad.UnsupportedSyntax, match="keys of a dict") as error:
            derivative()
        assert "^" in str(error.value) and "test_keys.py" in str(error.value)


def test_keys_that_vary_in_a_tuple_are_refused() -> None:
    for derivative in (lambda: srcgrad.grad(comprehended)(X), lambda: srcgrad.jvp(comprehended, (X,), (X,))):
        with pytest.raises(RefusedType, match="keys have no derivative"):
            derivative()


def finding_values(x):
    table = {}
    for v in x:
        table.setdefault(v * 2.0, []).append(v * v)
    return sum(table[t][0] for t in sorted(table) if t > 2.0)


def rounded(x):
    return sum(t * y for t, y in {int(v * 10.0): v * v for v in x}.items())


def constants(x):
    return sum(t * y for t, y in {0.5: x[0], 1.5: x[1] * x[2]}.items())


def remembered(x):
    table = Table()
    return sum(table.value(v) for v in x) + table.value(x[0])


def constants_in_an_object(x):
    table = Table()
    table.rows[0.5] = x[0]
    table.rows[2] = x[1]
    return table.moment()


def named(x):
    weights = {"a": x[0], "b": x[1], "c": x[2]}
    weights = {name: 2.0 * w for name, w in weights.items()}
    speed = {name: 0.0 * w for name, w in weights.items()}
    for _ in range(2):
        for name in weights:
            speed[name] = 0.5 * speed[name] - 0.25 * weights[name]
            weights[name] = weights[name] + speed[name]
    return sum({name: w for name, w in weights.items() if name != "c"}.values())


def in_order_of_names(x):
    table = {}
    for name, v in zip(["p", "q", "r"], x):
        table[name] = 2.0 * v
    for name in sorted(table):
        table[name] = table[name] ** 2
    return sum({name: w for name, w in table.items() if name != "r"}.values())


def at_places(x):
    table = {(i, i + 1): x[i] for i in range(3)}
    for (i, j), v in table.items():
        table[i, j] = v * (i + j)
    return sum(i * v**2 for (i, j), v in table.items())


def relax(distance, start, end, length):
    if distance[start] + length < distance[end]:
        distance[end] = distance[start] + length


def by_a_helper(x):
    distance = {0: 0.0 * x[0], 1: 100.0, 2: 100.0}
    for _ in range(2):
        for start, end, length in [(0, 1, x[0]), (1, 2, x[1]), (0, 2, 5.0 * x[2])]:
            relax(distance, start, end, length)
    return sum(k * d for k, d in distance.items())


def descend(params, grads, momentum, name):
    momentum[name] = 0.5 * momentum[name] + grads[name]
    params[name] -= 0.25 * momentum[name]


def by_an_optimizer(x):
    params = dict([(name, w * 1.0) for name, w in zip(["a", "b"], [x[:2], x[2:]])])
    momentum = {name: 0.0 * w for name, w in params.items()}
    for _ in range(2):
        grads = {name: w for name, w in params.items()}
        for name in sorted(params):
            descend(params, grads, momentum, name)
    return sum(len(name) * np.sum(w) for name, w in params.items())


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (by_a_helper, [3.0, 2.0, 0.0]),
        (by_an_optimizer, [0.4375, 0.4375, 0.4375]),
        (named, [0.875, 0.875, 0.0]),
        (in_order_of_names, [8.8, 4.8, 0.0]),
        (at_places, [0.0, 10.8, 220.0]),
        (remembered, [4.4, 1.2, 4.4]),
        (constants_in_an_object, [0.5, 2.0, 0.0]),
        (finding_values, [2.2, 0.0, 4.4]),
        (rounded, [24.2, 7.2, 96.8]),
        (constants, [0.5, 3.3, 0.9]),
    ],
)
@pytest.mark.parametrize("specialise", [True, at_night(False)], ids=["facts", "no facts"])
@pytest.mark.costly(2, first=1)
def test_other_uses_of_keys_are_right(function: Callable[..., object], wanted: list[float], specialise: bool) -> None:
    with options(specialise=specialise):
        if specialise and function is by_an_optimizer:  # of pairs in a list it is not known that the first do not vary
            with pytest.raises(srcgrad.UnsupportedSyntax, match="E0603"):
                srcgrad.grad(function)(X)
            return
        np.testing.assert_allclose(srcgrad.grad(function)(X), wanted)
        np.testing.assert_allclose(srcgrad.jvp(function, (X,), (X,))[1], wanted @ X)


@pytest.mark.parametrize(
    ("function", "wanted"), [(in_order_of_names, [8.8, 4.8, 0.0]), (at_places, [0.0, 10.8, 220.0])]
)
@pytest.mark.costly(1)
def test_keys_beside_what_varies_have_second_orders(function: Callable[..., object], wanted: list[float]) -> None:
    np.testing.assert_allclose(srcgrad.hvp(function)(X, X), wanted)


def collect(table, found):
    for key in table:
        found.append(key)


def collected_by_a_callee(x):
    found = []
    collect({float(x[0]): 1.0}, found)
    return found[0] * x[1]


def add(members, v):
    members.add(v)


def put_into_a_set_by_a_callee(x):
    members = set()
    add(members, float(x[0]))
    return sum(members) * x[1]


def put_into_a_set_key_by_key(x):
    table, members = {}, set()
    for v in x:
        table[v] = 1.0
    for key in table:
        members.add(key)
    return sum(list(members))


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function", [collected_by_a_callee, put_into_a_set_by_a_callee, put_into_a_set_key_by_key]
)
def test_keys_that_callees_and_sets_keep_are_refused(function: Callable[..., object], specialise: bool) -> None:
    """Silently wrong once: in forward mode nobody looked into callees that return nothing of use."""
    with options(specialise=specialise):
        for derivative in (lambda: srcgrad.grad(function)(X), lambda: srcgrad.jvp(function, (X,), (X,))):
            with pytest.raises((srcgrad.UnsupportedSyntax, RefusedType), match="E060[34]"):
                derivative()


def beside_another_dict(x):
    tables = {"a": {}, "b": {"p": x[1]}}
    tables["a"][float(x[0])] = 1.0
    return sum(v * len(k) for k, v in tables["b"].items()) * x[0]


def in_one_of_two_objects(x):
    left, right = Table(), Table()
    left.put(float(x[0]))
    right.rows["p"] = x[1]
    return sum(v * len(k) for k, v in right.rows.items()) * x[2]


@pytest.mark.parametrize(
    ("function", "wanted"), [(beside_another_dict, [0.6, 1.1, 0.0]), (in_one_of_two_objects, [0.0, 2.2, 0.6])]
)
@pytest.mark.costly(1)
def test_keys_of_one_dict_are_not_those_of_another(function: Callable[..., object], wanted: list[float]) -> None:
    np.testing.assert_allclose(srcgrad.grad(function)(X), wanted)
    np.testing.assert_allclose(srcgrad.hvp(function)(X, X), wanted)
