"""What tensors offer besides the graph: making, drawing, reducing, ranking, joining, picking, converting."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import srcgrad.eager as torch


def test_random_numbers_are_the_same_for_a_seed_everywhere() -> None:
    torch.manual_seed(0)
    assert np.allclose(torch.randn(2, 2).numpy(), [[1.5410, -0.2934], [-2.1788, 0.5684]], atol=1e-4)
    assert np.allclose(torch.rand(3).numpy(), [0.4556, 0.6323, 0.3489], atol=1e-4)
    assert torch.randint(0, 10, (5,)).tolist() == [6, 6, 9, 8, 6]
    assert torch.randperm(5).tolist() == [1, 0, 4, 2, 3]
    assert torch.manual_seed(42).initial_seed() == 42
    assert np.allclose(torch.randn(3).numpy(), [0.3367, 0.1288, 0.2345], atol=1e-4)


def test_a_state_of_the_generator_can_be_returned_to() -> None:
    torch.manual_seed(1234)
    torch.randn(3)
    state = torch.get_rng_state()
    first = torch.randn(20)
    torch.set_rng_state(state)
    assert torch.equal(first, torch.randn(20))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: torch.tensor([[1], [2, 3]]), ValueError, "expected sequence of length 1 at dim 1 (got 2)"),
        (lambda: torch.tensor("a"), TypeError, "new(): invalid data type 'str'"),
        (lambda: torch.tensor(300, dtype=torch.uint8), RuntimeError, "value cannot be converted to type uint8"),
        (lambda: torch.ones(-1), RuntimeError, "Trying to create tensor with negative dimension -1: [-1]"),
        (lambda: torch.arange(1, 0), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        (lambda: torch.tensor([1], requires_grad=True), RuntimeError, "Only Tensors of floating point and complex"),
        (lambda: torch.stack([]), RuntimeError, "stack expects a non-empty TensorList"),
        (lambda: torch.ones(3, 4)[0, 9], IndexError, "index 9 is out of bounds for dimension 1 with size 4"),
        (lambda: -torch.tensor(True), NotImplementedError, "Negation, the `-` operator, on a bool tensor"),
        (lambda: torch.foo, AttributeError, "module 'torch' has no attribute 'foo'"),
    ],
)
def test_errors(make: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        make()  # type: ignore[operator]
    assert text in str(caught.value)


def test_extrema_by_dimension_have_names_and_one_gradient_each() -> None:
    x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
    found = x.max(0)
    assert repr(found).startswith("torch.return_types.max(\nvalues=tensor(3., grad_fn=<MaxBackward0>)")
    found.values.backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]
    x.grad = None
    x.max().backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]


def test_what_is_at_a_bound_gets_no_gradient() -> None:
    x = torch.tensor([0.0, 1.0, -0.5, 2.0, 0.5], requires_grad=True)
    x.clamp(0, 1).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_parts_and_joints_pass_gradients_to_their_places() -> None:
    x = torch.ones(4, requires_grad=True)
    a, b = x.split(2)
    y = torch.cat([b * 3, a * 2])
    (y * torch.arange(4.0)).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0, 0.0, 3.0]
    assert (a.grad_fn.name(), y.grad_fn.name()) == ("SplitBackward0", "CatBackward0")


def test_indices_met_twice_add_up() -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    x.index_select(1, torch.tensor([0, 2, 2])).sum().backward()
    torch.gather(x, 1, torch.tensor([[0, 0], [1, 2]])).sum().backward()
    assert x.grad.tolist() == [[3.0, 0.0, 2.0], [1.0, 1.0, 3.0]]


def test_numpy_makes_tensors_of_tensors_and_refuses_those_that_require_grad() -> None:
    assert isinstance(np.sin(torch.ones(2)), torch.Tensor)
    assert isinstance(np.float64(2) * torch.ones(2), torch.Tensor)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.sin(torch.ones(2, requires_grad=True))
    with pytest.raises(TypeError, match="unsupported operand"):
        np.ones(2) * torch.ones(2)


def test_copies_are_leaves() -> None:
    x = torch.ones(2, requires_grad=True)
    assert copy.deepcopy(x).requires_grad
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf
    with pytest.raises(RuntimeError, match="deepcopy protocol"):
        copy.deepcopy(x * 2)


def test_steps_have_no_slope_and_whole_quotients_no_derivative() -> None:
    x = torch.tensor([5.5], requires_grad=True)
    (x.floor() + x % 2).sum().backward()
    assert x.grad.tolist() == [1.0]
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (x // 2).sum().backward()


def test_tensors_made_in_inference_mode_cannot_be_saved_or_written() -> None:
    with torch.inference_mode():
        a = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        torch.ones(2, requires_grad=True) * a
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        a.add_(1)
    assert not a.clone().is_inference()
