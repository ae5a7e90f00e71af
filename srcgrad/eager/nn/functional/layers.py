"""Layers as functions: linear maps, rows of tables, dropout, distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.generators import default_generator, uniform
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import no_grad
from srcgrad.eager.nn.functional.activations import F
from srcgrad.eager.operations.matrix import matmul
from srcgrad.eager.operations.shaping import reshape, unsafe_view
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import bump, check_captured, check_writable
from srcgrad.runtime import neural_losses

_addmm = Operation(neural_losses.addmm, "AddmmBackward0", {"input": "self"})
_embedding = Operation(neural_losses.embedding, "EmbeddingBackward0")


def addmm_of(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """One node for a product of matrices and what is added to it."""
    a, b = mat1.array.shape, mat2.array.shape
    if a[1] != b[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
    for other in (mat2, input):
        if other.array.dtype != mat1.array.dtype:
            if other is input:
                raise RuntimeError(
                    f"self and mat2 must have the same dtype, but got {input.dtype.long_name} and "
                    f"{mat2.dtype.long_name}"
                )
            raise RuntimeError(
                f"mat1 and mat2 must have the same dtype, but got {mat1.dtype.long_name} and {mat2.dtype.long_name}"
            )
    values = {"input": input, "mat1": mat1, "mat2": mat2, "beta": beta, "alpha": alpha}
    made: Tensor = call(_addmm, values, saved={"alpha": alpha, "beta": beta})
    return made


@function("linear", module=F)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``."""
    ndim = input.array.ndim
    if weight.array.ndim == 1:
        made: Tensor = matmul(input, weight)
        return made if bias is None else made + bias
    if bias is None:
        return matmul(input, weight.t())
    if ndim == 2:
        return addmm_of(bias, input, weight.t())
    shape = input.array.shape
    flat = reshape(input, -1, shape[-1])
    return unsafe_view(addmm_of(bias, flat, weight.t()), (*shape[:-1], weight.array.shape[0]))


@function("bilinear", module=F)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A form of two inputs for each output."""
    lead = input1.array.shape[:-1]
    outputs, n, m = weight.array.shape

    def forms(x: Tensor, matrices: Tensor, z: Tensor) -> Tensor:
        products = (x @ matrices.permute(1, 0, 2).reshape(n, outputs * m)).reshape(-1, outputs, m)
        made: Tensor = (products * z.unsqueeze(1)).sum(-1)
        return made

    flat = [t.reshape(-1, t.array.shape[-1]) for t in (input1, input2)]
    made: Tensor = composed("TrilinearBackward0", forms, flat[0], weight, flat[1]).view(*lead, outputs)
    return made if bias is None else made + bias


@function("embedding", module=F)
def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of a matrix."""
    if input.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{input.dtype.type_name} instead (while checking arguments for embedding)"
        )
    count = weight.array.shape[0]
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= count
    places = np.asarray(input.array)
    if places.size and (places.min() < 0 or places.max() >= count):
        raise IndexError("index out of range in self")
    if sparse:
        raise NotImplementedError("embedding(sparse=True): gradients are dense here, as there are no sparse tensors")
    if max_norm is not None:
        _shrink(weight, places, max_norm, norm_type)
    padding = -1 if padding_idx is None else padding_idx
    saved = {
        "indices": input, "padding_idx": padding, "scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse,
        "weight_sym_argsize_0": count,
    }  # fmt: skip
    values = {"weight": weight, "indices": places, "padding_idx": padding}
    if not scale_grad_by_freq:
        made: Tensor = call(_embedding, values, saved=saved)
        return made
    if is_lifted(weight.array):
        raise NotImplementedError("embedding(scale_grad_by_freq=True) inside of vmap and in forward mode")
    _, inverse, counts = np.unique(places, return_inverse=True, return_counts=True)
    shares = Tensor.of((1 / counts[inverse.reshape(places.shape)])[..., None].astype(weight.array.dtype))

    calls = iter((True,))

    def compute(w: Tensor) -> Tensor:
        if not next(calls, False):  # computed again for a second derivative, which PyTorch does not scale
            raise NotImplementedError("embedding(scale_grad_by_freq=True) has no second derivative")
        rows: Tensor = call(_embedding, {**values, "weight": w})
        made: Tensor = rows * shares
        made.array = rows.array  # the rows themselves: only their gradients are scaled
        return made

    scaled: Tensor = composed("EmbeddingBackward0", compute, weight, saved=saved, keeps=True)
    return scaled


def _shrink(weight: Tensor, places: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are asked for in place where their norm is above a bound, unrecorded."""
    if is_lifted(weight.array):
        raise NotImplementedError("embedding(max_norm=...) changes its weight, which it cannot inside of transforms")
    check_captured(weight)
    with no_grad():
        check_writable(weight)
    storage = weight.storage_array()
    rows = np.unique(places)
    norms = np.linalg.norm(storage[rows], norm_type, axis=1)
    long = norms > max_norm
    storage[rows[long]] *= (max_norm / (norms[long] + 1e-7))[:, None].astype(storage.dtype)
    bump(weight)


@function("one_hot", module=F)
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Rows of zeros with a one at each class."""
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    labels = np.asarray(tensor.array)
    if not labels.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if labels.size and labels.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(labels.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif labels.size and labels.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return Tensor.of((labels[..., None] == np.arange(num_classes)).astype(np.int64))


# --- dropout ---------------------------------------------------------------------------------------------------------
def _kept(shape: tuple[int, ...], p: float, dtype: Any) -> Any:
    """Ones with probability ``1 - p``, drawn as ``bernoulli_`` draws them."""
    count = int(np.prod(shape))
    return (uniform(default_generator, count, np.dtype(np.float64)) < 1 - p).astype(dtype).reshape(shape)


def _dropped(input: Tensor, shape: tuple[int, ...], p: float, training: bool, inplace: bool) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.array.size:
        return input
    if p == 1:
        mask = np.zeros((), input.array.dtype)
    else:
        mask = _kept(shape, p, input.array.dtype) / np.asarray(1 - p, input.array.dtype)
    noise = Tensor.of(mask)
    made: Tensor = input.mul_(noise) if inplace else input * noise
    return made


@function("dropout", module=F)
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to zero at random, the others scaled up."""
    return _dropped(input, input.array.shape, p, training, inplace)


@function("dropout")
def dropout_of(input: Tensor, p: float, train: bool) -> Tensor:
    """``nn.functional.dropout`` with its arguments required."""
    return dropout(input, p, train)


def _channels(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Channels set to zero at random, the others scaled up."""
    shape = (*input.array.shape[:2], *(1 for _ in input.array.shape[2:]))
    return _dropped(input, shape, p, training, inplace)


for _name in ("dropout1d", "dropout2d", "dropout3d", "feature_dropout"):
    function(_name, module=F)(_channels)


@function("alpha_dropout", module=F)
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of what ``selu`` gives."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    alpha = 1.7580993408473766
    scale = 1.0 / np.sqrt((alpha * alpha * p + 1) * (1 - p))
    kept = _kept(input.array.shape, p, input.array.dtype)
    shift = (kept - 1) * (alpha * scale) + alpha * scale * p
    factors, terms = Tensor.of(kept * np.asarray(scale, kept.dtype)), Tensor.of(shift.astype(kept.dtype))
    made: Tensor = input.mul_(factors).add_(terms) if inplace else input * factors + terms
    return made


# --- distances -------------------------------------------------------------------------------------------------------
@function("normalize", module=F)
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: Any = 1e-12, out: Any = None) -> Tensor:
    """Vectors along a dimension divided by their norms."""
    lengths = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    made: Tensor = input / lengths
    return made


@function("cosine_similarity", module=F)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension."""
    shape = np.broadcast_shapes(x1.array.shape, x2.array.shape)
    a = x1 if x1.array.shape == shape else x1.expand(shape)
    b = x2 if x2.array.shape == shape else x2.expand(shape)
    lengths = [t.norm(2, dim, keepdim=True).clone() for t in (a, b)]
    with no_grad():
        for length in lengths:
            length.clamp_min_(eps)
    unit = [a / lengths[0], b / lengths[1]]
    made: Tensor = (unit[0] * unit[1]).sum(dim)
    return made


function("cosine_similarity")(cosine_similarity)
