"""Warnings that PyTorch gives once in a process."""

from __future__ import annotations

import warnings

_given: set[str] = set()


def warn_once(text: str, kind: type[Warning] = UserWarning, depth: int = 3) -> None:
    """Warn, unless this text was given before."""
    if text not in _given:
        _given.add(text)
        warnings.warn(text, kind, stacklevel=depth)
