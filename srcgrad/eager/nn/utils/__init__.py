"""The name ``torch.nn.utils``."""

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.nn.parameter_lists import (
    clip_grad_norm_,
    clip_grad_value_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)
from srcgrad.eager.nn.utils import rnn

__getattr__ = _absent_from("torch.nn.utils")
__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "rnn",
    "vector_to_parameters",
]
