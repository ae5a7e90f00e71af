"""Nodes, edges, what nodes save; depth of graphs; passes backward through them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import srcgrad.eager as torch
from tests.eager.recording import recorded, run
from tests.parameters import share_by_day

PROGRAMS = {**recorded("graph"), **recorded("backward"), **recorded("functions")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_pytorch_prints(name: str) -> None:
    program = PROGRAMS[name]
    assert run(program["program"]) == (program["out"], program["error"])


class Once(torch.autograd.Function):
    """An operation of one's own that does nothing."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x * 1

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return g


STEPS: dict[str, tuple[int, Callable[[torch.Tensor], torch.Tensor]]] = {
    "a sum": (150_000, lambda y: y + 1.0),
    "a view": (10_000, lambda y: y.view(-1)),
    "in place": (10_000, lambda y: y.clone() if y.is_leaf else y.add_(1.0)),
    "a slice written to": (10_000, lambda y: _written(y.clone() if y.is_leaf else y)),
    "a function of one's own": (10_000, Once.apply),
    "several outputs": (10_000, lambda y: torch.stack(y.unbind(0))),
}


def _written(y: torch.Tensor) -> torch.Tensor:
    y[0].mul_(1.0)
    return y


@pytest.mark.parametrize("kind", share_by_day(STEPS, 3))
@pytest.mark.costly(1)
def test_a_deep_graph_is_walked_and_freed_without_recursion(kind: str) -> None:
    count, step = STEPS[kind]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(count):
        y = step(y)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("kind", share_by_day(["a view", "a sum", "a function of one's own"], 3))
def test_a_deep_graph_is_freed_without_recursion_unused(kind: str) -> None:
    count, step = STEPS[kind]
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(count // 3):
        y = step(y)
    del y


def test_a_deep_graph_of_derivatives_is_walked_and_freed_without_recursion() -> None:
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(5_000):
        y = y * x
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert (g.detach().item(), h.item()) == (5_001.0, 5_001.0 * 5_000.0)


def test_a_long_chain_of_views_is_written_to() -> None:
    y = torch.tensor([1.0, 2.0], requires_grad=True).clone()
    v = y
    for _ in range(20_000):
        v = v.view(-1)
    v.add_(1)
    assert y.tolist() == [2.0, 3.0]
    assert repr(y.grad_fn).startswith("<CopySlices")


def test_what_is_not_needed_reads_none() -> None:
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2)
    node = (x * w).grad_fn
    assert node._saved_self is None
    assert node._saved_other is w
    assert [name for name in dir(node) if name.startswith("_saved")] == ["_saved_other", "_saved_self"]
