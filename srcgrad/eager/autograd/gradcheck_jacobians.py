"""Jacobians of a function by differences, by its pullback, by tangents; for each output, one for each input.

A Jacobian has a row for each element of the input and a column for each of the output.  The functions that begin with
``products`` give what remains of it when the input moves along one direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcgrad.eager.autograd import gradcheck_messages as messages
from srcgrad.eager.autograd.forward_ad import dual_level, make_dual, unpack_dual
from srcgrad.eager.engine import grad
from srcgrad.eager.generators import Generator, uniform
from srcgrad.eager.graph import Node, sequence
from srcgrad.eager.tensor import Tensor

Jacobians = list[list[Any]]


class GradcheckError(RuntimeError):
    """Raised by ``gradcheck`` where derivatives disagree."""


def _outputs(func: Callable[..., Any], xs: Sequence[Any]) -> list[Any]:
    made = func(*xs)
    several = made if isinstance(made, tuple | list) else (made,)
    return [np.array(y.array) for y in several]


def _needs(xs: Sequence[Any]) -> list[Tensor]:
    return [x for x in xs if isinstance(x, Tensor) and x.requires_grad]


# --- by differences --------------------------------------------------------------------------------------------------
def _difference(func: Callable[..., Any], xs: Sequence[Any], array: Any, step: Any, eps: float) -> list[Any]:
    """The central difference of the outputs when ``array`` moves by ``step`` to both sides, in place."""
    before = array.copy()
    try:
        array[...] = before - step
        left = _outputs(func, xs)
        array[...] = before + step
        right = _outputs(func, xs)
    finally:
        array[...] = before
    return [((b - a) / (2 * eps)).ravel() for a, b in zip(left, right, strict=True)]


def _derivative(func: Callable[..., Any], xs: Sequence[Any], array: Any, direction: Any, eps: float) -> list[Any]:
    """The derivative along a direction; for complex inputs the conjugate one, from both axes."""
    if array.dtype.kind != "c":
        return _difference(func, xs, array, direction * eps, eps)
    across, along = direction if isinstance(direction, tuple) else (direction, direction)
    real = _difference(func, xs, array, across * eps, eps)
    imaginary = _difference(func, xs, array, 1j * along * eps, eps)
    return [a + 1j * b for a, b in zip(real, imaginary, strict=True)]


def by_differences(func: Callable[..., Any], xs: Sequence[Any], eps: float) -> Jacobians:
    """The Jacobians by central differences."""
    count = len(_outputs(func, xs))
    made: Jacobians = [[] for _ in range(count)]
    for x in _needs(xs):
        array = x.storage_array()
        columns: list[list[Any]] = []
        for place in np.ndindex(array.shape):
            unit = np.zeros(array.shape, array.real.dtype)
            unit[place] = 1
            columns.append(_derivative(func, xs, array, unit, eps))
        for i in range(count):
            made[i].append(np.array([column[i] for column in columns]) if columns else np.zeros((0, 0)))
    return made


def products_by_differences(func: Callable[..., Any], xs: Sequence[Any], us: Sequence[Any], eps: float) -> Jacobians:
    """The derivatives of the outputs along one direction of each input."""
    columns = [_derivative(func, xs, x.storage_array(), u, eps) for x, u in zip(_needs(xs), us, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


# --- by the pullback -------------------------------------------------------------------------------------------------
def _pulled(y: Tensor, needs: Sequence[Tensor], seed: Any) -> Any:
    return grad(y.clone(), needs, Tensor.of(seed), retain_graph=True, allow_unused=True)


def _rows(xs: Sequence[Any], y: Tensor, seeds: Sequence[Any], tolerance: float, check_dtypes: bool) -> list[Any]:
    """The pullbacks of the seeds for each input, twice, to see whether they are the same."""
    needs = _needs(xs)
    both: list[list[Any]] = []
    types, sizes = True, True
    for _ in range(2):
        found = [_pulled(y, needs, seed) for seed in seeds]
        made: list[Any] = []
        for j, x in enumerate(needs):
            whole = np.zeros((x.array.size, len(seeds)), x.array.dtype)
            for i, row in enumerate(found):
                g = row[j]
                if g is None:
                    continue
                types = types and g.array.dtype == x.array.dtype
                if g.array.shape != x.array.shape:
                    sizes = False
                    continue
                whole[:, i] = g.array.ravel()
            made.append(whole)
        both.append(made)
    if not types and check_dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes:
        raise GradcheckError("Analytical gradient has incorrect size")
    for a, b in zip(*both, strict=True):
        if a.size and np.abs(a - b).max() > tolerance:
            raise GradcheckError(messages.NOT_REENTRANT.format(tolerance=tolerance))
    return both[0]


def by_pullback(xs: Sequence[Any], y: Tensor, tolerance: float, check_dtypes: bool) -> list[Any]:
    """The Jacobians of one output by its gradients."""
    seeds = []
    for place in range(y.array.size):
        seed = np.zeros(y.array.size, y.array.dtype)
        seed[place] = 1
        seeds.append(seed.reshape(y.array.shape))
    return _rows(xs, y, seeds, tolerance, check_dtypes)


def products_by_pullback(
    xs: Sequence[Any], y: Tensor, v: Any, us: Sequence[Any], tolerance: float, check_dtypes: bool
) -> list[Any]:
    """``v`` times the Jacobian times ``u`` for each input."""
    made: list[Any] = []
    seed = v.astype(y.array.dtype).reshape(y.array.shape)
    for whole, u in zip(_rows(xs, y, [seed], tolerance, check_dtypes), us, strict=True):
        row = whole[:, 0]
        if isinstance(u, tuple):
            made.append(row.real @ u[0].ravel() + 1j * (row.imag @ u[1].ravel()))
        else:
            made.append(row @ u.ravel())
    return made


# --- by tangents -----------------------------------------------------------------------------------------------------
def _tangents(func: Callable[..., Any], xs: Sequence[Any], place: int, tangent: Any) -> list[tuple[Any, Any]]:
    """The outputs and their tangents, None where there is none, when one input moves."""
    with dual_level():
        given: list[Any] = []
        for i, x in enumerate(xs):
            if isinstance(x, Tensor) and x.requires_grad:
                dot = tangent if i == place else np.zeros(x.array.shape, x.array.dtype)
                x = make_dual(x.detach(), Tensor.of(dot.astype(x.array.dtype)))
            given.append(x)
        made = func(*given)
        several = made if isinstance(made, tuple | list) else (made,)
        halves = [unpack_dual(y) for y in several]
        return [(p.array, None if t is None else np.array(t.array)) for p, t in halves]


def _column(halves: list[tuple[Any, Any]], check_dtypes: bool) -> list[Any]:
    made: list[Any] = []
    for primal, tangent in halves:
        if check_dtypes and tangent is not None and (primal.dtype.kind == "c") != (tangent.dtype.kind == "c"):
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        made.append(np.zeros(primal.size, primal.dtype) if tangent is None else tangent.ravel())
    return made


def _moving(xs: Sequence[Any]) -> list[int]:
    return [i for i, x in enumerate(xs) if isinstance(x, Tensor) and x.requires_grad]


def by_tangents(func: Callable[..., Any], xs: Sequence[Any], check_dtypes: bool) -> Jacobians:
    """The Jacobians by forward-mode derivatives."""
    rows: list[list[Any]] = []
    for place in _moving(xs):
        columns: list[list[Any]] = []
        for index in np.ndindex(xs[place].array.shape):
            unit = np.zeros(xs[place].array.shape)
            unit[index] = 1
            columns.append(_column(_tangents(func, xs, place, unit), check_dtypes))
        rows.append([np.array(column) for column in zip(*columns, strict=True)])
    return [list(row) for row in zip(*rows, strict=True)]


def products_by_tangents(func: Callable[..., Any], xs: Sequence[Any], us: Sequence[Any]) -> Jacobians:
    """The derivatives of the outputs along one direction of each input, by tangents."""
    columns = [_column(_tangents(func, xs, place, u), False) for place, u in zip(_moving(xs), us, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


# --- vectors and tolerances ------------------------------------------------------------------------------------------
def vectors(needs: Sequence[Tensor], ys: Sequence[Tensor]) -> tuple[list[Any], list[Any]]:
    """Random directions of length 1 for the inputs, two for complex ones, and for the outputs; always the same."""
    generator = Generator()

    def drawn(array: Any) -> Any:
        made = uniform(generator, array.size, np.float32).astype(array.real.dtype).reshape(array.shape)
        return made / np.linalg.norm(made.ravel())

    us: list[Any] = []
    for x in needs:
        us.append((drawn(x.array), drawn(x.array)) if x.is_complex() else drawn(x.array))
    return us, [drawn(y.array).ravel() for y in ys]


def adjusted(atol: float, u: Any, v: Any) -> float:
    """The tolerance of a product of a matrix whose elements have the tolerance ``atol``."""
    across = sum(float(part.sum()) for part in u) if isinstance(u, tuple) else float(u.sum())
    return atol * across * (1.0 if v is None else float(v.sum()))


def allclose(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """Whether two arrays agree, complex ones too; without elements they do."""
    if not np.size(a) or not np.size(b):
        return True
    if np.shape(a) != np.shape(b):
        return False
    return bool(np.all(np.abs(a - b) <= atol + rtol * np.abs(b)))


class _Undefined(Node):
    """A node that lets no gradient through."""

    takes_none = True

    def apply(self, g: Any) -> Any:
        return (None,)

    apply_to_tensors = apply


def undefined(y: Tensor) -> Tensor:
    """The same values, with no gradient behind them."""
    made = Tensor.of(y.array)
    node = _Undefined()
    node.edges, node.sequence = (y.edge(),), next(sequence)
    node.shape, node.dtype = y.array.shape, y.array.dtype
    made.node = node
    return made
