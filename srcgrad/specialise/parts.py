"""Parts of a function that are attempted: operations that may raise, as a function of what they are given.

Enters: the next statements of a block.  Leaves: those that raise nothing that is caught, or an attempt: operations that
only compute are attempted together, up to one that may change something::

    t = x[i]                  def part(x, i):                t, raised = attempt(part, x, i)
    t2 = t * 2.0       ->         t = x[i]
    t3 = f(t2)                    t2 = t * 2.0
                                  return f(t2)

If one raises, nothing has been changed by those before it.  Variables are read before the attempt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import gast

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.source import Source
from srcgrad.infer.data import is_data
from srcgrad.infer.emitted import RAISED
from srcgrad.infer.objects import class_of
from srcgrad.infer.reasons import otherwise
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import ANY, Array, At, Exact, Of, Value, are_numbers, exact, union
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import Renaming, bound_by
from srcgrad.ir.normal_form import Callee, Guarded, LocalFunction
from srcgrad.ir.operations import Cell, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Exit,
    Fall,
    Function,
    If,
    Loop,
    Parameters,
    Return,
    Statement,
    With,
    operands_of,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.specialise.changing import changes_nothing
from srcgrad.specialise.going_over import asked_before
from srcgrad.specialise.instances import Instance, fixed_parameters
from srcgrad.specialise.raising import raises
from srcgrad.specialise.receivers import is_lookup
from srcgrad.specialise.reduced import Reduced
from srcgrad.specialise.unassigned import is_look
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import of_runtime, reference
from srcgrad.syntax.namer import Namer

TRUTH = union(exact(True), exact(False))


@dataclass(frozen=True)
class Around:
    """The ``try`` statements around a block, and how the block is left when something was raised in it."""

    raised: Cell | None = None  # of the innermost, None outside of any
    caught: tuple[type[BaseException], ...] = ()  # by any of them
    outer: Around | None = None
    fail: Exit = field(default_factory=Fall)
    handled: Cell | None = None  # what ``raise`` alone raises
    returning: tuple[tuple[Block, Around], ...] = ()  # the last blocks that run before a return, innermost first
    leaving: tuple[tuple[Block, Around], ...] = ()  # those that run before the loop is left or goes on


@dataclass(eq=False)
class Apart:
    """A function that is taken apart."""

    made: Reduced
    function: Function
    instance: Instance
    source: Source
    uses: dict[Operand, int] = field(default_factory=dict)
    lookups: dict[Operand, Assign] = field(default_factory=dict)  # of methods, which are the same later
    makers: dict[Operand, Assign] = field(default_factory=dict)  # the calls that made values
    managers: set[Operand] = field(default_factory=set)  # that are entered, and whose making raises nothing
    leaving: dict[Operand, Block] = field(default_factory=dict)  # what leaves managers whose methods are called
    taken: set[Statement] = field(default_factory=set)  # what takes apart what an attempt gave

    def __post_init__(self) -> None:
        self.uses.update(uses_of(self.function))
        for _, statement in walk(self.function.body):
            if isinstance(statement, With):
                self.managers.add(statement.manager)
            if isinstance(statement, Assign) and isinstance(statement.operation, ir.Call | ir.ReadGlobal):
                self.makers[statement.targets[0]] = statement
            if isinstance(statement, Assign) and isinstance(statement.operation, ir.GetAttribute):
                read = statement.operation
                if is_lookup(self.made.value(statement.targets[0]), self.made.value(read.base), read.name):
                    self.lookups[statement.targets[0]] = statement

    def version(self, value: Value, stem: str = "t") -> Version:
        made = Version(self.made.namer.fresh(stem))
        self.made.values[made] = value
        return made

    def cell(self, stem: str) -> Cell:
        name = self.made.namer.fresh(stem)
        made = Cell(name, name)
        self.made.cells.add(made)
        return made

    def refuse(self, code: str, node: gast.AST, what: str, *, hint: str | None = None) -> UnsupportedSyntax:
        return UnsupportedSyntax(
            f"{what} cannot be differentiated here", self.source.span(node), code=code, hint=hint or otherwise(code)
        )


# --- attempts --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Tried:
    """An attempt, and what follows it where nothing was raised."""

    statements: list[Statement]
    taken: list[Statement]


def attempted(here: Apart, pending: Sequence[Statement], around: Around) -> tuple[int, Tried | None]:
    """How many of the next statements are written as they are, or, with the last of them, what attempts them."""
    start: int | None = None
    last = count = 0
    for place, statement in enumerate(pending):
        if not isinstance(statement, Assign):
            break
        count += 1
        may = around.raised is not None and statement not in here.taken and here.managers.isdisjoint(statement.targets)
        may = may and raises(here.made, statement, around.caught)
        if may and (asked := asked_before(here, statement, around, here.version(RAISED, "t"))) is not None:
            if start is not None:
                count -= 1
                break
            here.taken.update(asked[1])
            return count, Tried([*pending[: count - 1], *asked[0]], asked[1])
        if may and start is None:
            start = count - 1
        if start is None:
            continue
        if may and (augmented := _augmented(here, pending, place)) is not None:
            begin, end = augmented
            before = [s for s in pending[start:begin] if isinstance(s, Assign)]
            bases = _may_be_tuples(here, [s for s in pending[begin:end] if isinstance(s, Assign)])
            if any(target in bases for s in before for target in s.targets):
                last = min(last, begin)  # what it is an item of is made by an attempt of its own, and looked at behind
            else:
                start, last = min(start, begin), end
            break
        if not _is_of_part(here, statement, may):
            count -= 1
            break
        last = count if may else last
        if not _only_computes(here, statement):
            break
    if start is None:
        return count, None
    outside = [s for s in pending[:last] if isinstance(s, Assign)]
    while start and isinstance(outside[-1].operation, ir.Operator | ir.SetItem) and _is_index(outside[start - 1]):
        start -= 1  # what holds None is nothing that is stored
    part = [s for s in outside[start:] if not isinstance(s.operation, ir.ReadCell)]
    tried = [*outside[:start], *(s for s in outside[start:] if isinstance(s.operation, ir.ReadCell))]
    made = _attempt(here, part, around)
    return last, replace(made, statements=[*tried, *made.statements])


_PARTS = (
    ir.Operator, ir.Compare, ir.GetAttribute, ir.GetItem, ir.Call, ir.Make, ir.Unpack, ir.Format, ir.Join, ir.Copy,
    ir.SetItem, ir.DeleteItem, ir.SetAttribute,
)  # fmt: skip


def _is_index(statement: Assign) -> bool:
    """Whether a tuple or slice is made that has no name."""
    operation = statement.operation
    return isinstance(operation, ir.Make) and operation.kind in ("tuple", "slice") and (
        statement.targets[0].variable is None
    )  # fmt: skip


def _augmented(here: Apart, pending: Sequence[Statement], place: int) -> tuple[int, int] | None:
    """Where ``x *= v`` or ``x[i] *= v`` begins and ends of which an array is computed in place at this place: it is
    attempted as one, behind which nothing is, since what NumPy has stored stays.  None of others."""
    statement = pending[place]
    if not isinstance(statement, Assign) or statement in here.made.calls:
        return None
    operation = statement.operation
    if not isinstance(operation, ir.Operator) or not operation.in_place:
        return None
    (changed, _), (target,) = operation.operands, statement.targets
    value = here.made.value(changed)
    if not any(isinstance(atom, Array) or is_data(atom) for atom in value.atoms) or not value.consists_of(
        lambda a: isinstance(a, Exact | Of) or is_data(a) or isinstance(a, Array) and a.number is not None
    ):
        return None
    before = pending[place - 1] if place else None
    behind = pending[place + 1] if place + 1 < len(pending) else None
    read = before.operation if isinstance(before, Assign) and before.targets == (changed,) else None
    stored = behind.operation if isinstance(behind, Assign) else None
    if isinstance(stored, ir.SetItem) and stored.value is target:
        is_same = isinstance(read, ir.GetItem) and (read.base, read.index) == (stored.base, stored.index)
        return (place - 1, place + 2) if is_same and _keeps_items(here.made.value(stored.base)) else None
    return None if isinstance(stored, ir.SetAttribute) and stored.value is target else (place, place + 1)


def _keeps_items(value: Value) -> bool:
    """Whether an item that was read and changed can be stored back, so that nothing is raised once it is changed."""
    return value.consists_of(
        lambda a: isinstance(a, Array) and a.number is not None
        or isinstance(a, At) and (a.site.kind in (list, dict) or is_data(a))  # a tuple is looked at when it raises
    )


def _is_of_part(here: Apart, statement: Assign, may: bool) -> bool:
    """Whether a statement is attempted with others; a variable may be read before them."""
    operation = statement.operation
    if may and not isinstance(operation, _PARTS):
        raise here.refuse("E0111", statement.node, "an operation that may raise what is caught")
    if isinstance(operation, ir.SetItem) and may and not _is_cast_first(here.made.value(operation.value)):
        if any(isinstance(atom, Array) for atom in here.made.value(operation.base).atoms):
            raise here.refuse(
                "E0111", statement.node, "a store in this try, of which a part may be done before it raises,"
            )
    if isinstance(operation, ir.Operator) and operation.in_place and may:
        value = here.made.value(operation.operands[0])
        if value.is_any or not all(isinstance(atom, Exact | Of) for atom in value.atoms):
            raise here.refuse("E0111", statement.node, "an assignment in place that may raise what is caught")
    return isinstance(operation, (*_PARTS, ir.ReadCell))


def _is_cast_first(value: Value) -> bool:
    """Whether NumPy raises before it stores anything where it cannot store a value: of numbers, or one text."""
    return are_numbers(value) or value.consists_of(lambda a: class_of(a) is str)


def _only_computes(here: Apart, statement: Assign) -> bool:
    match statement.operation:
        case ir.Copy() | ir.Unpack() | ir.Format() | ir.Join():
            return statement not in here.made.calls
        case ir.Operator(in_place=True):  # of a number
            return statement not in here.made.calls
    return changes_nothing(here.made, statement)


def _attempt(here: Apart, part: Sequence[Assign], around: Around) -> Tried:
    """The attempt of statements as a function: what they compute, and what was raised."""
    node = part[-1].node
    needed = {operand for statement in part for operand in operands_of(statement.operation)}
    part = [*(lookup for target, lookup in here.lookups.items() if target in needed and lookup not in part), *part]
    bound = {target for statement in part for target in statement.targets}
    read: Counter[Operand] = Counter(operand for statement in part for operand in operands_of(statement.operation))
    given = [operand for operand in read if isinstance(operand, Version) and operand not in bound]
    part = [_named(here, s, given) if is_look(s.operation) else s for s in part]
    targets = [target for statement in part for target in statement.targets]
    outside = {v for v in targets if here.uses.get(v, 0) > read[v]}
    for looked_up in outside & here.lookups.keys():  # which is looked up again where it is called
        outside.update(operand for operand in operands_of(here.lookups[looked_up].operation) if operand in bound)
    computed = [v for v in targets if v in outside and v not in here.lookups]
    instance = _function_of(here, part, given, computed)
    fixed = fixed_parameters(instance.summary)
    passed = [v for v, own in zip(given, instance.summary.function.parameters, strict=True) if own not in fixed]
    local = LocalFunction("part", here.source.node, here.source, (), instance)
    callee = Callee(Guarded(local, around.caught), instance=instance)
    head = Literal(Spelled(reference(GlobalBinding("attempt", callee)), callee))
    pair, value, raised = here.version(RAISED, "t"), here.version(RAISED, "t"), here.version(RAISED, "t")
    taken: list[Statement] = []
    if len(computed) == 1:
        value = computed[0]
    elif computed:
        taken.append(Assign(tuple(computed), ir.Unpack(value, len(computed)), node))
        here.taken.update(taken)
    assert around.raised is not None
    made: list[Statement] = [
        Assign((pair,), ir.Call(head, tuple(passed)), node), Assign((value, raised), ir.Unpack(pair, 2), node),
    ]
    for base in _may_be_tuples(here, part):
        look = Literal(Spelled(reference(of_runtime(runtime.raised_in_place)), runtime.raised_in_place))
        before, raised = raised, here.version(RAISED, "t")
        made.append(Assign((raised,), ir.Call(look, (before, base)), node))
    return Tried([*made, Assign((), ir.WriteCell(around.raised, raised), node)], taken)


def _may_be_tuples(here: Apart, part: Sequence[Assign]) -> list[Operand]:
    """What an item of is changed in place and stored, and may be a tuple: it raises when the item has changed."""
    if not any(isinstance(s.operation, ir.Operator) and s.operation.in_place for s in part):
        return []
    return [s.operation.base for s in part if isinstance(s.operation, ir.SetItem) and any(
        map(is_data, here.made.value(s.operation.base).atoms))]  # fmt: skip


def _named(here: Apart, look: Assign, given: Sequence[Operand]) -> Assign:
    """A look whether a variable has a value, where that is passed: as None if it has none."""
    operation, name = look.operation, getattr(look.node, "id", None)
    assert isinstance(operation, ir.Call)
    (read,) = operation.positional
    value = here.made.value(read)
    if read not in given:
        return look
    if name is None or value.is_any or Exact(None) in value.atoms:
        raise here.refuse("E0114", look.node, "a variable that may have no value in this try")
    return replace(look, operation=replace(operation, positional=(read, Literal(name))))


def _function_of(
    here: Apart, part: Sequence[Assign], given: Sequence[Version], computed: Sequence[Version]
) -> Instance:
    """Statements as a function of their operands, for the values that these have here."""
    made, namer = here.made, Namer(())
    parameters = tuple(Version(name, name) for name in (namer.fresh(v.variable or "a") for v in given))
    values = dict(made.values) | {own: made.value(outer) for own, outer in zip(parameters, given, strict=True)}
    calls: dict[Statement, list[Summary]] = {}

    def note(new: Statement, old: Statement) -> None:
        if old in made.calls:
            calls[new] = made.calls[old]
        for one, other in zip(bound_by(new), bound_by(old), strict=True):
            values[one] = made.value(other)

    own: dict[Operand, Operand] = dict(zip(given, parameters, strict=True))
    renaming = Renaming(own, {}, lambda v: namer.fresh(v.variable or "t"), note)
    part = [_out_of_place(here, statement) for statement in part]
    value: Operand = computed[0] if computed else Literal(None)
    if len(computed) > 1:
        value = here.version(ANY)
        part = [*part, Assign((value,), ir.Make("tuple", tuple(computed)), part[-1].node)]
    body = renaming.block(Block(tuple(part), Return(value)))
    function = Function("part", "part", Parameters(positional=parameters), (), (), body, part[-1].node)
    arguments = {version: values[version] for version in parameters}
    summary = replace(
        here.instance.summary, function=function, cells={}, arguments=arguments, generators={}, returned=None,
        raised=None, values=values, calls=calls, catches=True,
    )  # fmt: skip
    made.parts += 1
    key = f"{here.instance.key}, part {made.parts}"
    return replace(here.instance, key=key, summary=summary, made=None, captured=None)


def _out_of_place(here: Apart, statement: Assign) -> Assign:
    """Numbers are computed in place as they are otherwise."""
    operation = statement.operation
    if not isinstance(operation, ir.Operator) or not operation.in_place:
        return statement
    if any(isinstance(atom, Array) or is_data(atom) for atom in here.made.value(operation.operands[0]).atoms):
        return statement
    return with_operation(here, statement, replace(operation, in_place=False))


# --- methods -----------------------------------------------------------------------------------------------------
def called_where_read(here: Apart, block: Block) -> Block:
    """A block in which methods are looked up where they are called, if that was moved into a block of its own."""
    own = {target for statement in block.statements for target in getattr(statement, "targets", ())}
    statements: list[Statement] = []
    for statement in block.statements:
        if isinstance(statement, Assign):
            for operand in list(operands_of(statement.operation)):
                lookup = here.lookups.get(operand)
                if lookup is not None and operand not in own:
                    again = here.version(here.made.value(operand))
                    statements.append(replace(lookup, targets=(again,)))
                    other = {operand: again}
                    statement = with_operation(here, statement, with_operands(statement.operation, other.get))
        statements.append(with_blocks(here, statement, lambda inner: called_where_read(here, inner)))
    return Block(tuple(statements), block.exit)


def with_operation(here: Apart, statement: Assign, operation: ir.Operation) -> Assign:
    return here.made.renewed(statement, replace(statement, operation=operation))


def with_blocks(here: Apart, statement: Statement, change: Callable[[Block], Block]) -> Statement:
    match statement:
        case If(body=body, orelse=orelse):
            return replace(statement, body=change(body), orelse=change(orelse))
        case Loop(body=body):
            return replace(statement, body=change(body))
        case With(body=body):
            return here.made.renewed(statement, replace(statement, body=change(body)))
    return statement


def without_lookups(here: Apart, block: Block, uses: Mapping[Operand, int]) -> Block:
    """A block without methods that are looked up, and called elsewhere, where they are looked up again."""
    kept = [
        with_blocks(here, statement, lambda inner: without_lookups(here, inner, uses)) for statement in block.statements
        if not (isinstance(statement, Assign) and statement.targets and statement.targets[0] in here.lookups
                and not uses.get(statement.targets[0]))
    ]  # fmt: skip


    return Block(tuple(kept), block.exit)
