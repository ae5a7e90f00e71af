"""Parts of a program that are computed again in the backward pass."""

from __future__ import annotations

import pytest

import srcgrad.eager as torch
from tests.eager.recording import recorded, run

PROGRAMS = recorded("checkpoint")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_pytorch_prints(name: str) -> None:
    program = PROGRAMS[name]
    assert run(program["program"]) == (program["out"], program["error"])


def test_what_is_checkpointed_is_not_kept() -> None:
    import weakref

    x = torch.ones(4, requires_grad=True)
    seen = []

    def f(x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        seen.append(weakref.ref(y))
        return y * y

    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    assert seen[0]() is None
    y.sum().backward()
    assert len(seen) == 2
    assert x.grad.tolist() == pytest.approx([2 * 7.3890561] * 4)


@pytest.mark.parametrize("reentrant", [False, True])
def test_random_numbers_are_the_same_again(reentrant: bool) -> None:
    torch.manual_seed(0)
    x = torch.ones(3, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(lambda x: x * torch.rand(3), x, use_reentrant=reentrant)
    after = torch.rand(1)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    torch.manual_seed(0)
    torch.rand(3)
    assert torch.rand(1).tolist() == after.tolist()
