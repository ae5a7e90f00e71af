"""The name ``torch.utils.hooks``."""

from srcgrad.eager.handles import RemovableHandle

__all__ = ["RemovableHandle"]
