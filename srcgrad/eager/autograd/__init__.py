"""``torch.autograd``: backward passes by function, modes, hooks on the graph, functions of one's own."""

from srcgrad.eager.engine import backward, grad
from srcgrad.eager.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]
