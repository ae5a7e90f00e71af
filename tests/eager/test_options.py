"""Options of functions: each is read by the function, or changes nothing; what is not served is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch
from srcgrad.eager.outputs import takes_out
from srcgrad.eager.registry import FUNCTIONS

ROOT = Path(torch.__file__).parent
FOLDERS = ("operations", "nn", "optim", "func", "utils", "autograd", "data")
#: Parameters that are served outside of the functions that have them, or that change no number.
SERVED = {
    "out": "by the registry, for every function that has it; looked at below",
    "layout": "tensors are dense",
    "memory_format": "elements are in order",
    "pin_memory": "memory is that of the CPU",
    "non_blocking": "nothing is asynchronous",
    "foreach": "how fast, and not what",
    "stable": "every sort is",
    "sorted": "what is asked for is sorted anyway",
    "check_errors": "errors are always raised",
    "masked": "of sparse tensors",
    "warn_only": "everything is deterministic",
    "mmap": "arrays are read into memory",
    "implicit": "of PyTorch's tracer",
    "gen_non_contig_grad_outputs": "where numbers are in memory, and not which",
}
#: Functions whose form is given from outside, or that answer the same for every argument.
FORMS = {
    "apply", "setup_context", "backward", "vjp", "jvp", "watch", "get_device", "set_num_threads", "reduce",
    "clip_grad_norm_", "pin_memory", "is_pinned", "set_flush_denormal", "is_autocast_enabled", "cuda", "compile",
}  # fmt: skip
FREE = {
    ("gumbel_softmax", "eps"): "PyTorch does not read it either",
    ("__init__", "args"): "Identity takes anything, as PyTorch's does",
    ("__init__", "kwargs"): "Identity takes anything, as PyTorch's does",
    ("__init__", "data"): "parameters and buffers read it in __new__",
    ("__init__", "requires_grad"): "parameters read it in __new__",
    ("__init__", "persistent"): "buffers read it in __new__",
    ("__init__", "worker_init_fn"): "data is loaded in one process",
    ("__init__", "multiprocessing_context"): "data is loaded in one process",
    ("__init__", "pin_memory_device"): "memory is that of the CPU",
    ("__init__", "in_order"): "batches are",
    ("__init__", "data_source"): "the class that others derive from",
    ("forward", "input"): "Module has none",
    ("forward", "args"): "Function has none",
    ("forward", "kwargs"): "Function has none",
    ("each", "name"): "not offered",
    ("add", "saved"): "not offered",
    ("put", "indices"): "not offered, and shown by the node",
}


def noted(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What a node only shows of its options, as its ``_saved_`` attributes."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "saved" for t in node.targets):
            yield node.value
        elif isinstance(node, ast.Call):
            yield from (k.value for k in node.keywords if k.arg == "saved")
            if isinstance(node.func, ast.Name) and node.func.id == "_called":
                yield from node.args[1:2]


def unread(function: ast.FunctionDef) -> Iterator[str]:
    """The parameters that a body never reads, other than to show them."""
    shown = {id(inner) for tree in noted(function) for inner in ast.walk(tree)}
    body = (node for statement in function.body for node in ast.walk(statement))
    read = {node.id for node in body if isinstance(node, ast.Name) and id(node) not in shown}
    a = function.args
    given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(v for v in (a.vararg, a.kwarg) if v is not None)]
    for p in (one.arg for one in given):
        if p not in read and p not in ("self", "cls") and not p.startswith("_"):
            yield p


def offered(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Functions and methods that users call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            yield node


def test_every_option_is_read() -> None:
    ignored = [
        f"{path.relative_to(ROOT)}: {function.name}({p})"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for function in offered(ast.parse(path.read_text()))
        if function.name not in FORMS
        for p in unread(function)
        if p not in SERVED and (function.name, p) not in FREE
    ]
    assert ignored == []


def test_out_is_served_for_every_function_that_has_it() -> None:
    """Functions either store into it themselves or are wrapped by the registry."""
    for module, table in FUNCTIONS.items():
        for name, f in table.items():
            raw = f
            while hasattr(raw, "__wrapped__"):
                raw = raw.__wrapped__
            if takes_out(raw):
                assert f.__name__ and "storing" in f.__code__.co_name, f"{module}.{name}"


REFUSED = """
t.linalg.lu(A,pivot=False) t.linalg.lu_factor(A,pivot=False) t.linalg.svd(A,driver='x')
t.linalg.svdvals(A,driver='x') t.linalg.lstsq(A,A,driver='x') t.cdist(A,A,compute_mode='x')
t.normal(t.zeros(2),t.tensor([1.,-1.]))
t.normal(0.,-1.,(2,)) t.repeat_interleave(A,2,output_size=5) t.repeat_interleave(A[0],t.tensor([1,2]),output_size=4)
t.meshgrid(A[0],indexing='x') t.gather(A,0,t.tensor([[0]]),sparse_grad=True) t.gradient(A,edge_order=3)
F.embedding(t.tensor([0]),A,sparse=True) A.to(device='cuda') A.to(other=1) t.zeros(2,device='cuda')
t.full((2,),1.,device='cuda') t.nn.Linear(1,1,device='cuda') t.as_tensor([1.],device='cuda')
t.nn.Module(1) t.nn.Module(a=1) t.Tensor([1.],dtype=1)
t.nn.Linear(1,1).register_forward_hook(print,always_call=True)
t.func.jvp(lambda*w:F.embedding(t.tensor([0]),w[0],max_norm=1.),(A,),(A,))
"""


@pytest.mark.parametrize("call", REFUSED.split())
def test_options_that_are_not_served_are_refused(call: str) -> None:
    names: dict[str, Any] = {"t": torch, "F": torch.nn.functional, "A": torch.tensor([[1.0, 2.0], [3.0, 5.0]])}
    with pytest.raises((RuntimeError, TypeError, ValueError, AssertionError)):
        eval(call, names)


def test_sums_of_numbers_have_the_dtype_that_is_asked_for() -> None:
    x = torch.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    for f, expected, slopes in ((torch.nansum, 4.0, [1.0, 0.0, 1.0]), (torch.nanmean, 2.0, [0.5, 0.0, 0.5])):
        made = f(x, dtype=torch.float64)
        assert (made.item(), made.dtype) == (expected, torch.float64)
        (g,) = torch.autograd.grad(made, x)
        assert (g.tolist(), g.dtype) == (slopes, torch.float32)
    assert torch.nansum(torch.tensor([1, 2]), dtype=torch.float32).dtype is torch.float32


def test_counts_of_weights_have_the_dtype_of_float32_weights_alone() -> None:
    places = torch.tensor([0, 1, 1])
    assert torch.bincount(places, torch.ones(3)).dtype is torch.float32
    assert torch.bincount(places, torch.ones(3, dtype=torch.int32)).dtype is torch.float64


def test_vectors_and_factors_that_are_not_wanted_are_not_given() -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], requires_grad=True)
    u, s, v = torch.svd(a, compute_uv=False)
    assert (u.tolist(), v.tolist()) == (torch.zeros(3, 3).tolist(), torch.zeros(2, 2).tolist())
    assert s.requires_grad and not u.requires_grad
    packed = torch.linalg.lu_factor(a)
    p, lower, upper = torch.lu_unpack(*packed, unpack_data=False)
    assert (tuple(p.shape), lower.numel(), upper.numel()) == ((3, 3), 0, 0)
    assert torch.lu_unpack(*packed, unpack_pivots=False)[0].numel() == 0
    assert torch.linalg.matrix_rank(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), hermitian=True).item() == 0


def test_rows_of_tables_are_shrunk_to_a_norm() -> None:
    table = torch.tensor([[3.0, 4.0], [0.1, 0.1], [9.0, 9.0]], requires_grad=True)
    rows = torch.nn.functional.embedding(torch.tensor([0, 0, 1]), table, max_norm=1.0)
    assert np.allclose(rows.tolist(), [[0.6, 0.8], [0.6, 0.8], [0.1, 0.1]])
    assert np.allclose(table.tolist(), [[0.6, 0.8], [0.1, 0.1], [9.0, 9.0]])
    assert table._version == 1
    rows.pow(2).sum().backward()
    assert np.allclose(table.grad.tolist(), [[2.4, 3.2], [0.2, 0.2], [0.0, 0.0]])
    layer = torch.nn.Embedding.from_pretrained(torch.ones(3, 2), max_norm=1.0, norm_type=1.0)
    assert layer(torch.tensor([2])).tolist()[0] == pytest.approx([0.5, 0.5])
    assert repr(layer) == "Embedding(3, 2, max_norm=1.0, norm_type=1.0)"


def test_gradients_of_rows_are_divided_by_how_often_they_were_asked_for() -> None:
    table = torch.tensor([[3.0, 4.0], [0.5, 0.5], [9.0, 9.0]], requires_grad=True)
    layer = torch.nn.Embedding(3, 2, scale_grad_by_freq=True, _weight=table)
    rows = layer(torch.tensor([0, 0, 1]))
    assert rows.grad_fn.name() == "EmbeddingBackward0"
    (rows * torch.tensor([[1.0], [3.0], [5.0]])).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0, 2.0], [5.0, 5.0], [0.0, 0.0]]
    with pytest.raises(NotImplementedError, match="no second derivative"):
        torch.autograd.grad(layer(torch.tensor([0])).pow(2).sum(), layer.weight, create_graph=True)


def test_numbers_that_elements_cannot_hold_wrap() -> None:
    i, u = torch.tensor([1, 7], dtype=torch.int8), torch.tensor([1, 7], dtype=torch.uint8)
    assert ((i + 300).tolist(), (300 - i).tolist(), (i * 300).tolist()) == ([45, 51], [43, 37], [44, 52])
    assert ((u + -1).tolist(), (i // 300).tolist(), (i & 300).tolist()) == ([0, 6], [0, 0], [0, 4])
    assert ((i == 257).tolist(), i.clone().add_(300).tolist()) == ([True, False], [45, 51])
    for refused in (lambda: i**300, lambda: torch.add(i, i, alpha=300), lambda: i + 2**70):
        with pytest.raises((RuntimeError, OverflowError)):
            refused()


def test_einsum_takes_lists_of_numbers_for_letters() -> None:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], requires_grad=True)
    v = torch.tensor([1.0, 2.0])
    made = torch.einsum(a, [0, 1], v, [1], [0])
    assert made.tolist() == [5.0, 11.0, 19.0]
    made.sum().backward()
    assert a.grad.tolist() == [[1.0, 2.0]] * 3
    assert torch.einsum(a, [..., 40], [40, ...]).tolist() == a.t().tolist()
    assert torch.einsum(a, [30, 2]).tolist() == a.t().tolist()  # in the order of the numbers
    with pytest.raises(ValueError, match="not within the valid range"):
        torch.einsum(a, [52, 0])
