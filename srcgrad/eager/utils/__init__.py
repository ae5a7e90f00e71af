"""The name ``torch.utils``."""

from srcgrad.eager.utils import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
