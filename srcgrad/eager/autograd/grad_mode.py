"""``torch.autograd.grad_mode``: whether operations are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from srcgrad.eager.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from srcgrad.eager.tensor import Tensor

__all__ = ["_unsafe_preserve_version_counter", "enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]


@contextmanager
def _unsafe_preserve_version_counter(tensors: Any) -> Iterator[None]:
    """Writes inside do not count."""
    several = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    before = [tensor._version for tensor in several]
    try:
        yield
    finally:
        for tensor, version in zip(several, before, strict=True):
            if tensor.counter is not None:
                tensor.counter[0] = version
