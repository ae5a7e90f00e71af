"""Which values get names: operands of what is differentiated do, and what carries no derivative stays nested.

Enters: a function's IR and what its versions may be.  Leaves: the versions that are bound by statements of their own,
and the regions that are no expressions::

    s = s * np.sin(x[i + 1])     x[i + 1] and np.sin(...) are operands of rules: named;  i + 1 is an index: nested
    if x[0] > 0.5 and n > 1:     a truth value has no derivative, so that nothing in the test is named
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad.infer.data import is_attribute, is_data
from srcgrad.infer.facts import Facts
from srcgrad.infer.iteration import ITERATORS, VIEWS
from srcgrad.infer.objects import CONTAINERS, MAPPINGS
from srcgrad.infer.values import (
    SCALARS,
    Array,
    At,
    Bound,
    Exact,
    Of,
    Value,
    are_methods,
    are_of,
    is_unchanging,
)
from srcgrad.ir import operations as ir
from srcgrad.ir.normal_form import Callee
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    If,
    Loop,
    Return,
    Statement,
    blocks_of,
    operands_of,
    walk,
)
from srcgrad.ir.restoring.pending import Layout
from srcgrad.language.effects import KINDS, method, of_function
from srcgrad.rules.table import is_constant, lookup
from srcgrad.rules.template import UnsupportedCall
from srcgrad.specialise.carrying import carries, gives_no_number
from srcgrad.specialise.entered import entered_in
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.receivers import is_lookup
from srcgrad.specialise.reduced import Reduced
from srcgrad.specialise.set_operations import asks, is_of_sets
from srcgrad.specialise.tapes import of_tapes
from srcgrad.specialise.waiting import Order, every_block, order_of, reading, rebound
from srcgrad.syntax.parse import walk as nodes_of


@dataclass(eq=False)
class Naming:
    """What is decided about a function."""

    apart: set[Version] = field(default_factory=set)  # bound by statements of their own
    statements: set[Statement] = field(default_factory=set)  # regions that are written as statements
    movable: set[Version] = field(default_factory=set)  # methods that are looked up
    fixed: set[Version] = field(default_factory=set)  # what is computed for values without a derivative alone
    kinds: dict[Version, object] = field(default_factory=dict)  # of which kind the versions of variables are
    is_of_derivative: bool = False  # whose variables are read under the tests under which they are bound

    def layout(self) -> Layout:
        spread = {statement for statement in self.statements if isinstance(statement, Loop)}
        return Layout(self.apart, self.movable, spread, self.statements - spread, self.kinds, self.is_of_derivative)


def decided(reduced: Reduced, facts: Facts) -> Naming:
    """Which versions of a function are named, and which regions are statements."""
    made, function, value = Naming(), reduced.function, reduced.value
    made.is_of_derivative = reduced.source_of(reduced.owner).generated
    uses: dict[Operand, list[Any]] = {}
    for _, statement in walk(function.body):
        for part in reading(statement):
            for operand in operands_of(part):
                uses.setdefault(operand, []).append((statement, part))
        for block in blocks_of(statement):
            for operand in operands_of(block.exit):
                uses.setdefault(operand, []).append((statement, block.exit))
    for operand in operands_of(function.body.exit):
        uses.setdefault(operand, []).append((None, function.body.exit))

    ordered = [statement for _, statement in walk(function.body) if isinstance(statement, Assign)]
    for _, statement in walk(function.body):
        if isinstance(statement, If | Loop):
            made.fixed.update(target for target in statement.targets if not carries(facts, value(target)))
    for statement in ordered:
        operation = statement.operation
        is_part = isinstance(operation, ir.GetAttribute) and operation.base in made.fixed  # as of a ``finfo``
        if len(statement.targets) == 1 and (is_part or gives_no_number(facts, operation, value)):
            made.fixed.add(statement.targets[0])
    for statement in reversed(ordered):
        if len(statement.targets) == 1 and _is_fixed(facts, statement, value, made, uses):
            made.fixed.add(statement.targets[0])
    reads: dict[Operand, ir.ReadCell] = {
        s.targets[0]: s.operation for s in ordered if isinstance(s.operation, ir.ReadCell)
    }
    managers, tried = entered_in(function)
    for statement in ordered:
        operation = statement.operation
        if _is_same_anywhere(operation, made):
            made.movable.update(statement.targets)
        if isinstance(operation, ir.GetAttribute) and _is_method(statement.targets[0], operation, value, uses):
            made.movable.update(statement.targets)
            made.apart.update(v for v in operands_of(operation) if isinstance(v, Version))
            continue
        is_manager = not managers.isdisjoint(statement.targets)  # it is written as it is, where it is entered
        of_user = isinstance(operation, ir.Call) and statement in reduced.calls and not is_manager
        makes_set = is_of_sets(operation, value) and not _is_asked(statement, made, uses)
        if (of_user or makes_set) and not _is_bound_alone(statement, uses):
            made.apart.update(statement.targets)
        if (is_changing := _changes(operation, value)) and not (
            isinstance(operation, ir.Call) and _is_bound_alone(statement, uses)
        ):
            made.apart.update(statement.targets)
        is_changing = is_changing or makes_set
        if of_user or is_changing or not (statement.targets and set(statement.targets) <= made.fixed):
            made.apart.update(
                v for v in _atoms(operation, value) if isinstance(v, Version) and v not in tried
            )
    for statement in ordered:
        operation = statement.operation
        if isinstance(operation, ir.GetAttribute) and operation.name == "flat" and value(operation.base).consists_of(
            lambda a: isinstance(a, Array) or is_unchanging(a) or is_data(a)
        ):
            made.apart.difference_update(statement.targets)  # a place in it is one in the array
            made.apart.update(v for v in operands_of(operation) if isinstance(v, Version))
            made.movable.update(statement.targets)
        if isinstance(operation, ir.ReadCell):  # a name already
            made.apart.difference_update(statement.targets)
    order = order_of(function)
    for statement in ordered:
        operation = statement.operation
        if _makes_iterator(operation, value) and _is_late(order, statement.targets[0], made, reduced):
            loose = {o for o in operands_of(operation) if isinstance(o, Version) and not _is_kept(o, made, reads)}
            if not any(are_of(value(operand), *ITERATORS) for operand in loose):  # which has no name
                made.apart.update(loose)
                made.apart.discard(statement.targets[0])
                made.movable.update(statement.targets)
        if isinstance(operation, ir.Iterate) and (
            _is_kept(operation.source, made, reads) or order.keeps(statement.targets[0], reduced)
        ):
            made.movable.update(statement.targets)  # it reads nothing yet
    made.apart.update(rebound(order, made.movable, reads))
    made.statements.update(s for _, s in walk(function.body) if isinstance(s.node, gast.NamedExpr))
    for _, statement in walk(function.body):
        match statement:
            case Loop(node=gast.ListComp() | gast.SetComp() | gast.DictComp()):
                made.statements.add(statement)
            case If(node=gast.Match()):
                made.statements.add(statement)
            case If(node=gast.IfExp() | gast.BoolOp() | gast.Compare()) if not _is_expression(statement, made, reduced):
                made.statements.add(statement)
    for version in [*function.parameters, *(v for _, s in walk(function.body) for v in _bound_by(s))]:
        if version.variable is not None:
            made.kinds[version] = kind_of(facts, value(version))
    for block in every_block(function):
        if isinstance(block.exit, Return) and isinstance(block.exit.value, Version):
            made.apart.add(block.exit.value)
    if reduced.source_of(reduced.owner).generated:
        made.apart.difference_update(of_tapes(ordered, value, uses))
    return made


def _bound_by(statement: Statement) -> tuple[Version, ...]:
    heads = statement.heads if isinstance(statement, Loop) else ()
    return (*getattr(statement, "targets", ()), *heads)


def _class_of(kind: type) -> object:
    """Of numbers whether they may vary."""
    if issubclass(kind, float | complex | np.inexact):
        return "number"
    return "integer" if issubclass(kind, int | np.integer) else kind


def kind_of(facts: Facts, value: Value) -> object:
    """The classes and ranks of a value: a name of the normal form stands for one kind.

    Numbers and what may be one, since nothing is said of it, share names: nothing is known of such a name."""
    found: set[object] = {"any"} if value.is_any else set()
    for atom in value.atoms:
        match atom:
            case Exact(value=held):
                found.add(_class_of(type(held)))
            case Of(kind=kind):
                found.add(_class_of(kind))
            case Array(rank=rank):
                found.add(("array", None if atom.dtype is None else atom.dtype.kind in "fc", rank))
            case At(site=site):
                found.add("number" if site == facts.data else site.kind)
            case _:
                found.add(type(atom))
    return frozenset(found)


def _is_method(target: Version, made: ir.GetAttribute, value: Any, uses: Mapping[Operand, list[Any]]) -> bool:
    """Whether an attribute is a method: one that arrays or containers have is, where it is called and of data."""
    if are_methods(value(target)):
        return is_lookup(value(target), value(made.base), made.name)
    is_called = all(isinstance(part, ir.Call) and [*operands_of(part)].count(target) == 1 and part.function is target
                    for _, part in uses.get(target, ()))  # fmt: skip
    bounds = [atom for atom in value(target).atoms if isinstance(atom, Bound) and atom.function is None]
    is_of_any = not is_attribute(made.name) and any(hasattr(kind, made.name) for kind in KINDS)
    return is_called and bool(bounds) and is_of_any


def _is_fixed(facts: Facts, statement: Assign, value: Any, made: Naming, uses: Mapping[Operand, list[Any]]) -> bool:
    """Whether a value has no derivative, or is read by nothing but what computes such a value."""
    (target,) = statement.targets
    if not carries(facts, value(target)) or target in made.fixed:
        return True
    if isinstance(statement.operation, ir.Call | ir.Make | ir.Copy) and target.variable is not None:
        return False
    readers = uses.get(target, [])
    if len(readers) != 1:
        return False
    ((reader, part),) = readers
    if _changes(part, value):  # what it stores is read later, whatever its result is used for
        return False
    return isinstance(reader, Assign) and bool(reader.targets) and set(reader.targets) <= made.fixed and (
        isinstance(part, ir.Compare | ir.Operator | ir.GetAttribute | ir.GetItem | ir.Format)
        or isinstance(part, ir.Call) and _is_about(value(part.function))
    )  # fmt: skip


def _is_bound_alone(statement: Assign, uses: Mapping[Operand, list[Any]]) -> bool:
    """Whether a variable is bound to what a statement makes, and nothing else reads it."""
    readers = [part for target in statement.targets for _, part in uses.get(target, ())]
    return len(readers) == 1 and isinstance(readers[0], ir.Copy | ir.WriteCell)


def _is_asked(statement: Assign, made: Naming, uses: Mapping[Operand, list[Any]]) -> bool:
    """Whether a set has no name, and is only asked."""
    return all(t.variable is None and t in made.fixed and all(asks(part) for _, part in uses.get(t, ()))
               for t in statement.targets)  # fmt: skip


def _is_about(function: Value) -> bool:
    """Whether a function is in the table, which only computes."""
    known = [isinstance(a, Exact) and (is_constant(a.value) or lookup(a.value) is not None) for a in function.atoms]
    return bool(known) and all(known) and not function.is_any


def _atoms(operation: ir.Operation, value: Any) -> list[Operand]:
    """The operands that a statement of the normal form takes as names."""
    match operation:
        case ir.GetItem(base=base, index=index):
            return [base, *_computed(index, value)]
        case ir.SetItem(base=base, index=index, value=stored):
            return [base, *_computed(index, value), stored]
        case ir.Call(function=function):
            return _atoms_of_call(operation, value(function), value)
        case ir.Copy() | ir.Bound() | ir.WriteCell():
            return []
        case ir.Iterate() | ir.Next() | ir.Compare():
            return []
        case ir.Extend(container=container, source=source) if are_of(value(source), *ITERATORS):
            return [container]
        case ir.Operator(symbol="bool" | "not"):
            return []
    return list(operands_of(operation))


def _computed(index: Operand, value: Any) -> list[Operand]:
    """An index that is an array: it is computed once, and read in both directions."""
    return [index] if any(isinstance(atom, Array) for atom in value(index).atoms) else []


def _constant(value: Value) -> gast.Constant | None:
    """A number or text that is known, by which the formula of a rule may be chosen."""
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    return gast.Constant(atom.value, None) if isinstance(atom, Exact) and type(atom.value) in SCALARS else None


def _atoms_of_call(operation: ir.Call, function: Value, value: Any) -> list[Operand]:
    (atom,) = function.atoms if len(function.atoms) == 1 and not function.is_any else (None,)
    given = [*operation.positional, *(operand for _, operand in operation.keywords)]
    if not isinstance(atom, Exact) or atom.value in ITERATING:  # iterators that are made for them stay nested
        return [operand for operand in given if not _is_run_through(value(operand))]
    rule = lookup(atom.value)
    if rule is None and atom.value in CONTAINERS:
        return [operand for operand in given if not _is_run_through(value(operand))]
    if rule is None:
        return given if isinstance(atom.value, FunctionType | Callee) else []
    names = {operand: f"_{place}" for place, operand in enumerate(dict.fromkeys(given))}
    spelled = {operand: _constant(value(operand)) or gast.Name(name, gast.Load(), None, None)
               for operand, name in names.items()}  # fmt: skip
    try:
        bound = rule.bind(
            atom.value, [spelled[o] for o in operation.positional],
            {k: spelled[o] for k, o in operation.keywords if k != "out"},
        )
    except UnsupportedCall:  # a form without a derivative, which is refused where it is written
        return given
    kept: set[str] = set()
    given = [operand for operand in given if not _is_run_through(value(operand))]
    for parameter, expression in bound.items():
        if parameter in rule.sensitive:
            kept |= {node.id for node in nodes_of(expression) if isinstance(node, gast.Name)}
    given = [operand for operand in given if names[operand] in kept]
    return [o for o in given if not value(o).consists_of(lambda a: isinstance(a, Exact) and type(a.value) is float)]


def _changes(operation: ir.Operation, value: Any) -> bool:
    """Whether a call of a method or function of a library may change something, or give another result next time."""
    if not isinstance(operation, ir.Call):
        return _stores(operation, value)
    count, names = len(operation.positional), [name for name, _ in operation.keywords]
    has_star, has_rest = operation.star is not None, operation.rest is not None
    for atom in value(operation.function).atoms:
        effect, given = method(atom.name) if isinstance(atom, Bound) else None, count + isinstance(atom, Bound)
        if isinstance(atom, Exact) and type(atom.value) not in SCALARS:
            effect = of_function(atom.value)
            effect = effect if effect.is_known else None
        if effect is not None and (effect.updated(given, names, star=has_star, rest=has_rest) or effect.draws):
            return True
    return False


def _stores(operation: ir.Operation, value: Any) -> bool:
    """Whether an operation is an in-place one of what may have memory: it stores there."""
    return isinstance(operation, ir.Operator) and operation.in_place and not value(operation.operands[0]).consists_of(
        lambda a: isinstance(a, Of) or isinstance(a, Exact) and type(a.value) in SCALARS
    )


def _is_same_anywhere(operation: ir.Operation, made: Naming) -> bool:
    """Whether a slice, or a number, is made of constants and variables alone."""
    match operation:
        case ir.Make(kind="slice"):
            return all(isinstance(o, Literal) or o.variable is not None or o in made.movable
                       for o in operands_of(operation))  # fmt: skip
        case ir.Operator(operands=operands):
            return all(isinstance(operand, Literal) for operand in operands)
    return False


def _is_kept(operand: Operand, made: Naming, reads: Mapping[Operand, ir.ReadCell]) -> bool:
    """Whether an operand has a name, or is the same wherever it is computed: what is made of it can be made later."""
    return isinstance(operand, Literal) or operand.variable is not None or operand in reads or (
        operand in made.apart or operand in made.movable
    )  # fmt: skip


def _is_run_through(value: Value) -> bool:
    """Whether a value is an iterator, a view of a dict or a range; of data it may be told that it is a view."""
    return are_of(value, *ITERATORS, range) or any(isinstance(a, At) and a.site.kind in VIEWS for a in value.atoms)


def _makes_iterator(operation: ir.Operation, value: Any) -> bool:
    """Whether an iterator, or a view of a dict, is made of what has names, or may have."""
    if not isinstance(operation, ir.Call) or operation.keywords:
        return False
    function = value(operation.function)
    return any(static_of(function) is each for each in ITERATING) or not operation.positional and function.consists_of(
        lambda a: isinstance(a, Bound) and a.name in ("keys", "values", "items") and are_of(a.receiver, *MAPPINGS)
    )


def _is_late(order: Order, version: Version, made: Naming, reduced: Reduced) -> bool:
    """Whether an iterator has to be made later than it stands, and can be."""
    asked = order.asked(version, lambda operation: _makes_iterator(operation, reduced.value))
    return order.waits(version, asked, made.apart) and order.keeps(version, reduced, asked, is_named=True)


#: Built-in functions that loops run over, by what they are given.
ITERATING = frozenset({zip, enumerate, reversed})


def _is_expression(statement: If, made: Naming, reduced: Reduced) -> bool:
    """Whether a region of an expression stays one: nothing in it is a statement of the normal form."""
    if not set(statement.targets) <= made.fixed:
        return False
    for block in blocks_of(statement):
        for inner in block.statements:
            match inner:
                case Assign() if inner in made.statements or inner in reduced.calls:
                    return False
                case Assign() if not set(inner.targets) <= made.fixed or isinstance(inner.operation, ir.WriteCell):
                    return False
                case If() if not _is_expression(inner, made, reduced):
                    return False
                case Loop():
                    return False
    return True

