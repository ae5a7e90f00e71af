"""Gradients that are constant in an operand, which PyTorch records as functions of it: their derivative is zero.

The first gradient of ``relu`` or a pooling is, in PyTorch, an operation of the operand as well as of the cotangent: it
requires grad, and what it sends to the operand is zero.  The rules have a constant there, which has no graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.graph import Border, Node, mixed, node_class, sequence
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor, new

# Node: the name of the node of its gradient, the operand's place, whether zeros are sent to it, else nothing.
_ZERO = (
    "HardtanhBackward0", "LeakyReluBackward0", "ThresholdBackward0", "HardshrinkBackward0", "SoftshrinkBackward0",
    "RreluWithNoiseBackward0", "PreluKernelBackward0", "MaxPool2DWithIndicesBackward0", "MaxPool3DWithIndicesBackward0",
    "AvgPool2DBackward0", "AvgPool3DBackward0", "AdaptiveAvgPool2DBackward0", "AdaptiveAvgPool3DBackward0",
    "AdaptiveMaxPool2DBackward0", "AdaptiveMaxPool3DBackward0", "ReflectionPad1DBackward0", "ReflectionPad2DBackward0",
    "ReflectionPad3DBackward0", "ReplicationPad1DBackward0", "ReplicationPad2DBackward0", "ReplicationPad3DBackward0",
    "NllLossBackward0", "NllLoss2DBackward0",
)  # fmt: skip
FLAT: dict[str, tuple[str, int, bool]] = {
    **{name: (name.replace("Backward0", "BackwardBackward0"), 0, True) for name in _ZERO},
    "ReluBackward0": ("ThresholdBackwardBackward0", 0, True),
    "FmodBackward1": ("MulBackward0", 1, True),
    "RemainderBackward1": ("MulBackward0", 1, True),
    "NativeBatchNormBackward0": ("NativeBatchNormBackwardBackward0", 0, False),
    "ConvolutionBackward0": ("ConvolutionBackwardBackward0", 0, False),
}


class _Flat(Node):
    """What arrives goes on to the gradient; zeros go to the operand, or nothing."""

    sends = True

    def apply(self, g: Any) -> Any:
        return (g, np.zeros(g.shape, g.dtype) if self.sends else None)

    def apply_to_tensors(self, g: Any) -> Any:
        return (g, Tensor.of(np.zeros(g.array.shape, g.array.dtype)) if self.sends else None)


def tensor_partials(node: Node, g: Any, needed: tuple[bool, ...] | None = None) -> Any:
    """The gradients that a node makes of tensors, recorded, as functions of the operands that PyTorch says.

    ``needed``: the edges of a node with a formula that gradients are wanted at.
    """
    partials = node.apply_to_tensors(g) if needed is None else node.formula.on_tensors(node, g, needed)
    flat = FLAT.get(type(node).__name__)
    if flat is None or not state.recording or isinstance(node, Border):
        return partials
    name, place, sends = flat
    partial, edge = partials[place], node.edges[place]
    if partial is None or edge[0] is None or (partial.requires_grad and not sends):
        return partials
    result: Tensor = new(Tensor)
    result.array, result.counter = partial.array, partial.counter
    above: Any = new(mixed(_Flat, node_class(name)))
    above.edges, above.sends, above.keeps = (partial.edge(), edge), sends, True
    above.sequence, above.shape, above.dtype = next(sequence), partial.array.shape, partial.array.dtype
    result.node = above
    return (*partials[:place], result, *partials[place + 1 :])
