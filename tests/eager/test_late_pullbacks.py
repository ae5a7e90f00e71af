"""Pullbacks that run inside of transforms younger than what they go back through: their own derivatives are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch
from srcgrad.eager.func import grad, jacfwd, jacrev, jvp, vjp, vmap
from tests.eager.test_custom_tangents import Cube

I = torch.eye(2, dtype=torch.float64)
M = torch.tensor([[0.3, -0.6], [1.1, 0.4]], dtype=torch.float64)


def wave(s: Any, w: Any) -> Any:
    return torch.tanh(s * w).sum() * s.sin().sum()


def rows(w: Any) -> Any:
    return lambda a: vmap(lambda s: wave(s, w))(a)


def columns(w: Any) -> Any:
    return lambda a: vmap(lambda s: s**2 * w + s.prod() * M[0], 1, -1)(torch.stack([a, a * w]))


def pulled(x: Any, w: Any) -> Any:
    _, pull = vjp(rows(w), x)
    return vmap(lambda v: pull(v)[0])(I)


def pulled_along_a_tangent(x: Any, w: Any) -> Any:
    output, pull = vjp(rows(w), x)
    return jvp(lambda v: pull(v**2 + w)[0], (output,), (w,))[1]


def batched_seeds(x: Any, w: Any) -> Any:
    y = rows(w)(x)
    return torch.autograd.grad(y, x, I, is_grads_batched=True, create_graph=True)[0]


def within_a_batch(x: Any, w: Any) -> Any:
    """The outer batch is older than what the pullback goes through, the inner one younger."""
    return vmap(lambda u: jacrev(lambda a: vmap(lambda s: wave(s * u, w))(a))(x))(w)


LATE: dict[str, Any] = {
    "Jacobian of a batch": lambda x, w: jacrev(rows(w))(x),
    "of batches along other dimensions": lambda x, w: jacrev(columns(w))(x),
    "of a batch of batches": lambda x, w: jacrev(lambda a: vmap(lambda s: rows(w)(a * s))(a))(x),
    "of a batch of gradients": lambda x, w: jacrev(lambda a: vmap(grad(lambda s: wave(s, w)))(a))(x),
    "of a Jacobian": lambda x, w: jacrev(jacrev(lambda s: torch.tanh(M @ s * w)))(x),
    "of a Jacobian of a Jacobian": lambda x, w: jacrev(jacrev(jacrev(lambda s: wave(s, w))))(x),
    "of a Jacobian forwards": lambda x, w: jacrev(jacfwd(lambda s: torch.tanh(M @ s * w)))(x),
    "of a pushforward": lambda x, w: jacrev(lambda a: jvp(lambda s: torch.tanh(M @ s * w), (a,), (a * w,))[1])(x),
    "forwards of a Jacobian": lambda x, w: jacfwd(jacrev(rows(w)))(x),
    "of a function of one's own": lambda x, w: jacrev(lambda a: vmap(lambda s: (Cube.apply(s) * w).sum())(a))(x),
    "of its pushforward": lambda x, w: jacrev(lambda a: jvp(lambda s: Cube.apply(s) * w, (a,), (a,))[1])(x),
    "a pullback in a batch": pulled,
    "a pullback in a pushforward": pulled_along_a_tangent,
    "batched seeds": batched_seeds,
    "within an older batch": within_a_batch,
}


@pytest.mark.parametrize("name", LATE)
def test_derivatives_of_late_pullbacks(name: str) -> None:
    """By both arguments, against differences."""

    def loss(x: Any, w: Any) -> Any:
        made = LATE[name](x, w)
        return (made * torch.linspace(1, 2, made.numel(), dtype=torch.float64).reshape(made.shape)).sum()

    at = [np.array([0.7, 1.3]), np.array([0.8, -0.5])]
    x, w = (torch.tensor(a, requires_grad=True) for a in at)
    loss(x, w).backward()
    for argument, found in enumerate((x, w)):
        for i in range(2):
            sides = []
            for step in (1e-5, -1e-5):
                moved = [a.copy() for a in at]
                moved[argument][i] += step
                given = [torch.tensor(a, requires_grad=name == "batched seeds") for a in moved]
                sides.append(loss(*given).item())
            assert found.grad[i].item() == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-6, abs=1e-7)


def test_gradients_of_jacobians_of_batches_are_summed() -> None:
    """Of what all examples share, over both batches, as PyTorch."""
    x, w = torch.tensor([0.7, 1.3]), torch.tensor([2.0, 3.0], requires_grad=True)
    jacrev(lambda a: vmap(lambda s: (s**3 * w).sum())(a))(x).sum().backward()
    assert w.grad.tolist() == pytest.approx([6.54, 6.54])


def test_a_batch_that_has_ended_is_no_gradient() -> None:
    """A tensor that leaves a transform otherwise than as its result."""
    x, w = torch.tensor([0.7, 1.3]), torch.tensor([2.0, 3.0], requires_grad=True)
    kept: list[Any] = []

    def f(s: Any) -> Any:
        kept.append(s * w)
        return s

    vmap(f)(x)
    with pytest.raises(RuntimeError, match="still batched by a transform .* that has ended"):
        kept[0].sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="still batched by a transform .* that has ended"):
        torch.autograd.grad(kept[0].sum(), w)
    assert w.grad is None
