"""What each operation of the IR gives on abstract values.

Enters: a statement, the frame that holds its operands, the heap.  Leaves: the values of its targets and the heap after
it; None where it raises in every case.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.infer import patterns
from srcgrad.infer.answering import SHOWN, answered
from srcgrad.infer.arithmetic import arithmetic, compare
from srcgrad.infer.builtin import fields_shown
from srcgrad.infer.calls import call
from srcgrad.infer.deleting import delete_attribute
from srcgrad.infer.dispatch import truth_by_methods
from srcgrad.infer.displays import extend, insert, listed, make
from srcgrad.infer.frames import Frame
from srcgrad.infer.generators import Body, resumed
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.importing import import_module, import_name
from srcgrad.infer.items import delete_item, get_item, set_item
from srcgrad.infer.iteration import elements, iterate
from srcgrad.infer.objects import (
    Made,
    container,
    get_attribute,
    is_plain,
    set_attribute,
)
from srcgrad.infer.parameters import Given
from srcgrad.infer.reasons import INDEXED, stored_global
from srcgrad.infer.values import ANY, NEVER, Array, At, Exact, Value, at, exact, of, union, unknown
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Assign, Statement
from srcgrad.language.models import MADE

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis


def run(analysis: Analysis, frame: Frame, statement: Assign, heap: Heap) -> tuple[tuple[Value, ...], Heap] | None:
    """The operation of a statement."""
    operation = statement.operation
    if isinstance(operation, ir.Unpack):
        return _unpack(analysis, frame, statement, operation, heap)
    if isinstance(operation, ir.MatchKeys):
        return patterns.of_keys(analysis, frame, statement, operation, heap)
    if isinstance(operation, ir.MatchClass):
        return patterns.of_class(analysis, frame, statement, operation, heap)
    made = _RUN[type(operation)](analysis, frame, statement, operation, heap)
    if made is None:
        return None
    value, heap = made
    if frame.is_unknown:
        analysis.keep(value)
    return (value,) * len(statement.targets), heap


# --- variables -------------------------------------------------------------------------------------------------------
def _copy(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Copy, heap: Heap) -> Made:
    value = frame[op.source]
    if statement in analysis.assigned.unrolled.checked:
        analysis.assigned.unrolled.check(frame, statement, op.source, heap)
    if isinstance(statement.node, gast.pattern):  # what a pattern captures is bound where its name is
        value = Value(value.atoms - {Exact(ir.UNBOUND)}, value.is_any)
    return value, heap


def _bound(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Bound, heap: Heap) -> Made:
    frame.may_raise(heap)
    value = frame[op.source]
    left = value if value.is_any else Value(value.atoms - {Exact(ir.UNBOUND)})
    return (left, heap) if left else None


def _read_cell(analysis: Analysis, frame: Frame, statement: Statement, op: ir.ReadCell, heap: Heap) -> Made:
    frame.may_raise(heap)
    value = heap[frame.cells[op.cell]].get("cell")
    return (value, heap) if value else None


def _write_cell(analysis: Analysis, frame: Frame, statement: Statement, op: ir.WriteCell, heap: Heap) -> Made:
    site = frame.cells[op.cell]
    if frame.is_unknown:
        analysis.keep(at(site))
        analysis.keep(frame[op.value])
    return exact(None), analysis.store(heap, site, replace(heap[site], fields={"cell": frame[op.value]}))


def _fresh_cell(analysis: Analysis, frame: Frame, statement: Statement, op: ir.FreshCell, heap: Heap) -> Made:
    site = frame.site(CellType, statement)
    frame.cells[op.cell] = site
    return exact(None), heap.allocated(site, Contents(fields={"cell": NEVER}))


def _delete_cell(analysis: Analysis, frame: Frame, statement: Statement, op: ir.DeleteCell, heap: Heap) -> Made:
    frame.may_raise(heap)
    site = frame.cells[op.cell]
    return exact(None), analysis.store(heap, site, replace(heap[site], fields={"cell": NEVER}))


def _read_global(analysis: Analysis, frame: Frame, statement: Statement, op: ir.ReadGlobal, heap: Heap) -> Made:
    frame.may_raise(heap)
    if analysis.assigned.may_be(frame.namespace, op.name):
        return unknown(stored_global(op.name)), heap
    if op.name in frame.namespace:
        found, data = analysis.outside.value(frame.namespace[op.name]), analysis.facts.data
        return union(found, at(data)) if data and found == exact(None) else found, heap  # which may have a value later
    own = frame.namespace.get("__builtins__", sys.modules["builtins"])
    known = own if isinstance(own, dict) else vars(own)
    return (analysis.outside.value(known[op.name]), heap) if op.name in known else None


def _write_global(
    analysis: Analysis, frame: Frame, statement: Statement, op: ir.WriteGlobal | ir.DeleteGlobal, heap: Heap
) -> Made:
    analysis.assigned.note(frame.namespace, op.name)
    value = frame[op.value] if isinstance(op, ir.WriteGlobal) else NEVER
    frame.may_raise(heap)
    return exact(None), analysis.unknown([value], heap)


def _in_class(analysis: Analysis, frame: Frame, statement: Statement, op: Any, heap: Heap) -> Made:
    """Names of the body of a class, which is not looked into."""
    frame.may_raise(heap)
    value = frame[op.value] if isinstance(op, ir.WriteName) else NEVER
    return ANY, analysis.unknown([value], heap)


# --- objects ---------------------------------------------------------------------------------------------------------
def _get_attribute(analysis: Analysis, frame: Frame, statement: Statement, op: ir.GetAttribute, heap: Heap) -> Made:
    if op.name == "__dict__" and (made := fields_shown(analysis, frame, statement, (frame[op.base],), heap)) is not (
        NotImplemented
    ):
        return made  # type: ignore[no-any-return]
    return get_attribute(analysis, frame, statement, frame[op.base], op.name, heap)


def _set_attribute(analysis: Analysis, frame: Frame, statement: Statement, op: ir.SetAttribute, heap: Heap) -> Made:
    after = set_attribute(analysis, frame, statement, frame[op.base], op.name, frame[op.value], heap)
    return None if after is None else (exact(None), after)


def _delete(
    analysis: Analysis, frame: Frame, statement: Statement, op: ir.DeleteAttribute | ir.DeleteItem, heap: Heap
) -> Made:
    if isinstance(op, ir.DeleteItem):
        return delete_item(analysis, frame, statement, frame[op.base], frame[op.index], heap)
    return delete_attribute(analysis, frame, statement, frame[op.base], op.name, heap)


def _get_item(analysis: Analysis, frame: Frame, statement: Statement, op: ir.GetItem, heap: Heap) -> Made:
    base, index = frame[op.base], frame[op.index]
    if analysis.outside.may_keep_index(base) and any(
        site.kind not in (slice, tuple) for site in heap.reachable([index])[0]
    ):
        analysis.assigned.stop(INDEXED)
        return unknown(INDEXED), analysis.unknown([base, index], heap)
    return get_item(analysis, frame, statement, base, index, heap)


def _set_item(analysis: Analysis, frame: Frame, statement: Statement, op: ir.SetItem, heap: Heap) -> Made:
    analysis.note_store([frame[op.base]])
    after = set_item(analysis, frame, statement, frame[op.base], frame[op.index], frame[op.value], heap)
    return None if after is None else (exact(None), after)


def _operator(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Operator, heap: Heap) -> Made:
    if op.symbol in ("bool", "not"):
        tested = truth_by_methods(analysis, frame, statement, frame[op.operands[0]], heap)
        if tested is None:
            return None
        holds, heap = tested
        return union(*(exact(one is (op.symbol == "bool")) for one in holds)), heap
    return arithmetic(analysis, frame, statement, op.symbol, frame.all(op.operands), op.in_place, heap)


def _compare(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Compare, heap: Heap) -> Made:
    if op.symbol not in ("is", "is not"):
        analysis.local_classes.compare(heap, frame[op.left], frame[op.right])
    return compare(analysis, frame, statement, op.symbol, frame[op.left], frame[op.right], heap)


def _call(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Call, heap: Heap) -> Made:
    positional, more = list(frame.all(op.positional)), None
    keywords = [(name, frame[value]) for name, value in op.keywords]
    for extra, side in ((op.star, "parts"), (op.rest, "entries")):
        if extra is None:
            continue
        frame.note_star(statement, side, frame[extra], heap)
        known = listed(frame[extra], heap)
        if known is None:
            held, heap = elements(analysis, frame, statement, frame[extra], heap)
            values = union(*(heap[atom.site].items for atom in frame[extra].atoms if isinstance(atom, At)))
            more = union(more or NEVER, held, values)
        elif known.parts is not None and more is None:
            positional += known.parts
        elif known.entries is not None and more is None and extra is op.rest:
            keywords += [(str(key), value) for key, value in known.entries]
        elif known.entries is not None and more is None:
            positional += [exact(key) for key, _ in known.entries]
        else:
            more = union(more or NEVER, known.items)
    return call(analysis, frame, statement, frame[op.function], Given(tuple(positional), tuple(keywords), more), heap)


def _unpack(
    analysis: Analysis, frame: Frame, statement: Assign, op: ir.Unpack, heap: Heap
) -> tuple[tuple[Value, ...], Heap] | None:
    source = frame[op.source]
    frame.may_raise(heap)
    given = [listed(Value(frozenset((atom,))), heap) for atom in source.atoms if atom != Exact(None)]
    is_known = all(one is not None and one.parts is not None for one in given)
    if given and is_known and op.star is None and not source.is_any:
        fitting = [one.parts for one in given if one is not None and one.parts and len(one.parts) == op.count]
        return (tuple(map(union, *fitting)), heap) if fitting or not op.count else None
    known = listed(source, heap)
    if known is not None and known.parts is not None and op.star is not None:
        if (behind := len(known.parts) - (op.count - op.star - 1)) < op.star:
            return None
        rest, heap = container(frame, statement, heap, list, Contents(parts=known.parts[op.star : behind]))
        return (*known.parts[: op.star], rest, *known.parts[behind:]), heap
    held, heap = elements(analysis, frame, statement, source, heap)
    if frame.is_unknown:
        analysis.keep(held)
    values = [held] * op.count
    if op.star is not None:
        values[op.star], heap = container(frame, statement, heap, list, Contents(rest=held))
    return tuple(values), heap


def _iterate(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Iterate, heap: Heap) -> Made:
    return iterate(analysis, frame, statement, frame[op.source], heap)


def _next(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Next, heap: Heap) -> Made:
    held, heap = elements(analysis, frame, statement, frame[op.iterator], heap)
    return union(held, exact(ir.END)), heap


# --- text ------------------------------------------------------------------------------------------------------------
def _text(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Format | ir.Join, heap: Heap) -> Made:
    if isinstance(op, ir.Join):
        return of(str), heap
    given = [frame[part] for part in (op.value, op.specification) if part is not None]
    frame.may_raise(heap)
    if is_plain(analysis, heap, *given):
        return of(str), heap
    behind = answered(analysis, frame, statement, SHOWN, tuple(given), heap)
    return (of(str), behind) if behind is not None else (ANY, analysis.unknown(given, heap))


# --- functions, classes, patterns ------------------------------------------------------------------------------------
def _make_function(analysis: Analysis, frame: Frame, statement: Statement, op: ir.MakeFunction, heap: Heap) -> Made:
    function = op.function
    cells = {cell: frame.cells[cell] for cell in function.free}
    kind = MADE.get((frame.namespace.get("__name__", ""), function.name), FunctionType)
    site = frame.site(kind, statement, tuple(cells.values()))  # with other cells it is another function
    analysis.closures[site] = function, frame.namespace, cells
    held: dict[str, Value] = {f"cell {cell.name}": at(inside) for cell, inside in cells.items()}
    given = function.parameters
    positional = (*given.positional_only, *given.positional)
    defaults = frame.all(op.defaults)
    for version, value in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
        held[f"default {version.name}"] = value
    for name, operand in op.keyword_defaults:
        for version in given.keyword_only:
            if (version.variable or version.name) == name:
                held[f"default {version.name}"] = frame[operand]
    return at(site), heap.allocated(site, Contents(fields=held))


def _make_class(analysis: Analysis, frame: Frame, statement: Statement, op: ir.MakeClass, heap: Heap) -> Made:
    """A class; of one that is not known when it is compiled, unknown code has seen what its body and methods reach."""
    if op.made is not None:
        return analysis.outside.value(op.made), heap
    frame.may_raise(heap)
    cells = {cell: frame.cells[cell] for cell in op.body.free}
    heap = analysis.unknown([*map(at, cells.values()), frame[op.bases], frame[op.keywords]], heap)
    analysis.run_unknown(op.body, frame.namespace, cells)
    return ANY, heap


def _super(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Super, heap: Heap) -> Made:
    frame.may_raise(heap)
    owner = NEVER if op.cell is None else heap[frame.cells[op.cell]].get("cell")
    if frame[op.function] == exact(super) and owner and not owner.is_any and not frame[op.first].is_any:
        held = {"class": owner, "self": frame[op.first]}
        return container(frame, statement, heap, super, Contents(fields=held))
    return ANY, analysis.unknown([frame[op.first], frame[op.function]], heap)


def _yield(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Yield | ir.YieldFrom, heap: Heap) -> Made:
    """A generator goes on when the next item is asked for, in unknown code at any time, with anything."""
    if isinstance(frame, Body) and isinstance(op, ir.Yield):
        left = frame.give(frame[op.value], heap)
        return None if left is None else (exact(None), left)  # ``send`` is a method of it, which is unknown code
    if isinstance(frame, Body) and isinstance(op, ir.YieldFrom):
        return _given_on(analysis, frame, statement, frame[op.source], heap)
    frame.may_raise(heap)
    value = frame[op.value] if isinstance(op, ir.Yield) else frame[op.source]
    return ANY, analysis.unknown([value], heap)


def _given_on(analysis: Analysis, body: Body, statement: Statement, source: Value, heap: Heap) -> Made:
    """``yield from source`` in a body that is followed: what that gives at its end, and the heap then."""
    returned = ANY if source.is_any else NEVER
    for _ in range(_GIVING):
        before = heap
        items, heap = elements(analysis, body, statement, source, heap)
        for atom in source.atoms:
            if isinstance(atom, At) and atom.site in analysis.generators:
                _, end, heap = resumed(analysis, body, atom.site, heap)
                returned = union(returned, end)
            else:
                is_builtin = isinstance(atom, At) and atom.site.kind in _SOURCES
                returned = union(returned, exact(None) if is_builtin or isinstance(atom, Array) else ANY)
        left = body.give(items, heap)
        if left is None:
            return None
        heap = left
        if heap <= before:
            return (returned, heap) if returned else None
    return ANY, analysis.unknown([source, returned], heap)


_GIVING = 6  # rounds of a ``yield from``, after which it is unknown code
_SOURCES = (list, tuple, dict, set, range)


_RUN: dict[type[ir.Operation], Callable[[Any, Frame, Statement, Any, Heap], Made]] = {
    ir.Copy: _copy,
    ir.Bound: _bound,
    ir.ReadCell: _read_cell,
    ir.WriteCell: _write_cell,
    ir.FreshCell: _fresh_cell,
    ir.DeleteCell: _delete_cell,
    ir.ReadGlobal: _read_global,
    ir.WriteGlobal: _write_global,
    ir.DeleteGlobal: _write_global,
    ir.ReadName: _in_class,
    ir.WriteName: _in_class,
    ir.DeleteName: _in_class,
    ir.GetAttribute: _get_attribute,
    ir.SetAttribute: _set_attribute,
    ir.DeleteAttribute: _delete,
    ir.GetItem: _get_item,
    ir.SetItem: _set_item,
    ir.DeleteItem: _delete,
    ir.Operator: _operator,
    ir.Compare: _compare,
    ir.Call: _call,
    ir.Make: make,
    ir.Insert: insert,
    ir.Extend: extend,
    ir.Iterate: _iterate,
    ir.Next: _next,
    ir.Format: _text,
    ir.Join: _text,
    ir.Import: import_module,
    ir.ImportName: import_name,
    ir.MakeFunction: _make_function,
    ir.MakeClass: _make_class,
    ir.MatchSequence: patterns.of_shape,
    ir.MatchMapping: patterns.of_shape,
    ir.Super: _super,
    ir.Yield: _yield,
    ir.YieldFrom: _yield,
}
