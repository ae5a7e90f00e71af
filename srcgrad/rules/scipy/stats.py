"""Densities and distribution functions of scipy.stats."""

from __future__ import annotations
