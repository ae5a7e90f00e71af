"""``torch.optim``: optimizers."""

from __future__ import annotations

from typing import Any as _Any

from srcgrad.eager.optim import lr_scheduler
from srcgrad.eager.optim.descent import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, RMSprop
from srcgrad.eager.optim.optimizer import Optimizer


def __getattr__(name: str) -> _Any:
    raise AttributeError(f"module 'torch.optim' has no attribute '{name}'")


__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Optimizer", "RMSprop", "lr_scheduler"]
