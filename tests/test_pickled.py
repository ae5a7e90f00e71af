"""Pullbacks pickle, and so do gradients that read variables of a function: another process gets the same numbers."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import ArgumentError, grad, vjp
from tests.test_pullbacks_kept import outside

SCALE = np.array([1.0, 2.0, 3.0])
X = np.array([0.5, 1.0, 2.0])


def energy(x):  # type: ignore[no-untyped-def]
    return np.sum(np.sin(x) ** 2 * SCALE)


def heated(x, n):  # type: ignore[no-untyped-def]
    u = x.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[0]
    return u


def parts(params):  # type: ignore[no-untyped-def]
    return {"s": params["w"] * params["b"], "t": [params["w"][0] ** 2]}


def branching(x):  # type: ignore[no-untyped-def]
    s = 0.0
    for v in x:
        s = s + v * v if v > 0.7 else s * v
    return s


def of_module(x):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(2):
        s += np.sum(outside.w * x[:2]) * i
    return s


def enclosed() -> Callable[..., Any]:
    table = np.array([3.0, 1.0, 2.0])
    return lambda x: np.sum(x * x * table)


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "energy": (energy, (X,), 1.0),
    "heated": (heated, (X, 3), np.array([1.0, -1.0, 2.0])),
    "parts": (parts, ({"w": X, "b": 2.0},), {"s": np.ones(3), "t": [2.0]}),
    "branching": (branching, (X,), 1.0),
    "enclosed": (enclosed(), (X,), 1.0),
    "gradient": (grad(energy), (X,), np.ones(3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_pullback_pickles(name: str) -> None:
    function, arguments, seed = CALLS[name]
    value, pullback = vjp(function, *arguments, argnums=(0,))
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(pullback))))
    for _ in range(2):  # it may be called again and again
        assert repr(again(seed)) == repr(pullback(seed))
    assert repr(again.value) == repr(value)
    assert repr(again) == repr(pullback)
    with pytest.raises(srcgrad.SeedError):
        again("no seed")


def test_another_process_without_the_compiler(tmp_path: Path) -> None:
    _, pullback = vjp(enclosed(), X)
    path = tmp_path / "pullback"
    path.write_bytes(pickle.dumps(pullback))
    program = (
        "import pickle, sys; p = pickle.load(open(sys.argv[1], 'rb')); print(p(1.0)[0].tolist());"
        "print([m for m in sys.modules if m.startswith(('srcgrad.infer', 'srcgrad.transform', 'tests'))])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.splitlines() == [str(pullback(1.0)[0].tolist()), "[]"]


def test_what_is_read_outside_is_as_it_was() -> None:
    _, pullback = vjp(energy, X)
    again = pickle.loads(pickle.dumps(pullback))
    before = pullback(1.0)[0]
    SCALE[0] = 5.0
    try:
        np.testing.assert_array_equal(again(1.0)[0], before)
    finally:
        SCALE[0] = 1.0


def test_a_module_that_may_change_is_not_pickled() -> None:
    _, pullback = vjp(of_module, X)
    with pytest.raises(ArgumentError, match=r"reads the module[\s\S]*call vjp again"):
        pickle.dumps(pullback)


def test_a_gradient_of_a_closure_pickles_with_what_it_reads() -> None:
    function = enclosed()
    again = pickle.loads(pickle.dumps(grad(function)))
    np.testing.assert_array_equal(again(X), grad(function)(X))


def test_objects_under_several_names_are_not_pickled_where_they_are_stored_into() -> None:
    from srcgrad.runtime.isolation import is_apart

    base = np.zeros(4)
    assert is_apart((base, base, np.zeros(2)), memory=True)
    assert is_apart((base, base[1:]), memory=False) and not is_apart((base, base[1:]), memory=True)
    assert not is_apart([base, id(base)], memory=False)
