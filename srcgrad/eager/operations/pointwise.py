"""Functions of each element by itself, and of pairs of elements, that are NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation
from srcgrad.eager.elementwise import elementwise_binary, elementwise_unary
from srcgrad.eager.graph import Node
from srcgrad.eager.policy import following
from srcgrad.eager.registry import function, offer
from srcgrad.eager.tensor import Tensor

SAVED = {"x": "self", "z": "result", "val": "self"}

#: names, NumPy's function, the node, whether integers become floats
UNARY: tuple[tuple[str, Any, str, bool], ...] = (
    ("sin", np.sin, "SinBackward0", True),
    ("cos", np.cos, "CosBackward0", True),
    ("tan", np.tan, "TanBackward0", True),
    ("asin arcsin", np.arcsin, "AsinBackward0", True),
    ("acos arccos", np.arccos, "AcosBackward0", True),
    ("atan arctan", np.arctan, "AtanBackward0", True),
    ("sinh", np.sinh, "SinhBackward0", True),
    ("cosh", np.cosh, "CoshBackward0", True),
    ("tanh", np.tanh, "TanhBackward0", True),
    ("asinh arcsinh", np.arcsinh, "AsinhBackward0", True),
    ("acosh arccosh", np.arccosh, "AcoshBackward0", True),
    ("atanh arctanh", np.arctanh, "AtanhBackward0", True),
    ("exp", np.exp, "ExpBackward0", True),
    ("exp2", np.exp2, "Exp2Backward0", True),
    ("expm1", np.expm1, "Expm1Backward0", True),
    ("log", np.log, "LogBackward0", True),
    ("log2", np.log2, "Log2Backward0", True),
    ("log10", np.log10, "Log10Backward0", True),
    ("log1p", np.log1p, "Log1PBackward0", True),
    ("sqrt", np.sqrt, "SqrtBackward0", True),
    ("reciprocal", np.reciprocal, "ReciprocalBackward0", True),
    ("deg2rad", np.deg2rad, "Deg2RadBackward0", True),
    ("rad2deg", np.rad2deg, "Rad2DegBackward0", True),
    ("sinc", np.sinc, "SincBackward0", True),
    ("abs absolute", np.absolute, "AbsBackward0", False),
)


class _PlusZero(Node):
    """A node whose complex gradients have no negative zeros, as conjugation would leave them."""

    def apply(self, g: Any) -> Any:
        (made,) = super().apply(g)
        return (made + 0.0 if self.meets_complex else made,)


def _operation(f: Any, name: str) -> Operation:
    made = following(Operation(f, name, SAVED))
    if f is np.absolute:
        made.node = type(name, (_PlusZero, made.node), {"__module__": made.node.__module__})
    return made


MADE: dict[str, Any] = {}
for _names, _f, _node, _floats in UNARY:
    _first, *_ = _names.split()
    _made = elementwise_unary(_f, _operation(_f, _node), _first, floats=_floats)
    for _name in _names.split():
        MADE[_name] = offer(_made, _name)
reciprocal = MADE["reciprocal"]
setattr(Tensor, "__abs__", MADE["abs"])  # noqa: B010

PAIR = {"x1": "self", "x2": "other", "z": "result"}
#: names, NumPy's function, the node, whether integers become floats
BINARY: tuple[tuple[str, Any, str, bool], ...] = (
    ("atan2 arctan2", np.arctan2, "Atan2Backward0", True),
    ("hypot", np.hypot, "HypotBackward0", False),
    ("logaddexp", np.logaddexp, "LogaddexpBackward0", False),
    ("logaddexp2", np.logaddexp2, "Logaddexp2Backward0", False),
    ("maximum", np.maximum, "MaximumBackward0", False),
    ("minimum", np.minimum, "MinimumBackward0", False),
    ("fmax", np.fmax, "FmaxBackward0", False),
    ("fmin", np.fmin, "FminBackward0", False),
)
BOTH: dict[str, Any] = {}
for _names, _f, _node, _floats in BINARY:
    _first, *_ = _names.split()
    _made2 = elementwise_binary(_f, following(Operation(_f, _node, PAIR)), _first, floats=_floats)
    BOTH[_first] = offer(_made2, *_names.split())


@function("square", method=True)
def square(input: Tensor) -> Tensor:
    """The square, as PyTorch makes it: a power."""
    made: Tensor = input**2
    return made
