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


def test_a_grid_by_columns_has_the_first_tensor_along_its_rows() -> None:
    a, b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.tensor([4.0, 5.0], requires_grad=True)
    x, y = torch.meshgrid(a, b, indexing="xy")
    assert (x.tolist(), y.tolist()) == ([[1.0, 2.0, 3.0]] * 2, [[4.0] * 3, [5.0] * 3])
    (x * torch.arange(6.0).reshape(2, 3) + y).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([3.0, 5.0, 7.0], [3.0, 3.0])
    cube = torch.meshgrid(a, b, torch.ones(4), indexing="xy")
    assert {tuple(part.shape) for part in cube} == {(2, 3, 4)}
    with pytest.raises(RuntimeError, match='indexing must be one of "xy" or "ij"'):
        torch.meshgrid(a, b, indexing="yx")


def test_diagonals_are_embedded_for_each_row_of_a_batch() -> None:
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    made = torch.diag_embed(m, 1)
    assert made.tolist() == [[[0, 1, 0], [0, 0, 2], [0, 0, 0]], [[0, 3, 0], [0, 0, 4], [0, 0, 0]]]
    (made * torch.arange(18.0).reshape(2, 3, 3)).sum().backward()
    assert m.grad.tolist() == [[1.0, 5.0], [10.0, 14.0]]
    between = torch.diag_embed(m, -1, 0, 2)
    assert between.tolist() == [[[0, 0, 0], [0, 0, 0]], [[1, 0, 0], [3, 0, 0]], [[0, 2, 0], [0, 4, 0]]]
    assert torch.func.vmap(torch.diag_embed)(m[None])[0].tolist() == torch.diag_embed(m).tolist()
    with pytest.raises(RuntimeError, match="diagonal dimensions cannot be identical"):
        torch.diag_embed(m, 0, 1, -2)


def test_the_significand_has_a_derivative() -> None:
    x = torch.tensor([3.0, -5.0, 0.25], requires_grad=True)
    mantissa, exponent = torch.frexp(x)
    assert (mantissa.tolist(), exponent.tolist()) == ([0.75, -0.625, 0.5], [2, 3, -1])
    (mantissa * x).sum().backward()
    assert x.grad.tolist() == [1.5, -1.25, 1.0]
    _, tangent = torch.func.jvp(lambda a: torch.frexp(a)[0], (x.detach(),), (torch.ones(3),))
    assert tangent.tolist() == [0.25, 0.125, 2.0]
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        torch.frexp(torch.tensor([3]))


def test_coordinates_of_slopes_windows_and_shares_of_quantiles_have_derivatives() -> None:
    p = torch.tensor([1.0, 4.0, 9.0], requires_grad=True)
    q = torch.tensor([0.0, 1.0, 3.0], requires_grad=True)
    torch.gradient(p, spacing=(q,))[0].sum().backward()
    assert p.grad.tolist() == pytest.approx([-5 / 3, 1.0, 2 / 3], rel=1e-5)
    assert q.grad.tolist() == pytest.approx([46 / 9, -3.5, -29 / 18], rel=1e-5)
    share = torch.tensor(0.25, requires_grad=True)
    torch.quantile(torch.tensor([1.0, 2.0, 4.0]), share).backward()
    assert share.grad.item() == 2.0
    window = torch.ones(2, requires_grad=True)
    torch.stft(torch.tensor([1.0, 2.0]), 2, 1, center=False, window=window, return_complex=True).real.sum().backward()
    assert window.grad.tolist() == [2.0, 0.0]
