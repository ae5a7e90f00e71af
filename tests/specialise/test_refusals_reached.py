"""What is refused under a test is raised where it is reached: the other ways are right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedSyntax, grad, hvp, jvp
from srcgrad.runtime.refusals import RefusedMode


def in_a_branch(x):
    if x < 0.0:
        eval("x")
    return x * x


def behind_a_return(x):
    if x > 0.0:
        return x * x
    return eval("x")


def reaches_names(x):
    return eval("x")


def in_a_callee(x):
    if x < 0.0:
        return reaches_names(x)
    return x**3


def reads_bytes(x):
    for _ in range(2):
        y = np.ones(3).view(int)
    return y[0] * x


def in_a_callee_that_is_written_later(x):
    if x < 0.0:
        return reads_bytes(x)
    return x**3


def when_it_is_written(x):
    if x < 0.0:
        y = np.ones(3)
        return y.view(int)[0] * x
    return x**3


def twice_in_a_branch(x):
    if x < 0.0:
        y = np.ones(3).view(int)
        if x < -1.0:
            y = np.ones(3).byteswap()
        return y[0] * x
    if x < -2.0:
        return np.ones(3).view(int)[1] * x
    return np.sin(x)


def in_a_loop(x):
    total = 0.0
    for i in range(4):
        if i == 7:
            total = eval("total")
        total = total + x * i
    return total


def in_a_recursion(x, n=3):
    if n == 0:
        return x
    if n > 100:
        return reads_bytes(x)
    return x * in_a_recursion(x, n - 1)


class Kept:
    def __init__(self, x):
        self.x = x
        if x < 0.0:
            self.frame = sys._getframe()

    def square(self):
        return self.x * self.x


def in_a_constructor(x):
    return Kept(x).square()


def caught(x):
    try:
        if x < 0.0:
            eval("x")
        return x * x
    except Exception:
        return 7.0 * x


REACHED = [
    in_a_branch, behind_a_return, in_a_callee, in_a_callee_that_is_written_later, when_it_is_written, twice_in_a_branch,
]


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [*REACHED, in_a_loop, in_a_recursion, in_a_constructor, caught])
@pytest.mark.costly(2)
def test_the_other_ways_are_right(function: Callable[[float], float], specialise: bool) -> None:
    x, step = 0.7, 1e-6
    expected = (function(x + step) - function(x - step)) / (2.0 * step)
    second = (function(x + 1e-4) - 2.0 * function(x) + function(x - 1e-4)) / 1e-8
    with srcgrad.options(specialise=specialise):
        assert grad(function)(x) == pytest.approx(expected)
        assert jvp(function, (x,), (1.0,))[1] == pytest.approx(expected)
        assert hvp(function)(x, 1.0) == pytest.approx(second, abs=1e-5)


@pytest.mark.parametrize("function", [*REACHED, caught])
def test_it_is_raised_at_its_line_where_it_is_reached(function: Callable[[float], float]) -> None:
    with pytest.raises(RefusedMode) as error:
        grad(function)(-0.7)
    assert error.value.span.filename == __file__ and "^^^" in str(error.value)
    with pytest.raises(RefusedMode):
        jvp(function, (-0.7,), (1.0,))


def test_what_is_reached_in_every_run_is_refused_when_the_function_is_compiled() -> None:
    for function in (reaches_names, reads_bytes):
        with pytest.raises(UnsupportedSyntax) as error:
            grad(function)(0.7)
        assert error.value.span.known


def test_a_saved_program_raises_it(tmp_path) -> None:
    path = tmp_path / "saved.py"
    grad(in_a_branch).save(path)
    names: dict[str, object] = {}
    exec(path.read_text(), names)
    gradient = names["grad_in_a_branch"]
    assert gradient(0.7) == pytest.approx(1.4)  # type: ignore[operator]
    with pytest.raises(RefusedMode, match="eval"):
        gradient(-0.7)  # type: ignore[operator]


LIBRARY = None  # which is not installed


def by_a_library_that_is_not_there(x):
    if LIBRARY is not None and isinstance(x, LIBRARY.Tensor): x = x.numpy()
    if LIBRARY is not None:
        return LIBRARY.sum(x)
    return np.sum(x * x)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(1)
def test_branches_for_a_library_that_is_not_there(specialise: bool) -> None:
    """Its functions may be no methods of arrays, and what they are given no axes."""
    x = np.array([1.0, 2.0])
    with srcgrad.options(specialise=specialise):
        assert np.allclose(grad(by_a_library_that_is_not_there)(x), 2.0 * x)
        assert np.allclose(hvp(by_a_library_that_is_not_there)(x, x), 2.0 * x)
        assert np.allclose(jvp(by_a_library_that_is_not_there, (x,), (x,))[1], 2.0 * x @ x)


def sums(a, x):
    return a.sum(x)


def test_an_axis_that_varies_is_refused_in_both_directions() -> None:
    with srcgrad.options(specialise=False):
        with pytest.raises(UnsupportedSyntax, match="axis of sum varies"):
            grad(sums, argnums=1)(np.ones(2), 0.0)
        with pytest.raises(UnsupportedSyntax, match="axis of sum varies"):
            jvp(sums, (np.ones(2), 0.0), (np.ones(2), 1.0))


def multiplies_at_repeated_places(y):
    if y[0] > 9.0:
        return y
    np.multiply.at(y, [0, 0], 0.9)
    return None


class Storing:
    def __init__(self, y):
        self.y = y

    def __call__(self):
        multiplies_at_repeated_places(self.y)

    @property
    def read(self):
        return multiplies_at_repeated_places(self.y)

    def __enter__(self):
        multiplies_at_repeated_places(self.y)

    def __exit__(self, *raised):
        return False


def called(y):
    multiplies_at_repeated_places(y)


def called_as_an_object(y):
    Storing(y)()


def read_as_a_property(y):
    _ = Storing(y).read


def entered(y):
    with Storing(y):
        pass


def caught_around(y):
    try:
        multiplies_at_repeated_places(y)
    except Exception:
        y = y * 7.0


def asked_in_an_assertion(y):
    assert multiplies_at_repeated_places(y) is None


def key_of_a_sort(y):
    sorted([y], key=lambda v: (multiplies_at_repeated_places(v), 1.0)[1])


def applied_in_part(y):
    partial(multiplies_at_repeated_places, y)()


def mapped(y):
    list(map(multiplies_at_repeated_places, [y]))


NATIVELY = [
    called, called_as_an_object, read_as_a_property, entered, caught_around, asked_in_an_assertion, key_of_a_sort,
    applied_in_part, mapped,
]  # fmt: skip


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("store", NATIVELY)
@pytest.mark.costly(2, first=1)
def test_a_callee_that_ends_so_is_not_run_as_it_is(store: Callable[[np.ndarray], None], specialise: bool) -> None:
    """The user's own function was called where nothing of its result was needed, and what it stored was lost."""

    def total(x):
        y = x * 1.0
        store(y)
        return np.sum(y)

    x = np.array([1.0, 2.0])
    with srcgrad.options(specialise=specialise):
        with pytest.raises((RefusedMode, srcgrad.SrcgradError)):
            grad(total)(x)
        with pytest.raises((RefusedMode, srcgrad.SrcgradError)):
            jvp(total, (x,), (x,))
