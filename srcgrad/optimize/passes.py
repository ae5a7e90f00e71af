"""The order of the passes."""

from __future__ import annotations

from collections.abc import Callable

import gast


def optimize(
    function: gast.FunctionDef, temporaries: frozenset[str], *, pure: Callable[[gast.expr], bool] | None = None
) -> gast.FunctionDef:
    """The same function in fewer and plainer statements."""
    return function
