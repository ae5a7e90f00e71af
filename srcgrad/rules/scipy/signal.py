"""Convolutions and correlations of scipy.signal; why its other functions are refused.

Filters along an axis are in ``filtering``.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from scipy import signal

from srcgrad.rules.convolution import cotangent_of
from srcgrad.rules.facts import WEAK, Array, as_array, promote
from srcgrad.rules.reading import reads_shape
from srcgrad.rules.table import constant, linear, refused, rule
from srcgrad.runtime.scipy import convolution
from srcgrad.runtime.scipy.convolution import (
    unconvolve2d_first,
    unconvolve2d_second,
    unconvolve_first,
    unconvolve_second,
    uncorrelate2d_first,
    uncorrelate2d_second,
    uncorrelate_first,
    uncorrelate_second,
    unfftconvolve_first,
    unfftconvolve_second,
)


# --- without boundaries ----------------------------------------------------------------------------------------------
@linear(signal.convolve, "in1", "in2")
def convolve(in1, in2, mode="full", method="auto", *, y, y_bar):
    """Sums of products of each element of in1 with those of in2 in reverse."""
    return unconvolve_first(y_bar, in1, in2, mode, method), unconvolve_second(y_bar, in1, in2, mode, method)


@linear(convolution.unconvolve_first, "g", "in2")
def unconvolve_first_(g, in1, in2, mode="full", method="auto", *, y, y_bar):
    """The first transpose."""
    return signal.convolve(y_bar, in2, mode, method), unconvolve_second(g, y_bar, in2, mode, method)


@linear(convolution.unconvolve_second, "g", "in1")
def unconvolve_second_(g, in1, in2, mode="full", method="auto", *, y, y_bar):
    """The second transpose."""
    return signal.convolve(in1, y_bar, mode, method), unconvolve_first(g, in1, y_bar, mode, method)


@linear(signal.correlate, "in1", "in2")
def correlate(in1, in2, mode="full", method="auto", *, y, y_bar):
    """Sums of products of shifts of in1 with in2, which is conjugated."""
    return uncorrelate_first(y_bar, in1, in2, mode, method), uncorrelate_second(y_bar, in1, in2, mode, method)


@linear(convolution.uncorrelate_first, "g", "in2")
def uncorrelate_first_(g, in1, in2, mode="full", method="auto", *, y, y_bar):
    """The first transpose."""
    return signal.correlate(y_bar, in2, mode, method), uncorrelate_second(g, y_bar, in2, mode, method)


@linear(convolution.uncorrelate_second, "g", "in1")
def uncorrelate_second_(g, in1, in2, mode="full", method="auto", *, y, y_bar):
    """The second transpose."""
    return signal.correlate(in1, y_bar, mode, method), uncorrelate_first(g, in1, y_bar, mode, method)


@linear(signal.fftconvolve, signal.oaconvolve, "in1", "in2")
def fftconvolve(in1, in2, mode="full", axes=None, *, y, y_bar):
    """The convolution along axes, by Fourier transforms; the other axes broadcast."""
    return unfftconvolve_first(y_bar, in1, in2, mode, axes), unfftconvolve_second(y_bar, in1, in2, mode, axes)


@linear(convolution.unfftconvolve_first, "g", "in2")
def unfftconvolve_first_(g, in1, in2, mode="full", axes=None, *, y, y_bar):
    """The first transpose."""
    return signal.fftconvolve(y_bar, in2, mode, axes), unfftconvolve_second(g, y_bar, in2, mode, axes)


@linear(convolution.unfftconvolve_second, "g", "in1")
def unfftconvolve_second_(g, in1, in2, mode="full", axes=None, *, y, y_bar):
    """The second transpose."""
    return signal.fftconvolve(in1, y_bar, mode, axes), unfftconvolve_first(g, in1, y_bar, mode, axes)


# --- in the plane, with boundaries: a value beyond the ends adds to what the first array gives ----------------------
@rule(signal.convolve2d)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, y_bar):
    """Sums of products of an array, extended beyond its ends, with another in reverse."""
    return (
        unconvolve2d_first(y_bar, in1, in2, mode, boundary, fillvalue),
        unconvolve2d_second(y_bar, in1, in2, mode, boundary, fillvalue),
    )


@convolve2d.tangent
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, in1_dot, in2_dot):
    return (
        signal.convolve2d(in1_dot, in2, mode, boundary),
        signal.convolve2d(in1, in2_dot, mode, boundary, fillvalue),
    )


@rule(convolution.unconvolve2d_first)
def unconvolve2d_first_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, y_bar):
    """The first transpose; of in1 it reads the shape."""
    return (
        signal.convolve2d(y_bar, in2, mode, boundary),
        None,
        unconvolve2d_second(g, y_bar, in2, mode, boundary),
    )


@unconvolve2d_first_.tangent
def unconvolve2d_first_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, g_dot, in2_dot):
    return (
        unconvolve2d_first(g_dot, in1, in2, mode, boundary),
        unconvolve2d_first(g, in1, in2_dot, mode, boundary),
    )


@rule(convolution.unconvolve2d_second)
def unconvolve2d_second_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, y_bar):
    """The second transpose; of in2 it reads the shape."""
    return (
        signal.convolve2d(in1, y_bar, mode, boundary, fillvalue),
        unconvolve2d_first(g, in1, y_bar, mode, boundary),
    )


@unconvolve2d_second_.tangent
def unconvolve2d_second_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, g_dot, in1_dot):
    return (
        unconvolve2d_second(g_dot, in1, in2, mode, boundary, fillvalue),
        unconvolve2d_second(g, in1_dot, in2, mode, boundary),
    )


@rule(signal.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, y_bar):
    """Sums of products of an array, extended beyond its ends, with another, which is conjugated."""
    return (
        uncorrelate2d_first(y_bar, in1, in2, mode, boundary, fillvalue),
        uncorrelate2d_second(y_bar, in1, in2, mode, boundary, fillvalue),
    )


@correlate2d.tangent
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, in1_dot, in2_dot):
    return (
        signal.correlate2d(in1_dot, in2, mode, boundary),
        signal.correlate2d(in1, in2_dot, mode, boundary, fillvalue),
    )


@rule(convolution.uncorrelate2d_first)
def uncorrelate2d_first_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, y_bar):
    """The first transpose; of in1 it reads the shape."""
    return (
        signal.correlate2d(y_bar, in2, mode, boundary),
        None,
        uncorrelate2d_second(g, y_bar, in2, mode, boundary),
    )


@uncorrelate2d_first_.tangent
def uncorrelate2d_first_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, g_dot, in2_dot):
    return (
        uncorrelate2d_first(g_dot, in1, in2, mode, boundary),
        uncorrelate2d_first(g, in1, in2_dot, mode, boundary),
    )


@rule(convolution.uncorrelate2d_second)
def uncorrelate2d_second_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, y_bar):
    """The second transpose; of in2 it reads the shape."""
    return (
        signal.correlate2d(in1, y_bar, mode, boundary, fillvalue),
        uncorrelate2d_first(g, in1, y_bar, mode, boundary),
    )


@uncorrelate2d_second_.tangent
def uncorrelate2d_second_(g, in1, in2, mode="full", boundary="fill", fillvalue=0, *, y, g_dot, in1_dot):
    return (
        uncorrelate2d_second(g_dot, in1, in2, mode, boundary, fillvalue),
        uncorrelate2d_second(g, in1_dot, in2, mode, boundary),
    )


# --- facts and refused arguments -------------------------------------------------------------------------------------
def product(arguments, literals):
    """The fact of a product of arrays of one rank."""
    in1, in2 = as_array(arguments["in1"]), as_array(arguments["in2"])
    dtype = None if {in1.dtype, in2.dtype} & set(WEAK) else promote(in1.dtype, in2.dtype)
    return Array((None,) * len(in1.shape) if in1.shape else None, dtype)


for made in (convolve, correlate, convolve2d, correlate2d):
    made.infer(product)
fftconvolve.infer(lambda arguments, literals: Array(product(arguments, literals).shape, None))
for made in (convolve2d, correlate2d):
    made.refuse("extend the array with np.pad", fillvalue="the value beyond the ends is not followed")
for first in (unconvolve_first_, uncorrelate_first_, unfftconvolve_first_, unconvolve2d_first_, uncorrelate2d_first_):
    first.infer(cotangent_of("in1"))
    reads_shape(first.functions[0], 1)
for second in (
    unconvolve_second_, uncorrelate_second_, unfftconvolve_second_, unconvolve2d_second_, uncorrelate2d_second_,
):  # fmt: skip
    second.infer(cotangent_of("in2"))
    reads_shape(second.functions[0], 2)


# --- the other functions of the library ------------------------------------------------------------------------------
def named(names: str):
    """The functions of scipy.signal of these names that there are."""
    return [getattr(signal, name) for name in names.split() if hasattr(signal, name)]


constant(
    *named(
        """BadCoefficients argrelextrema argrelmax argrelmin check_COLA check_NOLA choose_conv_method correlation_lags
        find_peaks_cwt max_len_seq square test unit_impulse"""
    )
)
refused(
    "E0503", "the design of filters is not written",
    *named(
        """band_stop_obj bessel besselap buttap butter buttord cheb1ap cheb1ord cheb2ap cheb2ord cheby1 cheby2 ellip
        ellipap ellipord findfreqs firls firwin firwin2 firwin_2d gammatone iircomb iirdesign iirfilter iirnotch iirpeak
        kaiser_atten kaiser_beta kaiserord minimum_phase remez savgol_coeffs"""
    ),
    hint="design the filter outside; scipy.signal.lfilter and convolve have derivatives by its coefficients",
)
refused(
    "E0503", "representations of linear systems are not written",
    *named(
        """StateSpace TransferFunction ZerosPolesGain abcd_normalize bilinear bilinear_zpk cont2discrete dlti invres
        invresz lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk lti normalize place_poles residue
        residuez sos2tf sos2zpk ss2tf ss2zpk tf2sos tf2ss tf2zpk unique_roots zpk2sos zpk2ss zpk2tf"""
    ),
    hint="write it with np.poly, np.roots, np.polymul and np.linalg",
)
refused(
    "E0503", "responses of linear systems are not written",
    *named(
        """bode dbode dfreqresp dimpulse dlsim dstep freqresp freqs freqs_zpk freqz freqz_sos freqz_zpk group_delay
        impulse lfilter_zi lfiltic lsim sosfilt_zi sosfreqz step"""
    ),
    hint="write it with np.polyval at exp(-1j * w), or with scipy.signal.lfilter of an impulse",
)
refused(
    "E0503", "spectral estimates and transforms of windows are not written",
    *named(
        """CZT ShortTimeFFT ZoomFFT closest_STFT_dual_window coherence csd czt czt_points envelope hilbert2 istft
        lombscargle periodogram spectrogram stft vectorstrength welch zoom_fft"""
    ),
    hint="write it with scipy.fft or np.fft on windows of the signal",
)
refused(
    "E0503", "splines and smoothing by splines are not written",
    *named(
        """cspline1d cspline1d_eval cspline2d gauss_spline qspline1d qspline1d_eval qspline2d sepfir2d spline_filter
        symiirorder1 symiirorder2 whittaker_henderson"""
    ),
    hint="filter with scipy.signal.lfilter, or with scipy.ndimage.correlate1d and weights of your own",
)
refused(
    "E0503", "another rate of sampling is not written",
    *named("decimate resample resample_poly upfirdn"),
    hint="filter with scipy.signal.lfilter or convolve and take every n-th element, or cut and pad the spectrum",
)
refused(
    "E0502", "what is found at peaks changes by jumps",
    *named("find_peaks peak_prominences peak_widths"),
    hint="find the places with stop_gradient, and take the values there",
)
refused(
    "E0503", "a filter by order or by local variance is not written",
    *named("medfilt medfilt2d order_filter wiener"),
    hint="take np.median of windows, or means and variances with scipy.ndimage.uniform_filter",
)
refused(
    "E0503", "the waveform or window is not written",
    *named("chirp gausspulse get_window sawtooth sweep_poly"),
    hint="write it with np.sin, np.cos and np.exp",
)
refused(
    "E0503", "the quotient of polynomials in the delay is not written",
    *named("deconvolve"),
    hint="np.polydiv divides coefficients",
)
