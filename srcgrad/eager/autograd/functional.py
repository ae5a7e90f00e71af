"""``torch.autograd.functional``: Jacobians, Hessians and their products with vectors, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from srcgrad.eager.autograd.functional_checks import (
    FORWARD_WITH_GRAPH,
    FORWARD_WITH_STRICT,
    FORWARD_WITHOUT_VECTORIZE,
    STRATEGY,
    STRATEGY_WITH_HINT,
    STRICT_WITH_VECTORIZE,
    check_single,
    check_strict,
    check_vector,
    filled,
    ones_like,
    tensors_of,
    zeros_like,
)  # fmt: skip
from srcgrad.eager.engine import grad
from srcgrad.eager.func.batching import batched
from srcgrad.eager.func.forward import pushed_columns
from srcgrad.eager.modes import enable_grad, is_grad_enabled, set_grad_enabled
from srcgrad.eager.operations.joining import stack
from srcgrad.eager.operations.splitting import split
from srcgrad.eager.tensor import Tensor

_OUTPUTS = "outputs of the user-provided function"
Tensors = tuple[Tensor, ...]


# --- parts -----------------------------------------------------------------------------------------------------------
def _prepared(inputs: Sequence[Tensor], create: bool, need: bool) -> Tensors:
    """Inputs at which gradients can be taken: views of those whose graph is kept, else leaves."""
    return tuple(x.view_as(x) if create and x.requires_grad else x.detach().requires_grad_(need) for x in inputs)


def _released(values: Any, create: bool) -> Any:
    """Results, without their graph unless it is wanted."""
    if isinstance(values, tuple):
        return tuple(_released(value, create) for value in values)
    return values if create else values.detach()


def _grads(
    outputs: Sequence[Any],
    inputs: Sequence[Tensor],
    seeds: Sequence[Any] | None = None,
    *,
    create: bool = False,
    keep: bool | None = None,
    batch: bool = False,
) -> tuple[Any, ...]:
    """Gradients, None where there are none."""
    seeds = (None,) * len(outputs) if seeds is None else seeds
    pairs = [(y, s) for y, s in zip(outputs, seeds, strict=True) if y is not None and y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        tuple(y for y, _ in pairs), inputs, tuple(s for _, s in pairs), allow_unused=True, create_graph=create,
        retain_graph=keep, is_grads_batched=batch,
    )  # fmt: skip


def _unpacked(value: Any, several: bool) -> Any:
    return value if several else value[0]


def _unpacked_matrix(rows: Any, several_outputs: bool, several_inputs: bool) -> Any:
    made = tuple(tuple(row) if several_inputs else row[0] for row in rows)
    return _unpacked(made, several_outputs)


def _vector(v: Any, like: Sequence[Tensor], several: bool, create: bool, api: str) -> Tensors:
    _, given = tensors_of(v, "v", api)
    vector = _prepared(given, create, False)
    check_vector(vector, like, several)
    return vector


def _single(values: Sequence[Tensor]) -> bool:
    return len(values) == 1 and values[0].array.size == 1


def _mode(create: bool) -> Any:
    return set_grad_enabled(True if create else is_grad_enabled())


# --- products with vectors -------------------------------------------------------------------------------------------
def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of ``func``, and ``v`` times its Jacobian."""
    with enable_grad():
        several, given = tensors_of(inputs, "inputs", "vjp")
        xs = _prepared(given, create_graph, True)
        several_outputs, ys = tensors_of(func(*xs), _OUTPUTS, "vjp")
        check_strict(ys, "outputs", strict)
        if v is not None:
            v = _vector(v, ys, several_outputs, create_graph, "vjp")
        elif not _single(ys):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element."
            )
    with _mode(create_graph):
        found = _grads(ys, xs, v, create=create_graph)
        product = filled(found, xs, strict, create_graph, "back")
    return _unpacked(_released(ys, create_graph), several_outputs), _unpacked(_released(product, create_graph), several)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of ``func``, and its Jacobian times ``v``, by differentiating a pullback."""
    with enable_grad():
        several, given = tensors_of(inputs, "inputs", "jvp")
        xs = _prepared(given, create_graph, True)
        if v is not None:
            v = _vector(v, xs, several, create_graph, "jvp")
        elif not _single(xs):
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                "single element."
            )
        several_outputs, ys = tensors_of(func(*xs), _OUTPUTS, "jvp")
        check_strict(ys, "outputs", strict)
        seeds = tuple(zeros_like(y, requires_grad=True) for y in ys)
        pulled = _grads(ys, xs, seeds, create=True)
        check_strict(pulled, "grad_inputs", strict)
    v = (ones_like(xs[0]),) if v is None else v
    with _mode(create_graph):
        found = _grads(pulled, seeds, v, create=create_graph)
        product = filled(found, ys, strict, create_graph, "back_trick")
    return (
        _unpacked(_released(ys, create_graph), several_outputs),
        _unpacked(_released(product, create_graph), several_outputs),
    )


def _first_gradient(func: Callable[..., Any], inputs: Any, v: Any, create: bool, strict: bool, api: str) -> Any:
    several, given = tensors_of(inputs, "inputs", api)
    xs = _prepared(given, create, True)
    if v is not None:
        v = _vector(v, xs, several, create, api)
    elif not _single(xs):
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
            "element."
        )
    several_outputs, ys = tensors_of(func(*xs), _OUTPUTS, api)
    check_strict(ys, "outputs", strict)
    check_single(ys, several_outputs, api)
    slope = _grads(ys, xs, create=True)
    check_strict(slope, "jacobian", strict)
    return several, xs, ys, slope, (ones_like(xs[0]),) if v is None else v


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of ``func``, and ``v`` times its Hessian."""
    with enable_grad():
        several, xs, ys, slope, v = _first_gradient(func, inputs, v, create_graph, strict, "vhp")
    with _mode(create_graph):
        product = filled(_grads(slope, xs, v, create=create_graph), xs, strict, create_graph, "double_back")
    return _released(ys, create_graph)[0], _unpacked(_released(product, create_graph), several)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of ``func``, and its Hessian times ``v``."""
    with enable_grad():
        several, xs, ys, slope, v = _first_gradient(func, inputs, v, create_graph, strict, "hvp")
        seeds = tuple(zeros_like(x, requires_grad=True) for x in xs)
        twice = _grads(slope, xs, seeds, create=True)
        check_strict(slope, "hessian", strict)
    with _mode(create_graph):
        found = _grads(twice, seeds, v, create=create_graph)
        product = filled(found, xs, strict, create_graph, "double_back_trick")
    return _released(ys, create_graph)[0], _unpacked(_released(product, create_graph), several)


# --- whole matrices --------------------------------------------------------------------------------------------------
def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of every output by every input, nested as outputs and inputs are."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(STRATEGY_WITH_HINT)
    rows: Any
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(FORWARD_WITH_GRAPH)
        if strict:
            raise RuntimeError(FORWARD_WITH_STRICT)
        several, given = tensors_of(inputs, "inputs", "jacobian")
        if not vectorize:
            raise NotImplementedError(FORWARD_WITHOUT_VECTORIZE)
        several_outputs, rows = _by_columns(func, given)
        if several_outputs and several:
            return rows
        return _unpacked_matrix(rows, several_outputs, several)
    with enable_grad():
        several, given = tensors_of(inputs, "inputs", "jacobian")
        xs = _prepared(given, create_graph, True)
        several_outputs, ys = tensors_of(func(*xs), _OUTPUTS, "jacobian")
        check_strict(ys, "outputs", strict)
        if vectorize:
            if strict:
                raise RuntimeError(STRICT_WITH_VECTORIZE)
            rows = _at_once(ys, xs, create_graph)
        else:
            rows = tuple(_row_by_row(i, y, xs, create_graph, strict) for i, y in enumerate(ys))
        return _unpacked_matrix(_released(rows, create_graph), several_outputs, several)


def _basis(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The unit vectors of all tensors taken together, for each tensor the part that is its own."""
    sizes = [x.array.size for x in tensors]
    made: list[Tensor] = []
    start = 0
    for x, size in zip(tensors, sizes, strict=True):
        part = zeros_like(x, shape=(sum(sizes), size))
        for i in range(size):
            part.array[start + i, i] = 1
        start += size
        made.append(part)
    return made


def _at_once(ys: Tensors, xs: Tensors, create: bool) -> tuple[Any, ...]:
    sizes = [y.array.size for y in ys]
    flat = tuple(y.reshape(-1) for y in ys)
    found = _grads(flat, xs, _basis(ys), create=create, batch=True)
    columns: list[Any] = []
    for g, x in zip(found, xs, strict=True):
        whole = zeros_like(x).expand((sum(sizes), *x.shape)) if g is None else g
        parts = split(whole, sizes)
        columns.append([part.reshape(tuple(y.shape) + tuple(x.shape)) for part, y in zip(parts, ys, strict=True)])
    return tuple(zip(*columns, strict=True))


def _row_by_row(i: int, y: Tensor, xs: Tensors, create: bool, strict: bool) -> tuple[Tensor, ...]:
    rows: list[list[Tensor]] = [[] for _ in xs]
    for j in range(y.array.size):
        found = _grads((y.reshape(-1)[j],), xs, create=create, keep=True)
        for place, (row, g, x) in enumerate(zip(rows, found, xs, strict=True)):
            if g is None and strict:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {place}. This is not allowed in "
                    "strict mode."
                )
            if g is not None and strict and create and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in "
                    "strict mode when create_graph=True."
                )
            row.append(zeros_like(x) if g is None else g)
    return tuple(stack(row, 0).view(tuple(y.shape) + tuple(x.shape)) for row, x in zip(rows, xs, strict=True))


def _by_columns(func: Callable[..., Any], xs: Tensors) -> tuple[bool, list[list[Tensor]]]:
    """The Jacobian from the tangents of the outputs for every unit tangent of the inputs."""
    shape: list[Any] = []

    def outputs(*values: Any) -> Any:
        several, ys = tensors_of(func(*values), _OUTPUTS, "jacobian")
        shape[:] = [several]
        return ys

    sizes = [x.array.size for x in xs]
    tangents = [part.reshape((sum(sizes), *x.shape)) for part, x in zip(_basis(xs), xs, strict=True)]
    dots = batched(lambda *v: pushed_columns(outputs, xs, v))(*tangents)
    rows: list[list[Tensor]] = []
    for dot in dots:
        row: list[Tensor] = []
        for part, x in zip(split(dot, sizes), xs, strict=True):
            turned = part.movedim(0, -1)
            row.append(turned.reshape(tuple(turned.shape[:-1]) + tuple(x.shape)))
        rows.append(row)
    return shape[0], rows


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function with one element as its output."""
    several, xs = tensors_of(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(STRATEGY)

    def scalar(*values: Any) -> Tensor:
        y = func(*values)
        several_outputs, ys = tensors_of(y, _OUTPUTS, "hessian")
        check_strict(ys, "outputs", strict)
        check_single(ys, several_outputs, "hessian")
        made: Tensor = y.squeeze()
        return made

    def slope(*values: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            values = tuple(x.requires_grad_(True) for x in values)
        made = jacobian(scalar, values, create_graph=True)
        check_strict(made, "jacobian", strict)
        return made

    rows = jacobian(slope, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if several else rows[0][0]
