"""The name ``torch.utils.hooks``."""

from srcgrad.eager.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
