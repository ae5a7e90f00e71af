"""What modules and classes hold is no function's own: what may store into it is refused, however it is reached."""

from __future__ import annotations

import types

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad, jvp, vjp

settings = types.ModuleType("settings")
settings.TABLE = np.ones(3)
settings.LOG = []


class Layer:
    table = np.ones(3)
    log = []
    sizes = (1, 2)

    def __init__(self, w):
        self.w = w

    def logs(self, v):
        self.log.append(v)
        return self.log[-1]

    def puts(self, v):
        self.table[0] = v
        return self.table


def by_a_method(x):
    return Layer(x).logs(x[0]) * x[1]


def an_array_by_a_method(x):
    return np.sum(Layer(x).puts(x[0]))


def by_a_name_of_it(x):
    table = Layer.table
    table[0] = x[0]
    return np.sum(Layer.table)


def a_list_of_a_class(x):
    Layer.log.append(x[0])
    return Layer.log[-1] * x[1]


def an_array_of_a_module(x):
    table = settings.TABLE
    table[0] = x[0]
    return np.sum(settings.TABLE)


def a_list_of_a_module(x):
    log = settings.LOG
    log.append(x[0])
    return settings.LOG[-1]


BY_METHODS = [by_a_method, an_array_by_a_method]
STORES = [*BY_METHODS, by_a_name_of_it, a_list_of_a_class, an_array_of_a_module, a_list_of_a_module]


@pytest.mark.parametrize("function", STORES)
def test_a_store_outside_is_refused_and_changes_nothing(function):
    x = np.array([0.5, 2.0])
    for run in (lambda: grad(function)(x), lambda: vjp(function, x), lambda: jvp(function, (x,), (x,))):
        with pytest.raises(UnsupportedSyntax, match="may store into") as error:
            run()
        assert error.value.span.known
    assert Layer.log == settings.LOG == []
    assert np.all(Layer.table == 1.0)
    assert np.all(settings.TABLE == 1.0)


def reads(x):
    layer = Layer(x * 2.0)
    layer.w[0] = x[1]
    return np.sum(layer.w) * len(layer.sizes) * np.sum(layer.table)


def test_what_a_class_holds_may_be_read_beside_stores():
    np.testing.assert_allclose(grad(reads)(np.array([0.5, 2.0])), [0.0, 18.0])
