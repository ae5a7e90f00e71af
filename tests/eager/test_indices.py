"""Indices of stores: what they broadcast is summed, what changes before backward is refused, what does not fit too."""

from __future__ import annotations

import pytest

import srcgrad.eager as torch

STORES = {
    "index_add": lambda x, v, i: x.index_add(0, i, v),
    "index_copy": lambda x, v, i: x.index_copy(0, i, v),
    "index_fill": lambda x, v, i: x.index_fill(0, i, 1.0),
    "index_put": lambda x, v, i: x.index_put((i,), v),
    "index_put accumulating": lambda x, v, i: x.index_put((i,), v, accumulate=True),
    "index_put broadcasting": lambda x, v, i: x.index_put((i,), v[0], accumulate=True),
    "index_reduce": lambda x, v, i: x.index_reduce(0, i, v, "prod"),
    "put": lambda x, v, i: x.put(i, v),
    "scatter": lambda x, v, i: x.scatter(0, i, v),
    "scatter_add": lambda x, v, i: x.scatter_add(0, i, v),
    "scatter_reduce": lambda x, v, i: x.scatter_reduce(0, i, v, "amax"),
}


@pytest.mark.parametrize("name", STORES)
def test_an_index_changed_before_backward_is_refused(name: str) -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    v = torch.tensor([5.0, 6.0], requires_grad=True)
    i = torch.tensor([0, 1])
    made = STORES[name](x, v, i)
    i.add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.LongTensor \[2\]\] is at version 1; expected version 0"):
        made.prod().backward()


def test_a_mask_changed_before_backward_is_refused() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    mask = torch.tensor([True, False])
    made = x.masked_scatter(mask, torch.tensor([3.0, 4.0], requires_grad=True))
    mask.fill_(True)
    with pytest.raises(RuntimeError, match=r"\[CPUBoolType \[2\]\] is at version 1"):
        made.sum().backward()


def test_accumulated_values_are_summed_to_their_own_shape() -> None:
    x = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
    v = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    made = x * 1
    made.index_put_((torch.tensor([0, 0]),), v, accumulate=True)
    assert made.tolist() == [[5.0], [1.0]]
    (made * made).sum().backward()
    assert v.grad.shape == () and v.grad.item() == 20.0
    assert x.grad.tolist() == [[10.0], [2.0]]


def test_accumulated_values_have_a_second_derivative() -> None:
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    v = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)

    def f(x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return x.index_put((torch.tensor([0, 0]),), v, accumulate=True) ** 3

    assert torch.autograd.gradgradcheck(f, (x, v))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.index_add(0, torch.tensor([0, 0]), torch.ones(1, 3)), "Number of indices (2) should be equal"),
        (lambda x: x.index_add(0, torch.tensor([0, 0]), torch.ones(2, 1)), "source tensor shape must match self"),
        (lambda x: x.index_copy(0, torch.tensor([0]), torch.ones(3)), "their dimensionality must match"),
        (lambda x: x.index_copy(0, torch.tensor([0, 1]), torch.ones(1, 3)), "Number of indices (2) should be equal"),
        (lambda x: x.scatter_add(0, torch.tensor([[0, 0, 0]]), torch.ones(1, 1)), "no larger size than src [1, 1]"),
        (lambda x: x.index_put((torch.tensor([0]),), torch.ones(2, 3), True), "cannot be broadcast to indexing result"),
    ],
)
def test_values_that_do_not_fit_are_not_broadcast(call: object, text: str) -> None:
    with pytest.raises((RuntimeError, IndexError)) as caught:
        call(torch.ones(2, 3))  # type: ignore[operator]
    assert text in str(caught.value)


def test_a_number_beside_arrays_is_a_view_first() -> None:
    """NumPy takes ``0`` in ``x[0, :, [1, 2]]`` for an array, and puts the axis of the list first; PyTorch does not."""
    x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
    assert x[0, :, [1, 2]].tolist() == [[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]]
    assert x[0, None, [1, 2]].shape == (1, 2, 4)
    assert x[torch.tensor(1), ..., torch.tensor([True, False, False, True])].shape == (3, 2)
    y = x * 1.0
    y[0, :, [1, 2]] = torch.tensor([[5.0, 7.0]])
    assert y[0].tolist() == [[0.0, 5.0, 7.0, 3.0], [4.0, 5.0, 7.0, 7.0], [8.0, 5.0, 7.0, 11.0]]
    (y * y)[1, :, [0, 0]].sum().backward()
    assert x.grad[1].tolist() == [[48.0, 0.0, 0.0, 0.0], [64.0, 0.0, 0.0, 0.0], [80.0, 0.0, 0.0, 0.0]]
    assert not x.grad[0].any()
