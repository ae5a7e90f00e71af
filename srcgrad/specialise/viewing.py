"""Views of dicts that have names: what reads one is given a view that is made where it is read.

Enters: statements of the IR that make a view, or read one.  Leaves: the call of ``keys``, ``values`` or ``items`` in
front of each that reads it::

    v = d.values()
    d["a"] = y                 d["a"] = y
    s = sum(v)         ->      s = sum(d.values())

A view shows its dict as it is when it is read, so that another one of the same dict gives the same.  Two views differ
for ``is``, and for ``==`` of values: where one that has a name is compared with itself the program is refused, and so
is what keeps a view otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING

from srcgrad.infer.data import is_data
from srcgrad.infer.heap import UNKNOWN, Contents, Site, sites_of
from srcgrad.infer.objects import MAPPINGS
from srcgrad.infer.values import ANY, At, Bound, Exact, Value, are_of, at, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Statement, operands_of, parts_of, walk
from srcgrad.ir.rewriting import with_operands
from srcgrad.rules.table import lookup
from srcgrad.specialise.places import builtin_of

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

_NAMES = ("keys", "values", "items")


@dataclass(frozen=True, eq=False)
class View:
    """A view: of which dict, by which method, and what it and that method may be."""

    base: Version
    name: str
    method: Value
    value: Value


def viewed(made: Reduced, statement: Statement, block: Block) -> tuple[list[Statement], Statement | None]:
    """What stands in front of a statement, and the statement, which reads views that are made there; None of one that
    only says what a view is."""
    if not (made.views or made.viewed) and not isinstance(getattr(statement, "operation", None), ir.Call):
        return [], statement
    read = [each for each in _read(made, statement) if each in made.views]
    if not isinstance(statement, Assign):
        _refuse(made, statement, bool(read))
        return [], statement
    view, target = read and made.views[read[0]], statement.targets
    match statement.operation:
        case ir.Call(function=function, positional=(), star=None, keywords=(), rest=None) if (
            new := _of(made, statement, function)
        ) is not None and not _is_read_here(made, target[0], block):
            made.views[target[0]] = new
            made.iterators.add(function)
            return [], None
        case ir.Copy() if view:
            made.views[target[0]] = view
            return [], None
        case ir.WriteCell(cell=cell) if view and _is_bound_once(made, statement, cell):
            made.viewed[made.frame.cells.get(cell, cell)] = view
            return [], None
        case ir.ReadCell(cell=cell) if (here := made.frame.cells.get(cell, cell)) in made.viewed:
            made.views[target[0]] = made.viewed[here]
            return [], None
        case ir.Call(function=function) if _is_users(made.value(made.known.get(function, function))):
            return [], statement  # which is written out, and reads it itself
        case ir.Compare(symbol=symbol, left=left, right=right):
            one, other = (made.views.get(made.known.get(side, side)) for side in (left, right))
            is_told_apart = symbol in ("is", "is not") or one is not None and one.name == "values"
            _refuse(made, statement, one is not None and one is other and is_told_apart)
        case ir.Make(kind="tuple") if _is_unpacked(made, target[0], block):
            return [], statement  # which is not made
        case ir.Call() | ir.Iterate() | ir.Unpack() | ir.Extend():
            pass
        case _:
            _refuse(made, statement, bool(read))
    return _made_again(made, statement, read) if read else ([], statement)


def _made_again(made: Reduced, statement: Assign, read: list[Operand]) -> tuple[list[Statement], Statement]:
    before: list[Statement] = []
    again: dict[Operand, Version] = {}
    for operand in dict.fromkeys(read):
        view = made.views[operand]
        method, again[operand] = made.version("t", view.method), made.version("t", view.value)
        made.iterators.update((method, again[operand]))  # which nothing need read
        made.uses[method] = made.uses[again[operand]] = 1
        before.append(Assign((method,), ir.GetAttribute(view.base, view.name), statement.node))
        before.append(Assign((again[operand],), ir.Call(method), statement.node))
        made.origins.update({method: ir.GetAttribute(view.base, view.name), again[operand]: ir.Call(method)})
        if isinstance(statement.operation, ir.Unpack):
            listed = made.version("t", _list_of(made, view, statement))
            before.append(Assign((listed,), ir.Call(builtin_of(list), (again[operand],)), statement.node))
            again[operand] = listed

    def operand_(operand: Operand, default: Operand) -> Operand:
        return again.get(made.known.get(operand, operand), operand)

    changed = replace(statement, operation=with_operands(statement.operation, operand_))
    made.functions.origins[changed] = made.functions.origins.get(statement, statement)
    made.called[changed] = made.called.get(statement, [])
    return before, changed


def _list_of(made: Reduced, view: View, statement: Assign) -> Value:
    """The value of a list of what a view shows."""
    dicts = [site for atom in view.method.atoms if isinstance(atom, Bound) for site in sites_of(atom.receiver)]
    known = [made.facts.contents.get(site, UNKNOWN) for site in dicts]
    held = union(*(each.keys if view.name == "keys" else each.held for each in known))
    site = Site(list, (statement.node, made.namer.fresh("items")), made.frame.summaries[0].context)
    made.facts.contents[site] = Contents(single=False, rest=ANY if view.name == "items" else held)
    return at(site)


def _of(made: Reduced, statement: Assign, function: Operand) -> View | None:
    """The view that a call makes, of a dict that has a version."""
    method, looked = made.value(function), made.origins.get(function)
    kinds = MAPPINGS if made.facts.data is None else (*MAPPINGS, None)  # no other data has such methods
    is_view = method.consists_of(lambda atom: isinstance(atom, Bound) and (
        atom.name in _NAMES and atom.function is None and are_of(atom.receiver, *kinds)
    ) or made.facts.data is not None and is_data(atom))  # fmt: skip
    is_view = is_view and any(isinstance(atom, Bound) for atom in method.atoms)
    if not is_view or not isinstance(looked, ir.GetAttribute):
        return None
    base = made.known.get(looked.base, looked.base)
    shown = made.value(statement.targets[0])
    if any(map(is_data, shown.atoms)):  # of which nothing but a dict has such a method
        kind = type(getattr({}, looked.name)())
        site = Site(kind, (statement.node, made.namer.fresh("view")), made.frame.summaries[0].context)
        made.facts.contents[site] = Contents(single=False, rest=shown)
        shown, method = at(site), replace(method, atoms=frozenset(a for a in method.atoms if isinstance(a, Bound)))
    return View(base, looked.name, method, shown) if isinstance(base, Version) else None


def _is_read_here(made: Reduced, version: Version, block: Block) -> bool:
    """Whether one statement of the same block reads a view, which takes it as it is."""
    readers = [part for part in parts_of(block) if version in operands_of(part)]
    if version.variable is not None or made.uses[version] != 1 or len(readers) != 1:
        return False
    if not any(getattr(s, "operation", None) is readers[0] for s in block.statements):
        return False
    match readers[0]:
        case ir.Call(function=function):
            return not _is_users(made.value(made.known.get(function, function)))
        case ir.Copy() | ir.WriteCell() | ir.Make() | ir.Unpack():
            return False
    return True


def _is_unpacked(made: Reduced, version: Version, block: Block) -> bool:
    """Whether a tuple is made of the items that ``v, w = ...`` takes apart."""
    readers = [part for part in parts_of(block) if version in operands_of(part)]
    is_alone = version.variable is None and made.uses[version] == 1 and len(readers) == 1
    return is_alone and isinstance(readers[0], ir.Unpack) and readers[0].star is None


def _is_users(value: Value) -> bool:
    """Whether a function may be one of the user's, which is written out where it is given a view."""
    return any(
        isinstance(atom, At) or isinstance(atom, Bound) and atom.function is not None
        or isinstance(atom, Exact) and isinstance(atom.value, FunctionType) and lookup(atom.value) is None
        for atom in value.atoms
    )  # fmt: skip


def _is_bound_once(made: Reduced, statement: Assign, cell: ir.Cell) -> bool:
    """Whether a variable is bound once, by a statement that runs in each call before what stands behind it."""
    bindings = []
    for _, each in walk(made.frame.function.body):
        match getattr(each, "operation", None):
            case ir.WriteCell(cell=other) | ir.DeleteCell(cell=other) if (
                made.frame.cells.get(other, other) is made.frame.cells.get(cell, cell)
            ):
                bindings.append(each)
            case ir.MakeFunction(function=function) if any(
                isinstance(getattr(s, "operation", None), ir.WriteCell | ir.DeleteCell) for _, s in walk(function.body)
            ):
                return False  # which may bind it again
    origin = made.functions.origins.get(statement, statement)
    return bindings == [origin] and origin in made.frame.function.body.statements


def _read(made: Reduced, statement: Statement) -> list[Operand]:
    return [made.known.get(operand, operand) for operand in operands_of(getattr(statement, "operation", statement))]


def _refuse(made: Reduced, statement: Statement, is_so: bool) -> None:
    if is_so:
        made.refuse("E0404", statement.node, "this use of a view of a dict")
