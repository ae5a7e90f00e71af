"""torch.linalg, torch.fft and torch.special beside their derivatives: errors in PyTorch's words, names of results."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad.eager as torch

EYE = torch.eye(2)
OBLONG = torch.ones(2, 3)
WHOLE = torch.tensor([[1, 2], [3, 4]])


@pytest.mark.parametrize("name", ["det", "inv", "slogdet", "cholesky", "eig", "eigvals", "matrix_exp"])
def test_matrices_must_be_square(name: str) -> None:
    f = getattr(torch.linalg, name)
    with pytest.raises(RuntimeError) as oblong:
        f(OBLONG)
    assert str(oblong.value) == f"linalg.{name}: A must be batches of square matrices, but they are 2 by 3 matrices"
    with pytest.raises(RuntimeError) as vector:
        f(torch.ones(2))
    assert str(vector.value) == f"linalg.{name}: The input tensor A must have at least 2 dimensions."


@pytest.mark.parametrize("name", ["det", "inv", "slogdet", "cholesky", "qr", "svd", "matrix_norm"])
def test_whole_numbers_are_refused(name: str) -> None:
    with pytest.raises(RuntimeError) as error:
        getattr(torch.linalg, name)(WHOLE)
    assert str(error.value) == f"linalg.{name}: Expected a floating point or complex tensor as input. Got Long"


def test_singular_and_indefinite_matrices_are_named_with_their_place() -> None:
    with pytest.raises(torch.linalg.LinAlgError) as singular:
        torch.linalg.inv(torch.ones(2, 2))
    assert type(singular.value).__name__ == "_LinAlgError"
    assert "linalg.inv: The diagonal element 2 is zero" in str(singular.value)
    with pytest.raises(RuntimeError, match=r"linalg.inv: \(Batch element 1\): The diagonal element 2 is zero"):
        torch.linalg.inv(torch.stack([EYE, torch.ones(2, 2)]))
    with pytest.raises(RuntimeError, match=r"linalg.cholesky: .*the leading minor of order 2 is not positive-definite"):
        torch.linalg.cholesky(torch.tensor([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(
        RuntimeError, match="torch.linalg.solve: The solver failed because the input matrix is singular."
    ):
        torch.linalg.solve(torch.ones(2, 2), torch.ones(2))
    with pytest.raises(RuntimeError, match=r"Incompatible shapes of A and B for the equation AX = B \(2x2 and 3x1\)"):
        torch.linalg.solve(EYE, torch.ones(3))


def test_norms_check_their_order_and_dimensions() -> None:
    with pytest.raises(RuntimeError, match="linalg.matrix_norm: Order 5 not supported."):
        torch.linalg.norm(EYE, 5)
    with pytest.raises(RuntimeError, match="the input must be 1D or 2D. Got 3D."):
        torch.linalg.norm(torch.ones(2, 2, 2), "fro")
    assert torch.linalg.norm(torch.ones(2, 2), "nuc").item() == pytest.approx(2.0)


def test_several_results_have_names() -> None:
    assert repr(torch.linalg.slogdet(EYE)) == (
        "torch.return_types.linalg_slogdet(\nsign=tensor(1.),\nlogabsdet=tensor(0.))"
    )
    u, s, vh = torch.linalg.svd(EYE)
    assert torch.allclose(u @ torch.diag(s) @ vh, EYE)
    assert repr(torch.linalg.lu_factor(EYE)).endswith("pivots=tensor([1, 2], dtype=torch.int32))")
    assert torch.linalg.eigh(EYE).eigenvalues.tolist() == [1.0, 1.0]
    assert torch.svd(EYE).V.shape == (2, 2)
    assert torch.linalg.inv_ex(EYE).info.dtype is torch.int32


def test_eigenvalues_are_complex() -> None:
    assert torch.linalg.eigvals(EYE).dtype is torch.complex64


def test_rank_and_powers_carry_no_gradient_where_there_is_none() -> None:
    a = torch.ones(3, 3, requires_grad=True)
    assert torch.linalg.matrix_rank(a).item() == 1
    assert not torch.linalg.matrix_power(a, 0).requires_grad


def test_a_matrix_without_formula_says_so_when_asked() -> None:
    a = torch.eye(3, requires_grad=True)
    packed = torch.geqrf(a)[0]
    with pytest.raises(RuntimeError, match="the derivative for 'geqrf' is not implemented."):
        packed.sum().backward()


def test_transforms_refuse_what_pytorch_refuses() -> None:
    with pytest.raises(RuntimeError, match="rfft expects a real input tensor, but got ComplexFloat"):
        torch.fft.rfft(torch.ones(2) * 1j)
    with pytest.raises(RuntimeError, match='Invalid normalization mode: "x"'):
        torch.fft.fft(torch.ones(2), norm="x")
    with pytest.raises(IndexError):
        torch.fft.fft(torch.tensor(1.0))
    assert torch.fft.fft(torch.tensor([1, 2])).dtype is torch.complex64


def test_conjugates_and_parts_are_views() -> None:
    z = torch.tensor([3 + 4j, 1 - 1j])
    z.real[0] = 7.0
    torch.view_as_real(z)[1, 1] = 5.0
    assert z.tolist() == [7 + 4j, 1 + 5j]
    assert z.conj()._is_view() and z.conj().is_conj()
    pairs = torch.tensor([[1.0, 2.0]])
    torch.view_as_complex(pairs)[0] = 3 - 1j
    assert pairs.tolist() == [[3.0, -1.0]]
    with pytest.raises(RuntimeError, match="Tensor must have a last dimension of size 2"):
        torch.view_as_complex(torch.ones(3))


@pytest.mark.parametrize(
    ("expression", "points", "expected"),
    [
        ("x.abs()", [float("nan"), 0.0], [0.0, 0.0]),
        ("torch.hypot(x, x)", [0.0], [float("nan")]),
        ("torch.logsumexp(x, 0)", [-float("inf")] * 2, [float("nan")] * 2),
        ("torch.logaddexp(x, x)", [-float("inf")], [float("nan")]),
        ("torch.linalg.det(torch.diag(x))", [0.0, 2.0], [0.0, 0.0]),
        ("x.norm(1)", [0.0, -2.0], [0.0, -1.0]),
        ("torch.maximum(x, torch.ones(1))", [1.0], [0.5]),
    ],
)
def test_singular_points_follow_the_policy(expression: str, points: list[float], expected: list[float]) -> None:
    for create_graph in (False, True):
        x = torch.tensor(points, requires_grad=True)
        y = eval(expression, {"torch": torch, "x": x})
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=create_graph)
        assert np.array_equal(g.detach().numpy(), np.array(expected, np.float32), equal_nan=True)


def test_a_count_of_elements_has_no_gradient() -> None:
    x = torch.tensor([2.0, 0.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x.norm(0), x)


def test_one_node_of_several_functions_checks_versions_and_is_freed() -> None:
    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    factor = y * 1
    z = torch.addcmul(x, factor, factor)
    factor.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    z = torch.addcmul(x, y, y)
    assert z.grad_fn._saved_tensor1 is y
    z.sum().backward()
    assert y.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="a second time"):
        z.sum().backward()


def test_operations_in_place_keep_what_their_gradients_need() -> None:
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([0.5, 0.25], dtype=torch.float64, requires_grad=True)
    y = x.clone()
    y.addcmul_(x.detach().clone(), w).lerp_(w, w).rsqrt_().erf_()
    plain = torch.erf(torch.rsqrt(torch.lerp(torch.addcmul(x, x.detach(), w), w, w)))
    got = torch.autograd.grad(y.sum(), (x, w))
    wanted = torch.autograd.grad(plain.sum(), (x, w))
    assert all(torch.allclose(a, b) for a, b in zip(got, wanted, strict=True))
