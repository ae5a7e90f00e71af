"""Counts, places, windows and second names of functions."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad.eager as torch


def test_counts_and_places() -> None:
    whole = torch.tensor([0, 1, 1, 3])
    assert torch.bincount(whole).tolist() == [1, 2, 0, 1]
    assert torch.bincount(whole, minlength=6).tolist() == [1, 2, 0, 1, 0, 0]
    assert torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist() == [0.0, 2.0, 1.0, 0.0]
    bounds = torch.tensor([1.0, 3.0, 5.0])
    assert torch.bucketize(torch.tensor([3.0, 6.0]), bounds).tolist() == [1, 3]
    assert torch.searchsorted(bounds, torch.tensor([3.0, 6.0]), right=True).tolist() == [2, 3]
    assert torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True)[1].tolist() == [2, 1, 1]
    assert torch.gcd(torch.tensor([12, 18]), torch.tensor(8)).tolist() == [4, 2]
    assert [t.tolist() for t in torch.unravel_index(torch.tensor([5]), (2, 3))] == [[1], [2]]


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett"])
def test_windows_are_periodic_unless_they_are_symmetric(name: str) -> None:
    window = getattr(torch, f"{name}_window")
    symmetric = window(6, periodic=False).numpy()
    assert np.allclose(symmetric, symmetric[::-1], atol=1e-6)
    assert np.allclose(window(5).numpy(), symmetric[:-1], atol=1e-6)


def test_functions_in_place_of_the_module_store_in_their_argument() -> None:
    x = torch.tensor([4.0, 9.0])
    assert torch.sqrt_(x) is x and x.tolist() == [2.0, 3.0]
    x.multiply_(2).subtract_(1).negative_()
    assert x.tolist() == [-3.0, -5.0]


def test_factors_are_unpacked() -> None:
    pytest.importorskip("scipy")
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    p, lower, upper = torch.lu_unpack(*torch.linalg.lu_factor(a))
    assert torch.allclose(p @ lower @ upper, a)


def test_sums_undo_broadcasting() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    assert x.sum_to_size(1, 3).tolist() == [[2.0, 2.0, 2.0]]
    assert x.sum_to_size(3).tolist() == [2.0, 2.0, 2.0]
