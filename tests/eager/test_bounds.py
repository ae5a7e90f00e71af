"""Bounds and switches at their kinks, in reverse and forward mode; the numbers are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch

F, func = torch.nn.functional, torch.func
X = torch.tensor([0.0, 1.0, 2.0, -1.0, float("nan")])
T = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
ZERO, ONE = torch.tensor(0.0), torch.tensor(1.0)
SLOPES: dict[str, tuple[Any, list[float]]] = {
    "clamp": (lambda x: x.clamp(0, 1), [0, 0, 0, 0, 0]),
    "clip": (lambda x: torch.clip(x, 0, 1), [0, 0, 0, 0, 0]),
    "clamp from below": (lambda x: x.clamp(min=0), [0, 1, 1, 0, 0]),
    "clamp from above": (lambda x: x.clamp(max=1), [1, 0, 0, 1, 0]),
    "clamp_min": (lambda x: x.clamp_min(0), [0, 1, 1, 0, 0]),
    "clamp_max": (lambda x: x.clamp_max(1), [1, 0, 0, 1, 0]),
    "clamp in place": (lambda x: x.clone().clamp_(0, 2), [0, 1, 0, 0, 0]),
    "crossed bounds": (lambda x: x.clamp(1, 0), [0, 0, 0, 0, 0]),
    "clamp_min of tensors": (lambda x: x.clamp_min(ZERO), [1, 1, 1, 0, 0]),
    "clamp_max of tensors": (lambda x: x.clamp_max(ONE), [1, 1, 0, 1, 0]),
    "relu": (torch.relu, [0, 1, 1, 0, 1]),
    "relu6": (F.relu6, [0, 1, 1, 0, 1]),
    "hardtanh": (lambda x: F.hardtanh(x, 0, 1), [0, 0, 0, 0, 1]),
    "threshold": (lambda x: F.threshold(x, 0, 5.0), [0, 1, 1, 0, 1]),
    "elu": (F.elu, [1, 1, 1, 0.36787945, 1]),
    "hardsigmoid": (lambda x: F.hardsigmoid(6 * x - 3), [0, 0, 0, 0, 0]),
    "hardswish": (lambda x: F.hardswish(3 * x), [1.5, 3, 3, 0, 3]),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_at_bounds(name: str) -> None:
    f, slopes = SLOPES[name]
    x = X.clone().requires_grad_()
    f(x).sum().backward()
    assert x.grad.tolist() == pytest.approx(slopes)
    assert func.jvp(f, (X,), (T,))[1].tolist() == pytest.approx(
        [s * t for s, t in zip(slopes, T.tolist(), strict=True)]
    )
    batch = torch.stack([X, X])
    assert func.jvp(func.vmap(f), (batch,), (batch * 0 + 1,))[1][0].tolist()[:4] == pytest.approx(slopes[:4])
    assert func.jacfwd(f)(X[:4]).diag().tolist() == pytest.approx(slopes[:4])


def test_bounds_that_are_tensors_share_nothing_at_ties() -> None:
    x, low, high = (torch.tensor(v).requires_grad_() for v in ([0.0, 1.0, 2.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]))
    grads = torch.autograd.grad(torch.clamp(x, low, high).sum(), (x, low, high))
    assert [g.tolist() for g in grads] == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert [g.tolist() for g in torch.autograd.grad(torch.clamp_min(x, low).sum(), (x, low))] == [[1, 1, 1], [0, 0, 0]]


def test_bounds_that_are_tensors_hold_for_every_example() -> None:
    def f(z: Any) -> Any:
        return (torch.clamp(z, min=z[0], max=z[3]) ** 3).sum()

    z = torch.tensor([0.5, 2.0, 0.1, 1.0])
    batch = torch.stack([z, z + 1])
    assert func.vmap(f)(batch).tolist() == [2.25, 22.75]
    assert func.vmap(func.grad(f))(batch).tolist() == [[1.5, 0, 0, 6], [13.5, 0, 0, 24]]
    assert func.jvp(func.vmap(f), (batch,), (torch.ones(2, 4),))[1].tolist() == [7.5, 37.5]
