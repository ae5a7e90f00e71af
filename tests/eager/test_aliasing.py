"""Memory that others write to: quotients, inference tensors, strides, empty tensors, compiled functions' arguments."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
import srcgrad.eager as torch


def test_a_quotient_may_be_written_to() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([4.0, 8.0], dtype=torch.float64, requires_grad=True)
    z = x / y
    z.mul_(2)
    gx, gy = torch.autograd.grad(z.sum(), (x, y), create_graph=True)
    assert gx.tolist() == [0.5, 0.25] and gy.tolist() == [-0.125, -0.0625]
    (h,) = torch.autograd.grad(gy.sum(), x)
    assert h.tolist() == [-0.125, -0.03125]


@pytest.mark.parametrize("make", [lambda x: x * 2, lambda x: x.sin(), lambda x: x.sum(0), lambda x: x[0], lambda x: x])
def test_inference_tensors_are_never_saved(make: object) -> None:
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    with torch.inference_mode():
        made = make(x.detach() * 1)  # type: ignore[operator]
    for seen in (made, made.detach(), made[None]):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            seen * x


def test_strides_beyond_the_memory_are_refused() -> None:
    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"requiring a storage size of 36 are out of bounds for storage of size 24"):
        x.as_strided((2, 2), (4, 4))
    with pytest.raises(RuntimeError, match="Negative strides"):
        x.as_strided((2,), (-1,))
    assert x.as_strided((2, 0), (100, 100)).shape == (2, 0)


def test_strides_of_memory_in_another_order_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="contiguous"):
        torch.arange(6.0).reshape(2, 3).t().as_strided((2,), (1,))


def test_empty_tensors_may_be_written_to() -> None:
    x = torch.ones(0, 3, requires_grad=True)
    y = x * 1
    y.add_(1).exp_()
    y.sum().backward()
    assert x.grad.shape == (0, 3)


def test_the_mean_of_nothing_is_one_node() -> None:
    x = torch.ones(0, 3, requires_grad=True)
    assert type(x.mean().grad_fn).__name__ == "MeanBackward0"
    assert type(x.mean(0).grad_fn).__name__ == "MeanBackward1"


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma", "digamma"])
def test_half_precision_stays(name: str) -> None:
    x = torch.tensor([0.5], dtype=torch.float16, requires_grad=True)
    y = getattr(torch, name)(x)
    assert y.dtype is torch.float16 and type(y.grad_fn).__name__ == name.capitalize() + "Backward0"
    y.sum().backward()
    assert x.grad.dtype is torch.float16


@pytest.mark.parametrize("f", [torch.relu, lambda x: x.clamp(0), torch.nn.functional.relu])
def test_what_has_no_order_is_not_clamped(f: object) -> None:
    with pytest.raises(NotImplementedError, match="clamp is not supported for complex types"):
        f(torch.tensor([1j], requires_grad=True))  # type: ignore[operator]


def weighted(x, y):  # type: ignore[no-untyped-def]
    return np.sum(x * y * y)


def test_an_argument_of_a_compiled_function_changed_before_the_second_derivative_is_refused() -> None:
    x, y = torch.ones(2), torch.ones(2, requires_grad=True)
    made = srcgrad.compile(weighted)(x, y)
    x.add_(5)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        torch.autograd.grad(made, y, create_graph=True)


def scaled(p):  # type: ignore[no-untyped-def]
    return np.sum(p["w"] * p["b"][0] * p["b"][1])


def test_containers_and_arrays_may_change_after_a_compiled_function_took_them() -> None:
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    array = np.array([3.0, 4.0])
    p = {"w": w, "b": [w, array]}
    made = srcgrad.compile(scaled)(p)
    p["w"], p["b"][0] = None, None
    array[:] = 0
    (g,) = torch.autograd.grad(made, w, create_graph=True)
    assert g.tolist() == [6.0, 16.0]
    (h,) = torch.autograd.grad(g.sum(), w)
    assert h.tolist() == [6.0, 8.0]
