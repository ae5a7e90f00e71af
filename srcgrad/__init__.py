"""srcgrad: the derivative of a Python/NumPy function, as readable Python source, ahead of time."""

from __future__ import annotations

from srcgrad.api.dense import hessian, hvp, jacfwd, jacobian
from srcgrad.api.derivative import Derivative
from srcgrad.api.transforms import grad, jvp, value_and_grad, vjp
from srcgrad.check import check_grads
from srcgrad.errors import (
    ArgumentError,
    InternalError,
    LanguageError,
    MissingRule,
    SeedError,
    SourceUnavailable,
    SrcgradError,
    UnresolvedName,
    UnsupportedSyntax,
)
from srcgrad.rules.table import constant, elementwise, linear, rule
from srcgrad.runtime import stop_gradient

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "Derivative",
    "InternalError",
    "LanguageError",
    "MissingRule",
    "SeedError",
    "SourceUnavailable",
    "SrcgradError",
    "UnresolvedName",
    "UnsupportedSyntax",
    "check_grads",
    "constant",
    "elementwise",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jvp",
    "linear",
    "rule",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
