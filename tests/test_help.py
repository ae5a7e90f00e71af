"""What ``help`` says of derivatives."""

from __future__ import annotations

import doctest
import inspect
import pydoc
from typing import Any

import pytest

import srcgrad
from srcgrad.api import help as help_of


def loss(w: Any, x: Any, *, rate: float = 0.1) -> Any:
    """The mean of squared errors."""
    return rate * w * x


class Model:
    @srcgrad.grad
    def slope(self, w: Any) -> Any:
        """The energy."""
        return w


def test_help_of_a_gradient() -> None:
    text = pydoc.plain(pydoc.render_doc(srcgrad.grad(loss)))
    assert "grad_loss(w" in text and "rate" in text
    assert "Gradient of loss with respect to w.\n" in text and "The mean of squared errors." in text


@pytest.mark.parametrize(
    "made, first, signature",
    [
        (srcgrad.grad(loss, ("x", 0)), "Gradient of loss with respect to x and w.", "(w, x, *, rate=0.1)"),
        (srcgrad.value_and_grad(loss), "Value and gradient of loss with respect to w.", "(w, x, *, rate=0.1)"),
        (srcgrad.jacobian(loss, 1), "Jacobian of loss with respect to x.", "(w, x, *, rate=0.1)"),
        (srcgrad.hessian(loss), "Hessian of loss with respect to w.", "(w, x, *, rate=0.1)"),
        (srcgrad.hvp(loss), "Hessian times a vector of loss with respect to w.", "(w, x, v, *, rate=0.1)"),
        (srcgrad.hessp(loss), "Hessian times a vector of loss with respect to w.", "(w, p, x, *, rate=0.1)"),
    ],
)
def test_the_first_line_and_the_signature(made: Any, first: str, signature: str) -> None:
    assert made.__doc__.splitlines()[0] == first
    assert made.__doc__.endswith("The mean of squared errors.")
    found = inspect.signature(made)
    plain = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    assert str(inspect.Signature(plain)) == signature


def test_a_method() -> None:
    assert Model.slope.__doc__.startswith("Gradient of Model.slope with respect to self.")
    assert "The energy." in Model().slope.__doc__


def test_the_classes_have_docstrings_of_their_own() -> None:
    assert "compiled into one of its derivatives" in str(srcgrad.Derivative.__doc__)
    assert doctest.testmod(help_of).failed == 0
