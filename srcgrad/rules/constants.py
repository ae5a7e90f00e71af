"""What carries no derivative: comparisons, shape queries, rounding, integer functions, random draws, text.

A function is constant where its derivative is zero wherever it exists (``np.floor``), or where its result is no real
number.  Printing and other effects are not here: they are statements, not values.
"""

# The stubs do not know np.test.
# mypy: disable-error-code="attr-defined"
from __future__ import annotations

import bisect
import cmath
import dataclasses
import math
import operator

import numpy as np

from srcgrad import runtime
from srcgrad.rules.table import constant

# comparisons and logic
constant(
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.is_, operator.is_not,
    operator.not_, operator.contains, operator.invert, operator.and_, operator.or_, operator.xor, operator.lshift,
    operator.rshift, operator.index, operator.truth,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.array_equal, np.array_equiv,
    np.allclose, np.isclose, math.isclose, np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.all,
    np.any,
    np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf, np.isreal, np.iscomplex, np.isrealobj, np.iscomplexobj,
    np.isscalar, np.signbit, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.bitwise_count, np.invert, np.left_shift,
    np.right_shift, np.isnat, math.isnan, math.isinf, math.isfinite, np.isin, any, all,
    cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan,
)  # fmt: skip

if hasattr(np, "in1d"):  # until NumPy 2.3
    constant(np.in1d)

# shapes and kinds
constant(
    np.shape, np.ndim, np.size, len, np.result_type, np.einsum_path,
    np.promote_types, np.can_cast, np.issubdtype, np.dtype, np.iinfo,
    *(getattr(np.dtypes, name) for name in np.dtypes.__all__),
    np.lib.array_utils.normalize_axis_index, np.lib.array_utils.normalize_axis_tuple,
    np.finfo, np.broadcast_shapes, np.shares_memory, np.may_share_memory, operator.length_hint,
    isinstance, issubclass, type, callable, hasattr, id, hash, repr, str, format, ord, chr, ascii, bytes,
    dataclasses.fields, dataclasses.is_dataclass,
)  # fmt: skip

# rounding and integers
constant(
    np.floor, np.ceil, np.rint, np.trunc, np.fix, np.round, np.around,
    math.floor, math.ceil, math.trunc, math.gcd, math.lcm, math.comb, math.perm, math.factorial, math.isqrt, round,
    int, bool, range, slice, np.gcd, np.lcm, np.spacing, math.ulp,
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.intp,
)  # fmt: skip

# positions
constant(
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argwhere, np.argpartition, np.nonzero,
    np.flatnonzero, np.count_nonzero, np.searchsorted, np.digitize, np.unravel_index, np.ravel_multi_index,
    np.indices, np.tril_indices, np.tril_indices_from, np.triu_indices, np.triu_indices_from, np.diag_indices,
    np.diag_indices_from, np.mask_indices, np.lexsort, np.ndindex, np.packbits, np.unpackbits,
)  # fmt: skip

constant(np.errstate)

# text, files that are read, dates, settings and types
constant(
    np.array2string, np.array_repr, np.array_str, np.base_repr, np.binary_repr, np.format_float_positional,
    np.format_float_scientific, np.typename, np.mintypecode, np.min_scalar_type, np.common_type, np.isdtype,
    np.isfortran, np.iterable, np.info, np.get_include, np.show_config, np.show_runtime, np.test, np.linalg.test,
    np.random.test, np.fromfile, np.fromregex, np.fromstring, np.genfromtxt, np.load, np.loadtxt, np.memmap,
    np.busday_count, np.busday_offset, np.busdaycalendar, np.is_busday, np.datetime64, np.datetime_as_string,
    np.datetime_data, np.timedelta64, np.get_printoptions, np.set_printoptions, np.printoptions, np.getbufsize,
    np.setbufsize, np.geterr, np.seterr, np.geterrcall, np.seterrcall, np.ufunc, np.generic, np.number, np.integer,
    np.signedinteger, np.unsignedinteger, np.inexact, np.floating, np.complexfloating, np.flexible, np.character,
    np.bytes_, np.str_, np.longlong, np.ulonglong,
)  # fmt: skip

# windows of an integer length; the tests of a module
constant(np.bartlett, np.blackman, np.hamming, np.hanning, np.fft.test)

# places in sorted lists
constant(bisect.bisect_left, bisect.bisect_right)

# of the runtime
constant(
    runtime.all_places, runtime.are_numbers, runtime.dtype_of_first,
    runtime.chosen, runtime.chosen_number, runtime.argsorted, runtime.shortest, runtime.places_of, runtime.is_above,
    runtime.is_below, runtime.is_exact, runtime.is_within, runtime.attribute, runtime.made, runtime.require_apart,
    runtime.RefusedMode, runtime.require_arithmetic, runtime.require_count,
    runtime.require_exact, runtime.kind_of, runtime.require_kind,
    runtime.require_plain, runtime.require_length,
    runtime.require_mapping, runtime.require_new,
    runtime.require_no_object, runtime.require_order, runtime.require_disjoint,
    runtime.require_number, runtime.require_real, runtime.require_output, runtime.require_key,
    runtime.require_keys, runtime.require_places,
    runtime.require_bound_of_slice, runtime.require_cast, runtime.require_items, runtime.require_alike,
    runtime.require_memory, runtime.require_elements, runtime.require_signed, runtime.require_assigned,
    runtime.require_hashed,
    runtime.require_entry, runtime.require_fields, runtime.never,
    runtime.require_kept, runtime.require_matrix, runtime.require_wide,
    runtime.stop_gradient, runtime.transposed_subscripts,
    runtime.written_subscripts, runtime.wins, runtime.prevails, runtime.zeros_like, runtime.closure, runtime.one_for,
    runtime.unvaried,
    runtime.units, runtime.once, runtime.entered, runtime.attempt, runtime.attempt_store, runtime.attempt_whole,
    runtime.defaulting, runtime.raisable, runtime.raised_in_place, runtime.raised_augmenting, runtime.raised_iterating,
    runtime.asked, runtime.readable, runtime.alongside, runtime.followed, runtime.step, runtime.keeping,
    runtime.reversal, runtime.stretches,
    runtime.is_mapping, runtime.holds_field,
    runtime.is_sequence, runtime.is_made_of, runtime.made_of, runtime.unwritten, runtime.leaving,
    runtime.require_given,
    runtime.bound, runtime.tried, runtime.raised_by_manager, runtime.left_early,
    runtime.raised_entering,
)  # fmt: skip


# lengths of transforms and filters
constant(runtime.kaiser_abscissas, runtime.root_count, runtime.signal_length)
