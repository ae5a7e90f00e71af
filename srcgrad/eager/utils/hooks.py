"""``torch.utils.hooks``: the handles of registered hooks."""

from srcgrad.eager.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
