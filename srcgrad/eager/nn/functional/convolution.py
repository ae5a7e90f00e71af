"""Convolutions in one, two and three dimensions, and their transposes."""

from __future__ import annotations

from typing import Any

from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.nn.functional.activations import F
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import neural_layers

_convolve = Operation(neural_layers.convolve, "ConvolutionBackward0", {"x": "input"})
_unconvolve = Operation(neural_layers.unconvolve_input, "ConvolutionBackward0", {"g": "input"})
_biased = Operation(neural_layers.convolve_biased, "ConvolutionBackward0", {"x": "input"})


def each(value: Any, dimensions: int, name: str = "value") -> tuple[int, ...]:
    """A number for every dimension."""
    if isinstance(value, int):
        return (value,) * dimensions
    given = tuple(int(v) for v in value)
    return given * dimensions if len(given) == 1 else given


def _convolved(values: dict[str, Any], bias: Tensor | None, dimensions: int, saved: dict[str, Any]) -> Tensor:
    """One node for a convolution, with three edges in every case."""
    if bias is not None:
        shape = (1, -1, *([1] * dimensions))
        made: Tensor = call(_biased, {**values, "bias": bias, "shape": shape}, saved=saved)
        return made
    made = call(_convolve, values, saved=saved)
    if made.node is not None:
        made.node.edges = (*made.node.edges, (None, 0))
    return made


def _unconvolved(values: dict[str, Any], bias: Tensor | None, dimensions: int, saved: dict[str, Any]) -> Tensor:
    """The same for a transpose."""
    if bias is None:
        made: Tensor = call(_unconvolve, values, saved=saved)
        if made.node is not None:
            made.node.edges = (*made.node.edges, (None, 0))
        return made

    def whole(g: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        made: Tensor = call(_unconvolve, {**values, "g": g, "weight": weight})
        channels: Tensor = made + bias.reshape(1, -1, *([1] * dimensions))
        return channels

    inputs = (values["g"], values["weight"], bias)
    result: Tensor = composed("ConvolutionBackward0", whole, *inputs, saved=saved, slots=("input", "weight", ""))
    return result


def _described(name: str, dimensions: int, transposed: bool, bias: Tensor | None, **settings: Any) -> dict[str, Any]:
    return {
        **settings,
        "transposed": transposed,
        "bias_sym_sizes_opt": None if bias is None else tuple(bias.array.shape),
    }


def _check(name: str, input: Tensor, weight: Tensor, dimensions: int, channels: int) -> None:
    ndim = input.array.ndim
    if ndim not in (dimensions + 1, dimensions + 2):
        raise RuntimeError(
            f"Expected {dimensions + 1}D (unbatched) or {dimensions + 2}D (batched) input to {name}, but got input of "
            f"size: {list(input.array.shape)}"
        )
    if input.array.dtype != weight.array.dtype:
        raise RuntimeError(
            f"Input type ({input.dtype.long_name.lower()}) and bias type ({weight.dtype.long_name.lower()}) should be "
            "the same"
        )
    if input.array.shape[ndim - dimensions - 1] != channels:
        batched = list(input.array.shape) if ndim == dimensions + 2 else [1, *input.array.shape]
        raise RuntimeError(
            f"Given groups={{groups}}, weight of size {list(weight.array.shape)}, expected input{batched} to have "
            f"{channels} channels, but got {batched[1]} channels instead"
        )


def _same(size: tuple[int, ...], kernel: tuple[int, ...], dilation: tuple[int, ...]) -> list[tuple[int, int]]:
    """The margins that keep a size, the larger one at the end."""
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return [(t // 2, t - t // 2) for t in totals]


def _convolution(name: str, dimensions: int) -> None:
    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        try:
            _check(name, input, weight, dimensions, weight.array.shape[1] * groups)
        except RuntimeError as error:
            raise RuntimeError(str(error).replace("{groups}", str(groups))) from None
        strides, dilations = each(stride, dimensions), each(dilation, dimensions)
        kernel = weight.array.shape[2:]
        if isinstance(padding, str):
            if padding == "same":
                if any(s != 1 for s in strides):
                    raise RuntimeError("padding='same' is not supported for strided convolutions")
                margins = _same(input.array.shape[-dimensions:], kernel, dilations)
                if any(low != high for low, high in margins):
                    widths = [w for low, high in reversed(margins) for w in (0, high - low)]
                    from srcgrad.eager.nn.functional.padding import pad

                    input = pad(input, widths)
                paddings = tuple(low for low, _ in margins)
            elif padding == "valid":
                paddings = (0,) * dimensions
            else:
                raise ValueError(f"Invalid padding string: '{padding}'")
        else:
            paddings = each(padding, dimensions)
        size = input.array.shape[-dimensions:]
        for n, k, p, d in zip(size, kernel, paddings, dilations, strict=True):
            if n + 2 * p < d * (k - 1) + 1:
                wide = [a + 2 * b for a, b in zip(size, paddings, strict=True)]
                reach = [b * (a - 1) + 1 for a, b in zip(kernel, dilations, strict=True)]
                raise RuntimeError(
                    f"Calculated padded input size per channel: ({' x '.join(map(str, wide))}). Kernel size: "
                    f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
                )
        batched = input if input.array.ndim == dimensions + 2 else input.unsqueeze(0)
        settings = {"stride": strides, "padding": paddings, "dilation": dilations, "groups": groups}
        values = {"x": batched, "weight": weight, **settings}
        saved = _described(name, dimensions, False, bias, **settings, output_padding=(0,) * dimensions)
        made = _convolved(values, bias, dimensions, saved)
        return made if batched is input else made.squeeze(0)

    conv.__name__ = conv.__qualname__ = name
    conv.__doc__ = f"A convolution in {dimensions} dimensions."
    function(name, module=F)(conv)
    function(name)(conv)


def _transposed(name: str, dimensions: int) -> None:
    def conv_transpose(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
    ) -> Tensor:  # fmt: skip
        try:
            _check(name, input, weight, dimensions, weight.array.shape[0])
        except RuntimeError as error:
            raise RuntimeError(str(error).replace("{groups}", str(groups))) from None
        strides, paddings = each(stride, dimensions), each(padding, dimensions)
        dilations, extra = each(dilation, dimensions), each(output_padding, dimensions)
        batched = input if input.array.ndim == dimensions + 2 else input.unsqueeze(0)
        kernel = weight.array.shape[2:]
        size = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + e + 1
            for n, s, p, d, k, e in zip(
                batched.array.shape[2:], strides, paddings, dilations, kernel, extra, strict=True
            )
        )
        shape = (batched.array.shape[0], weight.array.shape[1] * groups, *size)
        settings = {"stride": strides, "padding": paddings, "dilation": dilations, "groups": groups}
        values = {"g": batched, "weight": weight, "shape": shape, **settings}
        saved = _described(name, dimensions, True, bias, **settings, output_padding=extra)
        made = _unconvolved(values, bias, dimensions, saved)
        return made if batched is input else made.squeeze(0)

    conv_transpose.__name__ = conv_transpose.__qualname__ = name
    conv_transpose.__doc__ = f"The transpose of a convolution in {dimensions} dimensions."
    function(name, module=F)(conv_transpose)
    function(name)(conv_transpose)


for _n in (1, 2, 3):
    _convolution(f"conv{_n}d", _n)
    _transposed(f"conv_transpose{_n}d", _n)
