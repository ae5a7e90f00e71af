"""Stores of values with a tangent into tensors without one, inside ``forward_ad.dual_level``: these become dual.

The memory stays where it is, as that of the primal; a tangent of zeros stands beside it until the level ends.  Other
tensors that share the memory would not learn of the tangent: such a store is refused.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.dual import Dual
from srcgrad.eager.levels import level_of
from srcgrad.eager.lifted_arrays import Escape, is_lifted
from srcgrad.eager.tensor import Tensor, new


def _references(tensor: Tensor) -> int:
    """How often the array of a tensor is referred to."""
    return sys.getrefcount(tensor.array)


def _references_of_owner(tensor: Tensor) -> int:
    """How often the memory behind the array of a tensor is referred to."""
    return sys.getrefcount(tensor.array.base)


_one: Tensor = new(Tensor)
_one.array = np.empty(1)
_ALONE = _references(_one)  # what one reference counts here
_one.array = _one.array[:]
_ALONE_OWNER = _references_of_owner(_one)


def _is_alone(tensor: Tensor, root: Tensor, held: int) -> bool:
    """Whether only a tensor and its root hold their memory; ``held`` are the caller's own references to its array."""
    if _references(tensor) > _ALONE + held:
        return False
    if tensor is not root and _references(root) > _ALONE + (tensor.array.base is root.array):
        return False
    if root.array.base is None:
        return True
    owner = root.array.base
    if type(owner) is not np.ndarray or owner.base is not None:
        return False
    del owner
    return _references_of_owner(root) <= _ALONE_OWNER + (tensor is not root and tensor.array.base is root.array.base)


def take_tangent(tensor: Tensor, stored: Any, held: int) -> Any:
    """The memory of a plain tensor into which a lifted array is about to be stored, made dual; else the error.

    ``held`` are the caller's own references to the array of the tensor.
    """
    level, is_batched = level_of(stored), is_lifted(getattr(stored, "primal", stored))
    if level is None or level.kind != "dual" or is_batched or tensor.array.dtype.kind not in "fc":
        raise stored.misfit(tensor.array)
    root = tensor if tensor.alias is None else tensor.alias.base
    if not _is_alone(tensor, root, held):
        raise Escape(messages.SHARED_WITHOUT_TANGENT)
    root.array = Dual(level.id, root.array, np.zeros(root.array.shape, root.array.dtype))
    level.became_dual.append(weakref.ref(root))
    if tensor is not root:
        tensor.array = tensor.alias.of_base(root.array)
        level.became_dual.append(weakref.ref(tensor))
    return tensor.array
