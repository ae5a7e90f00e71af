"""``torch.autograd``: backward passes by function, modes, hooks on the graph, functions of one's own."""

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.anomaly import detect_anomaly, set_detect_anomaly
from srcgrad.eager.autograd import anomaly_mode, forward_ad, function, functional, grad_mode, graph, variable
from srcgrad.eager.autograd.function import Function
from srcgrad.eager.autograd.grad_mode import _unsafe_preserve_version_counter
from srcgrad.eager.autograd.gradcheck import gradcheck, gradgradcheck
from srcgrad.eager.autograd.variable import Variable
from srcgrad.eager.engine import backward, grad
from srcgrad.eager.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__getattr__ = _absent_from("torch.autograd")
__all__ = [
    "Function",
    "Variable",
    "_unsafe_preserve_version_counter",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "variable",
]
