"""Strong zeros: a cotangent or tangent that is zero stays zero, whatever the partial derivative is.

IEEE arithmetic makes ``0 * inf`` and ``0 / 0`` nan, so that an element which is masked out of a result still sends nan
back through a partial that is infinite or undefined there.  With the option ``strong_zeros`` each term of a formula is
guarded by what it is multiplied by::

    z_bar / (2.0 * z)              ->     where_nonzero(z_bar, z_bar / (2.0 * z))

An elementwise term is guarded element by element, one of a reduction (a norm, a standard deviation) for each of its
results.  Any other one, whose elements mix, only as a whole: it is zero where all of the cotangent is.  Only what is
undefined is replaced: a cotangent that is zero at one point has derivatives, which defined partials let through.  Terms
whose coefficients do not depend on numbers of the call (a sum, a difference) are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.rules.formula import object_of, spelling
from srcgrad.rules.reading import readings
from srcgrad.rules.rewriting import locals_in, read
from srcgrad.syntax.globals import call_runtime

if TYPE_CHECKING:
    from srcgrad.rules.template import Rule


def guarded(rule: Rule, lines: Iterable[tuple[str, gast.expr]], term: gast.expr, seed: str) -> gast.expr:
    """A term of an adjoint or a tangent, kept zero where its ``seed``, the name of what it is linear in, is zero."""
    if not _has_coefficient(rule, lines, term):
        return term
    if _reduces(rule):
        operand, over = read(rule.parameters[0]), [read("axis"), read("keepdims")]
        if seed == rule.adjoint:
            return call_runtime(runtime.where_nonzero, call_runtime(runtime.unreduce, read(seed), operand, *over), term)
        moving = gast.Call(spelling(np.any), [read(seed)], [gast.keyword(each.id, each) for each in over])
        return call_runtime(runtime.where_nonzero, moving, term)
    if not rule.pointwise:
        return call_runtime(runtime.if_nonzero, read(seed), term)
    if isinstance(term, gast.Call) and object_of(term.func) in _RESHAPING:
        inner, *others = term.args
        return gast.Call(term.func, [guarded(rule, lines, inner, seed), *others], term.keywords)
    return call_runtime(runtime.where_nonzero, read(seed), term)


_RESHAPING = (runtime.unbroadcast, runtime.rebroadcast)  # of what has the shape of the result


def _reduces(rule: Rule) -> bool:
    """Whether each result is made of elements of the first operand, over ``axis``."""
    return {"axis", "keepdims"} <= {*rule.parameters} and not {"q", "return_sign"} & {*rule.parameters}


def _has_coefficient(rule: Rule, lines: Iterable[tuple[str, gast.expr]], term: gast.expr) -> bool:
    """Whether a term reads a number that may be infinite: of an operand, or of the result."""
    by_name = dict(lines)
    needed, pending = [term], locals_in(term)
    while pending:
        if (value := by_name.pop(pending.pop(), None)) is not None:
            needed.append(value)
            pending += locals_in(value)
    reads, _ = readings(needed)
    return bool(reads & (rule.differentiable | {rule.result}))
