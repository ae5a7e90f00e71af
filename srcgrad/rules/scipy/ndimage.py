"""Filters of scipy.ndimage with weights of the caller, and its filters of spectra.

A filter with ``mode="constant"`` adds what ``cval`` gives beyond the ends: its tangent is the same filter with zeros
there.  Filters of fixed weights are in ``smoothing``.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from scipy import ndimage

from srcgrad.rules.convolution import cotangent_of
from srcgrad.rules.facts import Array, as_array, is_floating
from srcgrad.rules.reading import reads_shape
from srcgrad.rules.table import constant, linear, refused, rule
from srcgrad.runtime import unbroadcast
from srcgrad.runtime.scipy import ndimage as transposes
from srcgrad.runtime.scipy.ndimage import (
    unconvolve,
    unconvolve1d,
    unconvolve1d_weights,
    unconvolve_weights,
    uncorrelate,
    uncorrelate1d,
    uncorrelate1d_weights,
    uncorrelate_weights,
    unrounded,
)


@linear(transposes.unrounded, "input")
def unrounded_(input, *, y, y_bar):
    """The array itself, which must be one of floating numbers."""
    return y_bar


# --- weights along one axis -------------------------------------------------------------------------------------------
@rule(ndimage.correlate1d)
def correlate1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, y_bar):
    """Sums of products with weights, which are conjugated, along one axis."""
    return (
        uncorrelate1d(y_bar, input, weights, axis, mode, origin),
        uncorrelate1d_weights(y_bar, input, weights, axis, mode, cval, origin),
    )


@correlate1d.tangent
def correlate1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, input_dot, weights_dot):
    return (
        ndimage.correlate1d(input_dot, weights, axis, mode=mode, origin=origin),
        ndimage.correlate1d(unrounded(input), weights_dot, axis, mode=mode, cval=cval, origin=origin),
    )


@linear(transposes.uncorrelate1d, "g", "weights")
def uncorrelate1d_(g, input, weights, axis=-1, mode="reflect", origin=0, *, y, y_bar):
    """The transpose by the array."""
    return (
        ndimage.correlate1d(y_bar, weights, axis, mode=mode, origin=origin),
        uncorrelate1d_weights(g, y_bar, weights, axis, mode, 0.0, origin),
    )


@rule(transposes.uncorrelate1d_weights)
def uncorrelate1d_weights_(g, input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, y_bar):
    """The transpose by the weights."""
    return (
        ndimage.correlate1d(input, y_bar, axis, mode=mode, cval=cval, origin=origin),
        uncorrelate1d(g, input, y_bar, axis, mode, origin),
    )


@uncorrelate1d_weights_.tangent
def uncorrelate1d_weights_(g, input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, g_dot, input_dot):
    return (
        uncorrelate1d_weights(g_dot, input, weights, axis, mode, cval, origin),
        uncorrelate1d_weights(g, input_dot, weights, axis, mode, 0.0, origin),
    )


@rule(ndimage.convolve1d)
def convolve1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, y_bar):
    """Sums of products with weights in reverse along one axis."""
    return (
        unconvolve1d(y_bar, input, weights, axis, mode, origin),
        unconvolve1d_weights(y_bar, input, weights, axis, mode, cval, origin),
    )


@convolve1d.tangent
def convolve1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, input_dot, weights_dot):
    return (
        ndimage.convolve1d(input_dot, weights, axis, mode=mode, origin=origin),
        ndimage.convolve1d(unrounded(input), weights_dot, axis, mode=mode, cval=cval, origin=origin),
    )


@linear(transposes.unconvolve1d, "g", "weights")
def unconvolve1d_(g, input, weights, axis=-1, mode="reflect", origin=0, *, y, y_bar):
    """The transpose by the array."""
    return (
        ndimage.convolve1d(y_bar, weights, axis, mode=mode, origin=origin),
        unconvolve1d_weights(g, y_bar, weights, axis, mode, 0.0, origin),
    )


@rule(transposes.unconvolve1d_weights)
def unconvolve1d_weights_(g, input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, y_bar):
    """The transpose by the weights."""
    return (
        ndimage.convolve1d(input, y_bar, axis, mode=mode, cval=cval, origin=origin),
        unconvolve1d(g, input, y_bar, axis, mode, origin),
    )


@unconvolve1d_weights_.tangent
def unconvolve1d_weights_(g, input, weights, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, g_dot, input_dot):
    return (
        unconvolve1d_weights(g_dot, input, weights, axis, mode, cval, origin),
        unconvolve1d_weights(g, input_dot, weights, axis, mode, 0.0, origin),
    )


# --- weights along several axes --------------------------------------------------------------------------------------
@rule(ndimage.correlate)
def correlate(input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, y_bar):
    """Sums of products with weights, which are conjugated."""
    return (
        uncorrelate(y_bar, input, weights, mode, origin, axes),
        uncorrelate_weights(y_bar, input, weights, mode, cval, origin, axes),
    )


@correlate.tangent
def correlate(input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, input_dot, weights_dot):
    return (
        ndimage.correlate(input_dot, weights, mode=mode, origin=origin, axes=axes),
        ndimage.correlate(unrounded(input), weights_dot, mode=mode, cval=cval, origin=origin, axes=axes),
    )


@linear(transposes.uncorrelate, "g", "weights")
def uncorrelate_(g, input, weights, mode="reflect", origin=0, axes=None, *, y, y_bar):
    """The transpose by the array."""
    return (
        ndimage.correlate(y_bar, weights, mode=mode, origin=origin, axes=axes),
        uncorrelate_weights(g, y_bar, weights, mode, 0.0, origin, axes),
    )


@rule(transposes.uncorrelate_weights)
def uncorrelate_weights_(g, input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, y_bar):
    """The transpose by the weights."""
    return (
        ndimage.correlate(input, y_bar, mode=mode, cval=cval, origin=origin, axes=axes),
        uncorrelate(g, input, y_bar, mode, origin, axes),
    )


@uncorrelate_weights_.tangent
def uncorrelate_weights_(g, input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, g_dot, input_dot):
    return (
        uncorrelate_weights(g_dot, input, weights, mode, cval, origin, axes),
        uncorrelate_weights(g, input_dot, weights, mode, 0.0, origin, axes),
    )


@rule(ndimage.convolve)
def convolve(input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, y_bar):
    """Sums of products with weights in reverse."""
    return (
        unconvolve(y_bar, input, weights, mode, origin, axes),
        unconvolve_weights(y_bar, input, weights, mode, cval, origin, axes),
    )


@convolve.tangent
def convolve(input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, input_dot, weights_dot):
    return (
        ndimage.convolve(input_dot, weights, mode=mode, origin=origin, axes=axes),
        ndimage.convolve(unrounded(input), weights_dot, mode=mode, cval=cval, origin=origin, axes=axes),
    )


@linear(transposes.unconvolve, "g", "weights")
def unconvolve_(g, input, weights, mode="reflect", origin=0, axes=None, *, y, y_bar):
    """The transpose by the array."""
    return (
        ndimage.convolve(y_bar, weights, mode=mode, origin=origin, axes=axes),
        unconvolve_weights(g, y_bar, weights, mode, 0.0, origin, axes),
    )


@rule(transposes.unconvolve_weights)
def unconvolve_weights_(g, input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, y_bar):
    """The transpose by the weights."""
    return (
        ndimage.convolve(input, y_bar, mode=mode, cval=cval, origin=origin, axes=axes),
        unconvolve(g, input, y_bar, mode, origin, axes),
    )


@unconvolve_weights_.tangent
def unconvolve_weights_(g, input, weights, mode="reflect", cval=0.0, origin=0, axes=None, *, y, g_dot, input_dot):
    return (
        unconvolve_weights(g_dot, input, weights, mode, cval, origin, axes),
        unconvolve_weights(g, input_dot, weights, mode, 0.0, origin, axes),
    )


# --- filters of spectra: a factor for each bin ------------------------------------------------------------------------
@linear(ndimage.fourier_gaussian, "input")
def fourier_gaussian(input, sigma, n=-1, axis=-1, *, y, y_bar):
    """A Gaussian as a factor."""
    return unbroadcast(ndimage.fourier_gaussian(y_bar, sigma, n, axis), input)


@linear(ndimage.fourier_uniform, "input")
def fourier_uniform(input, size, n=-1, axis=-1, *, y, y_bar):
    """The spectrum of a box as a factor."""
    return unbroadcast(ndimage.fourier_uniform(y_bar, size, n, axis), input)


@linear(ndimage.fourier_ellipsoid, "input")
def fourier_ellipsoid(input, size, n=-1, axis=-1, *, y, y_bar):
    """The spectrum of an ellipsoid as a factor."""
    return unbroadcast(ndimage.fourier_ellipsoid(y_bar, size, n, axis), input)


@linear(ndimage.fourier_shift, "input")
def fourier_shift(input, shift, n=-1, axis=-1, *, y, y_bar):
    """The phase of a shift as a factor."""
    return unbroadcast(ndimage.fourier_shift(y_bar, shift, n, axis), input)


# --- facts and refused arguments -------------------------------------------------------------------------------------
def filtered(arguments, literals):
    """The fact of a filter: of floats in their own dtype; complex weights make it complex."""
    input, weights = as_array(arguments["input"]), as_array(arguments["weights"])
    real = is_floating(input.dtype) and weights.dtype is not None and not weights.dtype.startswith("complex")
    return Array(input.shape, input.dtype if real else None)


def constant_boundary(*rules):
    """Refuse the derivative by the value beyond the ends."""
    for made in rules:
        made.refuse("extend the array with np.pad before the filter", cval="the value beyond the ends is not followed")


for made in (correlate1d, convolve1d, correlate, convolve):
    made.infer(filtered)
constant_boundary(correlate1d, convolve1d, correlate, convolve)
for made in (uncorrelate1d_, unconvolve1d_, uncorrelate_, unconvolve_):
    made.infer(cotangent_of("input"))
    reads_shape(made.functions[0], 1)
for made in (uncorrelate1d_weights_, unconvolve1d_weights_, uncorrelate_weights_, unconvolve_weights_):
    made.infer(cotangent_of("weights"))
    reads_shape(made.functions[0], 2)
for made in (fourier_gaussian, fourier_uniform, fourier_ellipsoid, fourier_shift):
    made.infer(lambda arguments, literals: Array(as_array(arguments["input"]).shape, None))
fourier_gaussian.refuse("write the factor with np.exp", sigma="the width of the factor is not followed")
fourier_uniform.refuse("write the factor with np.sinc", size="the width of the factor is not followed")
fourier_ellipsoid.refuse("write the factor yourself", size="the width of the factor is not followed")
fourier_shift.refuse("write the factor with np.exp", shift="the shift is not followed")


# --- the other functions of the library ------------------------------------------------------------------------------
def named(names: str):
    """The functions of scipy.ndimage of these names that there are."""
    return [getattr(ndimage, name) for name in names.split() if hasattr(ndimage, name)]


constant(
    *named(
        """binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening
        binary_propagation generate_binary_structure iterate_structure label find_objects value_indices watershed_ift
        maximum_position minimum_position test"""
    )
)
refused(
    "E0503", "a filter by order or by the greatest of its window is not written",
    *named(
        """black_tophat grey_closing grey_dilation grey_erosion grey_opening maximum_filter maximum_filter1d
        median_filter minimum_filter minimum_filter1d morphological_gradient morphological_laplace percentile_filter
        rank_filter white_tophat"""
    ),
    hint="take windows with np.lib.stride_tricks.sliding_window_view outside, or shifted slices and np.maximum",
)
refused(
    "E0503", "the transpose of an interpolation by splines is not written",
    *named("affine_transform geometric_transform map_coordinates rotate shift spline_filter spline_filter1d zoom"),
    hint="interpolate along each axis with np.interp, or with weights of your own",
)
refused(
    "E0205", "it calls a function of the user's on each window",
    *named(
        """generic_filter generic_filter1d generic_gradient_magnitude generic_laplace labeled_comprehension
        vectorized_filter"""
    ),
    hint="write the loop over windows, or combine filters with fixed weights",
)
refused(
    "E0503", "the magnitude of a gradient is not written as one function",
    *named("gaussian_gradient_magnitude"),
    hint="take gaussian_filter1d with order=1 along each axis, and the root of the sum of squares",
)
refused(
    "E0503", "measurements of labelled regions are not written",
    *named("center_of_mass extrema maximum mean median minimum standard_deviation sum sum_labels variance"),
    hint="index the array with a mask of each label, or use np.bincount with weights",
)
refused(
    "E0502", "counts and distances between the cells of a mask change by jumps; their other arguments are not followed",
    *named("histogram distance_transform_bf distance_transform_cdt distance_transform_edt"),
    hint="compute it outside, or call stop_gradient on the array",
)
