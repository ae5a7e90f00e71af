"""``torch.linalg``: factors, inverses, systems and norms of matrices."""

from __future__ import annotations

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["linalg"])
__all__ = sorted(_FUNCTIONS["linalg"])

__getattr__ = _absent_from("torch.linalg")
