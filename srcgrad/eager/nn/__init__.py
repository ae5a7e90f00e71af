"""``torch.nn``: parameters, modules, and the functions that they call."""

from __future__ import annotations

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.nn import activations as _activations
from srcgrad.eager.nn import functional, init, utils
from srcgrad.eager.nn import losses as _losses
from srcgrad.eager.nn import pooling as _pooling
from srcgrad.eager.nn.activations import AlphaDropout, Dropout, Dropout1d, Dropout2d, PReLU, RReLU
from srcgrad.eager.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from srcgrad.eager.nn.convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from srcgrad.eager.nn.linear import Bilinear, Embedding, Flatten, Identity, Linear, Unflatten
from srcgrad.eager.nn.module import Module
from srcgrad.eager.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
)
from srcgrad.eager.nn.parameter import Buffer, Parameter
from srcgrad.eager.nn.pooling import Upsample
from srcgrad.eager.nn.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell, RNNCellBase

globals().update(_activations.MADE)
globals().update(_losses.MADE)
globals().update(_pooling.MADE)

__getattr__ = _absent_from("torch.nn")
__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "AlphaDropout",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
    "Upsample",
    "Linear",
    "Module",
    "ModuleDict",
    "ModuleList",
    "PReLU",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RReLU",
    "Sequential",
    "Unflatten",
    "functional",
    "init",
    "utils",
]
