"""Seeds, tangents and vectors: what is no number, or computes by methods of its own, is refused as arguments are."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from srcgrad import ArgumentError, SeedError, hvp, jvp, vjp


class Own(float):
    """A number with a product of its own."""

    def __mul__(self, other: Any) -> float:
        return 7.0


class Backwards(list):
    """A list that gives its items from the end."""

    def __iter__(self) -> Any:
        return reversed(range(len(self)))


def doubled(x: Any) -> Any:
    return x * 2.0


def energy(x: Any) -> Any:
    return np.sum(x**3)


X = np.array([1.0, 2.0])
ARRAYS = {
    "text": (np.array(["a", "b"]), "a ndarray of <U1, where numbers"),
    "durations": (np.array([1, 2], "m8[s]"), "a ndarray of timedelta64"),
    "dates": (np.array([1, 2], "M8[s]"), "a ndarray of datetime64"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), "MaskedArray, whose mask"),
    "objects": (np.array([None, 1.0], object), "a ndarray of object"),
    "fields": (np.zeros(2, [("a", float), ("b", float)]), "a structured array"),
    "list of None": ([None, 1.0], "a list of object"),
    "masked in a list": ([np.ma.array(1.0, mask=True), 1.0], r"\[0\] is a numpy.MaskedArray"),
    "rows of several lengths": ([[1.0], [1.0, 2.0]], "a list, where numbers"),
    "tuple": ((1.0, 2.0), "a tuple, where numbers"),
    "set": ({1.0, 2.0}, "a set, where numbers"),
    "function": (len, "a builtin_function_or_method, where numbers"),
    "bytes": (b"ab", "a bytes, where numbers"),
    "iterator": (iter([1.0, 2.0]), "an iterator"),
}
NUMBERS = {
    "own product": (Own(1.0), "whose __mul__ decides"),
    "set": ({1.0}, "a set, where numbers"),
    "function": (energy, "a function, where numbers"),
    "class": (float, "a type, where numbers"),
    "text": ("a", "a str, where numbers"),
    "duration": (np.timedelta64(1, "s"), "a timedelta64 of timedelta64"),
    "decimal": (Decimal(1), "a Decimal, where numbers"),
    "fraction": (Fraction(1), "a Fraction, where numbers"),
    "object": (SimpleNamespace(a=1.0), "a SimpleNamespace, where numbers"),
}


def calls(x: Any, seed: Any) -> list[Callable[[], Any]]:
    return [lambda: vjp(doubled, x)[1](seed), lambda: jvp(doubled, (x,), (seed,)), lambda: hvp(energy)(x, seed)]


@pytest.mark.parametrize("name", ARRAYS)
def test_seeds_of_arrays_that_are_no_numbers(name: str) -> None:
    seed, message = ARRAYS[name]
    for call in calls(X, seed):
        with pytest.raises(SeedError, match=message):
            call()


@pytest.mark.parametrize("name", NUMBERS)
def test_seeds_of_numbers_that_are_no_numbers(name: str) -> None:
    seed, message = NUMBERS[name]
    for call in calls(2.0, seed):
        with pytest.raises(SeedError, match=message):
            call()


def test_a_matrix_and_a_sparse_one_are_no_seeds() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.warns(PendingDeprecationWarning):
        seed = np.matrix([1.0, 2.0])
    for one, message in ((seed, "numpy.matrix, which multiplies"), (sparse.csr_array([[1.0, 2.0]]), "a csr_array of")):
        for call in calls(X, one):
            with pytest.raises(SeedError, match=message):
                call()


def test_the_place_of_a_refused_seed_in_a_container() -> None:
    def parts(p: Any) -> Any:
        return {"a": [p["a"][0] * 2.0]}

    p = {"a": [X]}
    with pytest.raises(SeedError, match=r"the seed of the value\['a'\]\[0\] is a numpy.MaskedArray"):
        vjp(parts, p)[1]({"a": [np.ma.array(X)]})
    with pytest.raises(SeedError, match=r"the seed of primal 0\['a'\] is a .*Backwards, whose class decides"):
        jvp(parts, (p,), ({"a": Backwards([X])},))
    with pytest.raises(SeedError, match=r"primal 0\['a'\]\[0\] has shape \(2,\), and its seed is a ndarray of <U1"):
        jvp(parts, (p,), ({"a": [np.array(["a", "b"])]},))


def test_lists_and_integers_are_seeds() -> None:
    for seed in ([1.0, 2.0], np.array([1, 2]), np.array([1.0, 2.0], np.float32)):
        np.testing.assert_array_equal(vjp(doubled, X)[1](seed)[0], [2.0, 4.0])
        np.testing.assert_array_equal(jvp(doubled, (X,), (seed,))[1], [2.0, 4.0])
    assert jvp(lambda p: p[0] * 2.0, ([1.0, np.sin, "a"],), ([3.0, None, None],))[1] == 6.0


@pytest.mark.parametrize("given", [np.ones((1, 2)), {0.5: 1.0}, "a", 1.0, {1.0}])
def test_primals_and_tangents_are_tuples_or_lists(given: Any) -> None:
    with pytest.raises(ArgumentError, match=r"the primals of jvp are a tuple or a list[\s\S]*jvp\(f, \(x,\), \(v,\)\)"):
        jvp(doubled, given, (1.0,))
    with pytest.raises(ArgumentError, match="the tangents of jvp are a tuple or a list"):
        jvp(doubled, [1.0], given)
    with pytest.raises(ArgumentError, match="a tuple of argnums needs a tuple of vectors"):
        hvp(energy, (0,))(1.0, given)
    assert jvp(doubled, [1.0], [2.0]) == (2.0, 4.0)
