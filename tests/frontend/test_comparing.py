"""Callees that hold results of callees are compared once, however many ways lead down to them."""

from srcgrad.frontend.known import Items, Result
from srcgrad.ir.normal_form import Callee


def f(x, y):
    return x


def g(x, y):
    return y


def deep(bottom: Callee, levels: int) -> Callee:
    """A callee that is given the result of the one below in two places: 2 ** levels ways lead down."""
    for _ in range(levels):
        below = Items(list, (Result(bottom), Result(bottom)))
        bottom = Callee(f, classes=((0, below), (1, below)))
    return bottom


def test_equal_trees_are_compared_in_time_that_grows_with_their_depth() -> None:
    assert deep(Callee(f), 60) == deep(Callee(f), 60)
    assert hash(deep(Callee(f), 60)) == hash(deep(Callee(f), 60))


def test_trees_that_differ_at_the_bottom_differ() -> None:
    assert deep(Callee(f), 60) != deep(Callee(g), 60)
    assert Callee(f) != f
