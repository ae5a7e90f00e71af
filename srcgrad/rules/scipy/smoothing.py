"""Filters of scipy.ndimage with fixed weights: means, Gaussians, differences."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from scipy import ndimage

from srcgrad.rules.convolution import cotangent_of
from srcgrad.rules.facts import Array, as_array, is_floating
from srcgrad.rules.reading import reads_shape
from srcgrad.rules.scipy.ndimage import constant_boundary
from srcgrad.rules.table import linear, rule
from srcgrad.runtime.scipy import ndimage as transposes
from srcgrad.runtime.scipy.ndimage import (
    ungaussian_filter,
    ungaussian_filter1d,
    ungaussian_laplace,
    unlaplace,
    unprewitt,
    unsobel,
    ununiform_filter,
    ununiform_filter1d,
)


@rule(ndimage.uniform_filter1d)
def uniform_filter1d(input, size, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, y_bar):
    """The mean over a window along one axis."""
    return ununiform_filter1d(y_bar, input, size, axis, mode, origin)


@uniform_filter1d.tangent
def uniform_filter1d(input, size, axis=-1, mode="reflect", cval=0.0, origin=0, *, y, input_dot):
    return ndimage.uniform_filter1d(input_dot, size, axis, mode=mode, origin=origin)


@linear(transposes.ununiform_filter1d, "g")
def ununiform_filter1d_(g, input, size, axis=-1, mode="reflect", origin=0, *, y, y_bar):
    """The transpose of scipy.ndimage.uniform_filter1d."""
    return ndimage.uniform_filter1d(y_bar, size, axis, mode=mode, origin=origin)


@rule(ndimage.uniform_filter)
def uniform_filter(input, size=3, mode="reflect", cval=0.0, origin=0, axes=None, *, y, y_bar):
    """The mean over a box."""
    return ununiform_filter(y_bar, input, size, mode, origin, axes)


@uniform_filter.tangent
def uniform_filter(input, size=3, mode="reflect", cval=0.0, origin=0, axes=None, *, y, input_dot):
    return ndimage.uniform_filter(input_dot, size, mode=mode, origin=origin, axes=axes)


@linear(transposes.ununiform_filter, "g")
def ununiform_filter_(g, input, size=3, mode="reflect", origin=0, axes=None, *, y, y_bar):
    """The transpose of scipy.ndimage.uniform_filter."""
    return ndimage.uniform_filter(y_bar, size, mode=mode, origin=origin, axes=axes)


@rule(ndimage.gaussian_filter1d)
def gaussian_filter1d(input, sigma, axis=-1, order=0, mode="reflect", cval=0.0, truncate=4.0, radius=None, *, y, y_bar):
    """Weights of a Gaussian, or of a derivative of it, along one axis."""
    return ungaussian_filter1d(y_bar, input, sigma, axis, order, mode, truncate, radius)


@gaussian_filter1d.tangent
def gaussian_filter1d(
    input, sigma, axis=-1, order=0, mode="reflect", cval=0.0, truncate=4.0, radius=None, *, y, input_dot
):
    return ndimage.gaussian_filter1d(input_dot, sigma, axis, order, mode=mode, truncate=truncate, radius=radius)


@linear(transposes.ungaussian_filter1d, "g")
def ungaussian_filter1d_(g, input, sigma, axis=-1, order=0, mode="reflect", truncate=4.0, radius=None, *, y, y_bar):
    """The transpose of scipy.ndimage.gaussian_filter1d."""
    return ndimage.gaussian_filter1d(y_bar, sigma, axis, order, mode=mode, truncate=truncate, radius=radius)


@rule(ndimage.gaussian_filter)
def gaussian_filter(input, sigma, order=0, mode="reflect", cval=0.0, truncate=4.0, radius=None, axes=None, *, y, y_bar):
    """Weights of Gaussians along axes, one after the other."""
    return ungaussian_filter(y_bar, input, sigma, order, mode, truncate, radius, axes)


@gaussian_filter.tangent
def gaussian_filter(
    input, sigma, order=0, mode="reflect", cval=0.0, truncate=4.0, radius=None, axes=None, *, y, input_dot
):
    return ndimage.gaussian_filter(input_dot, sigma, order, mode=mode, truncate=truncate, radius=radius, axes=axes)


@linear(transposes.ungaussian_filter, "g")
def ungaussian_filter_(g, input, sigma, order=0, mode="reflect", truncate=4.0, radius=None, axes=None, *, y, y_bar):
    """The transpose of scipy.ndimage.gaussian_filter."""
    return ndimage.gaussian_filter(y_bar, sigma, order, mode=mode, truncate=truncate, radius=radius, axes=axes)


@rule(ndimage.gaussian_laplace)
def gaussian_laplace(input, sigma, mode="reflect", cval=0.0, axes=None, *, y, y_bar):
    """The sum of the second derivatives of a Gaussian filter."""
    return ungaussian_laplace(y_bar, input, sigma, mode, axes)


@gaussian_laplace.tangent
def gaussian_laplace(input, sigma, mode="reflect", cval=0.0, axes=None, *, y, input_dot):
    return ndimage.gaussian_laplace(input_dot, sigma, mode=mode, axes=axes)


@linear(transposes.ungaussian_laplace, "g")
def ungaussian_laplace_(g, input, sigma, mode="reflect", axes=None, *, y, y_bar):
    """The transpose of scipy.ndimage.gaussian_laplace."""
    return ndimage.gaussian_laplace(y_bar, sigma, mode=mode, axes=axes)


@rule(ndimage.laplace)
def laplace(input, mode="reflect", cval=0.0, axes=None, *, y, y_bar):
    """The sum of the second differences."""
    return unlaplace(y_bar, input, mode, axes)


@laplace.tangent
def laplace(input, mode="reflect", cval=0.0, axes=None, *, y, input_dot):
    return ndimage.laplace(input_dot, mode=mode, axes=axes)


@linear(transposes.unlaplace, "g")
def unlaplace_(g, input, mode="reflect", axes=None, *, y, y_bar):
    """The transpose of scipy.ndimage.laplace."""
    return ndimage.laplace(y_bar, mode=mode, axes=axes)


@rule(ndimage.sobel)
def sobel(input, axis=-1, mode="reflect", cval=0.0, *, y, y_bar):
    """A central difference, smoothed across."""
    return unsobel(y_bar, input, axis, mode)


@sobel.tangent
def sobel(input, axis=-1, mode="reflect", cval=0.0, *, y, input_dot):
    return ndimage.sobel(input_dot, axis, mode=mode)


@linear(transposes.unsobel, "g")
def unsobel_(g, input, axis=-1, mode="reflect", *, y, y_bar):
    """The transpose of scipy.ndimage.sobel."""
    return ndimage.sobel(y_bar, axis, mode=mode)


@rule(ndimage.prewitt)
def prewitt(input, axis=-1, mode="reflect", cval=0.0, *, y, y_bar):
    """A central difference, averaged across."""
    return unprewitt(y_bar, input, axis, mode)


@prewitt.tangent
def prewitt(input, axis=-1, mode="reflect", cval=0.0, *, y, input_dot):
    return ndimage.prewitt(input_dot, axis, mode=mode)


@linear(transposes.unprewitt, "g")
def unprewitt_(g, input, axis=-1, mode="reflect", *, y, y_bar):
    """The transpose of scipy.ndimage.prewitt."""
    return ndimage.prewitt(y_bar, axis, mode=mode)


# --- facts and refused arguments -------------------------------------------------------------------------------------
def filtered(arguments, literals):
    """The fact of a filter: of floats in their own dtype."""
    input = as_array(arguments["input"])
    return Array(input.shape, input.dtype if is_floating(input.dtype) else None)


_filters = (
    uniform_filter1d, uniform_filter, gaussian_filter1d, gaussian_filter, gaussian_laplace, laplace, sobel, prewitt,
)  # fmt: skip
for made in _filters:
    made.infer(filtered)
constant_boundary(*_filters)
for made in (gaussian_filter1d, gaussian_filter, gaussian_laplace):
    made.wrapping = (("iu", ("sigma",)),)
    made.refuse(
        "write the weights with np.exp and use scipy.ndimage.correlate1d",
        sigma="the width of the Gaussian is not followed",
    )
_transposes = (
    ununiform_filter1d_, ununiform_filter_, ungaussian_filter1d_, ungaussian_filter_, ungaussian_laplace_, unlaplace_,
    unsobel_, unprewitt_,
)  # fmt: skip
for made in _transposes:
    made.infer(cotangent_of("input"))
    reads_shape(made.functions[0], 1)
