"""Tensors taken apart: several views of one tensor, made by one node."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.eager.formulas import stand_in
from srcgrad.eager.graph import Node, mixed, node_class, sequence
from srcgrad.eager.modes import state
from srcgrad.eager.operations.shaping import wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor, new
from srcgrad.eager.views import attach


class _Parts(Node):
    """The node of several views: each part's gradient goes back to its place."""

    places: Sequence[Any]
    like: Any

    def apply(self, g: Any) -> Any:
        parts = self._several(g)
        if all(type(part) is np.ndarray and part.dtype is self.like.dtype for part in parts) and (
            builtins.sum(part.size for part in parts) == self.like.size
        ):
            total = np.empty(self.like.shape, self.like.dtype)  # places do not overlap, so that these are all there are
            for place, part in zip(self.places, parts, strict=True):
                total[place] = part
            return (total,)
        total = runtime.zeros_like(self.like)
        for place, part in zip(self.places, parts, strict=True):
            if part is not None:
                total[place] += part
        return (total,)

    def apply_to_tensors(self, g: Any) -> Any:
        from srcgrad.eager.lifting import lifted

        untake = lifted(runtime.untake)
        terms = [untake(p, self.like, place) for place, p in zip(self.places, self._several(g)) if p is not None]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return (total,)

    def _several(self, g: Any) -> Any:
        """One gradient per part; of a node with one output the engine hands over the gradient itself."""
        return g if self.outputs > 1 else [g]

    def release(self) -> None:
        """Nothing is saved."""


def _at(place: tuple[Any, ...]) -> Callable[[Any], Any]:
    """How the part at a place is made from the whole."""
    return lambda array: array[place]


def split_views(input: Tensor, places: Sequence[Any], name: str, saved: dict[str, Any]) -> tuple[Tensor, ...]:
    """Views of the input at several places, outputs of one node."""
    storage = input.storage_array()
    node: Any = None
    if state.recording and input.requires_grad:
        kind = node_class(name)
        node = new(mixed(_Parts, kind))
        node.edges = (input.edge(),)
        node.sequence = next(sequence)
        node.places = tuple(places)
        node.like = stand_in(storage.shape, storage.dtype)
        node.outputs = len(places)
        node.statics = {**saved, "self_sym_sizes": tuple(storage.shape)}
        node.keeps = True
    results = []
    for number, place in enumerate(places):
        part: Tensor = new(Tensor)
        part.array = storage[(*place, ...)]
        if node is not None:
            part.node, part.number = node, number
        results.append(attach(part, input, _at((*place, ...)), several=True))
    if node is not None:
        shapes, kinds = [part.array.shape for part in results], [part.array.dtype for part in results]
        node.shape = tuple(shapes) if node.outputs > 1 else shapes[0]
        node.dtype = tuple(kinds) if node.outputs > 1 else kinds[0]
    return tuple(results)


# --- functions -------------------------------------------------------------------------------------------------------
def _pieces(input: Tensor, sizes: Sequence[int], axis: int) -> list[tuple[slice, ...]]:
    places, start = [], 0
    for n in sizes:
        places.append((slice(None),) * axis + (slice(start, start + n),))
        start += n
    return places


@function("split", "split_with_sizes", method=True)
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of so many slices each, or of as many as a list says."""
    wanted = split_size_or_sections
    axis = wrapped(dim, tensor.array.ndim)
    if not tensor.array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    length = tensor.array.shape[axis]
    if isinstance(wanted, tuple | list):
        if builtins.sum(wanted) != length or any(n < 0 for n in wanted):
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension "
                f"{axis}), but got split_sizes={list(wanted)}"
            )
        saved = {"dim": dim, "split_sizes": tuple(wanted)}
        return split_views(tensor, _pieces(tensor, wanted, axis), "SplitWithSizesBackward0", saved)
    if wanted < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={wanted}")
    if not wanted and length:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}")
    return _equal(tensor, wanted, axis, dim)


def _equal(tensor: Tensor, size: int, axis: int, dim: int) -> tuple[Tensor, ...]:
    length = tensor.array.shape[axis]
    sizes = [min(size, length - start) for start in range(0, length, size)] if length else [0]
    return split_views(tensor, _pieces(tensor, sizes, axis), "SplitBackward0", {"dim": dim, "split_size": size})


@function("chunk", method=True)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """So many views of about one size; fewer where they do not come out."""
    if not input.array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = wrapped(dim, input.array.ndim)
    return _equal(input, max(-(-input.array.shape[axis] // chunks), 1), axis, dim)


@function("narrow", method=True)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``length`` slices from ``start`` on."""
    from srcgrad.eager.operations.indexing import sliced

    if not input.array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis = wrapped(dim, input.array.ndim)
    size, first = input.array.shape[axis], int(start)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= first <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {first})")
    first = first + size if first < 0 else first
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return sliced(input, axis, slice(first, first + length, 1), True)


@function("tensor_split", method=True)
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views between indices, or so many of about one size; each with a node of its own."""
    from srcgrad.eager.operations.indexing import sliced

    axis = wrapped(dim, input.array.ndim)
    length = input.array.shape[axis]
    where = indices_or_sections.tolist() if isinstance(indices_or_sections, Tensor) else indices_or_sections
    if isinstance(where, int):
        if where <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {where}")
        each, more = divmod(length, where)
        where = [i * each + min(i, more) for i in range(1, where)]
    bounds = [0, *where, length]
    return tuple(sliced(input, axis, slice(a, b, 1), True) for a, b in itertools.pairwise(bounds))


def _fixed(name: str, axis_of: Callable[[int], int]) -> None:
    def f(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        return tensor_split(input, indices_or_sections, axis_of(input.array.ndim))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``tensor_split`` along one dimension ({name})."
    function(name, method=True)(f)


_fixed("hsplit", lambda ndim: min(1, ndim - 1))
_fixed("vsplit", lambda ndim: 0)
_fixed("dsplit", lambda ndim: 2)
