"""The functions of the module, by theme; importing this package registers them all."""

from srcgrad.eager.operations import (
    arithmetic,
    comparing,
    conversion,
    creation,
    drawing,
    filling,
    graph_state,
    indexing,
    inplace,
    joining,
    matrix,
    members,
    pointwise,
    ranking,
    reductions,
    shaping,
)
from srcgrad.eager.operations.creation import copied

__all__ = [
    "arithmetic",
    "comparing",
    "conversion",
    "copied",
    "creation",
    "drawing",
    "filling",
    "graph_state",
    "indexing",
    "inplace",
    "joining",
    "matrix",
    "members",
    "pointwise",
    "ranking",
    "reductions",
    "shaping",
]
