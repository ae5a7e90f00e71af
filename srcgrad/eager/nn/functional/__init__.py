"""``torch.nn.functional``: the functions of neural networks, by theme."""

from __future__ import annotations

from typing import Any as _Any

from srcgrad.eager.absent import missing as _missing
from srcgrad.eager.nn.functional import (  # noqa: F401  (registers the functions)
    activations,
    attention,
    convolution,
    layers,
    losses,
    margins,
    normalization,
    padding,
    pooling,
)

#
from srcgrad.eager.nn.functional.layers import linear  # noqa: F401
from srcgrad.eager.registry import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["nn.functional"])


def __getattr__(name: str) -> _Any:
    if name in _FUNCTIONS["nn.functional"]:
        return _FUNCTIONS["nn.functional"][name]
    raise _missing("torch.nn.functional", name)
