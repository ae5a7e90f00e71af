"""Calls of NumPy and the standard library that run functions or tell what they are given: right, whether arguments are
known or not, and written from what is inferred."""

from __future__ import annotations

import functools
import importlib
import operator
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import fft, stats

import srcgrad
from srcgrad import SrcgradError, grad, options

X = np.array([0.5, 2.0, 3.0])
JOINS = {"rows": np.r_, "columns": np.c_}


@np.vectorize
def bent(v):
    return v * v if v > 1.0 else 3.0 * v


class Holder:
    def __init__(self, f, k=1.0):
        self.f, self.k = f, k

    def go(self, v):
        self.k = self.k * 2.0
        return self.f(v) * self.k


def product(a, b, c):
    return a * b + c * c


# --- np.vectorize ----------------------------------------------------------------------------------------------------
def vectorized_in_a_map(x):
    return sum(map(bent, x)) + [bent][0](x).sum()


def vectorized_by_partial_and_its_function(x):
    return np.sum(functools.partial(bent)(x)) + bent.pyfunc(x[0])


def vectorized_key(x):
    return max(x, key=bent) ** 2 + sorted(x, key=bent)[0]


def vectorized_that_stores(x):
    out = np.zeros(3)

    def put(v):
        out[0] += v * v
        return v

    return np.sum(np.vectorize(put)(x)) * out[0]


def vectorized_of_three(x):
    return np.sum(np.vectorize(lambda u, v, w: u * v + w)(x, x[0], x.reshape(3, 1)))


def vectorized_to_other_numbers(x):
    floors = np.vectorize(int, otypes=[int])(x + 0.2)
    return np.sum(np.vectorize(lambda v: v * 0.5, otypes="d")(x) * x) + np.sum(floors * x)


# --- places and elements ---------------------------------------------------------------------------------------------
def elements_that_are_stored_meanwhile(x):
    y, s = np.outer(x, x), 0.0
    for place, v in np.ndenumerate(y):
        y[2, 2] = v * 0.5 if place == (0, 1) else y[2, 2]
        s = s + v * v
    for i, j in np.ndindex(2, 3):
        s = s + y[i, j] * y[j, i]
    return s


def elements_by_place(x):
    y = x * 1.0
    y.flat[1] = x[2] * x[0]
    return np.sum(y * x) + sum(y.flat[:2].tolist()) * y[0]


def joined_with_ranges(x):
    n = len(x)
    joined = np.r_[x[::-1], 0:1:5j, 2:n] * np.r_[0:3.0, x, 1.0, 2.0, 3.0]
    return np.sum(joined) + np.sum(np.c_[x, x * x])


def joined_by_what_a_dict_holds(x):
    return np.sum(JOINS["rows"][x, x[0]] ** 2) + np.sum(JOINS["columns"][x, x * x])


def results_by_name(x):
    a = np.outer(x, x) + np.diag(x)
    found = np.linalg.eigh(a)
    u, s, _ = np.linalg.svd(a)
    return np.sum(found.eigenvalues**2) + s[0] * u.shape[0] + np.linalg.slogdet(a).logabsdet


# --- generator expressions, stars ------------------------------------------------------------------------------------
def unpacked_expression(x):
    a, b, c = (v * v for v in x)
    return a * b + c * functools.reduce(operator.mul, (v + 1.0 for v in x), 2.0)


def star_of_unknown_length(x):
    items = []
    for v in x:
        items.append(v * v)
    return product(*items) + product(*x[1:], c=x[0])


def entries_by_computed_keys(x):
    table = {2 * i: v * i for i, v in enumerate(x)}
    return table[2] * table[4] + sum(table.values())


# --- functions that objects hold -------------------------------------------------------------------------------------
def objects_that_hold_what_captures(x):
    y = x * 1.0
    h = Holder(lambda v: y * v)
    a = h.go(x)
    y[0] = x[1] * 2.0
    return np.sum(a * h.go(x * 3.0)) * h.k


class Rows:
    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self.values[j] for j in range(*index.indices(len(self)))]
        return self.values[index]


def places_of_a_slice(x):
    rows = Rows(x * x)
    return sum(rows[1:]) * rows[0] + sum(rows[::-2])


def drawn_from_distributions(x):
    np.random.seed(3)
    noise = np.random.poisson(3.0) + np.random.normal(x[1], 0.5)
    return stats.norm.logpdf(x[0], noise, 2.0) + np.sum(fft.dct(x, 2) ** 2)


def sized_by_a_dtype(x, dtype=np.float64):
    return np.sum(np.cumsum(x, dtype=dtype) ** 2)


def raised_from_another(x):
    s = x * 1.0
    try:
        s[0] = x[1] * x[2]
        s[7] = x[0]
    except IndexError as e:
        if len(s) > 5:
            raise ValueError("too long") from e
        s[1] = x[0] * 2.0
    return np.sum(s * x)


PROGRAMS = [
    places_of_a_slice, drawn_from_distributions, sized_by_a_dtype,
    vectorized_by_partial_and_its_function, vectorized_that_stores, vectorized_of_three,
    vectorized_to_other_numbers, elements_that_are_stored_meanwhile, joined_with_ranges, results_by_name,
    unpacked_expression, star_of_unknown_length, entries_by_computed_keys, objects_that_hold_what_captures,
    raised_from_another,
]  # fmt: skip


def numbers(f: Callable[..., Any]) -> list[float]:
    steps = 1e-6 * np.eye(3)
    return [float(f(X + step) - f(X - step)) / 2e-6 for step in steps]


@pytest.mark.parametrize("known", [True, False], ids=["known", "data"])
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.costly(3, first=1)
def test_it_is_right(f: Callable[..., Any], known: bool) -> None:
    with options(specialise=known):
        np.testing.assert_allclose(grad(f)(X.copy()), numbers(f), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", [vectorized_in_a_map, joined_by_what_a_dict_holds])
@pytest.mark.costly(1, first=1)
def test_it_is_right_with_data(f: Callable[..., Any]) -> None:
    """Where nothing was known of an array, its elements were taken for an array once, and the adjoint raised."""
    np.testing.assert_allclose(grad(f)(X), numbers(f), rtol=1e-5)
    with options(specialise=False):
        if f is joined_by_what_a_dict_holds:
            with pytest.raises(SrcgradError, match="what it is indexed by"):
                grad(f)(X)
        else:
            np.testing.assert_allclose(grad(f)(X), numbers(f), rtol=1e-5)


@pytest.mark.parametrize("f", [elements_by_place, vectorized_key])
def test_it_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(SrcgradError, match="through .flat|a call of"):
        grad(f)(X)


# --- what was silently wrong on the way ------------------------------------------------------------------------------
def joined_by_a_function(x):
    return np.sum(operator.getitem(np.r_, (x, x)) ** 2)


def an_index_that_changes_later(x):
    c = np.array(0)
    k = np.s_[c : c + 1]
    s = np.sum(x[k] ** 2)
    c += 1
    return s


@pytest.mark.parametrize("f", [joined_by_a_function, an_index_that_changes_later])
def test_it_is_refused(f: Callable[..., Any]) -> None:
    """What joins or keeps its index was taken for any object of a library, and the derivative was zero."""
    for known in (True, False):
        with options(specialise=known), pytest.raises(SrcgradError):
            grad(f)(X)


# --- globals of a program that is saved ------------------------------------------------------------------------------
MODULE = """
import numpy as np

SCALE, ROWS, MODE, NAMES = 2.0, np.array([1.0, 2.0, 3.0]), None, ("a",)
TABLE = {"a": 2.0, "b": 3.0}


def f(x):
    s = np.sum(x * ROWS) * SCALE
    if MODE is None:
        s = s * s
    for name in NAMES:
        s = s + TABLE[name] * x[0] ** 2
    return s if len(NAMES) < 2 else s * 3.0
"""


def test_a_saved_program_depends_on_no_kind_of_a_global(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their kinds were those at the time when it was saved: a global that was None stayed so."""
    (tmp_path / "with_globals.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    module: Any = importlib.import_module("with_globals")
    srcgrad.grad(module.f).save(tmp_path / "saved_with_globals.py")
    saved: Any = importlib.import_module("saved_with_globals")
    changes = [
        {"SCALE": np.array(3.0)}, {"ROWS": np.eye(3)}, {"MODE": 1}, {"NAMES": ("a", "b")},
        {"TABLE": {"a": np.float32(4.0), "b": 1.0}}, {"ROWS": [2.0, 1.0, 4.0], "SCALE": 1},
    ]  # fmt: skip
    for change in changes:
        with monkeypatch.context() as patch:
            for name, value in change.items():
                patch.setattr(module, name, value)
            importlib.reload(saved)
            np.testing.assert_allclose(saved.grad_f(X), numbers(module.f), rtol=1e-5)
    for name in ("with_globals", "saved_with_globals"):
        sys.modules.pop(name)


def one_of_two_distributions(x):
    chosen = stats.norm if x[0] > 0.1 else stats.gamma
    return chosen.logpdf(x[1], x[0], 2.0)


def several_distributions(x):
    return sum(d.pdf(x[1], x[0] * 0.1, 1.5) for d in (stats.norm, stats.expon))


@pytest.mark.parametrize("known", [True, False], ids=["known", "data"])
@pytest.mark.parametrize("f", [one_of_two_distributions, several_distributions])
def test_one_of_several_methods_of_a_library_is_refused(f: Callable[..., Any], known: bool) -> None:
    """Silently wrong: each look-up makes another object, so that none of them was the one that was asked for."""
    with options(specialise=known), pytest.raises(SrcgradError):
        grad(f)(X)


def one_of_two_outer_products(x):
    joined = np.add.outer if x[0] > 0.1 else np.multiply.outer
    return np.sum(joined(x, x) ** 2)


def outer_products_in_turn(x):
    s = 0.0
    for joined in (np.add.outer, np.multiply.outer):
        s = s + np.sum(joined(x, x) ** 2)
    return s


def outer_product_of_one_of_two(x):
    ufunc = np.multiply if x[0] > 1.0 else np.add
    return np.sum(ufunc.outer(x, x) ** 2)


@pytest.mark.parametrize("known", [True, False], ids=["known", "data"])
@pytest.mark.parametrize("f", [one_of_two_outer_products, outer_products_in_turn, outer_product_of_one_of_two])
def test_one_of_several_methods_of_ufuncs_is_the_one_that_is_called(f: Callable[..., Any], known: bool) -> None:
    """Each look-up makes another object: the last one was called, whatever the program chose (a wrong gradient)."""
    with options(specialise=known):
        np.testing.assert_allclose(grad(f)(X), numbers(f), rtol=1e-5)


def test_a_method_of_a_ufunc_is_one_function_however_often_it_is_looked_up() -> None:
    def sums(x):
        for k in range(2):
            x = np.minimum(x, np.add.outer(x[:, k], x[k, :]))
        return np.sum(x)

    kept = grad(sums)
    kept(np.add.outer(X, X * X))
    assert "t3 = np.add.outer(x[:, k], x[k, :])" in kept.source and "if " not in kept.source
