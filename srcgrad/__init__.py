"""srcgrad: the derivative of a Python/NumPy function, as readable Python source, ahead of time.

The names below are looked up in their modules when they are first wanted (PEP 562), so that importing srcgrad is fast
and a saved derivative, which needs ``srcgrad.runtime`` alone, loads nothing else.
"""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srcgrad.api.bridge import compile  # noqa: A004
    from srcgrad.api.dense import hessian, hessp, hvp, jacfwd, jacobian
    from srcgrad.api.derivative import Derivative
    from srcgrad.api.linearization import linearize
    from srcgrad.api.transforms import grad, jvp, value_and_grad, vjp
    from srcgrad.api.vmap import vmap
    from srcgrad.check import GradientMismatch, check_grads
    from srcgrad.eager.modes import no_grad
    from srcgrad.errors import (
        ArgumentError,
        CheaperMode,
        ExampleByExample,
        InternalError,
        LanguageError,
        MissingRule,
        NonFiniteError,
        RuleError,
        SeedError,
        SourceChanged,
        SourceUnavailable,
        SparsityError,
        SrcgradError,
        UnresolvedName,
        UnsupportedSyntax,
    )
    from srcgrad.programs import debug_nans, options
    from srcgrad.rules.table import constant, elementwise, linear, rule
    from srcgrad.runtime import stop_gradient
    from srcgrad.runtime.checkpoints import checkpointed, remat

__version__ = "0.1.0"
loaded_at = time.time_ns()  # files of the package that are newer are not those that run (``cache``)

__all__ = [
    "ArgumentError",
    "CheaperMode",
    "Derivative",
    "ExampleByExample",
    "GradientMismatch",
    "InternalError",
    "LanguageError",
    "MissingRule",
    "NonFiniteError",
    "RuleError",
    "SeedError",
    "SourceChanged",
    "SourceUnavailable",
    "SparsityError",
    "SrcgradError",
    "UnresolvedName",
    "UnsupportedSyntax",
    "check_grads",
    "checkpointed",
    "compile",
    "constant",
    "debug_nans",
    "elementwise",
    "grad",
    "hessian",
    "hessp",
    "hvp",
    "jacfwd",
    "jacobian",
    "jvp",
    "linear",
    "linearize",
    "no_grad",
    "options",
    "remat",
    "rule",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]

_MODULES = ("eager", "parallel", "scipy")
_ELSEWHERE = {
    "Derivative": "srcgrad.api.derivative",
    "GradientMismatch": "srcgrad.check",
    "check_grads": "srcgrad.check",
    "compile": "srcgrad.api.bridge",
    "no_grad": "srcgrad.eager.modes",
    "linearize": "srcgrad.api.linearization",
    "vmap": "srcgrad.api.vmap",
    "debug_nans": "srcgrad.programs",
    "options": "srcgrad.programs",
    "checkpointed": "srcgrad.runtime.checkpoints",
    "remat": "srcgrad.runtime.checkpoints",
    "stop_gradient": "srcgrad.runtime",
    **dict.fromkeys(("grad", "jvp", "value_and_grad", "vjp"), "srcgrad.api.transforms"),
    **dict.fromkeys(("hessian", "hessp", "hvp", "jacfwd", "jacobian"), "srcgrad.api.dense"),
    **dict.fromkeys(("constant", "elementwise", "linear", "rule"), "srcgrad.rules.table"),
}


if not TYPE_CHECKING:  # which would think that every name exists

    def __getattr__(name: str) -> object:
        """A public name, from its module; what is not listed elsewhere is an error class."""
        if name in _MODULES:
            return importlib.import_module(f"srcgrad.{name}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = importlib.import_module(_ELSEWHERE.get(name, "srcgrad.errors"))
        found: object = getattr(module, name)
        globals()[name] = found
        return found


def load_ipython_extension(ipython: object) -> None:
    """``%load_ext srcgrad`` in IPython and Jupyter: adds the cell magic ``%%grad``."""
    importlib.import_module("srcgrad.inspect.notebook").register(ipython)


def __dir__() -> list[str]:
    """The API, and the public modules."""
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
