"""Tensors, the graph, the engine, versions and views: what the rest of the eager machine stands on."""

from __future__ import annotations

import math
import threading
import weakref

import numpy as np
import pytest

import srcgrad.eager as torch


def test_a_leaf_gets_the_gradient_of_what_was_made_of_it() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = ((x * 3 + 1) ** 2 / x).sum()
    y.backward()
    assert repr(x.grad) == "tensor([8.0000, 8.7500])"
    assert repr(y) == "tensor(40.5000, grad_fn=<SumBackward0>)"
    assert [type(node).__name__ for node, _ in y.grad_fn.next_functions] == ["DivBackward0"]


def test_derivatives_of_derivatives_are_recorded_through_the_same_rules() -> None:
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    y = torch.exp(torch.sin(x) * x)
    for _ in range(3):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    h = 1e-3

    def f(t: complex) -> complex:
        return np.exp(np.sin(t) * t)

    def second(t: float) -> float:
        return float(np.imag(f(t + h * np.exp(0.25j * math.pi)) + f(t + h * np.exp(1.25j * math.pi))) / h**2)

    third = (second(0.7 + h) - second(0.7 - h)) / (2 * h)
    assert y.item() == pytest.approx(third, rel=1e-4)


def test_deep_graphs_are_walked_and_freed_without_recursion() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y + 1.0
    y.backward()
    assert x.grad.item() == 1.0
    del y


def test_graphs_are_freed_by_reference_count_alone() -> None:
    import gc

    gc.disable()
    try:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.exp(x).reshape(2, 1)
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_what_was_saved_and_changed_since_is_noticed() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.FloatTensor \[2\]\]"):
        z.backward()


def test_a_graph_is_used_once_unless_it_is_retained() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_writing_to_a_view_reaches_the_base_and_its_other_views() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    transposed = y.t()
    y[0] = 5.0
    transposed.mul_(3)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [54.0, 72.0]]


def test_writing_to_a_leaf_is_refused() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.add_(1)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]


def test_the_mode_belongs_to_the_thread() -> None:
    seen: list[bool] = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
        assert not torch.is_grad_enabled()
    assert seen == [True]


def test_users_write_operations_of_their_own() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 + 0 * x

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Double.apply(x)
    assert repr(y) == "tensor([2., 4.], grad_fn=<DoubleBackward>)"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("a", "b"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 2))],
)
def test_products_of_matrices(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal(a), rng.standard_normal(b)
    x, w = torch.tensor(left, requires_grad=True), torch.tensor(right, requires_grad=True)
    seed = rng.standard_normal(np.matmul(left, right).shape)
    (x @ w).backward(torch.tensor(seed)) if seed.ndim else (x @ w * float(seed)).backward()
    direction = rng.standard_normal(a)
    moved = np.sum(seed * np.matmul(direction, right))
    assert np.sum(x.grad.numpy() * direction) == pytest.approx(moved)


def test_complex_gradients_are_conjugates_of_those_of_the_rules() -> None:
    z = torch.tensor([3.0 + 4.0j], requires_grad=True)
    torch.abs(z).sum().backward()
    assert z.grad.tolist() == pytest.approx([0.6 + 0.8j])
    w = torch.tensor([3.0 + 4.0j], requires_grad=True)
    (w * w).real.sum().backward()
    assert w.grad.tolist() == pytest.approx([6.0 - 8.0j])
