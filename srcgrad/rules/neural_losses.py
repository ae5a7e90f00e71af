"""Losses and the layers in front of them."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.table import linear, rule
from srcgrad.runtime import neural_losses, rebroadcast, unbroadcast
from srcgrad.runtime.neural import log_sigmoid, sigmoid
from srcgrad.runtime.neural_losses import (
    embedded,
    embedding,
    nll_loss,
    reduce_loss,
    unembedding,
    unnll_loss,
    unreduce_loss,
)


# --- reductions ------------------------------------------------------------------------------------------------------
@linear(reduce_loss, "loss")
def reduce_loss_(loss, reduction="mean", *, y, y_bar):
    """The mean, the sum, or the losses themselves."""
    return unreduce_loss(y_bar, loss, reduction)


@linear(unreduce_loss, "g")
def unreduce_loss_(g, like, reduction="mean", *, y, y_bar):
    """Spread over the losses; taken together again."""
    return reduce_loss(y_bar, reduction)


# --- of pairs of elements --------------------------------------------------------------------------------------------
@rule(neural_losses.mse_loss)
def mse_loss(x, target, reduction="mean", *, y, y_bar):
    """Squares of differences."""
    slope = unreduce_loss(y_bar, x, reduction) * (2.0 * (x - target))
    return slope, -slope


@mse_loss.tangent
def mse_loss(x, target, reduction="mean", *, y, x_dot, target_dot):
    slope = 2.0 * (x - target)
    return reduce_loss(slope * x_dot, reduction), -reduce_loss(slope * target_dot, reduction)


@rule(neural_losses.huber_loss)
def huber_loss(x, target, reduction="mean", delta=1.0, *, y, y_bar):
    """The difference, bounded by delta."""
    slope = unreduce_loss(y_bar, x, reduction) * np.minimum(np.maximum(x - target, -delta), delta)
    return slope, -slope


@huber_loss.tangent
def huber_loss(x, target, reduction="mean", delta=1.0, *, y, x_dot, target_dot):
    slope = np.minimum(np.maximum(x - target, -delta), delta)
    return reduce_loss(slope * x_dot, reduction), -reduce_loss(slope * target_dot, reduction)


@rule(neural_losses.smooth_l1_loss)
def smooth_l1_loss(x, target, reduction="mean", beta=1.0, *, y, y_bar):
    """The difference divided by beta, bounded by 1."""
    bounded = np.minimum(np.maximum(x - target, -beta), beta)
    slope = unreduce_loss(y_bar, x, reduction) * (bounded / beta if beta else np.sign(x - target))
    return slope, -slope


@smooth_l1_loss.tangent
def smooth_l1_loss(x, target, reduction="mean", beta=1.0, *, y, x_dot, target_dot):
    bounded = np.minimum(np.maximum(x - target, -beta), beta)
    slope = bounded / beta if beta else np.sign(x - target)
    return reduce_loss(slope * x_dot, reduction), -reduce_loss(slope * target_dot, reduction)


@rule(neural_losses.soft_margin_loss)
def soft_margin_loss(x, target, reduction="mean", *, y, y_bar):
    """log(1 + exp(-target * x))."""
    slope = -unreduce_loss(y_bar, x, reduction) * sigmoid(np.multiply(-target, x))
    return np.multiply(slope, target), slope * x


@soft_margin_loss.tangent
def soft_margin_loss(x, target, reduction="mean", *, y, x_dot, target_dot):
    slope = -sigmoid(np.multiply(-target, x))
    by_x = np.multiply(slope * x_dot, target)
    return reduce_loss(by_x, reduction), reduce_loss(slope * x * target_dot, reduction)


@rule(neural_losses.bce_loss)
def bce_loss(x, target, weight=None, reduction="mean", *, y, y_bar):
    """The cross-entropy of two outcomes, x the probability of one; logarithms no less than -100."""
    by_target = np.maximum(np.log1p(-x), -100.0) - np.maximum(np.log(x), -100.0)
    share = unreduce_loss(y_bar, x, reduction)
    g = share if weight is None else np.multiply(share, weight)
    return g * ((x - target) / np.maximum((1.0 - x) * x, 1e-12)), g * by_target


@bce_loss.tangent
def bce_loss(x, target, weight=None, reduction="mean", *, y, x_dot, target_dot):
    by_target = np.maximum(np.log1p(-x), -100.0) - np.maximum(np.log(x), -100.0)
    by_x = (x - target) / np.maximum((1.0 - x) * x, 1e-12)
    factor = 1.0 if weight is None else weight
    return reduce_loss(np.multiply(by_x * x_dot, factor), reduction), reduce_loss(
        np.multiply(by_target * target_dot, factor), reduction
    )


@rule(neural_losses.bce_logits_loss)
def bce_logits_loss(x, target, weight=None, pos_weight=None, reduction="mean", *, y, y_bar):
    """The cross-entropy of two outcomes, x the logit of one, which pos_weight weighs."""
    share = unreduce_loss(y_bar, x, reduction)
    g = share if weight is None else np.multiply(share, weight)
    positive = target if pos_weight is None else np.multiply(target, pos_weight)
    by_target = -x if pos_weight is None else log_sigmoid(-x) - np.multiply(log_sigmoid(x), pos_weight)
    return g * ((1.0 - target + positive) * sigmoid(x) - positive), g * by_target


@bce_logits_loss.tangent
def bce_logits_loss(x, target, weight=None, pos_weight=None, reduction="mean", *, y, x_dot, target_dot):
    factor = 1.0 if weight is None else weight
    positive = target if pos_weight is None else np.multiply(target, pos_weight)
    by_x = (1.0 - target + positive) * sigmoid(x) - positive
    by_target = -x if pos_weight is None else log_sigmoid(-x) - np.multiply(log_sigmoid(x), pos_weight)
    return reduce_loss(np.multiply(by_x * x_dot, factor), reduction), reduce_loss(
        np.multiply(by_target * target_dot, factor), reduction
    )


bce_loss.refuse("multiply the losses by the weight", weight="the weight of a loss has no derivative here")
bce_logits_loss.refuse(
    "multiply the losses by the weight",
    weight="the weight of a loss has no derivative here",
    pos_weight="the weight of a loss has no derivative here",
)


# --- of classes ------------------------------------------------------------------------------------------------------
@linear(nll_loss, "x")
def nll_loss_(x, target, weight=None, ignore_index=-100, reduction="mean", *, y, y_bar):
    """Elements taken; put back."""
    return unnll_loss(y_bar, x, target, weight, ignore_index, reduction)


@linear(unnll_loss, "g")
def unnll_loss_(g, x, target, weight=None, ignore_index=-100, reduction="mean", *, y, y_bar):
    """Elements put; taken again."""
    return nll_loss(y_bar, target, weight, ignore_index, reduction)


nll_loss_.refuse("multiply the losses by the weight", weight="the weights of classes have no derivative here")


@rule(embedding)
def embedding_(weight, indices, padding_idx=-1, *, y, y_bar):
    """Rows taken; put back, but that of padding_idx, which is held still."""
    return unembedding(y_bar, weight, indices, padding_idx)


@embedding_.tangent
def embedding_(weight, indices, padding_idx=-1, *, y, weight_dot):
    return embedded(weight_dot, indices, padding_idx)


@linear(unembedding, "g")
def unembedding_(g, weight, indices, padding_idx=-1, *, y, y_bar):
    """Rows put; taken again."""
    return embedded(y_bar, indices, padding_idx)


@linear(embedded, "weight")
def embedded_(weight, indices, padding_idx=-1, *, y, y_bar):
    """Rows taken, that of padding_idx as zeros; put back."""
    return unembedding(y_bar, weight, indices, padding_idx)


# --- layers ----------------------------------------------------------------------------------------------------------
@rule(neural_losses.addmm)
def addmm(input, mat1, mat2, beta=1, alpha=1, *, y, y_bar):
    """A product of matrices and what is added to it."""
    g = y_bar * alpha
    return (
        unbroadcast(y_bar * beta, input),
        np.matmul(g, np.transpose(mat2)),
        np.transpose(np.matmul(np.transpose(g), mat1)),
    )


@addmm.tangent
def addmm(input, mat1, mat2, beta=1, alpha=1, *, y, input_dot, mat1_dot, mat2_dot):
    return (
        rebroadcast(input_dot * beta, y),
        np.matmul(mat1_dot, mat2) * alpha,
        np.matmul(mat1, mat2_dot) * alpha,
    )


@addmm.when(beta=1, alpha=1)
def addmm(input, mat1, mat2, beta=1, alpha=1, *, y, y_bar):
    """A product of matrices and what is added to it, none of them scaled."""
    return (
        unbroadcast(y_bar, input),
        np.matmul(y_bar, np.transpose(mat2)),
        np.transpose(np.matmul(np.transpose(y_bar), mat1)),
    )
