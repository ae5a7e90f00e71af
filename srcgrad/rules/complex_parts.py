"""Signs, absolute values, and complex numbers seen from the reals: their parts, lengths and directions.

The pairing is Re(sum of z_bar * z_dot), without conjugation: of y = |x| the adjoint is y_bar * conj(x) / |x|, the
conjugate of PyTorch's.  At 0, where there is no direction, slopes are 0.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import cmath
import math
import operator
from dataclasses import replace

import numpy as np

from srcgrad.rules.arguments import is_complex, is_real
from srcgrad.rules.facts import WEAK, Array, as_array, number
from srcgrad.rules.results import elementwise as ufunc_result
from srcgrad.rules.table import elementwise, rule
from srcgrad.runtime import rebroadcast, safe_divide, unbroadcast


# --- lengths and directions ------------------------------------------------------------------------------------------
@elementwise(np.absolute, abs, operator.abs)
def absolute(x, *, z, z_bar):
    """The absolute value; slope 0 at 0."""
    return z_bar * np.sign(np.conjugate(x))


@absolute.when(x=is_real)
def absolute(x, *, z, z_bar):
    """The absolute value of a real number; slope 0 at 0."""
    return z_bar * np.sign(x)


@absolute.when(x=is_complex)
def absolute(x, *, z, z_bar):
    """The absolute value of a complex number; slope 0 at 0."""
    return z_bar * safe_divide(np.conjugate(x), z)


@absolute.tangent
def absolute(x, *, z, x_dot):
    return np.real(np.sign(np.conjugate(x)) * x_dot)


@absolute.tangent_when(x=is_real)
def absolute(x, *, z, x_dot):
    return x_dot * np.sign(x)


@absolute.tangent_when(x=is_complex)
def absolute(x, *, z, x_dot):
    return np.real(safe_divide(np.conjugate(x), z) * x_dot)


@elementwise(np.fabs, math.fabs)
def fabs(x, *, z, z_bar):
    """The absolute value of a real number; slope 0 at 0."""
    return z_bar * np.sign(x)


@rule(np.sign)
def sign(x, *, z, z_bar):
    """x / |x|, and 0 at 0: it turns with a complex number, of a real one it is a step."""
    turn = safe_divide(np.imag(z * z_bar), np.abs(x))
    return unbroadcast(1j * turn * np.conjugate(z), x)


@sign.tangent
def sign(x, *, z, x_dot):
    turn = safe_divide(np.imag(np.conjugate(z) * x_dot), np.abs(x))
    return rebroadcast(1j * turn * z, z)


@elementwise(np.copysign, math.copysign)
def copysign(x1, x2, *, z, z_bar):
    """|x1| with the sign of x2, which is a constant."""
    return z_bar * np.sign(x1) * np.sign(z), None


@rule(np.angle)
def angle(z, deg=False, *, y, y_bar):
    """The angle of a complex number, the imaginary part of its logarithm; slope 0 at 0."""
    unit = np.where(deg, 57.29577951308232, 1.0)
    return unbroadcast(-1j * unit * safe_divide(y_bar, z), z)


@angle.when(deg=False)
def angle(z, deg=False, *, y, y_bar):
    """The angle in radians."""
    return unbroadcast(-1j * safe_divide(y_bar, z), z)


@angle.when(deg=True)
def angle(z, deg=False, *, y, y_bar):
    """The angle in degrees."""
    return unbroadcast(-57.29577951308232j * safe_divide(y_bar, z), z)


@angle.tangent
def angle(z, deg=False, *, y, z_dot):
    unit = np.where(deg, 57.29577951308232, 1.0)
    return rebroadcast(unit * np.imag(safe_divide(z_dot, z)), y)


@angle.tangent_when(deg=False)
def angle(z, deg=False, *, y, z_dot):
    return np.imag(safe_divide(z_dot, z))


@angle.tangent_when(deg=True)
def angle(z, deg=False, *, y, z_dot):
    return 57.29577951308232 * np.imag(safe_divide(z_dot, z))


@rule(cmath.phase)
def phase(z, *, y, y_bar):
    """The angle of a complex number; slope 0 at 0."""
    return unbroadcast(-1j * safe_divide(y_bar, z), z)


@phase.tangent
def phase(z, *, y, z_dot):
    return np.imag(safe_divide(z_dot, z))


@rule(cmath.polar)
def polar(z, *, y, y_bar):
    """The length and the angle of a complex number."""
    return unbroadcast(y_bar[0] * np.sign(np.conjugate(z)) - 1j * safe_divide(y_bar[1], z), z)


@polar.tangent
def polar(z, *, y, z_dot):
    return np.real(np.sign(np.conjugate(z)) * z_dot), np.imag(safe_divide(z_dot, z))


@rule(cmath.rect)
def rect(r, phi, *, z, z_bar):
    """r * exp(1j * phi)."""
    return unbroadcast(z_bar * cmath.exp(1j * phi), r), unbroadcast(1j * z_bar * z, phi)


@rect.tangent
def rect(r, phi, *, z, r_dot, phi_dot):
    return cmath.exp(1j * phi) * r_dot, 1j * z * phi_dot


# --- parts -----------------------------------------------------------------------------------------------------------
@rule(np.real)
def real(val, *, z, z_bar):
    """The real part."""
    return unbroadcast(z_bar, val)


@real.when(val=is_real)
def real(val, *, z, z_bar):
    """The real part of a real number, the number."""
    return z_bar


@real.tangent
def real(val, *, z, val_dot):
    return np.real(val_dot)


@real.tangent_when(val=is_real)
def real(val, *, z, val_dot):
    return val_dot


@rule(np.imag)
def imag(val, *, z, z_bar):
    """The imaginary part; of a real number, zero."""
    return unbroadcast(-1j * z_bar, val)


@imag.when(val=is_complex)
def imag(val, *, z, z_bar):
    """The imaginary part of a complex number."""
    return -1j * z_bar


@imag.tangent
def imag(val, *, z, val_dot):
    return np.imag(val_dot)


@elementwise(np.conjugate)
def conjugate(x, *, z, z_bar):
    """The conjugate."""
    return np.conjugate(z_bar)


@conjugate.when(x=is_real)
def conjugate(x, *, z, z_bar):
    """The conjugate of a real number, the number."""
    return z_bar


@rule(np.real_if_close)
def real_if_close(a, tol=100, *, y, y_bar):
    """The real part where all imaginary parts are rounding errors, else the number."""
    return unbroadcast(y_bar, a), None


@real_if_close.tangent
def real_if_close(a, tol=100, *, y, a_dot):
    return rebroadcast(a_dot, y)


@rule(complex)
def complex_(real=0, imag=0, *, z, z_bar):
    """A complex number from two, real + 1j * imag."""
    return unbroadcast(z_bar, real), unbroadcast(1j * z_bar, imag)


@complex_.tangent
def complex_(real=0, imag=0, *, z, real_dot, imag_dot):
    return complex(real_dot), 1j * imag_dot


# --- what is known of results ----------------------------------------------------------------------------------------
def _real_dtype(dtype):
    """The dtype of a part of a number."""
    return {"complex": "float", "complex128": "float64", "complex64": "float32"}.get(dtype or "", dtype)


def part_result(arguments, literals):
    """The fact of a part of a number: a 0-d array stays one; of Python's complex number it is a Python float."""
    val = as_array(arguments["val"])
    if val.dtype in WEAK:
        return Array(val.shape, None, val.scalar, real=val.dtype != "bool")
    return Array(val.shape, _real_dtype(val.dtype), val.scalar)


@conjugate.infer
def conjugate(arguments, literals):
    x = as_array(arguments["x"])
    if x.dtype in WEAK:  # 1j.conjugate() is a Python number, np.conjugate(1j) is not
        return Array(x.shape, None, x.scalar, real=x.dtype in ("int", "float"))
    made = as_array(ufunc_result(np.conjugate, (), [x]))
    return replace(made, scalar=x.scalar)  # the method returns a real array itself


real.infer(part_result)
imag.infer(part_result)
phase.infer(lambda arguments, literals: number("float"))
complex_.infer(lambda arguments, literals: number("complex"))

sign.infer(lambda arguments, literals: ufunc_result(np.sign, (), [as_array(arguments["x"])]))

sign.flat_when(x=is_real)
imag.flat_when(val=is_real)
angle.flat_when(z=is_real)

absolute.casts_operands = False
