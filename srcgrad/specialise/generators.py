"""Generators that a built-in function goes over at once, as the loops that they are.

Enters: the call of such a function, in the IR.  Leaves: the loop of the generator in its place, with what the function
does with each item where it was yielded; None of other functions::

    s = sum(v * v for v in x)        s = 0;  for v in x: s = s + v * v
    b = any(v > 1.0 for v in x)      b = False;  for v in x: if v > 1.0: b = True; break
    t = list(v * v for v in x)       t = [];  for v in x: t.append(v * v)

The generator runs where it is asked for items, so its loop stands where the function is called.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.infer.generators import Generator
from srcgrad.infer.heap import Site
from srcgrad.infer.values import SCALARS, Array, At, Bound, Exact, Of, Value, are_of, at, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import bound_by
from srcgrad.ir.evaluating import BINARY
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Break, Fall, If, Loop, Statement, walk
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models.iterators import INDEXING
from srcgrad.language.models.ranks import MOMENTS
from srcgrad.rules.table import lookup
from srcgrad.specialise.driving import each_put, gone_over
from srcgrad.specialise.inlining import with_one_end
from srcgrad.specialise.set_operations import are_sets

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: What adds up all items, by the operator and what it begins with.
_FOLDS: dict[Any, tuple[str, int]] = {sum: ("+", 0), math.prod: ("*", 1)}
#: What takes all items before it does anything with them.
_LISTING = (list, tuple, sorted, set, frozenset, dict, deque)
#: What compares or adds them as they come, which makes no difference where they are numbers.
_OF_NUMBERS = (min, max, math.fsum, *MOMENTS)
#: Generators that are written out: of the user's, and those that index an object.
_WRITTEN_OUT = (GeneratorType, INDEXING, reversed)


def consumed(
    made: Reduced, statement: Assign, before: list[Statement], reduce: Callable[[Reduced, Block], Block]
) -> list[Statement] | None:
    """The statements for a call, or an assignment to several targets, that goes over a generator expression, which
    ``before`` makes."""
    taking = statement.operation
    assert isinstance(taking, ir.Call | ir.Unpack)
    if isinstance(taking, ir.Unpack):
        function, extended, source = None, None, taking.source
    elif taking.star is not None:
        function, extended, source = None, None, taking.star
    else:
        function = _function(made.value(made.known.get(taking.function, taking.function)))
        extended = _extended(made, taking, before)
        place = 1 if function is functools.reduce else 0
        is_joined = extended is None and _is_join(made.value(taking.function))
        if function is None and extended is None and not is_joined or len(taking.positional) <= place:
            return None
        if taking.rest is not None:
            return None
        source = taking.positional[place]
    body = _body_of(made, source) if made.uses[source] == 1 else None
    start = None if body is None else next((s for s in before if isinstance(s, Assign) and source in s.targets), None)
    if start is None or body is None or not isinstance(start.operation, ir.Call):
        return None
    is_passed = isinstance(taking, ir.Call) and taking.star is not None
    if isinstance(taking, ir.Unpack) or is_passed or function is None and extended is None:
        sink: _Sink | None = _listing(made, source, statement)
    else:
        sink = _sink(made, function, taking, statement) if extended is None else _extending(made, *extended, statement)
    if sink is None:
        return None
    last = sink.last
    first: list[Statement] = []
    gone = gone_over(made, start, start.operation, body, first, reduce)
    if gone is None:
        return None
    if isinstance(body.function.node, gast.GeneratorExp):
        gone = _with_sink(gone, sink)
        gone = None if gone is None else with_one_end(gone, lambda v: made.namer.fresh(v.variable or "t"))
    elif sink.behind is None:
        gone = each_put(made, gone, lambda item, at: sink.put(item, at, ()), statement.node)
    else:  # what stops before the end is asked step by step
        return None
    if gone is None:
        return None
    before.remove(start)
    if is_passed:  # the call is of a list, whose items are taken apart in turn
        made.called[last[0]] = made.called.get(statement, [])
        last = [*reduce(made, Block(tuple(last), Fall())).statements]
    return [*first, *sink.first, *gone.statements, *last]


def mapped(made: Reduced, statement: Assign, before: list[Statement]) -> list[Statement] | None:
    """``a, b = map(f, (x, y))``, of a function with a rule, as one call for each name; None of others."""
    unpacked, start = statement.operation, before[-1] if before else None
    match unpacked, start:
        case (
            ir.Unpack(source=source, count=count, star=None),
            Assign(targets=(held,), operation=ir.Call(function=head, positional=(called, given)) as call),
        ) if held is source and made.uses[source] == 1 and _function(made.value(head)) is map:
            items = made.displays.get(given, ())
            if len(items) != count or lookup(_function(made.value(called))) is None:
                return None
            before.pop()
            one = (replace(call, function=called, positional=(item,)) for item in items)
            return [Assign((t,), each, statement.node) for t, each in zip(statement.targets, one, strict=True)]
    return None


def _function(value: Value) -> Any:
    if value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    return atom.value if isinstance(atom, Exact) and type(atom.value) not in SCALARS else None


def _extended(made: Reduced, call: ir.Call, before: list[Statement]) -> tuple[Operand, str] | None:
    """The list of a call ``items.extend(...)``, which takes items one by one; a set or dict, of ``items.update(...)``;
    and the method by which a deque takes one."""
    match made.value(call.function):
        case Value(atoms=atoms, is_any=False) if all(
            isinstance(a, Bound) and a.name == "extend" and is_list(a.receiver) for a in atoms
        ) or all(
            isinstance(a, Bound) and a.name in ("extend", "extendleft") and are_of(a.receiver, deque) for a in atoms
        ) or len(call.positional) == 1 and all(
            isinstance(a, Bound) and a.name == "update" and (are_sets(a.receiver) or are_of(a.receiver, dict))
            for a in atoms
        ):
            found = (s.operation for s in before if isinstance(s, Assign) and call.function in s.targets)
            looked_up = next((made_ for made_ in found if isinstance(made_, ir.GetAttribute)), None)
            is_left = looked_up is not None and looked_up.name == "extendleft"
            return None if looked_up is None else (looked_up.base, "appendleft" if is_left else "append")
    return None


def _is_as_it_comes(made: Reduced, item: Operand) -> bool:
    """Whether an item is the same when all are there: a number, or what an operator made and nothing else holds."""
    if is_number(made.value(item)):
        return True
    operation = made.origins.get(item)
    is_computed = isinstance(operation, ir.Operator) and not operation.in_place
    return is_computed and made.value(item).consists_of(
        lambda a: isinstance(a, Of | Exact) or isinstance(a, At) and a.site == made.facts.data or isinstance(a, Array)
    )  # fmt: skip


def _is_join(value: Value) -> bool:
    """Whether a value is the method of a text that joins others, which takes all of them first."""
    return value.consists_of(lambda a: isinstance(a, Bound) and a.name == "join" and a.receiver.consists_of(
        lambda one: isinstance(one, Of) and one.kind is str or isinstance(one, Exact) and type(one.value) is str))


def is_list(value: Value) -> bool:
    return are_of(value, list)


def got(made: Reduced, statement: Assign) -> Statement | None:
    """``itemgetter(k)(x)`` as ``x[k]``, where k is a constant; None of other calls."""
    call = statement.operation
    assert isinstance(call, ir.Call)
    value = made.value(call.function)
    sites = [atom.site for atom in value.atoms if isinstance(atom, At) and atom.site.kind is operator.itemgetter]
    if value.is_any or len(sites) != 1 or len(value.atoms) != 1 or len(call.positional) != 1 or call.keywords:
        return None
    origin = sites[0].origin
    maker = origin[0].operation if isinstance(origin, tuple) and isinstance(origin[0], Assign) else None
    match maker:
        case ir.Call(positional=(Literal() as place,), star=None, keywords=(), rest=None):
            item = made.known.get(call.positional[0], call.positional[0])
            return replace(statement, operation=ir.GetItem(item, place))
    return None


def _body_of(made: Reduced, source: Operand) -> Generator | None:
    """What a generator expression runs, where a value is one of one text."""
    value = made.value(source)
    sites = [atom.site for atom in value.atoms if isinstance(atom, At) and atom.site.kind in _WRITTEN_OUT]
    if value.is_any or len(sites) != 1 or len(value.atoms) != 1:
        return None
    body = made.facts.generators.get(sites[0])
    if not isinstance(body, Generator):
        return None
    function = body.function
    if not isinstance(function.node, gast.GeneratorExp):
        return body
    is_known = {*function.free} <= {*made.frame.cells, *made.frame.outer}
    is_simple = not function.cells and is_known and len(tuple(function.parameters)) == 1
    return body if is_simple else None


# --- what is done with the items -------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Sink:
    """Statements before the loops of a generator, in place of ``yield`` (None: they cannot stand there), behind all of
    the loops, and behind each but the outermost."""

    first: list[Statement]
    put: Callable[[Operand, gast.AST, tuple[Loop, ...]], list[Statement] | None]
    last: list[Statement]
    behind: Callable[[gast.AST], list[Statement]] | None = None


def _sink(made: Reduced, function: Any, call: ir.Call, statement: Assign) -> _Sink | None:
    (target,), node = statement.targets, statement.node
    rest = [*call.positional[1:], *(value for _, value in call.keywords)]
    if function in (any, all) and not rest:
        return _deciding(made, function is any, target, node)
    if function in _FOLDS and len(rest) < 2 and all(name == "start" for name, _ in call.keywords):
        symbol, first = _FOLDS[function]
        return _folding(made, symbol, rest[0] if rest else Literal(first), target, node)
    if function is functools.reduce:
        head, begin = call.positional[0], call.positional[2:]
        static = _function(made.value(made.known.get(head, head)))
        if len(begin) != 1 or call.keywords or lookup(static) is None:
            return None
        by: Any = next((symbol for symbol, found in BINARY.items() if found is static), made.known.get(head, head))
        return _folding(made, by, begin[0], target, node)
    if function in _OF_NUMBERS:
        return _listing(made, call.positional[0], statement, lambda item: _is_as_it_comes(made, item))
    if function is list and not rest:
        sink = _listing(made, call.positional[0], statement)
        (listed,) = bound_by(sink.first[0])
        made.values[target] = made.values[listed]
        return _Sink(sink.first, sink.put, [replace(statement, operation=ir.Copy(listed))])
    return _listing(made, call.positional[0], statement) if function in _LISTING else None


def _listing(
    made: Reduced, source: Operand, statement: Assign, is_one: Callable[[Operand], bool] = lambda item: True
) -> _Sink:
    """A list of the items, which the statement is given in place of the generator."""
    listed = Version(made.namer.fresh("t"))
    made.values[listed] = at(Site(list, (statement, "items"), made.frame.summaries[0].context))

    def put(item: Operand, where: gast.AST, loops: tuple[Loop, ...]) -> list[Statement] | None:
        return [Assign((), ir.Insert(listed, item), where)] if is_one(item) else None

    known = made.known | {source: listed}
    after = replace(statement, operation=with_operands(statement.operation, known.get))
    return _Sink([Assign((listed,), ir.Make("list"), statement.node)], put, [after])


def _extending(made: Reduced, items: Operand, name: str, statement: Assign) -> _Sink:
    last = Assign(statement.targets, ir.Copy(Literal(None)), statement.node)

    def put(item: Operand, where: gast.AST, loops: tuple[Loop, ...]) -> list[Statement] | None:
        if are_of(made.value(items), dict):
            return _entered(made, items, item, where)
        if not any(isinstance(a, At) and a.site.kind is deque for a in made.value(items).atoms):
            return [Assign((), ir.Insert(items, item), where)]
        method = made.version("t", Value(frozenset((Bound(made.value(items), name),))))
        nothing = made.version("t", exact(None))
        return [
            Assign((method,), ir.GetAttribute(items, name), where), Assign((nothing,), ir.Call(method, (item,)), where)
        ]  # fmt: skip

    return _Sink([], put, [last])


def _entered(made: Reduced, items: Operand, pair: Operand, where: gast.AST) -> list[Statement] | None:
    """A pair as an entry of a dict; None of what may be no tuple of two."""
    held = [made.facts.contents.get(a.site) if isinstance(a, At) and a.site.kind is tuple else None
            for a in made.value(pair).atoms]  # fmt: skip
    parts = [contents.parts for contents in held if contents is not None and contents.parts is not None]
    if made.value(pair).is_any or len(parts) < len(held) or any(len(each) != 2 for each in parts):
        return None
    key, value = (made.version("t", union(*(each[place] for each in parts))) for place in (0, 1))
    read = [Assign((part,), ir.GetItem(pair, Literal(place)), where) for place, part in enumerate((key, value))]
    return [*read, Assign((), ir.SetItem(items, key, value), where)]


def _folding(made: Reduced, symbol: Any, first: Operand, target: Version, node: gast.AST) -> _Sink:
    """``total = total symbol item`` for each of them; or ``f(total, item)`` of a function in place of the symbol."""
    cell = made.new_cell("total")
    value = union(made.value(target), made.value(first))

    def put(item: Operand, where: gast.AST, loops: tuple[Loop, ...]) -> list[Statement]:
        before, after = Version(made.namer.fresh("t")), Version(made.namer.fresh("t"))
        made.values[before] = made.values[after] = value
        operands = before, item
        operation = ir.Operator(symbol, operands) if isinstance(symbol, str) else ir.Call(symbol, operands)
        added = Assign((after,), operation, where)
        return [Assign((before,), ir.ReadCell(cell), where), added, Assign((), ir.WriteCell(cell, after), where)]

    start = Assign((), ir.WriteCell(cell, made.known.get(first, first)), node)
    return _Sink([start], put, [Assign((target,), ir.ReadCell(cell), node)])


def _deciding(made: Reduced, is_any: bool, target: Version, node: gast.AST) -> _Sink:
    cell = made.new_cell("found")

    def leaving(test: Operand, where: gast.AST, *last: Statement) -> Statement:
        decided = Block(last, Break())
        sides = (decided, Block((), Fall())) if is_any else (Block((), Fall()), decided)
        return If((), test, *sides, where)

    def put(item: Operand, where: gast.AST, loops: tuple[Loop, ...]) -> list[Statement] | None:
        if not loops or any(loop.targets for loop in loops):
            return None
        return [leaving(item, where, Assign((), ir.WriteCell(cell, Literal(is_any)), where))]

    def behind(where: gast.AST) -> list[Statement]:
        found = made.version("t", of(bool))
        return [Assign((found,), ir.ReadCell(cell), where), leaving(found, where)]

    start = Assign((), ir.WriteCell(cell, Literal(not is_any)), node)
    return _Sink([start], put, [Assign((target,), ir.ReadCell(cell), node)], behind)


def is_number(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, Of | Exact))


def _with_sink(block: Block, sink: _Sink, loops: tuple[Loop, ...] = ()) -> Block | None:
    """A block with statements in place of ``yield``, and behind each loop that stands in another."""
    statements: list[Statement] = []
    for inner in block.statements:
        match inner:
            case Assign(operation=ir.Yield(value=value)):
                made = sink.put(value, inner.node, loops)
                if made is None:
                    return None
                statements += made
            case If(body=body, orelse=orelse):
                sides = _with_sink(body, sink, loops), _with_sink(orelse, sink, loops)
                if sides[0] is None or sides[1] is None:
                    return None
                statements.append(replace(inner, body=sides[0], orelse=sides[1]))
            case Loop(body=body):
                within = _with_sink(body, sink, (*loops, inner))
                if within is None:
                    return None
                statements.append(replace(inner, body=within))
                if loops and sink.behind is not None and any(isinstance(s, Assign) and isinstance(
                    s.operation, ir.Yield) for _, s in walk(body)):  # fmt: skip
                    statements += sink.behind(inner.node)
            case _:
                statements.append(inner)
    return Block(tuple(statements), block.exit)
