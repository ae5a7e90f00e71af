"""Attention: values weighed by how well keys fit queries."""

from __future__ import annotations

import math

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.nn.functional.activations import F
from srcgrad.eager.nn.functional.layers import dropout
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import neural

_softmax = Operation(neural.softmax, "SafeSoftmaxBackward0", {"y": "result", "axis": "dim"})
_FUSED = "ScaledDotProductFlashAttentionForCpuBackward0"


@function("scaled_dot_product_attention", module=F)
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Values weighed by the softmax of products of queries and keys; one node where PyTorch has a kernel for it."""
    if is_causal and attn_mask is not None:
        raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        repeats = query.array.shape[-3] // key.array.shape[-3]
        key, value = key.repeat_interleave(repeats, -3), value.repeat_interleave(repeats, -3)
    factor = 1 / math.sqrt(query.array.shape[-1]) if scale is None else scale
    if is_causal:
        attn_mask = Tensor.of(np.tril(np.ones((query.array.shape[-2], key.array.shape[-2]), bool)))
    heads = query.array.shape[-1] == value.array.shape[-1] and query.array.ndim in (3, 4)
    if dropout_p == 0 and heads and (attn_mask is None or not attn_mask.requires_grad):
        inputs = [t if t.array.ndim == 4 else t.unsqueeze(0) for t in (query, key, value)]
        made: Tensor = composed(
            _FUSED, lambda q, k, v: _attended(q, k, v, attn_mask, 0.0, factor), *inputs,
            saved={"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale},
            slots=("query", "key", "value"),
        )  # fmt: skip
        return made if query.array.ndim == 4 else made.squeeze(0)
    return _attended(query, key, value, attn_mask, dropout_p, factor)


def _attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, factor: float) -> Tensor:
    root = math.sqrt(factor)
    scores: Tensor = (q * root) @ (k.transpose(-2, -1) * root)
    if mask is not None:
        if mask.dtype is dtypes.bool_:
            scores = scores.masked_fill(~mask, -np.inf)
        else:
            scores = scores + mask
    weights: Tensor = call(_softmax, {"x": scores, "axis": scores.array.ndim - 1})
    nothing = np.all(scores.array == -np.inf, axis=-1, keepdims=True)
    if np.any(nothing):
        weights = weights.masked_fill(Tensor.of(nothing), 0.0)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    made: Tensor = weights @ v
    return made
