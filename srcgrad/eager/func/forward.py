"""Tangents of functions: ``jvp``, ``linearize``, ``jacfwd``, ``hessian``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import pytree
from srcgrad.eager.func.arguments import chosen, put, split_aux
from srcgrad.eager.func.reverse import jacrev, vjp
from srcgrad.eager.levels import Level, made_of, pair, part
from srcgrad.eager.lifted_arrays import is_escape, is_lifted
from srcgrad.eager.tensor import Tensor

_JVP = "jvp(f, primals, tangents)"


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The output of ``func`` and its derivative along ``tangents``."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = pytree.flatten(primals)
    flat_tangents, tangents_spec = pytree.flatten(tangents)
    if spec != tangents_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure "
            f"{tangents_spec}"
        )
    for name, leaves in (("primals", flat), ("tangents", flat_tangents)):
        if not leaves:
            raise RuntimeError(f"{_JVP}: Expected {name} to contain at least one Tensor.")
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(f"{_JVP}: Expected {name} to only contain Tensors, got {type(leaf)}")
    for primal, tangent in zip(flat, flat_tangents, strict=True):
        check_tangent(primal, tangent)
    try:
        return _pushed(func, spec, flat, flat_tangents, strict, has_aux)
    except Exception as error:
        if not is_escape(error):
            raise
        return _twice_reverse(func, primals, tangents, has_aux)


def check_tangent(primal: Tensor, tangent: Tensor) -> None:
    """Refuse a tangent that does not fit."""
    if primal.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(primal.array.shape)} while the given forward gradient is of size "
            f"{list(tangent.array.shape)}."
        )


def _pushed(func: Callable[..., Any], spec: Any, flat: Any, tangents: Any, strict: bool, has_aux: bool) -> Any:
    with Level("jvp") as level:
        duals = [pair(p, t.to(p.dtype), level) for p, t in zip(flat, tangents, strict=True)]
        output = func(*pytree.unflatten(spec, duals))
        aux = None
        if has_aux:
            output, aux = split_aux(output, _JVP)
        outputs, out_spec = pytree.flatten(output)
        if not outputs:
            raise RuntimeError(
                f"{_JVP}: Expected f to be a function that has non-empty output (got output = {outputs})"
            )
        for one in outputs:
            if not isinstance(one, Tensor):
                raise RuntimeError(
                    f"{_JVP}: expected f(*primals) to return only tensors, got unsupported type {type(one)}"
                )
        halves = [_taken(one, level, strict) for one in outputs]
        values = pytree.unflatten(out_spec, [primal for primal, _ in halves])
        dots = pytree.unflatten(out_spec, [tangent for _, tangent in halves])
        if has_aux:
            aux = pytree.mapped(lambda t: _taken(t, level, False)[0] if isinstance(t, Tensor) else t, aux)
    return (values, dots, aux) if has_aux else (values, dots)


def pushed_columns(func: Callable[..., Any], primals: tuple[Tensor, ...], tangents: tuple[Tensor, ...]) -> Any:
    """The tangents of the outputs of ``func``, a tuple."""
    try:
        with Level("dual") as level:
            outputs = func(*(pair(p, t, level) for p, t in zip(primals, tangents, strict=True)))
            return tuple(_taken(one, level, False)[1] for one in outputs)
    except Exception as error:
        if not is_escape(error):
            raise
        return _twice_reverse(func, primals, tangents, False)[1]


def _taken(one: Tensor, level: Level, strict: bool) -> tuple[Tensor, Tensor]:
    if is_lifted(one.array) and one.array.level == level.id:
        return part(one, level, "primal"), part(one, level, "tangent")
    if strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    return one, made_of(np.zeros(one.array.shape, one.array.dtype))


def _twice_reverse(func: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool) -> Any:
    """The same by pullbacks: the derivative of a pullback, which is linear in the cotangent, is a pushforward."""
    result = vjp(func, *primals, has_aux=has_aux)
    outputs, spec = pytree.flatten(result[0])
    zeros = [made_of(np.zeros(one.array.shape, one.array.dtype)) for one in outputs]

    def pulled(*seeds: Any) -> Any:
        return result[1](pytree.unflatten(spec, list(seeds)), create_graph=True)

    _, back = vjp(pulled, *zeros)
    dots = pytree.unflatten(spec, list(back(tangents)))
    return (result[0], dots, result[2]) if has_aux else (result[0], dots)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The output of ``func``, and its derivative at the primals as a function of tangents."""
    output = func(*primals)
    flat, spec = pytree.flatten(primals)

    def jvp_fn(*tangents: Any) -> Any:
        """The derivative along the tangents."""
        given, given_spec = pytree.flatten(tangents)
        if given_spec != spec:
            raise RuntimeError(f"Expected the tangents {given_spec} to have the same argspec as the primals {spec}")
        for index, (tangent, primal) in enumerate(zip(given, flat, strict=True)):
            for what in ("shape", "dtype"):
                mine, its = (getattr(t, what) for t in (tangent, primal))
                if mine != its:
                    raise RuntimeError(
                        f"tangent:{index} with {what} {mine} in flattened pytree doesn't match the {what} {its} of the "
                        "corresponding primal."
                    )
        return jvp(func, primals, tangents)[1]

    return output, jvp_fn


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The Jacobian of ``func``, column by column from its inputs."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        from srcgrad.eager.func.batching import vmap

        picked = chosen(args, argnums)
        several = isinstance(argnums, tuple)
        primals = picked if several else (picked,)
        flat, spec = pytree.flatten(primals)
        columns: list[list[Tensor]] = []
        out_spec, aux = None, None

        def partial(*values: Any) -> Any:
            return func(*put(args, argnums, values if several else values[0]), **kwargs)

        for index, one in enumerate(flat):
            count = one.array.size
            basis = made_of(np.eye(count, dtype=one.array.dtype).reshape(count, *one.array.shape))
            zeros = [made_of(np.zeros(other.array.shape, other.array.dtype)) for other in flat]

            def column(tangent: Tensor, index: int = index, zeros: list[Any] = zeros) -> Any:
                nonlocal aux
                dots = pytree.unflatten(spec, [*zeros[:index], tangent, *zeros[index + 1 :]])
                result = jvp(partial, primals, dots, has_aux=has_aux)
                aux = result[2] if has_aux else None
                return result[1]

            found = vmap(column, randomness=randomness)(basis)
            leaves, out_spec = pytree.flatten(found)
            shape = tuple(one.array.shape)
            columns.append([_last(leaf, shape) for leaf in leaves])
        assert out_spec is not None
        rows: list[Any] = []
        for row in zip(*columns, strict=True):
            tree = pytree.unflatten(spec, list(row))
            rows.append(tree if several else tree[0])
        made = pytree.unflatten(out_spec, rows)
        return (made, aux) if has_aux else made

    return wrapper


def _last(leaf: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The first dimension moved to the end, in the shape of an input."""
    moved = leaf.movedim(0, -1)
    made: Tensor = moved.reshape(tuple(moved.array.shape[:-1]) + shape)
    return made


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The Hessian of ``func``: forward over reverse."""
    return jacfwd(jacrev(func, argnums), argnums)
