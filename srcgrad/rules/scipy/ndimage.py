"""Linear filters of scipy.ndimage."""

from __future__ import annotations
