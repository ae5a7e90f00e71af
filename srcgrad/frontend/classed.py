"""What is known of values whose class decides what operators mean; ``frontend.known`` is the rest of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Foreign:
    """A value of a class that overrides what arrays, numbers or containers do, or of a sparse matrix."""

    kind: type


@dataclass(frozen=True)
class Weighted:
    """``A.multiply(x)``, kept as the vector of its entries; ``pattern`` is the name of ``A``."""

    kind: type
    pattern: str
