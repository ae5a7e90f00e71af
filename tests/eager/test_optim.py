"""Optimizers: steps, state, schedules, printing and errors as PyTorch has them."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch
from tests.eager.recording import recorded, run

PROGRAMS = recorded("optim")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_prints_what_pytorch_printed(name: str) -> None:
    entry = PROGRAMS[name]
    out, error = run(entry["program"])
    assert error == entry["error"]
    assert out == entry["out"]


def test_a_closure_computes_the_loss_with_gradients() -> None:
    w = torch.tensor([3.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.25)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert w.tolist() == [1.5]


def test_a_step_counts_as_a_write() -> None:
    w = torch.tensor([3.0], requires_grad=True)
    y = (w * w).sum()
    y.backward(retain_graph=True)
    torch.optim.SGD([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize(("max_eval", "evaluations"), [(1, 2), (2, 3), (20, 3)])
def test_the_search_of_lbfgs_counts_among_the_evaluations_of_a_step(max_eval: int, evaluations: int) -> None:
    """As PyTorch 2.13 counts: one at the start, one at the first step, and as many more as ``max_eval`` leaves."""
    x = torch.tensor([30.0], requires_grad=True)
    optimizer = torch.optim.LBFGS([x], max_iter=1, max_eval=max_eval, line_search_fn="strong_wolfe")
    count = 0

    def closure() -> Any:
        nonlocal count
        count += 1
        optimizer.zero_grad()
        loss = (x * x).sum() * 0.01
        loss.backward()
        return loss

    optimizer.step(closure)
    assert count == evaluations
