"""Functions that carry what they captured: tuples of their text, their defaults and their variables.

Enters: functions that the program makes.  Leaves: which variables of one are settled before it is made, so that their
values do in their place, and the tuple that stands for it where it is kept::

    fs.append(lambda v, c=x[k]: v * c * a)        fs.append(("f.<lambda> 3:8", x[k], a))
    y = fs[0](v)                                  f = fs[0]; c = f[1]; a = f[2]; y = v * c * a

Any other function is a text where it is kept, and its variables are those of the function around.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.frontend.classes import captured_by, is_generated_init, is_user_class
from srcgrad.infer.facts import Facts
from srcgrad.infer.objects import CONTAINERS
from srcgrad.infer.values import NEVER, Array, At, Bound, Exact, Of, Value, exact, union
from srcgrad.ir import operations as ir
from srcgrad.ir.normal_form import Callee, Guarded
from srcgrad.ir.operations import Cell, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Function,
    If,
    Loop,
    Return,
    Statement,
    With,
    blocks_of,
    operands_of,
    walk,
)
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.models import FUNCTIONS, MADE, is_of_model
from srcgrad.language.models.callables import Cached
from srcgrad.runtime import alongside, places_of
from srcgrad.specialise.functions import (
    Closure,
    cells_of,
    defaults_of,
    function_at,
    held_functions,
    holds_made,
    is_made,
    text_of,
)
from srcgrad.specialise.receivers import holds_methods, is_method
from srcgrad.specialise.unassigned import is_look

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


class Captures:
    """Where the functions of a program stand, and what each of them carries."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._places: dict[Function, tuple[FunctionType, Function, Assign] | None] = {}
        self._carried: dict[Function, tuple[Cell, ...] | None] = {}
        self._held: dict[Cell, Value] = {}
        for site, contents in facts.contents.items():
            if site.kind is CellType and isinstance(site.origin, Cell):
                self._held[site.origin] = union(self._held.get(site.origin, NEVER), contents.get("cell"))
        for owner, text in facts.functions.items():
            if text is not None:
                self._note(owner, text)

    def _note(self, owner: FunctionType, function: Function) -> None:
        for _, statement in walk(function.body):
            if isinstance(statement, Assign) and isinstance(statement.operation, ir.MakeFunction):
                inner = statement.operation.function
                if is_of_model(owner) and (owner.__module__, inner.name) not in MADE:
                    continue
                self._places[inner] = None if inner in self._places else (owner, function, statement)
                self._note(owner, inner)

    def owner(self, function: Function) -> FunctionType:
        place = self._places[function]
        assert place is not None
        return place[0]

    def operation(self, function: Function) -> ir.MakeFunction:
        """What makes a function."""
        place = self._places[function]
        assert place is not None and isinstance(place[2].operation, ir.MakeFunction)
        return place[2].operation

    def held(self, cell: Cell) -> Value:
        """What a variable may be, at any time."""
        return self._held.get(cell, NEVER)

    def carried(self, function: Function) -> tuple[Cell, ...] | None:
        """The variables that a function carries; None where one that it captured may be bound later."""
        if function not in self._carried:
            self._carried[function] = self._of(function)
        return self._carried[function]

    def _of(self, function: Function) -> tuple[Cell, ...] | None:
        place = self._places.get(function)
        if place is None or function.is_generator or isinstance(function.node, gast.GeneratorExp):
            return None
        defaults = [operand for operand in operands_of(place[2].operation) if isinstance(operand, Version)]
        if not all(_is_plain(self._facts.values.get(version, NEVER)) for version in defaults):
            return None
        found: list[Cell] = []
        for cell in function.free:
            is_inside = self._is_settled(cell, function)
            if is_inside is None or is_inside and not _is_plain(self.held(cell)):
                return None
            found += [cell] if is_inside else []
        return tuple(found)

    def _is_settled(self, cell: Cell, function: Function) -> bool | None:
        """Whether a variable is bound once, before a function is made; False where it was there before the program,
        None where it may be bound later."""
        place = self._places.get(function)
        if place is None:
            return False if cell in function.free else None
        _, around, made = place
        if cell in around.free:
            return self._is_settled(cell, around)
        if cell not in around.cells or len(_bindings(around, cell)) != 1:
            return None
        return True if _comes_before(around.body, cell, made) else None


def _bindings(function: Function, cell: Cell) -> list[ir.Operation]:
    """What binds a variable, in a function and those that are made in it."""
    found: list[ir.Operation] = []
    for _, statement in walk(function.body):
        match getattr(statement, "operation", None):
            case ir.WriteCell(cell=bound) | ir.DeleteCell(cell=bound) | ir.FreshCell(cell=bound) if bound is cell:
                found.append(statement.operation)  # type: ignore[union-attr]
            case ir.MakeFunction(function=inner):
                found += _bindings(inner, cell)
            case ir.MakeClass(made=None):
                found += [statement.operation] * 2  # type: ignore[union-attr]
    return found


def _comes_before(block: Block, cell: Cell, made: Assign) -> bool:
    """Whether a variable is bound before a statement runs, and once in a call."""
    for place, statement in enumerate(block.statements):
        if isinstance(statement, Assign) and isinstance(statement.operation, ir.WriteCell):
            if statement.operation.cell is cell:
                behind = Block(block.statements[place + 1 :], block.exit)
                return any(each is made for _, each in walk(behind))
        if isinstance(statement, If | With) and any(_comes_before(part, cell, made) for part in blocks_of(statement)):
            return True
    return False


def _is_plain(value: Value) -> bool:
    """Whether a value is data, an object of the user's, or a function: nothing that is not made."""
    return value.consists_of(
        lambda a: isinstance(a, Array | Of | Exact) or is_method(a)
        or isinstance(a, At) and (a.site.kind in (None, *FUNCTIONS, *CONTAINERS) or is_user_class(a.site.kind))
    )  # fmt: skip


def captures_of(facts: Facts) -> Captures:
    if facts.captures is None:
        facts.captures = Captures(facts)
    assert isinstance(facts.captures, Captures)
    return facts.captures


def is_tuple(facts: Facts, function: Function) -> bool:
    """Whether a tuple stands for a function, and not its text alone."""
    cells = captures_of(facts).carried(function)
    return cells is not None and bool(cells or _defaults(captures_of(facts).operation(function)))


def _defaults(operation: ir.MakeFunction) -> dict[Version, Operand]:
    """The defaults that a function carries: those that are computed."""
    return {v: held for v, held in defaults_of(operation).items() if isinstance(held, Version)}


# --- functions that are kept -----------------------------------------------------------------------------------------
def as_values(made: Reduced, body: Block) -> Block:
    """A body in which texts and tuples stand for the functions that are kept."""
    statements: list[Statement] = []
    for statement in body.statements:
        match statement:
            case Assign(operation=ir.MakeFunction() as operation) if not isinstance(
                operation.function.node, gast.GeneratorExp
            ):
                statements += _kept(made, statement, operation)
            case Assign(targets=(target,), operation=ir.ReadCell(cell=cell)) if cell in made.functions.absent:
                statements += _named(made, target, statement.node)
            case If(body=inner, orelse=orelse):
                statements.append(replace(statement, body=as_values(made, inner), orelse=as_values(made, orelse)))
            case Loop(body=inner) | With(body=inner):
                statements.append(made.renewed(statement, replace(statement, body=as_values(made, inner))))
            case _:
                statements.append(statement)
    return Block(tuple(statements), body.exit)


def _kept(made: Reduced, statement: Assign, operation: ir.MakeFunction) -> list[Statement]:
    function, reads = operation.function, list[Statement]()
    text = Literal(text_of(function))
    if not is_tuple(made.facts, function):
        return [replace(statement, operation=ir.Copy(text))]
    captures = captures_of(made.facts)
    closure = made.functions.made.get(statement.targets[0])
    given = defaults_of(operation)  # some of them are known here
    parts: list[Any] = [text, *(given[version] for version in _defaults(captures.operation(function)))]
    for cell in captures.carried(function) or ():
        home = closure.cells.get(cell) if isinstance(closure, Closure) else None
        if home is None:
            made.refuse("E0118", statement.node, f"a function that captured {cell.variable!r}, and is kept,")
        held = made.version("t", captures.held(cell))
        reads.append(Assign((held,), ir.ReadCell(home), statement.node))
        parts.append(held)
    return [*reads, replace(statement, operation=ir.Make("tuple", tuple(parts)))]


def _named(made: Reduced, target: Version, node: Any) -> list[Statement]:
    """What stands for a function that an instance calls by its name, where it is read."""
    (atom,), before = made.value(target).atoms, list[Statement]()
    function, captures = function_at(atom), captures_of(made.facts)
    cells, text = captures.carried(function) or (), Literal(text_of(function))
    if not is_tuple(made.facts, function):
        return [Assign((target,), ir.Copy(text), node)]
    parts: list[Any] = [text]
    for cell in cells:
        (home,) = made.functions.homes[cells_of(atom)[cell]]
        parts.append(held := made.version("t", captures.held(cell)))
        is_absent = home in made.functions.absent
        before += _named(made, held, node) if is_absent else [Assign((held,), ir.ReadCell(home), node)]
    return [*before, Assign((target,), ir.Make("tuple", tuple(parts)), node)]


def carried_in(made: Reduced, body: Block) -> set[Cell]:
    """The variables that functions carry which are made in a body."""
    found: set[Cell] = set()
    for _, statement in walk(body):
        if isinstance(statement, Assign) and isinstance(statement.operation, ir.MakeFunction):
            closure = made.functions.made.get(statement.targets[0])
            cells = captures_of(made.facts).carried(statement.operation.function) or ()
            found |= {closure.cells[cell] for cell in cells if isinstance(closure, Closure) and cell in closure.cells}
    return found


def unpacked(made: Reduced, operand: Operand, function: Function, node: Any) -> tuple[Closure, list[Statement]] | None:
    """A function by what stands for it, and what reads the parts of that; None where it does not carry all."""
    captures = captures_of(made.facts)
    cells = captures.carried(function)
    if cells is None:
        return None
    operation, before, owner = captures.operation(function), list[Statement](), captures.owner(function)
    made.functions.owners[function] = owner

    def part(value: Value) -> Version:
        read = made.version("t", value)
        before.append(Assign((read,), ir.GetItem(operand, Literal(place)), node))
        return read

    homes: dict[Cell, Cell] = {}
    defaults = dict(defaults_of(operation))
    place = 0
    for version, default in _defaults(operation).items():
        place += 1
        defaults[version] = part(made.facts.values[default])  # type: ignore[index]
    for cell in cells:
        place += 1
        homes[cell] = made.new_cell(cell.variable)
        before.append(Assign((), ir.WriteCell(homes[cell], part(captures.held(cell))), node))
    return Closure(function, owner, homes, defaults), before


def misused(made: Reduced, body: Block) -> tuple[str, str, gast.AST | None] | None:
    """The code of what is done with a function that the program makes other than to keep and call it, what that is,
    and where; None where nothing is."""
    looked_at: set[Block] = set()
    for around, statement in walk(body):
        if isinstance(statement, With) and holds_made(made, made.value(statement.manager)):
            return "E0113", "a context manager that holds a function", statement.node
        if around not in looked_at and isinstance(around.exit, Return):
            looked_at.add(around)
            if _is_kept_inside(made, made.value(around.exit.value)):
                return "E0211", "a function that is returned", None
        if not isinstance(statement, Assign):
            continue
        operation = statement.operation
        is_absent = isinstance(operation, ir.ReadCell) and operation.cell in made.functions.absent
        if is_absent and holds_kept_inside(made, made.value(statement.targets[0])):
            return "E0118", "a function that is kept where it was captured", statement.node
        given = [o for o in operands_of(operation) if any(is_made(a) or is_method(a) for a in made.value(o).atoms)]
        match operation:
            case ir.Compare(symbol="is" | "is not", left=left, right=right) if any(
                made.value(operand) in (exact(None), exact(ir.END)) or _is_spelled(operand) for operand in (left, right)
            ):
                continue
            case ir.Compare(symbol="==", right=Literal(value=str() as text)) if text in made.functions.texts:
                continue
            case ir.Call() if is_look(operation):
                continue
            case ir.Call() if statement not in made.calls or _is_of_models(made.value(operation.function)):
                passed = [operand for operand in operands_of(operation) if operand is not operation.function]
                values = [made.value(operand) for operand in passed]
                factories = not _is_attempt(made.value(operation.function))  # what is missing is made before
                is_made_ = any(holds_made(made, value, factories=factories) for value in values)
                held = is_made_ or any(holds_methods(made.facts, value) for value in values)
                is_copy = not given and _is_copying(made.value(operation.function))
                if held and not _only_holds(made.value(operation.function), is_itself=bool(given)) and not (
                    is_copy and not is_made_
                ):
                    is_cache = made.value(operation.function) == exact(Cached)
                    code, what = _REMEMBERED if is_cache else ("E0211", "a function that is passed on")
                    return code, what, statement.node
            case ir.Copy() | ir.WriteCell() | ir.Insert() | ir.SetItem() | ir.SetAttribute() | ir.Make() | ir.Call():
                continue
            case ir.Operator(symbol="bool" | "not") | ir.Bound() | ir.ReadCell():
                continue
            case ir.GetItem(base=base, index=Literal(value=int())) if given == [base] and made.value(base).consists_of(
                lambda atom: is_made(atom) or is_method(atom)
            ):
                continue
            case _ if given:
                return "E0211", "this use of a function that the program makes", statement.node
    if isinstance(body.exit, Return) and _is_kept_inside(made, made.value(body.exit.value)):
        return "E0211", "a function that is returned", None
    return None


_REMEMBERED = "E0212", "a cache of a function that is made inside"


def _is_kept_inside(made: Reduced, value: Value) -> bool:
    """Whether a value is a function that means nothing to the caller, or holds one: what it captured is known here
    alone, or the caller is no function of the program, in which pairs and tuples are known."""
    is_entry = any(summary in made.facts.entry for summary in made.frame.summaries)
    if is_entry:
        return holds_made(made, value) or holds_methods(made.facts, value)
    return holds_kept_inside(made, value)


def holds_kept_inside(made: Reduced, value: Value) -> bool:
    """Whether a value is or holds a function that does not carry all that it captured."""
    captures = captures_of(made.facts)
    return any(captures.carried(function) is None for function in held_functions(made, value))


def _is_of_models(function: Value) -> bool:
    """Whether a value is a class of the models, whose methods call what they hold."""
    return any(
        isinstance(a, Exact) and isinstance(a.value, type) and a.value.__module__.startswith("srcgrad.")
        and not is_user_class(a.value)
        for a in function.atoms
    )  # fmt: skip


def _is_copying(function: Value) -> bool:
    """Whether a call copies what it is given: the copy of a pair in it is the method of the copy of its object."""
    return function.consists_of(lambda a: isinstance(a, Exact) and a.value in (copy.copy, copy.deepcopy))


def _is_spelled(operand: Operand) -> bool:
    """Whether an operand is how a function is spelled."""
    return isinstance(operand, Literal) and isinstance(operand.value, Spelled)


def _is_attempt(function: Value) -> bool:
    return function.consists_of(
        lambda a: isinstance(a, Exact) and isinstance(a.value, Callee) and isinstance(a.value.function, Guarded)
    )


def _only_holds(function: Value, *, is_itself: bool) -> bool:
    """Whether a function does no more with what it is given than to keep it, or to go over it: a function itself, or
    what holds one, of which the class may be asked too."""
    asking = () if is_itself else (type, isinstance, id)
    known = (len, zip, enumerate, reversed, range, list, tuple, places_of, alongside, *asking)
    put = ("add", "discard")  # into sets, which go by identity: what stands for a function has none
    kept = ("append", "get", "items", "values", "keys", "insert", "setdefault", "update", "extend", "pop")
    return not function.is_any and all(
        isinstance(a, Exact) and (
            a.value in known or isinstance(a.value, type) and (is_generated_init(a.value) or captured_by(a.value))
        )
        or isinstance(a, Bound) and a.function is None and (a.name in kept or a.name in put and not is_itself)
        for a in function.atoms
    )  # fmt: skip
