"""Which adjoints are left as they are until their operands' own adjoints are formed.

Enters: a function and its facts.  Leaves: ``Deferral``.  An adjoint of a broadcast operand is summed down to its shape,
and that of a real one loses its imaginary part; of a temporary that another elementwise operation made it may wait::

    t = u * v;  s = t + x        t_bar = s_bar            in the shape of s, since t is read once
                                 u_bar = unbroadcast(t_bar * v, u)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.ir.normal_form import Apply, Bind, Fixed, Function
from srcgrad.rules.facts import Array, Fact, is_real, keeps_complex


@dataclass(frozen=True)
class Deferral:
    """``reducing``: temporaries whose adjoint may be of a larger shape; ``real``: real numbers whose may be complex."""

    reducing: frozenset[str]
    real: frozenset[str]
    made_from: dict[str, str] = field(default_factory=dict)  # temporary with such an adjoint -> the name of that shape


def deferral_of(function: Function, facts: Mapping[str, Fact], shadowed: Collection[str]) -> Deferral:
    return Deferral(_reducing(function, facts).difference(shadowed), _real(function, facts).difference(shadowed))


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
