"""``torch.special``: special functions of each element."""

from __future__ import annotations

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["special"])
__all__ = sorted(_FUNCTIONS["special"])

__getattr__ = _absent_from("torch.special")
