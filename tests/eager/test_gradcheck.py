"""Gradients against differences: what ``gradcheck`` accepts, and what it says of what it does not."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch
from srcgrad.eager.autograd import gradcheck, gradgradcheck
from srcgrad.eager.autograd.gradcheck import GradcheckError

X = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
Z = torch.tensor([0.5 + 1j, 1.5 - 0.3j], dtype=torch.complex128, requires_grad=True)


def function_of(backward: Any, jvp: Any = None) -> Any:
    """A function that doubles, with another derivative."""
    body: dict[str, Any] = {
        "forward": staticmethod(lambda ctx, x: (ctx.set_materialize_grads(False), x * 2)[1]),
        "backward": staticmethod(backward),
    }
    if jvp is not None:
        body["jvp"] = staticmethod(jvp)
    return type("F", (torch.autograd.Function,), body).apply


EVERY_WAY = [{}, {"fast_mode": True}, {"check_forward_ad": True}, {"check_batched_grad": True}]


@pytest.mark.parametrize("how", EVERY_WAY)
def test_right_gradients_pass(how: dict[str, Any]) -> None:
    assert gradcheck(torch.sin, X, **how)
    assert gradcheck(lambda a, b: (a @ b, a.sum(), torch.ones(1)), (X, X.detach().clone().requires_grad_()), **how)
    assert gradcheck(lambda a, k: a * k, (X, 3.0), **how)


@pytest.mark.parametrize("how", EVERY_WAY)
def test_right_gradients_of_complex_functions_pass(how: dict[str, Any]) -> None:
    assert gradcheck(lambda x: x * (1 + 2j), X, **how)
    assert gradcheck(lambda z: (z * z.conj()).real, Z, **how)
    assert gradcheck(torch.exp, Z, **how)


@pytest.mark.parametrize("how", [{}, {"fast_mode": True}, {"check_fwd_over_rev": True}, {"check_batched_grad": True}])
def test_right_second_derivatives_pass(how: dict[str, Any]) -> None:
    assert gradgradcheck(lambda a: a**3 * a.exp(), X, **how)
    assert gradgradcheck(torch.sin, X, torch.ones(2, dtype=torch.float64, requires_grad=True), **how)


def test_wrong_gradients_are_shown_beside_the_differences() -> None:
    tripled = function_of(lambda ctx, g: None if g is None else g * 3)
    with pytest.raises(GradcheckError) as raised:
        gradcheck(tripled, X)
    assert str(raised.value).startswith(
        "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor([[2."
    )
    assert not gradcheck(tripled, X, raise_exception=False)
    with pytest.raises(GradcheckError, match="The max per-element difference .slow mode. is: 1.0"):
        gradcheck(tripled, X, fast_mode=True)
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex outputs only, Jacobian"):
        gradcheck(tripled, Z)


def test_wrong_tangents_are_found() -> None:
    f = function_of(lambda ctx, g: None if g is None else g * 2, lambda ctx, dot: dot * 3)
    assert gradcheck(f, X)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0"):
        gradcheck(f, X, check_forward_ad=True)


def test_gradients_that_forget_what_arrives_are_found() -> None:
    constant = function_of(lambda ctx, g: torch.full((2,), 2.0, dtype=torch.float64))
    with pytest.raises(GradcheckError):
        gradcheck(constant, X)
    careless = function_of(lambda ctx, g: g * 2)
    with pytest.raises((GradcheckError, TypeError)):
        gradcheck(careless, X)
    assert gradcheck(careless, X, check_undefined_grad=False)


def test_second_derivatives_that_are_cut_off_are_found() -> None:
    class Cut(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 * ctx.saved_tensors[0].detach()

    assert gradcheck(Cut.apply, X)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(Cut.apply, X)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(torch.sin, X.detach())
    with pytest.raises(RuntimeError, match="has a dimension with stride 0"):
        gradcheck(torch.sin, torch.ones(1, dtype=torch.float64, requires_grad=True).expand(3))
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward_ad"):
        gradcheck(torch.sin, X, check_backward_ad=False)
    with pytest.warns(UserWarning, match="is not a double precision floating point"):
        assert gradcheck(torch.sin, torch.ones(2, requires_grad=True), atol=1, rtol=1)
