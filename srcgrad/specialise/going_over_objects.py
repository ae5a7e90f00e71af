"""What makes iterators of objects of the user's, as calls: ``__iter__``, ``__reversed__``, or what indexes the object.

Enters: a statement of the IR that goes over such an object.  Leaves: the call in front of it, or in its place::

    for v in layers: ...      t = Layers.__iter__(layers);  for v in t: ...
    a, b = zip(y, steps)      t = indexed(steps);  a, b = zip(y, t)        Steps has __getitem__ alone
    w in layers               contained(layers, w)                         Layers has no __contains__
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.infer.iteration import places_gone_over
from srcgrad.infer.objects import class_of, iterating, reversing
from srcgrad.infer.values import At, Value, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models.iterators import contained
from srcgrad.language.models.table import is_of_model
from srcgrad.specialise.asking import classes_of
from srcgrad.specialise.instances import static_of
from srcgrad.syntax.globals import importable, reference

if TYPE_CHECKING:
    from srcgrad.infer.summaries import Summary
    from srcgrad.specialise.reduced import Reduced


def begun_by_class(made: Reduced, statement: Assign) -> list[Assign] | None:
    """The statements for one that goes over objects of the user's; None of any other."""
    if not made.facts.begun:
        return None
    origin = made.functions.origins.get(statement, statement)
    begun = {kind: value for (noted, kind), value in made.facts.begun.items() if noted is origin}
    if not begun:
        return None
    operation, called = with_operands(statement.operation, made.known.get), made.called.get(statement, [])
    sources: tuple[Operand, ...] = ()
    match operation:
        case ir.Iterate(source=source) | ir.Unpack(source=source) | ir.Extend(source=source):
            sources = (source,)
        case ir.Compare(symbol="in" | "not in", left=item, right=source):
            kind = _class_of(made, source, begun)
            return None if kind is None else _searched(made, statement, operation.symbol, kind, (source, item))
        case ir.Call(positional=given, star=star, rest=None):
            function = static_of(made.value(operation.function))
            if function is reversed and (kind := _class_of(made, given[0], begun)) is not None:
                call = _call(kind, "__reversed__", reversing(kind), (given[0],), statement.node)
                turned = replace(statement, operation=call)
                made.called[turned] = [each for each in called if not _is_length(each, kind)]
                return [turned]
            places = range(min(len(given), 1)) if function is iter else places_gone_over(function, len(given))
            sources = tuple(given[place] for place in places) if star is None else (star,)
    done: list[Assign] = []
    written: list[Summary] = []
    iterators: dict[Operand, Operand] = {}
    for source in sources:
        if (kind := _class_of(made, source, begun)) is None:
            continue
        method = iterating(kind)
        own = [each for each in called if each.function.qualname == method.__qualname__]
        given_back = [each.returned[0][0] for each in own if each.returned is not None]
        value = union(*given_back) if own else _of_generator(made, begun[kind])
        iterators[source] = iterator = made.version("t", value)
        made.uses[iterator] = 1
        done.append(Assign((iterator,), _call(kind, "__iter__", method, (source,), statement.node), statement.node))
        made.called[done[-1]] = own
        if own:  # an iterator is none of its own: it is written out
            made.stepped.add(done[-1])
        written += [each for each in called if each in own or _is_length(each, kind)]
    if not done:
        return None
    going = replace(statement, operation=with_operands(operation, iterators.get))
    made.called[going] = [each for each in called if each not in written]
    for side in ("parts", "entries"):
        if (statement, side) in made.stars:
            made.stars[going, side] = made.stars[statement, side]
    return [*done, going]


def runs_iter(made: Reduced, statement: Statement) -> bool:
    """Whether a statement calls what makes iterators over objects: one that only begins to go over something does not
    where that is no object here, but in other calls of the function."""
    kinds = [kind for noted, kind in made.facts.begun if noted is statement]
    match getattr(statement, "operation", None):
        case ir.Iterate(source=source) if kinds:
            value = made.value(made.known.get(source, source))
            return value.is_any or any(class_of(atom) in kinds for atom in value.atoms)
    return bool(kinds)


def _class_of(made: Reduced, source: Operand, begun: dict[type, Value]) -> type | None:
    """The class of the user's that an object is of, where it is certain how it is gone over."""
    value = made.value(source)
    kinds = classes_of(value) or []
    return kinds[0] if len(kinds) == 1 and kinds[0] in begun and not exact(None) <= value else None


def _of_generator(made: Reduced, value: Value) -> Value:
    """The generators that a statement begins here, of those that it begins anywhere."""
    contexts = {summary.context for summary in made.frame.summaries}
    here = frozenset(a for a in value.atoms if isinstance(a, At) and a.site.context in contexts)
    return Value(here or value.atoms)


def _is_length(called: Summary, kind: type) -> bool:
    """Whether a call is that of ``__len__``, which ``list`` and its like ask for a hint."""
    return called.function.qualname == getattr(getattr(kind, "__len__", None), "__qualname__", None)


def _call(kind: type, name: str, method: Any, given: tuple[Operand, ...], node: gast.AST) -> ir.Call:
    head: gast.expr = gast.Attribute(reference(importable(kind.__name__, kind)), name, gast.Load())
    spelled = reference(importable(method.__name__, method)) if is_of_model(method) else head
    return ir.Call(Literal(Spelled(gast.copy_location(spelled, node), method)), given)


def _searched(
    made: Reduced, statement: Assign, symbol: str, kind: type, given: tuple[Operand, ...]
) -> list[Assign]:
    """``in``, by the items of an object."""
    told = made.version("t", of(bool))
    asking = Assign((told,), _call(kind, "", contained, given, statement.node), statement.node)
    made.called[asking] = made.called.get(statement, [])
    last = ir.Copy(told) if symbol == "in" else ir.Operator("not", (told,))
    return [asking, Assign(statement.targets, last, statement.node)]
