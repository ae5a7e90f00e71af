"""Dicts that are joined or displayed: of a key the last value counts, and gets the cotangent."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from srcgrad import grad, jvp, options, value_and_grad
from srcgrad.errors import UnsupportedSyntax


def of_an_item(x):
    d = {"k": {"a": x}}
    both = d["k"] | {"b": x * 2.0}
    return both["a"] * both["b"]


def of_two_items(x):
    dicts = [{"a": x}, {"b": x * 2.0}]
    both = dicts[0] | dicts[1]
    return both["a"] * both["b"]


def of_a_call(x):
    d = {"k": {"a": x}}
    both = d["k"] | dict(b=x * 2.0)
    return both["a"] * both["b"]


def of_the_operator(x):
    both = operator.or_({"a": x}, {"b": x * 2.0})
    return both["a"] * both["b"]


def of_reduce(x):
    both = functools.reduce(operator.or_, [{"a": x}, {"b": x * 2.0}])
    return both["a"] * both["b"]


def keys_that_come_twice(x):
    d = {"a": x, "b": x * 2.0, "a": x * 3.0}  # noqa: F601
    return d["a"] * d["b"] / 3.0


def keys_that_are_equal(x):
    d = {1: x, 1.0: x, True: x * 2.0}  # noqa: F601
    return d[1] * x * len(d)


@pytest.mark.parametrize("function", [
    of_an_item, of_two_items, of_a_call, of_the_operator, of_reduce, keys_that_come_twice, keys_that_are_equal,
])  # fmt: skip
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(2)
def test_joined(function: Callable[[float], float], specialise: bool) -> None:
    """``2 x ** 2``; once ``|`` of what is no name lost the derivative, and each of equal keys had the cotangent."""
    with options(specialise=specialise):
        assert grad(function)(3.0) == pytest.approx(12.0)
        assert jvp(function, (3.0,), (1.0,)) == pytest.approx((18.0, 12.0))


def test_masks_are_joined_as_before():
    def f(x):
        return np.sum(np.where((x > 2.0) | np.isnan(x) | (x < 0.0), x * x, 0.0))

    x = np.array([1.0, 3.0, -1.0])
    np.testing.assert_allclose(grad(f)(x), [0.0, 6.0, -2.0])
    assert "union" not in grad(f).source_for(x)


def test_refused():
    def of_numpy(x):
        return np.logical_or({"a": x}, {})["a"]

    def computed_twice(x, key):
        return {"a": x, key: x * 2.0}["a"]

    with pytest.raises(UnsupportedSyntax, match="a call of logical_or with a container"):
        grad(of_numpy)(3.0)
    assert grad(computed_twice)(3.0, "a") == 2.0
    assert grad(computed_twice)(3.0, "b") == 1.0


def swapped(x):
    d = {"a": x, "b": x * x}
    d.update(a=d["b"], b=d["a"])
    return d["a"] * x - d["b"]


def steps(x):
    state = {"place": x, "speed": x * 2.0}
    for _ in range(3):
        state.update(place=state["place"] + 0.1 * state["speed"], speed=state["speed"] - 0.1 * state["place"])
    return state["place"] * state["speed"]


def counted(x):
    d = {"a": x}
    d.update(a=d.pop("a") * 2.0, b=len(d) * x)
    return d["a"] * x + d["b"]


def of_another(x):
    d, other = {"a": x}, {"a": x * 3.0, "c": x}
    d.update(other, b=other.pop("c") * 2.0)
    return d["a"] * d["b"] * len(d)


@pytest.mark.parametrize("function", [swapped, steps, counted, of_another])
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(2)
def test_what_a_dict_is_updated_with_is_evaluated_before(function: Callable[[float], float], specialise: bool) -> None:
    """It was stored one by one, so that later values were computed from what was stored already."""
    slope = (function(3.0 + 1e-6) - function(3.0 - 1e-6)) / 2e-6
    with options(specialise=specialise):
        assert value_and_grad(function)(3.0) == pytest.approx((function(3.0), slope))
        assert jvp(function, (3.0,), (1.0,)) == pytest.approx((function(3.0), slope))


def of_a_generator(x):
    d = {}
    d.update((k, v * v) for k, v in zip("ab", (x, x * 2.0), strict=True))
    return d["a"] * d["b"]


def of_a_choice(x):
    d = {"b": x}
    d.update([("a", x)] if x > 0.0 else [])
    return d["a"] * d["b"]


def of_what_is_sorted(x):
    d, other = {}, {"b": x, "a": x * 2.0}
    d.update(sorted(other.items()))
    return d["a"] * d["b"]


@pytest.mark.parametrize("function", [of_a_generator, of_a_choice, of_what_is_sorted])
@pytest.mark.costly(1)
def test_a_dict_is_updated_with_pairs(function: Callable[[float], float]) -> None:
    """An AttributeError before: what is no list in the text was taken for a dict."""
    slope = (function(3.0 + 1e-6) - function(3.0 - 1e-6)) / 2e-6
    assert value_and_grad(function)(3.0) == pytest.approx((function(3.0), slope))


def counted_by_a_generator(x):
    d = {}
    d.update((i, len(d) * x + i) for i in range(3))
    return sum(d.values()) * x


def a_set_counted_by_a_generator(x):
    s = set()
    s.update(len(s) + i for i in range(3))
    return sum(s) * x


@pytest.mark.parametrize("function", [counted_by_a_generator, a_set_counted_by_a_generator])
@pytest.mark.costly(1, first=1)
def test_a_generator_goes_on_when_what_it_made_is_there(function: Callable[[float], float]) -> None:
    """It ran to its end before anything was put into the container."""
    slope = (function(3.0 + 1e-6) - function(3.0 - 1e-6)) / 2e-6
    assert value_and_grad(function)(3.0) == pytest.approx((function(3.0), slope))


def counted_on(x, counts):
    counts.update(a=3)
    return x * counts["a"]


def test_a_counter_is_not_updated_as_a_dict():
    """Its ``update`` adds; the value was stored."""
    assert grad(counted_on)(2.0, {"a": 2}) == 3.0
    with pytest.raises(UnsupportedSyntax, match=r"(?s)the method 'update' cannot be differentiated.*\^"):
        grad(counted_on)(2.0, Counter(a=2))


# --- containers and fields that change inside of try, or hold themselves ----------------------------------------------
@dataclass
class Sided:
    x: float
    y: float

    def __post_init__(self):
        self.s = self.x * self.y


def pairs_in_a_try(x):
    d = {"a": x[0]}
    try:
        d.update([("b", x[1]), ("c", x[2])])
    except KeyError:
        d["b"] = x[2]
    return d["a"] * d["b"] * d["c"]


def a_list_that_holds_itself(x):
    q = [x[0] * x[1]]
    q.append(q)
    return q[0] * q[1][0]


def replaced_beside_a_field(x):
    q = replace(Sided(x[0], x[1]), x=x[2])
    return q.x * q.y * q.s


@pytest.mark.parametrize("changed", [{}, {"specialise": False}], ids=str)
@pytest.mark.parametrize(
    "function", [a_list_that_holds_itself, replaced_beside_a_field]
)
@pytest.mark.costly(2)
def test_changes_of_containers_and_fields(function, changed):
    """An exception without a place, or an InternalError."""
    at = np.array([1.2, 2.3, 3.4])
    slopes = [(function(at + 1e-6 * e) - function(at - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    with options(**changed):
        assert grad(function)(at) == pytest.approx(np.array(slopes), rel=1e-5)
        assert jvp(function, (at,), (np.eye(3)[1],))[1] == pytest.approx(slopes[1], rel=1e-5)


def through_a_memoryview(x):
    y = x * x
    m = memoryview(y)
    m[0] = 3.0
    return np.sum(y * x)


def test_a_store_through_a_memoryview_is_refused():
    with pytest.raises(UnsupportedSyntax, match=r"(?s)a call of memoryview.*\^"):
        grad(through_a_memoryview)(np.array([1.2, 2.3]))


def names_bound_in_a_display(x):
    """Every key is evaluated before its value."""
    k, rest = 2, {5: x[0]}
    d = {**rest, k: (v := x[1] * x[2]), (k := 3): v * x[0], **{7: v}, (k := k + 1): v * k}
    return sum(k * each for each in d.values()) + v + len(d)


def names_bound_in_keys(x):
    k = 2
    d = {9: (k := k + 3), (k := k + 1): k * x[0], (k := k * 2): (v := x[1] * k), v > 0.0: v * v}
    return sum(v * each for each in d.values()) + k


@pytest.mark.parametrize("changed", [{}, {"specialise": False}], ids=str)
@pytest.mark.parametrize("function", [names_bound_in_a_display, names_bound_in_keys])
@pytest.mark.costly(2, first=1)
def test_keys_before_their_values(function, changed):
    """The front end evaluated all keys before all values: value and gradient were wrong."""
    test_changes_of_containers_and_fields(function, changed)


def joined_by_a_function(d, e):
    return operator.or_(d, e)["a"] ** 2


def test_arguments_that_a_function_of_the_operator_joins() -> None:
    """Silently zero where nothing was said of them: the function counts as constant."""
    d, e = {"a": 1.3, "c": 1.5}, {"b": 2.0}
    assert grad(joined_by_a_function)(d, e) == {"a": 2.6, "c": 0.0}
    with options(specialise=False):
        for derivative in (lambda: grad(joined_by_a_function)(d, e), lambda: jvp(joined_by_a_function, (d, e), (d, e))):
            with pytest.raises(UnsupportedSyntax, match="E0205"):
                derivative()
