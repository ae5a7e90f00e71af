"""Functions of functions, as PyTorch's ``autograd.functional`` answers, and what was recorded of it and its kin."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch
from srcgrad.eager.autograd import functional
from tests.eager.recording import recorded, run

RECORDED = recorded("functional")


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_programs_print_what_they_did(name: str) -> None:
    want = RECORDED[name]
    torch.manual_seed(0)
    assert run(want["src"]) == (want["out"], want["err"])


X = torch.tensor([1.0, 2.0])


def cubes(x: Any) -> Any:
    return (x**3).sum()


def test_products_with_vectors() -> None:
    assert repr(functional.vjp(lambda x: x**2, X, X)) == "(tensor([1., 4.]), tensor([2., 8.]))"
    assert repr(functional.jvp(lambda x: x**2, X, X)) == "(tensor([1., 4.]), tensor([2., 8.]))"
    assert repr(functional.vhp(cubes, X, X)) == "(tensor(9.), tensor([ 6., 24.]))"
    assert repr(functional.hvp(cubes, X, X)) == "(tensor(9.), tensor([ 6., 24.]))"
    y, (a, b) = functional.vjp(lambda a, b: (a * b, a + b), (X, X), (X, X))
    assert repr((a, b)) == "(tensor([2., 6.]), tensor([2., 6.]))"


def test_results_keep_their_graph_where_it_is_wanted() -> None:
    x = X.clone().requires_grad_()
    assert functional.hvp(cubes, x, X, create_graph=True)[1].requires_grad
    assert not functional.hvp(cubes, x, X)[1].requires_grad
    jacobian = functional.jacobian(lambda x: x**2, x, create_graph=True, vectorize=True)
    (g,) = torch.autograd.grad(jacobian.sum(), x)
    assert repr(g) == "tensor([2., 2.])"


@pytest.mark.parametrize("how", [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}])
def test_jacobians_in_every_way(how: dict[str, Any]) -> None:
    (ab, aa), (sb, sa) = functional.jacobian(lambda a, b: (a * b, a.sum()), (X, X * 3), **how)
    assert repr(ab) == "tensor([[3., 0.],\n        [0., 6.]])"
    assert repr(aa) == "tensor([[1., 0.],\n        [0., 2.]])"
    assert repr((sb, sa)) == "(tensor([1., 1.]), tensor([0., 0.]))"


@pytest.mark.parametrize("strategy", ["forward-mode", "reverse-mode"])
def test_hessians_at_once(strategy: str) -> None:
    made = functional.hessian(cubes, X, vectorize=True, outer_jacobian_strategy=strategy)
    assert repr(made.detach()) == "tensor([[ 6.,  0.],\n        [ 0., 12.]])"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: functional.vjp(lambda a, b: a * 2, (X, X), X, strict=True), "independent of input 1"),
        (lambda: functional.jvp(lambda a: a * 2, X), "The vector v can only be None if the input to the user-provided"),
        (lambda: functional.vjp(lambda a: (a, a), X, X), "v is a tuple of invalid length: should be 2 but got 1."),
        (lambda: functional.vjp(lambda a: a, X, (X, X)), "The given v should contain a single Tensor."),
        (lambda: functional.hvp(lambda a: a.sum(), X, X, strict=True), "found that the jacobian of the user-provided"),
        (lambda: functional.vhp(lambda a: (a.sum(),), X, X), "The function given to vhp should return a single Tensor"),
        (lambda: functional.jacobian(lambda a: a, X, strict=True, vectorize=True), "are not supported together"),
        (lambda: functional.jacobian(lambda a: a, X, strategy="forward-mode"), "only implemented for `vectorize=True`"),
        (lambda: functional.jacobian(lambda a: a, X, strategy="other"), 'either "forward-mode" or "reverse-mode"'),
        (lambda: functional.hessian(lambda a: a, X), "given to hessian should contain a single element"),
        (lambda: functional.vjp(lambda a: a, (X, 3), X), "value at index 1 has type <class 'int'>"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises((RuntimeError, TypeError, NotImplementedError, AssertionError), match="(?s)") as raised:
        call()
    assert words in str(raised.value)
