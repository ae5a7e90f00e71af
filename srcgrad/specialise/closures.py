"""Local functions that are functions of their own: what they captured becomes parameters, the last ones.

Enters: a call of a function that calls itself, or whose text ends in several places.  Leaves: a call of an instance::

    def tower(v, k):                                     def tower(v, k, x):
        return v if k == 0 else x * tower(v, k - 1)          return v if k == 0 else x * tower(v, k - 1, x)
    return tower(x, n)                                   return tower(x, n, x)

They are read when it is called, as Python reads cells; a function that binds one of them is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.source import source_of
from srcgrad.infer.heap import Site
from srcgrad.infer.summaries import Summary
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Cell, Literal, Operand, Version
from srcgrad.ir.regions import Assign, Function, Statement, walk
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.captures import is_tuple
from srcgrad.specialise.functions import Closure, cells_of, function_at, is_made, is_single
from srcgrad.specialise.instances import Captured, fixed_parameters, instance_of, static_of
from srcgrad.specialise.unassigned import refuse_handed_over
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def calls_itself(summaries: Sequence[Summary]) -> bool:
    """Whether a function may be called again while it runs."""
    first, pending, seen = summaries[0], list(summaries), set[Summary]()
    while pending:
        for called in pending.pop().calls.values():
            for summary in called:
                if summary.function is first.function and summary.cells == first.cells:
                    return True
                if summary not in seen:
                    seen.add(summary)
                    pending.append(summary)
    return False


def called_apart(
    made: Reduced, statement: Assign, closure: Closure, given: Mapping[Version, Operand], summaries: Sequence[Summary],
    derived: Callable[[Any], Any] = lambda function: function, more: Sequence[Operand] = (),
) -> list[Statement] | None:  # fmt: skip
    """A call of a function by its instance, or of what is ``derived`` from it, which takes ``more``; None where
    something that it captured is not available."""
    summary, before = summaries[-1], list[Statement]()
    if not all(_is_within(other, summary) for other in summaries):
        return None
    captured: dict[Site, Cell] = {}
    if not _captured(made, summary, summary.cells, closure.cells, captured, set()) or _binds_outside(closure.function):
        return None
    passed = [given[version] for version in summary.function.parameters if version not in fixed_parameters(summary)]
    taken = {version.variable or version.name for version in summary.function.parameters}
    names: list[tuple[Site, str]] = []
    refuse_handed_over(made, closure.function, captured.values())
    for site, home in captured.items():
        held = made.version("t", summary.heap[site].get("cell"))
        before.append(Assign((held,), ir.ReadCell(home), statement.node))
        passed.append(held)
        name = str(site.origin.variable) if isinstance(site.origin, Cell) else home.variable
        while name in taken:
            name += "_"
        taken.add(name)
        names.append((site, name))
    owners = {**made.functions.owners, closure.function: closure.owner}
    told = None if closure.is_outside else Captured(tuple(names), owners)
    instance = instance_of(closure.owner, summary, made.facts, captured=told, is_flat=made.is_flat)
    callee = nf.Callee(derived(_named(closure, tuple(name for _, name in names))), instance=instance)
    head = Literal(Spelled(reference(GlobalBinding(closure.function.name.strip("<>"), callee)), callee))
    call = Assign(statement.targets, ir.Call(head, (*passed, *more)), statement.node)
    made.calls[call] = [summary]
    return [*before, call]


def _is_within(other: Summary, summary: Summary) -> bool:
    fixed = fixed_parameters(summary)
    return other is summary or other.cells == summary.cells and fixed_parameters(other).keys() == fixed.keys() and all(
        other.arguments[version] <= value for version, value in summary.arguments.items()
    )  # fmt: skip


def _named(closure: Closure, captured: tuple[str, ...]) -> nf.LocalFunction | FunctionType:
    function, source = closure.function, source_of(closure.owner)
    if closure.is_outside:
        return closure.owner
    return nf.LocalFunction(function.name.strip("<>"), function.node, source, captured, function)


def _captured(
    made: Reduced, summary: Summary, cells: Mapping[Cell, Site], homes: Mapping[Cell, Cell],
    captured: dict[Site, Cell], seen: set[Site],
) -> bool:  # fmt: skip
    """Gather what a function captured, and what the functions did that are among it; whether all of it is available."""
    for cell, site in cells.items():
        if site.context == "outside" or site in seen:
            continue
        seen.add(site)
        value = summary.heap[site].get("cell")
        if static_of(value) is not None:
            continue
        functions = [function_at(atom) for atom in value.atoms if is_made(atom)]
        if functions and (len(functions) != len(value.atoms) or value.is_any):
            return False
        if len(functions) == 1:
            (function,), (atom,) = functions, value.atoms
            more, met = dict(captured), set(seen)
            if not _binds_outside(function) and not _has_defaults(atom):
                if _captured(made, summary, cells_of(atom), {}, more, met):
                    captured.update(more)
                    seen |= met
                    continue
        if not all(is_tuple(made.facts, function) for function in functions):  # which are passed
            return False
        found = homes.get(cell)
        if found is None:
            known = made.functions.homes.get(site, [])
            if len(known) != 1 or not is_single(made, site):
                return False
            (found,) = known
        captured[site] = found
    return True


def _has_defaults(atom: Any) -> bool:
    operation = atom.site.origin[0].operation
    return bool(operation.defaults or operation.keyword_defaults)


def _binds_outside(function: Function) -> bool:
    """Whether a function, or one that is made in it, binds a variable of the functions around it."""
    return any(cell in function.free for cell in _bound_cells(function))


def _bound_cells(function: Function) -> Iterable[Cell]:
    for _, statement in walk(function.body):
        if isinstance(statement, Assign):
            match statement.operation:
                case ir.WriteCell(cell=cell) | ir.DeleteCell(cell=cell):
                    yield cell
                case ir.MakeFunction(function=inner):
                    yield from _bound_cells(inner)


def entered(made: Reduced, summary: Summary, captured: Captured) -> dict[Cell, Cell]:
    """The variables of an instance that are what its function captured."""
    homes = {site: Cell(name, name) for site, name in captured.names}
    made.functions.homes.update((site, [home]) for site, home in homes.items())
    made.functions.owners.update(captured.owners)
    found: dict[Cell, Cell] = {}
    pending = [summary.cells]
    seen: set[Site] = set()
    while pending:
        for cell, site in pending.pop().items():
            if site in seen or site.context == "outside":
                continue
            seen.add(site)
            if site not in homes:  # it holds a function, which is called by its name
                homes[site] = Cell(made.namer.fresh(cell.variable), cell.variable)
                made.functions.absent.add(homes[site])
                made.functions.homes[site] = [homes[site]]
                for atom in summary.heap[site].get("cell").atoms:
                    if is_made(atom):
                        pending.append(cells_of(atom))
            if cell in summary.cells:
                found[cell] = homes[site]
    made.cells |= {*homes.values()}
    made.namer.reserve(*(home.variable for home in homes.values()))
    return found
