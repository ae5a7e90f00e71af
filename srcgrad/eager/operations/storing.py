"""Copies with a slice, a diagonal or single elements replaced, or reduced into what was there."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.joining import stack
from srcgrad.eager.operations.picking import along, check_places
from srcgrad.eager.operations.rearranging import diag
from srcgrad.eager.operations.shaping import expand, reshape, view, wrapped
from srcgrad.eager.registry import FUNCTIONS, function
from srcgrad.eager.tensor import Tensor


def _stored(name: str, input: Tensor, index: Any, src: Tensor, saved: dict[str, Any]) -> Tensor:
    """A copy of the input with the source at an index."""
    part = input.array[index].shape
    if part != src.array.shape:
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = "
            f"{list(src.array.shape)}, slice size = {list(part)}")  # fmt: skip
    made: Tensor = call(Operation(runtime.replaced_at, name), {"x": input, "index": index, "value": src}, saved=saved)
    if made.node is not None:
        made.node.keeps = True
    return made


@function("select_scatter", method=True)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy with one slice replaced."""
    axis = wrapped(dim, input.array.ndim)
    saved = {"dim": dim, "index": index}
    return _stored("SelectScatterBackward0", input, (slice(None),) * axis + (index,), src, saved)


@function("slice_scatter", method=True)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy with a range of slices replaced."""
    axis = wrapped(dim, input.array.ndim)
    index = (slice(None),) * axis + (slice(start, end, step),)
    return _stored("SliceScatterBackward0", input, index, src, {"dim": dim, "start": start, "end": end, "step": step})


@function("diagonal_scatter", method=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy with a diagonal replaced."""
    shape = input.array.shape
    flat = np.arange(input.array.size).reshape(shape).diagonal(offset, dim1, dim2)
    saved = {"offset": offset, "dim1": dim1, "dim2": dim2}
    return _stored("DiagonalScatterBackward0", input, np.unravel_index(flat, shape), src, saved)


@function("put", method=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with elements, counted through the whole, replaced or added to."""
    check_places(index.array, input.array.size)
    shape = input.array.shape or (1,)
    places = np.unravel_index(np.asarray(index.array) % input.array.size, shape)
    values = {"index": index, "accumulate": accumulate}

    def compute(x: Tensor, src: Tensor) -> Tensor:
        src = reshape(src, index.array.shape)
        flat = x if x.array.ndim else reshape(x, 1)
        made: Tensor = FUNCTIONS[""]["index_put"](flat, places, src, accumulate)
        return made if x.array.ndim else reshape(made, ())

    made: Tensor = composed("PutBackward0", compute, input, source, slots=("", "source"), saved=values)
    return made


# --- reductions into what was there ----------------------------------------------------------------------------------
def reduced_into(input: Tensor, index: tuple[Any, ...], src: Tensor, reduce: str, include_self: bool) -> Tensor:
    """A copy into whose elements those of the source are reduced; several sources of one place share it."""
    shape = input.array.shape
    index = np.broadcast_arrays(*index) if len(index) > 1 else index
    index = tuple(index)
    touched = np.zeros(shape, bool)
    touched[index] = True
    base = input if include_self else FUNCTIONS[""]["where"](leaf(touched), _neutral(reduce), input)
    put_in = FUNCTIONS[""]["index_put"]
    if reduce in ("sum", "mean"):
        total: Tensor = put_in(base, index, src, True)
        if reduce == "sum":
            return total
        counts = np.ones(shape) if include_self else np.where(touched, 0.0, 1.0)
        np.add.at(counts, index, 1.0)
        result: Tensor = total / leaf(counts.astype(input.array.dtype))
        return result
    if reduce == "prod":
        return _multiplied(base, index, src)
    exact = np.array(base.array)
    (np.maximum if reduce == "amax" else np.minimum).at(exact, index, src.array)
    mine = (base.array == exact).astype(exact.dtype)
    theirs = (src.array == exact[index]).astype(exact.dtype)
    if not include_self:
        mine[touched] = 0
    sharing = mine.copy()
    np.add.at(sharing, index, theirs)
    mine, theirs = mine / sharing, theirs / sharing[index]
    finite = FUNCTIONS[""]["where"](leaf(mine != 0), base, 0.0) * leaf(mine)
    made: Tensor = put_in(finite, index, src * leaf(theirs), True)
    made.array = exact
    return made


def _neutral(reduce: str) -> float:
    return {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}[reduce]


def _multiplied(base: Tensor, index: tuple[Any, ...], src: Tensor) -> Tensor:
    """Products, one source after the other for each place."""
    flat = np.ravel_multi_index(index, base.array.shape).ravel()
    turns = np.zeros(flat.size, np.int64)
    seen: dict[int, int] = {}
    for i, place in enumerate(flat.tolist()):
        turns[i] = seen[place] = seen.get(place, -1) + 1
    values = reshape(src, -1)
    result = reshape(base, -1)
    for turn in range(int(turns.max(initial=-1)) + 1):
        chosen = leaf(np.nonzero(turns == turn)[0])
        factors = leaf(np.ones(base.array.size, base.array.dtype)).index_put((leaf(flat)[chosen],), values[chosen])
        result = result * factors
    return reshape(result, base.array.shape)


_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@function("scatter_reduce", method=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy with elements reduced into along a dimension, by an index for each of them."""
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    places = np.asarray(index.array)

    def compute(x: Tensor, values: Tensor) -> Tensor:
        part = values[tuple(slice(n) for n in places.shape)] if values.array.shape != places.shape else values
        return reduced_into(x, along(x, dim, places), part, reduce, include_self)

    saved = {"dim": dim, "index": index, "reduce": reduce, "include_self": include_self}
    made: Tensor = composed("ScatterReduceBackward0", compute, input, src, slots=("self", "src"), saved=saved)
    return made


@function("index_reduce", method=True)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy with slices reduced into."""
    axis = wrapped(dim, input.array.ndim)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")

    def compute(x: Tensor, values: Tensor) -> Tensor:
        grid = list(np.ogrid[tuple(slice(n) for n in values.array.shape)])
        grid[axis] = np.asarray(index.array).reshape(grid[axis].shape)
        return reduced_into(x, tuple(grid), values, reduce, include_self)

    saved = {"dim": dim, "index": index, "reduce": reduce, "include_self": include_self}
    made: Tensor = composed("IndexReduceBackward0", compute, input, source, slots=("self", "source"), saved=saved)
    return made


# --- many from few ---------------------------------------------------------------------------------------------------
@function("diagflat", method=True)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on its diagonal."""
    return diag(view(input, -1) if input.storage_array().flags.c_contiguous else reshape(input, -1), offset)


@function("block_diag")
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with matrices on its diagonal."""

    common = dtypes.result_type([(t.dtype, dtypes.DIMENSIONED) for t in tensors])
    tensors = tuple(t.to(common) for t in tensors)

    def compute(*given: Tensor) -> Tensor:
        blocks = [t if t.array.ndim == 2 else reshape(t, 1, -1) for t in given]
        shape = tuple(int(n) for n in np.sum([b.array.shape for b in blocks], 0))
        made = leaf(np.zeros(shape, common.numpy))
        at = np.zeros(2, int)
        for b in blocks:
            rows, columns = at.tolist()
            m, n = b.array.shape
            index = (slice(rows, rows + m), slice(columns, columns + n))
            made = _stored("SliceScatterBackward0", made, index, b, {})
            at += b.array.shape
        return made

    made: Tensor = composed("BlockDiagBackward0", compute, *tensors, keeps=True)
    return made


@function("cartesian_prod")
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All choices of one element from each vector, in rows."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(grid, -1) for grid in FUNCTIONS[""]["meshgrid"](*tensors, indexing="ij")], 1)


@function("combinations")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, in rows."""
    import itertools

    if input.array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.array.shape)}")

    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(len(input)), r)), np.int64).reshape(-1, r)
    made: Tensor = input[leaf(rows)]
    return made


@function("vander")
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each element in a row."""
    count = x.array.shape[0] if N is None else N
    made = leaf(np.zeros((x.array.shape[0], count), x.array.dtype))
    if count > 0:
        made.select(1, 0).fill_(1)
    if count > 1:
        made.narrow(1, 1, count - 1).copy_(expand(x.unsqueeze(1), x.array.shape[0], count - 1))
        made.narrow(1, 1, count - 1).copy_(made.narrow(1, 1, count - 1).cumprod(1))
    return made if increasing else made.flip(1)


IN_PLACE = {"put_": put, "scatter_reduce_": scatter_reduce, "index_reduce_": index_reduce}
