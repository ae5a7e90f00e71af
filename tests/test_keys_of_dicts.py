"""What runs through a dict runs through its keys: right, or refused; never the values at places that are keys too."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp
from srcgrad.errors import UnsupportedSyntax
from srcgrad.programs import options
from srcgrad.runtime.refusals import RefusedType


def squares(x):
    d = {}
    for i, v in enumerate(x):
        d[2 - i] = v * v
    return d


def mapped(x):
    return sum(map(lambda k: k * 2.0, squares(x))) * x[0]


def zipped(x):
    return sum(k * v for k, v in zip(squares(x), [1.0, 2.0, 3.0])) * x[0]


def taken_apart(x):
    a, b, c = squares(x)
    return a * x[0] + b * x[1] + c * x[2]


def made_a_tuple(x):
    return tuple(squares(x))[0] * x[0]


@pytest.mark.parametrize("function", [mapped, zipped, made_a_tuple])
@pytest.mark.costly(1, first=2)
def test_what_runs_through_a_dict_runs_through_its_keys(function: Callable[..., Any]) -> None:
    x = np.array([0.3, 0.4, 0.5])
    slope = np.array([(function(x + step) - function(x - step)) / 2e-6 for step in 1e-6 * np.eye(3)])
    np.testing.assert_allclose(grad(function)(x), slope, atol=1e-8)
    np.testing.assert_allclose(jvp(function, (x,), (x,))[1], slope @ x, atol=1e-8)


def test_a_dict_that_is_taken_apart_is_refused() -> None:
    with pytest.raises(UnsupportedSyntax, match="a dict") as refusal:
        grad(taken_apart)(np.array([0.3, 0.4, 0.5]))
    assert refusal.value.span is not None


def greatest(x):
    return max(squares(x)) * x[0]


def test_the_greatest_key_is_refused_when_it_is_met() -> None:
    with pytest.raises(TypeError, match="give a key, which has no derivative"):
        grad(greatest)(np.array([0.3, 0.4, 0.5]))


# --- dicts that are known for dicts only when the program runs -------------------------------------------------------
def made_deep(x, n):
    if n:
        return made_deep(x, n - 1)
    return {2: x[0], 1: x[1] * x[0], 0: x[2]}


def mapped_deep(x):
    return sum(map(lambda k: k * 2.0, made_deep(x, 1))) * x[0]


def looped_deep(x):
    s = 0.0
    for k in made_deep(x, 1):
        s += k * x[0]
    return s


def zipped_deep(x):
    return sum(k * v for k, v in zip(made_deep(x, 1), [1.0, 2.0, 3.0])) * x[0]


def counted_backwards_deep(x):
    return sum(k * (i + 1) * x[i] for i, k in enumerate(reversed(made_deep(x, 1))))


def listed_deep(x):
    return list(made_deep(x, 1))[0] * x[0]


def made_a_tuple_deep(x):
    return tuple(made_deep(x, 1))[0] * x[0]


def taken_apart_deep(x):
    a, *b = made_deep(x, 1)
    return a * x[0] + b[0] * x[1]


def extended_deep(x):
    t = [x[0]]
    t += made_deep(x, 1)
    return t[1] * x[0]


def rows_taken_apart(x):
    return sum(a * x[0] + b * x[1] for a, b, c in [made_deep(x, 1), made_deep(x, 2)])


def total(d):
    s = 0.0
    for k in d:
        s += k
    return s


def handed_to_another(x):
    return total(made_deep(x, 1)) * x[0]


DEEP = [
    mapped_deep, looped_deep, zipped_deep, counted_backwards_deep, listed_deep, made_a_tuple_deep, taken_apart_deep,
    extended_deep, rows_taken_apart, handed_to_another,
]  # fmt: skip


@pytest.mark.parametrize("function", DEEP)
@pytest.mark.costly(2, first=1)
def test_a_dict_that_a_recursion_returned_is_right_or_refused_where_it_is_read_by_places(
    function: Callable[..., Any],
) -> None:
    x = np.array([0.3, 0.4, 0.5])
    slope = np.array([(function(x + step) - function(x - step)) / 2e-6 for step in 1e-6 * np.eye(3)])
    for specialise in (True, False):
        with options(specialise=specialise):
            try:
                np.testing.assert_allclose(grad(function)(x), slope, atol=1e-8)
                np.testing.assert_allclose(jvp(function, (x,), (x,))[1], slope @ x, atol=1e-8)
            except TypeError as refusal:
                place = r"test_keys_of_dicts\.py:\d+: a dict gives its keys here"
                assert re.search(place + "|an augmented assignment changes a list in place", str(refusal))
                assert function in (extended_deep,)
            except UnsupportedSyntax as refusal:
                assert "a dict is taken apart into its keys" in str(refusal)
                assert function in (taken_apart_deep, rows_taken_apart)


def keys_items_and_places(x):
    d = made_deep(x, 1)
    s = 0.0
    for i in range(len(d)):
        s += (i + 1) * d[i] ** 2
    for k, v in d.items():
        s += k * v * x[1]
    return s + sum(k * x[0] for k in d.keys()) + sum(v * x[2] for v in d.values())


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(1)
def test_keys_items_and_own_subscripts_of_such_a_dict_are_right(specialise: bool) -> None:
    x, step = np.array([0.3, 0.4, 0.5]), 1e-6
    f = keys_items_and_places
    expected = [(f(x + step * e) - f(x - step * e)) / (2.0 * step) for e in np.eye(3)]
    with options(specialise=specialise):
        assert np.allclose(grad(f)(x), expected)
        assert np.isclose(jvp(f, (x,), (x,))[1], expected @ x)


def keys_of_an_argument(d):
    return sum(k * d[1] for k in map(lambda k: k * 2.0, d))


def layers(xs, x):
    s = 0.0
    for w, b in xs:
        s += w * x + b
    return s


def test_arguments_are_looked_at_where_their_kinds_are_not_asked_for(tmp_path: Path) -> None:
    d = {2: 0.3, 1: 0.4, 0: 0.6}
    with options(specialise=False):
        with pytest.raises(TypeError, match="a dict gives its keys here"):
            grad(keys_of_an_argument)(d)
        with pytest.raises(TypeError, match="a dict gives its keys here"):
            grad(layers)([{0: 1.0, 1: 2.0}], 0.5)
        assert grad(layers)([(1.0, 2.0), (3.0, 4.0)], 0.5) == [(0.5, 1.0), (0.5, 1.0)]
    file = tmp_path / "saved_keys.py"
    grad(keys_of_an_argument).save(file)
    with pytest.raises(TypeError, match="a dict gives its keys here"):
        runpy.run_path(str(file))["grad_keys_of_an_argument"](d)


def test_what_is_shown_reads_as_the_function_does() -> None:
    assert "require_places" not in grad(layers).source
    assert "for w, b in xs:" in grad(layers).source


def read_by_numbers_twice(x):
    d = {0: x, 1: x * x}
    for i in range(2):
        x = x * d[i]
    return sum(d[i] * x for i in range(2))


def rows_by_a_name_used_twice(x):
    rows = [[x[0]] * 3 for _ in range(3)]
    for i in range(3):
        rows[i][i] = x[i]
    return sum(rows[i][(i + 1) % 3] * rows[i][1] for i in range(3))


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(1)
def test_a_loop_over_a_range_runs_through_nothing_else(specialise: bool) -> None:
    with options(specialise=specialise):
        assert grad(read_by_numbers_twice)(1.5) == pytest.approx(5 * 1.5**4 + 6 * 1.5**5)
        x = np.array([1.0, 2.0, 3.0])
        np.testing.assert_allclose(grad(rows_by_a_name_used_twice)(x), [6.0, 1.0, 0.0])


def test_an_array_that_is_read_by_a_key_where_nothing_runs() -> None:
    """It was taken for a dict, which the program failed to ask for keys."""

    def rows(m):
        s = 0.0
        for row in m:
            for _ in range(0):
                s = m["p"]
            s = s + np.sum(row * row)
        return s

    m = np.arange(1.0, 5.0).reshape(2, 2)
    for specialise in (True, False):
        with options(specialise=specialise):
            np.testing.assert_allclose(grad(rows)(m), 2.0 * m)


# --- keys that vary --------------------------------------------------------------------------------------------------
def of_pairs(x):
    d = dict([(x[0], 1.0), (x[1], x[2])])
    return sum([k * v for k, v in d.items()])


def of_one_pair(x):
    d = dict([((x[0], 1), x[1])])
    return sum([k[0] * v for k, v in d.items()])


def of_pairs_under_another_name(x):
    pairs = [(0.5, 1.0)]
    again = pairs
    again.append((x[1], x[2]))
    d = dict(pairs)
    return sum([k * v for k, v in d.items()])


def of_pairs_in_a_loop(x):
    pairs = []
    for v in x:
        pairs.append((v, 2.0))
    d = dict(pairs)
    return sum([k * v for k, v in d.items()])


def filled(pairs, x):
    pairs.append((x[0], 1.0))


def of_pairs_that_a_callee_adds(x):
    pairs = [("a", x[1])]
    filled(pairs, x)
    d = dict(pairs)
    return sum([k for k in d if k != "a"]) + sum(d.values())


def of_pairs_that_are_inserted(x):
    pairs = []
    pairs.insert(0, (x[0], 2.0))
    d = dict(pairs)
    return sum([k * v for k, v in d.items()])


def of_a_pair_that_is_stored_into(x):
    pair = [None, 2.0]
    pair[0] = x[1]
    d = dict([pair])
    return sum([k * v for k, v in d.items()])


def of_a_pair_that_is_appended_to(x):
    pair = []
    pair.append(x[1])
    pair.append(2.0)
    d = dict([pair])
    return sum([k * v for k, v in d.items()])


def of_rows_of_an_array(x):
    d = dict([x[:2], x[1:]])
    return sum([k * v for k, v in d.items()])


def computed(x):
    d = {}
    d[np.sum(x)] = 2.0
    return sum([k * v for k, v in d.items()])


def of_a_method(x):
    d = {}
    d[x.max()] = 2.0
    return sum([k * v for k, v in d.items()])


def of_an_item_at_a_computed_place(x):
    d = {}
    d[x[len(x) - 1]] = 2.0
    d[x[0:1][0]] = 3.0
    return sum([k * v for k, v in d.items()])


class Held:
    def __init__(self, v):
        self.v = v


def fields(x):
    d, o, m = {}, Held(x[1]), {"q": x[0]}
    d[o.v] = 1.0
    d[m["q"]] = x[2]
    return sum([k * v for k, v in d.items()])


def a_field_in_a_display(x):
    o = Held(x[1])
    d = {o.v: x[2]}
    return sum([k * v for k, v in d.items()])


def a_default_for_a_field(x):
    d, o = {}, Held(x[1])
    d.setdefault(o.v, 1.0)
    return sum([k * v for k, v in d.items()])


def items_of_an_array(x):
    d = {}
    for i in range(3):
        d[x[i]] = 1.0
    return sum([k * v for k, v in d.items()])


def the_greatest_of_items(x):
    d = {}
    for i in range(3):
        d[x[i]] = 1.0
    return max(d)


def items_in_tuples(x):
    d = {}
    for i in range(3):
        d[i, x[i]] = 1.0
    return sum(k[1] for k in d)


VARYING = [
    of_pairs, of_one_pair, of_pairs_under_another_name, of_pairs_in_a_loop, of_pairs_that_a_callee_adds,
    of_pairs_that_are_inserted, of_a_pair_that_is_stored_into, of_a_pair_that_is_appended_to, of_rows_of_an_array,
    computed, of_a_method, of_an_item_at_a_computed_place, fields, a_field_in_a_display, a_default_for_a_field,
    items_of_an_array, the_greatest_of_items, items_in_tuples,
]  # fmt: skip
WAYS: list[dict[str, Any]] = [{}, {"specialise": False}]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("function", VARYING)
@pytest.mark.costly(4, first=1)
def test_keys_that_vary_are_refused(function: Callable[..., Any], way: dict[str, Any]) -> None:
    """Silently zero once: of pairs only those that a loop put into the list itself were looked at, of keys only those
    without a call, and of ``d[x[i]]`` the array where nothing was known of it, which is no key."""
    x = np.array([0.7, 1.3, -0.4])
    with options(**way), pytest.raises((UnsupportedSyntax, RefusedType), match="key"):
        grad(function)(x)
    with options(**way), pytest.raises((UnsupportedSyntax, RefusedType), match="key"):
        jvp(function, (x,), (np.ones(3),))


def of_what_is_rounded_or_counted(x):
    d = {round(float(x[0])): x[1], len(x): x[2]}
    d[int(np.argmax(x)) + 5] = x[0]
    d["a" if x[0] > 0.0 else "b"] = x[1] * 2.0
    o = Held("name")
    o.w = x[2] * 0.0
    d[o.v] = o.w
    return sum([v * (k if isinstance(k, int) else 1) for k, v in d.items()])


def of_constant_numbers(x):
    d = dict([(0.5, x[0]), (1.5, x[1])])
    e = dict([["a", x[1]], ["b", x[2]]])
    f = dict([(i, v) for i, v in enumerate(x)])
    return sum([k * v for k, v in d.items()]) + sum([k * v for k, v in f.items()]) + e["a"] * sum(e.values())


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.costly(1)
def test_keys_that_do_not_vary_are_right(way: dict[str, Any]) -> None:
    x = np.array([0.7, 1.3, -0.4])
    with options(**way):
        np.testing.assert_allclose(grad(of_constant_numbers)(x), [0.5, 1.5 + 1.0 + 2 * x[1] + x[2], 2.0 + x[1]])
        np.testing.assert_allclose(grad(of_what_is_rounded_or_counted)(x), [6.0, 3.0, 3.0])
