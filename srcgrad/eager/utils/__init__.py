"""The name ``torch.utils``."""

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.utils import checkpoint, data, hooks

__getattr__ = _absent_from("torch.utils")
__all__ = ["checkpoint", "data", "hooks"]
