"""All parameters at once (``torch.nn.utils``): their gradients clipped, their values as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from srcgrad.eager.modes import no_grad
from srcgrad.eager.tensor import Tensor


def _gradients(parameters: Any) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.gradient for p in given if p.gradient is not None]


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The norm of all tensors together."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return Tensor.of(np.asarray(0.0, np.float32))
    norms = np.stack([np.linalg.norm(np.ravel(t.array), norm_type) for t in given])
    total = np.linalg.norm(norms, norm_type)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return Tensor.of(np.asarray(total, given[0].array.dtype))


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale gradients down to a norm that all of them together may have; gives the norm that they had."""
    gradients = _gradients(parameters)
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    factor = min(max_norm / (float(np.asarray(total.array)) + 1e-6), 1.0)
    with no_grad():
        for g in gradients:
            g.mul_(factor)
    return total


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Bound the elements of gradients."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters, one after the other."""
    from srcgrad.eager.operations.joining import cat

    made: Tensor = cat([p.view(-1) for p in parameters])
    return made


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Store what ``parameters_to_vector`` gave."""
    start = 0
    for p in parameters:
        size = p.array.size
        whole: Any = p
        whole.data = vec[start : start + size].view_as(p).data
        start += size
