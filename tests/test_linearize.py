"""``linearize``: the value, and what ``jvp`` gives along any direction, while f runs once."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from srcgrad import (
    ArgumentError,
    SeedError,
    SrcgradError,
    constant,
    grad,
    jvp,
    linearize,
    options,
    vmap,
)
from srcgrad.errors import LanguageError
from srcgrad.runtime.refusals import RefusedValue

calls: list[int] = []
weights = np.array([[1.0, -0.5], [0.25, 2.0]])


@dataclass
class Model:
    scale: float
    rows: Any


@constant
def noted(n: int) -> int:
    calls.append(n)
    return n


def counted(x: Any) -> Any:
    return np.sin(x) * x[0] * noted(2)


def looped(x: Any, y: Any) -> Any:
    z = np.sin(x) * y
    for _ in range(3):
        z = z + np.tanh(weights @ z) * x
    return z


def stored(x: Any, k: float = 2.0) -> Any:
    t = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        t[i] = x[i] * x[i - 1] * k
    x[0] = t[1]
    return t, np.sum(t * x)


def of_a_list_of_views(x: Any, y: Any) -> Any:
    w = [y, x]
    w.insert(1, y)
    w[1][1] = np.sin(x[0])
    return np.sum(x), y[:]


def made(x: Any) -> Any:
    t = np.ones(2)
    t[0] = x[1]
    t[0] *= x[0]
    return t


def of_a_callee(x: Any) -> Any:
    return made(x)


def of_dicts(d: Any, y: Any) -> Any:
    return {"a": d["p"] * y, "b": (d["q"] ** 2, 3)}


def complex_(z: Any) -> Any:
    return z * np.conj(z) * 1j + np.exp(z)


def branching(x: Any) -> Any:
    return np.array([np.sqrt(t) if t > 0.5 else t * t for t in x])


def of_model(m: Model) -> Any:
    return m.scale * m.rows


def product(x: float, *others: float) -> float:
    for one in others:
        x = x * one
    return x


x, y = np.array([0.3, 0.7]), np.array([1.5, -0.4])
CASES: list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = [
    (looped, (x, y), (y, x)),
    (stored, (x,), (y,)),
    (of_a_list_of_views, (x, y), (y, x)),
    (of_a_callee, (x,), (y,)),
    (of_dicts, ({"p": x, "q": 2.0}, y), ({"p": y, "q": 1.0}, None)),
    (of_dicts, ({"p": x, "q": 2.0}, y), ({"p": None, "q": 1.0}, x)),
    (complex_, (x + 1j * y,), (y - 1j * x,)),
    (branching, (x,), (y,)),
    (product, (2.0, 3.0, 4.0), (1.0, None, 2.0)),
    (np.cumsum, (x,), (y,)),
]


def same(got: Any, wanted: Any) -> None:
    assert type(got) is type(wanted) or np.shape(got) == np.shape(wanted) == ()
    if isinstance(wanted, tuple):
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, dict):
        assert got.keys() == wanted.keys()
        for key, one in wanted.items():
            same(got[key], one)
    elif wanted is None:
        assert got is None
    else:
        assert np.asarray(got).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("f", "primals", "tangents"), CASES)
@pytest.mark.parametrize("optimise", [True, False])
def test_what_jvp_gives(f: Any, primals: Any, tangents: Any, optimise: bool) -> None:
    with options(optimise=optimise):
        _same_as_jvp(f, primals, tangents)


def _same_as_jvp(f: Any, primals: Any, tangents: Any) -> None:
    value, along = linearize(f, *primals)
    for factor in (1.0, -2.0, 1.0):  # again, since what stores is taken back in a copy
        moved = tuple(_scaled(t, factor) for t in tangents)
        wanted_value, wanted = jvp(f, primals, moved)
        same(value, wanted_value)
        same(along(*moved), wanted)


def _scaled(tangent: Any, factor: float) -> Any:
    if isinstance(tangent, dict):
        return {key: _scaled(part, factor) for key, part in tangent.items()}
    return None if tangent is None else tangent * factor


def test_the_function_runs_once() -> None:
    calls.clear()
    _, along = linearize(counted, x)
    assert len(calls) == 1
    along(y)
    along(x)
    assert len(calls) == 1


def test_arguments_and_results_are_apart() -> None:
    point = x.copy()
    value, along = linearize(looped, point, y)
    before = along(y, x)
    point[:] = 9.0
    value[:] = 9.0
    same(along(y, x), before)


def test_sizes_that_are_equal_or_one() -> None:
    for n in (1, 2, 3, 1):
        a, b = np.arange(1.0, n + 1.0), np.ones(2)
        _, along = linearize(np.outer, a, b)
        same(along(b[:1] * np.ones(n), None), np.outer(np.ones(n), b))


def test_of_a_gradient_of_objects_and_of_a_batch() -> None:
    _, along = linearize(grad(lambda v: np.sum(v**3)), x)
    same(along(y), 6.0 * x * y)
    _, along = linearize(of_model, Model(2.0, x))
    same(along({"scale": 1.0, "rows": None}), x)
    _, along = linearize(vmap(lambda v: np.sum(v * v)), np.stack([x, y]))
    same(along(np.ones((2, 2))), 2.0 * np.array([np.sum(x), np.sum(y)]))


def test_chosen_arguments() -> None:
    _, along = linearize(looped, x, y, argnums=1)
    same(along(x), jvp(looped, (x, y), (None, x))[1])


@pytest.mark.parametrize(
    ("tangents", "kind", "message"),
    [
        ((x,), ArgumentError, "takes a tangent of each of x, y, not 1 tangents"),
        ((x, np.ones(3)), SeedError, r"argument y has shape \(2,\), the seed \(3,\)"),
        ((x, "a"), SeedError, "its seed is a str"),
        ((x, 1j * x), SeedError, "argument y is real, the seed complex"),
    ],
)
def test_tangents_that_do_not_fit(tangents: Any, kind: type[SrcgradError], message: str) -> None:
    with pytest.raises(kind, match=message):
        linearize(looped, x, y)[1](*tangents)


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentError, match="only floating-point numbers have a derivative"):
        linearize(looped, np.arange(2), y)
    with pytest.raises(LanguageError):
        linearize(lambda v: eval("v"), x)
    with pytest.raises(ArgumentError, match="is not pickled"):
        pickle.dumps(linearize(looped, x, y)[1])


def test_globals_that_have_changed() -> None:
    _, along = linearize(looped, x, y)
    kept = weights.copy()
    try:
        weights[0, 0] = 7.0
        with pytest.raises(RefusedValue, match="call linearize again"):
            along(y, x)
    finally:
        weights[:] = kept
