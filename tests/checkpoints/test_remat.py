"""Functions under ``remat``: the same derivatives as without it, nothing recorded, and clear refusals."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.checkpoints import again
from tests.checkpoints.test_loops import flat, peak
from tests.checkpoints.wrapping import module_of

TEXT = inspect.getsource(again)
NAMES = [n for n, f in vars(again).items() if inspect.isfunction(f) and [*inspect.signature(f).parameters] == ["x"]]
RUN_AGAIN = [n for n in NAMES if not n.startswith("refused")]
REFUSED = [n for n in NAMES if n.startswith("refused")]
X = np.array([0.7, 1.3, 0.4])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The programs, in which ``remat`` gives the function that it is given, and nothing more."""
    text = TEXT.replace("from srcgrad import remat", "remat = lambda function: function")
    return module_of(text, "remat_recorded", tmp_path_factory.mktemp("remat"))


@pytest.mark.parametrize("name", RUN_AGAIN)
def test_derivatives_are_those_of_what_is_recorded(recorded, name):
    mine, theirs = (getattr(module, name) for module in (again, recorded))
    made = srcgrad.value_and_grad(mine)
    assert np.allclose(*(flat(srcgrad.value_and_grad(f)(X)) for f in (mine, theirs)), rtol=1e-13, atol=1e-14)
    assert made.program((X,)).repeats


@pytest.mark.costly(2)
@pytest.mark.parametrize("name", ["with_more_arguments", "argument_stored_into_later", "methods", "in_a_loop"])
def test_in_every_mode(recorded, name):
    v = np.array([0.3, -0.2, 0.5])

    def each(f: Any) -> Any:
        value, pull = srcgrad.vjp(f, X)
        yield from (value, pull(1.0), pull(2.0))
        yield from srcgrad.jvp(f, (X,), (v,))
        yield srcgrad.hvp(f)(X, v)
        yield srcgrad.grad(lambda y: np.sum(srcgrad.grad(f)(y) ** 2))(X)
        for changed in ({"optimise": False}, {"specialise": False}, {"repeat": False}):
            with srcgrad.options(**changed):
                yield srcgrad.grad(f)(X)

    for mine, theirs in zip([*each(getattr(again, name))], [*each(getattr(recorded, name))], strict=True):
        assert np.allclose(mine, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_place_and_reason(recorded, name):
    srcgrad.grad(getattr(recorded, name))(X)
    with pytest.raises(srcgrad.UnsupportedSyntax) as caught:
        srcgrad.grad(getattr(again, name))(X)
    assert caught.value.code == name.split("_")[1]
    assert caught.value.span is not None and "^" in str(caught.value)


# --- what is outside, and changes between the two sweeps -------------------------------------------------------------
OUTSIDE = """
import numpy as np
from srcgrad import checkpointed, remat

K, ROWS, HELD = 3.0, np.array([1.0, 2.0, 3.0]), {"a": 2.0}

@remat
def scaled(u):
    return u * K * ROWS * HELD["a"]

def called(x):
    return np.sum(scaled(x) ** 2)

def looped(x):
    s = 1.0
    for i in checkpointed(range(4), snapshots=2, recorded=1):
        s = s * x[i % 3] * K * ROWS[i % 3] * HELD["a"]
    return s
"""


@pytest.mark.parametrize("name", ["called", "looped"])
@pytest.mark.parametrize("what", ["number", "array", "dict", "argument"])
def test_what_changes_between_the_sweeps_is_not_read(name, what, tmp_path: Path):
    module = module_of(OUTSIDE, f"outside_{name}_{what}", tmp_path)
    function, x = getattr(module, name), X.copy()
    expected = srcgrad.grad(function)(x)
    _, pull = srcgrad.vjp(function, x)
    match what:
        case "number":
            module.K = 5.0
        case "array":
            module.ROWS[1] = 7.0
        case "dict":
            module.HELD["a"] = 7.0
        case "argument":
            x[:] = 0.0
    if what in ("number", "argument"):  # of which the derivative has its own
        assert np.allclose(pull(1.0), expected)
        srcgrad.vjp(function, X)
    if what != "argument":
        with pytest.raises(ValueError, match="has changed since the value was computed"):
            pull(1.0)


# --- memory ----------------------------------------------------------------------------------------------------------
def test_nothing_of_a_call_is_recorded(tmp_path: Path):
    text = """
import numpy as np
from srcgrad import remat

@remat
def layer(h):
    for _ in range(20):
        h = np.sin(h) * 1.1
    return h

def deep(h):
    for _ in range(20):
        h = layer(h)
    return np.sum(h)
"""
    kept = module_of(text, "deep_kept", tmp_path)
    all_recorded = module_of(text.replace("@remat", ""), "deep_recorded", tmp_path)
    few, all_ = (peak(srcgrad.grad(m.deep), np.ones(1000)) for m in (kept, all_recorded))
    # A state for each call and the record of one, of 20 numbers each, where all 400 were recorded.
    assert few < 0.15 * all_
    assert few < 8000 * (20 + 2 * 20 + 10)
