"""The memory of a plain program's arrays while it runs eagerly: what every element holds, recorded by address.

NumPy itself makes the views and does the stores, in memory of the run's own, so that what shares memory with what is
its decision.  Beside each owner of memory stands one recorded flat array, the value of every element in the order of
addresses.  A store replaces elements of that value; an array that is looked at after a store gathers its elements from
it anew.  Tensors keep copies, never this memory: what a rule saved is not changed by a later store.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from srcgrad.eager.lifting import lifted
from srcgrad.eager.plain_operators import NotFollowed
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import replaced_at

_living: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()


class Memory:
    """The memory that one array owns, from its lowest address, with the recorded value of all of it."""

    __slots__ = ("__weakref__", "contents", "dtype", "parts", "refusal", "root", "size", "start", "version")

    def __init__(self, root: Any) -> None:
        self.root = root
        self.dtype = root.dtype
        self.start, end = byte_bounds(root)
        self.size = (end - self.start) // root.itemsize if root.size else 0
        self.parts: list[tuple[Any, Tensor]] = []  # what was recorded of it before the first store
        self.contents: Tensor | None = None
        self.version = 0
        self.refusal: str | None = None  # why nothing may be stored here

    @staticmethod
    def of(array: Any, near: Iterable[Memory] = ()) -> Memory:
        """The memory that ``array`` lies in: that of an operand, or its own."""
        if array.size:
            low, _ = byte_bounds(array)
            for memory in near:
                if memory.start <= low < memory.start + memory.size * memory.root.itemsize:
                    return memory
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        found = _living.get(id(root))
        if found is None or found.root is not root:
            found = _living[id(root)] = Memory(root)
        return found

    @property
    def varies(self) -> bool:
        """Whether an element may carry a derivative."""
        return bool(self.parts) or (self.contents is not None and self.contents.requires_grad)

    def flat(self) -> Any:
        """The elements themselves, in the order of addresses."""
        upwards = self.root[tuple(slice(None, None, -1 if step < 0 else 1) for step in self.root.strides)]
        return as_strided(upwards, (self.size,), (self.root.itemsize,))

    def places(self, array: Any) -> Any:
        """Where the elements of an array are, in its shape."""
        if not array.size:
            return np.zeros(array.shape, np.intp)
        if array.dtype != self.dtype or any(step % array.itemsize for step in array.strides):
            raise NotFollowed("a store into memory that is read as numbers of another type is not followed")
        found = np.array((array.__array_interface__["data"][0] - self.start) // array.itemsize)
        for axis, (length, step) in enumerate(zip(array.shape, array.strides, strict=True)):
            along = np.arange(length) * (step // array.itemsize)
            found = found + along.reshape((length,) + (1,) * (array.ndim - 1 - axis))
        return found

    def value(self) -> Tensor:
        """The recorded value of everything."""
        if self.contents is None:
            made = Tensor.of(np.array(self.flat()))
            for array, tensor in self.parts:
                made = lifted(replaced_at)(made, self.places(array), tensor)
            self.contents, self.parts = made, []
        return self.contents

    def read(self, array: Any) -> Tensor:
        """The recorded value of one of its arrays."""
        if not self.varies:
            return Tensor.of(array.copy(order="K"))
        made: Tensor = lifted(operator.getitem)(self.value(), self.places(array))
        return made

    def reshape(self, array: Any, shape: Any) -> None:
        """Set the shape of an array in place."""
        self.value()  # before the array that a part was recorded of looks otherwise
        array.shape = shape
        self.version += 1

    def change(self, array: Any, perform: Callable[[], object], hit: Any, taken: Callable[[], Tensor]) -> None:
        """Let ``perform`` change ``array``; the elements where ``hit`` is true are then those that ``taken`` gives."""
        if self.refusal is not None:
            raise NotFollowed(self.refusal)
        where = self.places(array)
        if np.unique(where).size != where.size:
            raise NotFollowed("a store into an array that holds one element at several places is not followed")
        old, new = self.value(), taken()
        perform()
        self.contents = lifted(replaced_at)(old, where[hit], new)
        self.version += 1
        if not np.array_equal(self.contents.array, self.flat(), equal_nan=True):
            raise NotFollowed("a store did something else than what is known of it, and is not followed")


def private(array: Any) -> Any:
    """A copy in memory of its own, with the strides of ``array``, which decide what is a view of it."""
    if not array.size or any(step % array.itemsize for step in array.strides):
        return array.copy(order="K")
    low, high = byte_bounds(array)
    block = np.zeros((high - low) // array.itemsize, array.dtype)
    offset = array.__array_interface__["data"][0] - low
    made: Any = np.ndarray(array.shape, array.dtype, block, offset, array.strides)
    made[...] = array
    made.flags.writeable = array.flags.writeable
    return made
