"""Polynomials as vectors of coefficients, highest first: NumPy's ``poly`` functions.

Roots by the implicit function theorem; fits by the derivative of linear least squares (Golub and Pereyra, *The
differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate*, 1973).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.convolution import cotangent_of, vector_result
from srcgrad.rules.facts import WEAK, Array, as_array, promote
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    add,
    column,
    division,
    normal_solve,
    polyslope,
    rebroadcast,
    root_count,
    tail,
    unarray,
    unbroadcast,
    uncolumn,
    unconstants,
    undivision,
    unpolyder,
    unpolyint,
    unpolymul,
    unpolyval,
)


# --- values ----------------------------------------------------------------------------------------------------------
@rule(np.polyval)
def polyval(p, x, *, y, y_bar):
    """The value at x: linear in the coefficients, with the slope of the polynomial by x."""
    return unpolyval(y_bar, p, x), unbroadcast(y_bar * polyslope(p, x), x)


@polyval.tangent
def polyval(p, x, *, y, p_dot, x_dot):
    return np.polyval(p_dot, x), polyslope(p, x) * x_dot


@polyval.infer
def polyval(arguments, literals):
    p, x = as_array(arguments["p"]), as_array(arguments["x"])
    return Array(x.shape if p.rank == 1 else None, None if x.dtype in WEAK else promote(p.dtype, x.dtype))


@rule(runtime.polyslope)
def polyslope_(p, x, n=1, *, y, y_bar):
    """A derivative by x, and the next one."""
    return unpolyval(y_bar, p, x, n), unbroadcast(y_bar * polyslope(p, x, n + 1), x)


@polyslope_.tangent
def polyslope_(p, x, n=1, *, y, p_dot, x_dot):
    return polyslope(p_dot, x, n), polyslope(p, x, n + 1) * x_dot


@rule(runtime.unpolyval)
def unpolyval_(g, p, x, n=0, *, y, y_bar):
    """The powers of x times g; y_bar is in the place of the coefficients."""
    return unbroadcast(polyslope(y_bar, x, n), g), None, unbroadcast(g * polyslope(y_bar, x, n + 1), x)


@unpolyval_.tangent
def unpolyval_(g, p, x, n=0, *, y, g_dot, x_dot):
    return unpolyval(g_dot, p, x, n), unpolyval(g * x_dot, p, x, n + 1)


unpolyval_.infer(cotangent_of("p"))


# --- sums, products, quotients ---------------------------------------------------------------------------------------
@rule(np.polyadd)
def polyadd(a1, a2, *, y, y_bar):
    """The sum, aligned at the constant terms."""
    return tail(y_bar, a1), tail(y_bar, a2)


@polyadd.tangent
def polyadd(a1, a2, *, y, a1_dot, a2_dot):
    return tail(a1_dot, y), tail(a2_dot, y)


@rule(np.polysub)
def polysub(a1, a2, *, y, y_bar):
    """The difference, aligned at the constant terms."""
    return tail(y_bar, a1), tail(-y_bar, a2)


@polysub.tangent
def polysub(a1, a2, *, y, a1_dot, a2_dot):
    return tail(a1_dot, y), tail(-a2_dot, y)


@rule(np.polymul)
def polymul(a1, a2, *, y, y_bar):
    """The product, without the zeros that lead it."""
    return unpolymul(y_bar, a1, a2), unpolymul(y_bar, a2, a1)


@polymul.tangent
def polymul(a1, a2, *, y, a1_dot, a2_dot):
    return tail(np.convolve(a1_dot, a2), y), tail(np.convolve(a1, a2_dot), y)


@rule(np.polydiv)
def polydiv(u, v, *, y, y_bar):
    """The quotient q and the remainder r: u_dot - q * v_dot is q_dot * v + r_dot, a division again."""
    made = undivision(y_bar, u, v)
    return unarray(made, u), unpolymul(-made, v, y[0])


@polydiv.tangent
def polydiv(u, v, *, y, u_dot, v_dot):
    return division(u_dot, v, y), division(-np.convolve(y[0], v_dot), v, y)


polydiv.sums = add


@rule(runtime.division)
def division_(u, v, like, *, y, y_bar):
    """np.polydiv in given lengths."""
    made = undivision(y_bar, u, v)
    return unarray(made, u), unpolymul(-made, v, y[0])


@division_.tangent
def division_(u, v, like, *, y, u_dot, v_dot):
    return division(u_dot, v, like), division(-np.convolve(y[0], v_dot), v, like)


division_.sums = add


@rule(runtime.undivision)
def undivision_(g, u, v, *, y, y_bar):
    """The transpose of a division; it divides y_bar."""
    made = division(y_bar, v, g)
    return made, None, unpolymul(-y, v, made[0])


@undivision_.tangent
def undivision_(g, u, v, *, y, g_dot, v_dot):
    return undivision(g_dot, u, v), -undivision((unpolymul(y, g[0], v_dot), None), u, v)


@linear(runtime.tail, "g")
def tail_(g, like, *, y, y_bar):
    """Leading coefficients dropped or filled with zeros; filled or dropped again."""
    return tail(y_bar, g)


@linear(runtime.unpolymul, "g", "a2")
def unpolymul_(g, a1, a2, *, y, y_bar):
    """The transpose of a product."""
    return tail(np.convolve(y_bar, a2), g), unpolymul(g, a2, y_bar)


# --- derivatives and integrals ---------------------------------------------------------------------------------------
@linear(np.polyder, "p")
def polyder(p, m=1, *, y, y_bar):
    """The m-th derivative."""
    return unpolyder(y_bar, p, m)


@rule(np.polyint)
def polyint(p, m=1, k=None, *, y, y_bar):
    """The m-th integral, with constants of integration."""
    return unpolyint(y_bar, p, m), None, unconstants(y_bar, k, m)


@polyint.tangent
def polyint(p, m=1, k=None, *, y, p_dot, k_dot):
    return np.polyint(p_dot, m), np.polyint(np.zeros_like(p), m, k_dot)


@linear(runtime.unpolyder, "g")
def unpolyder_(g, p, m=1, *, y, y_bar):
    """The transpose of a derivative."""
    return rebroadcast(np.polyder(y_bar, m), g)


@linear(runtime.unpolyint, "g")
def unpolyint_(g, p, m=1, *, y, y_bar):
    """The transpose of an integral."""
    return rebroadcast(np.polyint(y_bar, m), g)


@linear(runtime.unconstants, "g")
def unconstants_(g, k, m=1, *, y, y_bar):
    """The transpose of the constants of an integral."""
    return rebroadcast(np.polyint(np.zeros_like(g[m:]), m, y_bar), g)


# --- roots -----------------------------------------------------------------------------------------------------------
@rule(np.roots)
def roots(p, *, y, y_bar):
    """The roots: p(y) = 0 gives y_dot = -p_dot(y) / p'(y), infinite where a root is multiple."""
    return unpolyval(-y_bar / polyslope(p, y), p, y)


@roots.tangent
def roots(p, *, y, p_dot):
    return -np.polyval(p_dot, y) / polyslope(p, y)


@rule(np.poly)
def poly(seq_of_zeros, *, y, y_bar):
    """The polynomial y of given roots: moving a root subtracts y without its factor, which Horner's scheme divides out,
    at multiple roots too; summed over the coefficients, it is the value of another polynomial at the root."""
    count = root_count(seq_of_zeros)
    sums = np.convolve(y_bar[: -1 - count : -1], y)[:count]
    return unarray(-np.polyval(sums, seq_of_zeros), seq_of_zeros)


@poly.tangent
def poly(seq_of_zeros, *, y, seq_of_zeros_dot):
    count = root_count(seq_of_zeros)
    powers = unpolyval(seq_of_zeros_dot, seq_of_zeros, seq_of_zeros)[::-1]
    return tail(-np.convolve(y, powers)[:count], y)


# --- least squares ---------------------------------------------------------------------------------------------------
@rule(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False, *, c, c_bar):
    """The coefficients c of least weighted squares; z solves their normal equations for c_bar."""
    t = column(x, c)
    z = normal_solve(c_bar, x, w, rcond)
    fit = np.polyval(z, t)
    miss = y - np.polyval(c, t)
    weight = column(w, c)
    x_bar = uncolumn(weight**2 * (miss * polyslope(z, t) - fit * polyslope(c, t)), x)
    return x_bar, unarray(weight**2 * fit, y), None, None, None, uncolumn(2.0 * weight * fit * miss, w)


@polyfit.when(w=None)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False, *, c, c_bar):
    """Without weights."""
    t = column(x, c)
    z = normal_solve(c_bar, x, w, rcond)
    fit = np.polyval(z, t)
    miss = y - np.polyval(c, t)
    return uncolumn(miss * polyslope(z, t) - fit * polyslope(c, t), x), unarray(fit, y)


@polyfit.tangent
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False, *, c, x_dot, y_dot, w_dot):
    t = column(x, c)
    weight = column(w, c)
    miss = y - np.polyval(c, t)
    turned = weight**2 * column(x_dot, c)
    by_x = unpolyval(turned * miss, c, t, 1) - unpolyval(turned * polyslope(c, t), c, t)
    by_w = unpolyval(2.0 * weight * miss * column(w_dot, c), c, t)
    return (
        normal_solve(by_x, x, w, rcond),
        normal_solve(unpolyval(weight**2 * y_dot, c, t), x, w, rcond),
        normal_solve(by_w, x, w, rcond),
    )


@polyfit.tangent_when(w=None)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False, *, c, x_dot, y_dot):
    t = column(x, c)
    turned = column(x_dot, c)
    by_x = unpolyval(turned * (y - np.polyval(c, t)), c, t, 1) - unpolyval(turned * polyslope(c, t), c, t)
    return normal_solve(by_x, x, w, rcond), normal_solve(unpolyval(y_dot, c, t), x, w, rcond)


polyfit.accept(allowed={"full": (False,), "cov": (False,)})


@rule(runtime.normal_solve)
def normal_solve_(g, x, w=None, rcond=None, *, z, z_bar):
    """(V' W^2 V) z = g, a symmetric matrix, V the powers of x."""
    t = column(x, g)
    s = normal_solve(z_bar, x, w, rcond)
    a = np.polyval(s, t)
    b = np.polyval(z, t)
    weight = column(w, g)
    x_bar = -uncolumn(weight**2 * (a * polyslope(z, t) + b * polyslope(s, t)), x)
    return s, x_bar, -uncolumn(2.0 * weight * a * b, w)


@normal_solve_.when(w=None)
def normal_solve_(g, x, w=None, rcond=None, *, z, z_bar):
    """Without weights."""
    t = column(x, g)
    s = normal_solve(z_bar, x, w, rcond)
    return s, -uncolumn(np.polyval(s, t) * polyslope(z, t) + np.polyval(z, t) * polyslope(s, t), x)


@normal_solve_.tangent
def normal_solve_(g, x, w=None, rcond=None, *, z, g_dot, x_dot, w_dot):
    t = column(x, g)
    weight = column(w, g)
    fit = np.polyval(z, t)
    turned = weight**2 * column(x_dot, g)
    by_x = unpolyval(turned * fit, z, t, 1) + unpolyval(turned * polyslope(z, t), z, t)
    by_w = unpolyval(2.0 * weight * fit * column(w_dot, g), z, t)
    return normal_solve(g_dot, x, w, rcond), -normal_solve(by_x, x, w, rcond), -normal_solve(by_w, x, w, rcond)


@normal_solve_.tangent_when(w=None)
def normal_solve_(g, x, w=None, rcond=None, *, z, g_dot, x_dot):
    t = column(x, g)
    turned = column(x_dot, g)
    by_x = unpolyval(turned * np.polyval(z, t), z, t, 1) + unpolyval(turned * polyslope(z, t), z, t)
    return normal_solve(g_dot, x, w, rcond), -normal_solve(by_x, x, w, rcond)


@linear(runtime.column, "x")
def column_(x, like, *, y, y_bar):
    """Axes of length 1 added; removed again."""
    return np.reshape(y_bar, np.shape(x))


@linear(runtime.uncolumn, "g")
def uncolumn_(g, x, *, y, y_bar):
    """Summed over columns; repeated again."""
    return rebroadcast(column(y_bar, g), g)


# --- facts -----------------------------------------------------------------------------------------------------------
for sized, name in ((tail_, "like"), (unpolymul_, "a1"), (unpolyder_, "p"), (unpolyint_, "p"), (unconstants_, "k"),
                    (uncolumn_, "x")):  # fmt: skip
    sized.infer(cotangent_of(name))
polymul.infer(vector_result("a1", "a2"))


def coefficients(arguments, literals):
    """The fact of a sum of vectors of coefficients."""
    vectors = all(as_array(arguments[name]).rank in (0, 1) for name in ("a1", "a2"))
    return vector_result("a1", "a2")(arguments, literals) if vectors else Array()


polyadd.infer(coefficients)
polysub.infer(coefficients)
