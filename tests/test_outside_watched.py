"""What a program reads outside is gone through once; what has changed since is noticed by comparing places."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

from srcgrad import vjp
from srcgrad.api import outside
from srcgrad.api.outside import Outside
from srcgrad.runtime.reaching import all_names

TEXT = """
class Base:
    listed = [1.0]
    def method(self):
        return self.w

class Layer(Base):
    pass

layer = Layer()
layer.w = np.ones(3)
layer.held = {"a": [1.0, 2.0]}
items = [1.0, np.ones(2)]
table = {"x": items}

def inner(x, given=items, *, factor=2.0):
    return x * given[0] * factor

inner.told = [3.0]

def made():
    captured = [5.0]
    def function(x):
        import watched_module
        total = x * layer.w * layer.held["a"][0] * table["x"][0] * inner(x) * captured[0] * Layer.listed[0]
        return total * watched_module.k * watched_module.inner.w * layer.method() * not_there
    return function

forward = made()

def backward(saved, seed):
    return forward(saved) * seed
"""


def of_module(**held: Any) -> types.ModuleType:
    made = types.ModuleType("watched_module")
    vars(made).update(held)
    return made


def program(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    module = of_module(k=2.0, inner=of_module(w=np.ones(2)))
    monkeypatch.setitem(sys.modules, "watched_module", module)
    namespace: dict[str, Any] = {"np": np, "module": module, "__name__": "watched_program", "__srcgrad_bindings__": {}}
    exec(TEXT, namespace)
    return namespace


CHANGES = [
    "table = {'x': items}", "not_there = [2.0]", "items[0] = 7.0", "items.append(7.0)", "items[1][0] = 7.0",
    "layer.w[0] = 9.0", "layer.w = np.ones(3)", "layer.held['a'].append(1.0)", "layer.held['b'] = 1.0",
    "Base.listed = [1.0]", "Base.method = lambda self: self.w", "Layer.listed = [1.0]", "Layer.w = [1.0]",
    "Layer.__bases__ = (type('Other', (Base,), {'listed': [2.0]}),)",
    "inner.__defaults__ = ([2.0],)", "inner.__kwdefaults__['factor'] = [3.0]",
    "inner.__kwdefaults__ = {'factor': [3.0]}",
    "inner.told = [2.0]", "inner.more = [2.0]", "inner.__code__ = (lambda x, given=0.0, *, factor=0.0: table).__code__",
    "forward.__closure__[0].cell_contents[0] = 1.0", "forward.__closure__[0].cell_contents = [5.0]",
    "module.inner.w = np.ones(2)", "module.inner.w[0] = 4.0", "module.k = [4.0]", "del module.k",
    "import sys, types; sys.modules['watched_module'] = types.ModuleType('watched_module')",
]  # fmt: skip


@pytest.mark.parametrize("spelled", [outside._SPELLED, 0])
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_seen_by_comparing_places(change: str, spelled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken for unchanged of which a walk says that it has changed, by one expression or by a loop."""
    monkeypatch.setattr(outside, "_SPELLED", spelled)
    namespace = program(monkeypatch)
    names = (frozenset(all_names(namespace["backward"])),) * 2
    first = Outside(namespace["forward"], namespace["backward"], names)
    again = Outside(namespace["forward"], namespace["backward"], names)
    assert again._watched is first._watched, "gone through once"
    assert first.changed(()) is None
    exec(change, namespace)
    watched = first._watched
    is_same = watched.is_unchanged() and all(map(first._is_as_before, watched.all.arrays))
    assert not is_same
    told = [*watched.all.values_changed(first._is_as_before)]
    assert (first.changed(()) is not None) == bool(told)
    later = Outside(namespace["forward"], namespace["backward"], names)
    assert later.changed(()) is None


SCALES = {"w": np.array([1.0, 2.0]), "rate": 3.0}


def scaled(x: Any) -> Any:
    return np.sum(SCALES["w"] * x * x) * SCALES["rate"]


def test_pullbacks_of_one_program_are_told_apart() -> None:
    x = np.array([1.0, 2.0])
    _, first = vjp(scaled, x)
    _, second = vjp(scaled, x)
    np.testing.assert_array_equal(first(1.0)[0], [6.0, 24.0])
    SCALES["w"] = np.array([5.0, 2.0])
    _, third = vjp(scaled, x)
    np.testing.assert_array_equal(third(1.0)[0], [30.0, 24.0])
    SCALES["w"][0] = 1.0
    _, fourth = vjp(scaled, x)
    np.testing.assert_array_equal(fourth(1.0)[0], [6.0, 24.0])
    for pullback, expected in ((first, [6.0, 24.0]), (second, [6.0, 24.0]), (third, [30.0, 24.0])):
        try:
            np.testing.assert_array_equal(pullback(1.0)[0], expected)
        except ValueError as refusal:
            assert "has changed since" in str(refusal)
