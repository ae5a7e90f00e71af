"""Programs that are compiled from what is inferred of a call: what they read outside may change between two calls."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import Refused
from srcgrad.specialise import entry

SCALE: Any = 2.0
STEPS = [np.sin, np.exp]
TABLE = {"power": 2.0}
SETTINGS = types.SimpleNamespace(act=np.sin)


class Layer:
    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def of(self, x: Any) -> Any:
        return self.weight * x


class Square(Layer):
    def of(self, x: Any) -> Any:
        return self.weight * x * x


LAYER = Layer(3.0)


@pytest.fixture(autouse=True)
def inferred() -> Iterator[None]:
    yield


def scaled(x):
    return np.sum(x * SCALE)


def through_steps(x):
    for step in STEPS:
        x = step(x)
    return np.sum(x)


def set_up(x):
    return np.sum(SETTINGS.act(x))


def in_a_layer(x):
    return np.sum(LAYER.of(x))


def looked_up(x):
    return np.sum(x ** TABLE["power"])


X = np.array([0.5, 1.5])


def test_a_global_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(grad(scaled)(X), [2.0, 2.0])
    monkeypatch.setitem(globals(), "SCALE", np.array([3.0, 4.0]))
    np.testing.assert_allclose(grad(scaled)(X), [3.0, 4.0])
    monkeypatch.setitem(globals(), "SCALE", 5)
    np.testing.assert_allclose(grad(scaled)(X), [5.0, 5.0])


def test_another_function_in_a_list() -> None:
    np.testing.assert_allclose(grad(through_steps)(X), np.exp(np.sin(X)) * np.cos(X))
    STEPS[1] = np.cos
    np.testing.assert_allclose(grad(through_steps)(X), -np.sin(np.sin(X)) * np.cos(X))


def test_another_function_in_a_field(monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(grad(set_up)(X), np.cos(X))
    monkeypatch.setattr(SETTINGS, "act", np.exp)
    np.testing.assert_allclose(grad(set_up)(X), np.exp(X))


def test_an_object_of_another_class(monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(grad(in_a_layer)(X), [3.0, 3.0])
    monkeypatch.setitem(globals(), "LAYER", Square(3.0))
    np.testing.assert_allclose(grad(in_a_layer)(X), 6.0 * X)
    monkeypatch.setattr(Square, "of", Layer.of)
    np.testing.assert_allclose(grad(in_a_layer)(X), [3.0, 3.0])


def test_another_item_of_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(grad(looked_up)(X), 2.0 * X)
    monkeypatch.setitem(TABLE, "power", 3)
    np.testing.assert_allclose(grad(looked_up)(X), 3.0 * X**2)


def picks(x, name, layers):
    return layers[name].of(x)


def test_classes_among_the_arguments() -> None:
    layers = {"linear": Layer(2.0), "square": Square(2.0)}
    assert grad(picks)(3.0, "linear", layers) == 2.0
    assert grad(picks)(3.0, "square", layers) == 12.0
    assert grad(picks)(3.0, "linear", {"linear": Square(2.0), "square": Layer(1.0)}) == 12.0


def yields(x):
    for v in (x, x * 2.0):
        yield v


def over_a_generator(x):
    s = 0.0
    for v in yields(x):
        s += v * v
    return s


def test_an_analysis_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "MOST", 1)
    with pytest.raises(UnsupportedSyntax, match="takes too long to work out"):
        grad(over_a_generator)(2.0)


def grows(x):
    d = {"a": x}
    for k in d:
        d[k + "z"] = x * 2.0
    return d["a"]


def test_a_dict_that_changes_while_a_loop_runs_over_it() -> None:
    """The loop went on over the keys of before."""
    with pytest.raises(Refused, match="changed size during iteration"):
        grad(grows)(2.0)


def test_functions_that_ask_which_module_their_arrays_belong_to() -> None:
    stats = pytest.importorskip("scipy.stats")
    x = np.array([1.0, 2.0, 4.0])
    mean = np.exp(np.mean(np.log(x)))
    np.testing.assert_allclose(grad(stats.gmean.__wrapped__)(x), mean / (3.0 * x))
