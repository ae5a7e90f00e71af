"""Neural functions and modules: values, derivatives of both orders, names, printing and errors as PyTorch has them."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch
from srcgrad.eager import nn
from srcgrad.eager.nn import functional as F
from tests.eager.recording import recorded, run

PROGRAMS = recorded("nn")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_prints_what_pytorch_printed(name: str) -> None:
    entry = PROGRAMS[name]
    out, error = run(entry["program"])
    assert error == entry["error"]
    assert out == entry["out"]


def trained(steps: int) -> list[float]:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([0, 1, 1, 0])
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_network_learns_what_no_line_separates() -> None:
    losses = trained(300)
    assert losses[-1] < 0.1 < losses[0]


def test_training_leaves_nothing_for_the_collector() -> None:
    trained(3)
    gc.collect()
    gc.disable()
    try:
        trained(20)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_gradient_is_no_other_tensors_memory() -> None:
    layer = nn.Linear(3, 2)
    x = torch.ones(4, 3, requires_grad=True)
    layer(x).sum().backward()
    arrays = [layer.weight.grad.array, layer.bias.grad.array, x.grad.array, layer.weight.array, x.array]
    for i, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[i + 1 :])


def test_modules_are_copied_and_pickled() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    twin = copy.deepcopy(net)
    again = pickle.loads(pickle.dumps(net.state_dict()))
    assert all(torch.equal(a, b) for a, b in zip(net.state_dict().values(), twin.state_dict().values(), strict=True))
    assert all(torch.equal(a, b) for a, b in zip(net.state_dict().values(), again.values(), strict=True))
    assert twin[0].weight is not net[0].weight
    assert isinstance(twin[0].weight, nn.Parameter)


@pytest.mark.parametrize("mask", [None, "causal", "boolean"])
def test_attention_is_its_parts(mask: Any) -> None:
    rng = np.random.default_rng(0)
    q, k, v = (torch.tensor(rng.standard_normal((2, 2, 5, 4)), requires_grad=True) for _ in range(3))
    allowed = torch.tensor(np.tril(np.ones((5, 5), bool)))
    options = {"is_causal": True} if mask == "causal" else {"attn_mask": allowed} if mask == "boolean" else {}
    made = F.scaled_dot_product_attention(q, k, v, **options)
    scores = q @ k.transpose(-2, -1) / 2
    if mask:
        scores = scores.masked_fill(~allowed, -float("inf"))
    expected = scores.softmax(-1) @ v
    assert torch.allclose(made, expected)
    for a, b in zip(*(torch.autograd.grad(t.sin().sum(), (q, k, v)) for t in (made, expected)), strict=True):
        assert torch.allclose(a, b)


def test_circular_margins_go_on_at_the_other_end() -> None:
    x = torch.arange(6.0).reshape(1, 1, 6).requires_grad_()
    made = F.pad(x, (2, 1), mode="circular")
    assert made.tolist() == [[[4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0]]]
    (made * torch.arange(9.0)).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[[10.0, 3.0, 4.0, 5.0, 6.0, 8.0]]]


def test_a_batch_whose_classes_are_all_ignored_moves_nothing() -> None:
    """Its mean loss is nan, as PyTorch's is; the gradient had been nan too, and would have spoilt every weight."""
    for shape, classes in (((2, 3), [-100, -100]), ((3,), -100)):
        x = torch.ones(*shape, requires_grad=True)
        loss = torch.nn.functional.cross_entropy(x, torch.tensor(classes))
        loss.backward()
        assert torch.isnan(loss.detach())
        assert torch.equal(x.grad, torch.zeros(*shape))
