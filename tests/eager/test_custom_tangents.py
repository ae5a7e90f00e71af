"""Functions of one's own with a ``jvp``, below and above other derivatives; the numbers are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad.eager as torch
import srcgrad.eager.autograd.forward_ad as fw


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x**2

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return t * 3 * x**2


class Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, n: int) -> Any:
        y = x**n
        ctx.n = n
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return g * ctx.n * y / x, None

    @staticmethod
    def jvp(ctx: Any, t: Any, _: Any) -> Any:
        (x,) = ctx.saved_tensors
        return t * ctx.n * x ** (ctx.n - 1)


class Two(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y, x.sin()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        x, y = ctx.saved_tensors
        return g * y + h * x.cos(), g * x

    @staticmethod
    def jvp(ctx: Any, s: Any, t: Any) -> Any:
        x, y = ctx.saved_tensors
        return s * y + t * x, s * x.cos()


def numbers(values: Any) -> Any:
    return [v.tolist() for v in values]


X, ONE = torch.tensor(2.0), torch.tensor(1.0)


def test_forward_over_reverse_goes_through_backward() -> None:
    f = torch.func
    assert numbers(f.jvp(f.grad(Cube.apply), (X,), (ONE,))) == [12, 12]
    assert numbers(f.jvp(f.grad(f.grad(Cube.apply)), (X,), (ONE,))) == [12, 6]
    assert numbers(f.jvp(lambda x: f.vjp(Cube.apply, x)[1](ONE)[0], (X,), (ONE,))) == [12, 12]
    assert f.hessian(lambda x: Cube.apply(x).sum())(torch.tensor([1.0, 2.0])).tolist() == [[6, 0], [0, 12]]


def test_reverse_over_forward_goes_through_jvp() -> None:
    f = torch.func
    assert f.grad(lambda x: f.jvp(Cube.apply, (x,), (ONE,))[1])(X).item() == 12
    assert f.grad(lambda x: f.jvp(f.grad(Cube.apply), (x,), (ONE,))[1])(X).item() == 6
    assert f.grad(f.grad(lambda x: f.jvp(Cube.apply, (x,), (ONE,))[1]))(X).item() == 6


def test_several_results_have_both_ways_back() -> None:
    def f(x: Any, y: Any) -> Any:
        a, b = Two.apply(x, y)
        return (a * b).sum()

    x, y = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 0.5])
    rows = torch.func.hessian(f, argnums=(0, 1))(x, y)
    wanted = [[[-2.650888, 0, 0.077004, 0], [0, -1.201673, 0, -2.828857]], [[0.077004, 0, 0, 0], [0, -2.828857, 0, 0]]]
    for row, numbers_of_row in zip(rows, wanted, strict=True):
        for got, expected in zip(torch.cat(row, 1).tolist(), numbers_of_row, strict=True):
            assert got == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("function", [Cube.apply, lambda x: Power.apply(x, 3), lambda x: x**3])
def test_gradients_of_dual_tensors_have_tangents(function: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with fw.dual_level():
        y = function(fw.make_dual(x, ONE))
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        assert numbers(fw.unpack_dual(g)) == [12, 12]
        assert torch.autograd.grad(g, x, retain_graph=True)[0].item() == 12
        assert torch.autograd.grad(fw.unpack_dual(y).tangent, x)[0].item() == 12
    with fw.dual_level():
        d = fw.make_dual(x.detach(), ONE).requires_grad_()
        (g,) = torch.autograd.grad(function(d), d, create_graph=True)
        assert torch.autograd.grad(fw.unpack_dual(g).tangent, d)[0].item() == 6
    with fw.dual_level():
        function(fw.make_dual(x, ONE)).backward()
        assert fw.unpack_dual(x.grad).tangent is None


def test_what_is_saved_for_jvp_is_kept_apart() -> None:
    class Apart(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, forward_too: bool) -> Any:
            ctx.save_for_backward(x)
            if forward_too:
                ctx.save_for_forward(x * 10)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x**2, None

        @staticmethod
        def jvp(ctx: Any, t: Any, _: Any) -> Any:
            seen.append(numbers(ctx.saved_tensors))
            return t

    seen: list[Any] = []
    x = torch.tensor(2.0, requires_grad=True)
    for forward_too in (False, True):
        with fw.dual_level():
            assert torch.autograd.grad(Apart.apply(fw.make_dual(x, ONE), forward_too), x)[0].item() == 12
    assert seen == [[], [20]]
