"""Sets of objects that equal themselves alone: ``ObjectSet``s in the place of sets.

Enters: where a set is met that holds such objects, and more is done with it than to ask what is in it.  Leaves: the
function in which what makes the set makes an ``ObjectSet``; the analysis starts again with that::

    prev = set(kids)           prev = ObjectSet(kids)
    near = {a, *others}        near = ObjectSet([a]);  near.update(others)
    far = {k for k in prev}    far = ObjectSet([]);  for k in prev: far.add(k)
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.infer.classes import is_hashed_by_identity
from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.values import At, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Function, If, Loop, Statement, Try, With, operands_of, walk
from srcgrad.language.models.object_sets import ObjectSet

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis


def note_objects(analysis: Analysis, site: Site | None, statement: Statement, held: Value) -> None:
    """Note that the set of a site, or the one that a statement makes, holds objects; raises ``Again`` where that is
    new."""
    if any(is_hashed_by_identity(analysis, atom) for atom in held.atoms):
        _note(analysis, site, statement)


def _note(analysis: Analysis, site: Site | None, statement: Statement) -> None:
    if analysis.at is None or analysis.at[0].is_unknown or site is not None and site.context in ("outside", "unknown"):
        return
    if site is not None and isinstance(site.origin, tuple):
        statement = site.origin[0]
    if isinstance(statement, Assign) and isinstance(statement.operation, ir.Make | ir.Call):
        analysis.assigned.note_objects(statement.node)


def note_into(analysis: Analysis, sets: Value, statement: Statement, held: Value) -> None:
    """Note that objects are put into sets, or read from them; nothing of what are no sets."""
    for atom in sets.atoms:
        if isinstance(atom, At) and atom.site.kind is set:
            note_objects(analysis, atom.site, statement, held)


def note_operands(analysis: Analysis, statement: Statement, operands: tuple[Value, ...], heap: Heap) -> None:
    """Note the sets of objects that something is read from, and empty ones that may be in the place of such."""
    atoms = [atom for value in operands for atom in value.atoms if isinstance(atom, At)]
    is_beside = any(atom.site.kind is ObjectSet for atom in atoms)
    for site in [atom.site for atom in atoms if atom.site.kind is set]:
        if is_beside:
            _note(analysis, site, statement)
        note_objects(analysis, site, statement, heap[site].items)


def with_object_sets(function: Function, noted: Set[Any]) -> Function:
    """A function in which statements make ``ObjectSet``s that made sets, at these nodes of its text."""
    statements = [statement for _, statement in walk(function.body)]
    if not noted or noted.isdisjoint(statement.node for statement in _all(function)):
        return function
    named = {
        statement.targets[0] for statement in statements
        if isinstance(statement, Assign) and statement.operation.__class__ is ir.ReadGlobal
        and statement.operation.name == "set"
    }  # fmt: skip
    noted_here = [statement for statement in statements if statement.node in noted and isinstance(statement, Assign)]
    made = {statement.targets[0] for statement in noted_here if isinstance(statement.operation, ir.Make)}
    return replace(function, body=_block(function.body, noted, named, made))


def _all(function: Function) -> list[Statement]:
    """The statements of a function, and of those inside of it."""
    found: list[Statement] = []
    for _, statement in walk(function.body):
        found.append(statement)
        if isinstance(statement, Assign) and isinstance(statement.operation, ir.MakeFunction):
            found += _all(statement.operation.function)
    return found


def _block(block: Block, noted: Set[Any], named: Set[Operand], made: Set[Operand]) -> Block:
    def inside(block: Block) -> Block:
        return _block(block, noted, named, made)

    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Assign():
                begun = _begun(statements) if _is_comprehension(statement, noted) else []
                del statements[len(statements) - len(begun) :]
                statements += [*_assign(statement, noted, named, made), *begun]
            case If(body=body, orelse=orelse):
                statements.append(replace(statement, body=inside(body), orelse=inside(orelse)))
            case Loop(body=body) | With(body=body):
                statements.append(replace(statement, body=inside(body)))
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                caught = tuple(
                    replace(each, kinds=None if each.kinds is None else inside(each.kinds), body=inside(each.body))
                    for each in handlers
                )
                statements.append(replace(
                    statement, body=inside(body), handlers=caught, orelse=inside(orelse), final=inside(final)
                ))  # fmt: skip
    return Block(tuple(statements), block.exit)


def _is_comprehension(statement: Assign, noted: Set[Any]) -> bool:
    """Whether a statement makes the set of a comprehension that is to be of objects."""
    is_noted = isinstance(statement.node, gast.SetComp) and statement.node in noted
    return is_noted and isinstance(statement.operation, ir.Make)


def _begun(before: list[Statement]) -> list[Statement]:
    """What makes the iterator of a comprehension, which its loop is to follow; making an empty set may come before."""
    found: list[Statement] = []
    wanted: set[Operand] = set()
    for statement in reversed(before):
        if found and not (isinstance(statement, Assign) and wanted.intersection(statement.targets)):
            break
        assert isinstance(statement, Assign)
        found.insert(0, statement)
        wanted.update(operands_of(statement.operation))
    return found


def _assign(statement: Assign, noted: Set[Any], named: Set[Operand], made: Set[Operand]) -> list[Statement]:
    node = statement.node
    match statement.operation:
        case ir.MakeFunction(function=function) as operation:
            inner = with_object_sets(function, noted)
            changed = replace(operation, function=inner)
            return [statement if inner is function else replace(statement, operation=changed)]
        case ir.Make(kind="set", elements=elements) if node in noted:
            items, display = Version("items"), gast.copy_location(gast.List([], gast.Load()), node)
            return [Assign((items,), ir.Make("list", elements), display), *_construct(statement, (items,))]
        case ir.Call(function=called, positional=given, keywords=(), star=None, rest=None) if (
            node in noted and called in named
        ):
            return _construct(statement, given)
        case ir.Insert(container=container, value=value) if container in made:
            return _method(statement, container, "add", value)
        case ir.Extend(container=container, source=source) if container in made:
            return _method(statement, container, "update", source)
    return [statement]


def _construct(statement: Assign, given: tuple[Operand, ...]) -> list[Statement]:
    module, kind, node = Version("module"), Version("kind"), statement.node
    return [
        Assign((module,), ir.Import(ObjectSet.__module__, (ObjectSet.__name__,)), node),
        Assign((kind,), ir.ImportName(module, ObjectSet.__name__), node),
        replace(statement, operation=ir.Call(kind, given)),
    ]


def _method(statement: Assign, container: Operand, name: str, given: Operand) -> list[Statement]:
    method = Version("method")
    return [
        Assign((method,), ir.GetAttribute(container, name), statement.node),
        Assign((Version("done"),), ir.Call(method, (given,)), statement.node),
    ]
