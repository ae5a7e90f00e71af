"""The methods of ufuncs: ``np.add.reduce``, ``np.maximum.accumulate``, ``np.add.reduceat``, ``np.multiply.outer``.

A reduction's axis is 0 unless it is given.  ``outer`` of an elementwise ufunc is the ufunc on the first operand lifted
above the axes of the second, so that its rule is the ufunc's own.  What a constant ufunc does is constant; ``at``
stores into its argument; what is left is refused.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined,arg-type"
from __future__ import annotations

from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad.rules.arguments import alike, other_than, rank
from srcgrad.rules.facts import Array, as_array, computed, is_floating
from srcgrad.rules.formula import Formula, is_none, spelling
from srcgrad.rules.results import dtype_of, reduced
from srcgrad.rules.rewriting import read, rebuilt, substituted
from srcgrad.rules.table import constant, enter, is_constant, linear, lookup, refused, rule
from srcgrad.rules.template import Rule
from srcgrad.runtime import (
    exp_share,
    if_floating,
    in_dtype,
    initial_share,
    latest,
    lifted,
    others,
    present,
    rebroadcast,
    recurrence,
    running_product,
    safe_divide,
    segment_ties,
    shifted,
    ties,
    unarray,
    unbroadcast,
    uncumsum,
    unlifted,
    unreduce,
    unreduceat,
    untake_along,
)
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk


# --- reduce ----------------------------------------------------------------------------------------------------------
@linear(np.add.reduce, "array", "initial")
def add_reduce(array, axis=0, dtype=None, keepdims=False, initial=0, where=True, *, y, y_bar):
    """The sum over axes, the first unless they are given."""
    return (
        unreduce(if_floating(y_bar, dtype), array, axis, keepdims, where),
        unbroadcast(if_floating(y_bar, np.result_type(y)), initial),
    )


@add_reduce.tangent
def add_reduce(array, axis=0, dtype=None, keepdims=False, initial=0, where=True, *, y, array_dot, initial_dot):
    slope = np.sum(array_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return if_floating(slope, dtype), if_floating(rebroadcast(initial_dot, y), np.result_type(y))


@rule(np.multiply.reduce)
def multiply_reduce(array, axis=0, dtype=None, keepdims=False, initial=1, where=True, *, y, y_bar):
    """The product over axes, the first unless they are given."""
    x = np.where(where, in_dtype(array, dtype), 1.0)
    g = if_floating(y_bar, dtype)
    slope = initial * others(x, axis)
    by_array = np.where(where, unreduce(g, slope, axis, keepdims) * slope, 0.0)
    by_initial = if_floating(y_bar, np.result_type(y)) * np.prod(x, axis=axis, keepdims=keepdims)
    return unarray(by_array, array), None, None, None, unbroadcast(by_initial, initial)


@multiply_reduce.tangent
def multiply_reduce(array, axis=0, dtype=None, keepdims=False, initial=1, where=True, *, y, array_dot, initial_dot):
    x = np.where(where, in_dtype(array, dtype), 1.0)
    slope = initial * others(x, axis)
    by_array = np.sum(in_dtype(array_dot, dtype) * slope, axis=axis, keepdims=keepdims, where=where)
    by_initial = initial_dot * np.prod(x, axis=axis, keepdims=keepdims)
    return if_floating(rebroadcast(by_array, y), dtype), if_floating(rebroadcast(by_initial, y), np.result_type(y))


@rule(np.maximum.reduce, np.minimum.reduce)
def maximum_reduce(array, axis=0, dtype=None, keepdims=False, initial=None, where=True, *, y, y_bar):
    """An extremum over axes: ties share."""
    return (
        unreduce(if_floating(y_bar, dtype), array, axis, keepdims) * ties(array, y, axis, initial, where),
        None, None, None,
        unbroadcast(if_floating(y_bar, np.result_type(y)) * initial_share(initial, y, array, axis, where), initial),
    )  # fmt: skip


@maximum_reduce.tangent
def maximum_reduce(array, axis=0, dtype=None, keepdims=False, initial=None, where=True, *, y, array_dot, initial_dot):
    by_array = np.sum(array_dot * ties(array, y, axis, initial, where), axis=axis, keepdims=keepdims)
    by_initial = initial_dot * initial_share(initial, y, array, axis, where)
    return if_floating(rebroadcast(by_array, y), dtype), if_floating(rebroadcast(by_initial, y), np.result_type(y))


@rule(np.fmax.reduce, np.fmin.reduce)
def fmax_reduce(array, axis=0, dtype=None, keepdims=False, initial=None, where=True, *, y, y_bar):
    """An extremum of the numbers, nan left out: ties share."""
    numbers = present(array, where)
    g = if_floating(y_bar, dtype)
    by_array = unreduce(g, array, axis, keepdims, numbers) * ties(array, y, axis, initial, numbers)
    by_initial = if_floating(y_bar, np.result_type(y)) * initial_share(initial, y, array, axis, numbers)
    return by_array, None, None, None, unbroadcast(by_initial, initial)


@fmax_reduce.tangent
def fmax_reduce(array, axis=0, dtype=None, keepdims=False, initial=None, where=True, *, y, array_dot, initial_dot):
    numbers = present(array, where)
    by_array = np.sum(array_dot * ties(array, y, axis, initial, numbers), axis=axis, keepdims=keepdims)
    by_initial = initial_dot * initial_share(initial, y, array, axis, numbers)
    return if_floating(rebroadcast(by_array, y), dtype), if_floating(rebroadcast(by_initial, y), np.result_type(y))


@rule(np.logaddexp.reduce)
def logaddexp_reduce(array, axis=0, keepdims=False, initial=-np.inf, where=True, *, y, y_bar):
    """The logarithm of a sum of exponentials: each element's share of the sum."""
    whole = unreduce(y, array, axis, keepdims)
    equals = np.count_nonzero(array == whole, axis=axis, keepdims=True)
    by_array = unreduce(y_bar, array, axis, keepdims, where) * exp_share(array, whole, equals)
    return by_array, None, None, unbroadcast(y_bar * exp_share(initial, y), initial)


@logaddexp_reduce.tangent
def logaddexp_reduce(array, axis=0, keepdims=False, initial=-np.inf, where=True, *, y, array_dot, initial_dot):
    whole = unreduce(y, array, axis, keepdims)
    equals = np.count_nonzero(array == whole, axis=axis, keepdims=True)
    slope = array_dot * exp_share(array, whole, equals)
    by_array = np.sum(slope, axis=axis, keepdims=keepdims, where=where)
    return rebroadcast(by_array, y), rebroadcast(initial_dot * exp_share(initial, y), y)


@rule(np.logaddexp2.reduce)
def logaddexp2_reduce(array, axis=0, keepdims=False, initial=-np.inf, where=True, *, y, y_bar):
    """The binary logarithm of a sum of powers of 2; 0.693... is log 2."""
    whole = unreduce(y, array, axis, keepdims)
    equals = np.count_nonzero(array == whole, axis=axis, keepdims=True)
    share = exp_share(array * 0.6931471805599453, whole * 0.6931471805599453, equals)
    by_initial = y_bar * exp_share(initial * 0.6931471805599453, y * 0.6931471805599453)
    return unreduce(y_bar, array, axis, keepdims, where) * share, None, None, unbroadcast(by_initial, initial)


@logaddexp2_reduce.tangent
def logaddexp2_reduce(array, axis=0, keepdims=False, initial=-np.inf, where=True, *, y, array_dot, initial_dot):
    whole = unreduce(y, array, axis, keepdims)
    equals = np.count_nonzero(array == whole, axis=axis, keepdims=True)
    slope = array_dot * exp_share(array * 0.6931471805599453, whole * 0.6931471805599453, equals)
    by_array = np.sum(slope, axis=axis, keepdims=keepdims, where=where)
    by_initial = initial_dot * exp_share(initial * 0.6931471805599453, y * 0.6931471805599453)
    return rebroadcast(by_array, y), rebroadcast(by_initial, y)


@rule(np.hypot.reduce)
def hypot_reduce(array, axis=0, keepdims=False, initial=0, where=True, *, y, y_bar):
    """The Euclidean length, with slope 0 at the origin."""
    by_array = unreduce(safe_divide(y_bar, y), array, axis, keepdims, where) * array
    return by_array, None, None, unbroadcast(safe_divide(y_bar, y) * initial, initial)


@hypot_reduce.tangent
def hypot_reduce(array, axis=0, keepdims=False, initial=0, where=True, *, y, array_dot, initial_dot):
    by_array = np.sum(array_dot * array, axis=axis, keepdims=keepdims, where=where)
    return rebroadcast(safe_divide(by_array, y), y), rebroadcast(safe_divide(initial_dot * initial, y), y)


def _kept(dtype):
    """The dtype of a reduction by any ufunc: that of floating numbers; which of integers, differs."""
    return dtype if is_floating(dtype) else None


def reduce_result(arguments, literals):
    """The fact of a reduction; the first axis goes unless others are given."""
    array = as_array(arguments["array"])
    return reduced(array, dtype_of(arguments, literals, _kept(array.dtype)), literals)


for reduce_ in (add_reduce, multiply_reduce, maximum_reduce, fmax_reduce):
    reduce_.infer(reduce_result)
for logarithm_ in (logaddexp_reduce, logaddexp2_reduce, hypot_reduce):
    logarithm_.accept(ignored=("dtype",))  # there are loops for real floating numbers alone


# --- accumulate ------------------------------------------------------------------------------------------------------
@linear(np.add.accumulate, "array")
def add_accumulate(array, axis=0, dtype=None, *, y, y_bar):
    """Running sums along an axis, the first unless it is given."""
    return uncumsum(if_floating(y_bar, dtype), array, axis)


@add_accumulate.tangent_when(other_than(dtype=None))
def add_accumulate(array, axis=0, dtype=None, *, y, array_dot):
    return if_floating(np.cumsum(array_dot, axis, dtype), dtype)


@rule(np.multiply.accumulate)
def multiply_accumulate(array, axis=0, dtype=None, *, y, y_bar):
    """Running products, exact where factors are zero."""
    x = in_dtype(array, dtype)
    g = if_floating(y_bar, dtype)
    slope = running_product(x, axis) * (g + recurrence(g * x, x, axis, True))
    return unarray(slope, array)


@multiply_accumulate.tangent
def multiply_accumulate(array, axis=0, dtype=None, *, y, array_dot):
    x = in_dtype(array, dtype)
    before = in_dtype(array_dot, dtype) * running_product(x, axis)
    return if_floating(rebroadcast(before + x * recurrence(before, x, axis), y), dtype)


@rule(np.maximum.accumulate, np.minimum.accumulate, np.fmax.accumulate, np.fmin.accumulate)
def maximum_accumulate(array, axis=0, dtype=None, *, y, y_bar):
    """Running extrema: each is taken from one element, the latest of equals (PyTorch's cummax)."""
    return untake_along(if_floating(y_bar, dtype), array, latest(array, y, axis), axis)


@maximum_accumulate.tangent
def maximum_accumulate(array, axis=0, dtype=None, *, y, array_dot):
    return if_floating(rebroadcast(np.take_along_axis(array_dot, latest(array, y, axis), axis), y), dtype)


@rule(np.logaddexp.accumulate)
def logaddexp_accumulate(array, axis=0, *, y, y_bar):
    """Running logarithms of sums of exponentials: of each, the share of the one before and that of the element."""
    before = shifted(y, axis, -np.inf)
    equals = np.where(before == array, 2, 1)
    kept = exp_share(before, y, equals)
    return (y_bar + recurrence(kept * y_bar, kept, axis, True)) * exp_share(array, y, equals)


@logaddexp_accumulate.tangent
def logaddexp_accumulate(array, axis=0, *, y, array_dot):
    before = shifted(y, axis, -np.inf)
    equals = np.where(before == array, 2, 1)
    kept = exp_share(before, y, equals)
    slope = array_dot * exp_share(array, y, equals)
    return slope + kept * recurrence(slope, kept, axis)


@rule(shifted)
def shifted_(x, axis, fill=0.0, step=1, *, y, y_bar):
    """Moved along an axis; moved back."""
    return shifted(y_bar, axis, 0.0, -step)


@shifted_.tangent
def shifted_(x, axis, fill=0.0, step=1, *, y, x_dot):
    return shifted(x_dot, axis, 0.0, step)


def accumulate_result(arguments, literals):
    """The fact of an accumulation."""
    array = as_array(arguments["array"])
    return Array(array.shape, dtype_of(arguments, literals, _kept(array.dtype)))


for accumulate_ in (add_accumulate, multiply_accumulate, maximum_accumulate, logaddexp_accumulate):
    accumulate_.infer(accumulate_result)


# --- reduceat --------------------------------------------------------------------------------------------------------
@linear(np.add.reduceat, "array")
def add_reduceat(array, indices, axis=0, dtype=None, *, y, y_bar):
    """Sums over segments."""
    return unreduceat(if_floating(y_bar, dtype), array, indices, axis)


@add_reduceat.tangent_when(other_than(dtype=None))
def add_reduceat(array, indices, axis=0, dtype=None, *, y, array_dot):
    return if_floating(np.add.reduceat(array_dot, indices, axis, dtype), dtype)


@rule(np.maximum.reduceat, np.minimum.reduceat)
def maximum_reduceat(array, indices, axis=0, dtype=None, *, y, y_bar):
    """Extrema over segments that do not overlap: ties share."""
    return unreduceat(if_floating(y_bar, dtype), array, indices, axis) * segment_ties(array, y, indices, axis)


@maximum_reduceat.tangent
def maximum_reduceat(array, indices, axis=0, dtype=None, *, y, array_dot):
    slope = np.add.reduceat(array_dot * segment_ties(array, y, indices, axis), indices, axis)
    return if_floating(rebroadcast(slope, y), dtype)


@linear(unreduceat, "g")
def unreduceat_(g, a, indices, axis=0, *, y, y_bar):
    """Spread over segments; summed again."""
    return unbroadcast(np.add.reduceat(y_bar, indices, axis), g)


# --- outer -----------------------------------------------------------------------------------------------------------
#: Stand in the text below for what the ufunc's own rule returns.
PARTIALS: tuple[Any, ...] = ()
TERMS: tuple[Any, ...] = ()


@linear(lifted, "a")
def lifted_(a, b, *, y, y_bar):
    """With more axes; without them again."""
    return unlifted(y_bar, a)


@linear(unlifted, "g")
def unlifted_(g, a, *, y, y_bar):
    """Without axes; with them again."""
    return np.reshape(y_bar, np.shape(g))


def outer(A, B, *, C, C_bar):
    """The ufunc of the first operand, lifted above the axes of the second, and the second."""
    x1 = lifted(A, B)  # noqa: F841  (the formulas that take the places of PARTIALS and TERMS read it)
    return unlifted(PARTIALS[0], A), PARTIALS[1]


def outer_of_vectors(A, B, *, C, C_bar):
    """The same of two vectors: each answers for a sum over the other's axis."""
    x1 = lifted(A, B)  # noqa: F841
    return np.sum(PARTIALS[0], axis=1), np.sum(PARTIALS[1], axis=0)


def outer_tangent(A, B, *, C, A_dot, B_dot):
    x1 = lifted(A, B)  # noqa: F841
    x1_dot = lifted(A_dot, B)  # noqa: F841
    return TERMS[0], TERMS[1]


class Outer(Rule):
    """The rule of ``ufunc.outer``, put together from that of the ufunc when it is first needed."""

    def __init__(self, ufunc: np.ufunc) -> None:
        super().__init__("rule", (ufunc.outer,), outer)
        self.ufunc = ufunc
        self.tangent(outer_tangent)
        own = lookup(ufunc)
        if own is not None and own.kind == "elementwise":
            self.when(alike("A", "B"), A=rank(1), B=rank(1))(outer_of_vectors)
        self.infer(self._result)

    def _result(self, arguments, literals):
        a, b = as_array(arguments["A"]), as_array(arguments["B"])
        shape = None if a.shape is None or b.shape is None else a.shape + b.shape
        dtype = computed(self.ufunc, [a, b]).dtype
        return Array(shape, dtype if is_floating(dtype) else None, shape == ())

    def _formula(self, template: FunctionType) -> Formula:
        if template not in self._formulas:
            written = super()._formula(template)
            self._formulas[template] = self._completed(written, template)
        return self._formulas[template]

    def _completed(self, written: Formula, template: FunctionType) -> Formula:
        """The text above with the ufunc's partials, or terms of its tangent, in their places."""
        is_tangent, is_summed = template is outer_tangent, template is outer_of_vectors
        own = lookup(self.ufunc)
        assert own is not None
        names = {own.parameters[0]: "x1", own.parameters[1]: "B", own.result: "C", own.adjoint: "C_bar"}
        dots = dict(zip(own.parameters, ("x1_dot", "B_dot"), strict=False))
        diagonal = own.kind == "elementwise"
        own_template = own._tangent if is_tangent and not diagonal else own.template
        assert own_template is not None
        formula, partials = own._formula(own_template), own._partials(own_template)
        lines = [*written.body]
        made: list[gast.expr] = []
        for p, operand in zip(own.parameters, ("x1", "B"), strict=False):
            if p not in partials:
                made.append(gast.Constant(None, None))
                continue
            seed = {own.adjoint: dots[p]} if is_tangent and diagonal else {f"{q}_dot": dot for q, dot in dots.items()}
            renamed = names | seed | {name: f"{name}_{operand}" for name, _ in formula.body}
            binding = {name: read(other) for name, other in renamed.items()}
            lines += [(renamed[name], substituted(value, binding)) for name, value in formula.body]
            value = substituted(partials[p], binding)
            if diagonal and not is_summed:
                fit, like = (rebroadcast, "C") if is_tangent else (unbroadcast, operand)
                value = gast.Call(spelling(fit), [value, read(like)], [])
            made.append(value)
        return Formula(tuple(lines), tuple(_filled(term, made) for term in written.returned))


def _filled(term: gast.expr, made: list[gast.expr]) -> gast.expr:
    """``term`` with ``PARTIALS[i]`` replaced; None where that is None."""
    def change(node):
        match node:
            case gast.Subscript(value=GlobalReference(), slice=gast.Constant(value=int() as i)):
                return made[i]
        return None

    found = [n.slice.value for n in walk(term) if isinstance(n, gast.Subscript)]
    if any(is_none(made[i]) for i in found):
        return gast.Constant(None, None)
    return rebuilt(term, change)


# --- all ufuncs ------------------------------------------------------------------------------------------------------
def _enter(ufunc: np.ufunc) -> None:
    """Every method of a ufunc in one of the three lists."""
    name = f"np.{ufunc.__name__}"
    if ufunc in (np.add, np.subtract):
        refused(
            "E0302",
            "it gives no value; what it stores is differentiated",
            ufunc.at,
            hint="write it as a statement of its own",
        )
    else:
        refused(
            "E0302", "it repeats its operation where an index is repeated", ufunc.at,
            hint="where no index is repeated, store the result of the ufunc: y[i] = np.multiply(y[i], e)",
        )  # fmt: skip
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        return
    found = lookup(ufunc)
    methods = (ufunc.reduce, ufunc.accumulate, ufunc.reduceat, ufunc.outer)
    if is_constant(ufunc):
        constant(*methods)
        return
    if found is not None and not found.differentiable:
        constant(ufunc.outer)  # the other methods hand the first element on as it is
    elif found is not None:
        enter(Outer(ufunc))
    for method in methods:
        if lookup(method) is None and not is_constant(method):
            refused(
                "E0503", f"the derivative of {name}.{method.__name__} is not known",
                method,
                hint=_HINTS.get(f"{ufunc.__name__}.{method.__name__}", f"write a loop over {name}"),
            )


_HINTS = {
    "subtract.reduce": "x[0] - np.sum(x[1:], axis=0)",
    "divide.reduce": "x[0] / np.prod(x[1:], axis=0)",
    "multiply.reduceat": "np.array([np.prod(part) for part in np.split(x, indices[1:])])",
    "hypot.accumulate": "np.sqrt(np.cumsum(x * x))",
    "logaddexp2.accumulate": "np.logaddexp.accumulate(x * np.log(2.0)) / np.log(2.0)",
}

for ufunc_ in dict.fromkeys(value for value in vars(np).values() if isinstance(value, np.ufunc)):
    _enter(ufunc_)
