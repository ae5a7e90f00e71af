"""Discrete Fourier, cosine and sine transforms of scipy.fft."""

from __future__ import annotations
