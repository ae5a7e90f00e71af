"""Elements of an array replaced by others: stores as expressions."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.table import constant, rule
from srcgrad.runtime import lasting, replaced_at, unbroadcast, zeros_like

constant(lasting)


@rule(replaced_at)
def replaced_at_(x, index, value, *, y, y_bar):
    """What is replaced loses its cotangent to what replaces it; of several values for one place the last has it."""
    return (
        replaced_at(y_bar, index, 0.0),
        None,
        unbroadcast(y_bar[index] * lasting(y_bar, index), value),
    )


@replaced_at_.tangent
def replaced_at_(x, index, value, *, y, x_dot, value_dot):
    return replaced_at(x_dot, index, 0.0), replaced_at(zeros_like(y), index, value_dot)


@replaced_at_.infer
def replaced_at_(arguments, literals):
    x = as_array(arguments["x"])
    return Array(x.shape, x.dtype)


