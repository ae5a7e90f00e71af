"""Joint programs made short: fold, tidy and prune, to a structural fixed point."""

from srcgrad.optimize.passes import optimize

__all__ = ["optimize"]
