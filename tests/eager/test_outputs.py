"""``out=``: results stored where they are asked for, refused where that would lose a gradient."""

from __future__ import annotations

import pytest

import srcgrad.eager as torch

A = torch.tensor([[2.0, 1.0], [0.0, 4.0]], dtype=torch.float64)
CALLS = {
    "addmm": (lambda out: torch.addmm(A, A, A, out=out), (2, 2)),
    "cat": (lambda out: torch.cat([A, A], out=out), (4, 2)),
    "erf": (lambda out: torch.erf(A, out=out), (2, 2)),
    "eye": (lambda out: torch.eye(2, out=out), (2, 2)),
    "inv": (lambda out: torch.linalg.inv(A, out=out), (2, 2)),
    "mul": (lambda out: torch.mul(A, A, out=out), (2, 2)),
    "ones": (lambda out: torch.ones(3, out=out), (3,)),
    "stack": (lambda out: torch.stack([A, A], out=out), (2, 2, 2)),
    "tensordot": (lambda out: torch.tensordot(A, A, 1, out=out), (2, 2)),
    "vector_norm": (lambda out: torch.linalg.vector_norm(A, dim=0, out=out), (2,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_stored_in_out(name: str) -> None:
    call, shape = CALLS[name]
    out = torch.zeros(*shape, dtype=torch.float64)
    assert call(out) is out
    assert out._version == 1
    assert torch.equal(out, call(None).to(torch.float64))
    assert bool((out != 0).any())


def test_several_results_are_stored_in_a_tuple() -> None:
    q, r = torch.zeros(2, 2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
    torch.linalg.qr(A, out=(q, r))
    assert torch.allclose(q @ r, A)


def test_out_beside_a_tensor_that_requires_grad_is_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"cat\(\): functions with out=... arguments don't support automatic"):
        torch.cat([x, x], out=torch.zeros(4))


def test_out_of_a_lower_kind_is_refused() -> None:
    with pytest.raises(RuntimeError, match="result type Double can't be cast to the desired output type Long"):
        torch.cat([A, A], out=torch.zeros(4, 2, dtype=torch.int64))
