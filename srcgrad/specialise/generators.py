"""Generator expressions that a built-in function goes over at once, as the loops that they are.

Enters: the call of such a function, in the IR.  Leaves: the loop of the generator in its place, with what the function
does with each item where it was yielded; None of other functions::

    s = sum(v * v for v in x)        s = 0;  for v in x: s = s + v * v
    b = any(v > 1.0 for v in x)      b = False;  for v in x: if v > 1.0: b = True; break
    t = list(v * v for v in x)       t = [];  for v in x: t.append(v * v)

The generator runs where it is asked for items, so its loop stands where the function is called.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.infer.generators import Generator
from srcgrad.infer.heap import Site
from srcgrad.infer.values import NEVER, SCALARS, At, Bound, Exact, Of, Value, at, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Break, Fall, If, Loop, Return, Statement, Try, With, walk
from srcgrad.ir.rewriting import with_operands
from srcgrad.specialise.inlining import inlined

if TYPE_CHECKING:
    from srcgrad.specialise.reducing import Reduced

#: What adds up all items, by the operator and what it begins with.
_FOLDS: dict[Any, tuple[str, int]] = {sum: ("+", 0), math.prod: ("*", 1)}
#: What takes all items before it does anything with them.
_LISTING = (list, tuple, sorted, set, frozenset, dict, deque)
#: What compares or adds them as they come, which makes no difference where they are numbers.
_OF_NUMBERS = (min, max, math.fsum)


def consumed(
    made: Reduced, statement: Assign, before: list[Statement], reduce: Callable[[Reduced, Block], Block]
) -> list[Statement] | None:
    """The statements for a call that goes over a generator expression, which ``before`` ends with making."""
    call = statement.operation
    assert isinstance(call, ir.Call)
    function = _function(made.value(made.known.get(call.function, call.function)))
    extended = _extended(made, call, before)
    if function is None and extended is None or not call.positional or call.star is not None or call.rest is not None:
        return None
    source = call.positional[0]
    start = next((s for s in before if isinstance(s, Assign) and source in s.targets), None)
    body = _body_of(made, source)
    if start is None or body is None or made.uses[source] != 1 or not isinstance(start.operation, ir.Call):
        return None
    sink = _sink(made, function, call, statement) if extended is None else _extending(extended, statement)
    if sink is None:
        return None
    outer, made.summary = made.summary, replace(made.summary, calls=body.calls)
    for version in _versions(body.function.body):
        made.values[version] = made.facts.values.get(version, NEVER)
    reduced = reduce(made, body.function.body)
    made.summary = outer
    first, put, last = sink
    whole = _with_sink(reduced, put, None)
    if whole is None or not isinstance(whole.exit, Return):
        return None
    (parameter,) = body.function.parameters
    plain = replace(body.function, body=whole, is_generator=False)
    written = inlined(plain, {parameter: start.operation.positional[0]}, made.namer.fresh, made.note)
    if written is None:
        return None
    before.remove(start)
    statements, _, cells = written
    made.cells |= cells
    return [*first, *statements, *last]


def _function(value: Value) -> Any:
    if value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    return atom.value if isinstance(atom, Exact) and type(atom.value) not in SCALARS else None


def _extended(made: Reduced, call: ir.Call, before: list[Statement]) -> Operand | None:
    """The list of a call ``items.extend(...)``, which takes items one by one."""
    match made.value(call.function):
        case Value(atoms=atoms, is_any=False) if all(
            isinstance(a, Bound) and a.name == "extend" and is_list(a.receiver) for a in atoms
        ):
            found = (s.operation for s in before if isinstance(s, Assign) and call.function in s.targets)
            return next((made_.base for made_ in found if isinstance(made_, ir.GetAttribute)), None)
    return None


def is_list(value: Value) -> bool:
    return not value.is_any and bool(value.atoms) and all(
        isinstance(atom, At) and atom.site.kind is list for atom in value.atoms
    )  # fmt: skip


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
    sites = [atom.site for atom in value.atoms if isinstance(atom, At) and atom.site.kind is GeneratorType]
    if value.is_any or len(sites) != 1 or len(value.atoms) != 1:
        return None
    body = made.facts.generators.get(sites[0])
    if not isinstance(body, Generator) or not isinstance(body.function.node, gast.GeneratorExp):
        return None
    function = body.function
    is_simple = not function.cells and {*function.free} <= made.cells and len(tuple(function.parameters)) == 1
    return body if is_simple and not any(isinstance(s, Try | With) for _, s in walk(function.body)) else None


# --- what is done with the items -------------------------------------------------------------------------------------
#: Statements before the loop, those in place of ``yield`` and behind the loop.  None: it cannot stand there.
_Sink = tuple[list[Statement], Callable[[Operand, gast.AST, "Loop | None"], "list[Statement] | None"], list[Statement]]


def _sink(made: Reduced, function: Any, call: ir.Call, statement: Assign) -> _Sink | None:
    (target,), node = statement.targets, statement.node
    rest = [*call.positional[1:], *(value for _, value in call.keywords)]
    if function in (any, all) and not rest:
        return _deciding(made, function is any, target, node)
    if function in _FOLDS and len(rest) < 2 and all(name == "start" for name, _ in call.keywords):
        symbol, first = _FOLDS[function]
        return _folding(made, symbol, rest[0] if rest else Literal(first), target, node)
    if function not in _LISTING and function not in _OF_NUMBERS:
        return None
    listed = Version(made.namer.fresh("t"))
    made.values[listed] = at(Site(list, (statement, "items"), made.summary.context))

    def put(item: Operand, where: gast.AST, loop: Loop | None) -> list[Statement] | None:
        if function in _OF_NUMBERS and not _is_number(made.value(item)):
            return None
        return [Assign((), ir.Insert(listed, item), where)]

    known = made.known | {call.positional[0]: listed}
    after = replace(statement, operation=with_operands(call, known.get))
    if function is list and not rest:
        made.values[target] = made.values[listed]
        after = replace(statement, operation=ir.Copy(listed))
    return [Assign((listed,), ir.Make("list"), node)], put, [after]


def _extending(items: Operand, statement: Assign) -> _Sink:
    last = Assign(statement.targets, ir.Copy(Literal(None)), statement.node)
    return [], lambda item, where, loop: [Assign((), ir.Insert(items, item), where)], [last]


def _folding(made: Reduced, symbol: str, first: Operand, target: Version, node: gast.AST) -> _Sink:
    cell = _cell(made, "total")
    value = union(made.value(target), made.value(first))

    def put(item: Operand, where: gast.AST, loop: Loop | None) -> list[Statement]:
        before, after = Version(made.namer.fresh("t")), Version(made.namer.fresh("t"))
        made.values[before] = made.values[after] = value
        added = Assign((after,), ir.Operator(symbol, (before, item)), where)
        return [Assign((before,), ir.ReadCell(cell), where), added, Assign((), ir.WriteCell(cell, after), where)]

    start = Assign((), ir.WriteCell(cell, made.known.get(first, first)), node)
    return [start], put, [Assign((target,), ir.ReadCell(cell), node)]


def _deciding(made: Reduced, is_any: bool, target: Version, node: gast.AST) -> _Sink:
    cell = _cell(made, "found")

    def put(item: Operand, where: gast.AST, loop: Loop | None) -> list[Statement] | None:
        if loop is None or loop.targets:
            return None
        decided = Block((Assign((), ir.WriteCell(cell, Literal(is_any)), where),), Break())
        sides = (decided, Block((), Fall())) if is_any else (Block((), Fall()), decided)
        return [If((), item, *sides, where)]

    start = Assign((), ir.WriteCell(cell, Literal(not is_any)), node)
    return [start], put, [Assign((target,), ir.ReadCell(cell), node)]


def _cell(made: Reduced, stem: str) -> ir.Cell:
    """A new variable of the function."""
    name = made.namer.fresh(stem)
    cell = ir.Cell(name, name)
    made.cells.add(cell)
    return cell


def _is_number(value: Value) -> bool:
    return not value.is_any and bool(value.atoms) and all(isinstance(atom, Of | Exact) for atom in value.atoms)


def _with_sink(block: Block, put: Any, loop: Loop | None, depth: int = 0) -> Block | None:
    """A block with statements in place of ``yield``; ``loop`` is the only one around it, if it is the only one."""
    statements: list[Statement] = []
    for inner in block.statements:
        match inner:
            case Assign(operation=ir.Yield(value=value)):
                made = put(value, inner.node, loop if depth == 1 else None)
                if made is None:
                    return None
                statements += made
            case If(body=body, orelse=orelse):
                sides = _with_sink(body, put, loop, depth), _with_sink(orelse, put, loop, depth)
                if sides[0] is None or sides[1] is None:
                    return None
                statements.append(replace(inner, body=sides[0], orelse=sides[1]))
            case Loop(body=body):
                within = _with_sink(body, put, inner, depth + 1)
                if within is None:
                    return None
                statements.append(replace(inner, body=within))
            case _:
                statements.append(inner)
    return Block(tuple(statements), block.exit)


def _versions(body: Block) -> list[Version]:
    found: list[Version] = []
    for _, statement in walk(body):
        found += [*getattr(statement, "targets", ()), *(statement.heads if isinstance(statement, Loop) else ())]
    return found
