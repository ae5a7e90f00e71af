"""The modules of accelerators, of which there are none: programs that ask first run on the CPU, as on PyTorch without.

>>> cuda.is_available(), cuda.device_count(), backends.mps.is_available(), accelerator.current_accelerator()
(False, 0, False, None)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from srcgrad.eager import absent, amp

WITHOUT_CUDA = "Torch not compiled with CUDA enabled"


class Place(ModuleType):
    """A module that is made of names; what it lacks, it says."""

    def __init__(self, name: str, **names: Any) -> None:
        super().__init__(f"torch.{name}", "A name of PyTorch's for an accelerator that is not there.")
        self.__path__: list[str] = []
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise absent.missing(self.__name__, name)


def _gives(value: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: value


def _refuses(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError(WITHOUT_CUDA)


class _Typed(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. {WITHOUT_CUDA}.")

    def __instancecheck__(cls, instance: object) -> bool:
        return False

    def __repr__(cls) -> str:
        return f"<class 'torch.cuda.{cls.__name__}'>"


_KINDS = ("Float", "Double", "Half", "Long", "Int", "Short", "Char", "Byte", "Bool", "BFloat16")
_ASKED = (
    "current_device", "get_device_name", "get_device_properties", "get_device_capability", "synchronize", "init",
    "initial_seed", "mem_get_info", "set_device", "get_rng_state", "set_rng_state", "current_stream", "default_stream",
    "Stream", "Event", "ipc_collect", "reset_peak_memory_stats", "memory_summary", "device", "stream",
)  # fmt: skip
_SEEDS = ("manual_seed", "manual_seed_all", "seed", "seed_all", "empty_cache")
_BYTES = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "device_count")

cuda = Place(
    "cuda",
    is_available=_gives(False), is_initialized=_gives(False), is_bf16_supported=_gives(False),
    get_arch_list=list, get_rng_state_all=list, set_rng_state_all=_gives(None),
    **dict.fromkeys(_SEEDS, _gives(None)), **dict.fromkeys(_BYTES, _gives(0)), **dict.fromkeys(_ASKED, _refuses),
    **{f"{kind}Tensor": _Typed(f"{kind}Tensor", (), {"is_cuda": True}) for kind in _KINDS},
    amp=Place("cuda.amp", autocast=amp.CudaAutocast, GradScaler=amp.CudaGradScaler,
              custom_fwd=amp.custom_fwd, custom_bwd=amp.custom_bwd),
)  # fmt: skip
xpu = Place("xpu", is_available=_gives(False), device_count=_gives(0), manual_seed=_gives(None))
mps = Place("mps", is_available=_gives(False), device_count=_gives(0), manual_seed=_gives(None))
accelerator = Place(
    "accelerator", is_available=_gives(False), device_count=_gives(0),
    current_accelerator=lambda check_available=False: None,
)  # fmt: skip


@contextlib.contextmanager
def _flags(*args: Any, **kwargs: Any) -> Iterator[None]:
    yield


def _backend(name: str, available: bool = False, **settings: Any) -> Place:
    """Settings that may be made, and change nothing."""
    return Place(f"backends.{name}", is_available=_gives(available), is_built=_gives(available), **settings)


backends = Place(
    "backends",
    cudnn=_backend(
        "cudnn", enabled=True, benchmark=False, deterministic=False, allow_tf32=True, version=_gives(None), flags=_flags
    ),
    cuda=_backend(
        "cuda",
        matmul=Place(
            "backends.cuda.matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
            allow_bf16_reduced_precision_reduction=True, fp32_precision="none",
        ),
        sdp_kernel=_flags, enable_flash_sdp=_gives(None), enable_math_sdp=_gives(None),
        enable_mem_efficient_sdp=_gives(None), flash_sdp_enabled=_gives(False), math_sdp_enabled=_gives(True),
    ),
    mps=_backend("mps"), mkl=_backend("mkl"), mkldnn=_backend("mkldnn", enabled=False, flags=_flags),
    openmp=_backend("openmp"),
)  # fmt: skip
