"""A function for one kind of call: tests that its values decide are decided, functions that are known are spelled.

Enters: a summary.  Leaves: its IR without the branches that are not reached, and without reads of modules, functions
and classes: where one is used, the operand is a ``Literal`` of how it is spelled::

    if k is None:              (k is None)          t = np.sin(b)
        return np.sin(b)              ->            return t
    return b * k
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum, EnumType
from functools import partial
from types import CellType, ModuleType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.infer.heap import Site
from srcgrad.infer.values import At, Atom, Exact, Of, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import bound_by
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Fall,
    Function,
    If,
    Loop,
    Statement,
    Try,
    With,
    operands_of,
    walk,
)
from srcgrad.ir.restoring.functions import names_of
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.asked import functions_in
from srcgrad.language.models.derivatives import PROGRAMS
from srcgrad.specialise.answers import only_answers
from srcgrad.specialise.arguments import does_not_fit, gathered, only_arguments
from srcgrad.specialise.attribute_dicts import fields_taken
from srcgrad.specialise.callees import called, of_holder
from srcgrad.specialise.captures import as_values
from srcgrad.specialise.changing import changes_nothing
from srcgrad.specialise.closures import entered
from srcgrad.specialise.conditions import is_test, may_return, truth_of_tuple
from srcgrad.specialise.defaulting import defaulted
from srcgrad.specialise.dispatching import asked, explicit
from srcgrad.specialise.driven_managers import begins_generator, opened_by_generator, opened_by_model
from srcgrad.specialise.driving import driven
from srcgrad.specialise.functions import Closure, made_here
from srcgrad.specialise.generators import consumed, got, mapped
from srcgrad.specialise.going_over import as_iterated
from srcgrad.specialise.going_over_objects import begun_by_class, runs_iter
from srcgrad.specialise.instances import Instance, fixed_parameters, runs_users, static_of
from srcgrad.specialise.iterators import ITERATED, iterated, turned
from srcgrad.specialise.iterators import refuse_others as refuse_kept
from srcgrad.specialise.joining import joined
from srcgrad.specialise.missing import looked_up, refusing, without_module
from srcgrad.specialise.patterns import taken_apart
from srcgrad.specialise.reached import reached
from srcgrad.specialise.receivers import as_pairs
from srcgrad.specialise.records import followed, refuse_others
from srcgrad.specialise.reduced import Frame, Reduced
from srcgrad.specialise.set_operations import in_place
from srcgrad.specialise.spelled import operated, written_out
from srcgrad.specialise.unassigned import looks, never_bound, refuse_unassigned, unbound_behind
from srcgrad.specialise.unknown import refusal_of, stopped
from srcgrad.specialise.unused import without_unused
from srcgrad.specialise.viewing import viewed
from srcgrad.syntax.globals import spelling
from srcgrad.syntax.namer import Namer


def reduced(
    instance: Instance, apart: Callable[[Reduced, Function], Block], ended: Mapping[Statement, UnsupportedSyntax]
) -> Reduced:
    """The function of an instance as it runs; of an ``__init__``, with variables for the fields of its object.

    ``ended``: statements under tests in whose place a refusal is raised.
    """
    summary, owner = instance.summary, instance.function
    function = summary.function
    versions = [*function.parameters, *(version for _, s in walk(function.body) for version in bound_by(s))]
    names = {*names_of(function), *(name for v in versions for name in (v.name, v.variable) if name)}
    cells = (*function.cells, *function.free)
    own = {cell: cell for cell in function.cells}
    frame = Frame(owner, own, frozenset(function.free), (summary,), function)
    called = {statement: list(summaries) for statement, summaries in summary.calls.items()}
    made = Reduced(function, owner, instance.facts, frame, called, apart,
                   namer=Namer(names), ended=ended, is_flat=instance.is_flat)  # fmt: skip
    refuse_unassigned(made)
    made.cells = {*cells}
    made.functions.homes.update((Site(CellType, cell, summary.context), [cell]) for cell in function.cells)
    if instance.captured is not None:
        held = entered(made, summary, instance.captured)
        outer = frozenset(cell for cell in function.free if cell not in held)
        made.frame = replace(frame, cells=own | held, outer=outer)
        made.functions.around.append(Closure(function, owner, held, {}))
    made.values.update(summary.values)
    made.uses.update(uses_of(function))
    made.only_arguments = only_arguments(function.body)
    for version, value in fixed_parameters(summary).items():
        made.known[version] = Literal(None if value is None else Spelled(spelling(value), value))
    if instance.made is not None:
        made.this = next(iter(function.parameters))
    body = without_unused(made, reached(made, _block(made, function.body)))
    refuse_others(made, body)
    refuse_kept(made, body)
    body = reached(made, as_pairs(made, as_values(made, apart(made, replace(function, body=body)))))
    others = sorted(made.cells - {*cells}, key=lambda cell: cell.variable)
    made.function = replace(function, body=body, cells=(*function.cells, *others))
    return made


def _not_raised(made: Reduced, statement: Statement) -> UnsupportedSyntax:
    """No handler of the program may catch that it went another way than was inferred."""
    reason = "what stands before this was taken to raise an exception, and did not"
    return UnsupportedSyntax(reason, made.place_of(statement.node), code="E0711")


def _block(made: Reduced, block: Block, done: Sequence[Statement] = (), first: int = 0) -> Block:
    """A block, of which what stands before a place is ``done``."""
    statements = [*done]
    for statement in block.statements[first:]:
        origin = made.functions.origins.get(statement, statement)
        if origin in made.facts.opaque:
            raise refusal_of(made, statement)
        if (refusal := stopped(made, statement) or does_not_fit(made, statement)) is not None:
            if not made.is_conditional:
                raise refusal
            before = _read_last(made, statements)
            ended = refusing(made, statement.node, refusal)
            return Block((*before, *ended.statements), ended.exit)
        if (missed := without_module(made, statement)) is not None:
            return Block((*_read_last(made, statements), *missed.statements), missed.exit)
        if origin in made.frame.not_reached:  # what stands before it raises, whatever its operands are
            before = _read_last(made, statements)
            last = before[-1].targets if before and isinstance(before[-1], Assign) else ()  # read, or it was left out
            left = refusing(made, statement.node, _not_raised(made, statement), *last)
            return Block((*before, *left.statements), left.exit)
        start, is_written = len(statements), False
        if isinstance(statement, Assign):
            made.origins.update((target, statement.operation) for target in statement.targets)
            if (error := never_bound(made, statement)) is not None:
                return Block((*_read_last(made, statements), *error.statements), error.exit)
            statements += looked_up(made, statement)
            statements += looks(made, statement)
        before_it, shown = viewed(made, statement, block)
        statements += before_it
        if shown is None:
            continue
        if shown is not statement:
            block = Block(tuple(shown if s is statement else s for s in block.statements), block.exit)
            statement = shown
        if isinstance(statement, If) and (asking := asked(made, statement)) is not None:
            statements += asking[0]
            statement = asking[1]
        match statement:
            case If(test=test) if (chosen := _chosen(made, statement, test)) is not None:
                inner = _block(made, chosen)
                statements += inner.statements
                if not isinstance(inner.exit, Fall):
                    return Block(tuple(statements), inner.exit)
                for target, value in zip(statement.targets, inner.exit.values, strict=True):
                    made.functions.alias(target, value)
                    if target.variable is None or made.value(value) == exact(ir.UNBOUND):
                        made.known[target] = value
                    else:
                        statements.append(Assign((target,), ir.Copy(value), statement.node))
            case If(test=test) if test in made.endings:
                statements += turned(made, statement, partial(_block, made))
            case Assign() if (begin := begun_by_class(made, statement)) is not None:
                place = block.statements.index(statement)
                whole = (*block.statements[:place], *begin, *block.statements[place + 1 :])
                return _block(made, Block(whole, block.exit), statements, place)
            case Assign(operation=operation) if isinstance(operation, ITERATED) and (
                steps := iterated(made, statement, block, partial(_block, made))
            ) is not None:
                statements += steps
                is_written = True
            case Assign(operation=ir.Make() | ir.Insert() | ir.Extend()) if (
                gathering := gathered(made, statement)
            ) is not None:
                statements += gathering
            case Assign(operation=ir.GetItem()) if (joining := joined(made, statement)) is not None:
                statements += joining
            case Assign() if (tests := taken_apart(made, statement)) is not None:
                statements += tests
            case Assign(targets=(target,), operation=ir.GetItem(base=base, index=Literal(value=int() as place))) if (
                base in made.tuples and -len(made.tuples[base]) <= place < len(made.tuples[base])
            ):
                made.known[target] = made.tuples[base][place]
            case Assign(operation=ir.Call() | ir.GetAttribute()) if (
                fields := fields_taken(made, statement, block)
            ) is not None:
                statements += fields
                is_written = True
            case Assign(operation=ir.Copy() | ir.GetItem() | ir.GetAttribute() | ir.Call()) if (
                written := followed(made, statement, partial(_block, made))
            ) is not None:
                statements += written[0]
                is_written = True
                if written[1] is not None:
                    made.known[statement.targets[0]] = made.known.get(written[1], written[1])
            case Assign(operation=ir.Call() | ir.Compare() | ir.GetItem()) if (
                put := defaulted(made, statement, partial(_block, made))
            ) is not None:
                statements += put
                is_written = True
            case Assign(operation=ir.Operator()) if (changing := in_place(made, statement)) is not None:
                statements += changing
            case Assign(targets=(target,), operation=ir.Call()) if (
                held := of_holder(made, statement, partial(_block, made))
            ) is not None:
                statements += held[0]
                is_written = True
                if held[1] is not None:
                    made.known[target] = made.known.get(held[1], held[1])
            case Assign(operation=ir.Call() as call) if begins_generator(made, statement, call, block):
                statements.append(replace(statement, operation=with_operands(call, made.known.get)))
                is_written = True
            case Assign(targets=(_,), operation=ir.Call()) if (plain := written_out(made, statement)) is not None:
                statements += _block(made, Block(tuple(plain), Fall())).statements
                is_written = True
            case Assign() if (methods := explicit(made, statement)) is not None:
                statements += methods
                is_written = True
            case Assign(operation=ir.Call() | ir.Unpack()) if (
                loop := consumed(made, statement, statements, _block)
            ) is not None:
                statements += loop
            case Assign(targets=(_,), operation=ir.Call()) if (respelled := operated(made, statement)) is not None:
                statements.append(respelled)
            case Assign(targets=(_,), operation=ir.Call()) if (item := got(made, statement)) is not None:
                statements.append(item)
            case Assign(targets=(target,), operation=ir.Call()) if (
                written := called(made, statement, partial(_block, made))
            ) is not None:
                statements += written[0]
                is_written = True
                if written[1] is not None:
                    made.known[target] = made.known.get(written[1], written[1])
            case Assign(targets=(target,), operation=operation) if (spelled := _spelled(made, statement)) is not None:
                made.known[target] = spelled
            case Assign(operation=ir.SetAttribute(base=base, name=name, value=value)) if base is made.this is not None:
                stored = ir.WriteCell(_field(made, name), made.known.get(value, value))
                statements.append(replace(statement, operation=stored))
            case Assign(operation=ir.GetAttribute(base=base, name=name)) if base is made.this and name in made.fields:
                statements.append(replace(statement, operation=ir.ReadCell(made.fields[name])))
            case Assign(targets=targets, operation=ir.Unpack(source=source, count=count, star=None)) if (
                len(items := made.displays.get(source, ())) == count
                and (made.uses[source] == 1 or source in made.tuples)
            ):  # of a tuple that has no name, or a display that nothing else reads: its items
                made.known.update(zip(targets, items, strict=True))
            case Assign(operation=ir.Unpack()) if (each := mapped(made, statement, statements)) is not None:
                statements += each
            case Assign(operation=operation):
                operation = with_operands(_from_outside(made, statement), made.known.get)
                match operation:
                    case ir.Make(kind="tuple" | "list" as kind, elements=elements):
                        made.displays[statement.targets[0]] = elements
                        if kind == "tuple" and statement.targets[0].variable is None:
                            made.tuples[statement.targets[0]] = elements
                    case ir.MakeFunction():
                        statements += made_here(made, statement, operation)
                    case ir.Copy(source=source):
                        made.functions.alias(statement.targets[0], source)
                    case ir.Iterate() if (narrowed := as_iterated(made, statement, operation)) is not None:
                        statements.append(narrowed)
                        operation = ir.Iterate(narrowed.targets[0])
                other = replace(statement, operation=operation)
                if made.called.get(statement) and not only_answers(made, statement):
                    made.calls[other] = made.called[statement]
                statements.append(other)
            case With() if (inside := opened_by_model(made, statement, statements, _block)
                            or opened_by_generator(made, statement, statements, _block)) is not None:  # fmt: skip
                statements += inside.statements
                if not isinstance(inside.exit, Fall):
                    return Block(tuple(statements), inside.exit)
            case Loop() if (driving := driven(made, statement, statements, _block)) is not None:
                statements += driving
            case Loop():
                statements += _loop(made, _region(made, statement))
            case _:
                statements.append(_region(made, statement))
        if not is_written and runs_iter(made, origin):
            raise refusal_of(made, statement)
        if not is_written and made.calls.keys().isdisjoint(statements[start:]):
            is_running = runs_users(made.facts, made.called.get(statement, ()))
            if is_running and isinstance(statement, Assign) and not only_answers(made, statement):
                made.refuse("E0214", statement.node, "an operation that runs a method of yours")
    statements = _read_last(made, statements)
    return Block(tuple(statements), with_operands(block.exit, made.known.get))


def _from_outside(made: Reduced, statement: Assign) -> ir.Operation:
    """The operation of a statement; what a function that is written out reads from outside has a spelling here."""
    operation = statement.operation
    match operation:
        case ir.ReadCell(cell=cell) if cell in made.frame.cells:
            return replace(operation, cell=made.frame.cells[cell])
        case ir.Call(function=Literal(value=mark)) if mark is runtime.keeping:
            return replace(operation, function=Literal(Spelled(spelling(mark), mark)))
    if made.frame.owner is made.owner:
        return operation
    match operation:
        case ir.ReadGlobal(name=name):
            return ir.Copy(Literal(Spelled(made.global_reference(name, statement.node), None)))
        case ir.ReadCell(cell=cell) if cell in made.frame.outer:
            return ir.Copy(Literal(Spelled(made.global_reference(cell.variable, statement.node), None)))
    return operation


def _read_last(made: Reduced, statements: list[Statement]) -> list[Statement]:
    """``x[i] += v`` reads ``x[i]`` once ``v`` is computed, where computing it changes nothing, and its index is put
    together then; where exceptions are caught and both may raise, it is read before as well."""
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
                between = statements[place + 1 : behind]
                tried = _tried(made, statement, between)
                begin = place if tried else _index_begins(made, statements, place, between)
                late = statements[begin : place + 1]
                return [*statements[:begin], *_read_last(made, [*tried, *between, *late, *statements[behind:]])]
            if not changes_nothing(made, other) or target in operands_of(operation):
                break
    return statements


def _index_begins(made: Reduced, statements: list[Statement], place: int, between: list[Statement]) -> int:
    """Where the statements begin that only put together the index of a read, of integers and slices: they may stand
    behind others, which do not read what they make, as well."""
    read = statements[place]
    assert isinstance(read, Assign)
    parts = {v for v in operands_of(read.operation) if isinstance(v, Version)}
    begin = place
    while begin:
        before = statements[begin - 1]
        if not isinstance(before, Assign) or len(before.targets) != 1 or before.targets[0] not in parts:
            break
        if before.targets[0].variable is not None:  # it has its name in the order that the user wrote
            break
        match before.operation:
            case ir.Make(kind="tuple" | "slice"):
                pass
            case ir.Operator(symbol="+" | "-" | "*", in_place=False) as counted if all(
                made.value(part).consists_of(_is_count) for part in operands_of(counted)
            ):
                pass
            case _:
                break
        if any(before.targets[0] in operands_of(other.operation) for other in between if isinstance(other, Assign)):
            break
        parts.update(v for v in operands_of(before.operation) if isinstance(v, Version))
        begin -= 1
    return begin


def _is_count(atom: Atom) -> bool:
    return isinstance(atom, Exact) and type(atom.value) is int or isinstance(atom, Of) and atom.kind is int


def _tried(made: Reduced, read: Assign, between: list[Statement]) -> list[Statement]:
    """A read for the exception that it may raise in front of others."""
    from srcgrad.specialise.raising import is_caught, raises  # which know what is reduced

    if made.source_of(made.owner).generated:  # what it raises is no matter of the user's
        return []
    others = [other for other in between if isinstance(other, Assign) and raises(made, other, (BaseException,))]
    if not is_caught(made) or not others or not raises(made, read, (BaseException,)):
        return []
    return [replace(read, targets=(made.version("t", made.value(read.targets[0])),))]


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
            before, made.is_conditional = made.is_conditional, made.is_conditional or is_test(statement)
            inner = replace(statement, test=operand(test), body=_block(made, body), orelse=_block(made, orelse))
            made.is_conditional = before or is_test(statement) and may_return(statement)
            made.known.update(dict.fromkeys(unbound_behind(inner), Literal(ir.UNBOUND)))
            return inner
        case Loop(initial=initial, body=body):
            loop = replace(statement, initial=tuple(map(operand, initial)), body=_block(made, body))
            made.known.update(dict.fromkeys(unbound_behind(loop), Literal(ir.UNBOUND)))
            return loop
        case With(manager=manager, body=body):
            entered = replace(statement, manager=operand(manager), body=_block(made, body))
            if made.called.get(statement):
                made.calls[entered] = made.called[statement]
            return entered
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            before, made.is_conditional = made.is_conditional, True
            caught = tuple(
                replace(h, kinds=None if h.kinds is None else _block(made, h.kinds), body=_block(made, h.body))
                for h in handlers
            )
            made.is_conditional = before
            return replace(
                statement, body=_block(made, body), handlers=caught, orelse=_block(made, orelse),
                final=_block(made, final),
            )  # fmt: skip
    return statement


def _loop(made: Reduced, loop: Statement) -> list[Statement]:
    """A loop; one over nothing is what its ``else`` and the code behind it read."""
    assert isinstance(loop, Loop)
    body = loop.body
    if not isinstance(body.exit, Break) or any(isinstance(s, Loop | If | Try | With) for s in body.statements):
        return [loop]
    ended = {t for s in body.statements if isinstance(s, Assign) and isinstance(s.operation, ir.Next)
             for t in s.targets if made.value(t) == exact(ir.END)}  # fmt: skip
    iterators = {s.operation.iterator for s in body.statements
                 if isinstance(s, Assign) and isinstance(s.operation, ir.Next)}  # fmt: skip
    if not ended or not all(map(made.is_of_sequence, iterators)):
        return [loop]
    pairs = [*zip(loop.heads, loop.initial, strict=True)]
    found: list[Statement] = [Assign((head,), ir.Copy(value), loop.node) for head, value in pairs]
    found += [s for s in body.statements if not ended & {*getattr(s, "targets", ())}]
    for target, value in zip(loop.targets, body.exit.values, strict=True):
        found.append(Assign((target,), ir.Copy(value), loop.node))
    made.iterators |= iterators
    return found


def _chosen(made: Reduced, statement: If, test: Operand) -> Block | None:
    """The branch that is taken, where the values decide it."""
    value = made.value(test)
    if value == exact(True):
        return statement.body
    if (is_true := truth_of_tuple(made, value)) is not None:
        return statement.body if is_true else statement.orelse
    return statement.orelse if value == exact(False) else None


def _spelled(made: Reduced, statement: Assign) -> Literal | None:
    """How a function, class or module is spelled that a statement reads; None of what is computed, or may change."""
    value = made.value(statement.targets[0])
    if isinstance(statement.operation, ir.ReadCell) and made.frame.owner in PROGRAMS and len(value.atoms) == 1:
        (atom,) = value.atoms
        if isinstance(atom, Exact) and type(atom.value) is int:  # the place of the argument
            return Literal(atom.value)
    if isinstance(statement.operation, ir.Call) and static_of(made.value(statement.operation.function)) is functions_in:
        (atom,) = value.atoms
        return Literal(atom.value) if isinstance(atom, Exact) else None
    static = static_of(value)
    if static is None:
        return None
    match statement.operation:
        case ir.ReadGlobal(name=name):
            return Literal(Spelled(made.global_reference(name, statement.node), static))
        case ir.ReadCell(cell=cell) if cell in made.frame.outer:
            return Literal(Spelled(made.global_reference(cell.variable, statement.node), static))
        case ir.ReadCell() | ir.Import() | ir.ImportName() | ir.MakeClass():
            return Literal(Spelled(spelling(static), static))
        case ir.Copy() if isinstance(static, Enum):
            return Literal(Spelled(spelling(static), static))
        case ir.Call(function=kind, positional=[given]) if _makes_member(made, kind, given):
            return Literal(Spelled(spelling(static), static))
        case ir.GetItem(base=base, index=index) if _has_item(made, made.value(base), made.known.get(index, index)):
            return Literal(Spelled(spelling(static), static))
        case ir.GetAttribute(base=base, name=name):
            owner = made.known.get(base)
            spelled = owner.value if isinstance(owner, Literal) else None
            if isinstance(spelled, Spelled) and isinstance(spelled.value, ModuleType | type | np.ufunc):
                node = gast.Attribute(spelled.node, name, gast.Load())
                return Literal(Spelled(gast.copy_location(node, statement.node), static))
    return None


def _makes_member(made: Reduced, kind: Operand, given: Operand) -> bool:
    """Whether an enumeration is called with a constant that is the value of one member, so that it does not raise."""
    value = made.value(given)
    is_constant = len(value.atoms) == 1 and value.consists_of(lambda atom: isinstance(atom, Exact))
    return is_constant and type(static_of(made.value(made.known.get(kind, kind)))) is EnumType


def _has_item(made: Reduced, base: Value, index: Operand) -> bool:
    """Whether a container has an item under a constant, so that reading it does not raise."""
    if base.is_any or not base.atoms or not isinstance(index, Literal):
        return False
    for atom in base.atoms:
        if isinstance(atom, Exact) and type(atom.value) is EnumType and index.value in atom.value.__members__:
            continue
        contents = made.facts.contents.get(atom.site) if isinstance(atom, At) else None
        if contents is None or not isinstance(atom, At) or made.facts.is_seen(atom.site):
            return False
        if contents.entries is not None:
            if not any(key == index.value and type(key) is type(index.value) for key, _ in contents.entries):
                return False
        elif contents.parts is None or type(index.value) is not int or not -len(contents.parts) <= index.value < len(
            contents.parts
        ):
            return False
    return True
