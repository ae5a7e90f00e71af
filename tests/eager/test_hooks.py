"""Hooks of tensors, nodes and leaves: what they see, what they may return, in what order they run."""

from __future__ import annotations

import pytest

import srcgrad.eager as torch
from tests.eager.recording import recorded, run

PROGRAMS = recorded("hooks")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_pytorch_prints(name: str) -> None:
    program = PROGRAMS[name]
    assert run(program["program"]) == (program["out"], program["error"])


def test_hooks_added_during_backward_run_where_the_gradient_has_not_passed_yet() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * 3
    seen: list[str] = []

    def first(g: torch.Tensor) -> None:
        seen.append("z")
        z.register_hook(lambda g: seen.append("too late"))
        y.register_hook(lambda g: seen.append("y"))
        x.register_hook(lambda g: seen.append("x"))

    handle = z.register_hook(first)
    z.sum().backward(retain_graph=True)
    assert seen == ["z", "y", "x"]
    handle.remove()
    z.sum().backward()
    assert seen == ["z", "y", "x", "too late", "y", "x"]


def test_hooks_removed_during_backward_still_run_where_their_turn_has_come() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    seen: list[str] = []
    handles: list[torch.utils.hooks.RemovableHandle] = []

    def remove_others(g: torch.Tensor) -> None:
        for handle in handles:
            handle.remove()

    y.register_hook(remove_others)
    handles += [y.register_hook(lambda g: seen.append("same tensor")), x.register_hook(lambda g: seen.append("leaf"))]
    y.backward()
    assert seen == ["same tensor"]


def test_a_handle_keeps_no_hook_alive() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    handle = (x * 2).register_hook(lambda g: None)
    assert handle.table() is None
    handle.remove()


def test_a_hook_may_go_backward_itself() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)

    def hook(g: torch.Tensor) -> None:
        with torch.enable_grad():
            (w * g).sum().backward()

    x.register_hook(hook)
    (x * x).sum().backward()
    assert w.grad.tolist() == x.grad.tolist() == [2.0, 4.0]


def test_callbacks_run_at_the_end_of_their_own_pass() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    seen: list[str] = []
    queue = torch.autograd.Variable._execution_engine.queue_callback

    def hook(g: torch.Tensor) -> None:
        queue(lambda: seen.append("outer"))
        with torch.enable_grad():
            inner = torch.tensor([1.0], requires_grad=True) * 2
        inner.register_hook(lambda g: queue(lambda: seen.append("inner")))
        inner.backward()
        seen.append("hook")

    x.register_hook(hook)
    (x * 2).backward()
    assert seen == ["inner", "hook", "outer"]
