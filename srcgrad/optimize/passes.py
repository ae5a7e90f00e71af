"""The order of the passes, and their fixed point.

Enters: a joint program, a gast function with plain structured statements, and the names that the compiler made.
Leaves: a function of equal results, with fewer and plainer statements.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import gast

from srcgrad.optimize.arithmetic import simplify
from srcgrad.optimize.backwards import read_backwards
from srcgrad.optimize.copies import uncopy
from srcgrad.optimize.effects import EXITS, Effects
from srcgrad.optimize.fill import fill
from srcgrad.optimize.fold import fold
from srcgrad.optimize.known import Known
from srcgrad.optimize.parts import untuple
from srcgrad.optimize.prune import prune, without_needless_reads
from srcgrad.optimize.purity import pure, silent
from srcgrad.optimize.scan import COMPOUND, blocks, statements_of
from srcgrad.optimize.sink import sink
from srcgrad.optimize.tidy import tidy
from srcgrad.syntax.depth import unless_too_deep
from srcgrad.syntax.marks import is_term_by_term
from srcgrad.syntax.parse import clone, names_read

_ROUNDS = 4
_KNOWN = (gast.Assign, gast.AugAssign, gast.Expr, gast.Assert, gast.Pass, *EXITS, *COMPOUND)


def optimize(
    function: gast.FunctionDef, temporaries: frozenset[str], *, raising: bool = False,
    data: frozenset[str] = frozenset(), numbers: frozenset[str] = frozenset(), cotangents: frozenset[str] = frozenset(),
) -> gast.FunctionDef:
    """A shorter function of the same results; ``function`` itself is left alone.

    ``temporaries`` are the compiler's names, which may vanish; a user's name goes only with what nobody reads.
    ``data``: names that hold numbers, arrays or containers, of which asking for the truth changes nothing.
    ``numbers``: names that hold numbers.  ``cotangents``: parameters that hold adjoints.
    ``raising``: what the function raises may be caught, so that what may raise is evaluated even for nothing.
    """
    if any(not isinstance(node, _KNOWN) for node in statements_of(function)):
        return function
    effects = Effects(pure, silent if raising else None, data)
    return unless_too_deep(lambda: _optimized(clone(function), temporaries, effects, numbers, cotangents))


def _optimized(
    function: gast.FunctionDef, temporaries: frozenset[str], effects: Effects, numbers: frozenset[str],
    cotangents: frozenset[str],
) -> gast.FunctionDef:
    known = Known(function, temporaries, effects, cotangents)
    changes = 0
    settled: dict[Callable[[Known], bool], int] = {}  # a pass that changed nothing, and after how many changes

    def run(shorten: Callable[[Known], bool]) -> bool:
        nonlocal changes
        if settled.get(shorten) == changes:
            return False
        changed = shorten(known)
        if changed:
            known.changed()
            changes += 1
        else:
            settled[shorten] = changes
        return changed

    for _ in range(_ROUNDS):
        run(prune)  # dead statements go first: folding must not meet reads that will vanish
        if not any([run(shorten) for shorten in (simplify, tidy, sink, uncopy, untuple, fold)]):  # noqa: C419, all have to run
            break
    else:
        run(prune)
    without_needless_reads(function)
    fill(function)
    for block, _ in blocks(function):
        block[:] = [term for statement in block for term in _terms(statement)]
    if not any(isinstance(statement, gast.Try) for statement in known.statements):
        read_backwards(function, numbers)
    return function


def _terms(statement: gast.stmt) -> list[gast.stmt]:
    """``x += a + b`` as ``x += a; x += b``, where that is allowed and ``b`` does not read x."""
    match statement:
        case gast.AugAssign(target=gast.Name(id=name), op=gast.Add(), value=gast.BinOp(op=op) as both):
            if is_term_by_term(statement) and isinstance(op, gast.Add | gast.Sub) and name not in names_read(both):
                before, after = copy(statement), copy(statement)
                before.value, after.op, after.value = both.left, op, both.right
                return [*_terms(before), after]
    return [statement]
