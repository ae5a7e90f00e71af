"""``torch.fft``: Fourier transforms."""

from __future__ import annotations

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["fft"])
__all__ = sorted(_FUNCTIONS["fft"])

__getattr__ = _absent_from("torch.fft")
