"""Normalization by means and variances of layers, batches, groups and samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.eager.constants import Constant
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import as_array, is_lifted
from srcgrad.eager.nn.functional.activations import F
from srcgrad.eager.registry import FUNCTIONS, function
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import neural_layers

_layer = Operation(neural_layers.normalize, "NativeLayerNormBackward0", {"x": "input"})
_batch = Operation(neural_layers.normalize, "NativeBatchNormBackward0", {"x": "input"})
_group = Operation(neural_layers.normalize, "NativeGroupNormBackward0", {"x": "input"})
_given = Operation(neural_layers.rescale, "NativeBatchNormBackward0", {"x": "input"})


def _three_edges(made: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Edges for a weight and a bias that were not given, as PyTorch's nodes have them."""
    node = made.node
    if node is not None:
        edges = list(node.edges)
        if weight is None and bias is None:
            node.edges = (*edges, (None, 0), (None, 0))
        elif bias is None:
            node.edges = (*edges, (None, 0))
    return made


def _normalized(
    operation: Operation, input: Tensor, weight: Tensor | None, bias: Tensor | None, view: tuple[int, ...],
    axes: tuple[int, ...], shape: tuple[int, ...], eps: float, saved: dict[str, Any],
) -> Tensor:  # fmt: skip
    mean, scale = neural_layers.moments(as_array(input.array), view, axes, eps)
    saved |= {"weight": weight, "bias": bias, "result1": Tensor.of(mean), "result2": Tensor.of(scale)}
    values = {
        "x": input, "weight": weight, "bias": bias, "view": view, "axes": axes, "shape": shape, "eps": eps
    }  # fmt: skip
    made: Tensor = call(operation, values, saved=saved)
    return _three_edges(made, weight, bias)


@function("layer_norm", module=F)
def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions."""
    sizes = tuple(int(n) for n in normalized_shape)
    shape = tuple(input.array.shape)
    if shape[len(shape) - len(sizes) :] != sizes or len(sizes) > len(shape):
        raise RuntimeError(
            f"Given normalized_shape={list(sizes)}, expected input with shape "
            f"[*, {', '.join(map(str, sizes))}], but got input of size{list(shape)}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.array.shape) != sizes:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(given.array.shape)} and normalized_shape = {list(sizes)}"
            )
    axes = tuple(range(len(shape) - len(sizes), len(shape)))
    return _normalized(_layer, input, weight, bias, shape, axes, sizes, eps, {"normalized_shape": sizes})


function("layer_norm")(layer_norm)


@function("batch_norm", module=F)
def batch_norm(
    input: Tensor, running_mean: Constant | None, running_var: Constant | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Mean 0 and variance 1 for each channel: those of the batch in training, else those that are kept."""
    shape = tuple(input.array.shape)
    if training and input.array.size // shape[1] <= 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    for given, name in ((running_mean, "running_mean"), (running_var, "running_var")):
        if given is not None and given.array.size != shape[1]:
            raise RuntimeError(f"{name} should contain {shape[1]} elements not {given.array.size}")
    channels = (1, -1, *([1] * (len(shape) - 2)))
    axes = (0, *range(2, len(shape)))
    saved: dict[str, Any] = {
        "eps": eps, "training": training, "running_mean": running_mean, "running_var": running_var
    }  # fmt: skip
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        saved |= {"weight": weight, "result1": Tensor.of(np.empty(0)), "result2": Tensor.of(np.empty(0))}
        mean, variance = np.array(running_mean.array), np.array(running_var.array)
        values = {
            "x": input, "weight": weight, "bias": bias, "mean": mean, "variance": variance, "shape": channels,
            "eps": eps,
        }  # fmt: skip
        made: Tensor = call(_given, values, saved=saved)
        return _three_edges(made, weight, bias)
    if running_mean is not None:
        _moved(running_mean, np.mean(input.array, axis=axes), momentum)
    if running_var is not None:
        _moved(running_var, np.var(input.array, axis=axes, ddof=1), momentum)
    return _normalized(_batch, input, weight, bias, shape, axes, channels, eps, saved)


def _moved(kept: Tensor, now: Any, momentum: float) -> None:
    """A running mean moved a step towards what is now; it takes no tangent, as in PyTorch."""
    array, now = kept.storage_array(), now.detached() if is_lifted(now) else now
    array[...] = (1 - momentum) * array + momentum * now
    if kept.counter is None:
        kept.counter = [0]
    kept.counter[0] += 1


function("batch_norm")(batch_norm)


@function("group_norm", module=F)
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Mean 0 and variance 1 over groups of channels of each sample."""
    n, c, *size = input.array.shape
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.array.shape)} and num_groups={num_groups}"
        )
    area = math.prod(size)
    channels = (1, -1, *([1] * len(size)))
    saved = {"N": n, "C": c, "HxW": area, "group": num_groups}
    view = (n, num_groups, c // num_groups * area)
    return _normalized(_group, input, weight, bias, view, (2,), channels, eps, saved)


function("group_norm")(group_norm)


@function("instance_norm", module=F)
def instance_norm(
    input: Tensor, running_mean: Constant | None = None, running_var: Constant | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Mean 0 and variance 1 for each channel of each sample."""
    n, c, *size = input.array.shape
    kept = [None if t is None else Tensor.of(np.tile(t.array, n)) for t in (running_mean, running_var)]
    lines = [None if t is None else t.repeat(n) for t in (weight, bias)]
    flat = input.contiguous().view(1, n * c, *size)
    made = batch_norm(flat, kept[0], kept[1], lines[0], lines[1], use_input_stats, momentum, eps)
    if use_input_stats:
        for t, now in zip((running_mean, running_var), kept, strict=True):
            if t is not None and now is not None:
                t.storage_array()[...] = now.array.reshape(n, c).mean(0)
    result: Tensor = made.view(n, c, *size)
    return result


@function("rms_norm", module=F)
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """The last dimensions divided by the root of their mean square."""
    dims = tuple(range(-len(normalized_shape), 0))
    epsilon = float(np.finfo(input.array.dtype).eps) if eps is None else eps
    from srcgrad.eager.nn.functional.losses import shifted

    made: Tensor = input * shifted((input**2).mean(dims, keepdim=True), epsilon).rsqrt()
    return made if weight is None else made * weight


@function("local_response_norm", module=F)
def local_response_norm(input: Tensor, size: int, alpha: Any = 1e-4, beta: Any = 0.75, k: Any = 1.0) -> Tensor:
    """Channels divided by a power of the mean square of their neighbours."""
    functions = FUNCTIONS[F]
    squares = (input * input).unsqueeze(1)
    if input.array.ndim == 3:
        wide = functions["pad"](squares, (0, 0, size // 2, (size - 1) // 2))
        means = functions["avg_pool2d"](wide, (size, 1), stride=1).squeeze(1)
    else:
        shape = input.array.shape
        wide = squares.view(shape[0], 1, shape[1], shape[2], -1)
        wide = functions["pad"](wide, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        means = functions["avg_pool3d"](wide, (size, 1, 1), stride=1).squeeze(1).view(shape)
    made: Tensor = input / (means * alpha + k) ** beta
    return made
