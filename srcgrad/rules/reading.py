"""What a template reads: values, or shapes only.

One fact, two uses: what the compiler records, and what the eager machine saves.  A name is read for its shape where it
stands alone as such an argument: ``np.shape(a)``, the second argument of ``unbroadcast(g, a)``.  Shape means all that
zeros of the same kind would tell: structure, shape, dtype.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.rules.formula import object_of
from srcgrad.runtime import neural_losses
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children

SHAPE_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype"})

#: function -> the positions of the arguments of which it reads the shape only.
SHAPE_ONLY: dict[Callable[..., object], tuple[int, ...]] = {
    runtime.end_length: (0,),
    runtime.end_size: (0,),
    runtime.gradient_axis: (0,),
    runtime.slope_leaning: (0,),
    runtime.slope_places: (0,),
    runtime.or_ones: (1,),
    runtime.aligned: (1,),
    runtime.cut: (1,),
    runtime.observed: (1,),
    runtime.placed: (1,),
    runtime.unediff1d: (1,),
    runtime.ungradient: (1,),
    runtime.unlifted: (1,),
    runtime.unmidpoints: (1,),
    runtime.unobservations: (1,),
    runtime.lifted: (1,),
    runtime.leading: (1,),
    runtime.unleading: (1,),
    runtime.unreduceat: (1,),
    runtime.with_initial: (1,),
    runtime.without_initial: (1,),
    runtime.step_sizes: (1,),
    runtime.unaligned: (1, 2),
    runtime.unstep_sizes: (1, 2),
    np.shape: (0,),
    np.ndim: (0,),
    np.size: (0,),
    len: (0,),
    operator.length_hint: (0,),
    np.zeros_like: (0,),
    np.ones_like: (0,),
    np.empty_like: (0,),
    runtime.zeros_like: (0,),
    runtime.count: (0,),
    runtime.vector_axis: (0,),
    runtime.uncorrelate_right: (2,),
    runtime.division: (2,),
    runtime.signal_length: (0,),
    runtime.root_count: (0,),
    **dict.fromkeys(
        (runtime.as_columns, runtime.from_columns, runtime.column_sums, runtime.uncolumn_sums, runtime.from_matrices),
        (1,),
    ),
    runtime.unpair_differences: (1,),
    neural_losses.unembedding: (1,),
    runtime.least_squares_cutoff: (1,),
    runtime.undot_right: (2,),
    runtime.uninner_right: (2,),
    runtime.unmatmul_right: (2,),
    runtime.unproduct: (2,),
    runtime.unouter_right: (2,),
    runtime.untensordot_right: (2,),
    runtime.uncross_right: (2,),
    runtime.unkron_right: (2,),
    runtime.unvdot_right: (2,),
    runtime.unvecdot_right: (2,),
    **dict.fromkeys(
        (
            runtime.column,
            runtime.fitted,
            runtime.pack_like,
            runtime.rearray,
            runtime.rebroadcast,
            runtime.spread,
            runtime.tail,
            runtime.total,
            runtime.unarray,
            runtime.unbroadcast,
            runtime.uncolumn,
            runtime.unconstants,
            runtime.unconvolve,
            runtime.uncorrelate_left,
            runtime.uncross_left,
            runtime.uncumsum,
            runtime.undiff,
            runtime.undivision,
            runtime.undot_left,
            runtime.uneinsum,
            runtime.unfftn,
            runtime.ungather,
            runtime.unifftn,
            runtime.uninner_left,
            runtime.unirfftn,
            runtime.unkron_left,
            runtime.unmatmul_left,
            runtime.unouter_left,
            runtime.unpack_like,
            runtime.unpolyder,
            runtime.unpolyint,
            runtime.unpolymul,
            runtime.unpolyval,
            runtime.unreduce,
            runtime.unrfftn,
            runtime.untake,
            runtime.untensordot_left,
            runtime.unvdot_left,
            runtime.unvecdot_left,
        ),
        (1,),
    ),
    # what moves, joins, repeats and picks elements
    runtime.exponents: (0,),
    runtime.unchoose: (2,),
    **dict.fromkeys((runtime.unappend, runtime.uninsert, runtime.uninsert_values, runtime.unpad_values), (1, 2)),
    **dict.fromkeys(
        (
            runtime.mesh,
            runtime.reastype,
            runtime.reinsert_values,
            runtime.repad,
            runtime.repad_values,
            runtime.selected,
            runtime.unastype,
            runtime.unblock,
            runtime.uncolumn_stack,
            runtime.unconcatenate,
            runtime.undiag,
            runtime.undiagonal,
            runtime.undstack,
            runtime.unhstack,
            runtime.unjoin_columns,
            runtime.unjoin_rows,
            runtime.unmesh,
            runtime.unpad,
            runtime.unpermute_along,
            runtime.unpick,
            runtime.unrepeat,
            runtime.unresize,
            runtime.unsplit,
            runtime.unstack,
            runtime.untake_along,
            runtime.untake_axis,
            runtime.untile,
            runtime.untrace,
            runtime.unvstack,
            runtime.unwindow,
        ),
        (1,),
    ),
}


def readings(expressions: Iterable[gast.expr]) -> tuple[set[str], set[str]]:
    """The names whose values, and those of which only shapes, are read."""
    values: set[str] = set()
    shapes: set[str] = set()
    pending: list[gast.AST] = list(expressions)
    while pending:
        node = pending.pop()
        match node:
            case GlobalReference():
                pass
            case gast.Name(id=name):
                values.add(name)
            case gast.Attribute(
                value=gast.Name(id=name) as owner, attr=attr
            ) if attr in SHAPE_ATTRIBUTES and not isinstance(owner, GlobalReference):
                shapes.add(name)
            case gast.Call():
                positions = shape_positions(object_of(node.func))
                for position, argument in enumerate(node.args):
                    if position in positions and _is_local(argument):
                        shapes.add(argument.id)
                    else:
                        pending.append(argument)
                pending.extend(keyword.value for keyword in node.keywords)
                pending.append(node.func)
            case _:
                pending.extend(children(node))
    return values, shapes - values


def _is_local(node: gast.AST) -> bool:
    return isinstance(node, gast.Name) and not isinstance(node, GlobalReference)


def shape_positions(function: object) -> tuple[int, ...]:
    """The positions of the arguments of which ``function`` reads the shape only."""
    try:
        return SHAPE_ONLY.get(function, ())  # type: ignore[call-overload, no-any-return]
    except TypeError:
        return ()


def reads_shape(function: Callable[..., object], *positions: int) -> None:
    """Declare of which arguments a function of an optional library reads the shape only."""
    SHAPE_ONLY[function] = positions
