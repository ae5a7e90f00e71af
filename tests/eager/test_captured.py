"""Writes inside transforms to what was there before, which PyTorch refuses."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch

func = torch.func
WRITES: dict[str, Any] = {
    "add_": lambda c, x: c.add_(x),
    "add_ of a number": lambda c, x: c.add_(1),
    "an element": lambda c, x: c.__setitem__(0, x[0]),
    "a view": lambda c, x: c[0:1].mul_(2),
    "copy_": lambda c, x: c.copy_(x),
    "zero_": lambda c, x: c.zero_(),
    "detached": lambda c, x: c.detach().add_(1),
    "data": lambda c, x: c.data.add_(1),
    "without recording": lambda c, x: torch.no_grad()(lambda: c.add_(1))(),
    "shape": lambda c, x: c.unsqueeze_(0),
    "drawn": lambda c, x: c.uniform_(),
}
X = torch.tensor([3.0, 4.0])


@pytest.mark.parametrize("name", WRITES)
def test_a_captured_tensor_is_not_written_to(name: str) -> None:
    for transform in (func.grad, func.vjp, func.jvp):
        c = torch.tensor([1.0, 2.0])

        def f(x: Any, c: Any = c) -> Any:
            WRITES[name](c, x)
            return (x * 2).sum()

        with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
            if transform is func.grad:
                func.grad(f)(X)
            elif transform is func.vjp:
                func.vjp(f, X)
            else:
                func.jvp(f, (X,), (X,))
        assert c.tolist() == [1.0, 2.0]


def test_what_an_outer_transform_made_is_captured_by_an_inner_one() -> None:
    def f(x: Any) -> Any:
        y = x.clone()
        return func.grad(lambda z: (y.mul_(2) * 0 + z * 3).sum())(x).sum() + y.sum()

    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        func.grad(f)(X)


def test_what_is_made_inside_is_written_to() -> None:
    c = torch.tensor([1.0, 2.0])

    def f(x: Any) -> Any:
        zeros, copied, product, drawn = torch.zeros(2), c.clone(), c * 1, torch.zeros(2)
        zeros.add_(x)
        zeros[0] = x[1]
        copied[0] = x[0]
        product.add_(1)
        drawn.uniform_()
        drawn.detach().zero_()
        places = x.sort().indices
        places.add_(1)
        func.grad(lambda z: (z**2).sum())(x)
        zeros.mul_(2)
        return (zeros + copied + product).sum() + drawn.sum()

    assert func.grad(f)(X).tolist() == [1.0, 4.0]
    assert func.jvp(f, (X,), (torch.ones(2),))[1].item() == 5.0
    out = torch.zeros(2)
    func.grad(lambda x: (torch.add(x.detach(), 1, out=out) * 0 + x).sum())(X)
    assert out.tolist() == [4.0, 5.0]
    func.vmap(lambda x: c.add_(1).sum() + x)(X)
    assert c.tolist() == [2.0, 3.0]
