"""Rules of what programs over a batch call: repeating along it and summing over it are each other's transpose."""

# Templates are read as text and carry no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,return"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.table import constant, linear, refused
from srcgrad.runtime import number_of_examples, over_batch, over_examples, rebroadcast, with_rank

constant(runtime.number_of_examples, runtime.zeros_over_batch, runtime.require_examples)


@linear(runtime.over_batch, "x")
def over_batch_(x, size, carried=True, *, y, y_bar):
    """Repeated for each example; summed over the examples."""
    return over_examples(y_bar, x, carried)


@linear(runtime.over_examples, "g")
def over_examples_(g, x, carried=True, *, y, y_bar):
    """Summed over the examples; repeated for each."""
    return over_batch(y_bar, number_of_examples(g, carried), carried)


@linear(runtime.with_rank, "x")
def with_rank_(x, rank, *, y, y_bar):
    """Axes of length one; without them again."""
    return np.reshape(y_bar, np.shape(x))


@linear(runtime.numbers_apart, "x")
def numbers_apart_(x, *, y, y_bar):
    """The same."""
    return y_bar


@linear(runtime.unbroadcast_each, "g")
def unbroadcast_each_(g, like, batched=True, *, y, y_bar):
    """Summed down for each example; back up again."""
    return rebroadcast(with_rank(y_bar, np.ndim(g)), g)


refused(
    "E0205", "it calls a function for each example of a batch",
    runtime.each_example,
    runtime.of_numbers,
    hint="differentiate the function of one example, and take vmap of its derivative",
)
