"""PyTorch's autograd on NumPy: ``import srcgrad.eager as torch``."""

from __future__ import annotations

from typing import Any as _Any

from srcgrad.eager import dtypes as _dtypes
from srcgrad.eager import operations as _operations  # noqa: F401  (registers the functions)

from srcgrad.eager import autograd, fft, func, linalg, nn, optim, special, utils  # isort: skip  (once they are there)
from srcgrad.eager.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from srcgrad.eager.dtypes import dtype, get_default_dtype, set_default_dtype
from srcgrad.eager.generators import Generator, default_generator
from srcgrad.eager.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from srcgrad.eager.printing import set_printoptions
from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS
from srcgrad.eager.size import Size, device, layout, strided
from srcgrad.eager.tensor import Tensor

globals().update(_FUNCTIONS[""])
vmap = func.vmap
globals().update({d.name: d for d in _dtypes.ALL})
globals().update(_dtypes.ALIASES)


def __getattr__(name: str) -> _Any:
    raise AttributeError(f"module 'torch' has no attribute '{name}'")


__all__ = [
    "Generator",
    "Size",
    "Tensor",
    "autograd",
    "default_generator",
    "device",
    "dtype",
    "enable_grad",
    "fft",
    "func",
    "get_default_dtype",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "layout",
    "linalg",
    "nn",
    "no_grad",
    "optim",
    "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions",
    "special",
    "strided",
    "utils",
]
