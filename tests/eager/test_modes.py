"""no_grad and its kin as contexts and decorators, per thread; inference mode; anomaly detection."""

from __future__ import annotations

import threading

import pytest

import srcgrad.eager as torch
from tests.eager.recording import recorded, run

PROGRAMS = recorded("modes")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_pytorch_prints(name: str) -> None:
    program = PROGRAMS[name]
    assert run(program["program"]) == (program["out"], program["error"])


def test_a_thousand_switches_between_threads_leave_each_its_mode() -> None:
    threads, switches = 10, 100
    turn = threading.Barrier(threads)
    wrong: list[tuple[int, int]] = []

    def switch(number: int) -> None:
        x = torch.ones(1, requires_grad=True)
        wanted = True  # a new thread records
        for i in range(switches):
            if torch.is_grad_enabled() is not wanted or (x * 2).requires_grad is not wanted:
                wrong.append((number, i))
            wanted = (number + i) % 3 == 0
            torch.set_grad_enabled(wanted)
            turn.wait(10)

    with torch.no_grad():
        running = [threading.Thread(target=switch, args=(number,)) for number in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        assert not torch.is_grad_enabled()
    assert not wrong
    assert torch.is_grad_enabled()


def test_threads_go_backward_at_the_same_time() -> None:
    x = torch.ones(3, requires_grad=True)
    grads: list[torch.Tensor] = []

    def work(k: int) -> None:
        for _ in range(20):
            (g,) = torch.autograd.grad((x * float(k)).sum(), x)
            grads.append(g / float(k))

    running = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert all(g.tolist() == [1.0, 1.0, 1.0] for g in grads)
    assert len(grads) == 80


def test_recording_in_inference_mode_is_asked_for_in_vain() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode(), torch.enable_grad():
        assert torch.is_grad_enabled()
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
