"""Activations as modules."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.nn.module import Module
from srcgrad.eager.nn.parameter import Parameter
from srcgrad.eager.operations.creation import on_cpu
from srcgrad.eager.registry import FUNCTIONS
from srcgrad.eager.tensor import Tensor

MADE: dict[str, type[Module]] = {}


def _called(name: str) -> Any:
    return FUNCTIONS["nn.functional"][name]


def _activation(name: str, function: str, shown: str = "", /, **settings: Any) -> None:
    """A module of a function; ``shown`` is what of the settings is printed, as a format."""

    class Activation(Module):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            given = dict(zip(settings, args, strict=False)) | kwargs
            unknown = set(given) - set(settings)
            if unknown or len(args) > len(settings):
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(unknown), args)}'")
            for key, default in settings.items():
                setattr(self, key, given.get(key, default))

        def forward(self, input: Tensor) -> Tensor:
            """The function of the input."""
            values = {key: getattr(self, key) for key in settings}
            if values.get("inplace") is False:
                del values["inplace"]
            made: Tensor = _called(function)(input, **values)
            return made

        def extra_repr(self) -> str:
            """The settings."""
            text = shown.format(**{key: getattr(self, key) for key in settings})
            if getattr(self, "inplace", False):
                text += ", inplace=True" if text else "inplace=True"
            return text

    Activation.__name__ = Activation.__qualname__ = name
    Activation.__doc__ = f"``nn.functional.{function}`` as a module."
    Activation.__module__ = __name__
    MADE[name] = Activation
    globals()[name] = Activation


_activation("ReLU", "relu", inplace=False)
_activation("ReLU6", "relu6", inplace=False)
_activation("LeakyReLU", "leaky_relu", "negative_slope={negative_slope}", negative_slope=1e-2, inplace=False)
_activation("ELU", "elu", "alpha={alpha}", alpha=1.0, inplace=False)
_activation("SELU", "selu", inplace=False)
_activation("CELU", "celu", "alpha={alpha}", alpha=1.0, inplace=False)
_activation("GELU", "gelu", "approximate={approximate!r}", approximate="none")
_activation("SiLU", "silu", inplace=False)
_activation("Mish", "mish", inplace=False)
_activation("Softplus", "softplus", "beta={beta}, threshold={threshold}", beta=1.0, threshold=20.0)
_activation("Softsign", "softsign")
_activation("Tanh", "tanh")
_activation("Tanhshrink", "tanhshrink")
_activation("Sigmoid", "sigmoid")
_activation("LogSigmoid", "logsigmoid")
_activation("Hardsigmoid", "hardsigmoid", inplace=False)
_activation("Hardswish", "hardswish", inplace=False)
_activation("Hardshrink", "hardshrink", "{lambd}", lambd=0.5)
_activation("Softshrink", "softshrink", "{lambd}", lambd=0.5)
_activation("Hardtanh", "hardtanh", "min_val={min_val}, max_val={max_val}", min_val=-1.0, max_val=1.0, inplace=False)
_activation("Threshold", "threshold", "threshold={threshold}, value={value}", threshold=0, value=0, inplace=False)
_activation("GLU", "glu", "dim={dim}", dim=-1)
_activation("Softmax", "softmax", "dim={dim}", dim=None)
_activation("Softmin", "softmin", "dim={dim}", dim=None)
_activation("LogSoftmax", "log_softmax", "dim={dim}", dim=None)


class PReLU(Module):
    """``nn.functional.prelu`` with a weight of its own."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        on_cpu(device)
        super().__init__()
        self.num_parameters = num_parameters
        d = (dtype or dtypes.get_default_dtype()).numpy
        self.weight = Parameter(Tensor.of(np.full(num_parameters, init, d)))

    def forward(self, input: Tensor) -> Tensor:
        """The input where it is positive, else times the weight."""
        made: Tensor = _called("prelu")(input, self.weight)
        return made

    def extra_repr(self) -> str:
        """How many weights."""
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """``nn.functional.rrelu``, random in training."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The input where it is positive, else a share of it."""
        made: Tensor = _called("rrelu")(input, self.lower, self.upper, self.training)
        return made

    def extra_repr(self) -> str:
        """The bounds of the share."""
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class _Dropout(Module):
    function = "dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The input with elements set to zero in training."""
        made: Tensor = _called(self.function)(input, self.p, self.training, self.inplace)
        return made

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Elements set to zero at random in training."""


class Dropout1d(_Dropout):
    """Channels of sequences set to zero at random in training."""

    function = "dropout1d"


class Dropout2d(_Dropout):
    """Channels of images set to zero at random in training."""

    function = "dropout2d"


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance of what SELU gives."""

    function = "alpha_dropout"


__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "MADE", "PReLU", "RReLU"]
