"""PyTorch's autograd on NumPy: ``import srcgrad.eager as torch``."""

from __future__ import annotations

import math as _math
from typing import Any as _Any

from srcgrad.eager import dtypes as _dtypes
from srcgrad.eager import operations as _operations  # noqa: F401  (registers the functions)

from srcgrad.eager import autograd, fft, func, linalg, nn, optim, special, testing, utils  # isort: skip  (once they are there)
from srcgrad.eager import absent as _absent
from srcgrad.eager import amp
from srcgrad.eager.accelerators import Place as _Place
from srcgrad.eager.accelerators import accelerator, backends, cuda, mps, xpu
from srcgrad.eager.amp import GradScaler, autocast
from srcgrad.eager.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from srcgrad.eager.compiling import compile  # noqa: A004 (PyTorch's name)
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
from srcgrad.eager.nn.saving import load, save
from srcgrad.eager.printing import set_printoptions
from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS
from srcgrad.eager.size import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from srcgrad.eager.tensor import Tensor

globals().update(_FUNCTIONS[""])
vmap = func.vmap
pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None
globals().update({d.name: d for d in (*_dtypes.ALL, _dtypes.bfloat16)})
globals().update(_dtypes.ALIASES)

#: The release of PyTorch that answers were recorded from.
__version__ = "2.13.0+srcgrad"
version = _Place("version", __version__=__version__, cuda=None, hip=None, xpu=None, debug=False, git_version="")


def __getattr__(name: str) -> _Any:
    raise _absent.missing("torch", name)


__all__ = [
    "Generator",
    "GradScaler",
    "Size",
    "Tensor",
    "accelerator",
    "amp",
    "autocast",
    "autograd",
    "backends",
    "channels_last",
    "channels_last_3d",
    "compile",
    "contiguous_format",
    "cuda",
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
    "load",
    "memory_format",
    "mps",
    "nn",
    "no_grad",
    "optim",
    "preserve_format",
    "save",
    "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions",
    "special",
    "strided",
    "testing",
    "utils",
    "xpu",
]
