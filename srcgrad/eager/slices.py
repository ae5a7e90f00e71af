"""What a write to part of a memory means for its graph: where the part lies, and the node that the whole gets.

``Region`` maps the elements of a view to places in its base; complex numbers count as two places where a view takes
them apart or puts them together.  ``CopySlices`` is the node of a base part of which was computed again.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.eager import messages
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.flat import tensor_partials
from srcgrad.eager.graph import Edge, Node, sequence
from srcgrad.eager.lifted_arrays import in_order, is_lifted
from srcgrad.eager.tensor import Tensor

Replay = Callable[[Any], Any]
_gather = Operation(np.take, "AsStridedBackward0", {"a": "self"})
_real = Operation(np.real, "SelectBackward0")
_imag = Operation(np.imag, "SelectBackward0")
_stack = Operation(np.stack, "StackBackward0")


# --- complex numbers -------------------------------------------------------------------------------------------------
def apart(z: Tensor) -> Tensor:
    """Real and imaginary parts along a last dimension, recorded as one node."""

    def compute(z: Tensor) -> Tensor:
        parts = [call(_real, {"val": z}), call(_imag, {"val": z})]
        made: Tensor = call(_stack, {"arrays": parts, "axis": z.array.ndim})
        return made

    made: Tensor = composed("ViewAsRealBackward0", compute, z, keeps=True)
    return made


def joined(real: Tensor, imag: Tensor) -> Tensor:
    """``real + 1j * imag``."""
    unit = Tensor.of(np.asarray(1j, real.dtype.to_complex().numpy))
    made: Tensor = real + imag * unit
    return made


def together(parts: Tensor) -> Tensor:
    """Complex numbers of the parts along the last dimension, recorded as one node."""

    def compute(x: Tensor) -> Tensor:
        return joined(x.select(-1, 0), x.select(-1, 1))

    made: Tensor = composed("ViewAsComplexBackward0", compute, parts, keeps=True)
    made.array = unpaired(in_order(parts.array))  # what was computed is nan where a part is infinite
    return made


def unpaired(array: Any) -> Any:
    """Complex numbers of pairs, in the same memory; of places, the first of each pair."""
    if array.dtype.kind != "f":
        return array[..., 0]
    return array.view(np.result_type(array.dtype, np.complex64))[..., 0]


# --- places in memory ------------------------------------------------------------------------------------------------


class Layout:
    """Shape, dtype and order in memory of a base, without its numbers."""

    __slots__ = ("dtype", "is_lifted", "order", "shape")

    def __init__(self, array: Any) -> None:
        self.shape, self.dtype = array.shape, array.dtype
        self.is_lifted = is_lifted(array)
        order = range(array.ndim) if self.is_lifted else np.argsort([-s for s in array.strides], kind="stable")
        self.order = tuple(int(i) for i in order)

    def filled(self, values: Any, dtype: Any) -> Any:
        """A fresh array of this layout, so that what is a view of the base's memory is one of this array's."""
        made = np.empty([self.shape[i] for i in self.order], dtype).transpose(np.argsort(self.order))
        made[...] = values
        return made


class Region:
    """Where in a base's memory the elements of a view are.

    ``halves``: the places are those of real and imaginary parts, because the view takes complex numbers apart or puts
    them together.
    """

    __slots__ = ("halves", "part_is_complex", "places", "whole_is_complex")

    def __init__(self, base: Layout, replay: Replay) -> None:
        self.whole_is_complex = self.part_is_complex = base.dtype.kind == "c"
        self.halves = False
        ids = np.arange(int(np.prod(base.shape))).reshape(base.shape)
        if base.is_lifted or base.dtype.kind not in "fc":
            self.places = np.array(replay(ids), order="C")
            return
        exact: Any = np.complex128 if self.whole_is_complex else np.float64
        part = replay(base.filled(2 * ids + 1j * (2 * ids + 1) if self.whole_is_complex else ids, exact))
        self.part_is_complex = part.dtype.kind == "c"
        places = np.stack([part.real, part.imag], -1) if self.part_is_complex else part
        places = np.array(places, np.int64, order="C")
        self.halves = self.whole_is_complex or self.part_is_complex
        if self.whole_is_complex and self.part_is_complex and _are_pairs(places):
            self.halves, places = False, places[..., 0] // 2
        self.places = places

    def gathered(self, whole: Tensor) -> Tensor:
        """The part of a tensor, recorded."""
        if not self.halves:
            made: Tensor = call(_gather, {"a": whole, "indices": self.places})
            return made
        flat = apart(whole) if self.whole_is_complex else whole
        made = call(_gather, {"a": flat, "indices": self.places})
        return together(made) if self.part_is_complex else made

    def replaced(self, whole: Tensor, part: Tensor | None) -> Tensor:
        """The whole with another part, recorded; with zeros there for None."""
        from srcgrad.eager.lifting import lifted

        pairs = self.halves and self.whole_is_complex
        flat = apart(whole) if pairs else whole
        kept = np.ones(flat.array.shape, bool)
        kept.ravel()[self.places.ravel()] = False
        made = flat.masked_fill(Tensor.of(~kept), 0.0)
        if part is not None:
            if self.halves and self.part_is_complex:
                part = apart(part)
            like = np.zeros(flat.array.size, flat.array.dtype)
            spread = lifted(runtime.untake)(lifted(np.reshape)(part, (-1,)), like, self.places.ravel())
            made = made + lifted(np.reshape)(spread, flat.array.shape)
        return together(made) if pairs else made


def _are_pairs(places: Any) -> bool:
    """Whether each two places are those of one complex number."""
    first, second = places[..., 0], places[..., 1]
    return bool((first % 2 == 0).all() and (second == first + 1).all())


def gathered(base: Tensor, replay: Replay, array: Any, name: str) -> Tensor:
    """A view of a base as it is now, in a node of its own; ``name``: that of a node that takes numbers apart."""
    region = Region(Layout(base.storage_array()), replay)
    if not region.halves:
        made: Tensor = call(_gather, {"a": base, "indices": region.places}, array=array)
        return made
    made = composed(name, region.gathered, base, keeps=True)
    made.array = array
    return made


class CopySlices(Node):
    """A base part of which was recomputed: that part's gradient goes through the operation that wrote it.

    ``inner`` is the node of that operation, ``own`` which of its inputs were the old values of the part.  Where the new
    values came by more than one operation, ``inner`` is None and the part's gradient goes to their ``edge``.
    """

    public_name = "torch::autograd::CopySlices"
    is_released = False

    def __init__(
        self, base: Tensor, replay: Replay, inner: Node | None, own: tuple[int, ...] = (), edge: Edge | None = None
    ) -> None:
        self.inner = inner
        if inner is not None:
            inner.slices = weakref.ref(self)
        self.own = own
        self.replay = replay
        self.layout = Layout(base.storage_array())
        rest = (edge,) if inner is None else tuple(e for i, e in enumerate(inner.edges) if i not in own)
        self.edges = (base.edge(), *rest)
        self.sequence = next(sequence)
        self.shape, self.dtype = base.array.shape, base.array.dtype

    @functools.cached_property
    def region(self) -> Region:
        """Where the part lies."""
        return Region(self.layout, self.replay)

    def part(self, array: Any) -> Tensor:
        """What was written, as a tensor of the graph."""
        whole = Tensor.of(np.broadcast_to(np.zeros((), self.dtype), self.shape))
        whole.node = self
        made = self.region.gathered(whole)
        made.array = array
        return made

    def apply(self, g: Any) -> Any:
        self.check_held()
        g = np.copy(g) if is_lifted(g) else self.layout.filled(g, self.dtype)
        part = self.replay(g)
        if self.inner is None:
            partials: Any = [np.copy(part)]
            part[...] = 0
            return [g, *partials]
        partials = self.inner.apply(np.copy(part))
        part[...] = 0
        for i in self.own:
            if i < len(partials) and partials[i] is not None:
                part += partials[i]
        return [g, *(p for i, p in enumerate(partials) if i not in self.own)]

    def apply_to_tensors(self, g: Any) -> Any:
        self.check_held()
        part = self.region.gathered(g)
        if self.inner is None:
            return [self.region.replaced(g, None), part]
        partials = tensor_partials(self.inner, part)
        mine = [partials[i] for i in self.own if i < len(partials) and partials[i] is not None]
        total = mine[0] if mine else None
        for more in mine[1:]:
            total = total + more
        return [self.region.replaced(g, total), *(p for i, p in enumerate(partials) if i not in self.own)]

    def check_versions(self) -> None:
        """What is saved, the inner node has saved."""
        if self.inner is not None:
            self.inner.check_versions()

    def release(self) -> None:
        """Let go of the operation; unlike other nodes that save nothing, this one runs once."""
        self.is_released = True
        if self.inner is not None:
            self.inner.release()

    def check_held(self) -> None:
        """Refuse to run a second time."""
        if self.is_released:
            raise RuntimeError(messages.FREED)
