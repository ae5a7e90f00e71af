"""Elements repeated, turned, shifted and taken from diagonals and triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import in_order, memories
from srcgrad.eager.operations.creation import clone
from srcgrad.eager.operations.shaping import expand, given_shape, permute, reshape, transpose, unsqueeze, view, wrapped
from srcgrad.eager.registry import function, method
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import view_of

_flip = Operation(np.flip, "FlipBackward0")
_roll = Operation(np.roll, "RollBackward0")
_rot90 = Operation(np.rot90, "Rot90Backward0")
_tile = Operation(np.tile, "RepeatBackward0")
_tril = Operation(np.tril, "TrilBackward0")
_triu = Operation(np.triu, "TriuBackward0")
_diagonal = Operation(np.diagonal, "DiagonalBackward0")
_diagonal_copy = Operation(np.diagonal, "DiagonalBackward0_copy")
_unfold = Operation(np.take, "UnfoldBackward0")
_as_strided = Operation(np.take, "AsStridedBackward0")


@function("flip", method=True)
def flip(input: Tensor, *dims: Any) -> Tensor:
    """A copy in reverse order along dimensions."""
    given = given_shape(dims)
    axes = tuple(wrapped(d, input.array.ndim) for d in given)
    array = in_order(np.flip(input.array, axes) if axes else input.array)
    made: Tensor = call(_flip, {"m": input, "axis": axes}, array=array, saved={"dims": given})
    return made


@function("fliplr", method=True)
def fliplr(input: Tensor) -> Tensor:
    """A copy with its columns in reverse order."""
    return flip(input, 1)


@function("flipud", method=True)
def flipud(input: Tensor) -> Tensor:
    """A copy with its rows in reverse order."""
    return flip(input, 0)


@function("rot90", method=True)
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned by right angles."""
    array = in_order(np.rot90(input.array, k, tuple(dims)))
    made: Tensor = call(_rot90, {"m": input, "k": k, "axes": tuple(dims)}, array=array)
    return made


@function("roll", method=True)
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """A copy shifted along dimensions, what leaves at one end enters at the other."""
    axes = tuple(dims) if isinstance(dims, list) else dims
    shift = tuple(shifts) if isinstance(shifts, list) else shifts
    made: Tensor = call(_roll, {"a": input, "shift": shift, "axis": axes})
    return made


@method("repeat")
def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """A copy repeated along each dimension."""
    counts = given_shape(repeats)
    if len(counts) < self.array.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    made: Tensor = call(_tile, {"A": self, "reps": counts}, saved={"repeats": counts})
    return made


@function("tile", method=True)
def tile(input: Tensor, *dims: Any) -> Tensor:
    """A copy repeated along the last dimensions."""
    counts = given_shape(dims)
    return repeat(input, (1,) * (input.array.ndim - len(counts)) + counts)


@function("repeat_interleave", method=True)
def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Each slice repeated, one after the other."""
    if dim is None:
        input, dim = reshape(input, -1), 0
    axis = wrapped(dim, input.array.ndim)
    shape = input.array.shape
    counts = np.broadcast_to(repeats.array if isinstance(repeats, Tensor) else repeats, shape[axis])
    size = int(np.sum(counts))
    if output_size is not None and output_size != size:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}")
    if isinstance(repeats, Tensor):
        from srcgrad.eager.operations.picking import index_select

        return index_select(input, axis, Tensor.of(np.repeat(np.arange(shape[axis]), counts)))
    spread = expand(unsqueeze(input, axis + 1), (*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return view(clone(spread, memory_format="contiguous"), (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))


# --- diagonals and triangles -----------------------------------------------------------------------------------------
def _triangle(operation: Operation, name: str, input: Tensor, diagonal: int) -> Tensor:
    if input.array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    made: Tensor = call(operation, {"m": input, "k": diagonal}, saved={"diagonal": diagonal})
    return made


@function("tril", method=True)
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle, zeros above."""
    return _triangle(_tril, "tril", input, diagonal)


@function("triu", method=True)
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle, zeros below."""
    return _triangle(_triu, "triu", input, diagonal)


def _writable(array: Any) -> Any:
    """A diagonal that can be written to, as NumPy's cannot."""
    for memory in memories(array):
        if memory.base is not None and not memory.flags.writeable:
            memory.flags.writeable = True
    return array


@function("diagonal", method=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of a diagonal."""
    a1, a2 = wrapped(dim1, input.array.ndim), wrapped(dim2, input.array.ndim)
    if a1 == a2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return view_of(
        input,
        _diagonal,
        {"a": input, "offset": offset, "axis1": a1, "axis2": a2},
        lambda a: _writable(a.diagonal(offset, a1, a2)),
        saved={"offset": offset, "dim1": dim1, "dim2": dim2, "self_sym_sizes": tuple(input.array.shape)},
    )


def main_diagonal(input: Tensor) -> Tensor:
    """The diagonal of a matrix as a view by strides, as what fills it takes it."""
    values = {"a": input, "indices": _places(input, np.diagonal)}
    return _kept(view_of(input, _as_strided, values, lambda a: _writable(a.diagonal())))


@function("diag_embed", method=True)
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices, in the dimensions ``dim1`` and ``dim2``, with the rows of the input on a diagonal."""
    ndim = input.array.ndim + 1
    a1, a2 = wrapped(dim1, ndim), wrapped(dim2, ndim)
    if a1 == a2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = input.array.shape[-1]
    side = size + abs(offset)
    places = np.full((side, side), size)  # of a zero, which stands behind each row
    along = np.arange(size)
    places[along + max(-offset, 0), along + max(offset, 0)] = along

    def compute(x: Tensor) -> Tensor:
        from srcgrad.eager.operations.joining import cat

        zero = Tensor.of(np.zeros((*x.array.shape[:-1], 1), x.array.dtype))
        made: Tensor = movedim(cat([x, zero], -1)[..., Tensor.of(places)], (-2, -1), (a1, a2)).contiguous()
        return made

    saved = {"offset": offset, "dim1": dim1, "dim2": dim2}
    made: Tensor = composed("DiagEmbedBackward0", compute, input, saved=saved, keeps=True)
    return made


@function("diag", method=True)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on its diagonal, or a copy of the diagonal of a matrix."""
    if input.array.ndim == 1:
        return diag_embed(input, diagonal)
    if input.array.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.array.ndim}D")
    array = np.array(np.diagonal(input.array, diagonal))
    made: Tensor = call(_diagonal_copy, {"a": input, "offset": diagonal}, array=array)
    return made


# --- views of other strides ------------------------------------------------------------------------------------------
def _places(input: Tensor, replay: Any) -> Any:
    shape = input.array.shape
    return replay(np.arange(input.array.size).reshape(shape))


@method("unfold")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of windows along a dimension; the last dimension runs over a window."""
    axis = wrapped(dimension, self.array.ndim)
    length = self.array.shape[axis]
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {length} but size is {size}")

    def replay(a: Any) -> Any:
        windows = np.lib.stride_tricks.sliding_window_view(a, size, axis, writeable=a.flags.writeable)
        return windows[(slice(None),) * axis + (slice(None, None, step),)]

    saved = {"dim": dimension, "size": size, "step": step}
    return _kept(view_of(self, _unfold, {"a": self, "indices": _places(self, replay)}, replay, saved=saved))


def _kept(made: Tensor) -> Tensor:
    """A view whose node saves only sizes."""
    if made.node is not None:
        made.node.keeps = True
    return made


@function("as_strided", method=True)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the memory by strides, which are those of the tensor's base where it is a view."""
    shape, steps = tuple(size), tuple(stride)
    if len(shape) != len(steps):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in steps):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}")
    array = input.storage_array()
    if not array.flags.c_contiguous or (storage_offset is not None and input.base is not None):
        raise NotImplementedError("as_strided() of a view is taken of its elements in order: call contiguous() first")
    storage_offset = storage_offset or 0
    needed = 1 + storage_offset + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if 0 not in shape and needed > array.size:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {storage_offset}, and itemsize "
            f"{array.itemsize} requiring a storage size of {needed * array.itemsize} are out of bounds for storage of "
            f"size {array.nbytes}"
        )

    def replay(a: Any) -> Any:
        flat = a.reshape(-1)[storage_offset:]
        return np.lib.stride_tricks.as_strided(flat, shape, tuple(s * a.itemsize for s in steps))

    saved = {"size": shape, "stride": steps, "storage_offset": storage_offset}
    return _kept(view_of(input, _as_strided, {"a": input, "indices": _places(input, replay)}, replay, saved=saved))


@function("movedim", "moveaxis", method=True)
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places."""
    ndim = input.array.ndim
    sources = [wrapped(d, ndim) for d in (source if isinstance(source, tuple | list) else (source,))]
    targets = [wrapped(d, ndim) for d in (destination if isinstance(destination, tuple | list) else (destination,))]
    rest = iter(d for d in range(ndim) if d not in sources)
    return permute(input, [sources[targets.index(d)] if d in targets else next(rest) for d in range(ndim)])


@function("unflatten", method=True)
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several."""
    axis = wrapped(dim, input.array.ndim)
    shape = input.array.shape
    known = int(np.prod([n for n in sizes if n != -1]))
    inner = tuple(shape[axis] // known if n == -1 else n for n in sizes)
    return view(input, (*shape[:axis], *inner, *shape[axis + 1 :]))


@function("adjoint", method=True)
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions swapped, complex numbers conjugated."""
    made = transpose(input, -2, -1)
    return made.conj() if input.dtype.is_complex else made


def _hermitian(self: Tensor) -> Tensor:
    if self.array.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.array.ndim}-D tensor.")
    return adjoint(self)


setattr(Tensor, "mH", property(adjoint))  # noqa: B010
setattr(Tensor, "H", property(_hermitian))  # noqa: B010
