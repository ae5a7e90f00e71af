"""The end of a gradient's way: added to the ``grad`` of a leaf."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.graph import AccumulateGrad
from srcgrad.eager.levels import check_home, made_of, of_primal
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor, new

_copy = Operation(np.copy, "torch::autograd::CopyBackwards")


def accumulate_into(node: AccumulateGrad, g: Any, create: bool, handed: set[int]) -> None:
    """Add what arrived at a leaf to its ``grad``, hooks included."""
    leaf = node.variable
    if not leaf.leaf_grad and leaf.node is None:
        return  # it required grad when the graph was made
    if leaf.node is not None:
        raise RuntimeError(messages.MOVED_LEAF)
    if is_lifted(getattr(g, "array", g)):
        g = _for_leaf(g, leaf)
    if leaf.hooks or node.prehooks or node.posthooks or leaf.post_accumulate:
        from srcgrad.eager.hooks import accumulate_with_hooks

        accumulate_with_hooks(node, g, create, handed)
        return
    if g is not None:
        add_to_grad(leaf, g, create, handed)


def _for_leaf(g: Any, leaf: Tensor) -> Any:
    """A lifted gradient as that of a leaf: without a tangent, unless the leaf has one; never a batch of others."""
    check_home(g, leaf, False)
    g = of_primal(g)
    array = getattr(g, "array", g)
    if not hasattr(array, "paired") or hasattr(leaf.array, "paired"):
        return g
    return array.primal if array is g else made_of(array.primal)


def _is_alone(g: Any, handed: set[int]) -> bool:
    """Whether a view is all of an array that nobody else holds, such as the transpose of a fresh product."""
    base = g.base
    if type(base) is not np.ndarray or base.base is not None or base.size != g.size or id(base) in handed:
        return False
    return sys.getrefcount(base) == 3  # by the view, by the name here, by the question


def add_to_grad(leaf: Tensor, g: Any, create: bool, handed: set[int]) -> None:
    """``leaf.grad += g``: in place without a graph, a new tensor with one; never an array that others hold."""
    known = leaf.gradient
    if create:
        leaf.gradient = call(_copy, {"a": g}, array=np.copy(g.array)) if known is None else known + g
        return
    if known is None:
        wanted, is_copy = leaf.array, False
        if not isinstance(g, np.ndarray):
            array = g if g.dtype == wanted.dtype else g.astype(wanted.dtype)
        elif (
            id(g) in handed
            or g.dtype != wanted.dtype
            or not g.flags.c_contiguous
            or (g.base is not None and not _is_alone(g, handed))
        ):
            array = np.array(g, wanted.dtype, order="C")
            is_copy = g.base is None or 0 in g.strides  # what PyTorch copies too: a copy is a write
        else:
            array = g
        if isinstance(array, np.ndarray):
            handed.add(id(array))
        made: Tensor = new(Tensor)
        made.array = array
        if state.inference:
            made.inference, made.counter = True, [0]
        elif is_copy:
            made.counter = [1]
        leaf.gradient = made
        return
    array = known.storage_array()
    array += g.real if g.dtype.kind == "c" and array.dtype.kind != "c" else g
    if known.counter is None:
        known.counter = [1]
    else:
        known.counter[0] += 1
