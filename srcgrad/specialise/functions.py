"""Functions as values: which function an operand is, what it captured, and what stands for one that is kept.

Enters: functions that the program makes, as they are met.  Leaves: the variables and defaults of each.  A function that
is kept (in a name, a container, a field) is a text there, by which a branch tells it from others; what it captured are
variables of the function that is written, and are read when it is called, as Python reads cells::

    f = (lambda v: v * a) if n > 2 else abs       ->      f = "f.<lambda> 3:8" or abs
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.infer.called import made_at
from srcgrad.infer.heap import Site
from srcgrad.infer.values import At, Bound, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Cell, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Function,
    Statement,
    operands_of,
)

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


@dataclass(frozen=True, eq=False)
class Closure:
    """A function that the program makes, where it is known which one.

    ``cells`` are the variables that it captured; a default is an operand, or the cell that holds it.
    """

    function: Function
    owner: FunctionType  # in whose text it stands
    cells: Mapping[Cell, Cell]
    defaults: Mapping[Version, Operand | Cell]
    is_outside: bool = False  # it is the owner itself


@dataclass(frozen=True, eq=False)
class Partial:
    """What ``functools.partial`` makes."""

    function: Operand
    positional: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...]


#: Where the variables of sites and the defaults of functions are.
Homes = tuple[dict[Site, list[Cell]], dict[Site, list[Mapping[Version, Operand | Cell]]]]


@dataclass(eq=False)
class Functions:
    """The functions that a reduced function makes or writes out."""

    made: dict[Operand, Closure | Partial] = field(default_factory=dict)  # by the version that holds one
    owners: dict[Function, FunctionType] = field(default_factory=dict)
    homes: dict[Site, list[Cell]] = field(default_factory=dict)  # the variables that are the cells of a site
    kept: dict[Site, list[Mapping[Version, Operand | Cell]]] = field(default_factory=dict)  # defaults, in cells
    origins: dict[Statement, Statement] = field(default_factory=dict)  # what is written out -> where it comes from
    defaults: set[Cell] = field(default_factory=set)  # cells that hold defaults
    places: dict[Any, FunctionType] = field(default_factory=dict)  # nodes of other functions' texts -> whose they are
    callers: dict[Any, Any] = field(default_factory=dict)  # those of calls that are written out -> where the call is
    absent: set[Cell] = field(default_factory=set)  # cells of functions that an instance calls by their names
    texts: set[str] = field(default_factory=set)  # by which branches tell functions from others
    around: list[Closure] = field(default_factory=list)  # what is being written out
    written: int = 0  # how many statements have been written out for calls that could stand

    def alias(self, version: Version, source: Operand) -> None:
        """Note another name of a value."""
        if source in self.made:
            self.made[version] = self.made[source]

    def saved(self) -> Homes:
        """Where variables and defaults are, to go back to."""
        return {s: [*cells] for s, cells in self.homes.items()}, {s: [*kept] for s, kept in self.kept.items()}

    def restore(self, saved: Homes) -> None:
        self.homes, self.kept = saved


# --- which function it is --------------------------------------------------------------------------------------------
def made_here(made: Reduced, statement: Assign, operation: ir.MakeFunction) -> list[Statement]:
    """Note a function that a statement makes; its defaults are kept in variables."""
    function, found = operation.function, defaults_of(operation)
    made.functions.owners[function] = made.frame.owner
    closure = Closure(function, made.frame.owner, made.frame.cells, found)
    made.functions.made[statement.targets[0]] = closure
    kept: dict[Version, Operand | Cell] = {}
    stores: list[Statement] = []
    for version, operand in found.items():
        kept[version] = operand
        if isinstance(operand, Version):
            kept[version] = cell = made.new_cell(version.variable or version.name)
            made.functions.defaults.add(cell)
            stores.append(Assign((), ir.WriteCell(cell, operand), statement.node))
    for atom in made.value(statement.targets[0]).atoms:
        if isinstance(atom, At):
            made.functions.kept.setdefault(atom.site, []).append(kept)
    return stores


def defaults_of(operation: ir.MakeFunction) -> dict[Version, Operand | Cell]:
    given = operation.function.parameters
    positional = (*given.positional_only, *given.positional)
    last = positional[len(positional) - len(operation.defaults) :]
    found: dict[Version, Operand | Cell] = dict(zip(last, operation.defaults, strict=True))
    named = {version.variable or version.name: version for version in given.keyword_only}
    return found | {named[name]: operand for name, operand in operation.keyword_defaults}


def at_site(made: Reduced, site: Site) -> Closure | None:
    """The function that a site stands for; None where there are several, or variables of it are not available."""
    if not isinstance(site.origin, tuple) or made.facts.is_seen(site):
        return None
    statement, cells = site.origin
    operation = statement.operation
    assert isinstance(operation, ir.MakeFunction)
    function = operation.function
    owner = made.functions.owners.get(function)
    if owner is None:
        return None
    homes: dict[Cell, Cell] = {}
    for cell, held in zip(function.free, cells, strict=True):
        if held.context == "outside":
            continue
        found = made.functions.homes.get(held, [])
        if len(found) != 1 or not is_single(made, held):
            return None
        homes[cell] = found[0]
    defaults: Mapping[Version, Operand | Cell] = {}
    if operation.defaults or operation.keyword_defaults:
        if all(isinstance(operand, Literal) for operand in operands_of(operation)):  # whenever it is made
            return Closure(function, owner, homes, defaults_of(operation))
        known = made.functions.kept.get(site, [])
        if len(known) != 1 or not is_single(made, site):
            return None
        defaults = known[0]
    return Closure(function, owner, homes, defaults)


def is_single(made: Reduced, site: Site) -> bool:
    contents = made.facts.contents.get(site)
    return contents is not None and contents.single and not made.facts.is_seen(site)


def closure_of(made: Reduced, operand: Operand, atom: Any) -> Closure | None:
    known = made.functions.made.get(operand)
    if isinstance(known, Closure):
        return known
    return at_site(made, atom.site) if is_made(atom) else None


def is_made(atom: Any) -> bool:
    """Whether an atom is a function that the program makes."""
    return isinstance(atom, At) and made_at(atom.site) is not None


def making(atom: Any) -> ir.MakeFunction:
    """What makes the function that an atom is."""
    operation = atom.site.origin[0].operation
    assert isinstance(operation, ir.MakeFunction)
    return operation


def function_at(atom: Any) -> Function:
    """The function that an atom is, which the program makes."""
    return making(atom).function


def cells_of(atom: Any) -> dict[Cell, Site]:
    """What a function captured that the program makes."""
    return dict(zip(function_at(atom).free, atom.site.origin[1], strict=True))


def holds_made(made: Reduced, value: Value, *, factories: bool = True) -> bool:
    """Whether a value is a function that the program makes, or may hold one; as a factory of items, if these count."""
    return next(held_functions(made, value, factories=factories), None) is not None


def held_functions(made: Reduced, value: Value, *, factories: bool = True) -> Iterator[Function]:
    """The functions that the program makes which a value is or may hold; as a factory of items, if these count."""
    pending, seen = [value], set[Site]()
    while pending:
        for atom in pending.pop().atoms:
            if is_made(atom):
                yield function_at(atom)
            elif isinstance(atom, Bound):
                pending.append(atom.receiver)
            elif isinstance(atom, At) and atom.site not in seen:
                seen.add(atom.site)
                contents = made.facts.contents.get(atom.site)
                is_made_of = factories or atom.site.kind is not defaultdict
                pending += [] if contents is None else contents.values() if is_made_of else [contents.items]


def text_of(function: Function) -> str:
    """What stands for a function where it is kept."""
    place = f"{getattr(function.node, 'lineno', 0)}:{getattr(function.node, 'col_offset', 0)}"
    return f"{function.qualname} {place}"
