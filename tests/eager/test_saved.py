"""Tensors that nodes save, under hooks that pack them, and their versions."""

from __future__ import annotations

import pytest

import srcgrad.eager as torch
from tests.eager.recording import recorded, run

PROGRAMS = recorded("saved")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_pytorch_prints(name: str) -> None:
    program = PROGRAMS[name]
    assert run(program["program"]) == (program["out"], program["error"])


def test_packed_tensors_are_differentiated_to_any_order() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda t: torch.tensor(t, dtype=torch.float64)):
        y = (x**4).sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    assert third.tolist() == pytest.approx([24.0, 48.0])


@pytest.mark.parametrize(
    "pick",
    [
        lambda x, i: x[i],
        lambda x, i: x.take(i),
        lambda x, i: x.gather(0, i),
        lambda x, i: x.index_select(0, i),
    ],
)
def test_an_index_that_was_changed_is_noticed(pick) -> None:  # type: ignore[no-untyped-def]
    x = torch.ones(3, requires_grad=True)
    i = torch.tensor([0, 1])
    y = pick(x, i).sum()
    i.add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.LongTensor \[2\]\] is at version 1; expected version 0"):
        y.backward()


def test_mutation_of_what_is_saved_is_allowed_inside() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y.sin() * y).sum()
        y.zero_()
        z.backward()
    assert x.grad.tolist() == pytest.approx([1.3817733, 0.0770038], abs=1e-6)
