"""What emitted code imports: broadcasting undone, cotangents of containers, transposes of NumPy's linear functions.

Needs NumPy and nothing else, so that a saved gradient runs without the compiler.  ``un-`` names a transpose:
``unbroadcast``, ``unreduce``, ``untake``.  Every function here has a rule of its own or is a declared constant
(``srcgrad.rules.runtime``), so that emitted code can be differentiated again.
"""

from srcgrad.runtime.broadcasting import rebroadcast, unbroadcast
from srcgrad.runtime.chains import corner, doubled, multi_dot_slope, undoubled, unmulti_dot
from srcgrad.runtime.attempts import (
    asked,
    attempt,
    attempt_store,
    attempt_whole,
    raisable,
    raised_augmenting,
    raised_iterating,
    raised_in_place,
    readable,
)
from srcgrad.runtime.defaults import defaulting, require_factory
from srcgrad.runtime.closures import Closure, closure, is_made_of, made_of, one_for, units, unwritten
from srcgrad.runtime.containers import (
    all_places, argsorted, chosen, chosen_number, dtype_of_first, gather, is_exact, operand, pack_like, places_of,
    rearray, require_stores, require_unshared, shortest, spread, tolist, total, unarray, ungather, unpack_like,
)  # fmt: skip
from srcgrad.runtime.convolution import kaiser_abscissas, unconvolve, uncorrelate_left, uncorrelate_right
from srcgrad.runtime.cotangents import add, add_at, as_list, kept, own, retake, snapshot, unshared, untake
from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.cumulative import (
    others, recurrence, running_product, shifted, uncumsum, with_initial, without_initial,
)  # fmt: skip
from srcgrad.runtime.decompositions import (
    anchors, basis_free, extreme_share, from_triangle, half_triangle, hermitian_sum, keep_real, matching, outside,
    over_gaps, pair_differences, phase_free, polar, ratio, scaled, to_triangle, twist, unkeep_real,
    unpair_differences, weighted, widen,
)  # fmt: skip
from srcgrad.runtime.determinants import cofactor
from srcgrad.runtime.differences import (
    cut, differences, end_length, end_size, gradient_axis, midpoints, placed, slope_leaning, slope_places,
    step_sizes, turns, undiff, undifferences, unediff1d, ungradient, one_spacing_only, unmidpoints, unstep_sizes,
)  # fmt: skip
from srcgrad.runtime.doors import (
    StopsGradients, as_cotangent, entered, is_mapping, is_sequence, leaving, once, require_data, require_item,
    require_length,
    require_kept,
    require_bound_of_slice,
    require_key, require_no_object, require_number, require_places, require_row, require_rows, require_set,
    require_some, rewound, require_count, require_new,
    stop_gradient, unvaried,
)  # fmt: skip
from srcgrad.runtime.einsum import transposed_subscripts, uneinsum, written_subscripts
from srcgrad.runtime.elementwise import (
    angle_slope, half_circle, is_above, is_below, is_within, masked, power_partial, prevails, quotient, safe_divide,
    share, where_finite, wins,
)  # fmt: skip
from srcgrad.runtime.exact import require_exact
from srcgrad.runtime.extrema import exp_share, initial_share, latest, ties
from srcgrad.runtime.fields import field, field_of, unfield
from srcgrad.runtime.following import followed, step
from srcgrad.runtime.fourier import fitted, signal_length, unfftn, unifftn, unirfftn, unrfftn, weighted_bins
from srcgrad.runtime.gathering import (
    arranging, compressed, item, permute_along, pick, rechoose, selected, sorting, span_of, unchoose, undiag,
    undiagonal, unpermute_along, unpick, untake_along, untake_axis, untrace,
)  # fmt: skip
from srcgrad.runtime.interpolation import is_between, is_replaced, knots_around, laps
from srcgrad.runtime.joining import (
    join_columns, join_rows, unappend, unblock, uncolumn_stack, unconcatenate, undstack, unhstack, uninsert,
    uninsert_values, unjoin_columns, unjoin_rows, unsplit, unstack, unvstack,
)  # fmt: skip
from srcgrad.runtime.mirrors import (
    as_given, as_stored, each_once, frozen, given_to, held_before, held_inside, items_like, own_adjoint, part_like,
    put_back, rest_like, unrest, where_first,
)  # fmt: skip
from srcgrad.runtime.norms import from_matrices, norm_shares, norm_slope, safe_power, to_matrices, vector_axis
from srcgrad.runtime.objects import (
    attribute, bound, is_bound, made, never, require_bound, require_defined, require_fields, require_not_none,
    require_reflected,
)  # fmt: skip
from srcgrad.runtime.outputs import require_cast, require_output, require_signed
from srcgrad.runtime.overlaps import require_disjoint, require_order
from srcgrad.runtime.places import (
    along_places, at_mask, diagonal_places, flat_places, mask_places, off_mask, shuffled, where_places,
)  # fmt: skip
from srcgrad.runtime.polynomials import (
    column, division, normal_solve, polyslope, root_count, tail, uncolumn, unconstants, undivision, unpolyder,
    unpolyint, unpolymul, unpolyval,
)  # fmt: skip
from srcgrad.runtime.private import placed_alone, private, require_apart, unprivate
from srcgrad.runtime.products import (
    uncross_left, uncross_right, undot_left, undot_right, uninner_left, uninner_right, unkron_left, unkron_right,
    unmatmul_left, unmatmul_right, unouter_left, unouter_right, untensordot_left, untensordot_right, unvdot_left,
    unvdot_right, unvecdot_left, unvecdot_right,
)  # fmt: skip
from srcgrad.runtime.reducing import count, deviation, if_floating, in_dtype, present, spread_numbers, unreduce
from srcgrad.runtime.repeating import (
    repad, repad_chosen, repad_values, unpad, unpad_chosen, unpad_values, unrepeat, unresize, untile, unwindow,
)  # fmt: skip
from srcgrad.runtime.replacing import lasting, replaced_at
from srcgrad.runtime.segments import lifted, segment_ties, unlifted, unreduceat
from srcgrad.runtime.shadows import accumulate, claim, separate, shadow, taken, untaken, view_like
from srcgrad.runtime.sequences import (
    from_pairs, joined, keyed, merged, remerged, repairs, repeated, union, unjoined, unkeyed, unmerged, unpairs,
    unqueue, unrepeated,
)  # fmt: skip
from srcgrad.runtime.shaping import (
    astype, exponents, intervals, memory_axes, memory_order, mesh, reastype, unastype, unmesh, unpermute,
    unrollaxis,
)  # fmt: skip
from srcgrad.runtime.special import bessel_i, polygamma, sinc_slope
from srcgrad.runtime.statistics import (
    aligned, freedom, from_bins, into_bins, leading, observations, observed, or_ones, unaligned, unleading,
    unobservations, unweighed, weighed,
)  # fmt: skip
from srcgrad.runtime.tangents import (
    entering, float_tangent, fresh, items_moved, like_own, stored, tangent_like, unpart_like, unview, view_moved,
)  # fmt: skip
from srcgrad.runtime.strong_zeros import if_defined, if_nonzero, where_defined, where_nonzero
from srcgrad.runtime.systems import (
    as_columns, axes_at_end, column_sums, from_columns, least_squares_cutoff, of_distinct, require_distinct,
    uncolumn_sums, whole_inverse,
)  # fmt: skip

__all__ = [
    "Closure", "StopsGradients", "accumulate", "add", "add_at", "aligned", "all_places", "along_places", "anchors",
    "angle_slope", "argsorted", "arranging", "as_columns", "as_cotangent", "as_given", "as_list", "as_stored", "asked",
    "astype", "at_mask", "attempt", "attempt_store", "attempt_whole", "attribute", "axes_at_end", "basis_free",
    "bessel_i", "bound", "chosen", "chosen_number", "claim", "closure", "cofactor", "column", "column_sums",
    "compressed", "corner", "count", "cut", "defaulting", "deviation", "diagonal_places", "differences", "division",
    "doubled", "dtype_of_first", "each_once", "end_length", "end_size", "entered", "entering", "exp_share",
    "exponents", "extreme_share", "field", "field_of", "fitted", "flat_places", "float_tangent", "followed", "freedom",
    "fresh",
    "from_bins", "from_columns", "from_matrices", "from_pairs", "from_triangle", "frozen", "gather", "given_to",
    "gradient_axis", "half_circle", "half_triangle", "held_before", "held_inside", "hermitian_sum", "if_defined",
    "if_floating", "if_nonzero", "in_dtype", "initial_share", "intervals", "into_bins", "is_above", "is_below",
    "is_between", "is_bound", "is_exact", "is_made_of", "is_mapping", "is_replaced", "is_sequence", "is_within",
    "item", "items_like", "items_moved", "join_columns", "join_rows", "joined", "kaiser_abscissas", "keep_real",
    "kept", "keyed", "knots_around", "laps", "lasting", "latest", "leading", "least_squares_cutoff", "leaving",
    "lifted", "like_own", "made", "made_of", "mask_places", "masked", "matching", "memory_axes", "memory_order",
    "merged", "mesh", "midpoints", "multi_dot_slope", "never", "norm_shares", "norm_slope", "normal_solve",
    "observations", "observed", "of_distinct", "off_mask", "once", "one_for", "one_spacing_only", "operand", "or_ones",
    "others", "outside", "over_gaps", "own", "own_adjoint", "pack_like", "pair_differences", "part_like",
    "permute_along", "phase_free", "pick", "placed", "placed_alone", "places_of", "polar", "polygamma", "polyslope",
    "power_partial", "present", "prevails", "private", "put_back", "quotient", "raisable", "raised_augmenting",
    "raised_in_place", "raised_iterating", "readable",
    "ratio", "rearray", "reastype", "rebroadcast", "rechoose", "recurrence", "remerged", "repad",
    "repad_chosen", "repad_values", "repairs", "repeated", "replaced_at", "require_apart", "require_bound",
    "require_count", "require_data", "require_disjoint", "require_distinct", "require_exact", "require_factory",
    "require_fields", "require_item", "require_kept", "require_key", "require_length", "require_new",
    "require_bound_of_slice", "require_cast", "require_signed", "require_not_none", "require_defined",
    "require_no_object", "require_number", "require_order", "require_output", "require_places", "require_reflected",
    "require_row", "require_rows", "require_set", "require_some", "require_stores",
    "require_unshared", "rest_like", "retake", "rewound",
    "root_count", "running_product", "safe_divide", "safe_power", "scaled", "segment_ties", "selected", "separate",
    "shadow", "share", "shifted", "shortest", "shuffled", "signal_length", "sinc_slope", "slope_leaning",
    "slope_places", "snapshot", "sorting", "span_of", "spread", "spread_numbers", "step", "step_sizes", "stop_gradient",
    "stored", "tail", "taken", "tangent_like", "ties", "to_matrices", "to_triangle", "tolist", "total",
    "transposed_subscripts", "turns", "twist", "unaligned", "unappend", "unarray", "unastype", "unblock",
    "unbroadcast", "unchoose", "uncolumn", "uncolumn_stack", "uncolumn_sums", "unconcatenate", "unconstants",
    "unconvolve", "uncorrelate_left", "uncorrelate_right", "uncross_left", "uncross_right", "uncumsum", "undiag",
    "undiagonal", "undiff", "undifferences", "undivision", "undot_left", "undot_right", "undoubled", "undstack",
    "unediff1d", "uneinsum", "unfftn", "unfield", "ungather", "ungradient", "unhstack", "unifftn", "uninner_left",
    "uninner_right", "uninsert", "uninsert_values", "union", "unirfftn", "units", "unjoin_columns", "unjoin_rows",
    "unjoined", "unkeep_real", "unkeyed", "unkron_left", "unkron_right", "unleading", "unlifted", "unmatmul_left",
    "unmatmul_right", "unmerged", "unmesh", "unmidpoints", "unmulti_dot", "unobservations", "unouter_left",
    "unouter_right", "unpack_like", "unpad", "unpad_chosen", "unpad_values", "unpair_differences", "unpairs",
    "unpart_like", "unpermute", "unpermute_along", "unpick", "unpolyder", "unpolyint", "unpolymul", "unpolyval",
    "unprivate", "unqueue", "unreduce", "unreduceat", "unrepeat", "unrepeated", "unresize", "unrest", "unrfftn",
    "unrollaxis", "unshared", "unsplit", "unstack", "unstep_sizes", "untake", "untake_along", "untake_axis", "untaken",
    "untensordot_left", "untensordot_right", "untile", "untrace", "unvaried", "unvdot_left", "unvdot_right",
    "unvecdot_left", "unvecdot_right", "unview", "unvstack", "unweighed", "unwindow", "unwritten", "vector_axis",
    "view_like", "view_moved", "weighed", "weighted", "weighted_bins", "where_defined", "where_finite", "where_first",
    "where_nonzero", "where_places", "whole_inverse", "widen", "wins", "with_initial", "without_initial",
    "written_subscripts", "zeros_like",
]  # fmt: skip
