"""Gradients of every function against differences, of first and second order, and against PyTorch where it is there."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad.eager as eager
from tests.eager.expressions import THEMES, leaves

EXPRESSIONS = list(itertools.chain(*THEMES.values()))
STEP = 1e-6
# Vectors of singular values and the like: values that jump where their basis does.
SECOND_ORDER_LESS = {"t.linalg.svd(A)[0].abs()", "t.linalg.eigh(P)[1].abs()"}

# PyTorch's own nodes refuse to go backward here.
REFUSED_BY_PYTORCH = {"t.linalg.cond(A,1)"}


def value(torch: Any, expression: str, given: dict[str, Any]) -> Any:
    """A number made of all elements of the expression."""
    y = eval(expression, {"t": torch, **given})
    weights = np.cos(np.arange(y.numel()) + 1.0).reshape(tuple(y.shape))
    return (y * torch.tensor(weights)).sum()


def tensors(torch: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: torch.tensor(array.copy(), requires_grad=True) for name, array in arrays.items()}


def gradients(torch: Any, expression: str, arrays: dict[str, Any], create_graph: bool = False) -> dict[str, Any]:
    given = tensors(torch, arrays)
    total = value(torch, expression, given)
    found = torch.autograd.grad(total, list(given.values()), create_graph=create_graph, allow_unused=True)
    return {name: g for name, g in zip(given, found, strict=True) if g is not None}


def directions(arrays: dict[str, Any], names: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        name: rng.standard_normal(arrays[name].shape)
        + (1j * rng.standard_normal(arrays[name].shape) if arrays[name].dtype.kind == "c" else 0)
        for name in names
    }


def symmetric(along: dict[str, Any]) -> dict[str, Any]:
    """Directions in which matrices of which functions read one triangle stay symmetric, or triangular."""
    for name in {"P", "H"} & set(along):
        along[name] = along[name] + along[name].conj().T
    if "S" in along:
        along["S"] = np.tril(along["S"])
    return along


def difference(f: Callable[[dict[str, Any]], float], arrays: dict[str, Any], along: dict[str, Any]) -> float:
    """The slope of ``f`` along a direction, by a central difference."""
    moved = [
        f({name: a + sign * STEP * along[name] if name in along else a for name, a in arrays.items()})
        for sign in (1, -1)
    ]
    return (moved[0] - moved[1]) / (2 * STEP)


def along(g: Any, direction: Any) -> float:
    """A gradient in PyTorch's convention paired with a direction."""
    return float(np.sum(np.real(np.conj(g) * direction)))


def arrays_of(expression: str) -> dict[str, Any]:
    """The leaves that the expression speaks of."""
    code = compile(expression, "<expression>", "eval")
    names = set(code.co_names)
    return {name: array for name, array in leaves().items() if name in names}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients_are_the_slopes(expression: str) -> None:
    if "cholesky_solve" not in expression and ("lgamma" in expression or "special" in expression):
        pytest.importorskip("scipy")
    arrays = arrays_of(expression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gradients(eager, expression, arrays)
        direction = symmetric(directions(arrays, arrays))  # a gradient of None stands for zeros
        slope = difference(lambda moved: value(eager, expression, tensors(eager, moved)).item(), arrays, direction)
        total = sum(along(g.numpy(), direction[name]) for name, g in found.items())
    assert total == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_tangents_are_the_slopes(expression: str) -> None:
    if "cholesky_solve" not in expression and ("lgamma" in expression or "special" in expression):
        pytest.importorskip("scipy")
    arrays = arrays_of(expression)
    direction = symmetric(directions(arrays, arrays))
    primals, tangents = ([eager.tensor(given[name]) for name in arrays] for given in (arrays, direction))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, tangent = eager.func.jvp(
            lambda *given: value(eager, expression, dict(zip(arrays, given, strict=True))),
            tuple(primals),
            tuple(tangents),
        )
        slope = difference(lambda moved: value(eager, expression, tensors(eager, moved)).item(), arrays, direction)
    assert tangent.item() == pytest.approx(slope, rel=1e-5, abs=1e-6)


def narrowed(arrays: dict[str, Any], parity: int) -> dict[str, Any]:
    """Every second array in single precision."""
    narrow = {"f": np.float32, "c": np.complex64}
    return {
        name: array.astype(narrow[array.dtype.kind]) if i % 2 == parity else array
        for i, (name, array) in enumerate(arrays.items())
    }


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients_have_the_dtype_of_what_they_are_of(expression: str) -> None:
    for parity in (0, 1):
        arrays = narrowed(arrays_of(expression), parity)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = gradients(eager, expression, arrays)
            except (RuntimeError, NotImplementedError, ImportError):
                continue  # operands of two dtypes, which PyTorch refuses as well
        assert {name: g.numpy().dtype for name, g in found.items()} == {name: arrays[name].dtype for name in found}


@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e not in REFUSED_BY_PYTORCH])
def test_gradients_agree_with_pytorch(expression: str) -> None:
    torch = pytest.importorskip("torch")
    arrays = arrays_of(expression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs = gradients(eager, expression, arrays), gradients(torch, expression, arrays)
        assert mine.keys() == theirs.keys()
        for name, g in theirs.items():
            assert mine[name].numpy() == pytest.approx(g.resolve_conj().numpy(), rel=1e-8, abs=1e-8)


def twice(expression: str, arrays: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """The gradients paired with fixed weights, and the gradients of that."""
    given = tensors(eager, arrays)
    first = eager.autograd.grad(
        value(eager, expression, given), list(given.values()), create_graph=True, allow_unused=True
    )
    total: Any = 0.0
    for g in first:
        if g is not None and g.requires_grad:
            weights = eager.tensor(np.sin(np.arange(g.numel()) + 2.0).reshape(tuple(g.shape)))
            total = total + (g.real * weights + 2 * g.imag * weights if g.is_complex() else g * weights).sum()
    if isinstance(total, float):
        return 0.0, {}
    found = eager.autograd.grad(total, list(given.values()), allow_unused=True)
    return total.item(), {name: g for name, g in zip(given, found, strict=True) if g is not None}


@pytest.mark.slow
@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e not in SECOND_ORDER_LESS])
def test_gradients_of_gradients_are_their_slopes(expression: str) -> None:
    arrays = arrays_of(expression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, found = twice(expression, arrays)
        if not found:
            return
        direction = symmetric(directions(arrays, found))
        slope = difference(lambda moved: twice(expression, moved)[0], arrays, direction)
        total = sum(along(g.numpy(), direction[name]) for name, g in found.items())
    assert total == pytest.approx(slope, rel=1e-4, abs=1e-4)
