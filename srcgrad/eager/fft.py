"""``torch.fft``: Fourier transforms."""

from __future__ import annotations

from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["fft"])
__all__ = sorted(_FUNCTIONS["fft"])
