"""Pooling, padding and resizing as modules."""

from __future__ import annotations

from typing import Any

from srcgrad.eager.nn.functional.convolution import each
from srcgrad.eager.nn.module import Module
from srcgrad.eager.registry import FUNCTIONS
from srcgrad.eager.tensor import Tensor

_FUNCTIONS = FUNCTIONS["nn.functional"]
MADE: dict[str, type[Module]] = {}
_REQUIRED: Any = object()


def _module(name: str, function: str, shown: str, /, fixed: dict[str, Any] | None = None, **settings: Any) -> None:
    """A module of a function; ``shown`` is how its settings print, ``fixed`` are further arguments."""

    class Made(Module):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            given = dict(zip(settings, args, strict=False)) | kwargs
            unknown = set(given) - set(settings)
            if unknown:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{unknown.pop()}'")
            for key, default in settings.items():
                if default is _REQUIRED and key not in given:
                    raise TypeError(f"{name}.__init__() missing 1 required positional argument: '{key}'")
                setattr(self, key, given.get(key, default))
            if settings.get("stride", 0) is None and "norm_type" not in settings and given.get("stride") is None:
                self.stride = given["kernel_size"]
            if name == "AvgPool1d":
                for key in ("kernel_size", "stride", "padding"):
                    setattr(self, key, each(getattr(self, key), 1))

        def forward(self, *inputs: Tensor) -> Any:
            """The function of the input."""
            values = {key: getattr(self, key) for key in settings}
            return _FUNCTIONS[function](*inputs, **values, **(fixed or {}))

        def extra_repr(self) -> str:
            """The settings."""
            return shown.format(**{key: getattr(self, key) for key in settings})

    Made.__name__ = Made.__qualname__ = name
    Made.__doc__ = f"``nn.functional.{function}`` as a module."
    Made.__module__ = __name__
    MADE[name] = Made
    globals()[name] = Made


_MAX = "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
for _n in (1, 2, 3):
    _module(
        f"MaxPool{_n}d", f"max_pool{_n}d", _MAX, kernel_size=_REQUIRED, stride=None, padding=0, dilation=1,
        return_indices=False, ceil_mode=False,
    )  # fmt: skip
    _module(
        f"AvgPool{_n}d", f"avg_pool{_n}d", "kernel_size={kernel_size}, stride={stride}, padding={padding}",
        kernel_size=_REQUIRED, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
        **({"divisor_override": None} if _n > 1 else {}),
    )  # fmt: skip
    _module(f"AdaptiveAvgPool{_n}d", f"adaptive_avg_pool{_n}d", "output_size={output_size}", output_size=_REQUIRED)
    _module(
        f"AdaptiveMaxPool{_n}d", f"adaptive_max_pool{_n}d", "output_size={output_size}", output_size=_REQUIRED,
        return_indices=False,
    )  # fmt: skip
for _n in (1, 2):
    _module(
        f"LPPool{_n}d", f"lp_pool{_n}d",
        "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}",
        norm_type=_REQUIRED, kernel_size=_REQUIRED, stride=None, ceil_mode=False,
    )  # fmt: skip
_module("PixelShuffle", "pixel_shuffle", "upscale_factor={upscale_factor}", upscale_factor=_REQUIRED)
_module("PixelUnshuffle", "pixel_unshuffle", "downscale_factor={downscale_factor}", downscale_factor=_REQUIRED)
_module(
    "Unfold", "unfold",
    "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}",
    kernel_size=_REQUIRED, dilation=1, padding=0, stride=1,
)  # fmt: skip
_module(
    "Fold", "fold",
    "output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}",
    output_size=_REQUIRED, kernel_size=_REQUIRED, dilation=1, padding=0, stride=1,
)  # fmt: skip
_module("CosineSimilarity", "cosine_similarity", "", dim=1, eps=1e-8)
_module("PairwiseDistance", "pairwise_distance", "", p=2.0, eps=1e-6, keepdim=False)


class Upsample(Module):
    """Images in another size."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = type(self).__name__
        self.size, self.mode, self.align_corners = size, mode, align_corners
        several = isinstance(scale_factor, tuple)
        self.scale_factor = tuple(map(float, scale_factor)) if several else scale_factor and float(scale_factor)
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The input in another size."""
        made: Tensor = _FUNCTIONS["interpolate"](
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )
        return made

    def extra_repr(self) -> str:
        """The settings."""
        first = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{first}, mode='{self.mode}'"


class _Pad(Module):
    dimensions = 1
    mode = "constant"
    value = 0.0

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dimensions) if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Tensor) -> Tensor:
        """The input with its margins."""
        value = self.value if self.mode == "constant" else None
        made: Tensor = _FUNCTIONS["pad"](input, self.padding, self.mode, value)
        return made

    def extra_repr(self) -> str:
        """The widths of the margins."""
        return f"{self.padding}"


class _Constant(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        """The widths of the margins, and what is in them."""
        return f"padding={self.padding}, value={self.value}"


for _n in (1, 2, 3):
    for _name, _base, _mode in (
        ("ConstantPad", _Constant, "constant"), ("ZeroPad", _Pad, "constant"), ("ReflectionPad", _Pad, "reflect"),
        ("ReplicationPad", _Pad, "replicate"), ("CircularPad", _Pad, "circular"),
    ):  # fmt: skip
        MADE[f"{_name}{_n}d"] = type(
            f"{_name}{_n}d", (_base,), {"dimensions": _n, "mode": _mode, "__doc__": f"Margins: {_mode}."}
        )
globals().update(MADE)
__all__ = ["MADE", "Upsample"]
