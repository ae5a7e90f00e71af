"""``vmap``: a function of one example as a function of a batch.

The function runs once, on tensors whose arrays carry the batch; where something in it insists on plain memory it is run
for each example instead and the results are stacked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from srcgrad.eager import pytree
from srcgrad.eager.generators import default_generator
from srcgrad.eager.levels import Level, enter, leave
from srcgrad.eager.lifted_arrays import holders, is_escape
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function of batches: ``in_dims`` and ``out_dims`` say where the batch is, None where there is none."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(out_dims, int):
            for leaf in pytree.flatten(out_dims)[0]:
                if not (leaf is None or isinstance(leaf, int)):
                    raise ValueError(
                        f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                        "collection of ints representing where in the outputs the vmapped dimension should appear."
                    )
        count, dims, leaves, spec = _inputs(name, in_dims, args)
        size = count if chunk_size is None else chunk_size
        if size >= count:
            return _mapped(func, name, count, dims, leaves, spec, out_dims, randomness, kwargs)
        parts = []
        for start in range(0, count, size):
            length = min(size, count - start)
            chunk = [leaf if d is None else leaf.narrow(d, start, length) for leaf, d in zip(leaves, dims, strict=True)]
            parts.append(_mapped(func, name, length, dims, chunk, spec, out_dims, randomness, kwargs))
        return _joined(parts, out_dims)

    return wrapper


def batched(func: Callable[..., Any]) -> Callable[..., Any]:
    """``vmap`` over the first dimensions, without what transforms forbid: for use inside other functions."""

    def wrapper(*args: Any) -> Any:
        count, dims, leaves, spec = _inputs("func", 0, args)
        return _mapped(func, "func", count, dims, leaves, spec, 0, "same", {}, "batch")

    return wrapper


def _joined(parts: list[Any], out_dims: Any) -> Any:
    from srcgrad.eager.operations.joining import cat

    columns = [pytree.flatten(part)[0] for part in parts]
    spec = pytree.flatten(parts[0])[1]
    dims = pytree.spread(out_dims, spec, _ends) or [0] * spec.num_leaves
    return pytree.unflatten(
        spec,
        [row[0] if d is None else cat(list(row), d) for row, d in zip(zip(*columns, strict=True), dims, strict=True)],
    )


def _ends(value: Any) -> bool:
    return value is None or isinstance(value, int) or pytree.is_leaf(value)


def _inputs(name: str, in_dims: Any, args: tuple[Any, ...]) -> tuple[int, list[Any], list[Any], pytree.Spec]:
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    leaves, spec = pytree.flatten(args)
    dims = pytree.spread(in_dims, spec, _ends)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`."
            f" in_dims has structure {pytree.flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    head = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim="
    for i, (leaf, d) in enumerate(zip(leaves, dims, strict=True)):
        if d is None:
            continue
        if not isinstance(d, int):
            raise ValueError(f"{head}{d} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{head}{d} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        ndim = leaf.array.ndim
        if not -ndim <= d < ndim:
            raise ValueError(
                f"{head}{d} for some input, but that input is a Tensor of dimensionality {ndim} so expected in_dim to "
                f"satisfy -{ndim} <= in_dim < {ndim}."
            )
        dims[i] = d % ndim
    sizes = [leaf.array.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0], dims, leaves, spec


def _mapped(
    func: Callable[..., Any], name: str, count: int, dims: list[Any], leaves: list[Any], spec: pytree.Spec,
    out_dims: Any, randomness: str, kwargs: dict[str, Any],
    kind: str = "vmap",
) -> Any:  # fmt: skip
    before = default_generator.get_state()
    try:
        with Level(kind, randomness, count) as level:
            inner = [leaf if d is None else enter(leaf, level, d) for leaf, d in zip(leaves, dims, strict=True)]
            output = func(*pytree.unflatten(spec, inner), **kwargs)
            results, out_spec, places = _outputs(name, output, out_dims)
            made = [_left(name, one, level, d) for one, d in zip(results, places, strict=True)]
        return pytree.unflatten(out_spec, made)
    except Exception as error:
        if not is_escape(error):
            raise
        default_generator.set_state(before)
    if not count:
        raise RuntimeError("vmap: an empty batch of a function that has to be run for each example")
    with Level("loop", randomness, count):
        return _one_by_one(func, name, count, dims, leaves, spec, out_dims, kwargs, before)


def _outputs(name: str, output: Any, out_dims: Any) -> tuple[list[Any], pytree.Spec, list[Any]]:
    results, spec = pytree.flatten(output)
    places: list[Any] | None
    if isinstance(output, Tensor):
        single = isinstance(out_dims, tuple) and len(out_dims) == 1
        places = [out_dims] if out_dims is None or isinstance(out_dims, int) else list(out_dims) if single else None
    else:
        places = pytree.spread(out_dims, spec, _ends)
    if places is None:
        _incompatible(name, out_dims, spec)
    return results, spec, places


def _incompatible(name: str, out_dims: Any, spec: pytree.Spec) -> NoReturn:
    raise ValueError(
        f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`."
        f" out_dims has structure {pytree.flatten(out_dims)[1]} but outputs has structure {spec}."
    )


def _check_output(name: str, one: Any) -> None:
    if not isinstance(one, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(one)}. Did you mean to set "
            "out_dims= to None for output?"
        )


def _left(name: str, one: Any, level: Level, d: Any) -> Any:
    if d is None:
        if isinstance(one, Tensor) and any(array.level == level.id for array in holders(one.array)):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return one
    _check_output(name, one)
    ndim = one.array.ndim + 1
    if not -ndim <= d < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
    return leave(one, level, d % ndim)


def _one_by_one(
    func: Callable[..., Any], name: str, count: int, dims: list[Any], leaves: list[Any], spec: pytree.Spec,
    out_dims: Any, kwargs: dict[str, Any], before: Any,
) -> Any:  # fmt: skip
    """The function run for each example."""
    from srcgrad.eager.operations.joining import stack

    rows: list[list[Any]] = []
    out_spec, places = pytree.LEAF, [0]
    for i in range(count):
        if state.transforms[-1].randomness == "same":
            default_generator.set_state(before)
        inner = [leaf if d is None else leaf.select(d, i) for leaf, d in zip(leaves, dims, strict=True)]
        results, out_spec, places = _outputs(name, func(*pytree.unflatten(spec, inner), **kwargs), out_dims)
        rows.append(results)
    made: list[Any] = []
    for column, d in zip(zip(*rows, strict=True), places, strict=True):
        if d is None:
            made.append(column[0])
            continue
        for one in column:
            _check_output(name, one)
        made.append(stack(list(column), d))
    return pytree.unflatten(out_spec, made)
