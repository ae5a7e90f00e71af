"""What is gone over in a ``try`` and may be no container: it is asked before, as ``iter`` asks it.

Enters: a statement that begins an iteration, and the exceptions that are caught around it.  Leaves: what it raises::

    try:                              raised = raised_iterating(None, (TypeError,), iter, q)
        for v in q: s = s * v   ->    if raised is None:
    except TypeError: ...                 t = q;  for v in t: s = s * v

Behind the question the value is that of containers alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad import runtime
from srcgrad.infer.data import is_data
from srcgrad.infer.iteration import ITERATORS, iterator_of
from srcgrad.infer.objects import CONTAINERS, class_of
from srcgrad.infer.values import SCALARS, Array, At, Exact, Of, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.specialise.instances import static_of
from srcgrad.syntax.globals import builtin, importable, of_runtime, reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from srcgrad.ir.operations import Version
    from srcgrad.specialise.parts import Apart, Around
    from srcgrad.specialise.reduced import Reduced


def as_iterated(made: Reduced, statement: Assign, operation: ir.Iterate) -> Assign | None:
    """A copy of what is gone over that is known to be less, by the iterators that there may be: where a test of its
    class goes before, nothing else comes here; None where no more is known."""
    source, (iterator,) = operation.source, statement.targets
    value, iterators = made.value(source), made.value(iterator)
    if len(value.atoms) < 2 or value.is_any or iterators.is_any or isinstance(source, Literal):
        return None
    kinds = {class_of(atom) for atom in iterators.atoms}
    known = {atom: iterator_of(np.ndarray if isinstance(atom, Array) else class_of(atom)) for atom in value.atoms}
    if None in kinds or None in known.values() or kinds.issuperset(known.values()):
        return None
    left = frozenset(atom for atom in value.atoms if known[atom] in kinds)
    return Assign((made.version("t", Value(left)),), ir.Copy(source), statement.node) if left else None


def asked_before(
    here: Apart, statement: Assign, around: Around, raised: Version
) -> tuple[list[Statement], list[Statement]] | None:
    """What asks, and what goes on where nothing was raised; None of what begins no iteration of plain values."""
    found = _begun(here, statement)
    if found is None or around.raised is None or not all(_is_plain(here.made.value(given)) for given in found[1]):
        return None
    how, given = found
    node, kinds = statement.node, here.version(exact(None))
    look = Literal(Spelled(reference(of_runtime(runtime.raised_iterating)), runtime.raised_iterating))
    caught = tuple(Literal(Spelled(reference(importable(kind.__name__, kind)), kind)) for kind in around.caught)
    asking = ir.Call(look, (Literal(None), kinds, Literal(Spelled(reference(builtin(how.__name__)), how)), *given))
    made: list[Statement] = [
        Assign((kinds,), ir.Make("tuple", caught), node), Assign((raised,), asking, node),
        Assign((), ir.WriteCell(around.raised, raised), node),
    ]  # fmt: skip
    own: dict[Operand, Operand] = {}
    taken: list[Statement] = []
    for operand in given:
        value = _gone_over(here.made.value(operand), how)
        if not value:
            return made, [replace(statement, operation=ir.Copy(Literal(None)))]  # it always raises
        own[operand] = held = here.version(value)
        here.uses[held] = 1
        taken.append(Assign((held,), ir.Copy(operand), node))
    begun = replace(statement, operation=with_operands(statement.operation, own.get))
    return made, [*taken, here.made.renewed(statement, begun)]


def _begun(here: Apart, statement: Assign) -> tuple[Any, Sequence[Operand]] | None:
    match statement.operation:
        case ir.Iterate(source=source):
            return iter, (source,)
        case ir.Call(function=function, positional=given, star=None, keywords=(), rest=None) if given:
            called = static_of(here.made.value(function))
            if called is zip or called is enumerate and len(given) == 1:
                return iter, given
            if called is reversed and len(given) == 1:
                return reversed, given
    return None


def _is_plain(value: Value) -> bool:
    """Whether to ask a value runs no code of the user's."""
    return value.consists_of(
        lambda a: isinstance(a, Array | Of) or isinstance(a, Exact) and type(a.value) in SCALARS
        or isinstance(a, At) and (is_data(a) or a.site.kind in (*CONTAINERS, *ITERATORS, range))
    )  # fmt: skip


def _gone_over(value: Value, how: Any) -> Value:
    """A value as far as it can be gone over."""

    def is_one(atom: Any) -> bool:
        if isinstance(atom, Array):
            return atom.rank != 0
        if isinstance(atom, At):
            return is_data(atom) or how is iter or hasattr(atom.site.kind, "__reversed__") or atom.site.kind is tuple
        kind = atom.kind if isinstance(atom, Of) else type(atom.value)
        return kind in (str, bytes) and not issubclass(kind, np.generic)

    return replace(value, atoms=frozenset(filter(is_one, value.atoms)))
