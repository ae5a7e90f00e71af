"""Convolutions as modules."""

from __future__ import annotations

from typing import Any

from srcgrad.eager.nn import init
from srcgrad.eager.nn.functional.convolution import each
from srcgrad.eager.nn.linear import empty
from srcgrad.eager.nn.module import Module
from srcgrad.eager.operations.creation import on_cpu
from srcgrad.eager.registry import FUNCTIONS
from srcgrad.eager.tensor import Tensor

_FUNCTIONS = FUNCTIONS["nn.functional"]


class _Convolution(Module):
    dimensions = 1
    transposed = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None, *, output_padding: Any = 0,
    ) -> None:  # fmt: skip
        on_cpu(device)
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string '{padding}', should be one of {{'valid', 'same'}}")
            if padding == "same" and any(s != 1 for s in each(stride, self.dimensions)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of {'circular', 'reflect', 'replicate', 'zeros'}, but got "
                f"padding_mode='{padding_mode}'"
            )
        n = self.dimensions
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.dilation = each(kernel_size, n), each(stride, n), each(dilation, n)
        self.padding = padding if isinstance(padding, str) else each(padding, n)
        self.output_padding = each(output_padding, n)
        self.groups, self.padding_mode = groups, padding_mode
        channels = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = empty(*channels, *self.kernel_size, dtype=dtype)
        if bias:
            self.bias = empty(out_channels, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start with new random numbers."""
        init.default_(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """The convolution, the input padded as it is wanted."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            if isinstance(padding, str):
                totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
                ends = [(t // 2, t - t // 2) if padding == "same" else (0, 0) for t in totals]
            else:
                ends = [(p, p) for p in padding]
            widths = [w for pair in reversed(ends) for w in pair]
            input, padding = _FUNCTIONS["pad"](input, widths, mode=self.padding_mode), 0
        made: Tensor = _FUNCTIONS[f"conv{self.dimensions}d"](
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )
        return made

    def extra_repr(self) -> str:
        """The settings that differ from the usual ones."""
        n = self.dimensions
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


class _Transposed(_Convolution):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype, output_padding=output_padding,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """The transpose of the convolution."""
        extra = self.output_padding
        if output_size is not None:
            size: Any = input.array.shape[-self.dimensions :]
            settings: Any = (self.stride, self.padding, self.dilation, self.kernel_size)
            least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in zip(size, *settings, strict=True)]
            extra = tuple(m - n for m, n in zip(tuple(output_size)[-self.dimensions :], least, strict=True))
        made: Tensor = _FUNCTIONS[f"conv_transpose{self.dimensions}d"](
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
        return made


class Conv1d(_Convolution):
    """A convolution of sequences."""


class Conv2d(_Convolution):
    """A convolution of images."""

    dimensions = 2


class Conv3d(_Convolution):
    """A convolution of volumes."""

    dimensions = 3


class ConvTranspose1d(_Transposed):
    """The transpose of a convolution of sequences."""


class ConvTranspose2d(_Transposed):
    """The transpose of a convolution of images."""

    dimensions = 2


class ConvTranspose3d(_Transposed):
    """The transpose of a convolution of volumes."""

    dimensions = 3
