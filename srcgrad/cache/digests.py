"""SHA-256, without loading OpenSSL, which takes longer than all else that is done for a program that is kept."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol


class Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...


def _found() -> Any:
    """As ``random`` in the standard library has it; the module of C has another name since 3.12."""
    for module in ("_sha2", "_sha256", "hashlib"):
        try:
            return importlib.import_module(module).sha256
        except ImportError:
            continue
    raise ImportError("Python has no SHA-256")


sha256: Callable[..., Digest] = _found()
