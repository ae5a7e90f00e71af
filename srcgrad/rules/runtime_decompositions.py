"""Rules of the parts of matrix decompositions, determinants, norms and linear systems in ``srcgrad.runtime``."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined,arg-type"
from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import Sequence, Unknown, as_array
from srcgrad.rules.formula import is_none, spelling
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import constant, elementwise, linear, rule
from srcgrad.runtime import (
    anchors,
    as_columns,
    cofactor,
    column_sums,
    field_of,
    from_columns,
    from_matrices,
    from_triangle,
    half_triangle,
    hermitian_sum,
    keep_real,
    outside,
    over_gaps,
    pair_differences,
    ratio,
    rebroadcast,
    require_distinct,
    safe_divide,
    safe_power,
    scaled,
    solve_triangle,
    to_matrices,
    to_triangle,
    twist,
    unbroadcast,
    uncolumn_sums,
    unfield,
    unkeep_real,
    unpair_differences,
    vector_axis,
    weighted,
    widen,
)

constant(
    runtime.axes_at_end, runtime.extreme_share, runtime.least_squares_cutoff, runtime.matching, runtime.norm_shares,
    runtime.vector_axis,
)  # fmt: skip


def _like(name: str):
    def infer(arguments, literals):
        return as_array(arguments[name])

    return infer


# --- triangles -------------------------------------------------------------------------------------------------------
@linear(runtime.hermitian_sum, "x")
def hermitian_sum_(x, *, y, y_bar):
    """A matrix and its conjugate transpose: the same again."""
    return hermitian_sum(y_bar)


@linear(runtime.from_triangle, "a")
def from_triangle_(a, UPLO="L", *, y, y_bar):
    """A triangle made whole; folded into the triangle again."""
    return unbroadcast(to_triangle(y_bar, UPLO), a)


@linear(runtime.to_triangle, "g")
def to_triangle_(g, UPLO="L", *, y, y_bar):
    """Folded into a triangle; made whole again."""
    return from_triangle(y_bar, UPLO)


@linear(runtime.half_triangle, "x")
def half_triangle_(x, upper=False, *, y, y_bar):
    """Weights of elements."""
    return half_triangle(y_bar, upper)


@rule(runtime.solve_triangle)
def solve_triangle_(a, b, upper=False, *, y, y_bar):
    """A system with a lower triangle: that with its transpose."""
    b_bar = solve_triangle(a.mT, y_bar, True)
    return -np.tril(b_bar @ y.mT), b_bar


@solve_triangle_.tangent
def solve_triangle_(a, b, upper=False, *, y, a_dot, b_dot):
    return -solve_triangle(a, np.tril(a_dot) @ y), solve_triangle(a, b_dot)


@solve_triangle_.when(upper=True)
def solve_triangle_(a, b, upper=False, *, y, y_bar):
    """A system with an upper triangle."""
    b_bar = solve_triangle(a.mT, y_bar)
    return -np.triu(b_bar @ y.mT), b_bar


@solve_triangle_.tangent_when(upper=True)
def solve_triangle_(a, b, upper=False, *, y, a_dot, b_dot):
    return -solve_triangle(a, np.triu(a_dot) @ y, True), solve_triangle(a, b_dot, True)


solve_triangle_.accept(allowed={"upper": (False, True)})

for shaped_, name in ((hermitian_sum_, "x"), (to_triangle_, "g"), (half_triangle_, "x"), (solve_triangle_, "b")):
    shaped_.infer(_like(name))


# --- gaps ------------------------------------------------------------------------------------------------------------
@elementwise(runtime.ratio)
def ratio_(x, y, *, z, z_bar):
    """A quotient; 0 where both are 0."""
    return ratio(z_bar, y), -z_bar * ratio(z, y)


@elementwise(runtime.scaled)
def scaled_(x, w, *, z, z_bar):
    """A product; 0 where the weight is 0."""
    return scaled(z_bar, w), z_bar * x


@rule(runtime.weighted)
def weighted_(u, w, v, *, y, y_bar):
    """A sum of weighted products of columns and rows."""
    back = y_bar @ v.mT
    by_w = np.sum(u * back, axis=-2)
    by_v = scaled(u.mT @ y_bar, w[..., :, np.newaxis])
    return unbroadcast(scaled(back, w[..., np.newaxis, :]), u), unbroadcast(by_w, w), unbroadcast(by_v, v)


@weighted_.tangent
def weighted_(u, w, v, *, y, u_dot, w_dot, v_dot):
    return weighted(u_dot, w, v), weighted(u, w_dot, v), weighted(u, w, v_dot)


@rule(runtime.of_distinct)
def of_distinct_(w, s, *, y, y_bar):
    """Weights that may vary only where the singular values that they weigh are distinct."""
    return require_distinct(y_bar, s), None


@of_distinct_.tangent
def of_distinct_(w, s, *, y, w_dot):
    return require_distinct(w_dot, s)


@linear(runtime.require_distinct, "g")
def require_distinct_(g, s, *, y, y_bar):
    """What may come back to weights of distinct singular values."""
    return require_distinct(y_bar, s)


@linear(runtime.widen, "w")
def widen_(w, n, *, y, y_bar):
    """Zeros after; cut off again."""
    return y_bar[..., : np.shape(w)[-1]]


@linear(runtime.pair_differences, "w")
def pair_differences_(w, n=None, *, y, y_bar):
    """Differences of pairs; sums of columns less sums of rows."""
    return unpair_differences(y_bar, w)


@linear(runtime.unpair_differences, "g")
def unpair_differences_(g, w, *, y, y_bar):
    """Sums of columns less sums of rows; differences of pairs again."""
    return pair_differences(y_bar, np.shape(g)[-1])


@rule(runtime.over_gaps)
def over_gaps_(x, w, *, y, y_bar):
    """Quotients by differences of pairs."""
    return over_gaps(y_bar, w), unbroadcast(-unpair_differences(y_bar * over_gaps(y, w), w), w)


@over_gaps_.tangent
def over_gaps_(x, w, *, y, x_dot, w_dot):
    return over_gaps(x_dot, w), -over_gaps(y, w) * pair_differences(w_dot, np.shape(x)[-1])


# --- what is arbitrary in vectors ------------------------------------------------------------------------------------
@rule(runtime.phase_free)
def phase_free_(g, other=None, count=None, *, y, y_bar):
    """A check."""
    return y_bar


@phase_free_.tangent
def phase_free_(g, other=None, count=None, *, y, g_dot):
    return g_dot


@rule(runtime.basis_free)
def basis_free_(g, count, *, y, y_bar):
    """A check."""
    return y_bar


@basis_free_.tangent
def basis_free_(g, count, *, y, g_dot):
    return g_dot


@rule(runtime.anchors)
def anchors_(v, *, y, y_bar):
    """Reciprocals of real components."""
    return unbroadcast(-y_bar * y * y, v)


@anchors_.tangent
def anchors_(v, *, y, v_dot):
    return -np.real(v_dot) * y * y


@rule(runtime.keep_real)
def keep_real_(d, v, *, y, y_bar):
    """d - 1j * v * turn, where the turn is what the anchors of v read off d."""
    e = anchors(v)
    turn = np.sum(np.imag(d) * e, axis=-2, keepdims=True)
    slack = np.imag(np.sum(v * y_bar, axis=-2, keepdims=True))
    return unkeep_real(y_bar, v), unbroadcast(-1j * turn * y_bar - slack * np.imag(d) * e * e, v)


@keep_real_.tangent
def keep_real_(d, v, *, y, d_dot, v_dot):
    e = anchors(v)
    turn = np.sum(np.imag(d) * e, axis=-2, keepdims=True)
    back = np.sum(np.imag(d) * e * e * np.real(v_dot), axis=-2, keepdims=True)
    return keep_real(d_dot, v), rebroadcast(1j * (v * back - v_dot * turn), y)


@rule(runtime.unkeep_real)
def unkeep_real_(g, v, *, y, y_bar):
    """g - 1j * anchors(v) * slack, where the slack is the imaginary part of the sums of v * g."""
    e = anchors(v)
    turn = np.sum(np.imag(y_bar) * e, axis=-2, keepdims=True)
    slack = np.imag(np.sum(v * g, axis=-2, keepdims=True))
    return keep_real(y_bar, v), unbroadcast(-1j * turn * g - slack * np.imag(y_bar) * e * e, v)


@unkeep_real_.tangent
def unkeep_real_(g, v, *, y, g_dot, v_dot):
    e = anchors(v)
    slack = np.imag(np.sum(v * g, axis=-2, keepdims=True))
    more = np.imag(np.sum(v_dot * g, axis=-2, keepdims=True))
    return unkeep_real(g_dot, v), rebroadcast(1j * e * (slack * e * np.real(v_dot) - more), y)


@rule(runtime.twist)
def twist_(x, w, *, y, y_bar):
    """Imaginary parts of a diagonal over w, times 1j: its own transpose."""
    diagonal = np.real(np.diagonal(y_bar * y, axis1=-2, axis2=-1))
    return twist(y_bar, w), -ratio(diagonal[..., : np.shape(w)[-1]], w)


@twist_.tangent
def twist_(x, w, *, y, x_dot, w_dot):
    return twist(x_dot, w), -y * widen(ratio(w_dot, w), np.shape(x)[-1])[..., np.newaxis, :]


@rule(runtime.outside)
def outside_(g, u, *, y, y_bar):
    """g - u @ u^H @ g."""
    inner = np.conjugate(u.mT) @ g
    back = y_bar.mT @ u
    by_u = -(y_bar @ inner.mT + np.conjugate(g @ back))
    return unbroadcast(outside(y_bar, np.conjugate(u)), g), unbroadcast(by_u, u)


@outside_.tangent
def outside_(g, u, *, y, g_dot, u_dot):
    return outside(g_dot, u), -u_dot @ (np.conjugate(u.mT) @ g) - u @ (np.conjugate(u_dot.mT) @ g)


# --- determinants ----------------------------------------------------------------------------------------------------
def _cofactors_of(given: Mapping[str, gast.expr], name: str) -> gast.expr:
    """For each direction the form with the cotangent in its place."""
    directions = given["x"]
    assert isinstance(directions, gast.Tuple)
    count = len(directions.elts)
    partials: list[gast.expr] = []
    for i in range(count):
        others = [item("x", j) for j in range(count) if j != i]
        partials.append(gast.Call(spelling(cofactor), [read("a"), *others, read(name)], []))
    return gast.Tuple(partials, gast.Load())


def _moved_cofactors(given: Mapping[str, gast.expr]) -> gast.expr:
    """The form with each direction that moves replaced by its tangent, summed."""
    directions, dots = given["x"], given.get("x_dot")
    assert isinstance(directions, gast.Tuple)
    total: gast.expr | None = None
    for i in range(len(directions.elts)):
        if isinstance(dots, gast.Tuple) and is_none(dots.elts[i]):
            continue
        args = [item("x_dot" if j == i else "x", j) for j in range(len(directions.elts))]
        term = gast.Call(spelling(cofactor), [read("a"), *args], [])
        total = term if total is None else gast.BinOp(total, gast.Add(), term)
    assert total is not None
    return total


@rule(runtime.cofactor)
def cofactor_(a, *x, y, y_bar):
    """A symmetric form of many matrices, the next derivative of the determinant in one more direction."""
    return cofactor(a, *x, y_bar), [cofactor(a, y_bar) for direction in x]


@cofactor_.tangent
def cofactor_(a, *x, y, a_dot):
    return cofactor(a, *x, a_dot)


cofactor_.expand(lambda given: _cofactors_of(given, "y_bar"), _moved_cofactors)
cofactor_.infer(_like("a"))


@rule(runtime.polar)
def polar_(a, *, y, y_bar):
    """The unitary factor (Higham, Functions of Matrices, 2008, ch. 8): sums of singular values, no differences."""
    d = np.linalg.svd(a, full_matrices=False)
    v = np.conjugate(d[2].mT)
    g = np.conjugate(y_bar)
    inner = np.conjugate(d[0].mT) @ g @ v
    sums = d[1][..., :, np.newaxis] + d[1][..., np.newaxis, :]
    turned = d[0] @ ratio(inner - np.conjugate(inner.mT), sums) @ d[2]
    left = ratio(outside(g @ v, d[0]), d[1][..., np.newaxis, :]) @ d[2]
    right = ratio(outside(np.conjugate(g.mT) @ d[0], v), d[1][..., np.newaxis, :])
    return np.conjugate(turned + left + d[0] @ np.conjugate(right.mT))


@polar_.tangent
def polar_(a, *, y, a_dot):
    d = np.linalg.svd(a, full_matrices=False)
    v = np.conjugate(d[2].mT)
    inner = np.conjugate(d[0].mT) @ a_dot @ v
    sums = d[1][..., :, np.newaxis] + d[1][..., np.newaxis, :]
    turned = d[0] @ ratio(inner - np.conjugate(inner.mT), sums) @ d[2]
    left = ratio(outside(a_dot @ v, d[0]), d[1][..., np.newaxis, :]) @ d[2]
    right = ratio(outside(np.conjugate(a_dot.mT) @ d[0], v), d[1][..., np.newaxis, :])
    return turned + left + d[0] @ np.conjugate(right.mT)


# --- norms -----------------------------------------------------------------------------------------------------------
@elementwise(runtime.safe_power)
def safe_power_(x, p, *, z, z_bar):
    """A power of what is not negative; slope 0 at 0."""
    return z_bar * p * safe_power(x, p - 1.0)


@rule(runtime.norm_slope)
def norm_slope_(x, ord, axis=None, vectors=False, *, y, y_bar):
    """The second derivative of the root of a sum of powers, a symmetric form."""
    along = vector_axis(x, ord, axis, vectors)
    total = np.linalg.vector_norm(x, axis=along, keepdims=True, ord=ord)
    weight = safe_power(safe_divide(np.abs(x), total), ord - 2.0)
    radial = safe_divide(np.real(np.conjugate(x) * y_bar), np.abs(x) * np.abs(x))
    grown = safe_divide(np.sum(np.real(y * y_bar), axis=along, keepdims=True), total)
    return safe_divide(np.conjugate(y_bar), total) * weight + y * ((ord - 2.0) * radial + (1.0 - ord) * grown)


@norm_slope_.tangent
def norm_slope_(x, ord, axis=None, vectors=False, *, y, x_dot):
    along = vector_axis(x, ord, axis, vectors)
    total = np.linalg.vector_norm(x, axis=along, keepdims=True, ord=ord)
    weight = safe_power(safe_divide(np.abs(x), total), ord - 2.0)
    radial = safe_divide(np.real(np.conjugate(x) * x_dot), np.abs(x) * np.abs(x))
    grown = safe_divide(np.sum(np.real(y * x_dot), axis=along, keepdims=True), total)
    return safe_divide(np.conjugate(x_dot), total) * weight + y * ((ord - 2.0) * radial + (1.0 - ord) * grown)


@linear(runtime.to_matrices, "x")
def to_matrices_(x, axis=None, *, y, y_bar):
    """Axes to the end; back again."""
    return from_matrices(y_bar, x, axis)


@linear(runtime.from_matrices, "g")
def from_matrices_(g, x, axis=None, *, y, y_bar):
    """Axes back from the end; to it again."""
    return to_matrices(y_bar, axis)


norm_slope_.infer(_like("x"))
from_matrices_.infer(_like("x"))
polar_.infer(_like("a"))


# --- linear systems --------------------------------------------------------------------------------------------------
@linear(runtime.as_columns, "x")
def as_columns_(x, b, *, y, y_bar):
    """Vectors as columns; back again."""
    return from_columns(y_bar, b)


@linear(runtime.from_columns, "x")
def from_columns_(x, b, *, y, y_bar):
    """Columns as vectors; back again."""
    return as_columns(y_bar, b)


@linear(runtime.column_sums, "x")
def column_sums_(x, like, *, y, y_bar):
    """Sums over rows; repeated again."""
    return uncolumn_sums(y_bar, x)


@linear(runtime.uncolumn_sums, "g")
def uncolumn_sums_(g, x, *, y, y_bar):
    """Repeated over rows; summed again."""
    return column_sums(y_bar, g)


@rule(runtime.whole_inverse)
def whole_inverse_(p, a, *, y, y_bar):
    """A check."""
    return y_bar


@whole_inverse_.tangent
def whole_inverse_(p, a, *, y, p_dot):
    return p_dot


# --- named results ---------------------------------------------------------------------------------------------------
@rule(runtime.field)
def field_(x, name, *, y, y_bar):
    """A field of a named tuple."""
    return unfield(y_bar, x, name)


@field_.tangent
def field_(x, name, *, y, x_dot):
    return field_of(x_dot, x, name)


@linear(runtime.field_of, "g")
def field_of_(g, x, name, *, y, y_bar):
    """One item; put back."""
    return unfield(y_bar, x, name)


@linear(runtime.unfield, "g")
def unfield_(g, x, name, *, y, y_bar):
    """Put back; taken again."""
    return field_of(y_bar, x, name)


@field_.infer
def field_(arguments, literals):
    x = arguments["x"]
    if isinstance(x, Sequence) and x.items is not None and literals.get("name") in x.fields:
        return x.items[x.fields.index(literals["name"])]
    return Unknown()
