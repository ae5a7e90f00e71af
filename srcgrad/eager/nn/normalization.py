"""Normalization as modules; those of batches keep running means and variances."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.nn.module import Module
from srcgrad.eager.nn.parameter import Parameter
from srcgrad.eager.operations.creation import on_cpu
from srcgrad.eager.registry import FUNCTIONS
from srcgrad.eager.tensor import Tensor

_FUNCTIONS = FUNCTIONS["nn.functional"]


def _numbers(shape: Any, value: float, dtype: Any = None) -> Tensor:
    return Tensor.of(np.full(shape, value, (dtype or dtypes.get_default_dtype()).numpy))


def _affine(module: Module, shape: Any, weight: bool, bias: bool, dtype: Any) -> None:
    for name, wanted, value in (("weight", weight, 1.0), ("bias", bias, 0.0)):
        module.register_parameter(name, Parameter(_numbers(shape, value, dtype)) if wanted else None)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        on_cpu(device)
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _affine(self, self.normalized_shape, elementwise_affine, elementwise_affine and bias, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalized."""
        made: Tensor = _FUNCTIONS["layer_norm"](input, self.normalized_shape, self.weight, self.bias, self.eps)
        return made

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The last dimensions divided by the root of their mean square."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        on_cpu(device)
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        weight = Parameter(_numbers(self.normalized_shape, 1.0, dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def forward(self, x: Tensor) -> Tensor:
        """The input, divided."""
        made: Tensor = _FUNCTIONS["rms_norm"](x, self.normalized_shape, self.weight, self.eps)
        return made

    def extra_repr(self) -> str:
        """The settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        on_cpu(device)
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _affine(self, num_channels, affine, affine, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalized."""
        made: Tensor = _FUNCTIONS["group_norm"](input, self.num_groups, self.weight, self.bias, self.eps)
        return made

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class _Running(Module):
    """What normalizations share that keep means and variances."""

    ranks: tuple[int, ...] = (2, 3)
    expected = "2D or 3D"
    batch = True

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool | None = None,
        track_running_stats: bool | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        on_cpu(device)
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = self.batch if affine is None else affine
        self.track_running_stats = self.batch if track_running_stats is None else track_running_stats
        _affine(self, num_features, self.affine, self.affine, dtype)
        tracked = self.track_running_stats
        self.register_buffer("running_mean", _numbers(num_features, 0.0, dtype) if tracked else None)
        self.register_buffer("running_var", _numbers(num_features, 1.0, dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", Tensor.of(np.array(0)) if tracked else None)

    def reset_running_stats(self) -> None:
        """Forget the means and variances of batches that were."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _check(self, input: Tensor) -> None:
        if input.array.ndim not in self.ranks:
            raise ValueError(f"expected {self.expected} input (got {input.array.ndim}D input)")


class _BatchNorm(_Running):
    def forward(self, input: Tensor) -> Tensor:
        """The input, normalized by the batch in training, by what is kept otherwise."""
        self._check(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        made: Tensor = _FUNCTIONS["batch_norm"](
            input, self.running_mean if kept else None, self.running_var if kept else None, self.weight, self.bias,
            by_batch, factor, self.eps,
        )  # fmt: skip
        return made


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 for each feature or channel."""


class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 for each channel of images."""

    ranks, expected = (4,), "4D"


class BatchNorm3d(_BatchNorm):
    """Mean 0 and variance 1 for each channel of volumes."""

    ranks, expected = (5,), "5D"


class _InstanceNorm(_Running):
    batch = False

    def forward(self, input: Tensor) -> Tensor:
        """The input, each sample normalized by itself."""
        self._check(input)
        alone = input.array.ndim == min(self.ranks)
        made: Tensor = _FUNCTIONS["instance_norm"](
            input.unsqueeze(0) if alone else input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return made.squeeze(0) if alone else made


class InstanceNorm1d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each sequence."""


class InstanceNorm2d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each image."""

    ranks, expected = (3, 4), "3D or 4D"


class InstanceNorm3d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each volume."""

    ranks, expected = (4, 5), "4D or 5D"


class LocalResponseNorm(Module):
    """Channels divided by a power of the mean square of their neighbours."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """The input, divided."""
        made: Tensor = _FUNCTIONS["local_response_norm"](input, self.size, self.alpha, self.beta, self.k)
        return made

    def extra_repr(self) -> str:
        """The settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
