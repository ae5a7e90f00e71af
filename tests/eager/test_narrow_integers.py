"""Tensors of narrow integers beside floating ones: gradients are those beside the same numbers as floats."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad.eager as torch


@pytest.mark.parametrize("name", ["atan2", "hypot", "pow", "fmod", "true_divide", "xlogy", "logaddexp"])
@pytest.mark.parametrize("swapped", [False, True])
def test_gradients_beside_integers(name: str, swapped: bool) -> None:
    made = []
    for dtype in (torch.uint8, torch.float64):
        x = torch.tensor([0.2, 0.5, 0.7], dtype=torch.float64, requires_grad=True)
        n = torch.tensor([200, 30, 7], dtype=dtype)
        getattr(torch, name)(*((n, x) if swapped else (x, n))).sum().backward()
        assert x.grad is not None
        made.append(x.grad.numpy())
    np.testing.assert_allclose(*made, rtol=1e-12)
