"""Rules of the runtime's places in arrays: what is selected under a mask, and its transpose."""

# Templates are read as text and carry no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from srcgrad import runtime
from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.table import constant, linear
from srcgrad.runtime import at_mask, off_mask

constant(
    runtime.along_places, runtime.diagonal_places, runtime.flat_places, runtime.mask_places, runtime.place_in_memory,
    runtime.require_rows, runtime.shuffled, runtime.where_places,
)  # fmt: skip


def _selected(arguments, literals):
    x = as_array(arguments["x"])
    return x if x.scalar else Array((None,) if x.shape else None, x.dtype, real=x.real)


@linear(at_mask, "x")
def at_mask_(x, mask, *, y, y_bar):
    """The elements under a mask; put back under it."""
    return off_mask(y_bar, x, mask)


@linear(off_mask, "g")
def off_mask_(g, x, mask, *, y, y_bar):
    """Put back under a mask; selected again."""
    return at_mask(y_bar, mask)


at_mask_.infer(_selected)
