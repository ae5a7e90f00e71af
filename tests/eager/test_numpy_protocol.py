"""Tensors in NumPy's functions: those that carry a gradient are refused, never stripped of it; others come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch

REFUSED: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "add": lambda t: np.add(t, t),
    "add an array": lambda t: np.add(np.ones(2), t),
    "concatenate": lambda t: np.concatenate([t, t]),
    "stack": lambda t: np.stack([t, t]),
    "dot": lambda t: np.dot(t, t),
    "where": lambda t: np.where(np.ones(2, bool), t, t),
    "asarray": np.asarray,
    "array": np.array,
    "norm": np.linalg.norm,
    "reduce": np.add.reduce,
    "einsum": lambda t: np.einsum("i,i", t, t),
    "store": lambda t: np.zeros(2).__setitem__(slice(None), t),
    "copyto": lambda t: np.copyto(np.zeros(2), t),
    "out": lambda t: np.sin(t, out=np.zeros(2)),
    "isnan": np.isnan,
    "zeros_like": np.zeros_like,
    "interp": lambda t: np.interp(t, [0.0, 1.0], [0.0, 1.0]),
    "fft": np.fft.fft,
    "vectorize": lambda t: np.vectorize(lambda x: x)(t),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_tensor_that_requires_grad_is_refused(name: str) -> None:
    leaf = torch.ones(2, requires_grad=True)
    for tensor in (leaf, leaf * 2):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
            REFUSED[name](tensor)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.max, np.prod, np.std])
def test_reductions_that_numpy_leaves_to_the_method_are_refused_or_recorded(f: Callable[..., Any]) -> None:
    leaf = torch.ones(2, requires_grad=True)
    try:
        made = f(leaf)
    except (TypeError, RuntimeError):
        return
    assert made.requires_grad


@pytest.mark.parametrize("operate", ["s * t", "s + t", "s - t", "s / t", "s ** t", "t * s", "t - s"])
def test_numbers_of_numpy_are_numbers(operate: str) -> None:
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    made = eval(operate, {"s": np.float64(2), "t": t})
    assert made.requires_grad and made.dtype is torch.float32


def test_functions_of_plain_tensors_give_tensors() -> None:
    t = torch.tensor([1.0, 2.0])
    assert isinstance(np.sin(t), torch.Tensor) and torch.allclose(np.sin(t), torch.sin(t))
    assert np.add(t, np.ones(2)).dtype is torch.float64
    assert np.isnan(t).tolist() == [0, 0]
    assert isinstance(np.concatenate([t, t]), np.ndarray)


def test_without_a_gradient_nothing_is_refused() -> None:
    t = torch.ones(2, requires_grad=True)
    assert np.sin(t.detach()).shape == (2,)
    assert np.asarray(t.numpy(force=True)).tolist() == [1.0, 1.0]
