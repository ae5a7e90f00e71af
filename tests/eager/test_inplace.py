"""Writes in place: versions, views and their bases, gradients retained, what is refused."""

from __future__ import annotations

import pytest

import srcgrad.eager as torch
from tests.eager.recording import recorded, run

PROGRAMS = recorded("inplace")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_pytorch_prints(name: str) -> None:
    program = PROGRAMS[name]
    assert run(program["program"]) == (program["out"], program["error"])


def test_a_retained_gradient_is_that_of_the_last_values() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y[0].mul_(5)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [30.0, 6.0]


def test_a_view_made_without_recording_has_no_gradient_of_its_own() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        v = x[0]
    assert v.requires_grad
    assert (v * 2).grad_fn.next_functions == ((None, 0), (None, 0))
    (v * 2).backward()
    assert x.grad is None
    assert v.grad is None
    v.requires_grad_()
    (v * 2).backward()
    assert v.grad.item() == 2.0


def test_a_write_to_a_result_given_as_out_counts() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    kept = y.detach()
    torch.add(torch.ones(2), 1, out=kept)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()
