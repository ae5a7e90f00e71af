"""Emitted functions made short, to a structural fixed point; those that are alike are kept once."""

from srcgrad.optimize.passes import optimize
from srcgrad.optimize.purity import enters
from srcgrad.optimize.twins import without_twins

__all__ = ["enters", "optimize", "without_twins"]
