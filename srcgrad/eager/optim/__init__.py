"""``torch.optim``: optimizers."""

from __future__ import annotations

from srcgrad.eager.absent import absent_from as _absent_from
from srcgrad.eager.optim import lr_scheduler
from srcgrad.eager.optim.descent import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, RMSprop
from srcgrad.eager.optim.optimizer import Optimizer
from srcgrad.eager.optim.quasi_newton import LBFGS

__getattr__ = _absent_from("torch.optim")
__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Optimizer",
    "RMSprop",
    "lr_scheduler",
]
