"""Writes in place: versions, views and their bases, gradients retained, what is refused."""

from __future__ import annotations

import pytest

import srcgrad.eager as torch
from srcgrad.eager import func
from tests.eager.recording import recorded, run

PROGRAMS = recorded("inplace")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_pytorch_prints(name: str) -> None:
    program = PROGRAMS[name]
    assert run(program["program"]) == (program["out"], program["error"])


def test_a_retained_gradient_is_that_of_the_last_values() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y[0].mul_(5)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [30.0, 6.0]


def test_a_view_made_without_recording_has_no_gradient_of_its_own() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        v = x[0]
    assert v.requires_grad
    assert (v * 2).grad_fn.next_functions == ((None, 0), (None, 0))
    (v * 2).backward()
    assert x.grad is None
    assert v.grad is None
    v.requires_grad_()
    (v * 2).backward()
    assert v.grad.item() == 2.0


def test_a_write_to_a_result_given_as_out_counts() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    kept = y.detach()
    torch.add(torch.ones(2), 1, out=kept)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()


def test_a_view_made_before_the_first_recorded_write_requires_grad_as_its_base() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    out = torch.zeros(2, 2)
    row, other = out[0], out[1]
    row += w
    assert out.requires_grad and other.requires_grad
    (row * out[0] + other).sum().backward(retain_graph=True)
    assert w.grad.tolist() == [2.0, 4.0]
    out += w
    (row * row).sum().backward()
    assert w.grad.tolist() == [2.0 + 8.0, 4.0 + 16.0]


def test_an_operation_of_ones_own_that_changes_a_view_reaches_its_base() -> None:
    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            return 3 * g

    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    Tripled.apply(y[0])
    y.sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0], [1.0, 1.0]]


def test_writes_through_complex_views_reach_the_base() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    torch.view_as_real(y)[:, 0].mul_(2)
    y.imag.mul_(3)
    torch.view_as_real(y).sum().backward()
    assert z.grad.tolist() == [2 + 3j, 2 + 3j]
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    y = x * 1
    torch.view_as_complex(y).mul_(2j)
    (y[0, 0] + 5 * y[0, 1]).backward()
    assert x.grad.tolist() == [[10.0, -2.0]]


def test_shapes_changed_in_place_keep_the_graph_and_the_views() -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    row = y[0]
    with torch.no_grad():
        y.t_()
    y[1] = 0
    (y[:, 1] * torch.tensor([1.0, 2.0, 3.0])).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 3.0]]
    assert row.tolist() == [0.0, 0.0, 2.0]
    assert torch.autograd.grad(row.sum(), x)[0].tolist() == [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]


WAYS = [lambda f: func.vmap(func.grad(f)), lambda f: func.grad(lambda X: func.vmap(f)(X).sum())]


@pytest.mark.parametrize("way", WAYS)
def test_what_was_saved_and_then_written_to_is_not_read_under_vmap(way):
    """The error was taken for one of arrays that are lifted, and the gradient worked out again without the check."""

    def f(x):
        y = x.clone()
        squares = y * y
        y.mul_(2.0)
        return squares.sum()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        way(f)(torch.ones(3, 2, dtype=torch.float64))


def test_a_copy_into_another_dtype_gives_gradients_of_the_dtype_of_the_source() -> None:
    x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    y = torch.zeros(2, dtype=torch.complex128)
    y.copy_(x * x)
    weights = torch.tensor([1 + 2j, 3j], dtype=torch.complex128)
    (g,) = torch.autograd.grad((y * weights).abs().pow(2).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert (g.dtype, h.dtype) == (torch.float64, torch.float64)
    assert g.tolist() == pytest.approx([0.0, 36.0])  # of 5 x^4 and 9 x^4
    assert h.tolist() == pytest.approx([0.0, 108.0])


@pytest.mark.parametrize("narrow", [torch.float16, torch.float32])
def test_hooks_and_retained_gradients_before_a_copy_have_their_own_dtype(narrow: torch.dtype) -> None:
    x = torch.tensor([1.0, 2.0], dtype=narrow, requires_grad=True)
    z = x * 3
    z.retain_grad()
    seen: list[torch.dtype] = []
    z.register_hook(lambda g: seen.append(g.dtype))
    y = torch.zeros(2, dtype=torch.float64)
    y[:] = z
    (y * y).sum().backward()
    assert (x.grad.dtype, z.grad.dtype, seen) == (narrow, narrow, [narrow])
    assert x.grad.tolist() == [18.0, 36.0]


def test_a_copy_into_another_dtype_goes_through_views_of_other_strides() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.zeros(2, 2, dtype=torch.complex128)
    y.t()[0] = x[:2]
    (y * (1 + 1j)).sum().real.backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]
    z = torch.tensor([1j, 2.0, 3.0], requires_grad=True)
    w = z.clone()
    w[1:].copy_(x[:1])
    w.abs().pow(2).sum().backward()
    assert x.grad.tolist() == [5.0, 1.0, 0.0]
    assert z.grad.tolist() == [2j, 0, 0]
