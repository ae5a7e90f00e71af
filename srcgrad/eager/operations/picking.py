"""Elements picked by indices and masks, and copies with elements replaced."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.formulas import stand_in
from srcgrad.eager.lifted_arrays import as_array, is_lifted
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.places import check_broadcast, check_copied, check_slices, of_one_dtype
from srcgrad.eager.operations.shaping import expand, wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_gather = Operation(operator.getitem, "GatherBackward0", {"a": "self"})
_index_select = Operation(operator.getitem, "IndexSelectBackward0", {"a": "self"})
_masked_select = Operation(operator.getitem, "MaskedSelectBackward0", {"a": "self"})
_take = Operation(np.take, "TakeBackward0", {"a": "self"})
_where = Operation(np.where, "WhereBackward0")
_fill_number = Operation(np.where, "MaskedFillBackward0")
_fill_tensor = Operation(np.where, "MaskedFillBackward1")
_clamp = Operation(np.where, "ClampBackward1")
_clamp_min = Operation(np.where, "ClampMinBackward0")
_clamp_max = Operation(np.where, "ClampMaxBackward0")
_BOUNDS = {"a": "self", "a_min": "min", "a_max": "max"}
_clamp_tensors = Operation(np.clip, "ClampBackward0", _BOUNDS)
_clamp_min_tensor = Operation(np.clip, "ClampMinBackward1", _BOUNDS)
_clamp_max_tensor = Operation(np.clip, "ClampMaxBackward1", _BOUNDS)


def along(input: Tensor, dim: int, index: Any) -> tuple[Any, ...]:
    """An index for every dimension that takes ``index`` along one and follows the others."""
    axis = wrapped(dim, input.array.ndim)
    shape = index.shape
    return tuple(
        index if i == axis else np.arange(n).reshape((-1,) + (1,) * (len(shape) - i - 1)) for i, n in enumerate(shape)
    )


def _checked(name: str, input: Tensor, dim: int, index: Tensor) -> Any:
    if index.dtype is not dtypes.int64 and index.dtype is not dtypes.int32:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if index.array.ndim != input.array.ndim:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as "
            + ("input" if name == "gather" else "self")
            + " tensor"
        )
    size = input.array.shape[wrapped(dim, input.array.ndim)] if input.array.ndim else 1
    array = as_array(index.array)
    if array.size and (array.min() < 0 or array.max() >= size):
        wrong = array[(array < 0) | (array >= size)][0]
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")
    return array


@function("gather", method=True)
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Elements picked along a dimension, by an index for each of them."""
    if sparse_grad:
        raise NotImplementedError("gather(sparse_grad=True): gradients are dense here, as there are no sparse tensors")
    places = _checked("gather", input, dim, index)
    if not input.array.ndim:
        copy: Tensor = input.clone()
        return copy
    made: Tensor = call(_gather, {"a": input, "b": along(input, dim, places)}, saved={"dim": dim, "index": index})
    return made


@function("take_along_dim", method=True)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements picked along a dimension, indices broadcast over the others."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    axis = wrapped(dim, input.array.ndim)
    shape = list(np.broadcast_shapes(*(
        [1 if i == axis else n for i, n in enumerate(t.array.shape)] for t in (input, indices)
    )))  # fmt: skip
    shape[axis] = indices.array.shape[axis]
    return gather(input, axis, leaf(np.broadcast_to(indices.array, shape)))


def check_places(places: Any, size: int) -> None:
    """Refuse indices of the whole that are out of range."""
    wrong = places[(places < -size) | (places >= size)] if places.ndim else places[()]
    if np.size(wrong) and not (-size <= np.ravel(wrong)[0] < size):
        raise IndexError(f"out of range: tried to access index {np.ravel(wrong)[0]} on a tensor of {size} elements.")


@function("take", method=True)
def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the whole, by one number each."""
    check_places(index.array, input.array.size)
    made: Tensor = call(_take, {"a": input, "indices": as_array(index.array)}, saved={"index": index})
    return made


@function("index_select", method=True)
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Slices along a dimension."""
    axis = wrapped(dim, input.array.ndim)
    if index.array.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    places = np.atleast_1d(index.array)
    if places.size and (places.min() < 0 or places.max() >= input.array.shape[axis]):
        raise IndexError("index out of range in self")
    where = (slice(None),) * axis + (places,)
    made: Tensor = call(_index_select, {"a": input, "b": where}, saved={"dim": dim, "index": index})
    return made


@function("masked_select", method=True)
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask is true."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, but got {mask.dtype.long_name}")
    shape = np.broadcast_shapes(input.array.shape, mask.array.shape)
    if shape != input.array.shape:
        input = input.expand(shape)
    where = np.broadcast_to(mask.array, shape)
    made: Tensor = call(_masked_select, {"a": input, "b": where}, saved={"mask": mask})
    return made


# --- one of two ------------------------------------------------------------------------------------------------------
def _cast(values: tuple[Any, ...]) -> tuple[list[Tensor], dtypes.dtype]:
    """Tensors and numbers as tensors of their common dtype."""
    common = dtypes.result_type([
        (v.dtype, dtypes.DIMENSIONED if v.array.ndim else dtypes.ZERO_DIM)
        if isinstance(v, Tensor)
        else (dtypes.of_number(v), dtypes.NUMBER)
        for v in values
    ])  # fmt: skip
    made = [v.to(common) if isinstance(v, Tensor) else Tensor.of(as_array(v, common.numpy)) for v in values]
    return made, common


@function("where")
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Elements of one tensor where a condition holds, of another elsewhere."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    if condition.dtype is not dtypes.bool_:
        if condition.dtype is not dtypes.uint8:
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                + condition.dtype.long_name
            )
    (x, y), _ = _cast((input, other))
    try:
        array = np.where(condition.array, x.array, y.array)
    except ValueError:
        from srcgrad.eager.elementwise import shape_error

        raise shape_error(x.array, y.array) from None
    values = {"condition": as_array(condition.array, bool), "x": x, "y": y}
    return call(_where, values, array=array, saved={"condition": condition})


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    made: Tensor = where(condition, self, other)
    return made


setattr(Tensor, "where", _where_method)  # noqa: B010


@function("masked_fill", method=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with a number wherever a mask is true."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype " + mask.dtype.long_name)
    if isinstance(value, Tensor) and value.array.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.array.ndim} dimension(s)."
        )
    operation = _fill_tensor if isinstance(value, Tensor) else _fill_number
    filling = value.to(input.dtype) if isinstance(value, Tensor) else as_array(value, input.array.dtype)
    array = np.where(mask.array, filling.array if isinstance(filling, Tensor) else filling, input.array)
    values = {"condition": as_array(mask.array), "x": filling, "y": input}
    made: Tensor = call(operation, values, array=array, saved={"mask": mask})
    return made


@function("clamp", "clip", method=True)
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Elements between bounds; those at a bound that is a number, or beyond one, pass no gradient."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        given = [v for v in (input, min, max) if v is not None]
        cast, _ = _cast(tuple(given))
        low, high = cast[1] if min is not None else None, cast[-1] if max is not None else None
        return _clipped(_clamp_tensors, cast[0], low, high)
    return _clamped(_clamp, input, min, max)


def _clipped(operation: Operation, input: Tensor, low: Any, high: Any) -> Tensor:
    made: Tensor = call(operation, {"a": input, "a_min": low, "a_max": high})
    return made


def _clamped(operation: Operation, input: Tensor, low: Any, high: Any) -> Tensor:
    numbers = tuple(v for v in (low, high) if v is not None)
    (x, *_), common = _cast((input, *numbers))
    if common.category == 3:
        raise NotImplementedError("clamp is not supported for complex types")
    a = as_array(x.array)
    bounds: list[Any] = [None if v is None else common.numpy.type(v) for v in (low, high)]
    bounded = a if low is None else np.maximum(a, bounds[0])
    bounded = bounded if high is None else np.minimum(bounded, bounds[1])
    inside = np.ones(a.shape, bool) if low is None else a > bounds[0]
    if high is not None:
        inside = inside & (a < bounds[1])
    if is_lifted(bounded):  # a bound has no tangent
        bounded = np.where(inside, a, bounded.detached())
    values = {"condition": inside, "x": x, "y": bounded}
    made: Tensor = call(operation, values, array=bounded, saved={"min": low, "max": high})
    return made


@function("clamp_min", method=True)
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Elements not below a bound."""
    if isinstance(min, Tensor):
        (x, low), _ = _cast((input, min))
        return _clipped(_clamp_min_tensor, x, low, None)
    return _clamped(_clamp_min, input, min, None)


@function("clamp_max", method=True)
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Elements not above a bound."""
    if isinstance(max, Tensor):
        (x, high), _ = _cast((input, max))
        return _clipped(_clamp_max_tensor, x, None, high)
    return _clamped(_clamp_max, input, None, max)


# --- copies with elements replaced -----------------------------------------------------------------------------------
def _replacing(node: str) -> Operation:
    return Operation(runtime.replaced_at, node, {"x": "self", "value": "src"})


_scatter_tensor, _scatter_number = _replacing("ScatterBackward0"), _replacing("ScatterBackward1")
_copy = Operation(runtime.replaced_at, "IndexCopyBackward0", {"x": "self", "value": "source"})
_put = _replacing("IndexPutBackward0")
_fill, _fill_by = _replacing("IndexFillBackward0"), _replacing("IndexFillBackward1")
_masked_scatter = _replacing("MaskedScatterBackward0")


Saved = dict[str, Any]  # what a node saves by name, tensors of indices among it, whose versions it watches


def _replaced(operation: Operation, input: Tensor, index: tuple[Any, ...], value: Any, saved: Saved) -> Tensor:
    given = value if isinstance(value, Tensor) else as_array(value, input.array.dtype)
    made: Tensor = call(operation, {"x": input, "index": index, "value": given}, saved=saved)
    return made


@function("scatter", method=True)
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """A copy with elements stored along a dimension, by an index for each of them."""
    places = _checked("scatter", input, dim, index)
    src = value if src is None else src
    if reduce is not None:
        return _scattered(input, along(input, dim, places), src, reduce)
    saved, where = {"dim": dim, "index": index}, along(input, dim, places)
    if isinstance(src, Tensor):
        return _composed("ScatterBackward0", _scatter_tensor, input, where, src, places.shape, saved)
    return _replaced(_scatter_number, input, where, src, saved)


def _scattered(input: Tensor, index: tuple[Any, ...], src: Any, reduce: str) -> Tensor:
    """A copy with elements added to or multiplied, which PyTorch has no derivative for."""
    from srcgrad.eager.operations.rounding import underivable

    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    made = np.array(input.array)
    index = tuple(np.broadcast_arrays(*index))
    given = src.array[tuple(slice(n) for n in index[0].shape)] if isinstance(src, Tensor) else src
    (np.add if reduce == "add" else np.multiply).at(made, index, given)
    return underivable(leaf(made), (input, src), "scatter")


def _composed(
    name: str, operation: Operation, input: Tensor, index: Any, src: Tensor, shape: Any, saved: Saved, add: Any = None
) -> Tensor:
    """Elements stored or added, in one node with the whole source at its second edge."""
    store = add or _replaced
    if src.array.shape == shape and add is None:
        return _replaced(operation, input, index, src, saved)
    part = tuple(slice(n) for n in shape)

    def compute(x: Tensor, values: Tensor) -> Tensor:
        made: Tensor = store(operation, x, index, values if values.array.shape == shape else values[part], {})
        return made

    result: Tensor = composed(name, compute, input, src, saved=saved, slots=("", "source"))
    return result


@function("index_copy", method=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy with slices replaced."""
    check_copied(input, wrapped(dim, input.array.ndim), index.array.size, source.array.shape)
    return _replaced(_copy, input, _slices(input, dim, index), source, {"dim": dim, "index": index})


@function("index_fill", method=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with slices filled."""
    operation = _fill_by if isinstance(value, Tensor) else _fill
    where = _slices(input, dim, index) if input.array.ndim else ()
    return _replaced(operation, input, where, value, {"dim": dim, "index": index})


@function("index_put", method=True)
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with elements stored by indices, or added to."""
    index = tuple(i.array if isinstance(i, Tensor) else i for i in indices)
    saved = {"indices": tuple(indices), "accumulate": accumulate}
    values = of_one_dtype(input, index, values, accumulate)
    if not accumulate:
        return _replaced(_put, input, index, values, saved)
    shape = stand_in(input.array.shape, input.array.dtype)[index].shape
    check_broadcast(values.array.shape, shape)

    def compute(x: Tensor, given: Tensor) -> Tensor:
        return _added(_put_sum, x, index, given if given.array.shape == shape else expand(given, shape))

    made: Tensor = composed("IndexPutBackward0", compute, input, values, saved=saved)
    return made


@function("masked_scatter", method=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of the source, one after the other, where a mask is true."""
    where_true = np.broadcast_to(mask.array, input.array.shape)

    def compute(x: Tensor, values: Tensor) -> Tensor:
        return _replaced(_masked_scatter, x, (where_true,), values.reshape(-1)[: int(where_true.sum())], {})

    made: Tensor = composed("MaskedScatterBackward0", compute, input, source, saved={"mask": mask})
    return made


def _slices(input: Tensor, dim: int, index: Tensor) -> tuple[Any, ...]:
    return (slice(None),) * wrapped(dim, input.array.ndim) + (np.atleast_1d(index.array),)


_add_slices = Operation(np.add, "IndexAddBackward0")
_add_elements = Operation(np.add, "ScatterAddBackward0")
_put_sum = Operation(np.add, "IndexPutBackward0")


def _added(
    operation: Operation, input: Tensor, index: tuple[Any, ...], source: Tensor, saved: Saved | None = None
) -> Tensor:
    from srcgrad.eager.lifting import lifted

    like = stand_in(input.array.shape, input.array.dtype)
    spread = lifted(runtime.untake)(source, like, index)
    made: Tensor = call(operation, {"x1": input, "x2": spread})
    return made


@function("index_add", method=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy with slices added to."""
    where_, shape = _slices(input, dim, index), source.array.shape
    if input.array.ndim or shape:
        check_slices(input, dim, index, source)

    def add(operation: Operation, x: Tensor, places: Any, values: Tensor, saved: Saved) -> Tensor:
        return _added(operation, x, places, values if alpha == 1 else values * alpha)

    saved = {"dim": dim, "index": index, "alpha": alpha}
    return _composed("IndexAddBackward0", _add_slices, input, where_, source, shape, saved, add)


@function("scatter_add", method=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with elements added along a dimension, by an index for each of them."""
    places = _checked("scatter_add", input, dim, index)
    if any(n > m for n, m in zip(places.shape, src.array.shape, strict=False)):
        raise RuntimeError(
            f"Expected index {list(places.shape)} to be no larger than self {list(input.array.shape)} apart from "
            f"dimension {dim} and to be no larger size than src {list(src.array.shape)}"
        )
    saved, where = {"dim": dim, "index": index}, along(input, dim, places)
    return _composed("ScatterAddBackward0", _add_elements, input, where, src, places.shape, saved, _added)


IN_PLACE: dict[str, Callable[..., Tensor]] = {
    "clamp_": clamp, "clip_": clamp, "clamp_min_": clamp_min, "clamp_max_": clamp_max, "masked_fill_": masked_fill,
    "scatter_": scatter, "scatter_add_": scatter_add, "index_add_": index_add, "index_copy_": index_copy,
    "index_fill_": index_fill, "index_put_": index_put, "masked_scatter_": masked_scatter,
}  # fmt: skip
# Those that write in another order than they read.
APART = {"scatter_", "scatter_add_", "index_add_", "index_copy_", "index_put_"}
