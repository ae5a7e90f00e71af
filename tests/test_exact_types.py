"""Values whose class decides what operators mean are refused by name at every door, in every mode; others pass."""

from __future__ import annotations

import io
import itertools
import operator
import types

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import SrcgradError
from srcgrad.programs import options
from srcgrad.runtime.refusals import Refused, RefusedMode


class Tripled(np.ndarray):
    def __mul__(self, other):
        return 3.0 * np.asarray(self) * np.asarray(other)

    __rmul__ = __mul__


class Remembers(np.ndarray):
    def __array_finalize__(self, other):
        self.seen = getattr(other, "seen", 0) + 1


class Plain(np.ndarray):
    pass


class Degrees(float):
    def __mul__(self, other):
        return 3.0 * float(self) * other

    __rmul__ = __mul__


class Doubling(list):
    def __getitem__(self, place):
        return 2.0 * list.__getitem__(self, place)


class Quantity:
    """A number with a unit, as libraries of units write it."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)

    def __mul__(self, other):
        return 3.0 * other

    __rmul__ = __mul__


X = np.array([1.0, 2.0])
STRUCTURED = np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)])
KINDS = {
    "masked": (np.ma.masked_array(X, [False, True]), "numpy.MaskedArray, whose mask"),
    "matrix": (np.asmatrix(np.eye(2)), "numpy.matrix, which multiplies"),
    "own operator": (X.view(Tripled), "Tripled, a class whose __r?mul__ decides"),
    "own state": (X.view(Remembers), "Remembers, a class whose __array_finalize__ decides"),
    "number": (Degrees(2.0), "Degrees, a class whose __r?mul__ decides"),
    "list": (Doubling([1.0, 2.0]), "Doubling, whose class decides by __getitem__"),
    "quantity": (Quantity(), "Quantity, a class whose __array__ decides"),
}
GLOBAL = X
MODULE = types.ModuleType("tests_of_exact_types")


class Box:
    def __init__(self, value):
        self.value = value


def product(x, m):
    return np.sum(x * m)


def through_global(m):
    global GLOBAL
    GLOBAL = m
    return lambda x: np.sum(x * GLOBAL), (X,)


def through_module(m):
    MODULE.M = m
    return lambda x: np.sum(x * MODULE.M), (X,)


def as_default(m):
    def f(x, m=m):
        return np.sum(x * m)

    return lambda x: f(x), (X,)


DOORS = {
    "argument": lambda m: (product, (X, m)),
    "closure": lambda m: (lambda x: np.sum(x * m), (X,)),
    "field": lambda m: (lambda x, o: np.sum(x * o.value), (X, Box(m))),
    "field of an object outside": lambda m: ((lambda box: lambda x: np.sum(x * box.value))(Box(m)), (X,)),
    "element": lambda m: (lambda x, items: np.sum(x * items[0]), (X, [m])),
    "entry": lambda m: (lambda x, d: np.sum(x * d["a"]), (X, {"a": m})),
    "element of a list outside": lambda m: ((lambda held: lambda x: np.sum(x * held[0]))([m]), (X,)),
    "default": as_default,
    "global": through_global,
    "attribute of a module": through_module,
}
MODES = {
    "reverse": lambda f, a: srcgrad.grad(f)(*a),
    "forward": lambda f, a: srcgrad.jvp(f, a, (np.ones(2), *[None] * (len(a) - 1))),
    "pullback": lambda f, a: srcgrad.vjp(f, *a, argnums=0),
    "second order": lambda f, a: srcgrad.hvp(f)(*a, np.ones(2)),
    "check": lambda f, a: srcgrad.check_grads(f, *a),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_refused_by_name(door, kind):
    value, message = KINDS[kind]
    f, arguments = DOORS[door](value)
    for mode in MODES.values() if kind in ("masked", "list") else (MODES["reverse"],):
        with pytest.raises((SrcgradError, Refused), match=message):
            mode(f, arguments)
    with options(specialise=False), pytest.raises((SrcgradError, Refused), match=message):
        srcgrad.grad(f)(*arguments)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "quantity"])
def test_no_derivative_with_respect_to_it(kind):
    value, message = KINDS[kind]
    with pytest.raises(SrcgradError, match=message):
        srcgrad.grad(lambda m: np.sum(m))(value)


@srcgrad.constant
def made(n):
    return np.ma.masked_array(np.ones(n), [True] * n)


@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: np.sum(np.ma.masked_array(x, [False, True]) ** 2), "MaskedArray makes an array of a class"),
        (lambda x: np.sum(np.ma.masked_array(np.ones(2), [False, True]) * x), "MaskedArray makes an array of a class"),
        (lambda x: np.sum(np.asmatrix(x) * 2.0), "asmatrix makes an array of a class"),
        (lambda x: np.sum(x * np.matrix([[1.0, 2.0]])), "matrix makes an array of a class"),
        (lambda x: np.sum(x.view(Tripled) * x), "the method 'view'"),
        (lambda x: np.sum(made(len(x)) * x), "numpy.MaskedArray, whose mask"),
        (lambda x: np.sum((2.0 * MASKED) * x), "numpy.MaskedArray, whose mask"),
    ],
)
def test_intermediate_results_are_refused(f, message):
    with pytest.raises((SrcgradError, Refused), match=message):
        srcgrad.grad(f)(X)


MASKED = np.ma.masked_array(X, [False, True])


def test_subclasses_without_behaviour_pass(tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=2)
    mapped[:] = X
    for value in (mapped, np.float64(2.0)):
        np.testing.assert_array_equal(srcgrad.grad(product)(X, value), np.broadcast_to(value, 2))
        np.testing.assert_array_equal(srcgrad.grad(product, 1)(X, value), X if np.ndim(value) else 3.0)


def a_sum_is_doubled(x, values):
    total = values.sum()
    other = total
    other *= x[0]
    return total + other


@pytest.mark.parametrize(("kind", "message"), [(Plain, "whose sums are arrays"), (np.recarray, "__getattribute__")])
@pytest.mark.parametrize("specialise", [True, False])
def test_subclasses_whose_sums_are_arrays_are_refused(kind, message, specialise):
    """In-place operations on a sum changed all that it was bound to, and the derivative was that of numbers."""
    with options(specialise=specialise), pytest.raises((SrcgradError, Refused), match=message):
        srcgrad.grad(a_sum_is_doubled)(X, X.view(kind))


@pytest.mark.parametrize("arguments", [(X, STRUCTURED), (STRUCTURED, X), (X, STRUCTURED.view(np.recarray))])
def test_structured_arrays_are_refused_with_their_place(arguments):
    with pytest.raises(SrcgradError, match="argument [xm] is a structured array with the fields a, b"):
        srcgrad.grad(product)(*arguments)


def test_a_saved_program_looks_at_its_arguments(tmp_path):
    srcgrad.grad(product).save(tmp_path / "saved.py")
    namespace: dict = {}
    exec((tmp_path / "saved.py").read_text(), namespace)
    np.testing.assert_array_equal(namespace["grad_product"](X, X), X)
    for value, message in KINDS.values():
        with pytest.raises(Refused, match=message):
            namespace["grad_product"](X, value)


class Asked:
    """What operators, iteration and truth are is for the class to say."""

    def __init__(self):
        self.asked = 0

    def __rmul__(self, other):
        return other * other

    def __bool__(self):
        self.asked += 1
        return self.asked % 2 == 0


def chosen(x, o):
    return x[0] * 2.0 if o else x[1]


def times(x, o):
    return np.sum(x * o)


@pytest.mark.parametrize("f", [chosen, times])
@pytest.mark.parametrize("inside", [lambda o: o, lambda o: [o], lambda o: {"a": (o,)}], ids=["itself", "list", "dict"])
def test_a_saved_program_refuses_objects(f, inside, tmp_path):
    """It was made without arguments, and took their methods for those of arrays: wrong in silence."""
    srcgrad.grad(f).save(tmp_path / "saved.py")
    namespace: dict = {}
    exec((tmp_path / "saved.py").read_text(), namespace)
    with pytest.raises(Refused, match="argument o.* is an object of class tests.Asked"):
        namespace[f"grad_{f.__name__}"](X, inside(Asked()))


def test_a_global_that_becomes_a_masked_array_is_refused():
    f, arguments = through_global(X)
    derivative = srcgrad.grad(f)
    np.testing.assert_array_equal(derivative(*arguments), X)
    through_global(MASKED)
    with pytest.raises(SrcgradError, match="numpy.MaskedArray, whose mask"):
        derivative(*arguments)


# --- iterators -------------------------------------------------------------------------------------------------------
ITERATORS = {
    "list_iterator": lambda: iter([0, 1]),
    "generator": lambda: (k for k in (0, 1)),
    "map": lambda: map(int, "01"),
    "chain": lambda: itertools.chain([0], [1]),
    "ndenumerate": lambda: np.ndenumerate(np.ones(2)),
}


def looped(x, it):
    total = 0.0
    for k in it:
        total = total * x[0] + x[k]
    return total


def beside(x, it):
    return sum(k * v for k, v in zip(it, x))


def asked(x, it):
    return x[0] ** 2 if 1 in it else x[1]


def unpacked(x, it):
    return x[0] * max(*it)


def of_field(x, o):
    if 1 in o.value:
        return x[0] ** 2
    return x[1]


@srcgrad.constant
def given_once(n):
    return iter(range(n))


def of_result(x):
    it = given_once(2)
    return x[0] ** 2 if 1 in it else x[1]


@pytest.mark.parametrize("kind", ITERATORS)
@pytest.mark.parametrize("f", [looped, beside, asked, unpacked])
def test_an_iterator_is_refused_where_it_is_passed(f, kind):
    make = ITERATORS[kind]
    for mode in (mode for name, mode in MODES.items() if name != "check"):
        for way in ({}, {"specialise": False}):
            with options(**way), pytest.raises(SrcgradError, match="argument it is an? .*, which gives its items once"):
                mode(f, (X, make()))


def in_global():
    through_global(iter([0, 1]))
    return lambda x: x[0] ** 2 if 1 in GLOBAL else x[1]


def in_module():
    MODULE.M = iter([0, 1])
    return lambda x: x[0] ** 2 if 1 in MODULE.M else x[1]


OUTSIDE = {
    "global": in_global,
    "attribute of a module": in_module,
    "closure": lambda: (lambda it: lambda x: x[0] ** 2 if 1 in it else x[1])(iter([0, 1])),
    "closure, looped over": lambda: (lambda it: lambda x: sum(x[k] for k in it))(iter([0, 1])),
    "field": lambda: (lambda o: lambda x: of_field(x, o))(Box(iter([0, 1]))),
    "element": lambda: (lambda items: lambda x: x[0] ** 2 if 1 in items[0] else x[1])([iter([0, 1])]),
}


@pytest.mark.parametrize("place", OUTSIDE)
def test_an_iterator_outside_is_refused_where_it_is_read(place):
    for way in ({}, {"specialise": False}):
        for mode in (mode for name, mode in MODES.items() if name != "check"):
            f = OUTSIDE[place]()
            with options(**way), pytest.raises((SrcgradError, Refused), match="an iterator, which gives its items"):
                mode(f, (X,))


def test_an_iterator_that_is_asked_once_is_no_more_asked_by_a_derivative():
    np.testing.assert_array_equal(srcgrad.grad(of_result)(X), [2.0 * X[0], 0.0])
    assert srcgrad.jvp(of_result, (X,), (X,)) == (X[0] ** 2, 2.0 * X[0] ** 2)


def test_what_has_places_and_files_pass():
    with io.StringIO("text") as file:
        np.testing.assert_array_equal(srcgrad.grad(lambda x, log: np.sum(x * x))(X, file), 2.0 * X)
    np.testing.assert_array_equal(srcgrad.grad(looped)(X, np.array([0, 1]).flat), [2.0, 1.0])
    np.testing.assert_array_equal(srcgrad.grad(looped)(X, {0: 1, 1: 2}), [2.0, 1.0])


# --- objects that compute with what they are indexed by --------------------------------------------------------------
JOIN, JOINS = np.r_, {"r": np.r_}


class Joiner:
    join = np.c_

    def __init__(self):
        self.own = np.r_


def under_a_local_name(x):
    join = np.r_
    return np.sum(join[x, x[0]] ** 2)


def in_a_field(x):
    return np.sum(Joiner().own[x, x] ** 2)


def in_a_global_dict(x):
    return np.sum(JOINS["r"][x, x] ** 2)


def one_of_two(x):
    return np.sum((np.r_ if x[0] > 0.0 else np.c_)[x, x] ** 2)


def by_a_function(x):
    return np.sum(operator.getitem(np.r_, (x, x)) ** 2)


def a_grid(x):
    return np.sum(np.mgrid[0 : x[0] : 3j] ** 2)


def a_grid_in_a_name(x):
    grid = np.ogrid
    return np.sum(grid[0 : x[0] : 3j] ** 2)


@pytest.mark.parametrize(
    "f",
    [under_a_local_name, in_a_field, one_of_two, by_a_function, a_grid, a_grid_in_a_name],
)
def test_objects_that_compute_with_an_index_are_refused_but_by_their_names(f):
    """All but the first were zero once, silently wrong."""
    for derivative in (lambda: srcgrad.grad(f)(X), lambda: srcgrad.jvp(f, (X,), (X,))):
        reason = r"(?s)(what it is indexed by|no derivative rule for np.mgrid).*\^"
        with pytest.raises((SrcgradError, RefusedMode), match=reason):
            derivative()


def under_a_global_name(x):
    return np.sum(JOIN[x, x[0]] ** 2) + np.sum(Joiner.join[x, x] ** 3)


def test_they_are_followed_under_global_names():
    np.testing.assert_allclose(srcgrad.grad(under_a_global_name)(X), 2 * X + [2 * X[0], 0] + 6 * X**2)
    np.testing.assert_allclose(srcgrad.grad(in_a_global_dict)(X), 4 * X)
