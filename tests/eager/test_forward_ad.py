"""Tensors with tangents: ``autograd.forward_ad``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch
import srcgrad.eager.autograd.forward_ad as fw
from srcgrad.eager import func

X = torch.tensor([1.0, 2.0], dtype=torch.float64)
V = torch.tensor([1.0, -0.5], dtype=torch.float64)


def test_tangents_are_printed_and_taken_apart() -> None:
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([1.0, 0.0]))
        assert repr(d) == "tensor([1., 2.], tangent=tensor([1., 0.]))"
        assert repr(d.sum()) == "tensor(3., tangent=1.0)"
        assert repr(fw.unpack_dual(d * d)) == ("UnpackedDualTensor(primal=tensor([1., 4.]), tangent=tensor([2., 0.]))")
        assert fw.unpack_dual(x).tangent is None
        assert repr(d.detach()) == "tensor([1., 2.])"
        assert bool((d > 1.5)[1])
    assert repr(d) == "tensor([1., 2.])"
    assert fw.unpack_dual(d).tangent is None


FUNCTIONS: dict[str, Any] = {
    "product": lambda x: x * x * x,
    "softmax": lambda x: torch.softmax(x, 0),
    "spread": lambda x: x.std() + x.norm() + torch.logsumexp(x, 0),
    "shapes": lambda x: torch.cat([x.view(2, 1) @ x.view(1, 2), x.expand(3, 2)]).T,
    "choices": lambda x: torch.where(x > 1.5, x, x * 5).sort().values + x.clamp(0, 1.5) + torch.relu(x - 1.5),
    "stored": lambda x: stored(x),
    "inverse": lambda x: torch.linalg.inv(torch.diag(x) + 1),
    "loss": lambda x: torch.nn.functional.mse_loss(x, x.detach() * 2),
}


def stored(x: Any) -> Any:
    y = x.clone()
    y[0] = x[1] * 3
    return y.mul_(2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents_agree_with_differences(name: str) -> None:
    f = FUNCTIONS[name]
    with fw.dual_level():
        dot = fw.unpack_dual(f(fw.make_dual(X, V))).tangent
    h = 1e-6
    if name == "loss":  # what is detached does not move
        y = 2 * X
        wanted = ((((X + h * V) - y) ** 2).mean() - (((X - h * V) - y) ** 2).mean()) / (2 * h)
    else:
        wanted = (f(X + h * V) - f(X - h * V)) / (2 * h)
    np.testing.assert_allclose(dot.numpy(), wanted.numpy(), rtol=1e-7, atol=1e-8)


def test_both_modes_together() -> None:
    x = X.clone().requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, V)
        tangent = fw.unpack_dual((d**3).sum()).tangent
        (g,) = torch.autograd.grad(tangent, x)
        np.testing.assert_allclose(g.numpy(), (6 * X * V).numpy())
        (slope,) = torch.autograd.grad((d**3).sum(), d, create_graph=True)
        np.testing.assert_allclose(fw.unpack_dual(slope).tangent.detach().numpy(), (6 * X * V).numpy())


def test_functions_of_ones_own_say_their_tangents() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def jvp(ctx: Any, dot: Any) -> Any:
            return 5 * ctx.saved_tensors[0] * dot

    class Silent(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * x

    with fw.dual_level():
        d = fw.make_dual(X, V)
        assert repr(fw.unpack_dual(Square.apply(d)).tangent) == repr(5 * X * V)
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            Silent.apply(d)


def test_what_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fw.make_dual(X, V)
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
            fw.enter_dual_level()
        with pytest.raises(RuntimeError, match="a forward gradient that has a different size"):
            fw.make_dual(X, V[:1])
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got: torch.int64"):
            fw.make_dual(torch.arange(2), V)


def items(z: Any, d: Any) -> None:
    z[0] = d[0]
    z[1:] = d[:2]


STORES: dict[str, Any] = {  # what is stored into [4, 5, 6], of [1, 2, 3] with the tangent [0.1, 0.2, 0.3]
    "copied": (lambda z, d: z.copy_(d), [0.1, 0.2, 0.3]),
    "items": (items, [0.1, 0.1, 0.2]),
    "added": (lambda z, d: z.add_(d), [0.1, 0.2, 0.3]),
    "multiplied": (lambda z, d: z.mul_(d), [0.4, 1.0, 1.8]),
    "filled": (lambda z, d: z.fill_(d[1]), [0.2, 0.2, 0.2]),
    "view": (lambda z, d: z[1:].mul_(d[0]), [0.0, 0.5, 0.6]),
    "put by index": (lambda z, d: z.index_put_((torch.tensor([0, 2]),), d[:2]), [0.1, 0.0, 0.2]),
    "scattered": (lambda z, d: z.scatter_(0, torch.tensor([2, 1]), d[:2]), [0.0, 0.2, 0.1]),
    "mask": (lambda z, d: z.masked_fill_(torch.tensor([True, False, True]), d[0]), [0.1, 0.0, 0.1]),
    "power": (lambda z, d: z.pow_(d), [0.1 * 4 * np.log(4), 0.2 * 25 * np.log(5), 0.3 * 216 * np.log(6)]),
}


@pytest.mark.parametrize("name", STORES)
def test_tensors_become_dual_by_stores(name: str) -> None:
    """As in PyTorch, and until the level ends; the memory is the same."""
    z = torch.tensor([4.0, 5.0, 6.0], dtype=torch.float64)
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0, 3.0]).double(), torch.tensor([0.1, 0.2, 0.3]).double())
        store, tangent = STORES[name]
        store(z, d)
        assert fw.unpack_dual(z).tangent.tolist() == pytest.approx(tangent, rel=1e-6)
        made = fw.unpack_dual(z * z)
        assert made.tangent.tolist() == pytest.approx([2 * a * b for a, b in zip(z.tolist(), tangent)], rel=1e-6)
    assert fw.unpack_dual(z).tangent is None
    assert (z.numpy() ** 2).tolist() == made.primal.tolist()


def test_gradients_of_what_became_dual() -> None:
    w, z = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([4.0, 5.0])
    with fw.dual_level():
        z.mul_(fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 0.25])) * w)
        fw.unpack_dual(z).tangent.sum().backward()
    assert w.grad.tolist() == [2.0, 1.25]


@pytest.mark.parametrize("other", [lambda z: z[1:], lambda z: z.detach(), lambda z: z.numpy(), lambda z: z.view(1, 3)])
def test_stores_of_tangents_into_shared_memory_are_refused(other: Any) -> None:
    """What others hold of the memory would have no tangent."""
    z = torch.tensor([4.0, 5.0, 6.0])
    held = other(z)
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0, 3.0]), torch.ones(3))
        for store in (lambda: z.add_(d), lambda: z[:2].add_(d[0]), lambda: z.__setitem__(0, d[0])):
            with pytest.raises(NotImplementedError, match="whose memory others share"):
                store()
        with pytest.raises(NotImplementedError, match="out="):
            torch.add(d, d, out=z)
    assert z.tolist() == [4.0, 5.0, 6.0] and held is not None


def test_running_statistics_take_no_tangent() -> None:
    x, mean = torch.tensor([[1.0], [2.0], [3.0]]), torch.zeros(1)
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([[1.0], [0.0], [0.0]]))
        made = torch.nn.functional.batch_norm(d, mean, torch.ones(1), training=True, eps=0.0)
        # the tangent v - mean(v) - y mean(y v), over the spread, of y = (-1.2247, 0, 1.2247)
        assert fw.unpack_dual(made).tangent.flatten().tolist() == pytest.approx([0.2041, -0.4082, 0.2041], abs=1e-4)
        assert fw.unpack_dual(mean).tangent is None
    assert mean.item() == pytest.approx(0.2)


@pytest.mark.parametrize(
    "take",
    [
        lambda a: a.data,
        lambda a: a[:].data,
        lambda a: a.clone().detach_(),
        lambda a: a.new_tensor(a),
        lambda a: torch.nn.Parameter(a),
        lambda a: torch.nn.Buffer(a),
    ],
)
def test_what_is_taken_out_of_the_graph_has_no_tangent(take: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    assert func.jvp(lambda a: (take(a) * a).sum(), (x,), (x,))[1].item() == 14.0
    with fw.dual_level():
        made = fw.unpack_dual((take(fw.make_dual(x.clone(), x)) * fw.make_dual(x.clone(), x)).sum())
        assert made.tangent.item() == 14.0


def test_data_of_several_transforms_is_refused() -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    for take in (lambda a: a.data, lambda a: a.clone().detach_()):
        with pytest.raises(NotImplementedError, match="Use detach()"):
            func.jvp(func.grad(lambda a: (take(a) * a).sum()), (x,), (x,))
    assert func.jvp(func.grad(lambda a: (a.detach() * a).sum()), (x,), (x,))[1].tolist() == [0.0, 0.0, 0.0]
