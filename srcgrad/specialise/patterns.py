"""Patterns of ``match`` as what is left of them: values decide most, the others are tests of lengths, keys and classes.

Enters: an operation that takes a subject apart.  Leaves: its answer as a literal or as statements that compute it, and
the operations that read the parts, which are done where the parts are read::

    match point:
        case Point(x=0.0, y=v): s = v        if point.x == 0.0: s = point.y      (of which all are points)
    match options:
        case {"rate": r}: ...                if "rate" in options: r = options["rate"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.patterns import names_of
from srcgrad.infer.values import At, Value, exact, of
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, If, Statement

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

def taken_apart(made: Reduced, statement: Assign) -> list[Statement] | None:
    """The statements that decide whether a subject is taken apart; None of another operation."""
    match statement.operation:
        case ir.MatchSequence(subject=subject, count=count, at_least=at_least):
            if (found := _decided(made, statement)) is not None:
                return found
            _require(made, statement, subject, list, tuple)
            size = Version(made.namer.fresh("t"))
            made.values[size] = of(int)
            compared = ir.Compare(">=" if at_least else "==", size, Literal(count))
            counted = ir.Call(Literal(len), (made.known.get(subject, subject),))
            return [Assign((size,), counted, statement.node), Assign(statement.targets, compared, statement.node)]
        case ir.MatchMapping(subject=subject):
            if (found := _decided(made, statement)) is not None:
                return found
            _require(made, statement, subject, dict)
            made.known[statement.targets[0]] = Literal(True)  # it is long enough where all keys are found
            return []
        case ir.MatchKeys(subject=subject, keys=keys, rest=False):
            held = made.known.get(subject, subject)
            _require(made, statement, subject, dict)
            asked = [made.known.get(key, key) for key in keys]
            made.taken[statement.targets[1]] = tuple(ir.GetItem(held, key) for key in asked)
            if (found := _decided(made, statement)) is not None:
                return found
            return _all(made, statement, [ir.Compare("in", key, held) for key in asked])
        case ir.MatchClass(subject=subject, of=kind) as operation:
            held, named = made.known.get(subject, subject), made.known.get(kind, kind)
            known = made.value(named)
            (found_kind,) = known.atoms if len(known.atoms) == 1 else (None,)
            names = names_of(getattr(found_kind, "value", object), operation)
            if names is None or made.called.get(statement):
                made.refuse("E0116", statement.node, "a pattern of a class whose __match_args__ are not known")
            selves = (ir.Copy(held),) if operation.count and not names else ()
            made.taken[statement.targets[1]] = (*selves, *(ir.GetAttribute(held, name) for name in names))
            if (found := _decided(made, statement)) is not None:
                return found
            tests: list[ir.Operation] = [ir.Call(Literal(isinstance), (held, named))]
            tests += [ir.Call(Literal(hasattr), (held, Literal(name))) for name in names]
            return _all(made, statement, tests)
        case ir.MatchKeys():
            made.refuse(
                "E0116", statement.node, "the rest of a mapping", label="its keys are not known", hint="name the keys"
            )
        case ir.GetItem(base=base, index=Literal(value=int() as place)) if base in made.taken:
            read = Assign(statement.targets, made.taken[base][place], statement.node)
            return [read]
    return None


def _decided(made: Reduced, statement: Assign) -> list[Statement] | None:
    value = made.value(statement.targets[0])
    for answer in (True, False):
        if value == exact(answer):
            made.known[statement.targets[0]] = Literal(answer)
            return []
    return None


def _require(made: Reduced, statement: Assign, subject: Operand, *kinds: type) -> None:
    """Refuse a subject that may be of another class."""
    value: Value = made.value(made.known.get(subject, subject))
    found = [atom.site.kind if isinstance(atom, At) else None for atom in value.atoms]
    if value.is_any or not all(kind in kinds or tuple in kinds and is_named_tuple(kind) for kind in found):
        made.refuse("E0116", statement.node, "a pattern of what may be of another class")


def _all(made: Reduced, statement: Assign, tests: list[ir.Operation]) -> list[Statement]:
    """Whether all tests hold, each made only where those before it hold."""
    first, *others = tests
    found = statement.targets[0]
    if not others:
        return [Assign((found,), first, statement.node)]
    asked, rest = Version(made.namer.fresh("t")), Version(made.namer.fresh("t"))
    made.values[asked] = made.values[rest] = of(bool)
    inner = _all(made, Assign((rest,), first, statement.node), others)
    return [
        Assign((asked,), first, statement.node),
        If((found,), asked, Block(tuple(inner), Fall((rest,))), Block((), Fall((Literal(False),))), statement.node),
    ]
