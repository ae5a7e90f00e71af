"""Second derivatives of functions whose gradient is constant in the operand: zeros, with a graph, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch
from srcgrad.eager.func import grad, hessian, jacrev, vmap

F = torch.nn.functional
C = torch.tensor([0.3, 0.5, -0.6, 0.8, 0.25, -0.15])

ZERO: dict[str, Any] = {
    "relu": torch.relu,
    "relu in place": lambda x: x.clone().relu_(),
    "relu of a view in place": lambda x: (y := x.clone(), y[1:].relu_())[0],
    "relu6": F.relu6,
    "leaky relu": F.leaky_relu,
    "hardtanh": F.hardtanh,
    "threshold": lambda x: F.threshold(x, 0.1, 2.0),
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "rrelu": F.rrelu,
    "prelu": lambda x: F.prelu(x, torch.tensor([0.2])),
    "fmod": lambda x: torch.fmod(C, x),
    "remainder": lambda x: torch.remainder(C, x),
    "maxima of pools": lambda x: F.max_pool1d(x.view(1, 6), 2),
    "means of pools": lambda x: F.avg_pool2d(x.view(1, 2, 3), 2),
    "means of parts": lambda x: F.adaptive_avg_pool1d(x.view(1, 6), 2),
    "maxima of parts": lambda x: F.adaptive_max_pool3d(x.view(1, 1, 2, 3), 1),
    "reflected": lambda x: F.pad(x.view(1, 6), (1, 1), mode="reflect"),
    "replicated": lambda x: F.pad(x.view(1, 2, 3), (1, 1, 1, 1), mode="replicate"),
    "likelihood": lambda x: F.nll_loss(x.view(2, 3), torch.tensor([0, 2])),
}
NONE: dict[str, Any] = {
    "convolution": lambda x: F.conv1d(x.view(1, 1, 6), C[:2].view(1, 1, 2)),
    "normalized by kept statistics": lambda x: F.batch_norm(x.view(2, 3), torch.zeros(3), torch.ones(3)),
}
GONE: dict[str, Any] = {  # PyTorch has no graph here, either
    "clamp": lambda x: x.clamp(-0.3, 0.5),
    "maximum": lambda x: torch.maximum(x, C),
    "sum": torch.sum,
    "padded": lambda x: F.pad(x, (1, 1)),
    "linear": lambda x: F.linear(x, C[None]),
}


def slope(f: Any, seed: Any = None) -> tuple[Any, Any]:
    x = torch.tensor([0.7, -1.3, 0.4, -0.9, 0.2, 1.1], requires_grad=True)
    y = f(x)
    (g,) = torch.autograd.grad(y, x, torch.ones_like(y) if seed is None else seed(y), create_graph=True)
    return x, g


@pytest.mark.parametrize("name", ZERO)
def test_second_derivatives_are_zeros(name: str) -> None:
    for seed in (None, lambda y: torch.ones_like(y).requires_grad_()):
        x, g = slope(ZERO[name], seed)
        g.sum().backward()
        assert x.grad.tolist() == [0.0] * 6


@pytest.mark.parametrize("name", NONE)
def test_second_derivatives_that_send_nothing(name: str) -> None:
    x, g = slope(NONE[name])
    g.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("name", GONE)
def test_gradients_without_a_graph(name: str) -> None:
    with pytest.raises(RuntimeError, match="does not require grad"):
        slope(GONE[name])[1].sum().backward()


def test_gradients_are_named_as_in_pytorch() -> None:
    assert slope(torch.relu)[1].grad_fn.name() == "ThresholdBackwardBackward0"
    assert slope(F.leaky_relu)[1].grad_fn.name() == "LeakyReluBackwardBackward0"


def test_transforms_of_flat_gradients() -> None:
    """Zeros among other derivatives, in batches too."""
    x = torch.tensor([0.7, -1.3, 0.4])
    assert hessian(lambda a: (torch.relu(a) ** 2).sum())(x).tolist() == [[2, 0, 0], [0, 0, 0], [0, 0, 2]]
    assert vmap(grad(grad(torch.relu)))(x).tolist() == [0.0] * 3
    assert jacrev(jacrev(lambda a: vmap(torch.relu)(a).sum()))(x).tolist() == [[0.0] * 3] * 3
