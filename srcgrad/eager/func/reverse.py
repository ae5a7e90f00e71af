"""Gradients of functions: ``grad``, ``grad_and_value``, ``vjp``, ``jacrev``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import messages, pytree
from srcgrad.eager.engine import run, wanted
from srcgrad.eager.func.arguments import chosen, put, require_outputs, require_tensors, split_aux
from srcgrad.eager.hooks import through_hooks
from srcgrad.eager.levels import Level, check_home, is_alive, made_of, stripped, track
from srcgrad.eager.modes import state
from srcgrad.eager.size import Size
from srcgrad.eager.tensor import Tensor

_GRAD = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"


def tracked(tree: Any, level: Level) -> tuple[Any, list[Tensor], dict[int, Tensor]]:
    """The tensors of a tree as leaves of a level; the leaves, and what each was made from."""
    leaves, spec = pytree.flatten(tree)
    require_tensors(leaves)
    made = [track(leaf, level) for leaf in leaves]
    originals = {id(inner): outer for inner, outer in zip(made, leaves, strict=True)}
    return pytree.unflatten(spec, made), made, originals


def gradients(outputs: list[Tensor], seeds: list[Any], inputs: list[Tensor], create: bool, keep: bool) -> list[Tensor]:
    """The gradients of outputs at the leaves of a level; zeros where there are none."""
    roots: list[Any] = []
    for output, seed in zip(outputs, seeds, strict=True):
        node, number = output.edge()
        if node is not None:
            roots.append((node, number, seed if create else seed.array))
    places, targets = wanted(inputs)
    found: list[Any] = [None] * len(places)
    if roots:
        found = run(roots, keep=keep or create, create=create, captures=places, accumulate=False, targets=targets)
    made: list[Tensor] = []
    for tensor in inputs:
        node, number = tensor.edge()
        g = found[places[id(node), number]]
        if g is None:
            g = made_of(np.zeros(tensor.array.shape, tensor.array.dtype))
        check_home(g, tensor, True)
        g = g if isinstance(g, Tensor) else made_of(g)
        made.append(through_hooks(tensor.hooks, g) if tensor.hooks else g)
    return made


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function of the gradient and the value of ``func``, which returns a scalar."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with Level("grad") as level:
            inner, leaves, originals = tracked(chosen(args, argnums), level)
            output = func(*put(args, argnums, inner), **kwargs)
            aux = None
            if has_aux:
                output, aux = split_aux(output, _GRAD)
            if not isinstance(output, Tensor):
                raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
            if output.array.ndim:
                raise RuntimeError(
                    f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {output.array.ndim} dims. "
                    "Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            create = level.recorded and output.requires_grad and is_alive(output, level)
            seed = made_of(np.ones((), output.array.dtype))
            keep = create or aux is not None
            found = gradients([output], [seed], leaves, create, keep)
            _, spec = pytree.flatten(inner)
            grads = pytree.unflatten(spec, [stripped(g, level, originals) for g in found])
            value = stripped(output, level, originals)
            if has_aux:
                return grads, (value, pytree.mapped(lambda t: stripped(t, level, originals), aux))
            return grads, value

    return wrapper


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function of the gradient of ``func``, which returns a scalar; ``(gradient, aux)`` with ``has_aux``."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The output of ``func``, and the function that takes its cotangents to those of the primals."""
    with Level("grad") as level:
        inner, leaves, originals = tracked(primals, level)
        output = func(*inner)
        aux = None
        if has_aux:
            output, aux = split_aux(output, _VJP)
        outputs, spec = require_outputs(output, _VJP)
        for one in outputs:
            if one.array.dtype.kind not in "fc":
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{one.dtype}"
                )
        recorded = level.recorded and any(one.requires_grad and is_alive(one, level) for one in outputs)
        values = pytree.unflatten(spec, [stripped(one, level, originals) for one in outputs])
        aux = pytree.mapped(lambda t: stripped(t, level, originals), aux) if has_aux else None
    single = len(primals) == 1
    _, primal_spec = pytree.flatten(inner)

    def vjp_fn(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        """The cotangents of the primals for cotangents of the output."""
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        seeds, seeds_spec = pytree.flatten(given)
        if seeds_spec != spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {pytree.picture(seeds_spec)}, primal output: {pytree.picture(spec)}"
            )
        for index, (seed, one) in enumerate(zip(seeds, outputs, strict=True)):
            if seed.array.shape != one.array.shape:
                raise RuntimeError(
                    messages.SEED_SHAPE.format(
                        index=index, given=Size(seed.array.shape), expected=Size(one.array.shape)
                    )
                )
        create = recorded or any(seed.requires_grad for seed in seeds)
        if create_graph is not None:
            create = create_graph
        create = create and state.recording
        found = gradients(outputs, seeds, leaves, create, retain_graph)
        made = pytree.unflatten(primal_spec, [stripped(g, level, originals) for g in found])
        return made if not single else (made[0],)

    return (values, vjp_fn, aux) if has_aux else (values, vjp_fn)


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of ``func``, row by row from its outputs."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        from srcgrad.eager.func.batching import vmap

        picked = chosen(args, argnums)
        several = isinstance(argnums, tuple)

        def partial(*values: Any) -> Any:
            return func(*put(args, argnums, values if several else values[0]), **kwargs)

        result = vjp(partial, *(picked if several else (picked,)), has_aux=has_aux)
        output, pull = result[0], result[1]
        outputs, spec = pytree.flatten(output)
        rows: list[Any] = []
        for index, one in enumerate(outputs):
            count = one.array.size
            basis = made_of(np.eye(count, dtype=one.array.dtype).reshape(count, *one.array.shape))
            zeros = [made_of(np.zeros(other.array.shape, other.array.dtype)) for other in outputs]

            def row(seed: Tensor, index: int = index, zeros: list[Any] = zeros) -> Any:
                return pull(pytree.unflatten(spec, [*zeros[:index], seed, *zeros[index + 1 :]]))

            found = vmap(row)(basis)
            shape = tuple(one.array.shape)
            whole = pytree.mapped(lambda t, shape=shape: t.reshape(shape + tuple(t.array.shape[1:])), found)
            rows.append(whole if several else whole[0])
        made = pytree.unflatten(spec, rows)
        return (made, result[2]) if has_aux else made

    return wrapper
