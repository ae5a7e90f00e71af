"""Functions of each element by itself."""

from __future__ import annotations

import numpy as np

from srcgrad.eager.dispatch import Operation, elementwise_unary
from srcgrad.eager.registry import offer

SAVED = {"x": "self", "z": "result"}

#: name, NumPy's function, the node, whether integers become floats
TABLE = (
    ("sin", np.sin, "SinBackward0", True),
    ("cos", np.cos, "CosBackward0", True),
    ("tan", np.tan, "TanBackward0", True),
    ("exp", np.exp, "ExpBackward0", True),
    ("log", np.log, "LogBackward0", True),
    ("sqrt", np.sqrt, "SqrtBackward0", True),
    ("tanh", np.tanh, "TanhBackward0", True),
    ("reciprocal", np.reciprocal, "ReciprocalBackward0", True),
)
MADE = {
    name: offer(elementwise_unary(f, Operation(f, node, SAVED), name, floats=floats), name)
    for name, f, node, floats in TABLE
}
reciprocal = MADE["reciprocal"]
