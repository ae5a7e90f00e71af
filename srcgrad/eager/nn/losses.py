"""Losses as modules."""

from __future__ import annotations

from typing import Any

from srcgrad.eager.nn.functional.losses import reduction_of
from srcgrad.eager.nn.module import Module
from srcgrad.eager.registry import FUNCTIONS
from srcgrad.eager.tensor import Tensor

MADE: dict[str, type[Module]] = {}


def _loss(
    name: str, function: str, weights: tuple[str, ...] = (), /, first: str | None = None, **settings: Any
) -> None:
    """A module of a loss; ``weights`` become buffers; ``first`` is a setting that is given by position."""
    order = [*weights, *settings] if first is None else [first, *(s for s in settings if s != first)]

    class Loss(Module):
        reduction: str

        def __init__(
            self, *args: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", **kwargs: Any
        ) -> None:
            super().__init__()
            legacy = size_average is not None or reduce is not None
            self.reduction = reduction_of(reduction, size_average, reduce) if legacy else reduction
            given = dict(zip(order, args, strict=False)) | kwargs
            unknown = set(given) - set(order)
            if unknown:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{unknown.pop()}'")
            for key in weights:
                self.register_buffer(key, given.get(key))
            for key, default in settings.items():
                setattr(self, key, given.get(key, default))

        def forward(self, *args: Any) -> Tensor:
            """The loss."""
            values = {key: getattr(self, key) for key in (*weights, *settings)}
            made: Tensor = FUNCTIONS["nn.functional"][function](*args, reduction=self.reduction, **values)
            return made

    Loss.__name__ = Loss.__qualname__ = name
    Loss.__doc__ = f"``nn.functional.{function}`` as a module."
    Loss.__module__ = __name__
    MADE[name] = Loss
    globals()[name] = Loss


_loss("MSELoss", "mse_loss")
_loss("L1Loss", "l1_loss")
_loss("SmoothL1Loss", "smooth_l1_loss", beta=1.0)
_loss("HuberLoss", "huber_loss", delta=1.0)
_loss("SoftMarginLoss", "soft_margin_loss")
_loss("BCELoss", "binary_cross_entropy", ("weight",))
_loss("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", ("weight", "pos_weight"))
_loss("NLLLoss", "nll_loss", ("weight",), ignore_index=-100)
_loss("CrossEntropyLoss", "cross_entropy", ("weight",), ignore_index=-100, label_smoothing=0.0)
_loss("KLDivLoss", "kl_div", log_target=False)
_loss("PoissonNLLLoss", "poisson_nll_loss", log_input=True, full=False, eps=1e-8)
_loss("HingeEmbeddingLoss", "hinge_embedding_loss", margin=1.0)
_loss("MarginRankingLoss", "margin_ranking_loss", margin=0.0)
_loss("CosineEmbeddingLoss", "cosine_embedding_loss", margin=0.0)
_loss("TripletMarginLoss", "triplet_margin_loss", margin=1.0, p=2.0, eps=1e-6, swap=False)
_loss("MultiMarginLoss", "multi_margin_loss", ("weight",), p=1, margin=1.0)
_loss("MultiLabelMarginLoss", "multilabel_margin_loss")
_loss("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", ("weight",))
_loss("GaussianNLLLoss", "gaussian_nll_loss", full=False, eps=1e-6)
