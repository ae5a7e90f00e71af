"""``torch.autograd.graph``: nodes, saved tensors, hooks on several gradients."""

from srcgrad.eager.graph import Node
from srcgrad.eager.saved import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = ["Node", "disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]
