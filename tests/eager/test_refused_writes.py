"""What PyTorch refuses of tensors that were detached, moved or set in place, and numbers that it writes to."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch


def test_a_saved_tensor_that_was_detached_in_place_is_refused() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x * 2
    y = a * a
    a.detach_()
    assert a._version == 0
    with pytest.raises(RuntimeError, match="saved tensor that has been detached in-place"):
        y.sum().backward()
    (a * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    y = x.exp()  # a result that its own node saves may be detached, and so may a leaf
    z = y * 1
    y.detach_()
    w = x.sin()
    x.detach_()
    z.sum().backward()
    w.sum().backward()


def test_a_leaf_that_was_moved_into_the_graph_takes_no_gradient() -> None:
    x, w = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    x.requires_grad = False
    x.copy_(w * 2)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.sum().backward()
    x.sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]


def test_the_memory_of_a_leaf_is_set_without_recording_only() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x.set_(torch.ones(2))
    with torch.no_grad():
        x.set_(torch.ones(2))
    assert x.requires_grad and x.is_leaf and x.tolist() == [1.0, 1.0]


def test_numbers_are_transposed_and_filled_in_place() -> None:
    x = torch.tensor(3.0)
    assert x.transpose_(0, -1) is x and x.swapaxes_(0, 0).item() == 3.0
    assert x.clone().put_(torch.tensor([0]), torch.tensor([5.0])).item() == 5.0
    assert x.clone().index_fill_(0, torch.tensor([0]), 7.0).item() == 7.0
    y = torch.tensor(3.0, requires_grad=True)
    y.clone().put_(torch.tensor([0]), torch.tensor([5.0])).backward()
    assert y.grad.item() == 0.0
    y.clone().transpose_(0, 0).backward()
    assert y.grad.item() == 1.0


def test_heaviside_has_no_derivative() -> None:
    x, v = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True), torch.tensor(0.5)
    y = torch.heaviside(x, v)
    assert y.tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(RuntimeError, match="derivative for aten::heaviside is not implemented"):
        y.sum().backward()


def test_transforms_go_through_complex_views() -> None:
    def f(t: Any) -> Any:
        return (torch.view_as_complex(t).abs() ** 2).sum()

    x = torch.tensor([[3.0, 4.0], [1.0, 2.0]])
    assert torch.func.jvp(f, (x,), (torch.ones(2, 2),))[1].item() == pytest.approx(20.0)
    assert torch.func.jacfwd(f)(x).tolist() == [pytest.approx([6.0, 8.0]), pytest.approx([2.0, 4.0])]
    rows = torch.func.hessian(f)(x).reshape(4, 4)
    assert torch.allclose(rows, 2 * torch.eye(4), atol=1e-5)


def test_conjugates_are_not_written_to() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    y: Any = z.conj()
    for write in (lambda: y.mul_(2), lambda: y[0:1].zero_()):
        with pytest.raises(RuntimeError, match="a conjugate is a view in PyTorch"):
            write()
    copied = y.clone()
    copied.mul_(2)
    z.mul_(2)
    assert z.tolist() == [2 + 4j, 6 - 2j] and copied.tolist() == [2 - 4j, 6 + 2j]
