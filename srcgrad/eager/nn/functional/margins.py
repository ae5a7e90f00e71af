"""Losses of margins: between classes, between pairs, between what is near and what is far."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.nn.functional.activations import F
from srcgrad.eager.nn.functional.losses import reduced, reduction_of, shifted
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_lowered = Operation(np.subtract, "SubBackward1")
_norm = Operation(np.linalg.vector_norm, "NormBackward1", {"x": "self", "y": "result", "axis": "dim"})


@function("pairwise_distance", module=F)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of differences along the last dimension."""
    values = {"x": shifted(x1 - x2, eps), "axis": -1, "ord": p, "keepdims": keepdim}
    made: Tensor = call(_norm, values, saved={"dim": (-1,), "keepdim": keepdim, "p": p})
    return made


function("pairwise_distance")(pairwise_distance)


@function("hinge_embedding_loss", module=F)
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Distances of pairs that belong together, what lacks to a margin of others."""
    reduction = reduction_of(reduction, size_average, reduce)
    zeros = Tensor.of(np.zeros_like(np.asarray(input.array)))
    apart = (_number(margin, input) - input).clamp_min(0)
    losses = _where(target.ne(1), apart, zeros) + _where(target.ne(-1), input, zeros)
    return reduced(losses, reduction)


def _number(value: float, like: Tensor) -> Tensor:
    """A number as a tensor, which has an edge of its own."""
    return Tensor.of(np.asarray(value, like.array.dtype))


def _where(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    from srcgrad.eager.operations.picking import where

    made: Tensor = where(condition, a, b)
    return made


@function("margin_ranking_loss", module=F)
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How far the first is from ranking above the second as the target says."""
    reduction = reduction_of(reduction, size_average, reduce)
    if input1.array.ndim != input2.array.ndim or input1.array.ndim != target.array.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    losses = -target * (input1 - input2)
    losses = shifted(losses, margin).clamp_min(0)
    return reduced(losses, reduction)


@function("cosine_embedding_loss", module=F)
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The cosine of pairs: to be 1 where the target is 1, below a margin where it is -1."""
    reduction = reduction_of(reduction, size_average, reduce)
    tiny = 1e-12
    products = (input1 * input2).sum(-1)
    squares = [shifted((t * t).sum(-1), tiny) for t in (input1, input2)]
    cosine = products / (squares[0] * squares[1]).sqrt()
    zeros = Tensor.of(np.zeros_like(np.asarray(cosine.array)))
    ones = Tensor.of(np.ones_like(np.asarray(cosine.array)))
    above: Tensor = call(_lowered, {"x1": cosine, "x2": margin})
    losses = _where(target.eq(1), ones - cosine, zeros) + _where(target.eq(-1), above.clamp_min(0), zeros)
    return reduced(losses, reduction)


@function("triplet_margin_loss", module=F)
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How much nearer than the negative the positive should be."""
    reduction = reduction_of(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduced((shifted(near, margin) - far).clamp_min(0), reduction)


@function("multi_margin_loss", module=F)
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How far the target class is from being above all others by a margin."""
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    labels = np.atleast_1d(target.array)
    saved = {
        "margin": margin, "p": p, "reduction": _REDUCTIONS[reduction], "self": input, "target": target,
        "weight": weight,
    }  # fmt: skip

    def losses(x: Tensor) -> Tensor:
        rows: Any = x if x.array.ndim == 2 else x.unsqueeze(0)
        classes = rows.array.shape[1]
        picked = rows.gather(1, Tensor.of(labels[:, None]))
        gaps = (margin - picked + rows).clamp_min(0)
        gaps = gaps * gaps if p == 2 else gaps
        if weight is not None:
            gaps = gaps * Tensor.of(weight.array[labels][:, None])
        others = np.arange(classes) != labels[:, None]
        each = (gaps * Tensor.of(others.astype(rows.array.dtype))).sum(1) / classes
        return reduced(each if x.array.ndim == 2 else each.squeeze(0), reduction)

    made: Tensor = composed("MultiMarginLossBackward0", losses, input, saved=saved)
    return made


@function("multilabel_margin_loss", module=F)
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """How far the classes named before the first -1 are from being above all others by 1."""
    reduction = reduction_of(reduction, size_average, reduce)
    labels = np.atleast_2d(target.array)
    is_target = np.zeros(labels.shape)
    for row, names in zip(is_target, labels, strict=True):
        count = int(np.argmax(names == -1)) if np.any(names == -1) else len(names)
        row[names[:count]] = 1
    shape = target.array.shape
    saved = {
        "reduction": _REDUCTIONS[reduction], "self": input, "target": target,
        "is_target": Tensor.of(is_target.reshape(shape).astype(input.array.dtype)),
    }  # fmt: skip

    def losses(x: Tensor) -> Tensor:
        rows: Any = x if x.array.ndim == 2 else x.unsqueeze(0)
        gaps = (1 - rows.unsqueeze(2) + rows.unsqueeze(1)).clamp_min(0)
        counted = Tensor.of((is_target[:, :, None] * (1 - is_target[:, None, :])).astype(x.array.dtype))
        each = (gaps * counted).sum((1, 2)) / rows.array.shape[1]
        return reduced(each if x.array.ndim == 2 else each.squeeze(0), reduction)

    made: Tensor = composed("MultilabelMarginLossBackward0", losses, input, saved=saved)
    return made


@function("multilabel_soft_margin_loss", module=F)
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The mean over classes of the cross-entropy of each."""
    from srcgrad.eager.nn.functional.activations import logsigmoid

    reduction = reduction_of(reduction, size_average, reduce)
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    count = input.array.shape[-1]
    return reduced(losses.sum(input.array.ndim - 1) / count, reduction)
