"""Which adjoints are left as they are until their operands' own adjoints are formed.

Enters: a function and its facts.  Leaves: ``Deferral``.  An adjoint of a broadcast operand is summed down to its shape,
and that of a real one loses its imaginary part; of a temporary that another elementwise operation made it may wait::

    t = u * v;  s = t + x        t_bar = s_bar            in the shape of s, since t is read once
                                 u_bar = unbroadcast(t_bar * v, u)
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.cfg import blocks_of, bound_here, walk
from srcgrad.ir.normal_form import Apply, Bind, Fixed, Function
from srcgrad.rules.facts import Array, Fact, is_real, keeps_complex

#: Functions of one array whose adjoint is a product with values of that array, or of the result.
_SLOPED = frozenset((np.exp, np.exp2, np.expm1, np.log, np.sin, np.cos, np.tanh, np.square))


@dataclass(frozen=True)
class Deferral:
    """``reducing``: temporaries whose adjoint may be of a larger shape; ``real``: real numbers whose may be complex."""

    reducing: frozenset[str]
    real: frozenset[str]
    spread: frozenset[str] = frozenset()  # what is only summed, whose adjoint need not be spread over them
    made_from: dict[str, str] = field(default_factory=dict)  # temporary with such an adjoint -> the name of that shape


def deferral_of(function: Function, facts: Mapping[str, Fact], shadowed: Collection[str]) -> Deferral:
    reducing, real = _reducing(function, facts), _real(function, facts)
    spread = _spread(function, facts, reducing).difference(shadowed)
    return Deferral(reducing.difference(shadowed), real.difference(shadowed), spread)


def _spread(function: Function, facts: Mapping[str, Fact], once: Collection[str]) -> frozenset[str]:
    """Of temporaries that are read once, what the same block sums or averages of an array of float64: products of two
    arrays, and functions whose slope has the shape of the array."""
    found: set[str] = set()
    made: set[str] = set()
    pending = [function.body]
    while pending:
        block = pending.pop()
        made.clear()
        for statement in block.statements:
            pending += blocks_of(statement)
            match statement:
                case Bind(target=target, operation=Apply(function=called, arguments=arguments)):
                    operands = [n for e in arguments.values() for n in atoms(e)]
                    if called in (np.sum, np.mean) and _is_in_floats(facts.get(target)):
                        found.update(made.intersection(operands[:1]))
                    elif called in (operator.mul, np.multiply) and len(operands) == len(arguments) == 2:
                        if target in once and all(_is_of_floats(facts.get(n)) for n in (*operands, target)):
                            made.add(target)
                    elif called in _SLOPED and len(operands) == len(arguments) == 1:
                        if target in once and all(_is_of_floats(facts.get(n)) for n in (*operands, target)):
                            made.add(target)
    return frozenset(found)


def _is_of_floats(fact: Fact | None) -> bool:
    return isinstance(fact, Array) and bool(fact.shape) and _is_in_floats(fact)


def _is_in_floats(fact: Fact | None) -> bool:
    """Whether what has this fact is computed in floats (a sum of floats may be asked for in complex numbers), so that
    its adjoint has no imaginary part that spreading would drop."""
    return isinstance(fact, Array) and fact.dtype == "float64"


def _reducing(function: Function, facts: Mapping[str, Fact]) -> frozenset[str]:
    """Temporaries that only elementwise rules of fixed arity make, and that are read once.

    A variadic rule hands its partials on as they are, and any other operation needs the adjoint of its result in the
    shape of the result: an adjoint in a larger shape may reach neither.  Nor may an imaginary part reach the operand of
    a function that makes real numbers of complex ones: elsewhere it is dropped where the operands are found to be real.
    """
    made: set[str] = set()
    others: set[str] = set()
    reads: dict[str, int] = {}
    for statement in walk(function.body):
        for name in inputs(statement):
            reads[name] = reads.get(name, 0) + 1
        match statement:
            case Bind(target=target, operation=Apply() as apply) if _may_defer(apply, facts):
                made.add(target)
            case _:
                others.update(bound_here(statement))
    return frozenset(n for n in made & function.temporaries if n not in others and reads.get(n) == 1)


def _real(function: Function, facts: Mapping[str, Fact]) -> frozenset[str]:
    """Single numbers of unknown dtype whose adjoint may keep an imaginary part although they are real.

    What computes them makes no real numbers of complex ones, so that it is dropped further up.
    """
    found = {n for n, f in facts.items() if isinstance(f, Array) and f.shape == () and not (f.is_real or f.dtype)}
    for statement in walk(function.body):
        match statement:
            case Bind(operation=Fixed()):
                continue
            case Bind(operation=Apply(function=called)) if keeps_complex(called):
                continue
        found.difference_update(bound_here(statement))
    return frozenset(found.difference(function.parameters))


def _may_defer(apply: Apply, facts: Mapping[str, Fact]) -> bool:
    if apply.rule.kind != "elementwise" or apply.rule.variadic:
        return False
    operands = (facts.get(n) for e in apply.arguments.values() for n in atoms(e))
    return keeps_complex(apply.function) or all(isinstance(f, Array) and is_real(f.dtype) for f in operands)
