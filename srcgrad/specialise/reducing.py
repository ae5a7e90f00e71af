"""A function for one kind of call: tests that its values decide are decided, functions that are known are spelled.

Enters: a summary.  Leaves: its IR without the branches that are not reached, and without reads of modules, functions
and classes: where one is used, the operand is a ``Literal`` of how it is spelled::

    if k is None:              (k is None)          t = np.sin(b)
        return np.sin(b)              ->            return t
    return b * k
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import gast
import numpy as np

from srcgrad.frontend.scope import importable
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Site
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import NEVER, SCALARS, At, Bound, Exact, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, Function, If, Loop, Statement, Try, With, operands_of, walk
from srcgrad.ir.restoring.functions import names_of
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.effects import method
from srcgrad.rules.table import lookup
from srcgrad.specialise.generators import consumed, got
from srcgrad.specialise.inlining import inlined
from srcgrad.syntax.globals import reference
from srcgrad.syntax.namer import Namer


@dataclass(eq=False)
class Reduced:
    """A function that is reduced, and what was found out about its operands."""

    function: Function
    summary: Summary
    facts: Facts
    resolve: Callable[[str, gast.AST], Any]  # the reference that a global name is
    apart: Callable[[Reduced, Function], Block]  # the body of a function without ``try``
    known: dict[Operand, Operand] = field(default_factory=dict)  # what stands for an operand
    calls: dict[Statement, list[Summary]] = field(default_factory=dict)  # of the functions that statements call
    values: dict[Version, Value] = field(default_factory=dict)
    cells: set[ir.Cell] = field(default_factory=set)  # of the function, and of those that are written out in it
    namer: Namer = field(default_factory=lambda: Namer(()))
    outer: frozenset[ir.Cell] = frozenset()  # cells of the functions around, which were there before
    this: Version | None = None  # the object that an ``__init__`` makes
    fields: dict[str, ir.Cell] = field(default_factory=dict)  # the variables that are its fields
    displays: dict[Operand, tuple[Operand, ...]] = field(default_factory=dict)  # the items of tuples
    uses: Counter[Operand] = field(default_factory=Counter)  # how often operands are read
    around: list[Summary] = field(default_factory=list)  # of the functions that are being written out
    parts: int = 0  # how many parts of it are attempted

    def value(self, operand: Operand) -> Value:
        """What an operand may be."""
        if isinstance(operand, Literal):
            return exact(operand.value.value if isinstance(operand.value, Spelled) else operand.value)
        return self.values.get(operand, NEVER)

    def note(self, new: Statement, old: Statement) -> None:
        """Take over what holds of a statement for one that was made from it."""
        if old in self.calls:
            self.calls[new] = self.calls[old]
        for one, other in zip(_bound_by(new), _bound_by(old), strict=True):
            self.values[one] = self.values.get(other, NEVER)


def static_of(value: Value) -> Any:
    """The function, class or module that a value is; None of any other."""
    if value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    return atom.value if isinstance(atom, Exact) and type(atom.value) not in SCALARS else None


def fixed_parameters(summary: Summary) -> dict[Version, object]:
    """The parameters that are None, a function or a module, whichever call of this kind it is: they are not passed."""
    found: dict[Version, object] = {}
    for version, value in summary.arguments.items():
        static = static_of(value)
        if value == exact(None) or isinstance(static, FunctionType | np.ufunc | BuiltinFunctionType | ModuleType):
            found[version] = static
    return found


def reduced(
    summary: Summary,
    facts: Facts,
    resolve: Callable[[str, gast.AST], Any],
    apart: Callable[[Reduced, Function], Block],
    made_of: type | None = None,
) -> Reduced:
    """The function of a summary as it runs there; of an ``__init__``, with variables for the fields of its object."""
    versions = [*summary.function.parameters, *(v for _, s in walk(summary.function.body) for v in _bound_by(s))]
    names = {*names_of(summary.function), *(name for v in versions for name in (v.name, v.variable) if name)}
    made = Reduced(summary.function, summary, facts, resolve, apart, namer=Namer(names))
    made.values.update(summary.values)
    made.uses.update(uses_of(summary.function))
    made.cells = {*summary.function.cells, *summary.function.free}
    made.outer = frozenset(summary.function.free)
    for version, value in fixed_parameters(summary).items():
        made.known[version] = Literal(None if value is None else Spelled(reference(importable("f", value)), value))
    if made_of is not None:
        made.this = next(iter(summary.function.parameters))
    made.function = replace(summary.function, body=_without_unused(_block(made, summary.function.body)))
    made.function = replace(made.function, body=apart(made, made.function))
    return made


def _block(made: Reduced, block: Block) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case If(test=test) if (chosen := _chosen(made, statement, test)) is not None:
                inner = _block(made, chosen)
                statements += inner.statements
                if not isinstance(inner.exit, Fall):
                    return Block(tuple(statements), inner.exit)
                for target, value in zip(statement.targets, inner.exit.values, strict=True):
                    statements.append(Assign((target,), ir.Copy(value), statement.node))
            case Assign(targets=(_,), operation=ir.Call()) if (
                loop := consumed(made, statement, statements, _block)
            ) is not None:
                statements += loop
            case Assign(targets=(_,), operation=ir.Call()) if (item := got(made, statement)) is not None:
                statements.append(item)
            case Assign(targets=(target,), operation=ir.Call()) if (
                written := _written_out(made, statement)
            ) is not None:
                statements += written[0]
                made.known[target] = written[1]
            case Assign(targets=(target,), operation=operation) if (spelled := _spelled(made, statement)) is not None:
                made.known[target] = spelled
            case Assign(operation=ir.SetAttribute(base=base, name=name, value=value)) if base is made.this is not None:
                stored = ir.WriteCell(_field(made, name), made.known.get(value, value))
                statements.append(replace(statement, operation=stored))
            case Assign(operation=ir.GetAttribute(base=base, name=name)) if base is made.this and name in made.fields:
                statements.append(replace(statement, operation=ir.ReadCell(made.fields[name])))
            case Assign(targets=targets, operation=ir.Unpack(source=source, count=count, star=None)) if (
                len(items := made.displays.get(source, ())) == count and made.uses[source] == 1
            ):  # of a tuple that nothing else reads: its items
                made.known.update(zip(targets, items, strict=True))
            case Assign(operation=operation):
                if isinstance(operation, ir.Make) and operation.kind in ("tuple", "list"):
                    made.displays[statement.targets[0]] = tuple(made.known.get(o, o) for o in operation.elements)
                other = replace(statement, operation=with_operands(operation, made.known.get))
                if statement in made.summary.calls:
                    made.calls[other] = made.summary.calls[statement]
                statements.append(other)
            case _:
                statements.append(_region(made, statement))
    statements = _read_last(made, statements)
    return Block(tuple(statements), with_operands(block.exit, made.known.get))


def _read_last(made: Reduced, statements: list[Statement]) -> list[Statement]:
    """``x[i] += v`` reads ``x[i]`` once ``v`` is computed, where computing it changes nothing."""
    for place, statement in enumerate(statements):
        if not isinstance(statement, Assign) or not isinstance(statement.operation, ir.GetItem | ir.GetAttribute):
            continue
        (target,) = statement.targets
        for behind in range(place + 1, len(statements)):
            other = statements[behind]
            if not isinstance(other, Assign):
                break
            operation = other.operation
            if isinstance(operation, ir.Operator) and operation.in_place and operation.operands[0] is target:
                if behind == place + 1:
                    break
                moved = [*statements[place + 1 : behind], statement, *statements[behind:]]
                return [*statements[:place], *_read_last(made, moved)]
            if not changes_nothing(made, other) or target in operands_of(operation):
                break
    return statements


def changes_nothing(made: Reduced, statement: Assign) -> bool:
    """Whether a statement computes, and no method of the user's runs in it."""
    match statement.operation:
        case ir.Operator(in_place=False) | ir.GetItem() | ir.GetAttribute() | ir.Compare() | ir.Make() | ir.ReadCell():
            return statement not in made.calls
        case ir.Call(function=Literal(value=Spelled(value=called))):
            return statement not in made.calls and lookup(called) is not None
        case ir.Call(function=function):
            bound = made.value(function)
            return not bound.is_any and bool(bound.atoms) and all(
                isinstance(a, Bound) and a.function is None and not method(a.name).updates for a in bound.atoms
            )  # fmt: skip
    return False


def _field(made: Reduced, name: str) -> ir.Cell:
    """The variable that is a field of the object that is made."""
    if name not in made.fields:
        variable = made.namer.fresh(f"self_{name}")
        made.fields[name] = ir.Cell(variable, variable)
        made.cells.add(made.fields[name])
    return made.fields[name]


def _region(made: Reduced, statement: Statement) -> Statement:
    def operand(given: Operand) -> Operand:
        return made.known.get(given, given)

    match statement:
        case If(test=test, body=body, orelse=orelse):
            return replace(statement, test=operand(test), body=_block(made, body), orelse=_block(made, orelse))
        case Loop(initial=initial, body=body):
            return replace(statement, initial=tuple(map(operand, initial)), body=_block(made, body))
        case With(manager=manager, body=body):
            entered = replace(statement, manager=operand(manager), body=_block(made, body))
            if statement in made.summary.calls:
                made.calls[entered] = made.summary.calls[statement]
            return entered
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            caught = tuple(
                replace(h, kinds=None if h.kinds is None else _block(made, h.kinds), body=_block(made, h.body))
                for h in handlers
            )
            return replace(
                statement, body=_block(made, body), handlers=caught, orelse=_block(made, orelse),
                final=_block(made, final),
            )  # fmt: skip
    return statement


def _chosen(made: Reduced, statement: If, test: Operand) -> Block | None:
    """The branch that is taken, where the values decide it."""
    value = made.value(test)
    if value == exact(True):
        return statement.body
    return statement.orelse if value == exact(False) else None


def _spelled(made: Reduced, statement: Assign) -> Literal | None:
    """How a function, class or module is spelled that a statement reads; None of what is computed, or may change."""
    static = static_of(made.value(statement.targets[0]))
    if static is None:
        return None
    match statement.operation:
        case ir.ReadGlobal(name=name):
            return Literal(Spelled(made.resolve(name, statement.node), static))
        case ir.ReadCell(cell=cell) if cell in made.outer:
            return Literal(Spelled(made.resolve(cell.variable, statement.node), static))
        case ir.GetAttribute(base=base, name=name):
            owner = made.known.get(base)
            spelled = owner.value if isinstance(owner, Literal) else None
            if isinstance(spelled, Spelled) and isinstance(spelled.value, ModuleType | type | np.ufunc):
                node = gast.Attribute(spelled.node, name, gast.Load())
                return Literal(Spelled(gast.copy_location(node, statement.node), static))
    return None


# --- local functions -------------------------------------------------------------------------------------------------
def _written_out(made: Reduced, statement: Assign) -> tuple[list[Statement], Operand] | None:
    """A call of a function that was made in here, as statements; None of any other."""
    call = statement.operation
    assert isinstance(call, ir.Call)
    called = made.summary.calls.get(statement, [])
    function = made.value(made.known.get(call.function, call.function))
    sites = [atom.site for atom in function.atoms if isinstance(atom, At) and atom.site.kind is FunctionType]
    if len(sites) != 1 or len(function.atoms) != 1 or function.is_any or not called:
        return None
    inner = called[-1]
    if call.star is not None or call.rest is not None or not {*inner.function.free} <= made.cells:
        return None
    if any(each.function is not inner.function for each in called) or any(
        each.function is inner.function for each in made.around
    ):
        return None
    given = _bound(made, inner.function, call, sites[0])
    if given is None:
        return None
    outer, made.summary = made.summary, inner
    made.around.append(inner)
    made.values.update(inner.values)
    made.uses.update(uses_of(inner.function))
    body = _block(made, inner.function.body)
    body = made.apart(made, replace(inner.function, body=body))
    made.around.pop()
    made.summary = outer

    written = inlined(replace(inner.function, body=body), given, made.namer.fresh, made.note)
    if written is None:
        return None
    statements, operand, cells = written
    made.cells |= cells
    if isinstance(operand, Version) and operand not in made.values:
        made.values[operand] = made.value(statement.targets[0])
    return statements, operand


def _bound_by(statement: Statement) -> tuple[Version, ...]:
    heads = statement.heads if isinstance(statement, Loop) else ()
    return (*getattr(statement, "targets", ()), *heads)


def _bound(made: Reduced, function: Function, call: ir.Call, site: Site) -> dict[Version, Operand] | None:
    """The operands of parameters; defaults are those of the statement that made the function."""
    contents, origin = made.facts.contents.get(site), site.origin
    is_one = contents is not None and contents.single
    parameters = function.parameters
    if parameters.variadic is not None or parameters.rest is not None or len(call.positional) > len(
        (*parameters.positional_only, *parameters.positional)
    ):
        return None
    positional = (*parameters.positional_only, *parameters.positional)
    given = {version: made.known.get(o, o) for version, o in zip(positional, call.positional, strict=False)}
    named = dict(call.keywords)
    maker = origin[0].operation if isinstance(origin, tuple) and isinstance(origin[0], Assign) else None
    defaults = maker.defaults if isinstance(maker, ir.MakeFunction) else ()
    later = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)) if defaults else {}
    for version in (*positional, *parameters.keyword_only):
        if version in given:
            continue
        operand = named.get(version.variable or version.name, later.get(version))
        if operand is None or operand is later.get(version) and not isinstance(operand, Literal) and not is_one:
            return None  # another one of the functions of this text has another default
        given[version] = made.known.get(operand, operand)
    return given


# --- what is left over -----------------------------------------------------------------------------------------------
def _without_unused(body: Block) -> Block:
    """Without what only decided tests were computed from: temporaries that nothing reads, of operations that do
    nothing but compute."""
    functions = _functions(body)
    while True:
        read: set[Any] = {operand for part in _parts(body) for operand in operands_of(part)}
        read |= {part.cell for part in _parts(body) if isinstance(part, ir.ReadCell)}
        made = _kept(body, read, functions)
        if made is body:
            return body
        body = made


def _functions(body: Block) -> set[Operand]:
    """The versions that are functions which are made in here, under whatever name."""
    found: set[Operand] = set()
    for _, statement in walk(body):
        match statement:
            case Assign(targets=(target,), operation=ir.MakeFunction()):
                found.add(target)
            case Assign(targets=(target,), operation=ir.Copy(source=source)) if source in found:
                found.add(target)
    return found


def _parts(body: Block) -> list[Any]:
    found: list[Any] = [body.exit]
    for block, statement in walk(body):
        found.append(block.exit)
        match statement:
            case Assign(operation=operation):
                found.append(operation)
            case If(test=test, body=inner, orelse=orelse):
                found += [Fall((test,)), inner.exit, orelse.exit]
            case Loop(initial=initial, body=inner):
                found += [Fall(initial), inner.exit]
            case With(manager=manager, body=inner):
                found += [Fall((manager,)), inner.exit]
            case Try(body=inner, handlers=handlers, orelse=orelse, final=final):
                found += [inner.exit, orelse.exit, final.exit]
                found += [part.exit for h in handlers for part in (h.kinds, h.body) if part is not None]
    return found


def _kept(block: Block, read: set[Any], functions: set[Operand]) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Assign(targets=(target,), operation=operation) if target not in read and (
                isinstance(operation, ir.MakeFunction) or target.variable is None and _only_computes(operation)
                or target in functions
            ):
                continue
            case Assign(operation=ir.WriteCell(cell=cell, value=held)) if held in functions and cell not in read:
                continue
            case If(body=body, orelse=orelse):
                sides = _kept(body, read, functions), _kept(orelse, read, functions)
                made: Statement = replace(statement, body=sides[0], orelse=sides[1])
                is_same = sides[0] is body and sides[1] is orelse
            case Loop(body=body) | With(body=body):
                made = replace(statement, body=_kept(body, read, functions))
                is_same = made.body is body
            case _:
                made, is_same = statement, True
        statements.append(statement if is_same else made)
    is_whole = len(statements) == len(block.statements)
    is_whole = is_whole and all(a is b for a, b in zip(statements, block.statements, strict=True))
    return block if is_whole else Block(tuple(statements), block.exit)


def _only_computes(operation: ir.Operation) -> bool:
    match operation:
        case ir.Copy() | ir.ReadGlobal() | ir.Make() | ir.ReadCell():
            return True
        case ir.Compare(symbol="is" | "is not") | ir.Operator(symbol="bool" | "not"):
            return True
        case ir.Call(function=Literal(value=Spelled(value=called))):
            return called in (isinstance, callable, itemgetter)
    return False
