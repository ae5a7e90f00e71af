"""Dicts that make what is missing: it is made, and put in, in front of a read.  Dicts that can be put in order.

Enters: the making of a ``defaultdict``, reads of its items.  Leaves: a dict that makes nothing by itself, and the reads
behind tests whether the key is there::

    d = defaultdict(list)            d = defaulting({})
    d[k].append(x)          ->       if k not in d:
                                         t = list();  d[k] = t
                                     d[k].append(x)
    e = OrderedDict(a=x)             e = {};  e.update(a=x)
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from srcgrad import runtime
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import At, Bound, Exact, Of, Value, are_of, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, Fall, If, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models import MODELS
from srcgrad.specialise.fields import holds_kind
from srcgrad.specialise.functions import at_site, is_made
from srcgrad.specialise.instances import static_of
from srcgrad.syntax.globals import importable, of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def defaulted(made: Reduced, statement: Assign, reduce: Callable[[Block], Block]) -> list[Statement] | None:
    """What makes a ``defaultdict``, or what is missing in one that is read; None of any other statement."""
    operation = with_operands(statement.operation, made.known.get)
    match operation:
        case ir.Call(function=function, positional=(), star=None, keywords=(), rest=None) if (
            made.value(function).consists_of(lambda a: isinstance(a, Bound) and a.name == "copy")
            and isinstance(looked := made.origins.get(function), ir.GetAttribute)
        ):
            base = made.known.get(looked.base, looked.base)
            maker = Literal(Spelled(reference(of_runtime(runtime.defaulting)), runtime.defaulting))
            is_one = are_of(made.value(base), defaultdict)
            return _made(made, statement, ir.Call(maker), (base,)) if is_one else None
        case ir.Call(function=function, positional=given, star=None, keywords=named, rest=None) if len(given) < 3:
            kind = static_of(made.value(function))
            if kind is OrderedDict:
                return _made(made, statement, ir.Make("dict"), given, named)
            maker = Literal(Spelled(reference(of_runtime(runtime.defaulting)), runtime.defaulting))
            is_made_here = kind is defaultdict and not named
            return _made(made, statement, ir.Call(maker), given[1:]) if is_made_here else None
        case ir.Compare(symbol="==" | "!=", left=left, right=right):
            if holds_kind(made.facts, made.value(left), OrderedDict) and (
                holds_kind(made.facts, made.value(right), OrderedDict)
            ):
                made.refuse("E0415", statement.node, "a comparison of OrderedDicts, which looks at their order,")
        case ir.GetItem(base=base, index=index) if called := made.called.get(statement):
            if all(map(_is_missing, called)) and _makes_nothing(called):
                return [Assign(statement.targets, operation, statement.node)]
            if not all(map(_is_missing, called)) or (factory := _factory(made, made.value(base), called)) is None:
                return None
            put = _put(made, statement, base, index, factory, called)
            read = Assign(statement.targets, operation, statement.node)
            return [*reduce(Block(tuple(put), Fall())).statements, read]
    return None


def _made(
    made: Reduced, statement: Assign, maker: ir.Operation, items: tuple[Operand, ...],
    named: tuple[tuple[str, Operand], ...] = (),
) -> list[Statement]:  # fmt: skip
    """A dict without items, into which those are put that it is made of."""
    (target,), node = statement.targets, statement.node
    update = made.version("t", Value(frozenset((Bound(made.value(target), "update"),))))
    put: list[Statement] = [
        Assign((update,), ir.GetAttribute(target, "update"), node),
        Assign((made.version("t", exact(None)),), ir.Call(update, items, None, named), node),
    ]
    return [Assign((target,), maker, node), *(put if items or named else ())]


def _factory(made: Reduced, value: Value, called: list[Summary]) -> Operand | None:
    """What makes the items of a dict that is read, where that is one function or class."""
    sites = [atom.site for atom in value.atoms if isinstance(atom, At)]
    others = value.atoms - {At(site) for site in sites}
    if value.is_any or any(not isinstance(a, Of | Exact) or isinstance(a, Exact) and callable(a.value) for a in others):
        return None  # a number has no items
    if any(site.kind is not defaultdict or made.facts.is_seen(site) for site in sites):
        return None
    dicts = [(each.heap, next(iter(each.arguments.values()))) for each in called]
    factory = union(*(
        heap[atom.site].get("default_factory") for heap, given in dicts for atom in given.atoms if isinstance(atom, At)
    ))  # fmt: skip
    (atom,) = factory.atoms if len(factory.atoms) == 1 and not factory.is_any else (None,)
    if isinstance(atom, Exact) and callable(atom.value):
        name = getattr(atom.value, "__name__", "factory")
        return Literal(Spelled(reference(importable(name, atom.value)), atom.value))
    if is_made(atom) and (closure := at_site(made, atom.site)) is not None:  # type: ignore[union-attr]
        held = made.version("f", factory)
        made.functions.made[held] = closure
        return held
    return None


def _makes_nothing(called: list[Summary]) -> bool:
    """Whether all dicts that a read is of make nothing: a key that is missing raises, as it does of a plain dict."""
    dicts = [(each.heap, atom) for each in called for atom in next(iter(each.arguments.values())).atoms]
    return all(isinstance(a, At) and heap[a.site].get("default_factory") == exact(None) for heap, a in dicts)


def _is_missing(summary: Summary) -> bool:
    """Whether a summary is that of what a ``defaultdict`` does where a key is missing."""
    model: Any = MODELS[defaultdict.__missing__]
    return summary.function.qualname == model.__qualname__ and summary.namespace is model.__globals__


def _put(
    made: Reduced, statement: Assign, base: Operand, index: Operand, factory: Operand, called: list[Summary]
) -> list[Statement]:
    """The test whether a key is there, and the store of what is made where it is not."""
    node = statement.node
    tested = made.version("t", of(bool))
    item = made.version("t", union(*(each.returned[0][0] for each in called if each.returned is not None)))
    make = Assign((item,), ir.Call(factory, ()), node)
    made.called[make] = [
        summary for each in called for at, found in each.calls.items()
        if isinstance(getattr(at, "operation", None), ir.Call) for summary in found
    ]  # fmt: skip
    store = Assign((), ir.SetItem(base, index, item), node)
    body = Block((make, store), Fall())
    return [Assign((tested,), ir.Compare("not in", index, base), node), If((), tested, body, Block((), Fall()), node)]
