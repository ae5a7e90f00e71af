"""What emitted code imports: broadcasting undone, cotangents of containers, transposes of NumPy's linear functions.

Needs NumPy and nothing else, so that a saved gradient runs without the compiler.  ``un-`` names a transpose:
``unbroadcast``, ``unreduce``, ``untake``.  Every function here has a rule of its own or is a declared constant
(``srcgrad.rules.runtime``), so that emitted code can be differentiated again.

Each name is imported from its module when it is first asked for: ``import srcgrad`` needs a few of these modules, a
saved gradient those that it names.
"""

# ruff: noqa: F403
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srcgrad.runtime.attempts import *
    from srcgrad.runtime.batches import *
    from srcgrad.runtime.broadcasting import *
    from srcgrad.runtime.chains import *
    from srcgrad.runtime.checkpoints import *
    from srcgrad.runtime.closures import *
    from srcgrad.runtime.containers import *
    from srcgrad.runtime.convolution import *
    from srcgrad.runtime.cotangents import *
    from srcgrad.runtime.cumulative import *
    from srcgrad.runtime.decompositions import *
    from srcgrad.runtime.defaults import *
    from srcgrad.runtime.determinants import *
    from srcgrad.runtime.doors import *
    from srcgrad.runtime.einsum import *
    from srcgrad.runtime.elementwise import *
    from srcgrad.runtime.exact import *
    from srcgrad.runtime.extrema import *
    from srcgrad.runtime.fields import *
    from srcgrad.runtime.finite_differences import *
    from srcgrad.runtime.following import *
    from srcgrad.runtime.fourier import *
    from srcgrad.runtime.gathering import *
    from srcgrad.runtime.interpolation import *
    from srcgrad.runtime.isolation import *
    from srcgrad.runtime.joining import *
    from srcgrad.runtime.mirrors import *
    from srcgrad.runtime.norms import *
    from srcgrad.runtime.objects import *
    from srcgrad.runtime.outputs import *
    from srcgrad.runtime.overlaps import *
    from srcgrad.runtime.places import *
    from srcgrad.runtime.polynomials import *
    from srcgrad.runtime.products import *
    from srcgrad.runtime.reducing import *
    from srcgrad.runtime.refusals import *
    from srcgrad.runtime.repeating import *
    from srcgrad.runtime.replacing import *
    from srcgrad.runtime.segments import *
    from srcgrad.runtime.sequences import *
    from srcgrad.runtime.shadows import *
    from srcgrad.runtime.shaping import *
    from srcgrad.runtime.special import *
    from srcgrad.runtime.statistics import *
    from srcgrad.runtime.strong_zeros import *
    from srcgrad.runtime.systems import *
    from srcgrad.runtime.tangents import *

#: Module by module, what emitted code may name.
_NAMES = {
    "attempts": (
        "asked attempt attempt_store attempt_whole raisable raised_augmenting raised_in_place "
        "raised_by_manager raised_entering raised_iterating left_early readable tried"
    ),
    "batches": (
        "each_example number_of_examples numbers_apart of_numbers over_batch over_examples require_examples "
        "unbroadcast_each with_rank zeros_over_batch"
    ),
    "broadcasting": "rebroadcast unbroadcast",
    "chains": "corner doubled multi_dot_slope undoubled unmulti_dot",
    "checkpoints": "keeping reversal stretches",
    "closures": "Closure closure is_made_of made_of one_for units unwritten",
    "containers": (
        "all_places are_numbers argsorted chosen chosen_number dtype_of_first gather is_exact operand pack_like "
        "places_of rearray shortest spread tolist total unarray ungather unpack_like "
        "widened"
    ),
    "convolution": "kaiser_abscissas unconvolve uncorrelate_left uncorrelate_right",
    "cotangents": "add add_at as_list kept or_zeros own retake snapshot unshared untake zeros_like",
    "cumulative": "others recurrence running_product shifted uncumsum with_initial without_initial",
    "decompositions": (
        "anchors basis_free extreme_share from_triangle half_triangle hermitian_sum keep_real matching "
        "outside over_gaps pair_differences phase_free polar ratio scaled solve_triangle to_triangle twist "
        "unkeep_real unpair_differences weighted widen"
    ),
    "defaults": "defaulting",
    "determinants": "cofactor",
    "doors": (
        "StopsGradients as_cotangent entered is_mapping is_sequence leaving once require_arithmetic "
        "require_bound_of_slice require_count require_entry "
        "require_keys require_kept require_matrix require_wide "
        "require_key require_length require_mapping require_new require_no_object require_number require_places "
        "require_real stop_gradient unvaried"
    ),
    "einsum": "transposed_subscripts uneinsum written_subscripts",
    "elementwise": (
        "angle_slope half_circle is_above is_below is_within masked power_partial prevails quotient "
        "safe_divide share where_finite wins"
    ),
    "exact": "kind_of require_exact require_kind require_plain",
    "extrema": "exp_share initial_share latest ties",
    "fields": "field field_of holds_field unfield",
    "finite_differences": (
        "cut differences end_length end_size gradient_axis midpoints one_spacing_only placed slope_leaning "
        "slope_places step_sizes turns undiff undifferences unediff1d ungradient unmidpoints unstep_sizes"
    ),
    "following": "alongside followed step",
    "fourier": "fitted signal_length unfftn unifftn unirfftn unrfftn weighted_bins",
    "gathering": (
        "arranging compressed item permute_along pick rechoose selected sorting span_of unchoose undiag "
        "undiagonal unpermute_along unpick untake_along untake_axis untrace"
    ),
    "interpolation": "is_between is_replaced knots_around laps",
    "isolation": "placed_alone private require_apart unprivate",
    "joining": (
        "join_columns join_rows reinsert_values unappend unblock uncolumn_stack unconcatenate undstack unhstack "
        "uninsert uninsert_values unjoin_columns unjoin_rows unsplit unstack unvstack"
    ),
    "mirrors": (
        "as_given as_stored each_once frozen given_to held_before held_inside items_like own_adjoint "
        "part_like put_back rest_like unrest where_first"
    ),
    "norms": "from_matrices norm_shares norm_slope safe_power to_matrices vector_axis",
    "objects": (
        "attribute bound handed made never require_assigned require_fields "
        "require_given require_hashed"
    ),
    "outputs": (
        "require_alike require_cast require_elements require_items require_memory "
        "require_output require_signed"
    ),
    "overlaps": "require_disjoint require_order",
    "places": (
        "along_places at_mask diagonal_places flat_places mask_places off_mask place_in_memory require_rows shuffled "
        "where_places"
    ),
    "polynomials": (
        "column division normal_solve polyslope root_count tail uncolumn unconstants undivision unpolyder "
        "unpolyint unpolymul unpolyval"
    ),
    "products": (
        "uncross_left uncross_right undot_left undot_right uninner_left uninner_right unkron_left "
        "unkron_right unmatmul_left unmatmul_right unouter_left unouter_right untensordot_left "
        "unproduct untensordot_right unvdot_left unvdot_right unvecdot_left unvecdot_right"
    ),
    "reducing": "count deviation if_floating in_dtype present spread_numbers unreduce",
    "refusals": "RefusedMode",
    "repeating": "repad repad_chosen repad_values unpad unpad_chosen unpad_values unrepeat unresize untile unwindow",
    "replacing": "lasting replaced_at",
    "segments": "lifted segment_ties unlifted unreduceat",
    "sequences": (
        "from_pairs joined keyed merged remerged repairs repeated union unjoined unkeyed unmerged unpairs "
        "unqueue unrepeated"
    ),
    "shadows": "accumulate claim separate shadow taken untaken view_like",
    "shaping": (
        "astype exponents intervals memory_axes memory_order mesh reastype unastype unmesh unpermute "
        "unrollaxis"
    ),
    "special": "bessel_i polygamma sinc_slope",
    "statistics": (
        "aligned freedom from_bins into_bins leading observations observed or_ones unaligned unleading "
        "unobservations unweighed weighed"
    ),
    "strong_zeros": "if_defined if_nonzero where_defined where_nonzero",
    "systems": (
        "as_columns axes_at_end column_sums from_columns least_squares_cutoff of_distinct require_distinct "
        "uncolumn_sums whole_inverse"
    ),
    "tangents": (
        "entering float_tangent fresh items_moved like_own stored tangent_like unpart_like unview view_moved"
    ),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """What emitted code names, from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
