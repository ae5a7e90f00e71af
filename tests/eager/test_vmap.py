"""Functions of one example made functions of a batch: the same as one example after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch
from srcgrad.eager.func import grad, hessian, jacfwd, jacrev, jvp, vmap

A = torch.linspace(0.1, 1.9, 12, dtype=torch.float64).reshape(4, 3)
B = torch.linspace(-1, 2, 12, dtype=torch.float64).reshape(4, 3)
M = torch.linspace(0.2, 3, 36, dtype=torch.float64).reshape(4, 3, 3) + 3 * torch.eye(3, dtype=torch.float64)
I = torch.tensor([2, 0, 1, 1])
W = torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(5, 3)
F = torch.nn.functional


def written(a: Any) -> Any:
    y = a.clone()
    y[0] = 5.0
    return y


BODIES: dict[str, Any] = {
    "sum": lambda a, b, m, i: m.sum(0),
    "where": lambda a, b, m, i: torch.where(b > 0, a, b * 2),
    "logsumexp": lambda a, b, m, i: torch.logsumexp(b, 0),
    "matrix and vector": lambda a, b, m, i: m @ a + W[0],
    "matrices": lambda a, b, m, i: m @ m.T,
    "captured matrix": lambda a, b, m, i: W @ a,
    "linear": lambda a, b, m, i: F.linear(a, W),
    "item by index": lambda a, b, m, i: a[i],
    "row of a captured table": lambda a, b, m, i: W[i] * a,
    "slice": lambda a, b, m, i: m[1:, 0],
    "maximum along": lambda a, b, m, i: m.max(1).values,
    "sorted": lambda a, b, m, i: b.sort().values,
    "running sum": lambda a, b, m, i: a.cumsum(0),
    "variance": lambda a, b, m, i: a.var(),
    "joined": lambda a, b, m, i: torch.cat([a, W[1], b]),
    "stacked": lambda a, b, m, i: torch.stack([a, b], 1),
    "repeated": lambda a, b, m, i: a.expand(2, 3).repeat(2, 1),
    "flipped": lambda a, b, m, i: a.flip(0),
    "determinant": lambda a, b, m, i: torch.linalg.det(m),
    "solved": lambda a, b, m, i: torch.linalg.solve(m, a),
    "rectified": lambda a, b, m, i: torch.relu(b),
    "cross entropy": lambda a, b, m, i: F.cross_entropy(b, i),
    "absolute": lambda a, b, m, i: b.abs() * a,
    "split": lambda a, b, m, i: torch.cat(a.split([1, 2])[::-1]),
    "unbound": lambda a, b, m, i: sum(a),
    "in place": lambda a, b, m, i: a.clone().mul_(b),
    "item stored": lambda a, b, m, i: written(a),
    "gathered": lambda a, b, m, i: a.gather(0, i.reshape(1)),
    "nothing of the batch": lambda a, b, m, i: torch.ones(2, dtype=torch.float64),
}


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", BODIES)
def test_a_batch_is_its_examples(name: str) -> None:
    body = BODIES[name]
    close(vmap(body)(A, B, M, I), torch.stack([body(*row) for row in zip(A, B, M, I, strict=True)]))


@pytest.mark.parametrize("name", BODIES)
def test_gradients_go_into_and_through_batches(name: str) -> None:
    body = BODIES[name]

    def scalar(a: Any, b: Any, m: Any, i: Any) -> Any:
        return (body(a, b, m, i) ** 2).sum() + 0 * (a.sum() + b.sum() + m.sum())

    leaves = [t.clone().requires_grad_() for t in (A, B, M)]
    wanted = torch.autograd.grad(sum(scalar(*row) for row in zip(*leaves, I, strict=True)), leaves)
    for inside, through, g in zip(
        vmap(grad(scalar, argnums=(0, 1, 2)))(A, B, M, I),
        grad(lambda *t: vmap(scalar)(*t, I).sum(), argnums=(0, 1, 2))(A, B, M),
        wanted,
        strict=True,
    ):
        close(inside, g)
        close(through, g)


def test_what_examples_share_gets_the_sum_of_their_gradients() -> None:
    w = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    (vmap(lambda a: (a * w).sum() + w[0] * w.sum())(A).sum()).backward()
    close(w.grad, A.sum(0) + 4 * torch.tensor([7.0, 1.0, 1.0], dtype=torch.float64))
    first, shared = vmap(lambda a: (a @ w.exp(), w * 2))(A)
    (g,) = torch.autograd.grad(first.sum() + shared.sum(), w, create_graph=True)
    close(g, (A * w.exp()).sum(0) + 8)
    (h,) = torch.autograd.grad(g.sum(), w)
    close(h, (A * w.exp()).sum(0))


def test_gradients_for_each_example_by_shared_weights() -> None:
    w = W[0]
    each = vmap(grad(lambda w, a: ((w * a).sum()) ** 2), in_dims=(None, 0))(w, A)
    close(each, 2 * (A @ w)[:, None] * A)


def test_batches_of_batches_and_of_derivatives() -> None:
    close(vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))(A[0], B[0]), torch.outer(A[0], B[0]))
    close(vmap(hessian(lambda a: (a**3).sum()))(A), torch.stack([torch.diag(6 * a) for a in A]))
    close(vmap(lambda a: jvp(torch.sin, (a,), (a,))[1])(A), A.cos() * A)
    close(jacfwd(lambda a: vmap(lambda x: x**2)(a))(A[0]), torch.diag(2 * A[0]))


def test_where_the_batch_is() -> None:
    assert vmap(lambda a: a, in_dims=1)(A).shape == (3, 4)
    assert vmap(lambda a: a * 2, out_dims=1)(A).shape == (3, 4)
    assert vmap(lambda a: (a, a), out_dims=(0, -1))(A)[1].shape == (3, 4)
    made = vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": A[:, 0], "b": A[0]})
    close(made, A[:, :1] * A[0])
    close(vmap(lambda a: a * 2, chunk_size=3)(A), A * 2)


def test_batched_tensors_print_with_their_batch() -> None:
    seen: list[str] = []
    vmap(lambda a: (seen.append(repr(a)), a)[1], in_dims=1)(torch.ones(1, 2))
    assert seen == ["BatchedTensor(lvl=1, bdim=1, value=\n    tensor([[1., 1.]])\n)"]


def test_random_numbers_are_the_same_or_different_or_refused() -> None:
    assert (vmap(lambda a: torch.rand(2), randomness="same")(A) == vmap(lambda a: a[:2] * 0)(A)).sum() == 0
    torch.manual_seed(0)
    same = vmap(lambda a: torch.rand(2), randomness="same")(A)
    assert len({tuple(row.tolist()) for row in same}) == 1
    different = vmap(lambda a: torch.rand(2), randomness="different")(A)
    assert len({tuple(row.tolist()) for row in different}) == 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: vmap(lambda a: a.sum().item())(A), "calling .item() on a Tensor"),
        (lambda: vmap(lambda a: float(a.sum()))(A), "calling .item() on a Tensor"),
        (lambda: vmap(lambda a: a if a.sum() > 0 else -a)(A), "data-dependent control flow"),
        (lambda: vmap(lambda a: torch.randn(2))(A), "called random operation while in randomness error mode"),
        (lambda: vmap(lambda a: a.numpy())(A), "Cannot access data pointer of Tensor that doesn't have storage"),
        (lambda: vmap(lambda a: W[0].clone().add_(a) and None)(A), "doesn't match the broadcast shape [4, 3]"),
        (lambda: vmap(lambda a: 3.0)(A), "must only return Tensors, got type <class 'float'>"),
        (lambda: vmap(lambda a: a, out_dims=None)(A), "can not return a BatchedTensor when out_dim is None"),
        (lambda: vmap(lambda a: a)(3.0), "We cannot vmap over non-Tensor arguments"),
        (lambda: vmap(lambda: 1)(), "got no inputs. Maybe you forgot to add inputs"),
        (lambda: vmap(lambda a: a, in_dims=(0, 0))(A), "in_dims is not compatible with the structure of `inputs`"),
        (lambda: vmap(lambda a: a, in_dims=5)(A), "so expected in_dim to satisfy -2 <= in_dim < 2."),
        (lambda: vmap(lambda a, b: a)(A, B[:2]), "got sizes [4, 2] for the mapped dimension"),
        (lambda: vmap(lambda a: a, randomness="x"), "Only allowed values for randomness are"),
        (lambda: vmap(lambda a: a, chunk_size=0), "chunk_size should be None or greater than 0. (got 0)"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises((RuntimeError, ValueError)) as raised:
        call()
    assert words in str(raised.value)


def test_gradients_for_a_batch_of_seeds() -> None:
    x = A[0].clone().requires_grad_()
    y = x**2
    eye = torch.eye(3, dtype=torch.float64)
    (j,) = torch.autograd.grad(y, x, eye, is_grads_batched=True, create_graph=True)
    close(j, torch.diag(2 * x))
    (h,) = torch.autograd.grad(j.sum(), x)
    close(h, torch.full((3,), 2.0, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="we interpret the first dimension of each grad_output as the batch"):
        torch.autograd.grad(x**2, x, torch.ones(2, 2), is_grads_batched=True)


TWICE: dict[str, Any] = {
    "norm": lambda a: a.norm(),
    "vector norm": lambda a: torch.linalg.vector_norm(a, 3),
    "logsumexp": lambda a: a.logsumexp(0),
    "entropy": lambda a: torch.special.entr(a).prod(),
    "power": lambda a: (a**a).prod(),
}


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_of_batches_of_batches(name: str) -> None:
    """Functions of the runtime that ask whether any element is zero are run for each example, at both levels."""
    f, cube = TWICE[name], torch.linspace(0.1, 1.9, 24, dtype=torch.float64).reshape(4, 3, 2)

    def second(batched: Any) -> Any:
        x = cube.clone().requires_grad_()
        (g,) = torch.autograd.grad((batched(x) ** 2).sum(), x, create_graph=True)
        return torch.autograd.grad((g**2).sum(), x)[0]

    rows = second(lambda x: torch.stack([f(a) for row in x for a in row]))
    close(second(vmap(vmap(f))), rows)
    close(jacrev(jacfwd(vmap(f)))(cube[0]), jacfwd(jacrev(vmap(f)))(cube[0]))


@pytest.mark.parametrize("f", [torch.xlogy, torch.special.xlog1py])
def test_pointwise_functions_of_one_operand_alone(f: Any) -> None:
    """The slope by x is a function of y, of as many rows as there are examples."""

    def slope(x: Any) -> Any:
        return grad(lambda x: f(x, M[0]).sum())(x)

    close(vmap(slope)(A[:3]), torch.stack([slope(a) for a in A[:3]]))
