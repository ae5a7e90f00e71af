"""A program over a batch gives what a loop over the examples gives: of the function, and of its gradients."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import ExampleByExample, UnsupportedSyntax, grad, vjp, vmap
from srcgrad.runtime.refusals import Refused
from tests.batching.programs import CASES, LOOPED, N


def example(value: Any, axis: Any, i: int) -> Any:
    """The argument of one example."""
    if axis is None:
        return copy.deepcopy(value)
    if isinstance(value, dict):
        return {k: example(v, axis[k] if isinstance(axis, dict) else axis, i) for k, v in value.items()}
    if isinstance(value, tuple):
        axes = axis if isinstance(axis, tuple) else (axis,) * len(value)
        return tuple(example(v, a, i) for v, a in zip(value, axes, strict=True))
    return np.moveaxis(value, axis, 0)[i].copy()


def examples(in_axes: Any, arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(arguments)
    return [tuple(example(v, a, i) for v, a in zip(arguments, axes, strict=True)) for i in range(N)]


def leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    return [value]


def assert_stacked(got: Any, wanted: list[Any], tolerance: float = 1e-12) -> None:
    columns = list(zip(*map(leaves, wanted), strict=True))
    found = leaves(got)
    assert len(found) == len(columns)
    for one, column in zip(found, columns, strict=True):
        if column[0] is None:
            assert one is None
            continue
        whole = np.stack(column)
        assert one.shape == whole.shape
        assert one.dtype == whole.dtype
        np.testing.assert_allclose(one, whole, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_batched(name: str) -> None:
    function, in_axes, arguments = CASES[name]
    before = copy.deepcopy(arguments)
    batched = vmap(function, in_axes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExampleByExample)
        got = batched(*arguments)
    assert batched.ran is not None
    assert_stacked(got, [function(*one) for one in examples(in_axes, arguments)])
    for one, other in zip(leaves(arguments), leaves(before), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", LOOPED)
def test_example_by_example(name: str) -> None:
    function, in_axes, arguments = LOOPED[name]
    batched = vmap(function, in_axes)
    with pytest.warns(ExampleByExample) as said:
        got = batched(*arguments)
    assert "programs.py:" in str(said[0].message)
    assert_stacked(got, [function(*one) for one in examples(in_axes, arguments)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExampleByExample)
        batched(*arguments)  # said once


def summed(function: Callable[..., Any]) -> Callable[..., Any]:
    """One number of all that a function returns."""

    def whole(*arguments: Any) -> Any:
        value = function(*arguments)
        return _total(value)

    whole.__name__ = function.__name__
    return whole


def _total(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return sum([_total(part) for part in value])
    if isinstance(value, dict):
        return sum([_total(part) for part in value.values()])
    return np.sum(np.sin(value) * value)


def floating(value: Any) -> bool:
    return all(getattr(leaf, "dtype", np.dtype(type(leaf))).kind == "f" for leaf in leaves(value))


def chosen(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(k for k, value in enumerate(arguments) if floating(value))


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_examples(name: str) -> None:
    function, in_axes, arguments = CASES[name]
    gradient = grad(summed(function), argnums=chosen(arguments))
    batched = vmap(gradient, in_axes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExampleByExample)
        got = batched(*arguments)
    assert_stacked(got, [gradient(*one) for one in examples(in_axes, arguments)], 1e-11)


@pytest.mark.parametrize("name", CASES)
def test_derivative_of_batch(name: str) -> None:
    function, in_axes, arguments = CASES[name]
    batched, picked = vmap(function, in_axes), chosen(arguments)
    if name in ("of_dict", "of_tuple"):  # no loop is written of dicts, nor where the axes of parts differ
        with pytest.raises((UnsupportedSyntax, Refused)):
            vjp(batched, *arguments, argnums=picked)
        return
    seed = _seeds(batched(*arguments))
    _, pullback = vjp(batched, *arguments, argnums=picked)
    got = pullback(seed)
    wanted = []
    for i, one in enumerate(examples(in_axes, arguments)):
        _, pull = vjp(function, *one, argnums=picked)
        wanted.append(pull(_row(seed, i)))
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(arguments)
    for k, place in enumerate(picked):
        _assert_collected(got[k], [one[k] for one in wanted], axes[place])


def _seeds(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_seeds, value))
    return np.cos(np.arange(np.size(value), dtype=float)).reshape(np.shape(value))


def _row(seed: Any, i: int) -> Any:
    return tuple(_row(part, i) for part in seed) if isinstance(seed, tuple) else seed[i]


def _assert_collected(got: Any, wanted: list[Any], axis: Any) -> None:
    if isinstance(got, tuple | list):
        axes = axis if isinstance(axis, tuple) else (axis,) * len(got)
        for k, part in enumerate(got):
            _assert_collected(part, [one[k] for one in wanted], axes[k])
    elif isinstance(got, dict):
        for key, part in got.items():
            _assert_collected(part, [one[key] for one in wanted], axis[key] if isinstance(axis, dict) else axis)
    else:
        whole = np.sum(wanted, axis=0) if axis is None else np.stack(wanted)
        np.testing.assert_allclose(got, whole, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_jacobian_in_one_sweep(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, in_axes, arguments = CASES[name]
    one = examples(in_axes, arguments)[0]
    argnums = chosen(one)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcgrad.CheaperMode)
        got = [srcgrad.jacobian(function, argnums)(*one), srcgrad.jacfwd(function, argnums)(*one)]
        monkeypatch.setattr("srcgrad.api.sweeps.Sweeps._compiled", lambda *a: None)
        wanted = srcgrad.jacobian(function, argnums)(*one)
    for found in got:
        for x, y in zip(leaves(found), leaves(wanted), strict=True):
            if y is not None:
                assert x.shape == y.shape and x.dtype == y.dtype
                np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11)
