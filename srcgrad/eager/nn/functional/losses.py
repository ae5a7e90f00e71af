"""Losses as functions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from srcgrad.eager.constants import Constant
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import as_array, elements, indexed
from srcgrad.eager.nn.functional.activations import F, log_softmax
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import neural_losses

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_PAIR = {"x": "self"}
_mse = Operation(neural_losses.mse_loss, "MseLossBackward0", _PAIR)
_huber = Operation(neural_losses.huber_loss, "HuberLossBackward0", _PAIR)
_smooth_l1 = Operation(neural_losses.smooth_l1_loss, "SmoothL1LossBackward0", _PAIR)
_soft_margin = Operation(neural_losses.soft_margin_loss, "SoftMarginLossBackward0", _PAIR)
_bce = Operation(neural_losses.bce_loss, "BinaryCrossEntropyBackward0", _PAIR)
_bce_logits = Operation(neural_losses.bce_logits_loss, "BinaryCrossEntropyWithLogitsBackward0", _PAIR)
_nll = Operation(neural_losses.nll_loss, "NllLossBackward0", _PAIR)
_divided = Operation(np.divide, "DivBackward1", {"x2": "other"})
_scaled = Operation(np.multiply, "MulBackward1", {"x2": "other"})
_shifted = Operation(np.add, "AddBackward1")
_nll2d = Operation(neural_losses.nll_loss, "NllLoss2DBackward0", _PAIR)


def reduction_of(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """A reduction that is known; the older two ways of naming one are understood."""
    if size_average is not None or reduce is not None:
        average, reduced = size_average is not False, reduce is not False
        reduction = "none" if not reduced else "mean" if average else "sum"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3,
        )
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def scaled(input: Tensor, factor: float) -> Tensor:
    """A product with a number, as PyTorch's own composites record it."""
    made: Tensor = call(_scaled, {"x1": input, "x2": factor})
    return made


def shifted(input: Tensor, by: float) -> Tensor:
    """A sum with a number, as PyTorch's own composites record it."""
    made: Tensor = call(_shifted, {"x1": input, "x2": by})
    return made


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Losses taken together as a composite of nodes."""
    made: Tensor = loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()
    return made


def _pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one shape and dtype, with PyTorch's warning where broadcasting was needed."""
    if target.array.shape != input.array.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
        try:
            shape = np.broadcast_shapes(input.array.shape, target.array.shape)
        except ValueError:
            from srcgrad.eager.elementwise import shape_error

            raise shape_error(input.array, target.array) from None
        input = input if input.array.shape == shape else input.expand(shape)
        target = target if target.array.shape == shape else target.expand(shape)
    return input, target


def _same_dtype(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    from srcgrad.eager.operations.members import result_type

    common = result_type(input, target)
    return input.to(common), target.to(common)


def _paired(operation: Operation, input: Tensor, target: Tensor, reduction: str, **options: Any) -> Tensor:
    x, t = _same_dtype(*_pair(input, target))
    saved = {"reduction": _REDUCTIONS[reduction], **options}
    made: Tensor = call(operation, {"x": x, "target": t, "reduction": reduction, **options}, saved=saved)
    return made


@function("mse_loss", module=F)
def mse_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Squares of differences."""
    reduction = reduction_of(reduction, size_average, reduce)
    if weight is not None:
        x, t = _pair(input, target)
        losses = (x - t) ** 2 * weight
        if reduction == "mean":
            made: Tensor = losses.sum() / weight.sum()
            return made
        return reduced(losses, reduction)
    return _paired(_mse, input, target, reduction)


@function("l1_loss", module=F)
def l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """Sizes of differences."""
    reduction = reduction_of(reduction, size_average, reduce)
    x, t = _pair(input, target)
    return reduced((x - t).abs(), reduction)


@function("smooth_l1_loss", module=F)
def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """Squares of small differences, sizes of large ones."""
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return _paired(_smooth_l1, input, target, reduction, beta=float(beta))


@function("huber_loss", module=F)
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the squares of small differences, a line for large ones."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return _paired(_huber, input, target, reduction_of(reduction), delta=float(delta))
    return reduced(_paired(_huber, input, target, "none", delta=float(delta)) * weight, reduction)


@function("soft_margin_loss", module=F)
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """``log(1 + exp(-target * input))``."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.requires_grad:
        raise NotImplementedError("the derivative for 'target' is not implemented")
    saved = {"reduction": _REDUCTIONS[reduction], "target": target}
    made: Tensor = call(_soft_margin, {"x": input, "target": target.array, "reduction": reduction}, saved=saved)
    return made


# --- two outcomes ----------------------------------------------------------------------------------------------------
@function("binary_cross_entropy", module=F)
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Constant | None = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The cross-entropy of two outcomes, of which the input is the probability of one."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.array.shape != input.array.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    a = np.asarray(input.array)
    if a.size and not (a.min() >= 0 and a.max() <= 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    saved = {"reduction": _REDUCTIONS[reduction], "weight": weight}
    w = None if weight is None else np.broadcast_to(weight.array, a.shape)
    values = {"x": input, "target": target, "weight": w, "reduction": reduction}
    made: Tensor = call(_bce, values, saved=saved)
    return made


@function("binary_cross_entropy_with_logits", module=F)
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Constant | None = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: Constant | None = None,
) -> Tensor:  # fmt: skip
    """The cross-entropy of two outcomes, of which the input is the logit of one."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.array.shape != input.array.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    saved = {"reduction": _REDUCTIONS[reduction], "weight": weight, "pos_weight": pos_weight}
    values = {
        "x": input,
        "target": target,
        "weight": None if weight is None else weight.array,
        "pos_weight": None if pos_weight is None else pos_weight.array,
        "reduction": reduction,
    }
    made: Tensor = call(_bce_logits, values, saved=saved)
    return made


# --- classes ---------------------------------------------------------------------------------------------------------
@function("nll_loss", module=F)
def nll_loss(
    input: Tensor, target: Tensor, weight: Constant | None = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The negative log-probability of the target class."""
    reduction = reduction_of(reduction, size_average, reduce)
    ignored = ignore_index if _check_classes(input, target, weight, ignore_index) else None
    labels = as_array(target.array)
    w = None if weight is None else np.asarray(weight.array)
    if reduction == "none":
        total: Any = 0
    elif w is None:
        total = labels.size if ignored is None else (labels != ignored).sum()
    else:
        counted = labels != ignore_index
        total = np.where(counted, indexed(w, np.where(counted, labels, 0)), 0).sum()
    saved = {
        "reduction": _REDUCTIONS[reduction],
        "ignore_index": ignore_index,
        "weight": weight,
        "target": target,
        "total_weight": Tensor.of(as_array(total, input.array.dtype)),
    }
    shape = labels.shape
    if input.array.ndim == 3 or input.array.ndim > 4:  # PyTorch knows two dimensions of pixels only
        n, c = input.array.shape[:2]
        input, labels = input.reshape(n, c, 1, -1), labels.reshape(n, 1, -1)
    values = {"x": input, "target": labels, "weight": w, "ignore_index": ignored, "reduction": reduction}
    made: Tensor = call(_nll if input.array.ndim <= 2 else _nll2d, values, saved=saved)
    return made if labels.shape == shape or reduction != "none" else made.view(shape)


def _check_classes(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> bool:
    """PyTorch's errors about shapes, dtypes and classes that are none; whether targets may be ignored."""
    x, t = input.array.shape, target.array.shape
    if not x:
        raise RuntimeError("input tensor should be 1D or 2D")
    if len(x) > 1 and (not t or x[0] != t[0]):
        raise ValueError(f"Expected input batch_size ({x[0]}) to match target batch_size ({t[0] if t else 1}).")
    if len(x) == 1 and len(t) > 1 or len(x) == 2 and len(t) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if len(x) > 2 and t[1:] != x[2:]:
        raise RuntimeError(f"Expected target size {[x[0], *x[2:]]}, got {list(t)}")
    labels = elements(target.array)
    if labels.dtype.char not in "lqB":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.long_name}")
    count = x[0] if len(x) == 1 else x[1]
    within = not labels.size or (np.minimum.reduce(labels, None) >= 0 and np.maximum.reduce(labels, None) < count)
    if not within:
        wrong = labels[(labels != ignore_index) & ((labels < 0) | (labels >= count))]
        if wrong.size:
            raise IndexError(f"Target {wrong.flat[0]} is out of bounds.")
    if weight is not None and weight.array.shape != (count,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {count} classes or no classes but got weight tensor of "
            f"shape: {list(weight.array.shape)}"
        )
    return not within or 0 <= ignore_index < count


@function("cross_entropy", module=F)
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """``nll_loss`` of ``log_softmax``; the target may be probabilities of classes."""
    reduction = reduction_of(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = 0 if input.array.ndim == 1 else 1
    log = log_softmax(input, axis)
    if target.array.shape == input.array.shape and target.dtype.category >= 2:
        return _of_probabilities(log, target, weight, reduction, label_smoothing, axis)
    if not label_smoothing:
        return nll_loss(log, target, weight, ignore_index=ignore_index, reduction=reduction)
    return _smoothed(log, target, weight, reduction, label_smoothing, ignore_index, axis)


def _class_shaped(weight: Tensor, input: Tensor, axis: int) -> Tensor:
    made: Tensor = weight.view([-1 if i == axis else 1 for i in range(input.array.ndim)])
    return made


def _of_probabilities(
    log: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, axis: int
) -> Tensor:
    classes = log.array.shape[axis]
    if smoothing > 0:
        target = shifted(scaled(target, 1 - smoothing), smoothing / classes)
    terms = log * target
    if weight is not None:
        terms = terms * _class_shaped(weight, log, axis)
    if reduction == "none":
        made: Tensor = -terms.sum(axis)
        return made
    total: Tensor = -terms.sum()
    if reduction == "sum":
        return total
    mean: Tensor = call(_divided, {"x1": total, "x2": float(log.array.size // classes)})
    return mean


def _smoothed(
    log: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, ignore_index: int, axis: int
) -> Tensor:
    """The share of the target class and that of all classes alike."""
    nll = nll_loss(log, target, weight, ignore_index=ignore_index, reduction=reduction)
    if weight is not None:
        smooth = -(log * _class_shaped(weight, log, axis)).sum(axis)
    else:
        smooth = -log.sum(axis)
    ignored = target.eq(ignore_index)
    smooth = smooth.masked_fill(ignored, 0.0)
    if reduction == "mean":
        if weight is not None:
            labels = np.where(ignored.array, 0, target.array)
            total = Tensor.of(np.sum(np.where(ignored.array, 0, weight.array[labels]), dtype=weight.array.dtype))
            smooth = smooth.sum() / total
        else:
            smooth = smooth.sum() / Tensor.of(np.asarray(np.sum(~ignored.array)))
    elif reduction == "sum":
        smooth = smooth.sum()
    classes = log.array.shape[axis]
    made: Tensor = scaled(nll, 1 - smoothing) + scaled(smooth, smoothing / classes)
    return made


# --- composites ------------------------------------------------------------------------------------------------------
@function("kl_div", module=F)
def kl_div(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:  # fmt: skip
    """The divergence of a distribution from one given by logarithms."""
    batch = reduction == "batchmean"
    reduction = "sum" if batch else reduction_of(reduction, size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = target.xlogy(target) - target * input
    made = reduced(losses, reduction)
    if batch and input.array.ndim:
        made = made / input.array.shape[0]
    return made


@function("poisson_nll_loss", module=F)
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The negative log-likelihood of counts of Poisson's distribution."""
    reduction = reduction_of(reduction, size_average, reduce)
    if log_input:
        losses = input.exp() - target * input
    else:
        losses = input - target * shifted(input, eps).log()
    if full:
        stirling = target * target.log() - target + scaled(scaled(target, 2 * np.pi).log(), 0.5)
        losses = losses + stirling.masked_fill(target.le(1), 0.0)
    return reduced(losses, reduction)


@function("gaussian_nll_loss", module=F)
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """The negative log-likelihood of normal numbers with their variances."""
    if isinstance(var, float):
        var = Tensor.of(np.full_like(np.asarray(input.array), var))
    if var.array.shape != input.array.shape:
        if input.array.shape[:-1] == var.array.shape:
            var = var.unsqueeze(-1)
        elif not (input.array.shape[:-1] == var.array.shape[:-1] and var.array.shape[-1] == 1):
            raise ValueError("var is of incorrect size")
    if reduction not in _REDUCTIONS:
        raise ValueError(reduction + " is not valid")
    if np.any(np.asarray(var.array) < 0):
        raise ValueError("var has negative entry/entries")
    bounded = var.clone()
    from srcgrad.eager.modes import no_grad

    with no_grad():
        bounded.clamp_(min=eps)
    losses = 0.5 * (bounded.log() + (input - target) ** 2 / bounded)
    if full:
        losses = losses + 0.5 * np.log(2 * np.pi).item()
    return reduced(losses, reduction)
