"""Convolution, correlation and linear filters of scipy.signal."""

from __future__ import annotations
