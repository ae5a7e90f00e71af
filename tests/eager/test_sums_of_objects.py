"""``sum`` of objects of the user's, run eagerly: their own operators add them."""

import numpy as np
import pytest

from srcgrad.eager import plain


class Area:
    def __init__(self, side):
        self.side = side

    def __radd__(self, other):
        return self.side * self.side + other


def of_a_list(x):
    return sum([Area(x[0]), Area(x[1])], x[2])


def of_the_values_of_a_dict(x):
    return sum({"a": Area(x[0]), "b": Area(x[1])}.values(), x[2])


def of_a_map(x):
    return sum(map(Area, [x[0], x[1]]), x[2])


@pytest.mark.parametrize("program", [of_a_list, of_the_values_of_a_dict, of_a_map])
def test_each_object_has_its_derivative(program) -> None:
    """Once wrong in silence: what is no number was added without one."""
    x = np.array([0.7, 1.3, 0.4])
    _, pullback = plain.vjp(program, x, argnums=(0,))
    np.testing.assert_allclose(pullback(1.0)[0], [1.4, 2.6, 1.0], rtol=1e-12)
