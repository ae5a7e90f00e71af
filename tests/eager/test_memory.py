"""Memory: graphs die with the last tensor that has them, by reference count alone, and training does not grow."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

import srcgrad.eager as torch
from srcgrad.eager.graph import Node
from tests.parameters import at_night

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
w = torch.tensor([0.5, 1.5, 2.5], requires_grad=True)
graph = torch.autograd.graph
PROGRAMS: dict[str, Callable[[], Any]] = {}


def program(f: Callable[[], Any]) -> Callable[[], Any]:
    """A program that leaves no cycle behind."""
    PROGRAMS[f.__name__] = f
    return f


class Exponential(torch.autograd.Function):
    """Saves its input and its result."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return g * ctx.saved_tensors[1]


class Doubled(torch.autograd.Function):
    """Writes to its input."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return g * 2


class Same(torch.autograd.Function):
    """Returns its input and a view of it."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x, x.view(-1)

    @staticmethod
    def backward(ctx, g, h):  # type: ignore[no-untyped-def]
        return g + h


@program
def backward() -> None:
    (x * w).exp().tanh().sum().backward()


@program
def no_backward() -> None:
    (x * w).exp().tanh().sum()


@program
def retained() -> None:
    y = (x * w).exp().sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)


@program
def derivatives_of_derivatives() -> None:
    (g,) = torch.autograd.grad((x * x * x).exp().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    h.sum().backward()


@program
def derivatives_of_derivatives_unused() -> None:
    (g,) = torch.autograd.grad((x * x * x).exp().sum(), x, create_graph=True)
    torch.autograd.grad(g.sum(), x, create_graph=True)


@program
def gradients_with_a_graph() -> None:
    z = x.detach().requires_grad_()
    (z * z * z).sum().backward(create_graph=True)
    z.grad = None  # as PyTorch asks for


@program
def views_written_to() -> None:
    y = x * 2
    v = y[1:]
    v.mul_(3)
    y.add_(1)
    (v.sum() + y.sum() + y[0]).backward()


@program
def views_written_to_unused() -> None:
    y = x.clone()
    y[0] = 5.0
    y[torch.tensor([1])] = x[0]
    y.view(-1).exp_()


@program
def functions() -> None:
    Exponential.apply(x * 1).sum().backward()
    Exponential.apply(x * 1)


@program
def functions_that_write() -> None:
    Doubled.apply(x * 1).sum().backward()
    Doubled.apply(x * 1)


@program
def functions_that_return_their_input() -> None:
    a, b = Same.apply(x * 1)
    (a + b).sum().backward()
    Same.apply(x * 1)


@program
def hooks() -> None:
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    y.grad_fn.register_prehook(lambda outputs: None)
    z = w.detach().requires_grad_()
    z.register_hook(lambda g: g)
    z.register_post_accumulate_grad_hook(lambda leaf: None)
    (y * z).sum().backward()


@program
def hooks_unused() -> None:
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    graph.register_multi_grad_hook((x, y), lambda grads: None).remove()


@program
def packed() -> None:
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        (x * x).exp().sum().backward()
        (x * x).exp().tanh()
    with graph.save_on_cpu():
        (x * x).exp().tanh()
    with graph.allow_mutation_on_saved_tensors():
        (x * x).exp().tanh()


@program
def checkpoints() -> None:
    for reentrant in (False, True):
        torch.utils.checkpoint.checkpoint(lambda x: x.sin().exp(), x, use_reentrant=reentrant).sum().backward()
        torch.utils.checkpoint.checkpoint(lambda x: x.sin().exp(), x, use_reentrant=reentrant)


@program
def saved_attributes() -> None:
    node = x.exp().grad_fn
    assert node._saved_result.grad_fn is node
    assert node._raw_saved_result is not None
    assert dir(node)
    assert node.metadata == {}


@program
def several_results() -> None:
    a, b, _ = x.unbind(0)
    (a * b).backward()
    torch.stack([x, x]).max(0)
    x.sort()
    x.split(1)


@program
def indices() -> None:
    x[torch.tensor([0, 1])].sum().backward()
    torch.where(x > 1, x, w).sum()


@program
def edges() -> None:
    torch.autograd.grad((x * 2).sum(), graph.get_gradient_edge(x))
    (x * w).grad_fn(torch.ones(3))


@program
def errors() -> None:
    y = (x * w).exp().sum()
    y.backward()
    with suppress(RuntimeError):
        y.backward()
    z = x * 2
    z.register_hook(lambda g: 3)
    with suppress(TypeError):
        z.sum().backward()


@program
def anomalies() -> None:
    with torch.autograd.set_detect_anomaly(True):
        (x * w).exp().sum().backward()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Nothing is freed but by reference count; what other tests left is not looked at."""
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_graphs_are_freed_by_reference_count_alone(name: str, no_collector: None) -> None:
    for _ in range(2):  # what is made once, formulas and classes, is there then
        PROGRAMS[name]()
    gc.collect()
    for _ in range(3):
        PROGRAMS[name]()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    left = [type(item).__name__ for item in gc.garbage if isinstance(item, Node | torch.Tensor)]
    assert left == []


@pytest.mark.parametrize("steps", [3_000, at_night(10_000)])
def test_thousands_of_steps_of_training_grow_nothing(steps: int, no_collector: None) -> None:
    torch.manual_seed(0)
    weights = torch.randn(3, 2, requires_grad=True)
    bias = torch.zeros(2, requires_grad=True)
    inputs, targets = torch.randn(4, 3), torch.randn(4, 2)
    bias.register_hook(lambda g: g * 1.0)

    def step(number: int) -> None:
        y = inputs @ weights + bias
        if number % 10 == 0:
            y = y.clone()
            y[0].mul_(0.5)
            y.retain_grad()
            y = Exponential.apply(y)
        loss = ((y - targets) ** 2).mean()
        if number % 10 == 5:
            (g,) = torch.autograd.grad(loss, bias, create_graph=True)
            loss = loss + g.sum() * 1e-3
        loss.backward(retain_graph=number % 4 == 0)
        with torch.no_grad():
            for leaf in (weights, bias):
                leaf -= 1e-4 * leaf.grad
                leaf.grad = None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(500):  # after fewer some hundred blocks are still to come, whatever follows
            step(number)
        gc.collect()  # which empties CPython's lists of free tuples too
        blocks, objects = sys.getallocatedblocks(), len(gc.get_objects())
        for number in range(steps):
            step(number)
    assert len(gc.get_objects()) <= objects + 10  # no cycle is left for the collector
    gc.collect()
    assert sys.getallocatedblocks() <= blocks + 0.07 * steps  # a block in one of ten steps would be 0.1


def test_ravel_is_always_a_new_tensor() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.ravel()
    assert y is not x and y._base is x and y.grad_fn.name() == "ViewBackward0"
    assert x.flatten() is x
    assert x.reshape(-1)._base is x and x.reshape(-1).grad_fn.name() == "ViewBackward0"
    turned = torch.ones(3, 2).T.ravel()
    assert turned._is_view() and turned._base.shape == (2, 3)
