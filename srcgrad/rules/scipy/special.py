"""Special functions of scipy.special."""

from __future__ import annotations
