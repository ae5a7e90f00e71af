"""Margins, windows taken apart and put together, images made larger and smaller."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.nn.functional.activations import F
from srcgrad.eager.nn.functional.convolution import each
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import neural_layers

_constant = Operation(neural_layers.pad_constant, "ConstantPadNdBackward0")
_columns = Operation(neural_layers.columns, "Im2ColBackward0")
_uncolumns = Operation(neural_layers.uncolumns, "Col2ImBackward0")
_taken = {
    (mode, n): Operation(neural_layers.take_places, f"{node}Pad{n}DBackward0", {"x": "self"})
    for mode, node in (("reflect", "Reflection"), ("replicate", "Replication"))
    for n in (1, 2, 3)
}
_sampled = {
    (mode, n): Operation(neural_layers.weighted_sums, f"Upsample{node}Backward0")
    for mode, n, node in (
        ("nearest", 1, "Nearest1D"), ("nearest", 2, "Nearest2D"), ("nearest", 3, "Nearest3D"),
        ("nearest-exact", 1, "NearestExact1D"), ("nearest-exact", 2, "NearestExact2D"),
        ("nearest-exact", 3, "NearestExact3D"), ("linear", 1, "Linear1D"), ("bilinear", 2, "Bilinear2D"),
        ("trilinear", 3, "Trilinear3D"),
    )
}  # fmt: skip


# --- margins ---------------------------------------------------------------------------------------------------------
@function("pad", module=F)
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Margins around the last dimensions, given from the last one on."""
    given = tuple(int(n) for n in pad)
    if len(given) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    ndim, depth = input.array.ndim, len(given) // 2
    if depth > ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(given)} and input of dimension {ndim}"
        )
    ends = [(given[2 * i], given[2 * i + 1]) for i in reversed(range(depth))]
    if mode == "constant":
        widths = ((0, 0),) * (ndim - depth) + tuple(ends)
        for axis, (n, (low, high)) in enumerate(zip(input.array.shape, widths, strict=True)):
            if n + low + high < 0:
                raise RuntimeError(
                    f"The input size {n}, plus negative padding {low} and {high} resulted in a negative output size, "
                    f"which is invalid. Check dimension {axis} of your input."
                )
        values = {"x": input, "widths": widths, "value": float(value or 0.0)}
        made: Tensor = call(_constant, values, saved={"pad": given})
        if made.node is not None:
            made.node.keeps = True
        return made
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if ndim not in (depth + 1, depth + 2):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    if mode == "circular":
        return _circular(input, ends)
    return _replayed(input, ends, given, mode)


def _replayed(input: Tensor, ends: list[tuple[int, int]], given: tuple[int, ...], mode: str) -> Tensor:
    """Margins that repeat what is inside, mirrored or its edge."""
    size = input.array.shape[-len(ends) :]
    lines = []
    for n, (low, high) in zip(size, ends, strict=True):
        places = np.arange(-low, n + high)
        if mode == "reflect":
            if low >= n or high >= n:
                raise RuntimeError(
                    "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                    f"padding ({low}, {high}) at dimension {input.array.ndim - 1} of input {list(input.array.shape)}"
                )
            places = np.abs(places)
            places = np.where(places >= n, 2 * (n - 1) - places, places)
        else:
            places = np.clip(places, 0, n - 1)
        lines.append(places)
    numbers = np.ravel_multi_index(np.ix_(*lines), size)
    values = {"x": input, "places": np.asarray(numbers), "depth": len(ends)}
    made: Tensor = call(_taken[mode, len(ends)], values, saved={"padding": given, "self": input})
    return made


def _circular(input: Tensor, ends: list[tuple[int, int]]) -> Tensor:
    """Margins that go on at the other end, written into new memory as PyTorch does."""
    shape, first = input.array.shape, input.array.ndim - len(ends)
    grown = [*shape[:first], *(n + low + high for n, (low, high) in zip(shape[first:], ends, strict=True))]
    made = Tensor.of(np.empty(grown, input.array.dtype))
    inside: Any = made
    outer: Any = input
    for axis, (n, (low, high)) in enumerate(zip(shape[first:], ends, strict=True), first):
        if low > n or high > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        inside = inside.narrow(axis, max(low, 0), grown[axis] - max(low, 0) - max(high, 0))
        outer = outer.narrow(axis, max(-low, 0), n - max(-low, 0) - max(-high, 0))
    inside.copy_(outer)
    for axis, (low, high) in reversed(list(enumerate(ends, first))):
        n = grown[axis]
        if low > 0:
            made.narrow(axis, 0, low).copy_(made.narrow(axis, n - low - max(high, 0), low))
        if high > 0:
            made.narrow(axis, n - high, high).copy_(made.narrow(axis, max(low, 0), high))
    return made


# --- windows ---------------------------------------------------------------------------------------------------------
@function("unfold", module=F)
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """What a window meets, one column for each of its places."""
    kernel, dilations, paddings, strides = (each(v, 2) for v in (kernel_size, dilation, padding, stride))
    batched = input if input.array.ndim == 4 else input.unsqueeze(0)
    values = {"x": batched, "kernel": kernel, "stride": strides, "padding": paddings, "dilation": dilations}
    array = neural_layers.columns(batched.array, kernel, strides, paddings, dilations)
    n, c = batched.array.shape[:2]
    saved = {
        "kernel_size": kernel, "dilation": dilations, "padding": paddings, "stride": strides,
        "self_sym_argsize_minus_1": batched.array.shape[-1], "self_sym_argsize_minus_2": batched.array.shape[-2],
    }  # fmt: skip

    def whole(x: Tensor) -> Tensor:
        made: Tensor = call(_columns, {**values, "x": x}, array=array)
        flat: Tensor = made.reshape(n, c * math.prod(kernel), -1)
        return flat

    made: Tensor = composed("Im2ColBackward0", whole, batched, saved=saved)
    return made if batched is input else made.squeeze(0)


@function("fold", module=F)
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns put back where a window met them, added up."""
    size, kernel = each(output_size, 2), each(kernel_size, 2)
    dilations, paddings, strides = (each(v, 2) for v in (dilation, padding, stride))
    batched = input if input.array.ndim == 3 else input.unsqueeze(0)
    n, rows, _ = batched.array.shape
    counts = tuple(
        (m + 2 * p - d * (k - 1) - 1) // s + 1
        for m, p, d, k, s in zip(size, paddings, dilations, kernel, strides, strict=True)
    )
    values = {"size": size, "kernel": kernel, "stride": strides, "padding": paddings, "dilation": dilations}
    saved = {"kernel_size": kernel, "dilation": dilations, "padding": paddings, "stride": strides}

    def whole(x: Tensor) -> Tensor:
        apart = x.reshape(n, rows // math.prod(kernel), *kernel, *counts)
        made: Tensor = call(_uncolumns, {**values, "g": apart})
        return made

    made: Tensor = composed("Col2ImBackward0", whole, batched, saved=saved)
    return made if batched is input else made.squeeze(0)


@function("pixel_shuffle", module=F)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels spread over the pixels of a larger image."""
    *lead, c, h, w = input.array.shape
    r = upscale_factor
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={c} is not divisible by {r * r}"
        )

    def whole(x: Tensor) -> Tensor:
        apart = x.reshape(*lead, c // (r * r), r, r, h, w)
        k = len(lead)
        moved = apart.permute(*range(k), k, k + 3, k + 1, k + 4, k + 2)
        made: Tensor = moved.reshape(*lead, c // (r * r), h * r, w * r)
        return made

    made: Tensor = composed("PixelShuffleBackward0", whole, input, saved={"upscale_factor": r})
    return made


@function("pixel_unshuffle", module=F)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Pixels gathered into the channels of a smaller image."""
    *lead, c, h, w = input.array.shape
    r = downscale_factor

    def whole(x: Tensor) -> Tensor:
        apart = x.reshape(*lead, c, h // r, r, w // r, r)
        k = len(lead)
        made: Tensor = apart.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*lead, c * r * r, h // r, w // r)
        return made

    made: Tensor = composed("PixelUnshuffleBackward0", whole, input, saved={"downscale_factor": r})
    return made


# --- sizes -----------------------------------------------------------------------------------------------------------
def _sampling(n: int, m: int, mode: str, align: bool, scale: float | None, dtype: Any) -> Any:
    """How much each of ``n`` elements counts in each of ``m``."""
    factor = 1 / scale if scale else n / m
    i = np.arange(m)
    made = np.zeros((m, n), dtype)
    if mode.startswith("nearest"):
        source = (i + 0.5) * factor if mode == "nearest-exact" else i * factor
        made[i, np.minimum(np.floor(source.astype(np.float32)).astype(int), n - 1)] = 1
        return made
    if align:
        source = i * ((n - 1) / (m - 1) if m > 1 else 0.0)
    else:
        source = np.maximum((i + 0.5) * factor - 0.5, 0)
    low = np.minimum(np.floor(source).astype(int), n - 1)
    part = source - low
    np.add.at(made, (i, low), 1 - part)
    np.add.at(made, (i, np.minimum(low + 1, n - 1)), part)
    return made


@function("interpolate", module=F)
def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Images in another size."""
    depth = input.array.ndim - 2
    if mode.startswith("nearest") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined"
            if size is not None
            else "either size or scale_factor should be defined"
        )
    if (mode, depth) not in _sampled or antialias:
        raise NotImplementedError(f"interpolate(mode={mode!r}) of {depth} dimensions is not supported")
    old = input.array.shape[2:]
    scales: list[float | None] = [None] * depth
    if size is not None:
        new = each(size, depth)
    else:
        factors = [scale_factor] * depth if isinstance(scale_factor, int | float) else list(scale_factor)
        new = tuple(math.floor(n * s) for n, s in zip(old, factors, strict=True))
        scales = [None if recompute_scale_factor else float(s) for s in factors]
    matrices = tuple(
        _sampling(n, m, mode, bool(align_corners), s, input.array.dtype)
        for n, m, s in zip(old, new, scales, strict=True)
    )
    saved = {"output_size": new, "align_corners": bool(align_corners), "self_sym_sizes": tuple(input.array.shape)}
    saved |= dict(
        zip(("scales_h", "scales_w") if depth == 2 else ("scales",) if depth == 1 else (), scales, strict=False)
    )
    made: Tensor = call(_sampled[mode, depth], {"x": input, "matrices": matrices}, saved=saved)
    if made.node is not None:
        made.node.keeps = True
    return made


function("upsample", module=F)(interpolate)
