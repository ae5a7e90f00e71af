"""``torch.linalg``: factors, inverses, systems and norms of matrices."""

from __future__ import annotations

from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["linalg"])
__all__ = sorted(_FUNCTIONS["linalg"])
