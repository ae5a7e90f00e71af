"""Python's own functions on numbers and sequences, and those of ``math`` that take several."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import math
import statistics

import numpy as np

from srcgrad.rules.arguments import is_real
from srcgrad.rules.facts import Array, Sequence, as_array, element, is_floating, join, number
from srcgrad.rules.results import scalar_sum
from srcgrad.rules.table import elementwise, rule
from srcgrad.runtime import (
    add,
    argsorted,
    chosen,
    chosen_number,
    float_tangent,
    gather,
    rebroadcast,
    running_product,
    safe_divide,
    spread,
    total,
    unarray,
    unbroadcast,
    ungather,
    untake,
)


@rule(sum)
def sum_(iterable, start=0, *, y, y_bar):
    """The sum of a sequence: each item, and the start, receives it."""
    return spread(y_bar, iterable), unbroadcast(y_bar, start)


@sum_.tangent
def sum_(iterable, start=0, *, y, iterable_dot, start_dot):
    return total(iterable_dot, y), rebroadcast(start_dot, y)


@sum_.infer
def sum_(arguments, literals):
    match arguments["iterable"]:
        case Sequence(_, items) as sequence:
            start = [arguments["start"]] if "start" in arguments else []
            if items is not None:
                return scalar_sum([*items, *start])
            return join(scalar_sum(start), scalar_sum([element(sequence), *start]))  # of no items it is the start
        case Array((length,), dtype) if "start" not in arguments:
            made = number(dtype if is_floating(dtype) else None)
            return made if isinstance(length, int) and length else join(scalar_sum([]), made)
    return Array()


@rule(math.fsum)
def fsum(seq, *, y, y_bar):
    """The sum of numbers."""
    return spread(y_bar, seq)


@fsum.tangent
def fsum(seq, *, y, seq_dot):
    return total(seq_dot, y)


fsum.infer(lambda arguments, literals: number("float"))


@rule(math.prod)
def prod_(iterable, start=1, *, y, y_bar):
    """The product of numbers, or of arrays of one shape, exact where some are zero."""
    values = np.array(iterable)
    others = running_product(values, 0) * running_product(values, 0, True)
    weight = unbroadcast(y_bar * start, values[0])
    return unarray(weight * others, iterable), unbroadcast(y_bar * np.prod(values, 0), start)


@prod_.tangent
def prod_(iterable, start=1, *, y, iterable_dot, start_dot):
    values = np.array(iterable)
    others = running_product(values, 0) * running_product(values, 0, True)
    return start * np.sum(np.array(iterable_dot) * others, 0), start_dot * np.prod(values, 0)


@rule(statistics.mean, statistics.fmean)
def mean_(data, *, y, y_bar):
    """The mean of numbers."""
    return spread(y_bar / len(data), data)


@mean_.tangent
def mean_(data, *, y, data_dot):
    return total(data_dot, y) / len(data)


@rule(statistics.variance)
def variance(data, *, y, y_bar):
    """The variance of a sample: twice the distance from its mean over one less than their number."""
    values = np.array(data)
    return unarray(2.0 * y_bar * (values - np.mean(values)) / (len(values) - 1), data)


@variance.tangent
def variance(data, *, y, data_dot):
    values = np.array(data)
    return 2.0 * np.dot(values - np.mean(values), np.array(data_dot)) / (len(values) - 1)


@rule(statistics.pvariance)
def pvariance(data, *, y, y_bar):
    """The variance of a whole population."""
    values = np.array(data)
    return unarray(2.0 * y_bar * (values - np.mean(values)) / len(values), data)


@pvariance.tangent
def pvariance(data, *, y, data_dot):
    values = np.array(data)
    return 2.0 * np.dot(values - np.mean(values), np.array(data_dot)) / len(values)


@rule(statistics.stdev)
def stdev(data, *, y, y_bar):
    """The root of a sample's variance, with slope 0 where all are equal."""
    values = np.array(data)
    return unarray(safe_divide(y_bar, y) * (values - np.mean(values)) / (len(values) - 1), data)


@stdev.tangent
def stdev(data, *, y, data_dot):
    values = np.array(data)
    return np.dot(safe_divide(values - np.mean(values), y), np.array(data_dot)) / (len(values) - 1)


@rule(statistics.pstdev)
def pstdev(data, *, y, y_bar):
    """The root of a population's variance, with slope 0 where all are equal."""
    values = np.array(data)
    return unarray(safe_divide(y_bar, y) * (values - np.mean(values)) / len(values), data)


@pstdev.tangent
def pstdev(data, *, y, data_dot):
    values = np.array(data)
    return np.dot(safe_divide(values - np.mean(values), y), np.array(data_dot)) / len(values)


for _rule in (mean_, variance, pvariance, stdev, pstdev):
    _rule.infer(lambda arguments, literals: number("float"))


if hasattr(math, "sumprod"):  # Python 3.12

    @rule(math.sumprod)
    def sumprod(p, q, *, y, y_bar):
        """The sum of the products of two sequences of numbers."""
        return unarray(y_bar * np.array(q), p), unarray(y_bar * np.array(p), q)

    @sumprod.tangent
    def sumprod(p, q, *, y, p_dot, q_dot):
        return np.dot(np.array(p_dot), np.array(q)), np.dot(np.array(p), np.array(q_dot))


# --- choices ---------------------------------------------------------------------------------------------------------
@elementwise(max)
def max_(*args, z, z_bar):
    """The greatest argument, the first of equals."""
    place = chosen_number(args, True)
    return [z_bar * (place == i) for i, x in enumerate(args)]


@max_.when(args=lambda argument: argument.count == 1)
def max_(*args, z, z_bar):
    """The greatest item of a sequence."""
    return [untake(z_bar, x, chosen(x, True)) for x in args]


@max_.tangent_when(args=lambda argument: argument.count == 1)
def max_(*args, z, args_dot):
    return args_dot[0][chosen(args[0], True)]


@elementwise(min)
def min_(*args, z, z_bar):
    """The smallest argument, the first of equals."""
    place = chosen_number(args, False)
    return [z_bar * (place == i) for i, x in enumerate(args)]


@min_.when(args=lambda argument: argument.count == 1)
def min_(*args, z, z_bar):
    """The smallest item of a sequence."""
    return [untake(z_bar, x, chosen(x, False)) for x in args]


@min_.tangent_when(args=lambda argument: argument.count == 1)
def min_(*args, z, args_dot):
    return args_dot[0][chosen(args[0], False)]


def _choice(arguments, literals):
    match arguments["args"]:
        case Sequence(_, (Array(shape=(_,), dtype=dtype),)):  # of one array: one of its elements
            return number(dtype)
        case Sequence(_, (Sequence(_, items),)) | Sequence(_, items) if items:
            facts = [as_array(item) for item in items]
            if all(fact.shape == () for fact in facts):
                same = all(fact.dtype == facts[0].dtype for fact in facts)
                are_numbers = all(fact.scalar for fact in facts)  # else it may be one of the arrays itself
                is_real = not same and all(fact.is_real for fact in facts)
                return Array((), facts[0].dtype if same else None, are_numbers, is_real)
    return Array()


max_.infer(_choice)
min_.infer(_choice)


@rule(sorted)
def sorted_(iterable, reverse=False, *, y, y_bar):
    """The items in order, equals as they were."""
    return ungather(y_bar, iterable, argsorted(iterable, reverse))


@sorted_.tangent
def sorted_(iterable, reverse=False, *, y, iterable_dot):
    return gather(iterable_dot, argsorted(iterable, reverse))


# --- numbers ---------------------------------------------------------------------------------------------------------
@rule(float, float_tangent)
def float_(x, *, y, y_bar):
    """A number as a float."""
    return unbroadcast(y_bar, x)


@float_.tangent
def float_(x, *, y, x_dot):
    return float_tangent(x_dot)


@float_.tangent_when(x=is_real)
def float_(x, *, y, x_dot):
    return float(x_dot)


float_.infer(lambda arguments, literals: number("float"))


@rule(divmod, np.divmod)
def divmod_(x1, x2, *, z, z_bar):
    """The quotient, a constant, and the remainder x1 - x2 * quotient."""
    return unbroadcast(z_bar[1], x1), unbroadcast(-z_bar[1] * z[0], x2)


@divmod_.tangent
def divmod_(x1, x2, *, z, x1_dot, x2_dot):
    return (0.0 * z[0], rebroadcast(x1_dot, z[1])), (0.0 * z[0], rebroadcast(-x2_dot * z[0], z[1]))


divmod_.sums = add


@rule(math.modf, np.modf)
def modf(x, *, z, z_bar):
    """The fraction, and the integer part, a constant."""
    return z_bar[0]


@modf.tangent
def modf(x, *, z, x_dot):
    return x_dot, 0.0 * z[1]


# --- several coordinates ---------------------------------------------------------------------------------------------
@elementwise(math.hypot)
def hypot_(*coordinates, z, z_bar):
    """The Euclidean norm of numbers, with slope 0 at the origin."""
    return [z_bar * safe_divide(x, z) for x in coordinates]


@rule(math.dist)
def dist(p, q, *, z, z_bar):
    """The distance of two points, with slope 0 where they meet."""
    step = safe_divide(z_bar, z) * (np.array(p) - np.array(q))
    return unarray(step, p), unarray(-step, q)


@dist.tangent
def dist(p, q, *, z, p_dot, q_dot):
    step = safe_divide(np.array(p) - np.array(q), z)
    return np.dot(step, np.array(p_dot)), -np.dot(step, np.array(q_dot))


hypot_.infer(lambda arguments, literals: number("float"))
dist.infer(lambda arguments, literals: number("float"))
