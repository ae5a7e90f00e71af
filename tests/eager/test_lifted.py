"""Values with a tangent or a batch: what would lose either is refused, or done another way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch
from srcgrad.eager import messages, warned
from srcgrad.eager.batched import Batched
from srcgrad.eager.dual import Dual
from srcgrad.eager.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from srcgrad.eager.lifted_arrays import is_escape, is_lifted

D = torch.float64
X = torch.tensor([1.0, 2.0, 4.0], dtype=D)
V = torch.tensor([0.5, -1.0, 2.0], dtype=D)


def into(store: Callable[[Any, Any], Any], dtype: Any = float) -> Callable[[Any], Any]:
    """A store into plain memory."""

    def stored(value: Any) -> Any:
        memory = np.zeros(2, dtype)
        store(memory, value)
        return memory

    return stored


READS: dict[str, Callable[[Any], Any]] = {
    **{f"memory[{index}] of {dtype.__name__}": into(lambda m, v, i=index: m.__setitem__(i, v), dtype)
       for dtype in (float, int, bool, complex, np.float32) for index in (0, slice(None), [0, 1], ...)},
    "+=": into(lambda m, v: m.__iadd__(v)),
    "copyto": into(np.copyto),
    "put": into(lambda m, v: np.put(m, [0], v)),
    "putmask": into(lambda m, v: np.putmask(m, [True, False], v)),
    "place": into(lambda m, v: np.place(m, [True, False], v)),
    "add.at": into(lambda m, v: np.add.at(m, [0], v)),
    "out": into(lambda m, v: np.add(v, 1.0, out=m)),
    "fill": into(lambda m, v: m.fill(v)),
    "flat": into(lambda m, v: m.flat.__setitem__(0, v)),
    "full": lambda v: np.full(2, v), "full_like": lambda v: np.full_like(np.ones(2), v), "array": np.array,
    "array of a list": lambda v: np.array([v, v]), "asarray": np.asarray, "fromiter": lambda v: np.fromiter([v], float),
    "float": float, "int": int, "bool": bool, "complex": complex, "item": lambda v: v.item(), "format": "{:.2f}".format,
    "tolist": lambda v: v.tolist(), "index": lambda v: [1, 2][v], "float64": np.float64,
}  # fmt: skip
LIFTED = {
    "number": lambda: Dual(1, np.float64(1.5), np.float64(1.0)),
    "array of no dimension": lambda: Dual(1, np.array(1.5), np.array(1.0)),
    "vector": lambda: Dual(1, np.array([1.5, 2.0]), np.ones(2)),
    "numbers": lambda: Batched(1, np.array([1.0, 2.0])),
    "vectors": lambda: Batched(1, np.ones((3, 2))),
}


@pytest.mark.parametrize("read", READS)
def test_no_plain_memory_or_number_takes_a_lifted_value(read: str) -> None:
    for make in LIFTED.values():
        try:
            found = READS[read](make())
        except Exception as error:
            assert is_escape(error) or isinstance(error, TypeError | ValueError | AttributeError)
        else:
            assert is_lifted(found)


def test_forward_over_reverse_at_integer_indices() -> None:
    def f(z: Any) -> Any:
        return torch.sin(z[0]) * torch.exp(z[1])

    def unbound(z: Any) -> Any:
        a, b, _ = z.unbind()
        return torch.sin(a) * torch.exp(b)

    def iterated(z: Any) -> Any:
        a, b, _ = z
        return torch.sin(a) * torch.exp(b)

    s, c, e = np.sin(1.0), np.cos(1.0), np.exp(2.0)
    expected = torch.tensor(np.array([[-s * e, c * e, 0], [c * e, s * e, 0], [0, 0, 0]]))
    transforms = hessian, lambda f: jacfwd(jacfwd(f)), lambda f: jacrev(jacrev(f)), lambda f: jacrev(jacfwd(f))
    for function in (f, unbound, iterated):
        for transform in transforms:
            assert torch.allclose(transform(function)(X), expected)


READINGS = {  # what PyTorch 2.13 answers: under grad, jvp, vmap
    "item": (lambda t: t.item(), None, None, "calling .item()"),
    "float": (float, None, None, "calling .item()"),
    "int": (int, None, None, "calling .item()"),
    "bool": (bool, None, None, "data-dependent control flow"),
    "tolist": (lambda t: t.tolist(), None, None, "doesn't have storage"),
    "numpy": (lambda t: t.numpy(), "Can't call numpy()", "doesn't have storage", "doesn't have storage"),
    "asarray": (np.asarray, "Can't call numpy()", "doesn't have storage", "doesn't have storage"),
    "np.sin": (np.sin, "Can't call numpy()", "doesn't have storage", "doesn't have storage"),
}


@pytest.mark.parametrize("name", READINGS)
def test_numbers_of_tensors_inside_transforms(name: str) -> None:
    read, *expected = READINGS[name]

    def f(x: Any) -> Any:
        read(x)
        return x * x

    runs = (lambda: grad(f)(X[0]), lambda: jvp(f, (X[0],), (V[0],)), lambda: vmap(f)(X))
    for run, words in zip(runs, expected, strict=True):
        if words is None:
            run()
        else:
            with pytest.raises(RuntimeError) as raised:
                run()
            assert words in str(raised.value)


def test_a_number_that_a_program_asked_for_is_a_constant() -> None:
    assert float(grad(lambda x: x.item() * x * x)(X[1])) == 8.0
    assert [float(t) for t in jvp(grad(lambda x: x.item() * x * x), (X[1],), (X[0],))] == [8.0, 4.0]
    pushed = jvp(lambda X: vmap(lambda x: x.detach() * x)(X), (X,), (V,))[1]  # detach: of every level
    assert torch.equal(pushed, X * V)


@pytest.mark.parametrize(("read", "warns"), [(float, True), (complex, True), (int, False), (bool, False),
    (lambda t: t.item(), False), (lambda t: t.tolist(), False), (lambda t: f"{t:.1f}", False)])  # fmt: skip
def test_float_of_what_requires_grad_warns_and_item_does_not(read: Any, warns: bool) -> None:
    warned._given.discard(messages.SCALAR_OF_GRAD)
    x = torch.tensor(1.5, requires_grad=True)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        read(x)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        read(x)
    assert bool(given) == warns


def test_means_and_medians_under_transforms() -> None:
    def f(x: Any) -> Any:
        return torch.nanmean(x) * torch.nansum(x)

    whole = torch.full((3, 3), 2 / 3, dtype=D)
    assert torch.allclose(hessian(f)(X), whole)
    assert torch.allclose(vmap(hessian(f))(torch.stack([X, V]))[1], whole)
    ties = torch.tensor([1.0, 2.0, 2.0, 2.0, 5.0], dtype=D)
    shares = torch.tensor([0.0, 1.0, 1.0, 1.0, 0.0], dtype=D) / 3
    for transform in (grad, jacfwd, jacrev, lambda f: lambda x: vmap(grad(f))(x[None])[0]):
        assert torch.allclose(transform(torch.median)(ties), shares)
    second = hessian(lambda x: torch.median(x) ** 2)(ties)
    assert torch.allclose(second, 2 * torch.outer(shares, shares))
    assert torch.allclose(second, jacrev(jacfwd(lambda x: torch.median(x) ** 2))(ties))


def test_views_of_batches_are_views() -> None:
    def f(x: Any) -> Any:
        whole = torch.outer(x, x)
        whole.diagonal().mul_(x[0])
        return whole

    rows = torch.stack([X, V])
    assert torch.allclose(vmap(f)(rows), torch.stack([f(row) for row in rows]))


def test_memory_like_a_batch_has_room_for_each_example() -> None:
    def f(x: Any) -> Any:
        made = torch.zeros_like(x)
        made[1] = x[0] ** 2
        other = x.new_zeros(2)
        other[0] = x[2]
        return torch.cat([made, other])

    rows = torch.stack([X, V])
    assert torch.equal(vmap(f)(rows), torch.stack([f(row) for row in rows]))


def test_what_is_unique_has_no_derivative() -> None:
    x = X.clone().requires_grad_()
    assert repr(x.unique()).endswith("grad_fn=<Unique2Backward0>)")
    for f in (torch.unique, torch.unique_consecutive, lambda x: torch.unique(x, dim=0)):
        for run in (lambda: f(x).sum().backward(), lambda: grad(lambda x: f(x).sum())(X), lambda: jvp(f, (X,), (V,))):
            with pytest.raises(NotImplementedError, match="derivative for|forward AD"):
                run()


P = torch.arange(20.0).reshape(5, 4)


@pytest.mark.parametrize(("index", "shape"), [
    ([[0, 4], [2, 2]], (2,)), ([[0, 1]], (2, 4)), ([0, 1], (2, 4)), ([[0, 1], slice(None)], (2, 4)),
    ([0, slice(None)], (4,)), ([[[0, 1], [2, 2]]], (2, 2, 4)), ([torch.tensor(1), torch.tensor(2)], ()),
    ([(0, 1), (1, 2)], (2,)), ([0, None], (1, 4)), ([..., 0], (5,)), ([True, False, True, False, True], (3, 4)),
    (([[0, 4], [2, 2]], 1), (2, 2)), ([[0, 4], 2], (2,)), ([range(2), range(2)], (2,)), ([], (0, 4)), ([[]], (0, 4)),
    ([np.array([0, 1]), np.array([1, 2])], (2,)), (np.array([[0, 4], [2, 2]]), (2, 2, 4)), ([0] * 33, (33, 4)),
    ([[0]] * 32, (32, 1, 4)), ([[0, 4], [2]], (2,)), (([[0, 4], [2, 2]],), (2, 2, 4)),
], ids=str)  # fmt: skip
def test_a_list_of_more_than_numbers_is_an_index_per_dimension(index: Any, shape: tuple[int, ...]) -> None:
    assert tuple(P[index].shape) == shape
    written = torch.zeros(5, 4)
    written[index] = 1.0
    places = torch.zeros(5, 4)
    places[tuple(index) if isinstance(index, list) and not all(isinstance(i, int) for i in index) and len(index) < 32
           else index] = 1.0  # fmt: skip
    assert torch.equal(written, places)


class Halved(torch.autograd.Function):
    """Without a gradient for anything."""

    @staticmethod
    def forward(x: Any, scale: float = 0.5) -> Any:
        return x * scale

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, None


class Scaled(Halved):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.scale, None


class Alone(Halved):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None


def test_functions_of_ones_own_without_gradients_and_with_defaults() -> None:
    assert torch.equal(grad(lambda x: (Halved.apply(x) * x).sum())(X), X / 2)
    y, pull = vjp(Halved.apply, X)
    assert torch.equal(pull(y)[0], X * 0)
    x = X.clone().requires_grad_()
    (Halved.apply(x).sum() + x.sum()).backward()
    assert torch.equal(x.grad, torch.ones(3, dtype=D))
    with pytest.raises(RuntimeError, match="incorrect number of gradients .expected 2, got 1."):
        Alone.apply(x).sum().backward()
    assert torch.equal(grad(lambda x: Scaled.apply(x).sum())(X), torch.full((3,), 0.5, dtype=D))
    assert torch.equal(grad(lambda x: Scaled.apply(x, 3.0).sum())(X), torch.full((3,), 3.0, dtype=D))
    assert torch.equal(torch.autograd.grad(Scaled.apply(x, scale=2.0).sum(), x)[0], torch.full((3,), 2.0, dtype=D))


def test_tensors_of_tensors_take_their_dtype_and_fillers_must_be_numbers() -> None:
    assert torch.tensor([X[0], 1]).dtype is D and torch.tensor([torch.tensor(1.0), X[0]]).dtype is D
    assert torch.tensor([torch.tensor(1, dtype=torch.int32)]).dtype is torch.int32
    assert torch.full((2,), X[0]).dtype is torch.float32
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        torch.full((2,), X[0].clone().requires_grad_())
