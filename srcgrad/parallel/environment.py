"""What the last bits of a result depend on besides the program, and the one thread that BLAS gets.

Enters: nothing.  Leaves: an ``Environment``; workers send theirs with every result.  BLAS adds in another order where
it has another number of threads or another kernel, which it chooses by the kind of CPU.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

import srcgrad

#: What sets the number of threads of a BLAS before it is loaded.
_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")


@dataclass(frozen=True)
class Environment:
    """One worker's; ``threads`` is the number of BLAS threads, None where nothing tells."""

    python: str
    srcgrad: str
    numpy: str
    scipy: str
    blas: str
    cpu: str
    threads: int | None

    def __str__(self) -> str:
        threads = "an unknown number of" if self.threads is None else self.threads
        return (
            f"Python {self.python}, srcgrad {self.srcgrad}, NumPy {self.numpy}, SciPy {self.scipy}, {self.blas}, "
            f"{self.cpu}, {threads} BLAS thread{'s' * (self.threads != 1)}"
        )


def differences(environments: Iterable[Environment]) -> str | None:
    """What differs among workers, in words; None where nothing does."""
    kinds = list(environments)
    parts = []
    for field in fields(Environment):
        values = sorted({str(getattr(kind, field.name)) for kind in kinds})
        if len(values) > 1:
            parts.append(f"{field.name} ({', '.join(values)})")
    return "; ".join(parts) or None


@cache
def _controller() -> Any:
    """threadpoolctl's view of the BLAS libraries of this process; None where it is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


@cache
def use_one_thread() -> None:
    """Set BLAS to one thread in this worker, for good."""
    controller = _controller()
    if controller is not None:
        controller.limit(limits=1)


class _Limit:
    """One BLAS thread in the client's own process while any run is in its threads; the old number afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = 0
        self._limit: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        controller = _controller()
        with self._lock:
            self._runs += 1
            if self._runs == 1 and controller is not None:
                self._limit = controller.limit(limits=1)
        try:
            yield
        finally:
            with self._lock:
                self._runs -= 1
                if self._runs == 0 and self._limit is not None:
                    self._limit.restore_original_limits()
                    self._limit = None


one_thread = _Limit()


def environment() -> Environment:
    """That of this process, as it is now."""
    blas, threads = _blas()
    return Environment(platform.python_version(), srcgrad.__version__, np.__version__, _scipy(), blas, _cpu(), threads)


def _blas() -> tuple[str, int | None]:
    controller = _controller()
    if controller is not None and controller.lib_controllers:
        kinds = {f"{one.internal_api} {one.version} {getattr(one, 'architecture', '')}".strip() for one in _loaded()}
        counts = {one.num_threads for one in _loaded()}
        return ", ".join(sorted(kinds)), max(counts)
    return _built_with(), _by_variables()


def _loaded() -> list[Any]:
    """NumPy's own BLAS; SciPy brings another one along when it is imported, which goes by SciPy's version."""
    found = list(_controller().lib_controllers)
    return [one for one in found if "numpy" in str(one.filepath)] or found


@cache
def _scipy() -> str:
    try:
        return metadata.version("scipy")
    except metadata.PackageNotFoundError:
        return "none"


@cache
def _built_with() -> str:
    configuration: Any = np.show_config(mode="dicts")
    blas = configuration.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown BLAS')} {blas.get('version', '')}".strip()


def _by_variables() -> int | None:
    for name in _VARIABLES:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None


@cache
def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
