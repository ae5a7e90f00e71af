"""Mixed precision, which there is none: everything is computed in the dtype that it has, and that is said once.

>>> with autocast("cuda", enabled=False):
...     pass
>>> GradScaler("cuda", enabled=False).get_scale()
1.0
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from srcgrad.eager.absent import absent_from
from srcgrad.eager.warned import warn_once

AUTOCAST = (
    "autocast does nothing: torch here is srcgrad.eager, which computes on the CPU in the dtype that tensors have. "
    "Convert with .to(dtype) where less precision is wanted."
)
SCALER = "GradScaler does nothing: torch here is srcgrad.eager, which has no mixed precision that would need it."


class autocast:
    """A block, or a function, in which PyTorch would choose dtypes; here nothing changes."""

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device, self.fast_dtype = device_type, dtype
        self._enabled = False
        if enabled:
            warn_once(AUTOCAST, depth=4)

    def __enter__(self) -> autocast:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return run


class CudaAutocast(autocast):
    """``torch.cuda.amp.autocast``."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler:
    """Scales losses by 1, which never overflows."""

    def __init__(
        self, device: str = "cuda", init_scale: float = 65536.0, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        self._device = device
        if enabled:
            warn_once(SCALER, depth=4)

    def scale(self, outputs: Any) -> Any:
        """The outputs as they are."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing: gradients are not scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step``."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Nothing: the scale stays 1."""

    def get_scale(self) -> float:
        """The scale."""
        return 1.0

    def is_enabled(self) -> bool:
        """Whether losses are scaled: no."""
        return False

    def state_dict(self) -> dict[str, Any]:
        """Nothing is kept."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing is kept: the state of a scaler that did scale is left alone."""


class CudaGradScaler(GradScaler):
    """``torch.cuda.amp.GradScaler``, whose first argument is the scale."""

    def __init__(self, init_scale: float = 65536.0, *args: Any, enabled: bool = True, **others: Any) -> None:
        super().__init__("cuda", init_scale, enabled=enabled)


def custom_fwd(fwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The forward of a Function, which runs as it is."""
    return (lambda f: f) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The backward of a Function, which runs as it is."""
    return (lambda f: f) if bwd is None else bwd


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast would do something: no."""
    return False

__getattr__ = absent_from("torch.amp")
