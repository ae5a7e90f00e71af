"""What the functions of ``math`` read of their operands: the real part, where one may be a complex number of NumPy's.

They ask a number for a float, which one of NumPy's gives without its imaginary part.  So the formula of ``math.sin(x)``
reads ``np.real(x)`` unless ``x`` is known to be real.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import gast

from srcgrad.rules.facts import Array, Fact, is_real
from srcgrad.syntax.globals import GlobalReference
from srcgrad.transform.build import numpy_call

#: They take sequences, or compute with the operators of what they are given.
_OTHERS = frozenset({math.dist, math.fsum, math.prod, getattr(math, "sumprod", math.prod)})


def real_operand(
    function: object, operand: gast.expr, read: gast.expr, fact_of: Callable[[gast.expr], Fact]
) -> gast.expr:
    """``read``, which stands for ``operand`` of a call of ``function``, or the real part of it."""
    if getattr(function, "__module__", None) != "math" or function in _OTHERS:
        return read
    if isinstance(operand, gast.Tuple) and isinstance(read, gast.Tuple):
        pairs = zip(operand.elts, read.elts, strict=True)
        return gast.Tuple([real_operand(function, part, value, fact_of) for part, value in pairs], gast.Load())
    if not isinstance(operand, gast.Name) or isinstance(operand, GlobalReference):
        return read
    if isinstance(read, gast.Constant):  # the tangent of what does not vary
        return read
    fact = fact_of(operand)
    if isinstance(fact, Array) and (fact.is_real or is_real(fact.dtype)):
        return read
    return numpy_call("real", read)
