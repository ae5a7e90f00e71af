"""Writes to what a node saves, which backward refuses, and to what it does not; the answers are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch

#: an expression of ``a``, or of ``a`` and ``b``; which of ``a``, ``b`` and the result ``y`` must not be written to
REFUSED: dict[str, str] = {
    "a.gather(0, torch.tensor([0, 2]))": "a",
    "a.take(torch.tensor([0, 2]))": "a",
    "a.take_along_dim(torch.tensor([0, 2]), 0)": "a",
    "a.masked_select(torch.tensor([True, False, True, True]))": "a",
    "a.index_select(0, torch.tensor([0, 2]))": "",
    "a.median()": "ay",
    "a.nanmedian()": "ay",
    "a.cummax(0).values": "a",
    "a.clamp(0, 1)": "a",
    "a.acosh()": "a",
    "(a / 4).erfinv()": "",
    "a.prod()": "ay",
    "a.cumprod(0)": "ay",
    "2**a": "ay",
    "a**2": "a",
    "a / 2": "",
    "torch.float_power(2, a)": "ay",
    "a.sgn()": "ay",
    "torch.nn.functional.embedding(torch.tensor([0, 1]), a.reshape(2, 2))": "",
    "a**b": "aby",
    "a * b": "ab",
    "torch.copysign(a, b)": "ay",
    "torch.ldexp(a, b)": "by",
    "torch.polar(a, b)": "y",
    "torch.dist(a, b)": "aby",
    "torch.cdist(a.reshape(2, 2), b.reshape(2, 2))": "aby",
    "torch.lerp(a, b, b)": "ab",
    "a.index_add(0, torch.tensor([0, 1, 2, 3]), b)": "b",
    "a.index_copy(0, torch.tensor([0, 1, 2, 3]), b)": "b",
    "a.scatter(0, torch.tensor([0, 1, 2, 3]), b)": "",
    "a.scatter_reduce(0, torch.tensor([0, 1, 2, 3]), b, 'amax')": "aby",
    "a.remainder(b)": "ab",
    "torch.complex(a, b)": "ab",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_backward_refuses_what_was_written_to(expression: str) -> None:
    for written in "aby" if "b" in expression.replace("cumprod", "").replace("embedding", "") else "ay":
        x = torch.tensor([1.5, 2.5, 3.5, 1.2], dtype=torch.float64, requires_grad=True)
        w = torch.tensor([1.1, 1.2, 1.3, 1.4], dtype=torch.float64, requires_grad=True)
        names: dict[str, Any] = {"torch": torch, "a": x.clone(), "b": w.clone()}
        y = names["y"] = eval(expression, names)
        names[written].mul_(1)
        total = (y.real if y.is_complex() else y).sum()
        if written in REFUSED[expression]:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                total.backward()
        else:
            total.backward()
            assert x.grad is not None
