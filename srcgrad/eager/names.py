"""PyTorch's names for the nodes of the functions that rules call, where derivatives are recorded themselves."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from srcgrad import runtime

NODES: dict[Any, str] = {
    np.sin: "SinBackward0",
    np.cos: "CosBackward0",
    np.tan: "TanBackward0",
    np.exp: "ExpBackward0",
    np.log: "LogBackward0",
    np.sqrt: "SqrtBackward0",
    np.tanh: "TanhBackward0",
    np.absolute: "AbsBackward0",
    np.negative: "NegBackward0",
    np.power: "PowBackward0",
    np.sum: "SumBackward1",
    np.where: "WhereBackward0",
    np.reshape: "ViewBackward0",
    np.transpose: "PermuteBackward0",
    np.swapaxes: "TransposeBackward0",
    np.broadcast_to: "ExpandBackward0",
    np.matmul: "MmBackward0",
    operator.getitem: "IndexBackward0",
    runtime.unbroadcast: "SumBackward1",
    runtime.rebroadcast: "ExpandBackward0",
    runtime.unreduce: "ExpandBackward0",
}
