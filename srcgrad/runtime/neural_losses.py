"""Losses, the layers in front of them, and the two ways between the losses of elements and one loss.

>>> mse_loss(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
np.float64(2.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np


# --- reductions ------------------------------------------------------------------------------------------------------
def reduce_loss(loss: Any, reduction: str = "mean") -> Any:
    """The mean of losses, their sum, or ('none') the losses as they are."""
    if reduction == "none":
        return loss
    return np.mean(loss) if reduction == "mean" else np.sum(loss)


def unreduce_loss(g: Any, like: Any, reduction: str = "mean") -> Any:
    """The transpose of ``reduce_loss``: each loss's share of the cotangent."""
    if reduction == "none":
        return g
    if reduction == "mean":
        g = g / np.asarray(like.size, like.dtype)[()]
    return np.broadcast_to(g, like.shape)


# --- of pairs of elements --------------------------------------------------------------------------------------------
def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Squares of differences."""
    difference = x - target
    return reduce_loss(difference * difference, reduction)


def huber_loss(x: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the square of a difference up to ``delta``, from there on a line."""
    size = np.abs(x - target)
    return reduce_loss(np.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


def smooth_l1_loss(x: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """``huber_loss`` divided by its ``beta``; the size of the difference where that is zero."""
    size = np.abs(x - target)
    if beta == 0:
        return reduce_loss(size, reduction)
    return reduce_loss(np.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


def soft_margin_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """``log(1 + exp(-target * x))``."""
    return reduce_loss(np.log1p(np.exp(-target * x)), reduction)


def bce_loss(x: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """The cross-entropy of two outcomes, x the probability of one; logarithms no less than -100."""
    with np.errstate(divide="ignore"):
        first, second = np.maximum(np.log(x), -100.0), np.maximum(np.log1p(-x), -100.0)
    loss = (target - 1.0) * second - target * first
    return reduce_loss(loss if weight is None else loss * weight, reduction)


def bce_logits_loss(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean") -> Any:
    """The cross-entropy of two outcomes, x the logit of one, which ``pos_weight`` weighs."""
    log_likelihood = np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
    factor = 1.0 if pos_weight is None else 1.0 + (pos_weight - 1.0) * target
    loss = (1.0 - target) * x - factor * log_likelihood
    return reduce_loss(loss if weight is None else loss * weight, reduction)


# --- of classes ------------------------------------------------------------------------------------------------------
def _class_weights(x: Any, target: Any, weight: Any, ignore_index: int | None) -> tuple[Any, Any]:
    """An index of the picked elements of ``x``, and what each of them weighs, None where that is 1."""
    if ignore_index is None:
        safe, weights = target, None if weight is None else weight[target]
    else:
        counted = target != ignore_index
        safe = np.where(counted, target, 0)
        weights = np.asarray(counted, x.dtype) if weight is None else weight[safe] * counted
    if x.ndim == 1:
        return (safe,), weights
    if x.ndim == 2:
        return (np.arange(len(target)), safe), weights
    places = np.ogrid[tuple(slice(n) for n in target.shape)]
    return (places[0], safe, *places[1:]), weights


def _mean(total: Any, weights: Any, x: Any, target: Any) -> Any:
    """A total divided by the sum of the weights of the targets."""
    whole = x.dtype.type(target.size) if weights is None else np.add.reduce(weights, None)
    if isinstance(whole, np.generic) and whole:
        return total / whole
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / whole


def nll_loss(x: Any, target: Any, weight: Any = None, ignore_index: int | None = -100, reduction: str = "mean") -> Any:
    """The negative log-probability of the target class, classes along axis 1, or 0 of a vector.

    Where ``ignore_index`` is None no class is ignored, and nothing is looked for.
    """
    index, weights = _class_weights(x, target, weight, ignore_index)
    picked = x[index]
    loss = -picked if weights is None else -picked * weights
    if reduction == "none":
        return loss
    total = np.add.reduce(loss, None)
    return total if reduction == "sum" else _mean(total, weights, x, target)


def unnll_loss(
    g: Any, x: Any, target: Any, weight: Any = None, ignore_index: int | None = -100, reduction: str = "mean"
) -> Any:
    """The transpose of ``nll_loss``: cotangents put at the target classes, zero elsewhere."""
    index, weights = _class_weights(x, target, weight, ignore_index)
    if reduction == "mean":
        g = _mean(g, weights, x, target)
    made = np.zeros(x.shape, x.dtype if type(g) is x.dtype.type else np.result_type(x, g))
    if weights is None:
        made[index] = -g
    else:
        with np.errstate(invalid="ignore"):  # what weighs nothing gets an exact zero, of the mean of nothing too
            made[index] = np.where(weights == 0, 0.0, -g * weights)
    return made


def embedding(weight: Any, indices: Any, padding_idx: int = -1) -> Any:
    """Rows of a matrix; the row ``padding_idx`` receives no gradient."""
    return weight[indices]


def unembedding(g: Any, weight: Any, indices: Any, padding_idx: int = -1) -> Any:
    """The transpose of ``embedding``: cotangents of rows added up, none in the row ``padding_idx``."""
    made = np.zeros(weight.shape, g.dtype)
    np.add.at(made, indices, g)
    if padding_idx >= 0:
        made[padding_idx] = 0
    return made


def embedded(weight: Any, indices: Any, padding_idx: int = -1) -> Any:
    """Rows of a matrix, that of ``padding_idx`` as zeros: the transpose of ``unembedding``."""
    made = weight[indices]
    if padding_idx >= 0:
        made = np.where((indices == padding_idx)[..., None], 0.0, made)
    return made


# --- layers ----------------------------------------------------------------------------------------------------------
def addmm(input: Any, mat1: Any, mat2: Any, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    product = np.matmul(mat1, mat2)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    if beta == 1 and input.ndim <= product.ndim and input.dtype == product.dtype:
        product += input
        return product
    return np.add(product, input if beta == 1 else input * beta)
