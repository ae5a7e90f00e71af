"""Anomaly detection: which operation of the forward pass failed in the backward pass, and nan where it appears."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np

from srcgrad.eager.flat import tensor_partials
from srcgrad.eager.graph import Node
from srcgrad.eager.modes import anomaly
from srcgrad.eager.tensor import Tensor

ENABLED = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."
)


def remember(node: Node) -> None:
    """Keep the stack of the forward call with its node."""
    node.metadata["traceback_"] = traceback.format_stack()[:-3]


def applied(node: Node, g: Any, create: bool) -> Any:
    """A node's step, with the forward call named where it fails or makes nan."""
    try:
        partials = tensor_partials(node, g) if create else node.apply(g)
    except Exception:
        _tell(node)
        raise
    if anomaly.check_nan:
        for number, partial in enumerate(partials):
            array = partial.array if isinstance(partial, Tensor) else partial
            if array is not None and np.asarray(array).dtype.kind in "fc" and np.any(np.isnan(array)):
                _tell(node)
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {number}th output.")
    return partials


def _tell(node: Node) -> None:
    stack = node.metadata.get("traceback_")
    if stack:
        warnings.warn(
            f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(stack)}",
            UserWarning,
            stacklevel=4,
        )
    else:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information.",
            UserWarning,
            stacklevel=4,
        )


class detect_anomaly:
    """Anomaly detection inside a block."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.before = (anomaly.enabled, anomaly.check_nan)
        warnings.warn(ENABLED, UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        self.before = (anomaly.enabled, anomaly.check_nan)
        anomaly.enabled, anomaly.check_nan = True, self.check_nan

    def __exit__(self, *_: object) -> None:
        anomaly.enabled, anomaly.check_nan = self.before


class set_detect_anomaly:
    """Switch anomaly detection, at once; as a context manager until its end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.before = (anomaly.enabled, anomaly.check_nan)
        anomaly.enabled, anomaly.check_nan = mode, check_nan

    def __enter__(self) -> None:
        """As it was set."""

    def __exit__(self, *_: object) -> None:
        anomaly.enabled, anomaly.check_nan = self.before


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether nan counts as an anomaly."""
    return anomaly.check_nan


for _class in (detect_anomaly, set_detect_anomaly):
    _class.__module__ = "torch.autograd.anomaly_mode"
