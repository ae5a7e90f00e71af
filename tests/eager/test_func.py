"""Transforms of functions: gradients, pushforwards, Jacobians, how they nest and what they say."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import srcgrad.eager as torch
from srcgrad.eager.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

X = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
ONE = torch.tensor(2.0)


def cubes(x: Any) -> Any:
    return (x**3).sum()


def same(a: Any, b: Any) -> bool:
    return bool(torch.allclose(a, b)) and a.shape == b.shape


def test_gradients_of_gradients() -> None:
    assert repr(grad(grad(lambda x: x**3))(ONE)) == "tensor(12.)"
    assert repr(grad(lambda x: grad(lambda y: x * y)(ONE))(ONE)) == "tensor(1.)"
    assert repr(grad(lambda x: x * grad(lambda y: x * y)(ONE))(ONE)) == "tensor(4.)"


def test_arguments_are_chosen_and_containers_kept() -> None:
    point = namedtuple("point", "a b")
    g = grad(lambda p: p.a * p.b["c"][0])(point(ONE, {"c": [torch.tensor(5.0)]}))
    assert repr(g) == "point(a=tensor(5.), b={'c': [tensor(2.)]})"
    assert repr(grad(lambda x, y: x * y, argnums=(1, 0))(ONE, torch.tensor(5.0))) == "(tensor(2.), tensor(5.))"
    assert repr(grad(lambda x, y: x * y**2, argnums=-1)(ONE, torch.tensor(5.0))) == "tensor(20.)"
    gradient, (value, aux) = grad_and_value(lambda x: (x**2, {"x": x}), has_aux=True)(ONE)
    assert repr((gradient, value, aux)) == "(tensor(4.), tensor(4.), {'x': tensor(2.)})"


def test_what_is_outside_stays_connected() -> None:
    w = torch.tensor(3.0, requires_grad=True)
    g = grad(lambda x: w * x**2)(ONE)
    g.backward()
    assert repr(w.grad) == "tensor(4.)"
    with torch.no_grad():
        assert repr(grad(lambda x: w * x**2)(ONE)) == "tensor(12.)"
    assert not grad(cubes)(X).requires_grad


def test_pullbacks_outlive_their_level() -> None:
    y, pull = vjp(lambda a, b: (a * b, a.sum()), X, X * 2)
    a, b = pull((torch.ones(3, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)))
    assert same(a, X * 2 + 1) and same(b, X)
    assert repr(pull((X, y[1]))) == repr(pull((X, y[1])))


def test_pushforwards() -> None:
    y, dot = jvp(lambda a, b: {"p": a * b, "s": a.sin()}, (X, X * 2), (X, X * 0))
    assert same(dot["p"], X * X * 2) and same(dot["s"], X.cos() * X)
    out, push = linearize(torch.sin, X)
    assert same(out, X.sin()) and same(push(X), X.cos() * X)
    w = X.clone().requires_grad_()
    jvp(lambda x: (w * x).sum(), (X,), (X,))[1].backward()
    assert same(w.grad, X)


def test_derivatives_of_pushforwards() -> None:
    g = grad(lambda x: jvp(cubes, (x,), (torch.ones_like(X),))[1])(X)
    assert same(g, 6 * X)
    assert same(jvp(grad(cubes), (X,), (X,))[1], 6 * X * X)


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_hessians_in_every_order(outer: Any, inner: Any) -> None:
    assert same(outer(inner(cubes))(X), torch.diag(6 * X))
    assert same(hessian(cubes)(X), torch.diag(6 * X))


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians_keep_containers(jacobian: Any) -> None:
    made = jacobian(lambda d: {"y": d["a"] * d["b"], "z": d["a"].sum()})({"a": X, "b": X * 2})
    assert same(made["y"]["a"], torch.diag(2 * X)) and same(made["y"]["b"], torch.diag(X))
    assert same(made["z"]["b"], X * 0)
    first, aux = jacobian(lambda a, b: (a * b, a), argnums=1, has_aux=True)(X, X)
    assert same(first, torch.diag(X)) and same(aux, X)


def test_tensors_inside_print_their_levels() -> None:
    seen: list[str] = []

    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            seen.extend([repr(y), repr(x)])
            return x * y

        return grad(inner)(x)

    grad(outer)(ONE)
    assert seen[0] == (
        "GradTrackingTensor(lvl=2, value=\n    GradTrackingTensor(lvl=1, value=\n        tensor(2.)\n    )\n)"
    )
    assert seen[1] == "GradTrackingTensor(lvl=1, value=\n    tensor(2.)\n)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: grad(lambda x: x * 2)(X), "Expected f(*args) to return a scalar Tensor, got tensor with 1 dims."),
        (lambda: grad(lambda x: x, argnums="a")(X), "argnums must be int or Tuple[int, ...], got: <class 'str'>"),
        (lambda: grad(lambda x: x, argnums=())(X), "argnums must be non-empty"),
        (lambda: grad(lambda x: x, argnums=(0, 0))(X), "argnums elements must be unique, got (0, 0)"),
        (lambda: grad(lambda x: (x,), has_aux=True)(X), "should be a tuple: (output, aux) if has_aux is True"),
        (lambda: grad(lambda x: x.sum().backward())(X), "backward() called inside a functorch transform."),
        (lambda: grad(lambda x: x.requires_grad_().sum())(X), "You are attempting to call Tensor.requires_grad_()"),
        (lambda: jvp(lambda x: x, X, X), "Expected primals to be a tuple."),
        (lambda: jvp(lambda x: x, (X,), (X, X)), "primals with structure TreeSpec(tuple, None, [*])"),
        (lambda: jvp(lambda x: 3.0, (X,), (X,)), "expected f(*primals) to return only tensors, got unsupported type"),
        (lambda: jvp(lambda x: x, (X,), (X[:1],)), "a forward gradient that has a different size"),
        (lambda: vjp(lambda x: (x, x), X)[1](X), "cotangents: *, primal output: (*, *)"),
        (lambda: vjp(lambda x: x, X)[1](X[:1]), "Mismatch in shape: grad_output[0] has a shape of torch.Size([1])"),
        (lambda: linearize(torch.sin, X)[1](X[:1]), "tangent:0 with shape torch.Size([1]) in flattened pytree"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises((RuntimeError, ValueError)) as raised:
        call()
    assert words in str(raised.value)


def test_modules_as_functions_of_their_parameters() -> None:
    layers = [torch.nn.Linear(2, 1) for _ in range(3)]
    x = torch.ones(4, 2)
    values = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
    assert repr(functional_call(layers[0], values, x)) == "tensor([[2.],\n        [2.],\n        [2.],\n        [2.]])"
    assert layers[0].weight.requires_grad
    parameters, buffers = stack_module_state(layers)
    together = vmap(lambda p, b: functional_call(layers[0], (p, b), x))(parameters, buffers)
    assert same(together[2], layers[2](x))
    with pytest.raises(RuntimeError, match="Unexpected key"):
        functional_call(layers[0], {"other": x}, x, strict=True)


def test_functions_of_ones_own_inside_transforms() -> None:
    class Square(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * ctx.saved_tensors[0] * g

        @staticmethod
        def jvp(ctx: Any, dot: Any) -> Any:
            return 5 * ctx.saved_tensors[0] * dot

    assert same(grad(lambda x: Square.apply(x).sum())(X), 3 * X)
    assert same(vmap(grad(Square.apply))(X), 3 * X)
    assert same(jvp(Square.apply, (X,), (X,))[1], 5 * X * X)
    Square.setup_context = torch.autograd.Function.setup_context
    with pytest.raises(RuntimeError, match="it must override the setup_context staticmethod"):
        grad(lambda x: Square.apply(x).sum())(X)
