"""Deques as arguments and results: gradients, seeds, directions and Jacobians are deques as well."""

from collections import deque

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import SeedError
from srcgrad.runtime.refusals import Refused


def product(queue, k):
    queue.append(queue[0] * k)
    first = queue.popleft()
    queue.rotate(1)
    return first * queue[0] * queue[1]


def halves(queue):
    return deque([v * v for v in queue], queue.maxlen)


def values():
    return deque([2.0, 3.0], maxlen=4)


def test_a_gradient_is_a_deque():
    queue = values()
    gradient = srcgrad.grad(product)(queue, 5.0)
    assert gradient == deque([2 * 2.0 * 5.0 * 3.0, 2.0 * 2.0 * 5.0]) and gradient.maxlen == 4
    assert queue == values()


def test_directions_may_be_deques_or_lists():
    for direction in (deque([1.0, 0.0]), [1.0, 0.0], deque([1.0, None])):
        value, tangent = srcgrad.jvp(product, (values(), 5.0), (direction, 0.0))
        assert (value, tangent) == (60.0, 60.0)
    assert srcgrad.hvp(product)(values(), 5.0, deque([1.0, 0.0])) == deque([30.0, 20.0])


def test_a_pullback_takes_a_deque_and_runs_again():
    value, pullback = srcgrad.vjp(halves, values())
    assert value == deque([4.0, 9.0]) and value.maxlen == 4
    for seed in (deque([1.0, 2.0]), [1.0, 2.0]):
        assert pullback(seed) == (deque([4.0, 12.0]),)
    with pytest.raises(SeedError, match="the value is a deque of 2: the seed must be one too"):
        pullback(1.0)


def test_a_result_is_moved_by_a_deque():
    value, tangent = srcgrad.jvp(halves, (values(),), (deque([1.0, 1.0]),))
    assert (value, tangent) == (deque([4.0, 9.0]), deque([4.0, 6.0]))


def test_a_jacobian_has_the_places_of_a_deque():
    made = srcgrad.jacobian(lambda queue: np.array([queue[0] * queue[1], queue[1]]))(values())
    assert isinstance(made, deque)
    assert np.array_equal(made[0], [3.0, 0.0]) and np.array_equal(made[1], [2.0, 1.0])


def test_a_derivative_is_checked():
    srcgrad.check_grads(product, values(), 5.0)


def test_items_without_a_derivative_have_none():
    assert srcgrad.grad(lambda queue: queue[1] * queue[0])(deque([2, 3.0])) == deque([None, 2.0])


def test_integers_alone_are_refused():
    with pytest.raises(srcgrad.errors.ArgumentError, match=r"argument queue\[0\] is the integer 2"):
        srcgrad.grad(lambda queue: queue[0])(deque([2, 3]))


class Line:
    def __init__(self, k):
        self.k = k

    def at(self, x):
        return self.k * x


class Wave(Line):
    def at(self, x):
        return np.sin(self.k * x)


def second(queue, x):
    queue.popleft()
    return queue[0].at(x)


def last_first(queue, x):
    queue.rotate(1)
    return queue[0].at(x) * queue[1].at(x)


@pytest.mark.parametrize("function, slope", [(second, 3 * np.cos(6)), (last_first, 2 * np.sin(6) + 12 * np.cos(6))])
def test_objects_in_a_deque_are_those_at_their_new_places(function, slope):
    queue = deque([Line(2.0), Wave(3.0)])
    assert np.isclose(srcgrad.grad(function, argnums=1)(queue, 2.0), slope)
    assert np.isclose(srcgrad.jvp(lambda x: function(deque([Line(2.0), Wave(3.0)]), x), (2.0,), (1.0,))[1], slope)


def repeated(x):
    one = deque([x * x]) * 3
    return one[0] * one[2] + 2.0 * (2 * one)[5]


def joined(x):
    first = deque([x, x * x], 2)
    both = first + deque([3.0 * x])
    return both[0] * both[1] * len(both) + first[0]


def beside_an_array(x):
    return np.sum(np.array([2.0, 3.0]) * deque([x, x * x]))


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [repeated, joined, beside_an_array])
@pytest.mark.costly(2, first=1)
def test_deques_are_joined_and_repeated(function, specialise):
    """Gradients were sums over the items, or a bare ValueError."""
    x, step = 0.7, 1e-4
    slope = (function(x + step) - function(x - step)) / (2 * step)
    curvature = (function(x + step) - 2 * function(x) + function(x - step)) / step**2
    with srcgrad.options(specialise=specialise):
        assert np.isclose(srcgrad.grad(function)(x), slope)
        assert np.allclose(srcgrad.jvp(function, (x,), (1.0,)), (function(x), slope))
        assert np.isclose(srcgrad.hvp(function)(x, 1.0), curvature, rtol=1e-5)


def test_a_deque_that_is_repeated_where_its_kind_is_not_known_is_refused():
    for queue in (values(), deque([2.0])):
        twice = lambda queue, n: (queue * n)[0]
        assert srcgrad.grad(twice)(queue, 2)[0] == 1.0
        with srcgrad.options(specialise=False), pytest.raises(Refused, match="E0710"):
            srcgrad.grad(twice)(queue, 2)
