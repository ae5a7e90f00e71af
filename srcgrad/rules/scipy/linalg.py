"""Matrix functions and structured solvers of scipy.linalg."""

from __future__ import annotations
