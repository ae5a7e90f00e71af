"""Python lists that a program hands to NumPy: their gradient is a list, or it is refused; never a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, options, programs
from srcgrad.eager import plain
from srcgrad.runtime.refusals import Refused
from tests.parameters import share_by_day


def reduced(x):
    return np.sum(np.sin(x)) + np.prod(x)


def element_beside_array(x):
    return np.max(x) + x[1] ** 2


def read_in_a_loop(x):
    s = 0.0
    for v in x:
        s = s + v * np.sum(x)
    return s


def as_array_and_as_it_is(x):
    return np.sum(np.exp(np.array(x))) + np.linalg.norm(x) + sum(x)


def sum_of_rows(x):
    return np.sum(np.cumsum(x, axis=1)) * x[0][1]


def norm_of_what_a_loop_collected(x):
    y = [v * v for v in x]
    return np.linalg.norm(y) + 2.0 * sum(y)


def differences(function: Callable[..., Any], x: list[Any]) -> Any:
    given, step = np.array(x), 1e-6
    slopes = np.zeros(given.shape)
    for i in np.ndindex(given.shape):
        h = np.zeros(given.shape)
        h[i] = step
        slopes[i] = (function((given + h).tolist()) - function((given - h).tolist())) / (2.0 * step)
    return slopes


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (reduced, [1.0, 2.0, 5.0]),
        (element_beside_array, [1.0, 2.0, 5.0]),
        (read_in_a_loop, [1.0, 2.0, 5.0]),
        (as_array_and_as_it_is, [0.5, 2.0]),
        (sum_of_rows, [[1.0, 2.0], [3.0, 4.0]]),
        (norm_of_what_a_loop_collected, [0.4, 0.7]),
    ],
)
def test_the_gradient_of_a_list_is_a_list(function: Callable[..., Any], x: list[Any]) -> None:
    found = grad(function)(x)
    assert type(found) is list
    assert np.array(found).dtype == np.float64
    np.testing.assert_allclose(found, differences(function, x), rtol=1e-6)


def repeated(x):
    return np.sum(x * 3)


def test_arithmetic_that_means_another_thing_for_lists_means_it() -> None:
    """``[v] * 3`` is three elements, not one three times as large."""
    assert grad(repeated)([2.0, 1.0]) == [3.0, 3.0]


def by_lists(x):
    z = x * [x[1], 2.0]
    w = z + [1.0, x[0]]
    d = (x[0], x[1])
    return np.sum((z - d) * w)


def test_an_array_makes_arrays_of_the_lists_that_it_is_combined_with():
    """Without the array's kind this is a repeated list as well: then the program looks, and refuses."""
    x = np.array([0.3, -0.4])

    def as_arrays(x):
        z = x * np.array([x[1], 2.0])
        return np.sum((z - x) * (z + np.array([1.0, x[0]])))

    np.testing.assert_allclose(grad(by_lists)(x), grad(as_arrays)(x))
    np.testing.assert_allclose(jvp(by_lists, (x,), (x,)), jvp(as_arrays, (x,), (x,)))
    with programs.options(specialise=False), pytest.raises(TypeError, match="integer"):
        grad(by_lists)(x)


def by_displays(x):
    z = (x - [x[1], 2.0]) @ [[1.0, 3.0], [x[0], 0.5]]
    z /= (2.0, x[1])
    return np.sum((z - (x[0], 0.1)) ** [2, 3])


def test_displays_are_operands_of_arrays():
    x = np.array([0.3, -0.4])
    step = 1e-6 * np.eye(2)
    expected = [(by_displays(x + h) - by_displays(x - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(grad(by_displays)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(by_displays, (x,), (x,))[1], np.dot(expected, x), rtol=1e-6)


def test_exponents_in_a_list_whose_kind_is_not_known():
    x = np.array([0.3, -0.4])
    exponents = [2, 3]
    with programs.options(specialise=False):
        np.testing.assert_allclose(grad(lambda x: np.sum(x**exponents))(x), [0.6, 0.48])


# --- functions of NumPy whose formulas would join or repeat lists -----------------------------------------------------
def collected(x):
    """A list that a loop made, in functions whose formulas are written with operators."""
    a, b = [], []
    for v in x:
        a.append(v * v)
        b.append(1.5 * v)
    s = np.mean(np.add(a, b)) * np.mean(np.multiply(b, 2)) + np.mean(np.square(a))
    return s + np.max(np.maximum(a, 0.2)) * np.dot(a, b) + np.linalg.norm(np.log1p(b)) + np.var(np.arctan2(a, b))


def of_unknown_kind(x):
    """Items of a dict whose keys the run finds: nothing says that they are lists."""
    rows = {}
    for k in range(2):
        rows[k % 2] = [x[0] * (k + 1), x[1], x[2]]
    s = np.mean(np.add(rows[0], rows[1])) * np.mean(np.multiply(rows[1], 3)) + np.mean(np.fmod(rows[0], 0.4) * 2)
    return s + np.mean(np.positive(rows[0]) * 2) * np.mean(np.subtract(rows[1], 0.5) * 2)


def of_unknown_kind_in_any_formula(x):
    """The kinds that are known come from the call: without them the adjoint is refused when it runs."""
    rows = {}
    for k, v in enumerate(x):
        rows.setdefault(k % 2, []).append(v)
    return np.sum(np.maximum(rows[0], 0.4) ** 2) + np.square(rows[1]).sum() + np.dot(rows[0], np.log(rows[0]))


def chosen(x, k):
    """A list, an array or a tuple: only the run tells which."""
    if k == 0:
        return [x[0], x[1]]
    return x[:2] if k == 1 else (x[1], x[2])


def of_several_kinds(x):
    s = 0.0
    for k in range(3):
        r = chosen(x, k)
        s = s + np.mean(np.add(r, r)) * np.max(r) + np.mean(np.positive(r) * 2) + np.linalg.norm(r)
    return s


def quick(v):
    if len(v) <= 1:
        return v
    low, high = [e for e in v[1:] if e < v[0]], [e for e in v[1:] if e >= v[0]]
    return quick(low) + [v[0]] + quick(high)


def sorted_by_hand(x):
    """What a recursion returns is not known: joined with a list on one side, twice."""
    return sum(k * e for k, e in enumerate(quick([v * v for v in x])))


FORMULAS = [collected, of_unknown_kind, of_unknown_kind_in_any_formula, of_several_kinds, sorted_by_hand]


@pytest.mark.parametrize(
    ("function", "specialise", "second"),
    [
        *((function, specialise, False) for function in FORMULAS for specialise in (True, False)),
        *share_by_day(((function, specialise, True) for function in FORMULAS for specialise in (True, False)), 7),
    ],
)
@pytest.mark.costly(2)
def test_numpy_computes_with_a_list_as_with_an_array(
    function: Callable[..., Any], specialise: bool, second: bool
) -> None:
    x, d, step = np.array([0.5, 0.9, 0.3]), np.array([0.3, -0.2, 0.7]), 1e-6
    slopes = np.array([(function(x + h) - function(x - h)) / (2.0 * step) for h in step * np.eye(3)])
    with programs.options(specialise=specialise):
        gradient = grad(function)
        np.testing.assert_allclose(gradient(x), slopes, rtol=1e-7)
        np.testing.assert_allclose(jvp(function, (x,), (d,))[1], slopes @ d, rtol=1e-7)
        if not second:
            return
        change = (gradient(x + step * d) - gradient(x - step * d)) / (2.0 * step)
        np.testing.assert_allclose(hvp(function)(x, d), change, rtol=1e-6)


def repeating(a, b):
    return np.mean(np.add(a, b)) + np.mean(np.multiply(a, 2)) * b[0]


@pytest.mark.parametrize("specialise", [True, False])
def test_the_tangent_of_a_list_is_neither_joined_nor_repeated(specialise: bool) -> None:
    a, b, da, db = [1.0, 2.0, 3.0], [2.0, 5.0, 7.0], [0.3, 0.5, -0.2], [0.7, 0.1, 0.9]
    with programs.options(specialise=specialise):
        assert np.isclose(jvp(repeating, (a, b), (da, db))[1], 2.3 / 3 + 0.4 * 2.0 + 4.0 * 0.7)
        for found, expected in zip(grad(repeating, argnums=(0, 1))(a, b), ([5 / 3] * 3, [13 / 3, 1 / 3, 1 / 3])):
            np.testing.assert_allclose(found, expected)


def by_whole_numbers(x):
    return np.power(x, 3)[0] + np.ldexp(x, 2)[-1]


@pytest.mark.parametrize("x", [[0.7], [0.7, 0.3]])
@pytest.mark.parametrize("specialise", [True, False])
def test_the_tangent_of_a_list_is_multiplied_by_whole_numbers(specialise: bool, x: list[float]) -> None:
    with programs.options(specialise=specialise):
        _, tangent = jvp(by_whole_numbers, (x,), ([1.0] * len(x),))
    assert tangent == pytest.approx(3.0 * 0.7**2 + 4.0)


def test_a_list_of_constants_is_an_array_in_a_formula() -> None:
    def powers(x):
        return np.sum(np.power(x, [1, 2, 3]))

    np.testing.assert_allclose(grad(powers)(np.array([1.0, 2.0, 3.0])), [1.0, 4.0, 27.0])


def sum_of_arrays(x):
    return np.sum([x * 2.0, x * x])


def mean_of_arrays_along_the_first_axis(x):
    return np.mean([x * x[0], x * x], axis=0)[1]


def product_of_three_numbers(x):
    return np.prod([x[0] * 2.0, x[1] * x[2], x[2]])


def inner_product_with_a_list(x):
    return np.dot([x[0] * 3.0, x[1]], np.array([1.0, 2.0]))


def chosen_from_lists(x):
    return np.where(x[:2] > 1.5, [x[0] * 3.0, x[1]], [x[2], x[1]])[0]


@pytest.mark.parametrize(
    "function",
    [
        sum_of_arrays,
        mean_of_arrays_along_the_first_axis,
        product_of_three_numbers,
        inner_product_with_a_list,
        chosen_from_lists,
    ],
)
def test_the_eager_machine_gives_each_item_its_part(function: Callable[..., Any]) -> None:
    """Once zero in silence: the partial by a list of arrays, an array itself, was taken for that by its first item."""
    x = np.array([1.0, 2.0, 3.0])
    value, pullback = plain.vjp(function, x, argnums=(0,))
    assert value == function(x)
    assert np.allclose(pullback(1.0)[0], differences(lambda v: function(np.array(v)), x.tolist()), rtol=1e-6)
    assert np.allclose(pullback(1.0)[0], grad(function)(x), rtol=1e-12)


def made_deep(x, n):
    return [x[0], x[1] * x[0]] if n == 0 else made_deep(x, n - 1)


def repeated_in_a_loop(x):
    """What a recursion returns is of unknown kind: ``* 2`` may be arithmetic, and its adjoint was a list repeated."""
    return sum(w * v * v for w, v in zip([1.0, 2.0, 3.0, 4.0], made_deep(x, 2) * 2))


def repeated_and_made_an_array(x):
    return np.sum(np.array(made_deep(x, 2) * len(x)) * np.array([1.0, 2.0, 3.0, 4.0]))


def joined_to_itself(x):
    r = made_deep(x, 2)
    f = r + r
    return f[0] * f[3] + 3.0 * f[2]


@pytest.mark.parametrize("function", [repeated_in_a_loop, repeated_and_made_an_array, joined_to_itself])
def test_the_adjoint_of_what_may_be_a_longer_list_looks(function: Callable[..., Any]) -> None:
    x, d, step = np.array([0.5, 0.9]), np.array([0.3, -0.2]), 1e-6
    slope = (function(x + step * d) - function(x - step * d)) / (2.0 * step)
    assert np.isclose(jvp(function, (x,), (d,))[1], slope)
    assert np.isclose(grad(function)(x) @ d, slope)


def returned_sum(a, b):
    return np.add(a, b)


def array_of_a_callee_times_list(x):
    items = list(x)
    return np.sum(returned_sum(items, items) * items)


def test_an_array_times_a_list_is_no_repetition() -> None:
    x = np.array([0.5, 0.9])
    with pytest.raises(TypeError, match="a list or tuple is multiplied by an array"):
        grad(array_of_a_callee_times_list)(x)
    with pytest.raises(TypeError, match="a list or tuple is multiplied by an array"):
        jvp(array_of_a_callee_times_list, (x,), (x,))


class Kept:
    def __init__(self, items):
        self.items = items


def less_a_list_in_a_field(a):
    kept = Kept([a, 2.0])
    items = kept.items
    items[-1] *= a
    return np.sum((np.ones(2) - items) ** 2 + np.ones(2) / items)


def less_a_list(a):
    items = [0.0, 3.0]
    items[0] += a
    return np.sum((np.float64(a) - items) ** 2)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("derivative", [grad, lambda f: lambda x: jvp(f, (x,), (x,))])
def test_an_array_of_rank_zero_times_a_list_is_no_repetition(specialise: bool, derivative: Any) -> None:
    """NumPy's product; the gradient lacked the factor."""

    def factor(x):
        return np.array(3) * [x[0], x[1]]

    def repeated(x):
        return ([x[0]] * np.int64(3))[2] * x[1]

    with options(specialise=specialise):
        with pytest.raises(Refused, match="multiplied by an array, not by an integer"):
            derivative(lambda x: np.sum(factor(x)))(np.array([2.0, 5.0]))
        derivative(repeated)(np.array([2.0, 5.0]))


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [less_a_list_in_a_field, less_a_list], ids=lambda f: f.__name__)
def test_what_a_list_is_taken_from(function, specialise):
    """Once a TypeError of the tangent: a list has no negative."""
    with options(specialise=specialise):
        found = jvp(function, (0.7,), (1.0,))[1]
    np.testing.assert_allclose(found, (function(0.7 + 1e-6) - function(0.7 - 1e-6)) / 2e-6, rtol=1e-7)
