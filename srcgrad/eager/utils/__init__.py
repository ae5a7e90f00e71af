"""``torch.utils``: checkpoints, handles of hooks."""

from srcgrad.eager.utils import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
